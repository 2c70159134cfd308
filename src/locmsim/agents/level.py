"""The bundled bot in ten levels, for people to play against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from locmsim.agents._scripted import slipped_line
from locmsim.agents.turn_search import TIME_MS, BeamAgent
from locmsim.game.observation import Observation
from locmsim.options.declarations import Option, check_values, documented


@dataclass(frozen=True, slots=True)
class Level:
    """The strength of a level.

    Attributes
    ----------
    slips : float
        Share of turns that are played without a search, as by the agent "greedy".
    blur : float
        Standard deviation of the error of each evaluation in such turns, in points of attack on the
        board.
    nodes : int
        Positions of the beam search in all other turns; 0 for no limit.
    time_ms : float
        Milliseconds per turn, as for the agent "beam"; 0 for no limit.
    """

    slips: float = 0.0
    blur: float = 0.0
    nodes: int = 0
    time_ms: float = 0.0


#: The levels 1 to 10 of each rule set; docs/web.md has their results against each other. All choose
#: cards as the bundled bot does and differ only in their play.
LEVELS: Mapping[str, tuple[Level, ...]] = {
    "1.5": (
        Level(slips=1.0, blur=16.0),
        Level(slips=1.0, blur=8.5),
        Level(slips=1.0, blur=5.0),
        Level(slips=1.0, blur=3.0),
        Level(slips=1.0, blur=1.0),
        Level(slips=0.85, nodes=2_000),
        Level(slips=0.6, nodes=2_000),
        Level(slips=0.25, nodes=3_000),
        Level(slips=0.1, nodes=4_000),
        Level(time_ms=TIME_MS),
    ),
    "1.2": (
        Level(slips=1.0, blur=7.0),
        Level(slips=1.0, blur=5.6),
        Level(slips=1.0, blur=4.2),
        Level(slips=1.0, blur=3.2),
        Level(slips=1.0, blur=2.2),
        Level(slips=1.0, blur=1.1),
        Level(slips=0.7, nodes=2_000),
        Level(slips=0.35, nodes=2_000),
        Level(nodes=2_500),
        Level(time_ms=TIME_MS),
    ),
    "1.0": (
        Level(slips=1.0, blur=6.2),
        Level(slips=1.0, blur=5.1),
        Level(slips=1.0, blur=4.0),
        Level(slips=1.0, blur=3.0),
        Level(slips=1.0, blur=2.0),
        Level(slips=1.0, blur=0.8),
        Level(slips=0.75, nodes=2_000),
        Level(slips=0.45, nodes=2_000),
        Level(slips=0.1, nodes=3_000),
        Level(time_ms=TIME_MS),
    ),
}


@documented()
class LevelAgent(BeamAgent):
    """The bundled bot at a level from 1, for beginners, to 10, its full strength.

    Lower levels search less, and play some turns without a search and with errors in the
    evaluation; see `LEVELS`. The lower levels answer at once, and their answers depend only on the
    seed and the observations.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        `k` is not a level.
    """

    def __init__(self, k: Annotated[int, Option("level", 1, 10)] = 10) -> None:
        check_values(LevelAgent, k=k)
        self._levels = levels = {rules: table[k - 1] for rules, table in LEVELS.items()}
        super().__init__(nodes=1, time_ms=max(level.time_ms for level in levels.values()))

    def answer(self, observation: Observation, time_ms: float | None, seed: int) -> str:
        level = self._levels[observation.rules]
        line = slipped_line(self.belief.knowledge, level.slips, level.blur, seed)
        if line is not None:
            return line
        self.nodes = level.nodes
        return super().answer(observation, time_ms if level.time_ms else None, seed)

"""The agent that searches its own turn in plain Python."""

from dataclasses import dataclass, field

from locmsim._core import State
from locmsim.agents.base import BaseAgent, check_bounds
from locmsim.agents.lethal import find_lethal
from locmsim.agents.turnsearch import Budget, Evaluation, beam_search
from locmsim.decks.building import DeckBuilder
from locmsim.rules.rulesets import RULES

__all__ = ["BaselineAgent"]


@dataclass
class BaselineAgent(BaseAgent):
    """The win if there is one this turn, else a beam search over the own turn.

    It takes `time_ms` for a turn, but leaves `SPARE_MS` of the rule set's limit, and looks at no
    more than `nodes` positions; 0 for no bound of that kind. With a bound of nodes alone the
    answers depend on the seed and on what was shown only.
    """

    deck: str | DeckBuilder = "classic"
    time_ms: float = 100.0
    nodes: int = 0
    evaluation: Evaluation = field(default_factory=Evaluation)

    #: The part of the budget that the search for a win may use.
    LETHAL_SHARE = 0.4
    #: What the referee, the pipes and a busy machine may take of a turn's time.
    SPARE_MS = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bounds(self.time_ms, "nodes", self.nodes)

    def plan(self, state: State, started: float) -> list[int]:
        lethal = find_lethal(state, self._budget(state.rules, started, self.LETHAL_SHARE))
        if lethal is not None:
            return lethal
        return beam_search(state, self.evaluation, self._budget(state.rules, started, 1.0))

    def _budget(self, rules: str, started: float, share: float) -> Budget:
        time_ms = min(self.time_ms, RULES[rules].battle_limits_ms[1] - self.SPARE_MS)
        return Budget(
            deadline=started + share * time_ms / 1000 if time_ms else None,
            nodes=int(share * self.nodes) if self.nodes else None,
        )

"""An agent that searches its own turn, as a plug-in of locmsim."""

import json
import time
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from locmsim import State
from locmsim.agents import BaseAgent
from locmsim.rules.rulesets import RULES
from ownturn._search import OwnTurn

__all__ = ["OwnTurn", "OwnTurnAgent", "weights"]


@cache
def weights(rules: str) -> dict[str, float]:
    """Return the weights for a rule set, see `OwnTurn`."""
    return json.loads((files("ownturn") / "weights.json").read_text(encoding="utf-8"))[rules]


@dataclass
class OwnTurnAgent(BaseAgent):
    """Searches the player's turn, cards first and then attacks, and ignores the opponent's reply.

    It takes `time_ms` for a turn, but leaves `SPARE_MS` of the rule set's limit, and applies no
    more than `nodes` actions; 0 means no bound. With a bound of nodes alone, the answers depend
    only on the observations.
    """

    time_ms: float = 150.0
    nodes: int = 0

    #: Time of a turn left for the referee, the pipes and a busy machine.
    SPARE_MS = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.time_ms >= 0 and self.nodes >= 0 and (self.time_ms or self.nodes)):
            raise ValueError(
                "time_ms and nodes: expected 0 or more and not both 0,"
                f" got {self.time_ms} and {self.nodes}"
            )

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self._searches: dict[str, OwnTurn] = {}

    def plan(self, state: State, started: float) -> list[int]:
        """Return the actions of a turn that was requested at the time `started`."""
        if state.rules not in self._searches:
            self._searches[state.rules] = OwnTurn(weights(state.rules))
        time_ns = None
        if self.time_ms:
            time_ms = min(self.time_ms, RULES[state.rules].battle_limits_ms[1] - self.SPARE_MS)
            time_ns = max(0, int(1e9 * (started + time_ms / 1000 - time.perf_counter())))
        return self._searches[state.rules].search(state, time_ns=time_ns, nodes=self.nodes or None)

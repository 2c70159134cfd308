"""The agent that plays by the search in `_ownturn.pyx`."""

import json
import time
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from locmsim._core import State
from locmsim.agents._ownturn import OwnTurn
from locmsim.agents.base import BaseAgent, check_bounds
from locmsim.rules.rulesets import RULES

__all__ = ["OwnTurnAgent", "own_turn_weights"]


@cache
def own_turn_weights(rules: str) -> dict[str, float]:
    """The weights of the own-turn search for a rule set: see `locmsim.agents._ownturn.OwnTurn`."""
    text = files("locmsim").joinpath("data/own-turn.json").read_text(encoding="utf-8")
    weights: dict[str, dict[str, float]] = json.loads(text)
    return weights[rules]


@dataclass
class OwnTurnAgent(BaseAgent):
    """A fast search over the own turn, cards first and then attacks; it thinks of no opponent.

    It takes `time_ms` for a turn, but leaves `SPARE_MS` of the rule set's limit, and applies no
    more than `nodes` actions; 0 for no bound of that kind. With a bound of nodes alone the answers
    depend on the seed and on what was shown only.
    """

    time_ms: float = 150.0
    nodes: int = 0

    #: What the referee, the pipes and a busy machine may take of a turn's time.
    SPARE_MS = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bounds(self.time_ms, "nodes", self.nodes)

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self._searches: dict[str, OwnTurn] = {}

    def plan(self, state: State, started: float) -> list[int]:
        if state.rules not in self._searches:
            self._searches[state.rules] = OwnTurn(own_turn_weights(state.rules))
        time_ns = None
        if self.time_ms:
            time_ms = min(self.time_ms, RULES[state.rules].battle_limits_ms[1] - self.SPARE_MS)
            time_ns = max(0, int(1e9 * (started + time_ms / 1000 - time.perf_counter())))
        return self._searches[state.rules].search(state, time_ns=time_ns, nodes=self.nodes or None)

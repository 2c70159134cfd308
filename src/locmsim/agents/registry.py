"""Agents by name."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from locmsim.agents.base import Agent
from locmsim.agents.baseline import BaselineAgent
from locmsim.agents.beam import BeamAgent
from locmsim.agents.greedy import GreedyAgent
from locmsim.agents.mcts import MCTSAgent
from locmsim.agents.own_turn import OwnTurnAgent
from locmsim.agents.random import RandomAgent
from locmsim.agents.rule import RuleAgent

__all__ = ["AGENTS", "make_agent"]

#: The agents by name; register others by adding them. Options are keyword arguments.
AGENTS: dict[str, Callable[..., Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "baseline": BaselineAgent,
    "beam": BeamAgent,
    "mcts": MCTSAgent,
    "own-turn": OwnTurnAgent,
    "rule": RuleAgent,
}


def make_agent(spec: str, **options: Any) -> Agent:
    """The agent that a text describes: ``"greedy"``, ``"baseline:time_ms=50,deck=bodies"``.

    `options` are more of its keyword arguments and win over those in the text. ``ValueError`` for
    an unknown agent or option and for a value that does not fit.
    """
    name, _, rest = spec.partition(":")
    if name not in AGENTS:
        raise ValueError(f"unknown agent {name!r}: expected one of {', '.join(AGENTS)}")
    factory = AGENTS[name]
    known = inspect.signature(factory).parameters
    given: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        option, equals, text = part.partition("=")
        if not equals:
            raise ValueError(f"agent {name}: expected option=value, got {part!r}")
        default = known[option].default if option in known else None
        if not isinstance(default, int | float | str):
            raise ValueError(f"agent {name}: unknown option {option!r}, expected {_listed(known)}")
        try:
            given[option] = type(default)(text)
        except ValueError:
            kind = "a number" if isinstance(default, float) else "an integer"
            raise ValueError(f"agent {name}: {option}: expected {kind}, got {text!r}") from None
    for option in options:
        if option not in known:
            raise ValueError(f"agent {name}: unknown option {option!r}, expected {_listed(known)}")
    try:
        return factory(**{**given, **options})
    except ValueError as error:
        raise ValueError(f"agent {name}: {error}") from None


def _listed(options: Mapping[str, Any]) -> str:
    return ", ".join(options) or "none"

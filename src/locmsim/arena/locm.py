"""Tournaments in Legends of Code and Magic: the one module of the arena that knows the game."""

import inspect
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass, replace
from typing import Any

from locmsim.agents.base import Agent
from locmsim.agents.registry import (
    AGENTS,
    agent_spec,
    check_rules,
    did_you_mean,
    is_agent,
    make_agent,
)
from locmsim.arena.schedule import Player
from locmsim.arena.tournament import Tournament, as_player
from locmsim.game.match import Match
from locmsim.rules.rulesets import get_rules
from locmsim.stats import Sprt

__all__ = ["Arena", "LocmGame", "parse_player"]

_NAME = "locm"


@dataclass(frozen=True, slots=True)
class LocmGame:
    """The `locmsim.contract.Game` of a rule set; `ids` as for `Match`."""

    rules: str = "1.5"
    ids: str = "new"

    @property
    def title(self) -> str:
        """What tables say was played."""
        return f"rules {self.rules}"

    def new_match(self, seed: int, card_seed: int | None) -> Match:
        """The match of these seeds; ``ValueError`` for a `card_seed` where cards are fixed."""
        if card_seed is not None and get_rules(self.rules).draft:
            raise ValueError(f"rules {self.rules} have a fixed card set")
        params = {} if card_seed is None else {"cardGenSeed": card_seed}
        return Match(self.rules, seed=seed, params=params, ids=self.ids)

    def is_agent(self, spec: str) -> bool:
        """Whether a text describes an agent, see `locmsim.agents.registry`."""
        return is_agent(spec)

    def make_agent(self, spec: str) -> Agent:
        """The agent that a text describes; ``ValueError``, also if it plays other rules only."""
        return check_rules(make_agent(spec), self.rules)

    def describe(self, agent: Any) -> tuple[str | None, Agent]:
        """The text for a class or a ready agent, None if none makes its like; and an agent."""
        made = check_rules(make_agent(agent), self.rules)
        return _spec_of(made), made

    def suggest(self, name: str) -> str:
        """The agent that was meant, for a message."""
        return did_you_mean(name) or f"; the agents are {', '.join(AGENTS)}"

    def to_json(self) -> dict[str, Any]:
        """As plain strings."""
        return {"game": _NAME, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LocmGame":
        """The inverse of `to_json`; ``ValueError`` for another game."""
        fields = dict(data)
        name = fields.pop("game", None)
        if name != _NAME:
            raise ValueError(f"results of a game called {name!r}, not of {_NAME!r}")
        return cls(**fields)


class Arena(Tournament):
    """A tournament in Legends of Code and Magic with its results; a context manager.

    `players` are descriptions for `parse_player`, classes of agents, ready agents, or `Player`
    objects. `db` names an SQLite file;
    without one the results are kept in memory. If the file has results already, what is not given
    here is taken from it, and what is given must agree with it, except that `games` (for each
    pairing; default 200, or all `seeds`) and `sprt` may change. `rules` (default "1.5") and `ids`
    are as for `Match`, `settings` the other fields of `Settings`.

    ``ValueError`` for arguments that make no sense, `StoreError` for files.
    """

    game_type = LocmGame

    def __init__(
        self,
        players: Sequence[Any] | None = None,
        *,
        rules: str | None = None,
        ids: str | None = None,
        db: str | os.PathLike[str] = ":memory:",
        games: int | None = None,
        sprt: Sprt | None = None,
        **settings: Any,
    ) -> None:
        given = {k: v for k, v in {"rules": rules, "ids": ids}.items() if v is not None}

        def game(stored: LocmGame | None) -> LocmGame:
            return replace(stored or LocmGame(), **given)

        super().__init__(players, game=game, db=db, games=games, sprt=sprt, **settings)


def _spec_of(agent: Agent) -> str | None:
    """The text from which agents are made that are just like this one; None if there is none."""
    kind = type(agent)
    try:
        spec = agent_spec(kind)
    except ValueError:
        return None
    arguments = inspect.signature(kind).parameters.values()
    if is_dataclass(agent) and {p.name for p in arguments} == {f.name for f in fields(agent)}:
        plain = [field for field in fields(agent) if field.default_factory is MISSING]
        changed = {f.name: v for f in plain if (v := getattr(agent, f.name)) != f.default}
        if any(type(value) not in (bool, int, float, str) for value in changed.values()):
            return None
        if any("," in str(value) for value in changed.values()):
            return None
        options = ",".join(f"{name}={value}" for name, value in changed.items())
        alike = _alike(agent, kind(**changed), derived=True)
        return (f"{spec}:{options}" if options else spec) if alike else None
    if any(p.default is p.empty for p in arguments if p.kind == p.POSITIONAL_OR_KEYWORD):
        return None
    return spec if _alike(agent, kind(), derived=False) else None


def _alike(agent: Agent, other: Agent, *, derived: bool) -> bool:
    """Whether two agents of a class have the same in them.

    What cannot be compared counts as the same if it can only be `derived` from what can.
    """
    mine, theirs = (getattr(some, "__dict__", None) for some in (agent, other))
    if mine is None or theirs is None or mine.keys() != theirs.keys():
        return False
    for name, value in mine.items():
        try:
            same = pickle.dumps(value) == pickle.dumps(theirs[name])
        except Exception:  # whatever objects raise that cannot be pickled
            same = derived
        if not same:
            return False
    return True


def parse_player(text: str) -> Player:
    """A player from ``"mcts:time_ms=50"``, ``"./mybot --fast"`` or, with a name, ``"new=./mybot"``.

    What describes an agent (`locmsim.agents.registry`) is one; all else is a command.
    ``ValueError`` for an agent that is not there, its wrong options, and for an empty command.
    """
    player, _ = as_player(text, LocmGame())
    return player

"""Tournaments in Legends of Code and Magic: the one module of the arena that knows the game."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from locmsim.agents.base import Agent
from locmsim.agents.registry import AGENTS, make_agent
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

    @property
    def agent_names(self) -> Sequence[str]:
        """The names of agents."""
        return list(AGENTS)

    def new_match(self, seed: int, card_seed: int | None) -> Match:
        """The match of these seeds; ``ValueError`` for a `card_seed` where cards are fixed."""
        if card_seed is not None and get_rules(self.rules).draft:
            raise ValueError(f"rules {self.rules} have a fixed card set")
        params = {} if card_seed is None else {"cardGenSeed": card_seed}
        return Match(self.rules, seed=seed, params=params, ids=self.ids)

    def is_agent(self, spec: str) -> bool:
        """Whether a text starts with the name of an agent."""
        return spec.partition(":")[0] in AGENTS

    def make_agent(self, spec: str) -> Agent:
        """The agent that a text describes; ``ValueError``."""
        return make_agent(spec)

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

    `players` are descriptions for `parse_player`, or `Player` objects. `db` names an SQLite file;
    without one the results are kept in memory. If the file has results already, what is not given
    here is taken from it, and what is given must agree with it, except that `games` (for each
    pairing; default 200, or all `seeds`) and `sprt` may change. `rules` (default "1.5") and `ids`
    are as for `Match`, `settings` the other fields of `Settings`.

    ``ValueError`` for arguments that make no sense, `StoreError` for files.
    """

    game_type = LocmGame

    def __init__(
        self,
        players: Sequence[str | Player] | None = None,
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


def parse_player(text: str) -> Player:
    """A player from ``"mcts:time_ms=50"``, ``"./mybot --fast"`` or, with a name, ``"new=./mybot"``.

    What starts with the name of an agent (`locmsim.agents.AGENTS`) is one, with its options; all
    else is a command. ``ValueError`` for an agent's wrong options and for an empty command.
    """
    player, _ = as_player(text, LocmGame())
    return player

"""Filters of games, and the rows that a list has of those that a filter takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from locmsim.arena.game_store import GameQuery, ListedGame
from locmsim.web.keys import Key

__all__ = ["ALL", "Filter", "game_row"]


@dataclass(frozen=True)
class Filter:
    """A filter of games.

    Attributes
    ----------
    player, lost_by : str
        Only those of a player of that name, or that such a one lost; empty for all.
    fault : str
        "any" or "none", or one kind of `locmsim.contract.FaultKind`; empty for all.
    least, most : int
        Turns, those of both players counted; None for no bound.
    rules : str
        The rule set; empty for all.
    source : str
        The key of a source, see `Library.choices`; empty for all.
    """

    player: str = ""
    lost_by: str = ""
    fault: str = ""
    least: int | None = None
    most: int | None = None
    rules: str = ""
    source: str = ""

    def takes(self, row: dict[str, Any]) -> bool:
        """Return whether the game of a row is wanted, whatever its source."""
        names, winner, turns = row["names"], row["winner"], row["turns"]
        kind = row["fault"]["kind"] if row["fault"] else None
        if self.rules not in ("", row["rules"]) or self.player not in ("", *names):
            return False
        if self.lost_by and (winner is None or names[1 - winner] != self.lost_by):
            return False
        if self.fault and self.fault not in (("any", kind) if kind else ("none",)):
            return False
        return (self.least or 0) <= turns and (self.most is None or turns <= self.most)

    def query(self, number_of: Callable[[str], int | None]) -> GameQuery | None:
        """Return the same for a store of games; None if it has none of these players.

        Parameters
        ----------
        number_of : function
            Returns the number of a player in the store by name, None if there is none.
        """
        numbers = {name: number_of(name) for name in {self.player, self.lost_by} - {""}}
        if None in numbers.values():
            return None
        player, lost_by = numbers.get(self.player), numbers.get(self.lost_by)
        return GameQuery(
            players=[] if player is None else [player],
            lost_by=lost_by,
            fault=self.fault,
            least=self.least,
            most=self.most,
            rules=self.rules,
        )


ALL = Filter()


def game_row(key: Key, game: ListedGame) -> dict[str, Any]:
    """Return what a list shows of a game, see `locmsim.web.library.Library.games`."""
    fault = None
    if game.fault is not None:
        fault = dict(zip(("player", "kind", "message"), game.fault, strict=True))
    return {
        "key": str(key),
        "source": game.source,
        "number": game.place,
        "names": [*game.names],
        "winner": game.winner,
        "fault": fault,
        "turns": game.turns,
        "rules": game.rules,
        "game": game.title,
        "live": "",
    }

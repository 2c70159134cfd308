"""Games in an SQLite file, and lists of them by filters, the latest first.

The results of a tournament and the games of logs are such files. Both have the tables ``players``
and ``games`` with the columns that a list shows and a filter asks about.

One index has all of these columns, in the order of the list. A filter that takes many games ends
soon; one that takes few reads this index to its end, which for 100,000 games takes a few
milliseconds, and never a row that does not match. Games with a fault have an index of their own.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from locmsim.support.database import Database


@dataclass(frozen=True)
class GameQuery:
    """A filter of games; by default all.

    Attributes
    ----------
    players : collection of str
        The names of both or one of those who played.
    lost_by : str
        The name of the player who lost; empty for all.
    fault : str
        "any", "none", or one kind of `locmsim.contract.FaultKind`; empty for all.
    least, most : int, optional
        Turns of both players.
    rules : str
        The rule set; empty for all.
    """

    players: Collection[str] = ()
    lost_by: str = ""
    fault: str = ""
    least: int | None = None
    most: int | None = None
    rules: str = ""


ALL_GAMES = GameQuery()


class GameRow(NamedTuple):
    """How a game stands or ended, and where it is: what a list shows."""

    #: The names of the players by seat.
    names: Sequence[str]
    #: The seat that won; None for a draw.
    winner: int | None = None
    #: The turns of both players.
    turns: int = 0
    #: As of `locmsim.contract.Fault.row`; the player is None where a log does not say who failed.
    fault: Mapping[str, Any] | None = None
    #: The rule set, None if it is not known; the title of a game that pages cannot replay.
    rules: str | None = None
    game: str = ""
    #: The file that it is in, and its line or number there, for a match of a server "LINE:NUMBER"
    #: with the line of its tournament; None if it is alone in its file.
    source: str = ""
    number: int | str | None = None
    #: The key of a game of a catalogue, and "live" or "paused" while it is played.
    key: str = ""
    live: str = ""
    #: What `listed` of its store calls it.
    place: int = 0


def fault_row(player: int | None, kind: str | None, message: str) -> dict[str, Any] | None:
    """Return the columns of a fault as a `GameRow` has them."""
    return None if kind is None else {"player": player, "kind": kind, "message": message}


def index_statements(*, rules: bool = False) -> str:
    """Return the statements that create the indexes, each with a semicolon and a line end.

    Parameters
    ----------
    rules : bool
        Whether the table has the column ``rules``.
    """
    columns = ["game", "player0", "player1", "winner", "turns", "fault_kind"]
    columns += [*(["rules"] if rules else []), "fault_seat"]
    listed = ", ".join(columns)
    parts = {
        "listed": f"({listed})",
        "failed": f"({listed}) WHERE fault_kind IS NOT NULL",
        "fault_kind": "(fault_kind) WHERE fault_kind IS NOT NULL",
    }
    if rules:
        parts["rules"] = "(rules) WHERE rules IS NOT NULL"
    return "".join(
        f"CREATE INDEX {_index_of(name)} ON games {part};\n" for name, part in parts.items()
    )


def _index_of(name: str) -> str:
    return "games_kinds" if name == "fault_kind" else f"games_{name}"


class GameStore(Database):
    """An open file of games; a context manager. A subclass says what else is in it."""

    #: Whether games have rule sets of their own, in the column ``rules``.
    with_rules: ClassVar[bool] = False

    def __len__(self) -> int:
        ((count,),) = self._ask("SELECT count(*) FROM games")
        return int(count)

    def last(self) -> int:
        """Return the highest number of a game; 0 before the first one."""
        ((number,),) = self._ask("SELECT max(game) FROM games")
        return int(number or 0)

    def player(self, name: str) -> int | bytes | None:
        """Return what the table calls a player; None if there is no such player."""
        raise NotImplementedError

    def fault_kinds(self) -> set[str]:
        """Return the kinds of faults that ended a game."""
        return self._distinct("fault_kind")

    def rule_sets(self) -> set[str]:
        """Return the rule sets of games that have their own."""
        return self._distinct("rules") if self.with_rules else set()

    def _ask(self, query: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        with self._errors("read"):
            return self._connection.execute(query, values or {}).fetchall()

    def _select(
        self,
        columns: str,
        query: GameQuery,
        before: int | None,
        count: int | None,
        join: str = "",
        first: int = 0,
    ) -> list[tuple[Any, ...]]:
        """Return columns of games, and of what is joined for them, the latest first.

        Only games with lower numbers than `before`, not more than `count`.
        """
        where, values = self._conditions(query)
        if before is not None:
            where.append("game < :before")
        if first:
            where.append("game >= :first")
        index = _index_of("listed" if query.fault in ("", "none") else "failed")
        conditions = f" WHERE {' AND '.join(where)}" if where else ""
        return self._ask(
            f"SELECT {columns} FROM games INDEXED BY {index}{join}{conditions}"
            " ORDER BY game DESC LIMIT :count",
            {**values, "before": before, "first": first, "count": -1 if count is None else count},
        )

    def _conditions(self, query: GameQuery) -> tuple[list[str], dict[str, Any]]:
        """Return what all games of a query have in common, and the values in it by name."""
        where: list[str] = []
        values: dict[str, Any] = {}
        for i, name in enumerate(query.players):
            where.append(f"(player0 = :one{i} OR player1 = :one{i})")
            values[f"one{i}"] = self.player(name)
        if query.lost_by:
            where.append("CASE winner WHEN 0 THEN player1 WHEN 1 THEN player0 END = :lost_by")
            values["lost_by"] = self.player(query.lost_by)
        for name, condition in (
            ("least", "turns >= :least"),
            ("most", "turns <= :most"),
        ):
            if (value := getattr(query, name)) is not None:
                where.append(condition)
                values[name] = value
        if query.rules and self.with_rules:
            where.append("rules = :rules")
            values["rules"] = query.rules
        elif query.rules and query.rules not in self.rule_sets():
            where.append("0")
        if query.fault in ("any", "none"):
            where.append(f"fault_kind IS {'NOT ' * (query.fault == 'any')}NULL")
        elif query.fault:
            where.append("fault_kind = :fault")
            values["fault"] = query.fault
        return where, values

    def _distinct(self, column: str) -> set[str]:
        """Return the values of ``fault_kind`` or ``rules``."""
        source = f"games INDEXED BY {_index_of(column)}"
        found: set[str] = set()
        value = ""
        # Each question goes to the next higher value, however many games have this one.
        while value is not None:
            ((value,),) = self._ask(
                f"SELECT min({column}) FROM {source} WHERE {column} > :value", {"value": value}
            )
            found |= {value} - {None}
        return found

"""Lists of games in an SQLite table, the latest first, by filters.

One index has all columns that filters ask about, in the order of the list. A filter that takes many
games ends soon; one that takes few reads this index to its end, which for 100,000 games takes a few
milliseconds, and never a row that does not match. Games with a fault have an index of their own.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ALL_GAMES", "GameIndex", "GameQuery"]

_Rows = list[tuple[Any, ...]]
#: Runs a query with named values and returns all of its rows.
Ask = Callable[[str, Mapping[str, Any]], _Rows]


@dataclass(frozen=True)
class GameQuery:
    """A filter of games; by default all.

    Attributes
    ----------
    players : collection
        Both or one of those who played, as the columns of the table have them.
    lost_by : object, optional
        Who lost.
    fault : str
        "any", "none", or one kind of `locmsim.contract.FaultKind`; empty for all.
    least, most : int, optional
        Turns of both players.
    rules : str
        The rule set, where the table has such a column; empty for all.
    """

    players: Collection[Any] = ()
    lost_by: Any = None
    fault: str = ""
    least: int | None = None
    most: int | None = None
    rules: str = ""


ALL_GAMES = GameQuery()


@dataclass(frozen=True)
class GameIndex:
    """The indexes of a table of games.

    Attributes
    ----------
    table, number : str
        Its name, and that of its primary key, which counts the games.
    players : tuple of str
        The columns of the first and of the second player.
    kind : str
        The column of the kind of a fault. ``winner`` and ``turns`` are called that.
    rules : str
        The column of the rule set; empty if there is none.
    shown : tuple of str
        Further columns that lists show, where these are to be read from the indexes alone.
    """

    table: str
    number: str
    players: tuple[str, str]
    kind: str
    rules: str = ""
    shown: tuple[str, ...] = ()

    def statements(self) -> str:
        """Return the statements that create the indexes, each with a semicolon and a line end."""
        asked = [self.number, *self.players, "winner", "turns", self.kind, self.rules, *self.shown]
        columns = ", ".join(filter(None, dict.fromkeys(asked)))
        parts = {
            "listed": f"({columns})",
            "failed": f"({columns}) WHERE {self.kind} IS NOT NULL",
            "kinds": f"({self.kind}) WHERE {self.kind} IS NOT NULL",
        }
        if self.rules:
            parts["rules"] = f"({self.rules}) WHERE {self.rules} IS NOT NULL"
        return "".join(
            f"CREATE INDEX {self.table}_{name} ON {self.table} {part};\n"
            for name, part in parts.items()
        )

    def rows(
        self,
        ask: Ask,
        columns: str,
        query: GameQuery,
        before: int | None = None,
        count: int | None = None,
        join: str = "",
    ) -> list[tuple[Any, ...]]:
        """Return the games that match a query, the latest first.

        Parameters
        ----------
        ask : function
            Runs a query of SQL and returns all of its rows.
        columns : str
            What is wanted of each.
        query : GameQuery
            Which ones.
        before : int, optional
            Only games with lower numbers.
        count : int, optional
            Not more than so many.
        join : str
            What is joined for the columns.

        Returns
        -------
        list of tuple
            The columns of each game.
        """
        where, values = self._conditions(query)
        if before is not None:
            where.append(f"{self.number} < :before")
        index = "listed" if query.fault in ("", "none") else "failed"
        conditions = f" WHERE {' AND '.join(where)}" if where else ""
        return ask(
            f"SELECT {columns} FROM {self.table} INDEXED BY {self.table}_{index}{join}{conditions}"
            f" ORDER BY {self.number} DESC LIMIT :count",
            {**values, "before": before, "count": -1 if count is None else count},
        )

    def _conditions(self, query: GameQuery) -> tuple[list[str], dict[str, Any]]:
        """Return what all games of a query have in common, and the values in it by name."""
        first, second = self.players
        where, values = [], {}
        for i, player in enumerate(query.players):
            where.append(f"({first} = :player{i} OR {second} = :player{i})")
            values[f"player{i}"] = player
        for name, condition in (
            ("lost_by", f"CASE winner WHEN 0 THEN {second} WHEN 1 THEN {first} END = :lost_by"),
            ("least", "turns >= :least"),
            ("most", "turns <= :most"),
        ):
            if (value := getattr(query, name)) is not None:
                where.append(condition)
                values[name] = value
        if query.rules and self.rules:
            where.append(f"{self.rules} = :rules")
            values["rules"] = query.rules
        if query.fault in ("any", "none"):
            where.append(f"{self.kind} IS {'NOT ' * (query.fault == 'any')}NULL")
        elif query.fault:
            where.append(f"{self.kind} = :fault")
            values["fault"] = query.fault
        return where, values

    def values(self, ask: Ask, column: str) -> set[str]:
        """Return the distinct values of `kind` or of `rules`.

        Parameters
        ----------
        ask : function
            As for `rows`.
        column : str
            Which of the two.
        """
        name = "rules" if column == self.rules else "kinds"
        source = f"{self.table} INDEXED BY {self.table}_{name}"
        found: set[str] = set()
        value = ""
        # Each question goes to the next higher value, however many games have this one.
        while value is not None:
            ((value,),) = ask(
                f"SELECT min({column}) FROM {source} WHERE {column} > :value", {"value": value}
            )
            found |= {value} - {None}
        return found

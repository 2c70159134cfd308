"""Lists of games in an SQLite table: indexes for every filter, and the rows, the latest first.

However many games there are, and however few of them a filter takes, a list reads about as many
entries of an index as it has rows. A filter fixes some columns of an index and leaves others open.
These have few different values (turns, kinds of faults): the index is asked once for each of them,
and the answers are merged.
"""

import heapq
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

__all__ = ["ALL_GAMES", "GameIndex", "GameQuery"]

_Rows = list[tuple[Any, ...]]
#: Runs a query with values and returns all of its rows.
Ask = Callable[[str, Sequence[Any]], _Rows]
#: Number of rows of one range that are read at first; it doubles with every further read.
_FIRST = 4
#: With bounds for turns, the number of latest games that are checked before the indexes are used.
_LOOKED_AT = 130


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


class _Column(NamedTuple):
    """One column of an index and the values of it that are wanted."""

    name: str
    #: The one value; None if it is open.
    value: Any = None
    #: The lowest value, or what all are above; the highest value.
    low: Any = None
    above: Any = None
    high: Any = None

    @property
    def open(self) -> bool:
        """Whether all values are wanted."""
        return self[1:] == (None,) * 4


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
        The columns that lists show, where these are to be read from the indexes alone.
    """

    table: str
    number: str
    players: tuple[str, str]
    kind: str
    rules: str = ""
    shown: tuple[str, ...] = ()

    @property
    def _loser(self) -> str:
        first, second = self.players
        return f"CASE winner WHEN 0 THEN {second} WHEN 1 THEN {first} END"

    @property
    def _kinds(self) -> list[str]:
        """The rule set and the kind of a fault, NULL replaced, as it has no order."""
        return [f"ifnull({name}, '')" for name in (self.rules, self.kind) if name]

    @property
    def _indexes(self) -> dict[str, list[str]]:
        first, second = self.players
        who = {
            "all": [],
            "first": [first],
            "second": [second],
            "lost": [self._loser],
            "pair": [first, second, "ifnull(winner, -1)"],
        }
        families = {
            "kind": self._kinds,
            "turns": ["turns"],
            "kind_turns": [*self._kinds, "turns"],
        }
        return {"listed": []} | {
            f"{name}_{by}": [*columns, *more]
            for name, columns in who.items()
            for by, more in families.items()
        }

    def statements(self) -> str:
        """Return the statements that create the indexes, each with a semicolon and a line end."""
        return "".join(
            f"CREATE INDEX {self.table}_{name} ON {self.table}"
            f" ({', '.join([*columns, self.number, *self.shown])});\n"
            for name, columns in self._indexes.items()
        )

    def rows(
        self, ask: Ask, columns: str, query: GameQuery, before: int | None = None, join: str = ""
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the games that match a query, the latest first.

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
        join : str
            What is joined for the columns.

        Yields
        ------
        tuple
            The columns of a game.
        """
        last = before if before is not None else 1 << 62
        turns = _turns(query)
        if not turns.open:
            # Where many games fit, some are among the latest ones, which are in one place.
            unbounded = replace(query, least=None, most=None)
            latest = self._merged(ask, columns, unbounded, last, join)
            for checked, (number, value, *row) in enumerate(latest):
                if checked == _LOOKED_AT:
                    break
                last = number
                if (query.least or 0) <= value <= (value if query.most is None else query.most):
                    yield tuple(row)
            else:
                return
        for _, _, *row in self._merged(ask, columns, query, last, join):
            yield tuple(row)

    def _merged(
        self, ask: Ask, columns: str, query: GameQuery, last: int, join: str
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows as `rows` does, each preceded by its number and its turns."""
        columns = f"{self.number}, turns, {columns}"
        found = [
            self._range(ask, f"SELECT {columns} FROM {source}{join}", conditions, values, last)
            for name, fixed in self._plans(query)
            for source in [f"{self.table} INDEXED BY {self.table}_{name}"]
            for conditions, values in _ranges(ask, source, fixed)
        ]
        number = None
        for row in heapq.merge(*found, key=lambda row: -row[0]):
            if row[0] != number:  # in two indexes, if both players have one name
                number = row[0]
                yield row

    def values(self, ask: Ask, column: str) -> set[str]:
        """Return the distinct values of `kind` or of `rules`.

        Parameters
        ----------
        ask : function
            As for `rows`.
        column : str
            Which of the two.

        Returns
        -------
        set of str
        """
        place = self._kinds.index(f"ifnull({column}, '')")
        columns = [_Column(name) for name in self._kinds[: place + 1]]
        source = f"{self.table} INDEXED BY {self.table}_all_kind"
        return {values[-1] for _, values in _ranges(ask, source, columns)} - {""}

    def _plans(self, query: GameQuery) -> Iterator[tuple[str, list[_Column]]]:
        """Yield the indexes to ask, with the columns of each."""
        names = set(query.players) | ({query.lost_by} - {None})
        kinds, turns = self._wanted_kinds(query), _turns(query)
        if turns.open:
            suffix, by = "kind", kinds
        elif all(kind.open for kind in kinds):
            suffix, by = "turns", [turns]
        else:
            suffix, by = "kind_turns", [*kinds, turns]
        first, second = self.players
        if len(names) > 2:
            return
        if len(names) == 2:
            one, other = names
            for pair in ((one, other), (other, one)):
                winner = _Column("ifnull(winner, -1)")
                if query.lost_by is not None:
                    winner = _Column(winner.name, 1 - pair.index(query.lost_by))
                seats = [_Column(first, pair[0]), _Column(second, pair[1])]
                yield f"pair_{suffix}", [*seats, winner, *by]
        elif query.lost_by is not None:
            yield f"lost_{suffix}", [_Column(self._loser, query.lost_by), *by]
        elif names:
            (name,) = names
            yield f"first_{suffix}", [_Column(first, name), *by]
            yield f"second_{suffix}", [_Column(second, name), *by]
        elif not all(column.open for column in by):
            yield f"all_{suffix}", by
        else:
            yield "listed", []

    def _wanted_kinds(self, query: GameQuery) -> list[_Column]:
        """What is wanted of rules and kinds of faults."""
        *rules, kind = self._kinds
        kinds = [_Column(name, query.rules or None) for name in rules]
        if query.fault == "any":
            return [*kinds, _Column(kind, above="")]
        return [*kinds, _Column(kind, "" if query.fault == "none" else query.fault or None)]

    def _range(
        self, ask: Ask, select: str, conditions: list[str], values: list[Any], last: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of one range of an index."""
        where = _where([*conditions, f"{self.number} < ?"])
        query = f"{select}{where} ORDER BY {self.number} DESC LIMIT ?"
        size = _FIRST
        while True:
            rows = ask(query, [*values, last, size])
            yield from rows
            if len(rows) < size:
                return
            last = rows[-1][0]
            size *= 2


def _turns(query: GameQuery) -> _Column:
    return _Column("turns", low=query.least, high=query.most)


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _ranges(
    ask: Ask,
    source: str,
    columns: Sequence[_Column],
    conditions: Sequence[str] = (),
    values: Sequence[Any] = (),
) -> Iterator[tuple[list[str], list[Any]]]:
    """The ranges of an index in which each column has one value, as conditions with values."""
    if not columns:
        yield [*conditions], [*values]
        return
    column, *rest = columns
    name = column.name
    if column.value is not None:
        known = [*conditions, f"{name} = ?"]
        yield from _ranges(ask, source, rest, known, [*values, column.value])
        return
    # One bound on each side: of two on one side SQLite may use the wrong one.
    low = (">=", column.low) if column.above is None else (">", column.above)
    bounds = [(sign, bound) for sign, bound in (low, ("<=", column.high)) if bound is not None]
    first = _where([*conditions, *(f"{name} {sign} ?" for sign, _ in bounds)])
    limit = [] if column.high is None else [f"{name} <= ?"]
    following = _where([*conditions, *limit, f"{name} > value"])
    found = ask(
        "WITH RECURSIVE found(value) AS ("
        f"SELECT * FROM (SELECT {name} FROM {source}{first} ORDER BY {name} LIMIT 1)"
        f" UNION ALL SELECT (SELECT {name} FROM {source}{following} ORDER BY {name} LIMIT 1)"
        " FROM found WHERE value IS NOT NULL) SELECT value FROM found WHERE value IS NOT NULL",
        [*values, *(bound for _, bound in bounds), *values, *([column.high] if limit else [])],
    )
    for (value,) in found:
        yield from _ranges(ask, source, rest, [*conditions, f"{name} = ?"], [*values, value])

"""Lists of games in an SQLite table: indexes for every filter, and the rows, the latest first.

However many games there are, and however few of them a filter takes, a list reads about as many
entries of an index as it has rows. A filter fixes some columns of an index and leaves others open.
These have few different values (turns, kinds of faults): one statement finds the groups of games
that share them and merges the groups, each of which has its games in the order of the list.
"""

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

__all__ = ["ALL_GAMES", "GameIndex", "GameQuery"]

_Rows = list[tuple[Any, ...]]
#: Runs a query with named values and returns all of its rows.
Ask = Callable[[str, Mapping[str, Any]], _Rows]
#: Above every number of a game and every limit.
_ABOVE_ALL = 1 << 62
#: Of each of two indexes, by how many rows more than half of those wanted are read at first.
_UNEVEN = 8
#: By how much the numbers of games are lower that are looked at one by one, before an index is.
_LOOKED_AT = 400


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


#: The name of an index, and its columns but for the number of the game and what is shown.
_Plan = tuple[str, list[_Column]]


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
        plans = [*self._plans(query)]
        last = _ABOVE_ALL if before is None else before
        left = _ABOVE_ALL if count is None else count
        columns = f"{self.number}, {columns}"
        found: _Rows = []
        if any(wanted for _, wanted in plans):
            # Where many games fit, enough are among the latest ones, which are in one place.
            found, last = self._latest(ask, columns, plans, last, left, join)
            left -= len(found)
        if left and last > 0:
            found += self._merged(ask, columns, plans, last, left, join)
        return [row[1:] for row in found]

    def _latest(
        self, ask: Ask, columns: str, plans: Sequence[_Plan], last: int, count: int, join: str
    ) -> tuple[_Rows, int]:
        """Check the latest games below `last` one by one.

        Returns
        -------
        found : list of tuple
            Those that match, each preceded by its number.
        last : int
            The lowest number that was checked; 0 if there are no games below it.
        """
        source = f"{self.table} INDEXED BY {self.table}_listed"
        newest = f"ORDER BY {self.number} DESC LIMIT"
        highest = f"SELECT {self.number} FROM {source} WHERE {self.number} < :last {newest} 1"
        for (number,) in ask(highest, {"last": last}):
            values: dict[str, Any] = {"last": last, "end": number - _LOOKED_AT, "size": count}
            either = []
            for i, (_, wanted) in enumerate(plans):
                either.append(" AND ".join(_bounds(wanted, 10 * i)))
                values |= _values(wanted, 10 * i)
            found = ask(
                f"SELECT {columns} FROM {source}{join} WHERE {self.number} < :last"
                f" AND {self.number} > :end AND ({' OR '.join(either)}) {newest} :size",
                values,
            )
            return found, max(0, number - _LOOKED_AT + 1)
        return [], 0

    def _merged(
        self, ask: Ask, columns: str, plans: Sequence[_Plan], last: int, count: int, join: str
    ) -> _Rows:
        """Return the games below `last` that one or two indexes have, preceded by their numbers."""
        # Players change seats: each of two indexes has about half of the games.
        half = count if len(plans) == 1 else min(count, count // 2 + _UNEVEN)
        found = [
            self._parts(
                ask,
                self._statement(*plan, columns, join),
                {**_values(plan[1]), "last": last},
                (half, count - half),
            )
            for plan in plans
        ]
        rows: dict[int, tuple[Any, ...]] = {}
        # A game is in two indexes if both players have one name.
        for row in heapq.merge(*found, key=lambda row: -row[0]):
            rows[row[0]] = row
            if len(rows) == count:
                break
        return [*rows.values()]

    def _parts(
        self, ask: Ask, statement: str, values: dict[str, Any], sizes: Sequence[int]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield what a statement finds; each part is not asked for before it is wanted."""
        for size in filter(None, sizes):
            rows = ask(statement, {**values, "size": size})
            # SQLite keeps the order of a recursion, but does not promise it.
            rows.sort(key=itemgetter(0), reverse=True)
            yield from rows
            if len(rows) < size:
                return
            values["last"] = rows[-1][0]

    def _statement(self, index: str, wanted: list[_Column], columns: str, join: str) -> str:
        """Return what selects the latest ``:size`` games below ``:last`` by one index."""
        source = f"{self.table} INDEXED BY {self.table}_{index}"
        conditions = _conditions(wanted)
        number = self.number
        newest = f"ORDER BY {number} DESC LIMIT"
        tables, last, groups = _groups(source, wanted)
        if not groups:
            where = _where([*conditions, f"{number} < :last"])
            return f"SELECT {columns} FROM {source}{join}{where} {newest} :size"

        def latest(limit: str) -> str:
            where = _where([*conditions, f"{number} < {limit}"])
            return f"(SELECT {number} FROM {source}{where} {newest} 1)"

        values = ", ".join(groups)
        # A queue with the latest game of each group. Whatever leaves it is the latest of all, and
        # the one before it in its group takes its place.
        return (
            f"WITH RECURSIVE {tables}, queue({values}, latest) AS ("
            f"SELECT {values}, {latest(':last')} FROM {last}"
            f" WHERE {groups[-1]} IS NOT NULL"
            f" UNION ALL SELECT {values}, {latest('latest')} FROM queue WHERE latest IS NOT NULL"
            f" ORDER BY {len(groups) + 1} DESC LIMIT :size)"
            f" SELECT {columns} FROM queue CROSS JOIN {source}"
            f" ON {' AND '.join([*conditions, f'{number} = latest'])}{join}"
        )

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
        tables, last, groups = _groups(source, columns)
        found = ask(f"WITH RECURSIVE {tables} SELECT {groups[-1]} FROM {last}", {})
        return {value for (value,) in found if value}

    def _plans(self, query: GameQuery) -> Iterator[_Plan]:
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


def _turns(query: GameQuery) -> _Column:
    return _Column("turns", low=query.least, high=query.most)


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _conditions(columns: Sequence[_Column]) -> list[str]:
    """Return what all games of a group have in common: the wanted values, or those of the group."""
    return [
        f"{column.name} = {'value' if column.value is None else ':value'}{i}"
        for i, column in enumerate(columns)
    ]


def _bounds(columns: Sequence[_Column], start: int = 0) -> list[str]:
    """Return the conditions of what is wanted; the names in them are numbered from `start` on."""
    return [
        f"{column.name} {sign} :{name}{i}"
        for i, column in enumerate(columns, start)
        for name, sign in (("value", "="), ("low", ">="), ("above", ">"), ("high", "<="))
        if getattr(column, name) is not None
    ]


def _values(columns: Sequence[_Column], start: int = 0) -> dict[str, Any]:
    """Return what the names after colons in a statement stand for."""
    return {
        f"{name}{i}": value
        for i, column in enumerate(columns, start)
        for name, value in column._asdict().items()
        if name != "name"
    }


def _groups(source: str, columns: Sequence[_Column]) -> tuple[str, str, list[str]]:
    """Return tables for ``WITH``; the name and the columns of the last one, which has all groups.

    There is a table for each column without a wanted value. For each row of the table before it, it
    goes from one value in the index to the next higher one; after the last one it has NULL.
    """
    tables: list[str] = []
    known: list[str] = []
    table = ""
    conditions = _conditions(columns)
    for i, column in enumerate(columns):
        if column.value is not None:
            continue
        # One bound on each side: of two on one side SQLite may use the wrong one.
        high = _bounds([column._replace(low=None, above=None)], i)
        first = [*conditions[:i], *_bounds([column], i)]
        following = [*conditions[:i], f"{column.name} > value{i}", *high]
        least, next_one = (
            f"(SELECT {column.name} FROM {source}{_where(where)} ORDER BY {column.name} LIMIT 1)"
            for where in (first, following)
        )
        origin = f" FROM {table} WHERE {known[-1]} IS NOT NULL" if known else ""
        before, table = known, f"groups{i}"
        known = [*known, f"value{i}"]
        tables.append(
            f"{table}({', '.join(known)}) AS (SELECT {', '.join([*before, least])}{origin}"
            f" UNION ALL SELECT {', '.join([*before, next_one])} FROM {table}"
            f" WHERE value{i} IS NOT NULL)"
        )
    return ", ".join(tables), table, known

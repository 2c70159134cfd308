"""The games of logs, of what was played here and of what is being played, in a table in memory.

A game's key is a hash of its log: two logs of one name are two games, and one log under two names
is one. A game that still runs has another key until it ends.
"""

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from locmsim.arena.game_store import (
    ALL_GAMES,
    GameQuery,
    GameRow,
    GameStore,
    fault_row,
    index_statements,
)
from locmsim.arena.log_rows import FoundLog, key_of
from locmsim.arena.store import StoreError
from locmsim.support.database import Kind

_TABLES = f"""
CREATE TABLE games (
    game INTEGER PRIMARY KEY,
    player0 BLOB NOT NULL,
    player1 BLOB NOT NULL,
    winner INTEGER,
    turns INTEGER NOT NULL,
    fault_seat INTEGER,
    fault_kind TEXT,
    fault_message TEXT,
    rules TEXT,
    title TEXT NOT NULL,
    live TEXT NOT NULL,
    source BLOB NOT NULL,
    key TEXT NOT NULL UNIQUE,
    earlier TEXT
);
CREATE TABLE places (
    place INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    path BLOB NOT NULL,
    start INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    line INTEGER,
    part INTEGER,
    server TEXT NOT NULL
);
CREATE INDEX games_of_earlier ON games (earlier) WHERE earlier IS NOT NULL;
CREATE INDEX places_of_key ON places (key);
CREATE INDEX places_of_path ON places (path, start);
{index_statements(rules=True)}"""
_INSERT = f"INTO games VALUES ({', '.join('?' * 14)})"
_SHOWN = (
    "game, player0, player1, winner, turns, fault_seat, fault_kind, fault_message, rules, title,"
    " live, source, games.key, path, part, line"
)
# CROSS: the index of games is read first. One of the places of a log is shown.
_JOIN = (
    " LEFT JOIN places ON place = (SELECT min(place) FROM places AS other"
    " WHERE other.key = games.key)"
)
#: The numbers of games that were played here, and of those that are running: the list shows the
#: highest first.
_PLAYED, _RUNNING = 1 << 40, 1 << 41
#: The most names that `Catalogue.names` returns.
_NAMES = 1000


class LogPlace(NamedTuple):
    """The place of a log in a file."""

    path: str
    #: The offset of its first byte, and its number of bytes.
    start: int
    size: int
    #: The game whose `locmsim.contract.LogPart` it is in, and its number there; empty and None for
    #: other logs.
    server: str = ""
    number: int | None = None

    def read(self) -> bytes:
        """Return the bytes of the log, of a part those of all of it."""
        with open(self.path, "rb") as file:
            file.seek(self.start)
            return file.read(self.size)


class Catalogue(GameStore):
    """A table of games in memory. Any thread may call its methods."""

    with_rules = True
    kind = Kind(
        application=0x4C4F4C47,  # "LOLG"
        version=1,
        tables=_TABLES,
        file="a catalogue",
        content="games",
        writer="process",
        error=StoreError,
        missing=StoreError,
    )

    def __init__(self) -> None:
        super().__init__(":memory:", write=True)
        self._using = threading.RLock()
        self._numbers = count()
        self._names: set[str] = set()
        with self._errors("create"), self._transaction():
            self._make_tables()

    # ------------------------------------------------------------------------------- writing

    def add(self, key: str, row: GameRow, place: LogPlace | None = None) -> None:
        """Add a game that was played here, or show it among those."""
        with self._using, self._errors("write to"), self._transaction():
            self._insert("OR REPLACE", _PLAYED + next(self._numbers), key, row)
            if place is not None:
                self._place(key, place.path, place.start, place.size)

    def run(self, rows: Iterable[GameRow]) -> None:
        """Replace the games that are running, the latest of which come last."""
        with self._using, self._errors("write to"), self._transaction():
            self._connection.execute("DELETE FROM games WHERE game >= ?", [_RUNNING])
            for number, row in enumerate(rows, _RUNNING):
                self._insert("", number, row.key, row)

    def take(self, path: str, found: Sequence[FoundLog], begin: int = 0) -> None:
        """Keep the logs of a file from a byte on, in place of those that were there."""
        with self._using, self._errors("write to"), self._transaction():
            execute = self._connection.execute
            behind = "FROM places WHERE path = ? AND start >= ?"
            where = [_packed(path), begin]
            gone = {key for (key,) in execute(f"SELECT key {behind}", where)}
            execute(f"DELETE {behind}", where)
            for log in found:
                earlier = None
                if log.server:
                    place = f"{os.path.abspath(path)}:{log.start}"
                    earlier = key_of(_packed(place), log.line)
                key = log.key or earlier
                assert key is not None
                # The row of one that was played here stays.
                self._insert("OR IGNORE", next(self._numbers), key, log.row, earlier)
                if not log.key:  # it may have gone on
                    execute(
                        "UPDATE games SET winner = ?, turns = ? WHERE key = ?",
                        [log.row.winner, log.row.turns, key],
                    )
                self._place(key, path, log.start, log.size, log.line, log.part, log.server)
            for key in gone:
                execute(
                    "DELETE FROM games WHERE key = :key AND game < :played"
                    " AND NOT EXISTS (SELECT 1 FROM places WHERE key = :key)",
                    {"key": key, "played": _PLAYED},
                )

    def _insert(
        self, how: str, number: int, key: str, row: GameRow, earlier: str | None = None
    ) -> None:
        fault = row.fault or {"player": None, "kind": None, "message": None}
        self._names.update(row.names)
        values: list[Any] = [number, *map(_packed, row.names), row.winner, row.turns]
        values += [fault["player"], *map(_text, (fault["kind"], fault["message"], row.rules))]
        values += [_text(row.game), row.live, _packed(row.source)]
        self._connection.execute(f"INSERT {how} {_INSERT}", [*values, key, earlier])

    def _place(
        self,
        key: str,
        path: str,
        start: int,
        size: int,
        line: int | None = None,
        part: int | None = None,
        server: str = "",
    ) -> None:
        values = [key, _packed(path), start, size, line, part, server]
        self._connection.execute("INSERT INTO places VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", values)

    # ------------------------------------------------------------------------------- asking

    def _ask(self, query: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        with self._using:
            return super()._ask(query, values)

    def listed(
        self,
        query: GameQuery = ALL_GAMES,
        before: int | None = None,
        count: int | None = None,
        source: str = "",
    ) -> list[GameRow]:
        """Return what a list shows of games, the latest first; arguments as of `Store.listed`.

        With "p" as `source`, only those that were played here, with "f" those in files.
        """
        first, bound = {"p": (_PLAYED, _RUNNING), "f": (0, _PLAYED)}.get(source, (0, before))
        if bound is not None:
            before = min(bound, bound if before is None else before)
        rows = self._select(_SHOWN, query, before, count, _JOIN, first)
        return [
            GameRow(
                (_unpacked(first), _unpacked(second)),
                winner,
                turns,
                fault_row(seat, kind, message),
                rules,
                title,
                _unpacked(source or path or b""),
                None if source else line if part is None else f"{part}:{line}",
                key,
                live,
                game,
            )
            for game, first, second, winner, turns, seat, kind, message, rules, title, live,
            source, key, path, part, line in rows
        ]  # fmt: skip

    def player(self, name: str) -> bytes:
        """Return what the table calls a player."""
        return _packed(name)

    def names(self) -> list[str]:
        """Return names of players, in alphabetical order: the first of them."""
        with self._using:
            return sorted(self._names)[:_NAMES]

    def places(self, key: str) -> list[LogPlace]:
        """Return where the log of a game is that has this key, or had it as it was running."""
        query = (
            "SELECT place, path, start, bytes, server, line FROM places WHERE key IN"
            " (SELECT key FROM games WHERE key = :key OR earlier = :key)"
        )
        return [
            LogPlace(_unpacked(path), start, size, server, line if server else None)
            for _, path, start, size, server, line in sorted(self._ask(query, {"key": key}))
        ]

    def alone(self, path: str) -> str | None:
        """Return the key of a log that is alone in its file; None if there is none."""
        query = "SELECT key, line FROM places WHERE path = :path LIMIT 2"
        found = self._ask(query, {"path": _packed(path)})
        return found[0][0] if found and found[0][1] is None else None


def _text(text: Any) -> Any:
    """Return a text, or None, without lone surrogates, which SQLite does not know."""
    return text and text.encode(errors="replace").decode()


def _packed(text: str) -> bytes:
    """Return a name or a path, which may have lone surrogates, as bytes."""
    return text.encode(errors="surrogatepass")


def _unpacked(data: bytes) -> str:
    return data.decode(errors="surrogatepass")

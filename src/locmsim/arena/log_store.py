"""Games in logs, as a store in memory: what a list shows of each, and where its log is."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from locmsim._database import Kind
from locmsim.arena.game_store import (
    ALL_GAMES,
    GameQuery,
    GameStore,
    ListedGame,
    index_statements,
)
from locmsim.arena.log_rows import FoundLog
from locmsim.arena.store import StoreError

__all__ = ["LogFile", "LogPlace", "LogStore"]

_TABLES = f"""
CREATE TABLE players (
    player INTEGER PRIMARY KEY,
    name BLOB NOT NULL UNIQUE
);
CREATE TABLE files (
    file INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    changed INTEGER NOT NULL,
    size INTEGER NOT NULL,
    next_start INTEGER,
    next_line INTEGER
);
CREATE TABLE games (
    game INTEGER PRIMARY KEY,
    player0 INTEGER NOT NULL REFERENCES players,
    player1 INTEGER NOT NULL REFERENCES players,
    winner INTEGER,
    turns INTEGER NOT NULL,
    fault_seat INTEGER,
    fault_kind TEXT,
    fault_message TEXT,
    rules TEXT,
    title TEXT NOT NULL,
    file INTEGER NOT NULL REFERENCES files,
    start INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    line INTEGER,
    server TEXT NOT NULL
);
CREATE INDEX games_of_file ON games (file);
{index_statements(rules=True)}"""
_SHOWN = (
    "game, first.name, second.name, winner, turns, fault_seat, fault_kind, fault_message, rules,"
    " title, path, line"
)
# CROSS: the index of games is read first, and the others by their numbers.
_JOIN = (
    " CROSS JOIN files USING (file) CROSS JOIN players AS first ON first.player = player0"
    " CROSS JOIN players AS second ON second.player = player1"
)
_SET_FILE = (
    "INSERT INTO files (path, changed, size, next_start, next_line) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (path) DO UPDATE SET changed = excluded.changed, size = excluded.size,"
    " next_start = excluded.next_start, next_line = excluded.next_line RETURNING file"
)
_INSERT = f"INSERT INTO games VALUES ({', '.join('?' * 15)})"
#: The most names that `LogStore.names` returns.
_NAMES = 1000


class LogFile(NamedTuple):
    """A file with logs, as it was when it was read."""

    path: str
    #: When it was changed, in ns, and its number of bytes.
    changed: int
    size: int
    #: Where logs that come later are read from, and the number of lines before that; None for a log
    #: that is alone in its file.
    end: tuple[int, int] | None


class LogPlace(NamedTuple):
    """The place of a log in a file."""

    path: str
    #: The offset of its first byte, and its number of bytes.
    start: int
    size: int
    #: When the file was changed, in ns: what was read of an older one does not count.
    changed: int
    #: The game whose `locmsim.contract.LogPart` it is in, and its number there; empty and None for
    #: other logs.
    server: str = ""
    number: int | None = None


class LogStore(GameStore):
    """A store of games in logs. Any thread may call its methods.

    The logs of a file are found by `locmsim.arena.log_rows.LogScan`.
    """

    with_rules = True
    kind = Kind(
        application=0x4C4F4C47,  # "LOLG"
        version=1,
        tables=_TABLES,
        file="a store of logs",
        content="logs",
        writer="process",
        error=StoreError,
        missing=StoreError,
    )

    def __init__(self) -> None:
        super().__init__(":memory:", write=True)
        self._using = threading.RLock()
        #: The number of logs, with those whose file has other logs by now.
        self.count = 0
        with self._errors("create"), self._transaction():
            self._make_tables()

    # ------------------------------------------------------------------------------- writing

    def add(self, source: str, row: Mapping[str, Any]) -> int:
        """Add a game that is in no file; return its number.

        Parameters
        ----------
        source : str
            What the list calls its source.
        row : mapping
            As of `locmsim.arena.log_rows.log_row`.
        """
        with self._using:
            number = self.count
            self.take(LogFile(source, 0, 0, None), [FoundLog(number, 0, None, row)], number)
        return number

    def take(self, file: LogFile, found: Sequence[FoundLog], begin: int = 0) -> None:
        """Keep the logs of a file from a place on; logs that were there keep their numbers."""
        with self._using, self._errors("write to"), self._transaction():
            execute = self._connection.execute
            values = [_packed(file.path), file.changed, file.size, *(file.end or (None, None))]
            ((number,),) = execute(_SET_FILE, values).fetchall()
            behind = "FROM games WHERE file = ? AND start >= ?"
            # Games of one part have one start; another log may get, and lose, a line.
            place = "start, CASE server WHEN '' THEN NULL ELSE line END"
            rows = execute(f"SELECT game, {place} {behind}", [number, begin])
            known = {(start, line): game for game, start, line in rows}
            execute(f"DELETE {behind}", [number, begin])
            for one in found:
                game = known.get((one.start, one.line if one.row.get("server") else None))
                if game is None:
                    game, self.count = self.count, self.count + 1
                self._insert(game, number, one)

    def _insert(self, game: int, file: int, log: FoundLog) -> None:
        row = log.row
        fault = row["fault"] or {"player": None, "kind": None, "message": None}
        values = [game, *map(self._player, row["names"]), row["winner"], row["turns"]]
        values += [fault["player"], *map(_text, (fault["kind"], fault["message"], row["rules"]))]
        values += [_text(row["game"]), file, log.start, log.size, log.line]
        values += [row.get("server", "")]
        self._connection.execute(_INSERT, values)

    def _player(self, name: str) -> int:
        """Return the number of a player, who may be new."""
        number = self.player_number(name)
        if number is None:
            insert = "INSERT INTO players (name) VALUES (?) RETURNING player"
            ((number,),) = self._connection.execute(insert, [_packed(name)]).fetchall()
        return int(number)

    # ------------------------------------------------------------------------------- asking

    def _ask(self, query: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        with self._using:
            return super()._ask(query, values)

    def listed(
        self, query: GameQuery = ALL_GAMES, before: int | None = None, count: int | None = None
    ) -> list[ListedGame]:
        """Return what a list shows of games, the latest first; arguments as of `endings`."""
        rows = self._select(_SHOWN, query, before, count, _JOIN)
        return [
            ListedGame(
                number=game,
                names=(_unpacked(first), _unpacked(second)),
                winner=winner,
                turns=turns,
                fault=None if kind is None else (seat, kind, message),
                rules=rules,
                title=title,
                source=_unpacked(path),
                place=line,
            )
            for game, first, second, winner, turns, seat, kind, message, rules, title, path, line
            in rows
        ]  # fmt: skip

    def player_number(self, name: str) -> int | None:
        """Return the number of a player; None if there is no such player."""
        found = self._ask("SELECT player FROM players WHERE name = :name", {"name": _packed(name)})
        return found[0][0] if found else None

    def names(self) -> list[str]:
        """Return the names of players, in alphabetical order: the first of them."""
        found = self._ask(f"SELECT name FROM players ORDER BY name LIMIT {_NAMES}")
        return [_unpacked(name) for (name,) in found]

    def file(self, path: str) -> LogFile | None:
        """Return what is known of a file; None if nothing is."""
        query = "SELECT changed, size, next_start, next_line FROM files WHERE path = :path"
        for changed, size, start, line in self._ask(query, {"path": _packed(path)}):
            return LogFile(path, changed, size, None if start is None else (start, line))
        return None

    def alone(self, path: str) -> int | None:
        """Return the number of a log that is alone in its file; None if there is none."""
        query = (
            "SELECT game FROM files CROSS JOIN games USING (file)"
            " WHERE path = :path AND line IS NULL AND next_start IS NULL"
        )
        found = self._ask(query, {"path": _packed(path)})
        return found[0][0] if found else None

    def place(self, number: int) -> tuple[LogPlace, LogFile]:
        """Return where a log is, and its file as it was read; raise ``LookupError`` without one."""
        query = (
            "SELECT path, start, bytes, changed, server, line FROM games"
            " CROSS JOIN files USING (file) WHERE game = :number"
        )
        for path, start, size, changed, server, line in self._ask(query, {"number": number}):
            path = _unpacked(path)
            place = LogPlace(path, start, size, changed, server, line if server else None)
            file = self.file(path)
            assert file is not None
            return place, file
        raise LookupError(f"no log has the number {number}")


def _text(text: Any) -> Any:
    """Return a text, or None, without lone surrogates, which SQLite does not know."""
    return text and text.encode(errors="replace").decode()


def _packed(text: str) -> bytes:
    """Return a name or a path, which may have lone surrogates, as bytes."""
    return text.encode(errors="surrogatepass")


def _unpacked(data: bytes) -> str:
    return data.decode(errors="surrogatepass")

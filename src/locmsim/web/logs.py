"""An index of logs in files: what a list shows of each, and where it begins.

Every file is read once, and nothing of it is kept but a row for each log: a list is a question to
the index, and a click reads one log, however many there are in its file.
"""

import json
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, NamedTuple

from locmsim.arena.game_index import ALL_GAMES, GameIndex, GameQuery
from locmsim.arena.registry import find_log_part, game_from_json
from locmsim.contract import FaultKind, LogPart
from locmsim.referee.log_reader import (
    is_log,
    is_of_another_game,
    own_part,
    read_log,
    referee_log,
    what_is_wrong,
)
from locmsim.rules.rulesets import RULES
from locmsim.web.keys import Key, KeyKind

__all__ = ["LogIndex", "LogPlace", "error_text", "log_row", "part_view"]

#: The files that are read while a page waits for its first list; others are read in the background.
_AT_ONCE = 100
#: The most error texts of files that cannot be read.
_ERRORS = 20
#: The longest name that a list shows, in characters.
_NAME = 200

_INDEX = GameIndex("logs", "log", ("name0", "name1"), kind="kind", rules="rules")
_TABLES = f"""
CREATE TABLE files (
    file INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    changed INTEGER NOT NULL,
    size INTEGER NOT NULL
);
CREATE TABLE logs (
    log INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES files,
    start INTEGER NOT NULL,
    size INTEGER NOT NULL,
    line INTEGER,
    name0 TEXT NOT NULL,
    name1 TEXT NOT NULL,
    winner INTEGER,
    turns INTEGER NOT NULL,
    rules TEXT,
    game TEXT NOT NULL,
    seat INTEGER,
    kind TEXT,
    message TEXT,
    server TEXT
);
CREATE INDEX logs_of_file ON logs (file);
{_INDEX.statements()}CREATE TABLE names (name TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_COLUMNS = "log, path, line, name0, name1, winner, turns, rules, game, seat, kind, message"
_FAULT = re.compile(rf"\$([01]): ({'|'.join(FaultKind)}): (.*)", re.DOTALL)
_TIME = re.compile(r"^\$[01] [0-9]+ns at turn ", re.MULTILINE)


def _row(row: Sequence[Any]) -> dict[str, Any]:
    log, path, line, first, second, winner, turns, rules, game, seat, kind, text = row
    fault = None if kind is None else {"player": seat, "kind": kind, "message": text}
    return {
        "key": str(Key(KeyKind.LOG, log)),
        "source": path,
        "number": line,
        "names": [first, second],
        "winner": winner,
        "fault": fault,
        "turns": turns,
        "rules": rules,
        "game": game,
        "live": "",
    }


class LogPlace(NamedTuple):
    """The place of a log in a file."""

    path: str
    #: The offset of its first byte, and its number of bytes.
    start: int
    size: int
    #: When the file was changed, in ns: what was read of an older one does not count.
    changed: int
    #: The game whose `LogPart` it is in, and its number there; empty and None for other logs.
    server: str = ""
    number: int | None = None


def log_row(log: Any) -> dict[str, Any]:
    """Return what a list shows of a log, without playing the match again.

    Parameters
    ----------
    log : object
        What JSON makes of it: the form of the Java referee, or that of other games.

    Returns
    -------
    dict
        ``names``, ``winner``, ``turns``, ``rules`` (None if the log does not say), ``game`` (the
        title of another game, or empty) and ``fault``.

    Raises
    ------
    ValueError
        It is not a log of a match.
    """
    log = referee_log(log)
    try:
        agents = {agent["index"]: agent.get("name") for agent in log.get("agents") or []}
        names = [str(agents.get(seat) or f"Player {seat}")[:_NAME] for seat in (0, 1)]
        if is_of_another_game(log):
            return {
                "names": names,
                "winner": _seat(log["winner"]),
                "turns": len(log["answers"]),
                "rules": None,
                "game": game_from_json(log["game"]).title,
                "fault": _fault(log["fault"]),
            }
        scores = [int(log["scores"][str(seat)]) for seat in (0, 1)]
        cause = _FAULT.fullmatch(log.get("failCause") or "")
        turns, rules = _turns(log)
        return {
            "names": names,
            "winner": None if scores[0] == scores[1] else int(scores[1] > scores[0]),
            "turns": turns,
            "rules": rules,
            "game": "",
            "fault": cause
            and {"player": int(cause[1]), "kind": cause[2], "message": cause[3][:_NAME]},
        }
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"no log of a match: {what_is_wrong(error)}") from None


def _seat(seat: Any) -> int | None:
    """Return the winner of a log as others write it, or raise ``ValueError``."""
    if (type(seat) is not int and seat is not None) or seat not in (0, 1, None):
        raise ValueError(f"no log of a match: the winner is {seat!r:.40}")
    return seat


def _fault(fault: Any) -> dict[str, Any] | None:
    """Return the fault of a log as others write it, or raise ``ValueError``."""
    if fault is None:
        return None
    seat = _seat(fault["player"])
    return {"player": seat, "kind": str(fault["kind"]), "message": str(fault["message"])[:_NAME]}


def _turns(log: Mapping[str, Any]) -> tuple[int, str | None]:
    """Return the turns of the battle, and the rules as far as the log tells."""
    summaries = "\n".join(filter(None, log["summaries"]))
    rules = own_part(log).get("rules")
    if rules is not None and (not isinstance(rules, str) or rules not in RULES):
        raise ValueError(f"no log of a match: unknown rules {rules!r:.40}")
    draft = rules != "1.5" if rules else "Generated cards:" not in summaries
    timed = len(_TIME.findall(summaries))
    outputs = log["outputs"]
    answers = timed or sum(bool(text) for seat in ("0", "1") for text in outputs[seat])
    return max(0, answers - (60 if draft else 2)), rules or (None if draft else "1.5")


#: A log that was found: its first byte, its size, its line or the number of its match, its row.
_Found = tuple[int, int, int | None, dict[str, Any]]


class _Parts:
    """The parts of a log that a server of a game wrote (`locmsim.contract.LogPart`)."""

    def __init__(self) -> None:
        #: The name of the game; empty before the first part.
        self.name = ""
        #: The first byte of the part that is read, and the lines before it; None between parts.
        self.start: tuple[int, int] | None = None
        self._part: LogPart | None = None

    def take(self, event: Mapping[str, Any], start: int, size: int, line: int) -> list[_Found]:
        """Take a line of the file; return the matches of parts that end before or with it.

        ``ValueError`` if it is neither in a part nor begins one of a known game, or is damaged.
        """
        rows: list[_Found] = []
        try:
            if self._part is not None and not self._part.take(event):
                rows += self._close(start)
            if self._part is None:
                found = find_log_part(event, self.name)
                if found is None:
                    raise ValueError("no log of a match")
                self.name, self._part = found
                self.start = (start, line - 1)
            if self._part.over:
                rows += self._close(start + size)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"line {line}: a damaged event: {error!r}") from None
        return rows

    def _close(self, end: int) -> list[_Found]:
        rows = self.rows(end)
        self.start = self._part = None
        return rows

    def rows(self, end: int) -> list[_Found]:
        """Return the matches of the part that is read, or ends at this byte."""
        if self.start is None or self._part is None:
            return []
        start, title = self.start[0], self._part.game.title
        return [
            (
                start,
                end - start,
                match.number,
                {
                    "names": [name[:_NAME] for name in match.names],
                    "winner": match.winner,
                    "turns": match.turns,
                    "rules": None,
                    "game": title,
                    "fault": None,
                    "server": self.name,
                },
            )
            for match in self._part.matches()
        ]


class LogIndex:
    """The index of the logs in files and folders, which are read in the background.

    Parameters
    ----------
    paths : sequence of str
        Files, which may have a log in each line, and folders whose files ``*.json`` and
        ``*.jsonl`` are logs.
    changed : function
        Called when there are more.
    """

    def __init__(self, paths: Sequence[str], changed: Callable[[], object]) -> None:
        self._paths = paths
        self._changed = changed
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._database.executescript(_TABLES)
        #: Guards the database and all attributes below.
        self._lock = threading.RLock()
        #: Held by whoever reads files.
        self._reading = threading.Lock()
        self._known: set[str] = set()
        self._folders: dict[str, int] = {}
        self._errors: dict[str, str] = {}
        #: The numbers of logs that have a file of their own.
        self._numbers: dict[str, int] = {}
        #: Of files with many logs the size, and where what comes later is read from: the byte, and
        #: the number of lines before it.
        self._ends: dict[str, tuple[int, int, int]] = {}
        #: The number of logs, with those whose file has other logs by now.
        self.count = 0
        self._more: threading.Thread | None = None
        #: The numbers of files and bytes that were read, for tests.
        self.files_read = self.bytes_read = 0

    @property
    def reading(self) -> bool:
        """Whether files are read in the background."""
        return self._more is not None and self._more.is_alive()

    @property
    def errors(self) -> list[str]:
        """What is wrong with files: some of them."""
        with self._lock:
            return [*islice(self._errors.values(), _ERRORS)]

    def skip(self, path: str) -> None:
        """Leave out a file that is listed as something else."""
        with self._lock:
            self._known.add(os.path.abspath(path))

    # ------------------------------------------------------------------------------- reading

    def refresh(self) -> None:
        """Look for new files: some are read now, the others in the background."""
        with self._lock:
            if self.reading:
                return
        with self._reading:
            found = self._new_files()
            for path in islice(found, _AT_ONCE):
                self._read(path)
            following = next(found, None)
            if following is None:
                return

        def read_all() -> None:
            with self._reading:
                self._read(following)
                for number, path in enumerate(found, 1):
                    self._read(path)
                    if number % _AT_ONCE == 0:
                        self._changed()
            self._changed()

        with self._lock:
            self._more = threading.Thread(target=read_all, name="logs", daemon=True)
            self._more.start()

    def stamp(self) -> object:
        """Return another value when a folder or a named file has changed."""
        stamps = []
        for path in self._paths:
            try:
                stat = os.stat(path)
                stamps.append((stat.st_mtime_ns, stat.st_size))
            except OSError:
                stamps.append((0, 0))
        return stamps

    def _new_files(self) -> Iterator[str]:
        for path in self._paths:
            if os.path.isdir(path):
                try:
                    changed = os.stat(path).st_mtime_ns
                    if self._folders.get(path) == changed:
                        continue
                    with os.scandir(path) as entries:
                        for entry in entries:
                            if not entry.name.endswith((".json", ".jsonl")):
                                continue
                            if os.path.abspath(entry.path) not in self._known:
                                yield entry.path
                    self._folders[path] = changed
                except OSError as error:
                    self._fails(path, error)
            elif os.path.abspath(path) not in self._known or self._is_new(path):
                yield path

    def _is_new(self, path: str) -> bool:
        try:
            stat = os.stat(path)
        except OSError:
            return False
        query = "SELECT changed, size FROM files WHERE path = ?"
        with self._lock:
            row = self._database.execute(query, [path]).fetchone()
        return row is not None and row != (stat.st_mtime_ns, stat.st_size)

    def _read(self, path: str) -> None:  # noqa: C901 (under one lock)
        """Take the logs of a file: of one that has grown those that are new."""
        with self._lock:
            self._known.add(os.path.abspath(path))
        rows: list[_Found] = []
        start = line_number = 0
        parts = _Parts()
        try:
            with open(path, "rb") as file:
                stat = os.fstat(file.fileno())
                known = self._ends.get(path)
                if known is not None and stat.st_size > known[0]:
                    _, start, line_number = known
                    file.seek(start)
                begin = start
                self.files_read += 1
                for line in file:
                    if parts.start is not None and not line.endswith(b"\n"):
                        break  # it is being written
                    line_number += 1
                    self.bytes_read += len(line)
                    if line.startswith(b"SQLite format 3\0"):
                        raise ValueError("results of many games: name the file with --db")
                    behind = rows and not line.lstrip().startswith(b"{")
                    if line.strip() and not behind:  # scores may stand behind a log
                        log = self._parsed(line)
                        if log is None and parts.name:  # what a server that was killed left
                            pass
                        elif log is None:  # a log in many lines is alone in its file
                            file.seek(0)
                            data = file.read()
                            self.bytes_read += len(data)
                            rows = [(0, len(data), None, log_row(read_log(data)))]
                            break
                        elif parts.start is None and is_log(log):
                            rows.append((start, len(line), line_number, log_row(log)))
                        else:
                            rows += parts.take(log, start, len(line), line_number)
                    start += len(line)
                rows += parts.rows(start)
        except (OSError, ValueError, RecursionError) as error:
            self._fails(path, error)
            if not rows:
                return
        except Exception as error:  # a part is code of its game, and the file can hold anything
            self._fails(path, ValueError(f"no log of a match: {what_is_wrong(error)}"))
            return
        else:
            with self._lock:
                self._errors.pop(path, None)
        if len(rows) == 1 and not begin and not parts.name:
            rows = [(*rows[0][:2], None, rows[0][3])]
        else:
            # What comes later is read from here: from the beginning of a part that is not over.
            again = parts.start if parts.start is not None else (start, line_number)
            self._ends[path] = (stat.st_size, *again)
        self._take(path, stat, rows, begin)

    @staticmethod
    def _parsed(line: bytes) -> Any:
        """Return what a line holds; None if it is no JSON but may be the beginning of some."""
        try:
            log = json.loads(line)
        except json.JSONDecodeError:
            if line.strip() in (b"{", b"[") or not line.rstrip().endswith(b"}"):
                return None
            raise
        if not isinstance(log, dict):
            raise ValueError("no log of a match")
        return log

    def _take(self, path: str, stat: os.stat_result, rows: Sequence["_Found"], begin: int) -> None:
        """Keep the rows of a file from a place on; logs that were there keep their keys."""
        with self._lock:
            execute = self._database.execute
            execute("BEGIN")
            insert = (
                "INSERT INTO files (path, changed, size) VALUES (?, ?, ?)"
                " ON CONFLICT (path) DO UPDATE SET changed = excluded.changed, size = excluded.size"
                " RETURNING file"
            )
            ((file,),) = execute(insert, [path, stat.st_mtime_ns, stat.st_size]).fetchall()
            before = "FROM logs WHERE file = ? AND start >= ?"
            keys = {
                (start, line): log
                for log, start, line in execute(f"SELECT log, start, line {before}", [file, begin])
            }
            execute(f"DELETE {before}", [file, begin])
            for start, size, line, row in rows:
                fault = row["fault"] or {"player": None, "kind": None, "message": None}
                log = keys.get((start, line))
                if log is None:
                    log, self.count = self.count, self.count + 1
                values: list[Any] = [log, file, start, size, line, *row["names"], row["winner"]]
                values += [row["turns"], row["rules"], row["game"]]
                values += [fault["player"], fault["kind"], fault["message"], row.get("server", "")]
                execute(f"INSERT INTO logs VALUES ({', '.join('?' * 15)})", values)
                for name in row["names"]:
                    execute("INSERT OR IGNORE INTO names VALUES (?)", [name])
                if line is None:
                    self._numbers[path] = log
            execute("COMMIT")

    def _fails(self, path: str, error: Exception) -> None:
        with self._lock:
            self._errors[path] = error_text(path, error)

    # ------------------------------------------------------------------------------- asking

    def rows(
        self, query: GameQuery = ALL_GAMES, before: int | None = None, count: int | None = None
    ) -> list[tuple[int, dict[str, Any]]]:
        """Return numbers and rows of the logs that a query takes, the latest first.

        Not more of them than `count`, and with `before` only logs with lower numbers. Players are
        given by name.
        """
        join = " CROSS JOIN files USING (file)"
        found = _INDEX.rows(self._ask, _COLUMNS, query, before, count, join)
        return [(row[0], _row(row)) for row in found]

    def _ask(self, query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def row(self, log: int) -> dict[str, Any]:
        """Return the row of a log; raise ``ValueError`` if there is none."""
        for number, row in self.rows(before=log + 1, count=1):
            if number == log:
                return row
        raise ValueError(f"there is no match 'f{log}'")

    def names(self) -> list[str]:
        """Return the names of players."""
        found = self._ask("SELECT name FROM names ORDER BY name LIMIT 1000", {})
        return [name for (name,) in found]

    def kinds(self) -> set[str]:
        """Return the kinds of faults there are."""
        return _INDEX.values(self._ask, "kind")

    def rules(self) -> set[str]:
        """Return the rule sets, as far as logs tell."""
        return _INDEX.values(self._ask, "rules")

    def key(self, path: str) -> str | None:
        """Return the key of the log of a file that has no other one; None if there is none."""
        number = self._numbers.get(path)
        return None if number is None else str(Key(KeyKind.LOG, number))

    def place(self, log: int) -> LogPlace:
        """Return where a log is, also if its file has changed; raise ``ValueError`` without one."""
        for again in (False, True):
            query = (
                "SELECT path, start, logs.size, changed, files.size, server, line FROM logs"
                " JOIN files USING (file) WHERE log = ?"
            )
            with self._lock:
                row = self._database.execute(query, [log]).fetchone()
            if row is None:
                raise ValueError(f"there is no match 'f{log}'")
            path, start, size, changed, whole, server, line = row
            stat = os.stat(path)
            if (stat.st_mtime_ns, stat.st_size) == (changed, whole) or again:
                break
            with self._reading:
                self._read(path)
        return LogPlace(path, start, size, changed, server, line if server else None)


def part_view(server: str, lines: Sequence[bytes], number: int) -> dict[str, Any]:
    """Return what a page shows of a match in a `LogPart`.

    Parameters
    ----------
    server : str
        The name of the game.
    lines : sequence of bytes
        The lines of the part.
    number : int
        The number of the match.

    Returns
    -------
    dict
        As of `locmsim.web.library.Library.view`.

    Raises
    ------
    ValueError
        The lines cannot be read.
    """
    events = [event for event in map(_event_of, lines) if event is not None]
    found = find_log_part(events[0], server) if events else None
    if found is None:
        raise ValueError(f"it is not of a server of {server}")
    part = found[1]
    for event in events[1:]:
        part.take(event)
    (match,) = [match for match in part.matches() if match.number == number]
    steps = [
        {
            "turn": one.turn, "player": one.player, "answer": one.answer, "ignored": [],
            "stderr": "", **asdict(one.view),
        }
        for one in part.steps(lines, number)
    ]  # fmt: skip
    return {
        "title": part.game.title,
        "turn": part.game.turn_name,
        "names": list(match.names),
        "scores": steps[-1]["scores"],
        "winner": match.winner,
        "fault": None,
        "steps": steps,
        "running": not match.over,
    }


def _event_of(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def error_text(path: str, error: Exception) -> str:
    """Return what is wrong with a file, in one line that names it."""
    if isinstance(error, json.JSONDecodeError):
        return f"{path}: not a log: {error}"
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return words if path in words else f"{path}: {words}"

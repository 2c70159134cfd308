"""Logs of matches in files: which there are, and what a list shows of each.

A file can hold one log, in many lines, or a log in each line, or parts that a server of a game
wrote. Nothing is kept of a log but its row and its place: no match is played again.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

from locmsim.arena.game_store import GameRow, fault_row
from locmsim.arena.registry import find_log_part, game_from_json
from locmsim.contract import LogPart
from locmsim.referee.log_reader import (
    TIME,
    NoJSONError,
    fault_of,
    is_log,
    is_of_another_game,
    no_json,
    own_part,
    read_log,
    referee_log,
    what_is_wrong,
)
from locmsim.rules.rulesets import RULES

#: The longest name that a list shows, in characters.
_NAME = 200


class FoundLog(NamedTuple):
    """A log that was found in a file."""

    #: The offset of its first byte, and its number of bytes.
    start: int
    size: int
    #: Its line, or its number in the part of a server; None if it is alone in its file.
    line: int | None
    row: GameRow
    #: As of `key_of`; empty while its part of a log is not over.
    key: str = ""
    #: The name of the game of a part, and its line.
    server: str = ""
    part: int | None = None


def key_of(log: bytes, number: int | None = None) -> str:
    """Return the key of a log, or of a match in it: a hash of its content."""
    text = log.strip() if number is None else b"%d %b" % (number, log)
    return f"m{hashlib.blake2b(text, digest_size=8).hexdigest()}"


def log_row(log: Any) -> GameRow:
    """Return what a list shows of a log, without playing the match again."""
    log = referee_log(log)
    try:
        agents = {agent["index"]: agent.get("name") for agent in log.get("agents") or []}
        names = [str(agents.get(seat) or f"Player {seat}")[:_NAME] for seat in (0, 1)]
        if is_of_another_game(log):
            return GameRow(
                names,
                _seat(log["winner"]),
                len(log["answers"]),
                _fault(log["fault"]),
                game=game_from_json(log["game"]).title,
            )
        scores = [int(log["scores"][str(seat)]) for seat in (0, 1)]
        fault = fault_of(log)
        turns, rules = _turns(log)
        winner = None if scores[0] == scores[1] else int(scores[1] > scores[0])
        return GameRow(names, winner, turns, _fault(fault and fault.row()), rules)
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
    return fault_row(_seat(fault["player"]), str(fault["kind"]), str(fault["message"])[:_NAME])


def _turns(log: Mapping[str, Any]) -> tuple[int, str | None]:
    """Return the turns of the battle, and the rules as far as the log tells."""
    summaries = "\n".join(filter(None, log["summaries"]))
    rules = own_part(log).get("rules")
    if rules is not None and (not isinstance(rules, str) or rules not in RULES):
        raise ValueError(f"no log of a match: unknown rules {rules!r:.40}")
    draft = rules != "1.5" if rules else "Generated cards:" not in summaries
    timed = len(TIME.findall(summaries))
    outputs = log["outputs"]
    answers = timed or sum(bool(text) for seat in ("0", "1") for text in outputs[seat])
    return max(0, answers - (60 if draft else 2)), rules or (None if draft else "1.5")


class _Parts:
    """The parts of a log that a server of a game wrote (`locmsim.contract.LogPart`)."""

    def __init__(self) -> None:
        #: The name of the game; empty before the first part.
        self.name = ""
        #: The first byte of the part that is read, and the lines before it; None between parts.
        self.start: tuple[int, int] | None = None
        self._part: LogPart | None = None
        self._text = hashlib.blake2b()

    def take(self, event: Mapping[str, Any], text: bytes, start: int, line: int) -> list[FoundLog]:
        """Take a line of the file; return the matches of parts that end before or with it.

        ``ValueError`` if it is neither in a part nor begins one of a known game, or is damaged.
        """
        rows: list[FoundLog] = []
        try:
            if self._part is not None and not self._part.take(event):
                rows += self._close(start)
            if self._part is None:
                found = find_log_part(event, self.name)
                if found is None:
                    raise ValueError("no log of a match")
                self.name, self._part = found
                self.start = (start, line - 1)
                self._text = hashlib.blake2b()
            self._text.update(text)
            if self._part.over:
                rows += self._close(start + len(text))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"line {line}: a damaged event: {error!r}") from None
        return rows

    def _close(self, end: int) -> list[FoundLog]:
        text = self._text.digest()
        rows = [one._replace(key=key_of(text, one.line)) for one in self.rows(end)]
        self.start = self._part = None
        return rows

    def rows(self, end: int) -> list[FoundLog]:
        """Return the matches of the part that is read, or ends at this byte."""
        if self.start is None or self._part is None:
            return []
        (start, before), title = self.start, self._part.game.title
        return [
            FoundLog(
                start,
                end - start,
                match.number,
                GameRow(
                    [name[:_NAME] for name in match.names], match.winner, match.turns, game=title
                ),
                server=self.name,
                part=before + 1,
            )
            for match in self._part.matches()
        ]


class LogScan:
    """The logs of a file, from a place in it on."""

    def __init__(self, file: BinaryIO, start: int = 0, lines: int = 0) -> None:
        self.found: list[FoundLog] = []
        #: What is wrong with the file behind the logs that were found; None if nothing is.
        self.error: Exception | None = None
        #: Where logs that come later are read from, and the number of lines before that; None for a
        #: log that is alone in its file.
        self.end: tuple[int, int] | None = None
        #: The number of bytes that were read.
        self.bytes_read = 0
        self._start, self._lines = start, lines
        self._parts = _Parts()
        try:
            self._read(file)
        except (OSError, ValueError, RecursionError) as error:
            self.error = error
        except Exception as error:  # a part is code of its game, and the file can hold anything
            self.found.clear()
            self.error = ValueError(f"no log of a match: {what_is_wrong(error)}")
        if len(self.found) == 1 and not start and not self._parts.name:
            self.found = [self.found[0]._replace(line=None)]
        else:  # from the beginning of a part that is not over
            self.end = self._parts.start or (self._start, self._lines)

    def _read(self, file: BinaryIO) -> None:
        for line in file:
            if self._parts.start is not None and not line.endswith(b"\n"):
                break  # it is being written
            self._lines += 1
            self.bytes_read += len(line)
            if line.startswith(b"SQLite format 3\0"):
                raise ValueError("results of many games: name the file with --db")
            behind = self.found and not line.lstrip().startswith(b"{")
            # Scores may stand behind a log.
            if line.strip() and not behind and not self._take(line):
                self._read_whole(file)
                return
            self._start += len(line)
        self.found += self._parts.rows(self._start)

    def _take(self, line: bytes) -> bool:
        """Take a line; return False if it is the beginning of a log in many lines."""
        log = _parsed(line)
        if log is None:
            return bool(self._parts.name)  # what a server that was killed left
        if self._parts.start is None and is_log(log):
            row = log_row(log)
            self.found.append(FoundLog(self._start, len(line), self._lines, row, key_of(line)))
        else:
            self.found += self._parts.take(log, line, self._start, self._lines)
        return True

    def _read_whole(self, file: BinaryIO) -> None:
        """Read a log in many lines, which is alone in its file."""
        file.seek(0)
        data = file.read()
        self.bytes_read += len(data)
        self.found = [FoundLog(0, len(data), None, log_row(read_log(data)), key_of(data))]


def _parsed(line: bytes) -> Any:
    """Return what a line holds; None if it is no JSON but may be the beginning of some.

    Scores and parameters may stand behind it.
    """
    try:
        log = json.loads(line)
    except json.JSONDecodeError as error:
        if line.lstrip().startswith(b"{"):
            with contextlib.suppress(NoJSONError):
                return read_log(line)
        if line.strip() in (b"{", b"[") or not line.rstrip().endswith(b"}"):
            return None
        raise no_json(error) from None
    if not isinstance(log, dict):
        raise ValueError("no log of a match")
    return log

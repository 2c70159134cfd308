"""A match as it is played: its answers in a file, for whoever watches.

The first line of the file is the match before its first answer, each other one an answer. The file
is locked as long as somebody writes it, and removed at the end.
"""

import contextlib
import json
import os
import threading
from collections.abc import Sequence
from typing import Any

from locmsim._io import try_lock
from locmsim.contract import Fault
from locmsim.game.match import Match
from locmsim.referee.matches import Call, Result

__all__ = ["SUFFIX", "LiveLog", "LiveReader"]

#: How names of such files end.
SUFFIX = ".live"
_NO_RESULT: dict[str, Any] = {"answers": [], "winner": None, "scores": None, "error": None}
#: The longest file that is read: a bot may answer as much as it likes.
_MOST = 1 << 25


class LiveLog:
    """Writes the file; what goes wrong with it is nobody's loss. A context manager.

    Parameters
    ----------
    path : str or path
        The file. One that is there already, of a match that broke off, is replaced.
    match : Match
        Before its first answer.
    names : sequence of str
        Of the players.
    """

    def __init__(
        self, path: str | os.PathLike[str], match: Match, names: Sequence[str | None]
    ) -> None:
        self._path = os.fspath(path)
        self._file: int | None = None
        begun = {**match.log, **_NO_RESULT}
        new = f"{self._path}.new"  # nobody looks at it before it is locked and begun
        with contextlib.suppress(OSError):
            self._file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            try_lock(self._file)
            self._write({"match": begun, "names": [name or "" for name in names]})
            os.rename(new, self._path)

    def add(self, call: Call) -> None:
        """An answer was given."""
        self._write([call.player, call.answer, call.elapsed_ns])

    def _write(self, data: object) -> None:
        if self._file is None:
            return
        line = json.dumps(data, separators=(",", ":")).encode() + b"\n"
        try:
            # Either all of it or, for the reader, a line without its end.
            os.write(self._file, line)
        except OSError:
            self.close()

    def close(self) -> None:
        """The match is over, or nobody goes on with it."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        with contextlib.suppress(OSError):
            os.close(self._file)
        self._file = None

    def __enter__(self) -> "LiveLog":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class LiveReader:
    """A match in such a file, brought up to date by `update`, which reads only what is new.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    OSError
        There is no such file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        # Once it is removed it can still be read to its end.
        self._file = open(self.path, "rb")  # noqa: SIM115 - closed by `close`
        self._rest = b""
        self._read = 0
        self.match: Match | None = None
        self.names = ("", "")
        self.calls: list[Call] = []
        #: Whether nothing more will come.
        self.over = False
        self._lock = threading.Lock()

    def update(self) -> bool:
        """Read what is new; whether there was something. From any thread."""
        with self._lock:
            return not self.over and self._update()

    def _update(self) -> bool:
        gone = not os.path.exists(self.path) or try_lock(self._file.fileno())
        data = self._file.read(_MOST - self._read)
        self._read += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        try:
            for line in lines:
                self._take(json.loads(line))
        except (ValueError, KeyError, TypeError, IndexError):
            gone = True  # nothing that was written by `LiveLog`
        finished = self.match is not None and not self.match.to_ask
        self.over = gone or finished or self._read >= _MOST
        if self.over:
            self._file.close()
        return bool(lines) or self.over

    def _take(self, entry: Any) -> None:
        if self.match is None:
            self.match = Match.replay({**entry["match"], **_NO_RESULT})
            self.names = (str(entry["names"][0]), str(entry["names"][1]))
            return
        player, line, elapsed_ns = entry
        turn = self.match.turn
        result = self.match.submit(player, line)
        self.calls.append(Call(player, turn, None, line, None, int(elapsed_ns), result))

    def result(self) -> Result[Match]:
        """The match so far, in the form of one that is over; ``ValueError`` before it began."""
        if self.match is None:
            raise ValueError(f"{self.path}: nothing was played yet")
        scores = self.match.scores or [0, 0]
        error = self.match.error
        return Result(
            match=self.match,
            scores=(scores[0], scores[1]),
            winner=self.match.winner,
            fault=error and Fault(error.player, error.kind, error.message),
            calls=tuple(self.calls),
            stderr=("", ""),
            elapsed_ns=sum(call.elapsed_ns for call in self.calls),
        )

    def close(self) -> None:
        """Close the file."""
        self.over = True
        self._file.close()

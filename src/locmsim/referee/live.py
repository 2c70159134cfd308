"""A match as it is played: `LiveLog` writes its answers to a file that others can watch.

The first line of the file is the match before its first answer, each other one an answer. The file
is locked as long as somebody writes it, and removed at the end.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from typing import Any

from locmsim._io import try_lock
from locmsim.referee.process_match import Call

__all__ = ["NO_RESULT", "LiveLog"]

#: What the match of the first line has in place of a result.
NO_RESULT: dict[str, Any] = {"answers": [], "winner": None, "scores": None, "error": None}


class LiveLog:
    """Writes the file; what goes wrong with it is nobody's loss. A context manager.

    Parameters
    ----------
    path : str or path
        The file. One that is there already, of a match that broke off, is replaced.
    match : locmsim.Match, or None
        Before its first answer; None for a match of another game.
    names : sequence of str
        Of the players.
    begun : dict, optional
        What the match of another game is made from again: ``game`` as files of results have it,
        ``seed`` and ``card_seed``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        match: Any,
        names: Sequence[str | None],
        begun: dict[str, Any] | None = None,
    ) -> None:
        self._path = os.fspath(path)
        self._file: int | None = None
        head = {"match": {**match.log, **NO_RESULT}} if begun is None else begun
        new = f"{self._path}.new"  # nobody looks at it before it is locked and begun
        with contextlib.suppress(OSError):
            self._file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            try_lock(self._file)
            self._write({**head, "names": [name or "" for name in names]})
            os.rename(new, self._path)

    def add(self, call: Call) -> None:
        """Append an answer to the file."""
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
        """Close the file at the end of the match, or when the match was abandoned."""
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

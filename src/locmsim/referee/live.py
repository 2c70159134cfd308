"""Live logs: `LiveLog` writes the answers of a running match to a file that others can read.

The first line of the file is the match before its first answer, every other line an answer. The
file is locked while it is written, and removed at the end.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from typing import Any

from locmsim.referee.process_match import Call
from locmsim.support.files import try_lock

__all__ = ["NO_RESULT", "LiveLog"]

#: The result in the first line.
NO_RESULT: dict[str, Any] = {"answers": [], "winner": None, "scores": None, "error": None}


class LiveLog:
    """Writes the file, ignoring errors. A context manager.

    Parameters
    ----------
    path : str or path
        The file; an existing one, left by an aborted match, is replaced.
    match : locmsim.Match, or None
        The match before its first answer; None for a match of another game.
    names : sequence of str
        Names of the players.
    begun : dict, optional
        What the match of another game is made from again: ``game`` as files of results have it,
        ``seed`` and ``card_seed``.
    agents : sequence of str, optional
        The descriptions or commands of the players, where these are not their names.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        match: Any,
        names: Sequence[str | None],
        begun: dict[str, Any] | None = None,
        agents: Sequence[str] = ("", ""),
    ) -> None:
        self._path = os.fspath(path)
        self._file: int | None = None
        head = {"match": {**match.log, **NO_RESULT}} if begun is None else begun
        # Readers do not see the file before it is locked and has its first line.
        new = f"{self._path}.new"
        with contextlib.suppress(OSError):
            self._file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            try_lock(self._file)
            self._write({**head, "names": [name or "" for name in names], "agents": [*agents]})
            os.rename(new, self._path)

    def add(self, call: Call) -> None:
        """Append an answer to the file.

        Parameters
        ----------
        call : Call
            The answer, with its time.
        """
        self._write([call.player, call.answer, call.elapsed_ns])

    def _write(self, data: object) -> None:
        if self._file is None:
            return
        line = json.dumps(data, separators=(",", ":")).encode() + b"\n"
        try:
            # An interrupted write leaves a line without its end, which readers ignore.
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

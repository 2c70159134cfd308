"""Reading a running match from the file that `locmsim.referee.live.LiveLog` writes."""

import json
import os
import threading
from collections.abc import Callable
from typing import Any

from locmsim.contract import Fault, Game
from locmsim.game.match import Match
from locmsim.referee.live import NO_RESULT
from locmsim.referee.process_match import Call, Result, result_of
from locmsim.support.files import try_lock

__all__ = ["LiveReader"]

#: Maximum size of a file: the answers of a bot have no limit.
_MOST = 1 << 25


class LiveReader:
    """A match in a live log; `update` reads what is new.

    Parameters
    ----------
    path : str or path
        The file.
    begin : function, optional
        Creates the game and the match before its first answer from the first line of another
        game's match; without it, only matches of Legends of Code and Magic can be read.

    Raises
    ------
    OSError
        The file does not exist.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        begin: Callable[[dict[str, Any]], tuple[Game, Any]] | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self._begin = begin
        #: The game; None for Legends of Code and Magic.
        self.game: Game | None = None
        # A removed file can still be read to its end.
        self._file = open(self.path, "rb")  # noqa: SIM115 - closed by `close`
        self._rest = b""
        self._read = 0
        self.match: Any = None
        self.names = ("", "")
        #: The descriptions of the players, empty where their names are all that is known.
        self.agents = ("", "")
        self.calls: list[Call] = []
        #: Whether the match has ended.
        self.over = False
        self._lock = threading.Lock()

    def update(self) -> bool:
        """Read what is new; return whether there was anything. May be called from any thread."""
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
            gone = True  # not written by `LiveLog`
        finished = self.match is not None and not self.match.to_ask
        self.over = gone or finished or self._read >= _MOST
        if self.over:
            self._file.close()
        return bool(lines) or self.over

    def _take(self, entry: Any) -> None:
        if self.match is None:
            if "match" in entry or self._begin is None:
                self.match = Match.replay({**entry["match"], **NO_RESULT})
            else:
                self.game, self.match = self._begin(entry)
            self.names = (str(entry["names"][0]), str(entry["names"][1]))
            self.agents = (str(entry["agents"][0]), str(entry["agents"][1]))
            return
        player, line, elapsed_ns = entry
        turn = self.match.turn
        result = self.match.submit(player, line)
        self.calls.append(Call(player, turn, None, line, None, int(elapsed_ns), result))

    def result(self) -> Result[Any]:
        """Return the match so far as a finished one; ``ValueError`` before it began."""
        if self.match is None:
            raise ValueError(f"{self.path}: nothing was played yet")
        error = self.match.error
        fault = error and Fault(error.player, error.kind, error.message)
        return result_of(self.match, fault, self.calls)

    def close(self) -> None:
        """Close the file."""
        self.over = True
        self._file.close()

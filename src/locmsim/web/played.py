"""The matches that were played or opened on the pages and are over."""

import os
import threading
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from locmsim.arena.log_store import LogStore
from locmsim.game.match import Match
from locmsim.referee.process_match import Result
from locmsim.web.filters import Filter
from locmsim.web.keys import KeyKind
from locmsim.web.loaded import Loaded, LoadedMatches
from locmsim.web.log_files import stored_rows
from locmsim.web.sources import load_replay
from locmsim.web.views import fault_row, seat_names

__all__ = ["PlayedMatches"]


class _PlayedMatch(NamedTuple):
    """A match that was played here."""

    #: The path of its log, from which it is read again; empty if there is none.
    path: str
    #: The match itself, if it is in no file.
    loaded: Loaded | None
    #: The descriptions of its players; empty where nothing but their names is known.
    agents: tuple[str, str]


class PlayedMatches:
    """The matches that were played here, by number. Any thread may call its methods.

    Parameters
    ----------
    kept : LoadedMatches
        The matches that were read last.
    """

    def __init__(self, kept: LoadedMatches) -> None:
        self.store = LogStore()
        self._kept = kept
        self._matches: list[_PlayedMatch] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._matches)

    def add(
        self, result: Result[Match], names: tuple[str, str], label: str, path: str,
        agents: Sequence[str],
    ) -> int:  # fmt: skip
        """Add a match, see `locmsim.web.library.Library.add`; return its number."""
        row = {
            "names": seat_names(names),
            "winner": result.winner,
            "fault": fault_row(result.fault),
            "turns": result.turns,
            "rules": result.match.rules,
            "game": "",
        }
        described = (agents[0], agents[1]) if agents else ("", "")
        with self._lock:
            # One that is in a file is read again when it is wanted.
            self._matches.append(_PlayedMatch(path, None if path else (result, names), described))
            return self.store.add(label or path or "played here", row)

    def load(self, number: int) -> Loaded:
        """Return a match; ``OSError`` or ``ValueError`` if its file cannot be read."""
        path, loaded, _ = self._matches[number]
        if loaded is not None:
            return loaded
        return self._kept.get((path, os.stat(path).st_mtime), lambda: load_replay(path))

    def path(self, number: int) -> str:
        """Return the path of the log of a match; empty if there is none."""
        return self._matches[number].path

    def agents(self, number: int) -> tuple[str, str]:
        """Return the descriptions of the players of a match; empty if they are not known."""
        return self._matches[number].agents

    def rows(
        self, wanted: Filter, before: int | None, count: int
    ) -> Iterable[tuple[int, dict[str, Any]]]:
        """Yield numbers and rows of the matches that a filter takes, the latest first."""
        return stored_rows(self.store, KeyKind.OVER, wanted, before, count)

"""The matches that were read last: reading one again costs nothing."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from locmsim.game.match import Match
from locmsim.referee.process_match import Result

__all__ = ["Loaded", "LoadedMatches"]

#: A match, and the names of its players.
Loaded = tuple[Result[Match], tuple[str, str]]
#: The number of matches that are kept.
_KEPT = 64


class LoadedMatches:
    """Matches by any key. Any thread may call its methods."""

    def __init__(self) -> None:
        self._matches: OrderedDict[Any, Loaded] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: object, read: Callable[[], Loaded]) -> Loaded:
        """Return what was read before, or what is read now."""
        with self._lock:
            if key in self._matches:
                self._matches.move_to_end(key)
                return self._matches[key]
        loaded = read()
        with self._lock:
            self._matches[key] = loaded
            while len(self._matches) > _KEPT:
                self._matches.popitem(last=False)
        return loaded

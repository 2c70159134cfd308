"""The matches that other programs are playing, from the files that these write meanwhile."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from locmsim.arena import StoreError
from locmsim.arena.game_store import GameRow
from locmsim.arena.store import Store
from locmsim.contract import LIVE_SUFFIX
from locmsim.referee.live_reader import LiveReader
from locmsim.web.keys import Key, KeyKind
from locmsim.web.match_data import seat_names
from locmsim.web.sources import begun_match

#: The most matches that are watched at a time while they are played.
_LIVE = 64
#: The number of those that are over and are kept.
_KEPT = 64


class LiveMatches:
    """The matches that are being played, by key. Any thread may call its methods.

    Their logs appear in `folders`, of which files are left out, and beside the results of arenas,
    `dbs`; `log_key` returns the key of the log that a match has afterwards.
    """

    def __init__(
        self,
        folders: Sequence[str],
        dbs: Callable[[], Sequence[str]],
        log_key: Callable[[str], str | None],
    ) -> None:
        self._folders, self._dbs, self._log_key = folders, dbs, log_key
        self._lock = threading.Lock()
        #: The matches by key, and the keys by path.
        self._readers: dict[str, LiveReader] = {}
        self._keys: dict[str, str] = {}
        self._count = 0
        #: The keys that some of them have afterwards.
        self._after: dict[str, str] = {}
        #: Folders that were made so that arenas show their matches.
        self._created: list[str] = []

    def running(self) -> list[tuple[str, LiveReader]]:
        """Return the matches that are being played, with their keys."""
        with self._lock:
            for folder in self._all_folders():
                with suppress(OSError):
                    for name in sorted(os.listdir(folder)):
                        path = os.path.join(folder, name)
                        if name.endswith(LIVE_SUFFIX) and path not in self._keys:
                            self._watch(path)
            self._keys = {
                path: key
                for path, key in self._keys.items()
                if os.path.exists(path) or not self._readers[key].over
            }
            return [(key, reader) for key, reader in self._readers.items() if not reader.over]

    def _watch(self, path: str) -> None:
        if sum(not reader.over for reader in self._readers.values()) >= _LIVE:
            return
        key = str(Key(KeyKind.LIVE, self._count))
        self._readers[key] = LiveReader(path, begun_match)
        self._keys[path] = key
        self._count += 1
        for old in [key for key, reader in self._readers.items() if reader.over][:-_KEPT]:
            del self._readers[old]

    def _all_folders(self) -> Iterator[str]:
        yield from filter(os.path.isdir, self._folders)
        for path in self._dbs():
            folder = f"{path}{LIVE_SUFFIX}"
            # Such a file stands beside the results while they are written.
            if os.path.exists(f"{path}-wal") and not os.path.isdir(folder):
                with suppress(OSError):
                    os.mkdir(folder)  # the sign for whoever plays
                    self._created.append(folder)
            if os.path.isdir(folder):
                yield folder

    def get(self, key: str) -> LiveReader:
        """Return a match that is being played, or was a moment ago, or raise ``ValueError``."""
        with self._lock:
            if key not in self._readers:
                raise ValueError(f"there is no match {key!r}")
            return self._readers[key]

    def ended(self, key: str, after: str) -> None:
        """Take the key that a match has afterwards."""
        with self._lock:
            self._after[key] = after

    def after(self, key: str) -> str | None:
        """Return the key that a match has once it is over; None if it is nowhere."""
        path = self.get(key).path
        if key in self._after:
            return self._after[key]
        folder, name = os.path.split(path)
        number = name.removesuffix(LIVE_SUFFIX)
        for i, db in enumerate(self._dbs()):
            if folder == f"{db}{LIVE_SUFFIX}" and number.isdecimal():
                with suppress(OSError, StoreError), Store(db) as store:
                    store.game(int(number))
                    return str(Key(KeyKind.RESULT, i, int(number)))
        log = path.removesuffix(LIVE_SUFFIX)
        if folder in self._folders and os.path.exists(log):
            return self._log_key(log)
        return None

    def close(self) -> None:
        """Close what follows the matches."""
        with self._lock:
            for reader in self._readers.values():
                reader.close()
            for folder in self._created:
                with suppress(OSError):
                    os.rmdir(folder)
            self._created.clear()

    def rows(self) -> Iterator[GameRow]:
        """Yield what the catalogue has of the matches, the latest last."""
        for key, reader in self.running():
            reader.update()
            if reader.match is None or reader.over:
                continue
            yield GameRow(
                seat_names(reader.names),
                turns=sum(call.turn is not None for call in reader.calls),
                rules=None if reader.game else reader.match.rules,
                game=reader.game.title if reader.game else "",
                source=reader.path,
                key=key,
                live="live",
            )

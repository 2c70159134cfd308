"""The logs in files and folders: they are read in the background, and again when they change.

Every file is read once into a store (`locmsim.arena.log_store.LogStore`), and nothing of it is kept
but a row for each log: a list is a question to the store, and a click reads one log, however many
there are in its file.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from locmsim._io import file_stamp
from locmsim.arena.log_rows import LogScan
from locmsim.arena.log_store import LogFile, LogPlace, LogStore
from locmsim.web.filters import Filter, game_row
from locmsim.web.keys import Key, KeyKind
from locmsim.web.sources import error_text

__all__ = ["LogFiles", "stored_rows"]

#: The files that are read while a page waits for its first list; others are read in the background.
_AT_ONCE = 100
#: The most error texts of files that cannot be read.
_ERRORS = 20


def stored_rows(
    store: LogStore, kind: KeyKind, wanted: Filter, before: int | None, count: int
) -> Iterable[tuple[int, dict[str, Any]]]:
    """Yield numbers and rows of the games of a store that a filter takes, the latest first."""
    query = wanted.query(store.player_number)
    if query is not None:
        for game in store.listed(query, before, count):
            yield game.number, game_row(Key(kind, game.number), game)


class LogFiles:
    """The logs in files and folders.

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
        self.store = LogStore()
        #: Guards the attributes below.
        self._lock = threading.RLock()
        #: Held by whoever reads files.
        self._reading = threading.Lock()
        self._known: set[str] = set()
        self._folders: dict[str, int] = {}
        self._errors: dict[str, str] = {}
        self._more: threading.Thread | None = None
        #: The numbers of files and bytes that were read, for tests.
        self.files_read = self.bytes_read = 0

    @property
    def reading(self) -> bool:
        """Whether files are read in the background."""
        return self._more is not None and self._more.is_alive()

    @property
    def count(self) -> int:
        """The number of logs, with those whose file has other logs by now."""
        return self.store.count

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
        return [file_stamp(path) for path in self._paths]

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
            elif os.path.abspath(path) not in self._known or self._has_changed(path):
                yield path

    def _has_changed(self, path: str) -> bool:
        """Return whether a file that was read has changed since then."""
        known = self.store.file(path)
        return known is not None and _changes(known)

    def _read(self, path: str) -> None:
        """Take the logs of a file: of one that has grown those that are new."""
        with self._lock:
            self._known.add(os.path.abspath(path))
        known = self.store.file(path)
        start = lines = 0
        try:
            with open(path, "rb") as file:
                stat = os.fstat(file.fileno())
                if known is not None and known.end is not None and stat.st_size > known.size:
                    start, lines = known.end
                file.seek(start)
                self.files_read += 1
                scan = LogScan(file, start, lines)
        except OSError as error:
            self._fails(path, error)
            return
        self.bytes_read += scan.bytes_read
        if scan.error is not None:
            self._fails(path, scan.error)
            if not scan.found:
                return
        else:
            with self._lock:
                self._errors.pop(path, None)
        read = LogFile(path, stat.st_mtime_ns, stat.st_size, scan.end)
        self.store.take(read, scan.found, start)

    def _fails(self, path: str, error: Exception) -> None:
        with self._lock:
            self._errors[path] = error_text(path, error)

    # ------------------------------------------------------------------------------- asking

    def rows(
        self, wanted: Filter, before: int | None, count: int
    ) -> Iterable[tuple[int, dict[str, Any]]]:
        """Yield numbers and rows of the logs that a filter takes, the latest first."""
        return stored_rows(self.store, KeyKind.LOG, wanted, before, count)

    def key(self, path: str) -> str | None:
        """Return the key of the log of a file that has no other one; None if there is none."""
        number = self.store.alone(path)
        return None if number is None else str(Key(KeyKind.LOG, number))

    def place(self, number: int) -> LogPlace:
        """Return where a log is, also if its file has changed; raise ``ValueError`` without one."""
        try:
            place, file = self.store.place(number)
            if _changes(file, missing=True):
                with self._reading:
                    self._read(file.path)
                place, _ = self.store.place(number)
        except LookupError:
            raise ValueError(f"there is no match {str(Key(KeyKind.LOG, number))!r}") from None
        return place


def _changes(file: LogFile, *, missing: bool = False) -> bool:
    """Return whether a file is not as it was when it was read.

    One that has gone is as it was; with `missing`, ``OSError`` is raised for it.
    """
    try:
        stat = os.stat(file.path)
    except OSError:
        if missing:
            raise
        return False
    return (stat.st_mtime_ns, stat.st_size) != (file.changed, file.size)

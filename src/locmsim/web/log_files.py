"""The logs in files and folders: read into the catalogue in the background, and as they change.

Every file is read once, and nothing of it is kept but a row for each log.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from locmsim.arena.catalogue import Catalogue
from locmsim.arena.log_rows import LogScan
from locmsim.support.files import file_stamp
from locmsim.web.sources import error_text

#: The files that are read while a page waits for its first list; others are read in the background.
_AT_ONCE = 100
#: The most error texts of files that cannot be read.
_ERRORS = 20


class _LogFile(NamedTuple):
    """A file as it was when it was read."""

    #: When it was changed, in ns, and its number of bytes.
    changed: int
    size: int
    #: Where logs that come later are read from, and the number of lines before that; None for a log
    #: that is alone in its file.
    end: tuple[int, int] | None


class LogFiles:
    """The logs in files, which may have one in each line, and in the files of folders."""

    def __init__(
        self, paths: Sequence[str], catalogue: Catalogue, changed: Callable[[], object]
    ) -> None:
        self._paths, self._catalogue = paths, catalogue
        #: Called when there are more.
        self._changed = changed
        #: Guards the attributes below.
        self._lock = threading.RLock()
        #: Held by whoever reads files.
        self._reading = threading.Lock()
        #: The files that were read, by path.
        self._known: dict[str, _LogFile] = {}
        self._errors: dict[str, str] = {}
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
                    with os.scandir(path) as entries:
                        for entry in entries:
                            if entry.name.endswith((".json", ".jsonl")) and self._is_new(entry):
                                yield entry.path
                except OSError as error:
                    self._fails(path, error)
            elif self._is_new(Path(path)):
                yield path

    def _is_new(self, file: os.DirEntry[str] | Path) -> bool:
        """Return whether a file was not read, or has changed since; one that has gone has not."""
        path = str(file) if isinstance(file, Path) else file.path
        if path not in self._known:
            return True
        try:
            stat = file.stat()
        except OSError:
            return False
        return self._known[path][:2] != (stat.st_mtime_ns, stat.st_size)

    def look(self, path: str) -> None:
        """Read a file again if it has changed; ``OSError`` if it is gone."""
        stat = os.stat(path)
        known = self._known.get(path)
        if known is not None and known[:2] != (stat.st_mtime_ns, stat.st_size):
            with self._reading:
                self._read(path)

    def _read(self, path: str) -> None:
        """Take the logs of a file: of one that has grown those that are new."""
        known = self._known.get(path)
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
            self._known[path] = _LogFile(0, 0, None)
            self._fails(path, error)
            return
        self.bytes_read += scan.bytes_read
        if scan.error is not None:
            self._fails(path, scan.error)
        else:
            with self._lock:
                self._errors.pop(path, None)
        if scan.found or scan.error is None:
            self._catalogue.take(path, scan.found, start)
        self._known[path] = _LogFile(stat.st_mtime_ns, stat.st_size, scan.end)

    def _fails(self, path: str, error: Exception) -> None:
        with self._lock:
            self._errors[path] = error_text(path, error)

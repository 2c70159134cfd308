"""SQLite files of a certain kind, marked in the header and written by one process at a time."""

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from locmsim.support.files import MEMORY, try_lock

_HEADER = b"SQLite format 3\0"


class Kind(NamedTuple):
    """A kind of file."""

    #: The mark in its header, and the version of the tables.
    application: int
    version: int
    #: The statements that create them, each with a semicolon and a line end.
    tables: str
    #: Names of the file, its content and its writer in messages.
    file: str
    content: str
    writer: str
    #: The exceptions, whose messages name the file; `missing` if it does not exist.
    error: type[Exception]
    missing: type[Exception]
    #: Seconds to wait for another program that writes to the file.
    patience: float = 5.0


def is_database(path: str) -> bool:
    """Return whether there is an SQLite file with that path."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_HEADER)) == _HEADER


def numbered_entry(source: str) -> tuple[str, int] | None:
    """Return the file and the number of an entry such as ``"results.db:7"``.

    None if the text is not of this form, or is the path of something that exists.
    """
    path, colon, number = source.rpartition(":")
    if not (colon and number.isdecimal()) or os.path.exists(source):
        return None
    return path, int(number)


class Database:
    """An open file of a kind, which a subclass sets; a context manager.

    With `write`, the file is created if it does not exist, and locked against other writers; the
    path `MEMORY` means no file. Otherwise the file must exist and is only read.
    """

    kind: ClassVar[Kind]

    def __init__(self, path: str | os.PathLike[str], *, write: bool) -> None:
        self.path = os.fspath(path)
        self._lock: int | None = None
        #: Whether the file did not exist before: only then it may be removed again.
        self._created = False
        with self._errors("open"):
            try:
                self._connection = self._open_to_write() if write else self._open_to_read()
            except BaseException:
                self._unlock()
                raise

    def _open_to_read(self) -> sqlite3.Connection:
        if not os.path.exists(self.path):
            raise self.kind.missing(f"{self.path}: no such file")
        self._check_regular()
        # Only a writer can remove the files that SQLite keeps beside an open file.
        mode = "rw" if os.access(self.path, os.W_OK) else "ro"
        connection = self._connected(f"{Path(self.path).absolute().as_uri()}?mode={mode}", uri=True)
        connection.execute("PRAGMA query_only = TRUE")
        return connection

    def _open_to_write(self) -> sqlite3.Connection:
        self._check_regular()
        if self.path != MEMORY:
            try:
                self._lock = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
                self._created = True
            except FileExistsError:
                self._lock = os.open(self.path, os.O_RDWR)
            # A lock of its own, independent of SQLite's: otherwise two programs would play the same
            # games.
            if not try_lock(self._lock):
                raise self.kind.error(f"{self.path}: another {self.kind.writer} writes to it")
        # SQLite takes a name that begins with "file:" for another file than `_lock` is of.
        return self._connected(self.path if self.path == MEMORY else os.path.abspath(self.path))

    def _connected(self, name: str, uri: bool = False) -> sqlite3.Connection:
        # The thread that opens the file need not be the one that uses it.
        return sqlite3.connect(
            name,
            uri=uri,
            isolation_level=None,
            timeout=self.kind.patience,
            check_same_thread=False,
        )

    def _check_regular(self) -> None:
        try:
            mode = os.stat(self.path).st_mode
        except OSError:  # opening it says what is wrong
            return
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
            raise self.kind.error(f"{self.path}: {what}, not {self.kind.file}")

    def check_present(self) -> None:
        """Raise an error if the file was removed or replaced while it is written to."""
        if self._lock is None:
            return
        here = os.fstat(self._lock)
        try:
            same = os.path.samestat(here, os.stat(self.path))
        except OSError:
            same = False
        if not same:
            raise self.kind.error(f"{self.path}: was removed or replaced while it was written to")

    def _is_empty(self) -> bool:
        """Return whether the file is empty; raise an error if it is of another kind."""
        ((application,),) = self._connection.execute("PRAGMA application_id")
        ((version,),) = self._connection.execute("PRAGMA user_version")
        ((tables,),) = self._connection.execute("SELECT count(*) FROM sqlite_master")
        if not (application or version or tables):
            return True
        if application != self.kind.application:
            raise self.kind.error(f"{self.path}: does not contain {self.kind.content}")
        if version != self.kind.version:
            raise self.kind.error(
                f"{self.path}: version {version}, this program knows {self.kind.version}"
            )
        return False

    def _refuse_empty(self) -> None:
        raise self.kind.missing(f"{self.path}: an empty file")

    def _log_ahead(self) -> None:
        """Use WAL: a killed process loses nothing, a power cut at most the last writes."""
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _make_tables(self) -> None:
        """Within a transaction."""
        for statement in self.kind.tables.split(";\n"):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA user_version = {self.kind.version}")
        self._connection.execute(f"PRAGMA application_id = {self.kind.application}")

    @contextlib.contextmanager
    def _transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
        except BaseException:
            # SQLite itself rolls back after some errors.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.kind.error(f"cannot {what} {self.path}: {error.strerror}") from None
        except sqlite3.Error as error:
            raise self.kind.error(f"cannot {what} {self.path}: {error}") from None

    def close(self) -> None:
        """Close the file; everything written is kept."""
        try:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        finally:
            self._unlock()

    def _unlock(self) -> None:
        # After the connection: closing any descriptor of a file releases SQLite's locks on it.
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

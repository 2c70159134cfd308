"""Atomic writing of files, locks, the package's data files, and texts for people."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

#: The path of a database that is in no file.
MEMORY = ":memory:"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: "1 core", "2 cores"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def numbered(noun: str, numbers: Sequence[int]) -> str:
    """Return what things with these numbers are called: "game 7", "games 2 to 4", "games 2, 7"."""
    first, last, count = numbers[0], numbers[-1], len(numbers)
    if count == 1:
        return f"{noun} {first}"
    if [*numbers] == [*range(first, last + 1)]:
        return f"{noun}s {first} to {last}"
    few = ", ".join(map(str, numbers[:5]))
    return f"{noun}s {few}" if count <= 5 else f"{noun}s {few} and {count - 5} more"


def printable(text: str) -> str:
    """Return a text of others for terminals: control characters but line ends and tabs escaped.

    They could move the cursor, hide text or change the title of the window.
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def file_named(text: str) -> str:
    """Return the path of a file with that name, which never means no file."""
    return os.path.join(os.curdir, text) if text == MEMORY else text


def data_file(name: str) -> str:
    """Return the path of a file in the package's data folder, where the compiled modules are."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(package, "data", name)


def write_whole(path: str | os.PathLike[str], content: str | bytes, *, mode: int = 0o666) -> None:
    """Write bytes, or text as UTF-8 with ``\\n`` line ends; on failure the old file is kept.

    The content is written to a new file, which then replaces the old one and gets its permissions,
    or those of `mode` under the process's umask if there was none. Links are followed; pipes and
    devices are written to directly.
    """
    from pathlib import Path  # slow to import

    data = content.encode() if isinstance(content, str) else content
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        # Meanwhile the new file must not be readable by more users than the old one.
        kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        descriptor = os.open(beside, _NEW_FILE, mode if kept is None else 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
        if kept is not None:
            beside.chmod(kept)
        beside.replace(target)
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = os.fspath(path), None  # not that of the new file
        raise
    finally:
        with suppress(OSError):  # usually it was renamed, or could not be created
            beside.unlink()


def try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; False if it is locked already.

    Other processes can still read and write the file, but not lock it. On Windows nothing is locked
    and the result is True.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def file_stamp(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return what tells a file from one that replaces it; None if there is no such file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


@contextmanager
def folder_locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let one process at a time read and replace a file; the others wait.

    Its folder is locked, since `write_whole` replaces the file. On Windows nothing is locked.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        descriptor = os.open(os.path.dirname(os.path.realpath(path)), os.O_RDONLY)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

"""Accounts of a server: in a file with salted hashes, or created by the first use of a name."""

import base64
import hashlib
import hmac
import logging
import os
import re
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from locmsim.gamekit import folder_locked, write_whole
from vestrock.protocol import VALID_NAME

_log = logging.getLogger(__name__)


class _Cost(NamedTuple):
    """The parameters of scrypt; a hash takes 128 * r * 2**ln bytes."""

    ln: int
    r: int
    p: int

    def __str__(self) -> str:
        return f"$scrypt$ln={self.ln},r={self.r},p={self.p}"

    @property
    def memory(self) -> int:
        """The bytes that a hash takes."""
        return 128 * self.r << self.ln


#: The parameters of new hashes: about 20 ms and 16 MB.
_COST: Final = _Cost(14, 8, 1)
#: Bounds of what a file may ask for: memory of a hash in bytes, that times p, and r times p.
_MAX_MEMORY: Final = 2**28
_MAX_WORK: Final = 2**30
_MAX_BLOCKS: Final = 2**14
_COST_TEXT: Final = re.compile(r"\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,4}),p=([0-9]{1,4})")


class _Entry(NamedTuple):
    """An account: how its password is hashed, and the hash."""

    salt: bytes
    digest: bytes
    cost: _Cost

    @classmethod
    def parse(cls, words: list[str]) -> "_Entry":
        """Parse the words after the name; ``ValueError`` if they are not an account's."""
        cost, salt, digest = words
        return cls(
            base64.b64decode(salt, validate=True),
            base64.b64decode(digest, validate=True),
            _parsed(cost),
        )


def _parsed(text: str) -> _Cost:
    found = _COST_TEXT.fullmatch(text)
    if not found:
        raise ValueError(f"not parameters of scrypt: {text}")
    cost = _Cost(*map(int, found.groups()))
    if (
        min(cost) < 1
        or cost.ln >= 16 * cost.r  # a bound of scrypt itself
        or cost.memory > _MAX_MEMORY
        or cost.memory * cost.p > _MAX_WORK
        or cost.r * cost.p > _MAX_BLOCKS
    ):
        raise ValueError(f"parameters out of bounds: {text}")
    return cost


class Accounts(Protocol):
    """A source of accounts, with which the server checks logins."""

    def check_quickly(self, name: str, password: str) -> bool | None:
        """Return whether a login is valid; None if only `check` can tell."""

    def check(self, name: str, password: str) -> bool:
        """Return whether a login is valid; may take too long for the server's event loop."""

    def names(self) -> list[str] | None:
        """Return the names of all accounts; None if all logged-in players take part instead."""


class OpenAccounts:
    """Accounts without a file: the first login with a name sets its password.

    The passwords are forgotten when the server ends.
    """

    def __init__(self) -> None:
        self._passwords: dict[str, bytes] = {}

    def check_quickly(self, name: str, password: str) -> bool:
        return self.check(name, password)

    def check(self, name: str, password: str) -> bool:
        digest = hashlib.sha256(password.encode()).digest()
        return hmac.compare_digest(self._passwords.setdefault(name, digest), digest)

    def names(self) -> None:
        return None


class FileAccounts:
    """Accounts in a file: name, parameters, salt and hash per line, separated by blanks.

    The parameters are those of scrypt, as in ``$scrypt$ln=14,r=8,p=1``.

    Parameters
    ----------
    path : str or path
        The file; blank lines and lines that start with ``#`` are skipped.

    Raises
    ------
    ValueError
        A line is malformed; the message names file and line.
    OSError
        The file cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        #: Quick hashes of passwords that were valid once, which make reconnecting cheap.
        self._key = os.urandom(32)
        self._known: dict[tuple[str, bytes], bytes] = {}
        self._version = self._version_now()
        self._entries = self._read()

    def _version_now(self) -> tuple[int, ...]:
        status = os.stat(self.path)
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> dict[str, _Entry]:
        """Read the accounts by name."""
        entries: dict[str, _Entry] = {}
        text = Path(self.path).read_text("ascii", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            name, *words = line.split()
            try:
                entry = _Entry.parse(words)
            except ValueError:
                raise ValueError(
                    f"{self.path}: line {number}: expected name, parameters of scrypt, salt, hash"
                ) from None
            if not VALID_NAME.fullmatch(name):
                raise ValueError(f"{self.path}: line {number}: {name!r} is not a valid name")
            if name in entries:
                raise ValueError(f"{self.path}: line {number}: {name} occurs twice")
            entries[name] = entry
        return entries

    def _read_again(self) -> None:
        """Read the file if it has changed; keep the old accounts if it is damaged or missing."""
        try:
            version = self._version_now()
            if version == self._version:
                return
            self._version = version
            self._entries = self._read()
        except (OSError, ValueError) as error:
            _log.error("accounts stay as they were: %s", error)

    def check_quickly(self, name: str, password: str) -> bool | None:
        self._read_again()
        entry = self._entries.get(name)
        quick = b"" if entry is None else self._known.get((name, entry.digest), b"")
        return True if hmac.compare_digest(quick, self._quick(password)) else None

    def _quick(self, password: str) -> bytes:
        return hashlib.blake2b(password.encode(), key=self._key).digest()

    def check(self, name: str, password: str) -> bool:
        # An unknown name must take as long as a known one, so that the time reveals nothing.
        entry = self._entries.get(name)
        salt, digest, cost = _Entry(b"nobody", b"", self._usual_cost()) if entry is None else entry
        if not hmac.compare_digest(hash_password(password, salt, cost), digest):
            return False
        self._known[name, digest] = self._quick(password)
        return True

    def _usual_cost(self) -> _Cost:
        costs = Counter(entry.cost for entry in self._entries.values())
        return costs.most_common(1)[0][0] if costs else _COST

    def names(self) -> list[str]:
        return sorted(self._entries)

    @staticmethod
    def set_password(path: str | os.PathLike[str], name: str, password: str) -> None:
        """Add an account to a file, or change its password; a missing file is created.

        Raises
        ------
        ValueError
            The name is not valid, the password is empty or cannot be sent, or the file is damaged.
        OSError
            The file cannot be read or written.
        """
        if not VALID_NAME.fullmatch(name):
            raise ValueError(f"name: expected 1..32 of A-Z a-z 0-9 _ . -, got {name!r}")
        if not 1 <= len(password) <= 256 or not password.isascii() or not password.isprintable():
            raise ValueError("password: expected 1..256 printable ASCII characters")
        if password != password.strip():
            raise ValueError("password: blanks at its ends would be lost")
        salt = os.urandom(16)
        with folder_locked(path):
            lines: list[str] = []
            if os.path.exists(path):
                FileAccounts(path)
                lines = Path(path).read_text("ascii").splitlines()
            lines = [line for line in lines if line.split()[:1] != [name]]
            hashed = hash_password(password, salt)
            words = [base64.b64encode(part).decode() for part in (salt, hashed)]
            lines.append(" ".join([name, str(_COST), *words]))
            write_whole(path, "".join(f"{line}\n" for line in lines), mode=0o600)


def hash_password(password: str, salt: bytes, cost: tuple[int, int, int] = _COST) -> bytes:
    """Return the hash of a password to store (scrypt), with the parameters ln, r, p."""
    ln, r, p = cost
    n, memory = 2**ln, 2 * _MAX_MEMORY
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, dklen=32, maxmem=memory)

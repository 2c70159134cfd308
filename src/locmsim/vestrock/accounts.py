"""Accounts of a server: in a file with salted hashes, or created by the first use of a name."""

import base64
import hashlib
import hmac
import logging
import os
from pathlib import Path
from typing import Final, Protocol

from locmsim._io import write_whole
from locmsim.vestrock.protocol import VALID_NAME

__all__ = ["Accounts", "FileAccounts", "OpenAccounts", "hash_password"]

_log = logging.getLogger(__name__)

#: Parameters of scrypt, with which a hash takes about 20 ms and 16 MB.
_N: Final = 2**14
_R: Final = 8
_P: Final = 1
#: Salt and hash of a name that has no account.
_NOBODY: Final = (b"nobody", b"")


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
    """Accounts in a file: a name, a salt and a hash per line, separated by blanks.

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
        self._hashes = self._read()

    def _version_now(self) -> tuple[int, ...]:
        status = os.stat(self.path)
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> dict[str, tuple[bytes, bytes]]:
        """Read salt and hash by name."""
        hashes: dict[str, tuple[bytes, bytes]] = {}
        text = Path(self.path).read_text("ascii", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                name, salt, digest = line.split()
                entry = (
                    base64.b64decode(salt, validate=True),
                    base64.b64decode(digest, validate=True),
                )
            except ValueError:
                raise ValueError(f"{self.path}: line {number}: expected name, salt, hash") from None
            if not VALID_NAME.fullmatch(name):
                raise ValueError(f"{self.path}: line {number}: {name!r} is not a valid name")
            if name in hashes:
                raise ValueError(f"{self.path}: line {number}: {name} occurs twice")
            hashes[name] = entry
        return hashes

    def _read_again(self) -> None:
        """Read the file if it has changed; keep the old accounts if it is damaged or missing."""
        try:
            version = self._version_now()
            if version == self._version:
                return
            self._version = version
            self._hashes = self._read()
        except (OSError, ValueError) as error:
            _log.error("accounts stay as they were: %s", error)

    def check_quickly(self, name: str, password: str) -> bool | None:
        self._read_again()
        quick = self._known.get((name, self._hashes.get(name, _NOBODY)[1]), b"")
        return True if hmac.compare_digest(quick, self._quick(password)) else None

    def _quick(self, password: str) -> bytes:
        return hashlib.blake2b(password.encode(), key=self._key).digest()

    def check(self, name: str, password: str) -> bool:
        # An unknown name must take as long as a known one, so that the time reveals nothing.
        salt, digest = self._hashes.get(name, _NOBODY)
        if not hmac.compare_digest(hash_password(password, salt), digest):
            return False
        self._known[name, digest] = self._quick(password)
        return True

    def names(self) -> list[str]:
        return sorted(self._hashes)

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
        lines: list[str] = []
        if os.path.exists(path):
            FileAccounts(path)
            lines = Path(path).read_text("ascii").splitlines()
        lines = [line for line in lines if line.split()[:1] != [name]]
        salt = os.urandom(16)
        words = [base64.b64encode(part).decode() for part in (salt, hash_password(password, salt))]
        text = "".join(f"{line}\n" for line in [*lines, " ".join([name, *words])])
        write_whole(path, text, mode=0o600)


def hash_password(password: str, salt: bytes) -> bytes:
    """Return the hash of a password to store (scrypt)."""
    return hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P, dklen=32)

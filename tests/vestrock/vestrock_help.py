"""Servers of Vestrock that run in a thread, and raw connections for clients that misbehave."""

# ruff: noqa: F401 (tests import from here what stands deep in the package)

import asyncio
import base64
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from helpers import output_of, wait_for

from vestrock import Server
from vestrock.accounts import FileAccounts, OpenAccounts, hash_password
from vestrock.bots._policy import rule_line, rule_playouts
from vestrock.cli import command_parser, main
from vestrock.client import Client
from vestrock.eventlog import EventLog, ReplayError, encode, replay
from vestrock.player import Player
from vestrock.series import COMMAND_LIMIT, LINE_LIMIT, Event, Series, described
from vestrock.server import ServerFailedError
from vestrock.session import Session
from vestrock.standings import Standings, StandingsError, format_standings
from vestrock.tournament import Result, Standing, Tournament, awards, pairs, ranks, standings
from vestrock.views import Views

#: Maximum number of seconds that a test waits for anything.
PATIENCE = 30.0
#: Runs the command line of Vestrock in this process.
tool = partial(output_of, program=main)


def line_of(password: str, ln: int, r: int, p: int) -> str:
    """Return what follows the name in the line of an account with these parameters of scrypt."""
    digest = hash_password(password, b"salt", (ln, r, p))
    return f"$scrypt$ln={ln},r={r},p={p} " + " ".join(
        base64.b64encode(part).decode() for part in (b"salt", digest)
    )


def write_accounts(path: Path, *names: str) -> None:
    """Write a file of accounts that all have the password "x", with hashes that take no time."""
    path.write_text("".join(f"{name} {line_of('x', 4, 1, 1)}\n" for name in names))


class Served:
    """A server that runs in a separate thread."""

    def __init__(self, **options: Any) -> None:
        options = {"turns": 6, "turn_seconds": 3600, "early": True, "break_turns": 0, **options}
        self.server = Server(**options)
        self.raws: list[Raw] = []
        #: Why the server had to stop.
        self.failure: str | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._started.wait(PATIENCE)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.call_later(0, self._wait_for_port)
        try:
            await self.server.run()
        except ServerFailedError as error:
            self.failure = str(error)

    def _wait_for_port(self) -> None:
        if self.server.port and self.server.spectator_port != 0:
            self._started.set()
        else:
            self._loop.call_later(0.001, self._wait_for_port)

    @property
    def port(self) -> int:
        return self.server.port

    def call(self, do: Callable[[], Any]) -> Any:
        """Call a function in the server's event loop, and return its result."""

        async def task() -> Any:
            return do()

        return asyncio.run_coroutine_threadsafe(task(), self._loop).result(PATIENCE)

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.server.stop)
        self.wait()

    def wait(self) -> None:
        """Wait until the server has ended."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def raw(self, name: str | None = None, *, address: str = "") -> "Raw":
        """Return a connection from an address of this machine, logged in if a name is given."""
        raw = self._connected(self.port, address)
        if name is not None:
            raw.log_in(name)
        return raw

    def spectator(self, *, receive_buffer: int | None = None) -> "Raw":
        """Return a connection of a spectator, whose receive buffer may be small."""
        return self._connected(self.server.spectator_port or 0, "", receive_buffer)

    def _connected(self, port: int, address: str, receive_buffer: int | None = None) -> "Raw":
        """Return a connection that is closed together with the server, even if the test fails."""
        raw = Raw(port, address, receive_buffer)
        self.raws.append(raw)
        return raw

    def connections(self, name: str) -> list[Session]:
        """Return the connections of a player who is logged in, as the server has them."""
        return self.call(lambda: [s for s in self.server.connections if s.player == name])

    def client(self, name: str) -> Client:
        return Client("127.0.0.1", self.port, name, "x", timeout=PATIENCE)


class Raw:
    """A connection on which a test sends and reads each byte itself."""

    def __init__(self, port: int, address: str = "", receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        try:
            if receive_buffer is not None:  # the buffer cannot shrink after connecting
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            if address:
                self.socket.bind((address, 0))
            self.socket.settimeout(PATIENCE)
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self._partial = b""

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def line(self) -> str | None:
        """Return the next line without its end, or None at the end of the connection."""
        while b"\n" not in self._partial:
            try:
                data = self.socket.recv(65536)
            except ConnectionError:
                return None
            if not data:
                return None
            self._partial += data
        line, _, self._partial = self._partial.partition(b"\n")
        return line.decode("ascii")

    def lines(self, count: int) -> list[str | None]:
        return [self.line() for _ in range(count)]

    def rest(self) -> list[str]:
        """Return all lines up to the end of the connection."""
        lines = []
        while (line := self.line()) is not None:
            lines.append(line)
        return lines

    def silent(self, seconds: float = 0.05) -> bool:
        """Return whether nothing arrives for some time."""
        if self._partial:
            return False
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1, socket.MSG_PEEK)
            return not data
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)

    def ask(self, command: str, lines: int = 1) -> list[str | None]:
        self.send(command.encode() + b"\n")
        return self.lines(lines)

    def log_in(self, name: str, password: str = "x") -> None:
        self.send(f"{name}\n{password}\n".encode())
        assert self.lines(3) == ["LOGIN", "PASS", "OK"]

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@contextlib.contextmanager
def served(**options: Any) -> Iterator[Served]:
    """Run a server for the time of a ``with`` block; its connections are closed at the end."""
    server = Served(**options)
    try:
        yield server
    finally:
        # First the connections: the server waits a second for those that are not closed.
        for raw in server.raws:
            raw.close()
        server.stop()


@contextlib.contextmanager
def idlers(server: Served, *names: str) -> Iterator[None]:
    """Log in players who only wait until the end of the block."""

    def idle(raw: "Raw") -> None:
        with contextlib.suppress(OSError):
            raw.send(b"WAIT\n")
            while raw.line() == "OK" == raw.line():
                raw.send(b"WAIT\n")

    raws: list[Raw] = []
    threads: list[threading.Thread] = []
    try:
        for name in names:
            raws.append(server.raw(name))
            threads.append(threading.Thread(target=idle, args=(raws[-1],), daemon=True))
            threads[-1].start()
        yield
    finally:
        for raw in raws:
            with contextlib.suppress(OSError):
                raw.socket.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(PATIENCE)


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    wait_for(condition, PATIENCE)

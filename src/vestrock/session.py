"""The connections of the server.

A session turns bytes into command lines and replies into bytes, and decides when to stop reading
from its connection. It knows nothing of the game.
"""

import asyncio
from typing import TYPE_CHECKING, Final

from vestrock.allowance import BEFORE_LOGIN, LOGGED_IN
from vestrock.protocol import Login, PendingInput, error_line, parse
from vestrock.sockets import Connection, set_up

if TYPE_CHECKING:
    from vestrock.server import Server

__all__ = ["Session"]

#: Bytes of pending input, or of unsent replies, above which reading from the connection stops.
_FULL: Final = 64 * 1024
#: Bytes of pending input below which reading resumes.
_READ_LIMIT: Final = 16 * 1024
#: Bytes of replies above which they are sent at once instead of together with later ones.
_FLUSH: Final = 32 * 1024
#: Maximum numbers of lines, blank ones included, and of bytes before name and password are known.
_LOGIN_LINES: Final = 16
_LOGIN_BYTES: Final = 128 * 1024
#: Seconds that a client has to close its side after the last line before the connection is dropped.
_LINGER_SECONDS: Final = 1.0


class Session(Connection):
    """A client's connection, before and after a player has logged in."""

    def __init__(self, host: "Server") -> None:
        super().__init__(host.buffer)
        self._host = host
        self._input = PendingInput()
        #: Who is charged for input, and how much.
        self._allowances = host.admission.newcomers
        self._costs = BEFORE_LOGIN
        #: Whether the player is in debt, so that the connection is not read.
        self._in_debt = False
        self._login = Login()
        self._login_lines = self._login_bytes = 0
        self._out: list[bytes] = []
        self._out_size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._paying: asyncio.TimerHandle | None = None
        self._paused_reading = False
        self._paused_writing = False
        self._checking = False
        self._ended = False
        self._closing = False
        #: The player who is logged in.
        self.player: str | None = None
        #: Whether the connection is in ``WAIT``.
        self.waiting = False
        #: Whether it is in the host's queue.
        self.queued = False

    # ------------------------------------------------------------------ what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = self._connected(transport)
        if not self._host.admission.enter(self.prefix):
            self.refuse(7)
            return
        transport.set_write_buffer_limits(high=_FULL)
        set_up(transport)
        refusal = self._host.connected(self)
        if refusal is not None:
            self.refuse(refusal)
            return
        self.send(Login.GREETING)
        self.flush()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._host.login_seconds, self._too_late)

    def buffer_updated(self, nbytes: int) -> None:
        if self._closing:
            return
        self._input.feed(bytes(self._buffer[:nbytes]))
        self._pay(nbytes * self._costs.byte)
        if not self._login.done:
            self._login_bytes += nbytes
            if self._login_bytes > _LOGIN_BYTES:
                self.close(error_line(1))
                return
        self._check_reading()
        self._host.ready(self)

    def eof_received(self) -> bool:
        """Keep the connection open while received lines are pending, unless it is in ``WAIT``."""
        self._ended = True
        pending = bool(self._input) and (self.can_step or self._checking or self._in_debt)
        return pending and not (self._closing or self.waiting)

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_timer()
        if self._paying is not None:
            self._paying.cancel()
        self._closing = True
        self._input.clear()
        self._out.clear()
        self._host.lost(self)

    def pause_writing(self) -> None:
        self._paused_writing = True
        self._check_reading()

    def resume_writing(self) -> None:
        self._paused_writing = False
        self._check_reading()
        self._host.ready(self)

    # ----------------------------------------------------------------- what the host calls

    @property
    def can_step(self) -> bool:
        """Whether a line may be executed now."""
        return bool(self._input.lines) and not (
            self.waiting or self._paused_writing or self._checking or self._in_debt or self._closing
        )

    def step(self) -> None:
        """Execute one line; an empty one is only counted."""
        line = self._input.pop()
        self._pay(self._costs.line)
        if self._paused_reading:
            self._check_reading()
        if self.player is None:
            self._login_lines += 1
            if self._login_lines > _LOGIN_LINES:
                self.close(error_line(1))
                return
        if line is not None and not line.strip(b" \t"):
            if self.player is not None:
                self._host.count(self.player)
            return
        if self.player is None:
            self._log_in(line)
            return
        command = parse(line)
        if not isinstance(command, int) and command.word == "WAIT":
            self.send("OK")
            self.flush()
            self.waiting = True
        else:
            self.send("\n".join(self._host.execute(self.player, command)))

    def after_step(self) -> None:
        """Send the buffered replies, unless further replies will follow at once."""
        if not self.can_step or self._out_size > _FLUSH:
            self.flush()
            waits = bool(self._input) and (self._checking or self._in_debt)
            if self._ended and not (self.can_step or self._paused_writing or waits):
                self.close()

    def turn_started(self) -> None:
        """Answer a ``WAIT``."""
        self.waiting = False
        self.send("OK")
        self.flush()

    def send(self, reply: str) -> None:
        """Buffer a complete reply."""
        data = reply.encode("ascii") + b"\n"
        self._out.append(data)
        self._out_size += len(data)

    def flush(self) -> None:
        """Send the replies."""
        if self._out and self.transport is not None and not self.transport.is_closing():
            data = b"".join(self._out)
            self.transport.write(data)
            self._progress.wrote(len(data))
        self._out.clear()
        self._out_size = 0

    def close(self, reply: str | None = None) -> None:
        """Close the connection, with an optional last line."""
        if self._closing or self.transport is None:
            return
        if reply is not None:
            self.send(reply)
        self.flush()
        self._closing = True
        self._stop_timer()
        self._input.clear()
        self.waiting = False
        self._host.logged_out(self)
        if self._ended or self.transport.is_closing():
            self.transport.close()
            return
        # Closing a socket with unread input resets the connection, and the client might lose the
        # last line. So only the output is closed, and further input is discarded.
        try:
            self.transport.write_eof()
        except OSError:  # the other side has gone already
            self.transport.abort()
            return
        self._resume_reading()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def refuse(self, code: int) -> None:
        """Close the connection with an error at once, so that it takes no place any longer."""
        if self._closing or self.transport is None:
            return
        self.send(error_line(code))
        self.flush()
        self._closing = True
        self._stop_timer()
        self._input.clear()
        self.transport.close()

    # --------------------------------------------------------------------------- the rest

    def _pay(self, cost: float) -> None:
        """Charge input: before the login to the prefix, which then gets no further connections.

        Afterwards it is charged to the player; while they are in debt, the connection is not read.
        """
        debt = self._allowances.charge(self.player or self.prefix, cost)
        if debt and self.player is not None and not self._in_debt and not self._closing:
            self._in_debt = True
            self._paying = asyncio.get_running_loop().call_later(debt, self._paid)
            self._check_reading()

    def _paid(self) -> None:
        self._paying = None
        self._in_debt = False
        self._check_reading()
        if self._ended:
            self.after_step()
        self._host.ready(self)

    def _check_reading(self) -> None:
        if self.transport is None or self._closing or self.transport.is_closing():
            return
        if not self._paused_reading:
            if self._input.size >= _FULL or self._paused_writing or self._in_debt:
                self._paused_reading = True
                self.transport.pause_reading()
        elif self._input.size < _READ_LIMIT and not self._paused_writing and not self._in_debt:
            self._resume_reading()

    def _resume_reading(self) -> None:
        if self._paused_reading and self.transport is not None:
            self._paused_reading = False
            self.transport.resume_reading()

    def _log_in(self, line: bytes | None) -> None:
        answer = self._login.feed(line)
        if answer is not None:
            self.send(answer)
        if not self._login.done:
            return
        if not self._login.possible:
            self.close(error_line(1))
            return
        name, password = str(self._login.name), str(self._login.password)
        right = self._host.accounts.check_quickly(name, password)
        if right is not None:
            self.checked(right)
            return
        self._checking = True
        self.flush()
        self._host.passwords.add(self, name, password)

    @property
    def checking(self) -> bool:
        """Whether the session waits for its password check."""
        return self._checking and not self._closing

    @property
    def idle(self) -> bool:
        """Whether the client is waited for before the login."""
        return not self._checking

    def checked(self, right: bool) -> None:
        """Continue after the password was checked."""
        self._checking = False
        if self._closing:
            return
        if not right:
            self.close(error_line(1))
            return
        self._stop_timer()
        self.player = self._login.name
        self._allowances, self._costs = self._host.admission.players, LOGGED_IN
        self._host.logged_in(self, str(self.player))
        self.send("OK")
        self.flush()
        self._host.ready(self)
        if self._ended:
            self.after_step()

    def _too_late(self) -> None:
        self._timer = None
        # The client is not to blame if its password has not been checked in time.
        self.close(error_line(7 if self._checking else 1))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

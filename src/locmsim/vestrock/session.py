"""Connections: what the server keeps of each, from its first byte to its last.

A session turns bytes into command lines and replies into bytes, and decides when to stop reading.
Nothing of the game is in it.
"""

import asyncio
import logging
import socket
from collections import deque
from typing import TYPE_CHECKING, Final

from locmsim.vestrock.protocol import LineReader, Login, error_line, parse

if TYPE_CHECKING:
    from locmsim.vestrock.server import Server

__all__ = ["Session", "Spectator"]

_log = logging.getLogger(__name__)

#: Unread input, and unsent replies, beyond which a connection is not read.
_FULL: Final = 64 * 1024
#: Unread input below which it is read again.
_ROOM: Final = 16 * 1024
#: Replies are sent together up to this size.
_FLUSH: Final = 32 * 1024
#: How long a connection may take no bytes, in seconds.
_STUCK_SECONDS: Final = 10.0
#: How long to wait for the end of a connection that was told why it is closed.
_LINGER_SECONDS: Final = 1.0
#: What the system keeps of a connection's output, in bytes.
_SEND_BUFFER: Final = 128 * 1024
#: What a spectator may be behind.
_BEHIND_LINES: Final = 1000


def _set_up(transport: asyncio.Transport) -> None:
    """The options of a connection's socket."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        # To find out when the other side has gone without a word.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Otherwise the system keeps megabytes for a client that does not read.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)


class _Progress:
    """Notices a connection that takes no bytes."""

    def __init__(self) -> None:
        self._written = 0
        self._sent = 0
        self._since: float | None = None

    def wrote(self, count: int) -> None:
        self._written += count

    def stuck(self, unsent: int, now: float) -> bool:
        """Whether nothing was taken for too long, with `unsent` bytes still to go."""
        sent = self._written - unsent
        if not unsent or sent != self._sent or self._since is None:
            self._sent = sent
            self._since = now if unsent else None
            return False
        return now - self._since >= _STUCK_SECONDS


class Session(asyncio.BufferedProtocol):
    """A player's connection."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._reader = LineReader()
        self._lines: deque[bytes | None] = deque()
        #: Bytes in `_lines`.
        self._unread = 0
        self._login = Login()
        self._out: list[bytes] = []
        self._out_size = 0
        self._progress = _Progress()
        self._timer: asyncio.TimerHandle | None = None
        self._paused_reading = False
        self._paused_writing = False
        self._checking = False
        self._ended = False
        self._closing = False
        self.transport: asyncio.Transport | None = None
        #: The address it comes from.
        self.address = ""
        #: Who is logged in.
        self.player: str | None = None
        #: Whether it is in ``WAIT``.
        self.waiting = False
        #: Whether the server has it in its queue.
        self.queued = False

    # ------------------------------------------------------------------ what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        transport.set_write_buffer_limits(high=_FULL)
        _set_up(transport)
        refusal = self._server.connected(self)
        if refusal is not None:
            self.close(error_line(refusal))
            return
        self.send(Login.GREETING)
        self.flush()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._server.login_seconds, self._too_late)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._server.buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._closing:
            return
        for line in self._reader.feed(bytes(self._server.buffer[:nbytes])):
            if line is None or line.strip(b" \t"):
                self._lines.append(line)
                self._unread += 1 if line is None else 1 + len(line)
        self._check_reading()
        self._server.ready(self)

    def eof_received(self) -> bool:
        """What was sent before is executed; a connection in ``WAIT`` is given up."""
        self._ended = True
        return not (self._closing or self.waiting or not self.can_step)

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_timer()
        self._closing = True
        self._lines.clear()
        self._out.clear()
        self._server.lost(self)

    def pause_writing(self) -> None:
        self._paused_writing = True
        self._check_reading()

    def resume_writing(self) -> None:
        self._paused_writing = False
        self._check_reading()
        self._server.ready(self)

    # --------------------------------------------------------------- what the server calls

    @property
    def can_step(self) -> bool:
        """Whether there is a line that may be executed now."""
        return bool(self._lines) and not (
            self.waiting or self._paused_writing or self._checking or self._closing
        )

    def step(self) -> None:
        """Execute one line."""
        line = self._lines.popleft()
        self._unread -= 1 if line is None else 1 + len(line)
        if self._paused_reading:
            self._check_reading()
        if self.player is None:
            self._log_in(line)
            return
        command = parse(line)
        if not isinstance(command, int) and command.word == "WAIT":
            self.send("OK")
            self.flush()
            self.waiting = True
        else:
            self.send("\n".join(self._server.execute(self.player, command)))

    def after_step(self) -> None:
        """Send what is there if no more comes at once."""
        if not self.can_step or self._out_size > _FLUSH:
            self.flush()
            if self._ended and not self.can_step and not self._paused_writing:
                self.close()

    def turn_started(self) -> None:
        """Answer a ``WAIT``."""
        self.waiting = False
        self.send("OK")
        self.flush()

    def send(self, reply: str) -> None:
        """Add a reply, whole, to what is to be sent."""
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

    def stuck(self, now: float) -> bool:
        """Whether the other side has taken no bytes for too long."""
        assert self.transport is not None
        return self._progress.stuck(self.transport.get_write_buffer_size(), now)

    def close(self, reply: str | None = None) -> None:
        """Close the connection, with a last line if there is something to say."""
        if self._closing or self.transport is None:
            return
        if reply is not None:
            self.send(reply)
        self.flush()
        self._closing = True
        self._stop_timer()
        self._lines.clear()
        self.waiting = False
        if self._ended or self.transport.is_closing():
            self.transport.close()
            return
        # Closed with unread input, the connection would be reset, and the last line might be lost:
        # its end is sent, and what still comes is thrown away.
        try:
            self.transport.write_eof()
        except OSError:  # the other side has gone already
            self.transport.abort()
            return
        self._resume_reading()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def abort(self) -> None:
        """Drop the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    # --------------------------------------------------------------------------- the rest

    def _check_reading(self) -> None:
        if self.transport is None or self._closing or self.transport.is_closing():
            return
        if not self._paused_reading:
            if self._unread >= _FULL or self._paused_writing:
                self._paused_reading = True
                self.transport.pause_reading()
        elif self._unread < _ROOM and not self._paused_writing:
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
        accounts = self._server.accounts
        name, password = str(self._login.name), str(self._login.password)
        if not accounts.slow:
            self._checked(accounts.check(name, password))
            return
        self._checking = True
        self.flush()
        self._server.check_later(name, password, self._checked)

    def _checked(self, right: bool) -> None:
        self._checking = False
        if self._closing:
            return
        if not right:
            self.close(error_line(1))
            return
        refusal = self._server.logged_in(self, str(self._login.name))
        if refusal is not None:
            self.close(error_line(refusal))
            return
        self._stop_timer()
        self.player = self._login.name
        self.send("OK")
        self.flush()
        self._server.ready(self)

    def _too_late(self) -> None:
        self._timer = None
        self.close(error_line(1))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Spectator(asyncio.BufferedProtocol):
    """A connection that gets the lines of the log and is never listened to."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._progress = _Progress()
        #: Sizes of lines that may not have been sent, oldest first, and their sum.
        self._sizes: deque[int] = deque()
        self._size = 0
        self._out: list[bytes] = []
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=2**30)  # it is dropped long before
        _set_up(transport)
        if self._server.spectator_joined(self):
            return
        transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._server.buffer

    def buffer_updated(self, nbytes: int) -> None:
        pass

    def eof_received(self) -> bool:
        return True  # it may have nothing to say and still read

    def connection_lost(self, error: Exception | None) -> None:
        self._server.spectator_left(self)

    def add(self, line: bytes) -> None:
        """Add a line to what is to be sent."""
        self._out.append(line)

    def flush(self) -> None:
        """Send the lines; drop a spectator who is too far behind."""
        transport = self.transport
        if not self._out or transport is None or transport.is_closing():
            self._out.clear()
            return
        data = b"".join(self._out)
        self._sizes.extend(map(len, self._out))
        self._size += len(data)
        self._out.clear()
        transport.write(data)
        self._progress.wrote(len(data))
        unsent = transport.get_write_buffer_size()
        while self._sizes and self._size - self._sizes[0] >= unsent:
            self._size -= self._sizes.popleft()
        if len(self._sizes) > _BEHIND_LINES:
            _log.info("a spectator is %d lines behind and dropped", len(self._sizes))
            transport.abort()

    def stuck(self, now: float) -> bool:
        """Whether the other side has taken no bytes for too long."""
        assert self.transport is not None
        return self._progress.stuck(self.transport.get_write_buffer_size(), now)

    def close(self, line: bytes | None = None) -> None:
        """Close the connection, with a last line if there is something to say."""
        if self.transport is not None:
            if line is not None:
                self.add(line)
                self.flush()
            self.transport.close()

    def abort(self) -> None:
        """Drop the connection at once."""
        if self.transport is not None:
            self.transport.abort()

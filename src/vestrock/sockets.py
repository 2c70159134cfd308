"""Options of the server's sockets."""

import asyncio
import socket
from typing import Final

from vestrock.admission import prefix_of

#: Seconds without progress after which a connection is dropped.
_STUCK_SECONDS: Final = 10.0
#: Size of the system's output buffer of a connection, in bytes.
_SEND_BUFFER: Final = 128 * 1024
#: Keep-alive options: seconds of silence before the first probe, interval and number of probes, so
#: that a dead connection is dropped after about 25 seconds. Some systems lack some of them.
_KEEPALIVE: Final = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}


def set_up(transport: asyncio.Transport) -> None:
    """Set the options of a connection's socket."""
    sock = transport.get_extra_info("socket")
    if sock is None:
        return
    # Keep-alive probes detect that the other side has disappeared.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Otherwise the system would buffer megabytes for a client that does not read.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)


class StallDetector:
    """Detects a connection that receives no bytes."""

    def __init__(self) -> None:
        self._written = 0
        self._sent = 0
        self._since: float | None = None

    def wrote(self, count: int) -> None:
        """Count bytes that were passed to the transport."""
        self._written += count

    def stuck(self, unsent: int, now: float) -> bool:
        """Return whether no bytes were sent for too long, with `unsent` ones waiting."""
        sent = self._written - unsent
        if not unsent or sent != self._sent or self._since is None:
            self._sent = sent
            self._since = now if unsent else None
            return False
        return now - self._since >= _STUCK_SECONDS


class Connection(asyncio.BufferedProtocol):
    """A connection of the server, whose input is read into a buffer that all share."""

    transport: asyncio.Transport | None = None
    #: The prefix of the client's address.
    prefix = ""

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer
        self._progress = StallDetector()

    def _connected(self, transport: asyncio.BaseTransport) -> asyncio.Transport:
        """Note the transport, and the client's address."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        peer = transport.get_extra_info("peername")
        self.prefix = prefix_of(str(peer[0]) if peer else "")
        return transport

    @property
    def idle(self) -> bool:
        """Whether it can lose its place to a newer one of its prefix."""
        return True

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def stuck(self, now: float) -> bool:
        """Return whether the other side has received no bytes for too long."""
        assert self.transport is not None
        return self._progress.stuck(self.transport.get_write_buffer_size(), now)

    def abort(self) -> None:
        """Drop the connection at once."""
        if self.transport is not None:
            self.transport.abort()

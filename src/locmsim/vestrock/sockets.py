"""What the server does with every socket."""

import asyncio
import socket
from typing import Final

__all__ = ["Progress", "set_up"]

#: How long a connection may take no bytes, in seconds.
_STUCK_SECONDS: Final = 10.0
#: What the system keeps of a connection's output, in bytes.
_SEND_BUFFER: Final = 128 * 1024
#: After how many silent seconds the system asks whether the other side is still there, and what it
#: does then: it gives up after some 25 seconds. Not every system has all of these.
_KEEPALIVE: Final = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}


def set_up(transport: asyncio.Transport) -> None:
    """Set the options of a connection's socket."""
    sock = transport.get_extra_info("socket")
    if sock is None:
        return
    # To find out when the other side has gone without a word.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Otherwise the system keeps megabytes for a client that does not read.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)


class Progress:
    """Notices a connection that takes no bytes."""

    def __init__(self) -> None:
        self._written = 0
        self._sent = 0
        self._since: float | None = None

    def wrote(self, count: int) -> None:
        """So many bytes were given to the transport."""
        self._written += count

    def stuck(self, unsent: int, now: float) -> bool:
        """Return whether no bytes were sent for too long, with `unsent` ones waiting."""
        sent = self._written - unsent
        if not unsent or sent != self._sent or self._since is None:
            self._sent = sent
            self._since = now if unsent else None
            return False
        return now - self._since >= _STUCK_SECONDS

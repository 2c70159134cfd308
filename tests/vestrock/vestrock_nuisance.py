"""One way to be a nuisance to a server of Vestrock, as a program: see `KINDS`.

    python tests/vestrock/vestrock_nuisance.py KIND PORT SPECTATOR_PORT FIRST LAST

connects from the addresses 127.0.0.FIRST to 127.0.0.LAST in turn until it is killed. Each address
of IPv4 counts by itself at the server, as a network of IPv6 does.
"""

import asyncio
import contextlib
import itertools
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial

#: The ports and the last parts of the addresses, from the command line.
PORT = SPECTATORS = 0
ADDRESSES = itertools.cycle([1])

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(port: int, small: bool = False) -> Streams:
    sock = socket.socket()
    if small:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.bind((f"127.0.{'.'.join(map(str, divmod(next(ADDRESSES), 256)))}", 0))
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    return await asyncio.open_connection(sock=sock, limit=2**16)


async def stay(words: bytes = b"") -> None:
    """Connect, say something, and stay until the server closes the connection."""
    reader, writer = await connect(PORT)
    writer.write(words)
    await reader.read()
    writer.close()


async def spectators() -> None:
    """Connect ten spectators per second, each for a second."""

    async def watch() -> None:
        reader, writer = await connect(SPECTATORS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                while await reader.read(65536):
                    pass
        writer.close()

    await often(watch, 10)


async def newlines() -> None:
    """Send blank lines on four connections of a player."""

    async def send() -> None:
        _, writer = await connect(PORT)
        writer.write(b"pest\nx\n")
        while True:
            writer.write(b"\n" * 10_000)
            await writer.drain()

    async def go_on() -> None:
        while True:
            with contextlib.suppress(OSError):  # the server may close a connection
                await send()
            await asyncio.sleep(0.01)

    await asyncio.gather(*(go_on() for _ in range(4)))


async def logins() -> None:
    """Send 200 wrong passwords per second."""
    await often(partial(stay, b"bot0\nwrong\n"), 200)


async def attempts() -> None:
    """Send 10,000 wrong passwords per minute, from 64 addresses beginning at 127.0.1.1."""
    global ADDRESSES
    ADDRESSES = itertools.cycle(range(257, 257 + 64))
    await often(partial(stay, b"bot0\nwrong\n"), 10_000 / 60)


async def reconnects() -> None:
    """Connect a spectator 33 times per second, and leave at once."""

    async def look() -> None:
        _, writer = await connect(SPECTATORS)
        writer.close()

    await often(look, 33)


async def connections() -> None:
    """Connect 1,000 times per second, and keep the connections as long as the server does."""
    await often(stay, 1000)


async def silent() -> None:
    """Keep a hundred silent connections, which are reopened when they are closed."""

    async def say_nothing() -> None:
        while True:
            with contextlib.suppress(OSError):
                await stay()
            await asyncio.sleep(0.1)

    await asyncio.gather(*(say_nothing() for _ in range(100)))


async def deaf() -> None:
    """Keep 64 spectators that do not read, which are reopened when they are dropped."""

    async def sleep() -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await connect(SPECTATORS, small=True)
                writer.transport.pause_reading()
                await asyncio.sleep(5)
                writer.transport.abort()

    await asyncio.gather(*(sleep() for _ in range(64)))


async def gone() -> None:
    """Open four connections per player that send nothing, as if their machines had been lost."""
    connections = []
    for name in range(40):
        for _ in range(4):
            reader, writer = await connect(PORT)
            writer.write(f"bot{name}\nx\n".encode())
            lines = [await reader.readline() for _ in range(3)]
            if lines[-1] != b"OK\n":  # no further player exists
                print("there", flush=True)
                await asyncio.sleep(3600)
            connections.append((reader, writer))


async def often(do: Callable[[], Awaitable[None]], times: float) -> None:
    """Start a task a number of times per second, however long it takes."""
    running: set[asyncio.Task[None]] = set()

    async def once() -> None:
        with contextlib.suppress(OSError):
            await do()

    while True:
        running.add(asyncio.create_task(once()))
        running = {task for task in running if not task.done()}
        await asyncio.sleep(1 / times)


WORKS = (spectators, newlines, logins, silent, deaf, gone, attempts, reconnects, connections)
KINDS = {work.__name__: work for work in WORKS}

if __name__ == "__main__":
    PORT, SPECTATORS, FIRST, LAST = map(int, sys.argv[2:6])
    ADDRESSES = itertools.cycle(range(FIRST, LAST + 1))
    asyncio.run(KINDS[sys.argv[1]]())

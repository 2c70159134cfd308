"""The connections of spectators, and the lines that are sent to them."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from vestrock.admission import Admission
from vestrock.eventlog import encode
from vestrock.series import Event, described
from vestrock.sockets import Connection, set_up
from vestrock.tournament import Tournament

_log = logging.getLogger(__name__)

#: Seconds after which a spectator has to connect again.
_WATCH_SECONDS: Final = 3600.0
#: Maximum number of unsent lines of a spectator.
_BEHIND_LINES: Final = 1000


class Spectator(Connection):
    """A connection that gets the lines of the log; its input is read into a buffer and ignored."""

    def __init__(self, feed: "Feed", buffer: memoryview) -> None:
        super().__init__(buffer)
        self._feed = feed
        #: Sizes of the lines that may not have been sent yet, oldest first, and their sum.
        self._sizes: deque[int] = deque()
        self._size = 0
        self._out: list[bytes] = []
        #: Whether the state of the tournament is being prepared, and (`_started`) whether it was
        #: sent. Lines are sent only after it.
        self.shown = False
        self._started = False
        #: When it came.
        self.since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = self._connected(transport)
        transport.set_write_buffer_limits(high=2**30)  # dropped long before that
        set_up(transport)
        self.since = asyncio.get_running_loop().time()
        self._feed.join(self, self.prefix)

    def buffer_updated(self, nbytes: int) -> None:
        pass

    def eof_received(self) -> bool:
        return True  # the client may have closed only its output

    def connection_lost(self, error: Exception | None) -> None:
        self._feed.leave(self)

    def start(self, lines: bytes) -> None:
        """Send the state of the tournament, and the lines that were buffered meanwhile."""
        self._started = True
        if lines:
            self._out.insert(0, lines)
        self.flush()

    def add(self, lines: Iterable[bytes]) -> None:
        """Buffer lines."""
        self._out += lines

    def flush(self) -> None:
        """Send the lines; drop a spectator whose backlog is too large."""
        transport = self.transport
        if transport is None or transport.is_closing():
            self._out.clear()
            return
        if not self._started:
            if len(self._out) > 100 * _BEHIND_LINES:  # preparing the state takes too long
                transport.abort()
            return
        unsent = transport.get_write_buffer_size()
        while self._sizes and self._size - self._sizes[0] >= unsent:
            self._size -= self._sizes.popleft()
        if len(self._sizes) > _BEHIND_LINES:
            _log.info("a spectator is %d lines behind and dropped", len(self._sizes))
            transport.abort()
        elif self._out:
            data = b"".join(self._out)
            self._sizes.extend(map(len, self._out))
            self._size += len(data)
            self._out.clear()
            transport.write(data)
            self._progress.wrote(len(data))

    def close(self) -> None:
        """Close the connection."""
        if self.transport is not None:
            self.transport.close()


class Feed:
    """Sends the lines of the log to spectators.

    By default, lines are sent one turn late and with numbers instead of names, so that players
    gain nothing from them. A new spectator first gets the positions at the start of the turn.
    Positions and lines are encoded once per turn for all spectators, in a thread.

    Parameters
    ----------
    admission : Admission
        The places and allowances of spectators.
    open : bool
        Whether lines are sent at once and with names.
    """

    def __init__(self, admission: Admission, *, open: bool = False) -> None:
        self._admission = admission
        self._closed = False
        self._open = open
        self.spectators: set[Spectator] = set()
        self._numbers: dict[str, str] = {}
        #: The events of this turn.
        self._events: list[Event] = []
        #: The running tournament and its positions at the start of the turn.
        self._start: list[Event] = []
        self._states: list[tuple[int, Any]] = []
        self._turn = 0
        self._encoded: asyncio.Future[bytes] | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._flushing = False

    # ------------------------------------------------------------------------- what happens

    def add(self, event: Event) -> None:
        """Add an event."""
        if event["event"] == "server":  # the first line of a log is not for spectators
            return
        if event["event"] == "tournament":
            # The order of the names determines the matches, so the numbers keep that order.
            width = len(str(len(event["players"])))
            players = sorted(event["players"])
            self._numbers = {name: f"{i:0{width}}" for i, name in enumerate(players, 1)}
        if not self._open:
            event = numbered(event, self._numbers)
        self._events.append(event)
        if self._open and self.spectators:
            line = encode(event)
            for spectator in self._watching():
                spectator.add([line])
            if not self._flushing:
                self._flushing = True
                asyncio.get_running_loop().call_soon(self._flush)

    def turn_started(self, tournament: Tournament | None) -> None:
        """Release the events of the previous turn, now that all matches are in the next one."""
        self._release()
        self._encoded = None
        self._start, self._states = [], []
        if tournament is not None:
            event = described(tournament)
            self._start = [event if self._open else numbered(event, self._numbers)]
            self._states = [(id_, match.state.clone()) for id_, match in tournament.matches.items()]
            self._turn = tournament.turn

    def _release(self) -> None:
        events, self._events = self._events, []
        if self._open or not events or not self.spectators:
            return
        watching = self._watching()  # later spectators get these with the positions

        def send(lines: list[bytes]) -> None:
            for spectator in watching:
                spectator.add(lines)
                spectator.flush()

        self._beside(lambda: [*map(encode, events)], send)

    def _watching(self) -> list[Spectator]:
        """Return the spectators who have, or are about to get, the state of the tournament."""
        return [spectator for spectator in self.spectators if spectator.shown]

    def _beside(self, work: Any, then: Any) -> "asyncio.Future[Any]":
        """Run `work` in the only worker thread, then call `then` with its result in the loop."""
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1)
        future = asyncio.get_running_loop().run_in_executor(self._worker, work)
        future.add_done_callback(lambda done: done.cancelled() or then(done.result()))
        return future

    def _flush(self) -> None:
        self._flushing = False
        for spectator in list(self.spectators):
            spectator.flush()

    # -------------------------------------------------------------------- who comes and goes

    def join(self, spectator: Spectator, prefix: str) -> None:
        """Accept a spectator, or drop it if too many come from its prefix.

        If there are too many spectators, another one may lose its place instead.
        """
        if self._closed or not self._admission.watch(prefix):
            spectator.abort()
            return
        loser = self._admission.spectators.take(spectator, prefix)
        if loser is not None:
            loser.abort()
        if loser is spectator:
            return
        self.spectators.add(spectator)
        self._show(spectator)

    def expire(self, now: float) -> None:
        """Close the connections of spectators who have watched for long."""
        for spectator in list(self.spectators):
            if now - spectator.since > _WATCH_SECONDS:
                spectator.close()

    def _show(self, spectator: Spectator) -> None:
        """Send the state of the tournament."""
        if spectator not in self.spectators or self._closed:
            return
        spectator.shown = True
        if self._encoded is None:
            start, states, turn = self._start, self._states, self._turn
            self._encoded = self._beside(
                lambda: b"".join(map(encode, [*start, *_positions(states, turn)])), lambda _: None
            )
        done = list(self._events) if self._open else []
        self._encoded.add_done_callback(
            lambda base: base.cancelled() or self._begin(spectator, base.result(), done)
        )

    @staticmethod
    def _begin(spectator: Spectator, base: bytes, done: list[Event]) -> None:
        spectator.start(base + b"".join(map(encode, done)))

    def leave(self, spectator: Spectator) -> None:
        """Remove a spectator."""
        self.spectators.discard(spectator)
        self._admission.spectators.leave(spectator)

    async def close(self) -> None:
        """Send what is left and close all connections; nobody comes in from now on."""
        self._closed = True
        self._release()
        if self._worker is not None:
            # Wait for the work in progress, so that its lines are sent too.
            await asyncio.get_running_loop().run_in_executor(self._worker, lambda: None)
            self._worker.shutdown(wait=False)
        self._flush()
        for spectator in list(self.spectators):
            spectator.close()


def numbered(event: Event, numbers: Mapping[str, str]) -> Event:
    """Return an event with numbers in place of the players' names."""
    shown = dict(event)
    if "player" in shown:
        shown["player"] = numbers.get(shown["player"], "0")
    if "players" in shown:
        shown["players"] = [numbers.get(name, "0") for name in shown["players"]]
    if "matches" in shown:
        shown["matches"] = [
            [id_, *(numbers.get(name, "0") for name in names)] for id_, *names in shown["matches"]
        ]
    if "awards" in shown:
        shown["awards"] = {numbers.get(n, "0"): award for n, award in shown["awards"].items()}
    return shown


def _positions(states: Iterable[tuple[int, Any]], turn: int) -> Iterable[Event]:
    for id_, state in states:
        yield {"event": "position", "turn": turn, "match": id_, "state": state.snapshot()}

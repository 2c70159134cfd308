"""The server: connections, logins, and one clock for all matches.

The server runs in one asyncio loop. A command takes microseconds, so each one is executed without
interruption, and commands have an order. `vestrock.series` executes commands and ticks.
"""

import asyncio
import contextlib
import ipaddress
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Final, Unpack

from locmsim import __version__
from locmsim.gamekit import Option, OptionError, check_values, counted, documented
from vestrock.accounts import Accounts, FileAccounts, OpenAccounts
from vestrock.admission import Admission, PasswordQueue
from vestrock.clock import Schedule
from vestrock.deck import Card, generate_deck, load_deck
from vestrock.eventlog import FORMAT, EventLog
from vestrock.match import Match
from vestrock.options import Parameters, ParameterValues
from vestrock.protocol import Command, error_line
from vestrock.series import Series
from vestrock.session import Session
from vestrock.spectators import Feed, Spectator
from vestrock.standings import Standings, StandingsError
from vestrock.tournament import Result, Tournament

_log = logging.getLogger(__name__)

#: Maximum number of connections per player; one more closes the player's oldest connection.
_PER_PLAYER: Final = 4
#: Maximum number of connections; any further one is refused.
_CONNECTIONS: Final = 1024
#: Interval of checks of the connections, in seconds.
_CARE_SECONDS: Final = 1.0
#: Seconds for sending the last lines when the server closes.
_CLOSING_SECONDS: Final = 2.0


class ServerFailedError(RuntimeError):
    """The server had to stop; the message says why, and which tournaments are not written."""


@documented(Parameters)
class Server:
    """A server for tournaments of Vestrock.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        An argument is out of bounds, or a file of accounts or decks is wrong.
    OSError
        A file cannot be opened.
    StandingsError
        The file of standings cannot be used.
    """

    #: Seconds that a connection may take to log in.
    login_seconds = 10.0

    def __init__(
        self,
        *,
        host: Annotated[str, Option("address to listen on")] = "127.0.0.1",
        port: Annotated[int, Option("port to listen on; 0: any free one", 0, 65535)] = 0,
        spectator_port: Annotated[
            int | None,
            Option(
                "port that sends spectators the lines of the log; 0: any free one",
                0,
                65535,
                more="They get them one turn late and with numbers instead of names.",
            ),
        ] = None,
        open_spectators: Annotated[
            bool,
            Option(
                "send spectators the lines at once and with names",
                more="Players can then learn from them.",
            ),
        ] = False,
        accounts: Annotated[
            str | os.PathLike[str] | None,
            Option(
                "file of accounts, all of which take part in each tournament",
                kind="str or path",
                more="Without one, anybody on this machine may log in, and the first use of a name"
                " sets its password.",
            ),
        ] = None,
        turn_seconds: Annotated[
            float, Option("duration of a turn", 0.01, 3600.0, measured_in="seconds")
        ] = 1.0,
        early: Annotated[bool, Option("end a turn as soon as all players are in ``WAIT``")] = False,
        players: Annotated[
            int, Option("number of players that a tournament waits for", 2, 1000)
        ] = 2,
        break_turns: Annotated[
            int, Option("length of the break between tournaments, in turns", 0, 10**9)
        ] = 2,
        tournaments: Annotated[
            int | None, Option("number of tournaments, after which the server ends", 1, 10**9)
        ] = None,
        seed: Annotated[int, Option("seed of the decks: tournament k has that of seed N + k")] = 0,
        decks: Annotated[
            Sequence[str | os.PathLike[str]],
            Option(
                "files of decks to use instead, one after another and then from the start again",
                kind="sequence of path",
            ),
        ] = (),
        standings: Annotated[
            str | os.PathLike[str],
            Option("file of standings, created if missing", kind="str or path"),
        ] = ":memory:",
        log: Annotated[
            str | os.PathLike[str] | None,
            Option(
                "file that all events are appended to, one line of JSON each", kind="str or path"
            ),
        ] = None,
        log_refused: Annotated[bool, Option("log refused commands too")] = False,
        **parameters: Unpack[ParameterValues],
    ) -> None:
        check_values(
            Server,
            turn_seconds=turn_seconds,
            port=port,
            spectator_port=spectator_port,
            players=players,
            break_turns=break_turns,
            tournaments=tournaments,
            seed=seed,
        )
        if accounts is None and not _is_loopback(host):
            raise OptionError("accounts", f"expected a file, as {host} is open to other machines")
        self.host, self.port, self.spectator_port = host, port, spectator_port
        self.turn_seconds, self.early = turn_seconds, early
        self.accounts: Accounts = OpenAccounts() if accounts is None else FileAccounts(accounts)
        self._tournaments = tournaments
        self._decks: list[list[Card]] = [load_deck(path) for path in decks]
        self._seed = seed
        # Create a match so that wrong parameters fail here, not in the first tournament.
        Match(self._deck(1), **parameters)
        #: Buffer for the input of all connections. Each is read once per pass of the loop, so that
        #: no connection delays the others for long.
        self.buffer = memoryview(bytearray(16 * 1024))
        self._sessions: set[Session] = set()
        #: The connections of each player who is logged in, the oldest first.
        self._players: dict[str, dict[Session, None]] = {}
        self.admission = Admission(time.monotonic)
        self.passwords = PasswordQueue(self._check_password, self.admission)
        self._checker: ThreadPoolExecutor | None = None
        self.feed = Feed(self.admission, open=open_spectators)
        self._queue: list[Session] = []
        self._pumping = False
        self.closed = False
        #: Why the server had to stop, in whole sentences.
        self.failures: list[str] = []
        self._done: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._care: asyncio.TimerHandle | None = None
        self._servers: list[asyncio.Server] = []
        #: Statistics of the server: commands, turns, and the longest delay of a turn in seconds.
        self.commands = 0
        self.ticks = 0
        self.latest = 0.0
        with contextlib.ExitStack() as opened:
            self.standings = opened.enter_context(Standings(standings))
            self.events = EventLog(log)
            opened.callback(self.events.close)
            self._results = _Results(self.standings, self._standings_failed)
            self.series = Series(
                self._deck,
                self._results.add,
                self.events.add,
                number=self.standings.last + 1,
                parameters=parameters,
                players=players,
                break_turns=break_turns,
                tournaments=tournaments,
                refused=log_refused,
            )
            if spectator_port is not None:
                self.events.listeners.append(self.feed.add)
            opened.pop_all()

    def _deck(self, number: int) -> list[Card]:
        if self._decks:
            return self._decks[(number - 1) % len(self._decks)]
        return generate_deck(self._seed + number)

    # ------------------------------------------------------------------------- start and end

    async def start(self) -> None:
        """Listen and start the clock; ``OSError`` if a port is not available."""
        loop = asyncio.get_running_loop()
        self._done = loop.create_future()
        try:
            players = await loop.create_server(lambda: Session(self), self.host, self.port)
            self._servers.append(players)
            self.port = players.sockets[0].getsockname()[1]
            if self.spectator_port is not None:
                spectators = await loop.create_server(
                    lambda: Spectator(self.feed, self.buffer), self.host, self.spectator_port
                )
                self._servers.append(spectators)
                self.spectator_port = spectators.sockets[0].getsockname()[1]
        except BaseException:
            await self.close()
            raise
        self.events.add(
            {"event": "server", "game": "vestrock", "format": FORMAT, "version": __version__}
        )
        self._schedule = Schedule(loop.time(), self.turn_seconds)
        self._timer = loop.call_at(self._schedule.due, self._tick)
        self._care = loop.call_later(_CARE_SECONDS, self._look_after)

    async def run(self) -> None:
        """Serve until `stop` is called or the last tournament is over, then close.

        Raises
        ------
        ServerFailedError
            Log or standings could not be written, for example on a full disk.
        """
        try:
            if not self._servers:
                await self.start()
            assert self._done is not None
            await self._done
        finally:
            await self.close()
        if self.failures:
            raise ServerFailedError("; ".join(self.failures))

    def stop(self) -> None:
        """Stop `run`."""
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _standings_failed(self) -> None:
        """Stop: `close` tries again to write the standings, and then says what is missing."""
        _log.error("the server stops, since the standings cannot be written")
        self.stop()

    def _check_log(self, running: Tournament | None) -> None:
        """Stop if the log could not be written: what follows could not be replayed."""
        if self.events.failure is None or self.failures:
            return
        what = f": tournament {running.number} is not written whole" if running else ""
        self.failures.append(f"{self.events.failure}{what}")
        _log.error("the server stops, since the log cannot be written")
        self.stop()

    async def close(self) -> None:
        """Tell all connections that the server closes, and close log and standings.

        The running tournament does not count.
        """
        if self.closed:
            return
        self.closed = True
        for timer in (self._timer, self._care):
            if timer is not None:
                timer.cancel()
        for server in self._servers:
            server.close()
        running = self.series.tournament
        self.series.close()
        self.events.flush()
        for session in list(self._sessions):
            session.close(error_line(8))
        await self.feed.close()
        deadline = asyncio.get_running_loop().time() + _CLOSING_SECONDS
        while self._sessions or self.feed.spectators:
            if asyncio.get_running_loop().time() > deadline:
                for connection in self._connections():
                    connection.abort()
                deadline += _CLOSING_SECONDS
            await asyncio.sleep(0.01)
        for server in self._servers:
            await server.wait_closed()
        if self._checker is not None:
            self._checker.shutdown(wait=False, cancel_futures=True)
        self.events.close()
        self._check_log(running)
        try:
            self._results.close()
        except StandingsError as error:
            self.failures.append(str(error))

    # ------------------------------------------------------------------- connections come and go

    def connected(self, session: Session) -> int | None:
        """Register a new connection.

        Parameters
        ----------
        session : Session
            The connection.

        Returns
        -------
        int or None
            The code of an error if the connection must end.
        """
        if self.closed:
            return 8
        if len(self._sessions) >= _CONNECTIONS:
            return 7
        loser = self.admission.logins.take(session, session.prefix)
        if loser is session:
            return 7
        self._sessions.add(session)
        if loser is not None:
            loser.refuse(7)
        return None

    @property
    def connections(self) -> tuple[Session, ...]:
        """The connections that are open; `Session.player` is the name of who has logged in."""
        return tuple(self._sessions)

    def _connections(self) -> list[Session | Spectator]:
        return [*self._sessions, *self.feed.spectators]

    def _check_password(self, name: str, password: str, done: Callable[[bool], None]) -> None:
        """Check a password in a thread, so that the event loop goes on."""
        if self.closed:
            return
        if self._checker is None:
            self._checker = ThreadPoolExecutor(1)
        future = asyncio.get_running_loop().run_in_executor(
            self._checker, self.accounts.check, name, password
        )
        future.add_done_callback(
            lambda checked: done(
                not checked.cancelled() and checked.exception() is None and checked.result()
            )
        )

    def logged_in(self, session: Session, player: str) -> None:
        """Add a logged-in connection to its player's; close the oldest one if there are too many.

        Parameters
        ----------
        session : Session
            The connection.
        player : str
            The name of the player.
        """
        self.admission.logins.leave(session)
        self.admission.logged_in(session.prefix, player)
        sessions = self._players.setdefault(player, {})
        sessions[session] = None
        if len(sessions) > _PER_PLAYER:
            next(iter(sessions)).close(error_line(7))

    def lost(self, session: Session) -> None:
        """Note that a connection has ended.

        Parameters
        ----------
        session : Session
            The connection.
        """
        self._sessions.discard(session)
        self.admission.logins.leave(session)
        self.logged_out(session)
        self._check_early()

    def logged_out(self, session: Session) -> None:
        """Note that a connection no longer belongs to its player.

        Parameters
        ----------
        session : Session
            The connection.
        """
        sessions = self._players.get(session.player or "", {})
        sessions.pop(session, None)
        if session.player is not None and not sessions:
            self._players.pop(session.player, None)

    # ---------------------------------------------------------------------------- commands

    def ready(self, session: Session) -> None:
        """Note that a connection may have a line that can be executed.

        Parameters
        ----------
        session : Session
            The connection.
        """
        if session.queued or not session.can_step:
            return
        session.queued = True
        self._queue.append(session)
        self._pump_soon()

    def _pump_soon(self) -> None:
        if not self._pumping and not self.closed:
            self._pumping = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        """Execute one line of each connection that has one; others wait for the next pass."""
        self._pumping = False
        queue, self._queue = self._queue, []
        waits = False
        for session in queue:
            session.queued = False
            if not session.can_step:
                continue
            try:
                session.step()
                session.after_step()
            except Exception:
                # A bug in the server must not affect other connections.
                _log.exception("a connection of %s failed", session.player)
                session.close(error_line(5))
            waits = waits or session.waiting
            if session.can_step:
                session.queued = True
                self._queue.append(session)
        if self._queue:
            self._pump_soon()
        if waits:
            self._check_early()

    def count(self, player: str) -> None:
        """Count an empty line of a player as a command.

        Parameters
        ----------
        player : str
            The name of the player.
        """
        self.series.count(player)

    def execute(self, player: str, command: Command | int) -> list[str]:
        """Execute a command other than ``WAIT``.

        Parameters
        ----------
        player : str
            The name of the player.
        command : Command or int
            The command, or the code of the error that its line is answered with.

        Returns
        -------
        list of str
            The lines of the reply.
        """
        self.commands += 1
        return self.series.execute(player, command)

    # ------------------------------------------------------------------------------ clock

    def _present(self) -> list[str]:
        """Return the players who would take part in a tournament now."""
        names = self.accounts.names()
        return sorted(self._players) if names is None else names

    def _check_early(self) -> None:
        """End the turn if all players are waiting."""
        if not self.early or self.closed:
            return
        tournament = self.series.tournament
        players = self._present() if tournament is None else tournament.players
        if len(players) < self.series.players:
            return
        for player in players:
            sessions = self._players.get(player)
            if not sessions or not all(session.waiting for session in sessions):
                return
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._schedule.restart(loop.time())
        self._turn()
        self._timer = loop.call_at(self._schedule.due, self._tick)

    def _tick(self) -> None:
        """End the turn when its time is up."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self.latest = max(self.latest, now - self._schedule.due)
        if moved := self._schedule.tick(now):
            _log.warning("a tick was %.3f s late: the schedule is moved", moved)
        try:
            self._turn()
        finally:
            self._timer = loop.call_at(self._schedule.due, self._tick)

    def _turn(self) -> None:
        """Start the next turn in all matches, then answer the players' pending ``WAIT``."""
        self.ticks += 1
        finished, running = self.series.finished, self.series.tournament
        try:
            self.series.tick(self._present())
        except Exception:  # a bug in the server must not stop the clock
            _log.exception("a tick has failed")
        self.events.flush()
        self._check_log(running or self.series.tournament)
        if self.spectator_port is not None:
            self.feed.turn_started(self.series.tournament)
        for sessions in list(self._players.values()):
            for session in list(sessions):
                if session.waiting:
                    session.turn_started()
                    self.ready(session)
        if self.series.finished > finished:
            _log.info(
                "finished %s: %s in %s, which began at most %.1f ms late",
                counted(self.series.finished, "tournament"),
                counted(self.commands, "command"),
                counted(self.ticks, "turn"),
                1000 * self.latest,
            )
            if self.series.finished == self._tournaments:
                self.stop()

    def _look_after(self) -> None:
        """Drop connections that receive nothing although bytes are waiting for them."""
        loop = asyncio.get_running_loop()
        self.admission.tidy()
        self.feed.expire(loop.time())
        for connection in self._connections():
            if connection.stuck(loop.time()):
                connection.abort()
        self._care = loop.call_later(_CARE_SECONDS, self._look_after)


class _Results:
    """A sink that writes standings in a thread, so that the server's loop is not delayed.

    It calls `failed` in the loop if the standings cannot be written.
    """

    def __init__(self, standings: Standings, failed: Callable[[], object]) -> None:
        self._standings = standings
        self._failed = failed
        self._writer = ThreadPoolExecutor(1)

    def add(
        self, tournament: int, results: Iterable[Result], awards: Mapping[str, float]
    ) -> object:
        """Store a finished tournament."""
        loop, finished = asyncio.get_running_loop(), list(results)

        def write() -> None:
            self._standings.add(tournament, finished, awards)
            if self._standings.failed:
                loop.call_soon_threadsafe(self._failed)

        return self._writer.submit(write)

    def close(self) -> None:
        """Wait until everything is written; `StandingsError` if that fails."""
        self._writer.shutdown()
        self._standings.close()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

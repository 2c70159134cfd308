"""Event logs of a server, with one JSON object per line, and functions that replay them."""

import contextlib
import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from locmsim.contract import LoggedTurn
from locmsim.gamekit import try_lock
from vestrock._core import State
from vestrock.deck import parse_deck
from vestrock.match import Match
from vestrock.pictures import match_view
from vestrock.series import Event
from vestrock.tournament import Tournament, state_hash

#: The version of the format, which a server writes in the first line of its log.
FORMAT: Final = 1

_encode = json.JSONEncoder(separators=(",", ":")).encode


def encode(event: Event) -> bytes:
    """Return an event as its line in the log."""
    return _encode(event).encode() + b"\n"


class EventLog:
    """Writes events to a file and passes them on to listeners.

    Parameters
    ----------
    path : str or path, optional
        File to append to.

    Attributes
    ----------
    failure : str or None
        Why the log could not be written, after which nothing more is.

    Raises
    ------
    OSError
        The file cannot be opened, or another server writes to it.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        #: Functions that are called with every event.
        self.listeners: list[Callable[[Event], object]] = []
        self.failure: str | None = None
        self._file: IO[bytes] | None = None
        if path is not None:
            self._file = open(path, "ab")  # noqa: SIM115 - closed by `close`
            if not _locked(self._file.fileno()):
                self._file.close()
                raise BlockingIOError(errno.EWOULDBLOCK, "another server writes to it", path)
            if _is_cut(path):
                # A server that was killed left an incomplete line: end it.
                self._try(self._file.write, b"\n")

    def add(self, event: Event) -> None:
        """Write an event and pass it on."""
        if self._file is not None:
            self._try(self._file.write, encode(event))
        for listener in self.listeners:
            listener(event)

    def flush(self) -> None:
        """Pass the buffered lines on to the operating system."""
        if self._file is not None:
            self._try(self._file.flush)

    def _try(self, do: Callable[..., object], *arguments: object) -> None:
        """Call a function; if it fails, write nothing more: a log with a gap has no use."""
        try:
            do(*arguments)
        except OSError as error:
            if self._file is not None:
                self.failure = f"{self._file.name}: {error.strerror or error}"
                with contextlib.suppress(OSError):  # closing tries once more to write
                    self._file.close()
            self._file = None

    def close(self) -> None:
        """Close the file."""
        self.flush()
        if self._file is not None:
            self._file.close()
            self._file = None


def _locked(descriptor: int) -> bool:
    """Lock a file, unless it is a device or a pipe; return False if another server has done so."""
    return not stat.S_ISREG(os.fstat(descriptor).st_mode) or try_lock(descriptor)


def _is_cut(path: str | os.PathLike[str]) -> bool:
    """Return whether the last line of a file lacks a line end."""
    try:
        with open(path, "rb") as file:
            if not file.seek(0, os.SEEK_END):
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:  # the file can be written but not read, or is not a regular file
        return False


# ----------------------------------------------------------------------------------------- replay


class ReplayError(ValueError):
    """A log is damaged or does not agree with its replay; the message names the line."""


def match_steps(lines: Iterable[bytes], number: int) -> Iterator[LoggedTurn]:
    """Yield a match of a log turn by turn, up to the last turn that is complete.

    Parameters
    ----------
    lines : iterable of bytes
        A log, starting with the line of the tournament.
    number : int
        The id of the match.

    Yields
    ------
    LoggedTurn
        Its answer is the commands of the turn. The actions of the unfinished turn of a running
        tournament are left out, so that spectators are one turn late.

    Raises
    ------
    ReplayError
        The tournament has no such match, or the log does not fit it.
    """
    match: Match | None = None
    done: list[Event] = []
    for line, event in read_events(lines):
        try:
            kind = event["event"]
            if match is None:
                seats = {id_: names for id_, *names in event["matches"]}
                if number not in seats:
                    raise ReplayError(f"the tournament has no match {number}")
                deck = parse_deck("\n".join(event["deck"]))
                match = Match(deck, players=seats[number], match_id=number, **event["parameters"])
                yield LoggedTurn(match_view(match))
            elif kind in ("tournament", "awards", "cut", "server"):
                return
            elif kind == "action" and event["match"] == number:
                done.append(event)
            elif kind == "end_turn":
                yield _turn_step(match, done)
                done = []
            if match.is_over:
                return
        except ReplayError as error:
            raise ReplayError(f"line {line}: {error}") from None
        except (KeyError, TypeError, ValueError) as error:
            raise ReplayError(f"line {line}: a damaged event: {error!r}") from None


def _turn_step(match: Match, done: Iterable[Event]) -> LoggedTurn:
    """Do the actions of a turn, end it, and return the step that shows them."""
    player, turn = match.state.mover, match.turn
    commands = []
    for event in done:
        _again(match, event)
        commands.append(event["command"])
    match.end_turn()
    return LoggedTurn(match_view(match), turn, player, ";".join(commands))


def _again(match: Match, event: Event) -> list[str]:
    """Do a command of the log again and return the reply."""
    word, *arguments = event["command"].split(" ")
    return match.command(event["player"], " ".join([word, str(match.match_id), *arguments]))


@dataclass
class Replayed:
    """Counts of what a replay has checked."""

    #: Complete tournaments.
    tournaments: int = 0
    #: Tournaments that were cut short.
    cut: int = 0
    #: Matches whose scores and final states agree with the log.
    matches: int = 0
    actions: int = 0


def read_events(lines: Iterable[bytes]) -> Iterator[tuple[int, Event]]:
    """Yield the events of a log with their line numbers.

    A server that was killed may leave an incomplete line, at the end of the log or before the
    first line of the next server. Such a line is skipped.

    Raises
    ------
    ReplayError
        A line is not an event.
    """
    cut = 0
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            break
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        is_event = isinstance(event, dict) and isinstance(event.get("event"), str)
        if cut and not (is_event and event["event"] == "server"):
            raise ReplayError(f"line {cut}: no event")
        cut = 0 if is_event else number
        if is_event:
            yield number, event
    if cut:
        raise ReplayError(f"line {cut}: no event")


def replay(lines: Iterable[bytes]) -> Replayed:
    """Replay all matches of a log and compare scores, final states and awards.

    Parameters
    ----------
    lines : iterable of bytes
        A log, such as an open file.

    Returns
    -------
    Replayed
        Counts of what was checked.

    Raises
    ------
    ReplayError
        A line does not agree with the replayed matches, or is not an event; the message names it.
    """
    player = _Replayer()
    for number, event in read_events(lines):
        step = getattr(player, f"on_{event['event']}", None)
        if step is None:
            raise ReplayError(f"line {number}: unknown event {event['event']!r}")
        try:
            step(event)
        except ReplayError as error:
            raise ReplayError(f"line {number}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ReplayError(f"line {number}: a damaged event: {error!r}") from None
    return player.done


class _Replayer:
    """Replays events; it has one method for each kind of event."""

    def __init__(self) -> None:
        self.done = Replayed()
        self.tournament: Tournament | None = None

    @property
    def running(self) -> Tournament:
        if self.tournament is None:
            raise ReplayError("no tournament is running")
        return self.tournament

    def on_server(self, event: Event) -> None:
        if event["format"] != FORMAT:
            raise ReplayError(f"format {event['format']}, this program knows {FORMAT}")
        self._drop()  # a tournament still runs only if the previous server was killed

    def on_tournament(self, event: Event) -> None:
        self._drop()
        deck = parse_deck("\n".join(event["deck"]))
        matches = event["matches"]
        self.tournament = Tournament(
            event["tournament"],
            deck,
            event["players"],
            event["parameters"],
            first_id=matches[0][0],
        )
        seats = [[id_, *match.players] for id_, match in self.tournament.matches.items()]
        _same("matches", seats, matches)

    def on_position(self, event: Event) -> None:
        # The lines for a spectator who joins during a tournament begin with these events.
        match = self.running.matches[event["match"]]
        match.state = State.from_snapshot(event["state"], self.running.table)
        self.running.turn = event["turn"]

    def on_action(self, event: Event) -> None:
        tournament = self.running
        _same("turn", tournament.turn, event["turn"])
        match = tournament.matches[event["match"]]
        was_over = match.scores is not None
        reply = _again(match, event)
        if reply[0] != "OK" and (was_over or match.scores is None):
            raise ReplayError(f"{event['command']} was accepted, now {reply[0]}")
        self.done.actions += 1

    def on_refused(self, event: Event) -> None:
        reply = _again(self.running.matches[event["match"]], event)
        _same("error", int(reply[0].split(" ")[1]) if reply[0] != "OK" else 0, event["error"])

    def on_end_turn(self, event: Event) -> None:
        _same("turn", self.running.turn, event["turn"])
        self.running.end_turn()

    def on_result(self, event: Event) -> None:
        result = self.running.results.get(event["match"])
        if result is None:
            raise ReplayError(f"match {event['match']} is not over")
        _same("players", list(result.players), event["players"])
        _same("scores", list(result.scores), event["scores"])
        _same("state", state_hash(self.running.matches[result.match]), event["state"])
        self.done.matches += 1

    def on_awards(self, event: Event) -> None:
        _same("awards", self.running.awards(), event["awards"])
        self.done.tournaments += 1
        self.tournament = None

    def on_cut(self, event: Event) -> None:
        _same("tournament", self.running.number, event["tournament"])
        self._drop()

    def _drop(self) -> None:
        self.done.cut += self.tournament is not None
        self.tournament = None


def _same(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise ReplayError(f"{what}: {found!r}, the log has {expected!r}")

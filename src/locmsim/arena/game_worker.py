"""The games of a tournament, as played in a worker process."""

import contextlib
import copy
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from locmsim.arena.fixtures import Fixture, Task
from locmsim.arena.records import Record, record_of
from locmsim.arena.registry import game_to_json
from locmsim.contract import LIVE_SUFFIX, Contestant, Match, Part
from locmsim.errors import ENDINGS, shown
from locmsim.processes.workers import in_worker, seat_cores
from locmsim.referee.agent_process import IsolatedAgent, created, ready
from locmsim.referee.live import LiveLog
from locmsim.referee.players import KeptAgents, Seat
from locmsim.referee.process import BotFault
from locmsim.referee.process_match import Call, Result, play, replay_calls
from locmsim.support.files import numbered
from locmsim.support.plugins import class_modules, taken_module

if TYPE_CHECKING:
    from locmsim.arena.schedule import Settings

#: The index of who chooses the cards of all players or plays for them.
_SHARED = -1


class _Agents(threading.local):
    """The agents of this thread's last run of a tournament, by player and seat.

    They are separate by seat because an agent may play against itself, and are reused because a
    task has only a few games. The workers of a cluster outlive a run, so that runs are told apart.
    """

    def __init__(self) -> None:
        self.run = ""
        self.agents: dict[tuple[int, int], Contestant] = {}
        #: The processes of agents that cannot share this one.
        self.kept = KeptAgents()

    def begin(self, run: str) -> None:
        """Forget the agents of any other run."""
        if not run or run != self.run:
            self.kept.end()
            self.run, self.agents = run, {}

    def get(self, task: Task, who: Seat, key: tuple[int, int]) -> Contestant:
        if key not in self.agents:
            self.agents[key] = _copy_of(who, task).make()
        return self.agents[key]


def _copy_of(who: Seat, task: Task) -> Seat:
    """Return a seat with a copy of its agent, or with the same if it has no copies."""
    if who.agent is None or isinstance(who.agent, type):
        return who
    try:
        return replace(who, agent=copy.deepcopy(who.agent))
    except ENDINGS:
        raise
    except BaseException as error:
        names = [one.name for one in task.players.values() if one.agent is who.agent]
        if len(names) == 1 and threading.current_thread() is threading.main_thread():
            return who
        raise ValueError(f"player {names[0]!r} cannot be copied: {shown(error)}") from error


_agents = _Agents()


def forget_agents() -> None:
    """Release the agents that this thread keeps for the next task."""
    _agents.kept.end()
    _agents.__init__()  # type: ignore[misc]


#: What is stored with a game whose first try ended the worker process.
DIED = (
    "locmsim: a worker process died in this game; it was played again, with each agent that is not"
    " part of the package in a process of its own\n"
)


def play_games(
    task: Task,
    live: str = "",
    *,
    run: str = "",
    again: bool = False,
    isolate: bool = False,
    apart: bool = False,
) -> list[Record]:
    """Play the games of a task.

    Agents are kept for other tasks of the same `run`, if it has a name. If the folder `live`
    exists, each game can be watched there (`locmsim.referee.live`). With `apart`, agents of others
    play in processes of their own, and with `again` too: a worker died in the games before. With
    `isolate`, all agents do.
    A bot or agent that fails loses its game, even if only this process cannot make the agent.
    ``OSError`` concerns this machine, ``ValueError`` the description of an agent of the package.
    """
    _agents.begin(run)
    seats = _Seats(task, isolate, apart or again)
    records = []
    with contextlib.redirect_stdout(sys.stderr):  # output of agents must not mix with results
        for fixture in task.fixtures:
            match = new_match(task, fixture)
            with _watched(live, task, fixture, match) as on_call:
                result = play(
                    [seats.contestant(fixture, seat, match) for seat in (0, 1)],
                    match,
                    timeout_scale=task.timeout_scale,
                    match_limit=task.match_limit,
                    clock=task.clock,
                    memory_limit=task.memory_limit,
                    lenient=task.lenient,
                    on_call=on_call,
                    expendable=seats.expendable,
                    cores=seat_cores() or ((), ()),
                    choosers=seats.choosers(fixture),
                )
            if result.fault is not None:
                _agents.kept.end()
            if again and any(not task.players[index].process for index in fixture.players):
                first, second = result.stderr
                result = replace(result, stderr=(first + DIED, second + DIED))
            records.append(record_of(fixture, result))
    return records


def name_of(settings: "Settings", numbers: Sequence[int]) -> str:
    """Return what games are called in messages, a single one with its players and its seed."""
    name = numbered("game", numbers)
    if len(numbers) > 1:
        return name
    fixture = settings.fixture(numbers[0])
    first, second = (settings.players[index].name for index in fixture.players)
    return f"{name} ({first} against {second}, seed {fixture.seed})"


class _Seats:
    """Who plays the seats of games: programs, agents of this process, agents in their own."""

    def __init__(self, task: Task, isolate: bool, apart: bool) -> None:
        self._task = task
        self._isolate = isolate
        self._seats = seats_of(task)
        self._apart = apart
        foreign = [one for one in self._seats.values() if one.foreign]
        self._one_name = not apart and _share_names(foreign)
        #: A worker is replaced when it ends, and the game is played again.
        self.expendable = in_worker() and bool(foreign)

    def contestant(self, fixture: Fixture, seat: int, match: Match) -> Any:
        """Return the player of a seat."""
        index = fixture.players[seat]
        return self._player(index, seat, fixture.agent_seed(seat), match)

    def choosers(self, fixture: Fixture) -> dict[int, Any]:
        """Return who chooses the cards of programs, by seat."""
        return {
            seat: self._player(_SHARED, seat, fixture.agent_seed(seat))
            for seat, index in enumerate(fixture.players)
            if self._task.decks and self._seats[index].process
        }

    def _player(self, index: int, seat: int, seed: int, match: Match | None = None) -> Any:
        who, one_name = self._seats[index], self._one_name and not self._isolate
        apart = self._apart or self._one_name
        found = who.outside(seed, isolate=self._isolate, apart=apart, known=True)
        if found is None:
            return self._ready(
                partial(_agents.get, self._task, who, (index, seat)), seed, who.foreign
            )
        if isinstance(found, IsolatedAgent) and one_name and match is not None:
            cores = (seat_cores() or ((), ()))[seat]
            return _agents.kept.process((index, seat), found, match, cores)
        return found

    def _ready(self, make: Callable[[], Contestant], seed: int, foreign: bool) -> Any:
        """Return an agent of this process, or the fault of one of others that cannot play."""
        agent = created(make, expendable=self.expendable) if foreign else make()
        if isinstance(agent, BotFault):
            return agent
        return ready(agent, seed, expendable=self.expendable)


def seats_of(task: "Task | Settings") -> dict[int, Seat]:
    """Return the players as seats by index, and who chooses their cards or plays for them."""
    game, decks, pilot = task.game, task.decks, task.pilot
    players = task.players
    seats = {
        index: Seat(one.spec, game, process=True)
        if one.process
        else Seat(one.spec, game, agent=one.agent, decks=decks, pilot=pilot)
        for index, one in (players.items() if isinstance(players, Mapping) else enumerate(players))
    }
    if decks or pilot:
        seats[_SHARED] = Seat(decks or pilot, game)
    return seats


def _share_names(seats: Sequence[Seat]) -> bool:
    """Return whether agents of files need processes of their own: modules have one name."""
    places: dict[str, str] = {}
    for one in seats:
        modules = class_modules(one.text, "locmsim.agents")
        if taken_module(modules) or any(places.get(k, v) != v for k, v in modules.items()):
            return True
        places |= modules
    return False


@contextlib.contextmanager
def _watched(
    live: str, task: Task, fixture: Fixture, match: Any
) -> Iterator[Callable[[Call], object]]:
    """Return a callback for each answer, by which the match can be watched."""
    if not (live and os.path.isdir(live)):
        yield lambda call: None
        return
    players = [task.players[index] for index in fixture.players]
    names, specs = [one.name for one in players], [one.spec for one in players]
    begun = None
    if Part.REPLAY not in task.game.parts:
        seeds = {"seed": fixture.seed, "card_seed": fixture.card_seed}
        begun = {"game": game_to_json(task.game), **seeds}
    path = os.path.join(live, f"{fixture.number}{LIVE_SUFFIX}")
    with LiveLog(path, match, names, begun, specs) as log:
        yield log.add


def replayed(settings: "Settings", record: Record) -> Result[Any]:
    """Replay a stored game and return its result, with everything sent to the players.

    ``ValueError`` if the answers do not lead to the stored result.
    """
    outcome = record.outcome
    result = replay_calls(
        new_match(settings, record.fixture),
        record.answers,
        fault=outcome.fault,
        timeout_scale=settings.timeout_scale,
        clock=settings.clock,
        stderr=record.stderr,
    )
    if (result.scores, result.turns) != (outcome.scores, outcome.turns):
        raise ValueError(
            f"game {outcome.number}: ended {outcome.scores} after {outcome.turns} turns,"
            f" and {result.scores} after {result.turns} when replayed"
        )
    return replace(result, decks=settings.decks)


def new_match(settings: "Task | Settings", fixture: Fixture) -> Match:
    """Return the match of a game before its first answer."""
    return settings.game.new_match(fixture.seed, fixture.card_seed)

"""The games of a tournament, as played in a worker process."""

import contextlib
import copy
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import compress
from typing import TYPE_CHECKING, Any, cast

from locmsim._io import numbered
from locmsim._plugins import class_modules, taken_module
from locmsim._specs import make
from locmsim.arena.fixtures import Fixture, Player, Task
from locmsim.arena.records import Record, record_of
from locmsim.arena.registry import game_to_json
from locmsim.contract import LIVE_SUFFIX, Contestant, Game, Match, Part
from locmsim.errors import ENDINGS, shown
from locmsim.referee.agent_process import (
    AgentProcess,
    IsolatedAgent,
    created,
    is_foreign,
    ready,
)
from locmsim.referee.live import LiveLog
from locmsim.referee.players import is_foreign_text
from locmsim.referee.process import BotFault
from locmsim.referee.process_match import Call, Result, play, replay_calls
from locmsim.supervisor import Supervisor
from locmsim.workers import in_worker, seat_cores

if TYPE_CHECKING:
    from locmsim.arena.schedule import Settings

__all__ = [
    "DIED",
    "forget_agents",
    "is_foreign_player",
    "name_of",
    "new_match",
    "play_games",
    "replayed",
    "shared_players",
]


class _Agents(threading.local):
    """The agents of this thread's last run of a tournament, by player and seat.

    They are separate by seat because an agent may play against itself, and are reused because a
    task has only a few games. The workers of a cluster outlive a run, so that runs are told apart.
    """

    def __init__(self) -> None:
        self.run = ""
        self.agents: dict[tuple[int, int], Contestant] = {}
        #: The processes of agents that cannot share this one.
        self.processes: dict[tuple[int, int], AgentProcess] = {}
        self.supervisor = Supervisor()

    def begin(self, run: str) -> None:
        """Forget the agents of any other run."""
        if not run or run != self.run:
            self.end_processes()
            self.run, self.agents = run, {}

    def end_processes(self) -> None:
        """End the processes of agents; others are started when they are needed."""
        self.supervisor.end()
        self.processes, self.supervisor = {}, Supervisor()

    def process(self, key: tuple[int, int], isolated: IsolatedAgent, match: Match) -> Any:
        """Return the process of an agent, who is to play a match, or the fault that it had."""
        if key in self.processes:
            self.processes[key].renew(match, isolated.seed)
            return self.processes[key]
        cores = (seat_cores() or ((), ()))[key[1]]
        try:
            self.processes[key] = AgentProcess(isolated, match, self.supervisor, cores=cores)
        except BotFault as fault:
            return fault
        return self.processes[key]

    def get(self, task: Task, index: int, seat: int) -> Contestant:
        key = index, seat
        if key not in self.agents:
            player = task.players[index]
            if player.agent is None or isinstance(player.agent, type):
                agent = _new_agent(task.game, player)
            else:
                agent = _copy_of(player, task)
            self.agents[key] = _combined(task.game, agent, task.decks, task.pilot)
        return self.agents[key]

    def decks(self, task: Task, seat: int) -> Contestant:
        """Return the agent who chooses the cards of a program in a seat."""
        key = -1, seat
        if key not in self.agents:
            self.agents[key] = task.game.make_agent(task.decks)
        return self.agents[key]


def _copy_of(player: Player, task: Task) -> Contestant:
    """Return a copy of an agent, or the agent itself if it is not shared or has no copies."""
    agent: Contestant = player.agent
    try:
        return copy.deepcopy(agent)
    except ENDINGS:
        raise
    except BaseException as error:
        alone = sum(other.agent is agent for other in task.players.values()) == 1
        if alone and threading.current_thread() is threading.main_thread():
            return agent
        raise ValueError(f"player {player.name!r} cannot be copied: {shown(error)}") from error


_agents = _Agents()


def forget_agents() -> None:
    """Release the agents that this thread keeps for the next task."""
    _agents.end_processes()
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
                    lenient=task.lenient,
                    on_call=on_call,
                    expendable=seats.expendable,
                    cores=seat_cores() or ((), ()),
                    choosers=seats.choosers(fixture),
                )
            if result.fault is not None:
                _agents.end_processes()
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
        game = task.game
        #: Whether code of others chooses the cards or plays for all players.
        self._shared = any(is_foreign_player(one, game) for one in shared_players(task))
        self._foreign = {
            index: self._shared or is_foreign_player(one, game)
            for index, one in task.players.items()
        }
        self._apart = apart
        self._one_name = not apart and self._share_names()
        #: A worker is replaced when it ends, and the game is played again.
        self.expendable = in_worker() and any(self._foreign.values())

    def _share_names(self) -> bool:
        """Return whether agents of files need processes of their own: modules have one name."""
        players = [*compress(self._task.players.values(), self._foreign.values())]
        places: dict[str, str] = {}
        for player in players + shared_players(self._task) * self._shared:
            modules = class_modules(player.spec, "locmsim.agents")
            if taken_module(modules) or any(places.get(k, v) != v for k, v in modules.items()):
                return True
            places |= modules
        return False

    def contestant(self, fixture: Fixture, seat: int, match: Match) -> Any:
        """Return the player of a seat."""
        task, index = self._task, fixture.players[seat]
        player, foreign = task.players[index], self._foreign[index]
        if player.process:
            return player.spec
        seed = fixture.agent_seed(seat)
        if self._isolate and player.agent is None and not (task.decks or task.pilot):
            command = task.game.command_of(player.spec, seed)
            if command is not None:
                return command
        if self._isolate or ((self._apart or self._one_name) and foreign):
            make = partial(_new_contestant, task.game, player, task.decks, task.pilot)
            isolated = IsolatedAgent(make, seed, known=foreign)
            kept = self._one_name and not self._isolate
            return _agents.process((index, seat), isolated, match) if kept else isolated
        return self._ready(partial(_agents.get, task, index, seat), seed, foreign)

    def choosers(self, fixture: Fixture) -> dict[int, Any]:
        """Return who chooses the cards of programs, by seat."""
        task = self._task
        found: dict[int, Any] = {}
        for seat, index in enumerate(fixture.players):
            if not (task.decks and task.players[index].process):
                continue
            seed = fixture.agent_seed(seat)
            if self._isolate or ((self._apart or self._one_name) and self._shared):
                make = partial(task.game.make_agent, task.decks)
                found[seat] = IsolatedAgent(make, seed, known=self._shared)
            else:
                make = partial(_agents.decks, task, seat)
                found[seat] = self._ready(make, seed, self._shared)
        return found

    def _ready(self, make: Callable[[], Contestant], seed: int, foreign: bool) -> Any:
        """Return an agent of this process, or the fault of one of others that cannot play."""
        agent = created(make, expendable=self.expendable) if foreign else make()
        if isinstance(agent, BotFault):
            return agent
        return ready(agent, seed, expendable=self.expendable)


def shared_players(settings: "Task | Settings") -> list[Player]:
    """Return the agents who choose the cards or play for all players, as players."""
    return [Player(spec, spec, False) for spec in (settings.decks, settings.pilot) if spec]


def is_foreign_player(player: Player, game: Game) -> bool:
    """Return whether a player is an agent with code that is not part of the library or the game."""
    if player.process:
        return False
    agent = player.agent
    if agent is None:
        if is_foreign_text(player.spec, game):
            return True
        kind = _kind_of(cast(Hashable, game), player.spec)
    else:
        kind = agent if isinstance(agent, type) else type(agent)
    return is_foreign(kind, player.spec, game)


@lru_cache(maxsize=256)
def _kind_of(game: Any, spec: str) -> type:
    """Return the class of an agent; every task of a worker asks, and making one may take long."""
    return type(game.make_agent(spec))


def _new_agent(game: Game, player: Player) -> Contestant:
    """Return a new agent of a player."""
    if player.agent is None:
        return game.make_agent(player.spec)
    if isinstance(player.agent, type):
        agent: Contestant = make(f"player {player.name!r}", player.agent, {})
        return agent
    return cast(Contestant, player.agent)


def _new_contestant(game: Game, player: Player, decks: str, pilot: str) -> Contestant:
    """Return a new agent of a player, combined as by `_combined`."""
    return _combined(game, _new_agent(game, player), decks, pilot)


def _combined(game: Any, agent: Contestant, decks: str, pilot: str) -> Contestant:
    """Return a player's agent with the cards of `decks`, or `pilot` with the player's cards."""
    if not (decks or pilot):
        return agent
    other = game.make_agent(decks or pilot)
    both: Contestant = game.combined(*((other, agent) if decks else (agent, other)))
    return both


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

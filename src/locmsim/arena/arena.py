"""Many matches between players: pairing, seats, seeds, statistics, executors and storage.

    >>> from locmsim.arena import Arena
    >>> with Arena(["greedy", "random"], games=10, seed=1) as arena:
    ...     arena.run(jobs=1)
    ...     print(arena.tally.games, arena.tally.players[0].wins)
    10 [5, 5]

An `Arena` is a tournament and the file that its results are in; `Arena.run` plays what is missing.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from locmsim.agents import AGENTS, make_agent
from locmsim.arena import report
from locmsim.arena.cluster import dask_workers
from locmsim.arena.playing import replay
from locmsim.arena.records import Answer, Outcome, Record, Times
from locmsim.arena.runner import ArenaError, play_missing
from locmsim.arena.schedule import (
    MODES,
    Game,
    Player,
    Settings,
    parse_seeds,
    random_seed,
    unique_names,
)
from locmsim.arena.store import Goal, NoResultsError, Store, StoreError
from locmsim.arena.tally import PlayerTally, Tally
from locmsim.referee.play import Result
from locmsim.stats import Sprt
from locmsim.workers import CorePool, Workers, available_cores, local_workers

__all__ = [
    "MODES",
    "Answer",
    "Arena",
    "ArenaError",
    "CorePool",
    "Game",
    "Goal",
    "Outcome",
    "Player",
    "PlayerTally",
    "Record",
    "Settings",
    "Sprt",
    "StoreError",
    "Tally",
    "Times",
    "available_cores",
    "parse_player",
    "parse_seeds",
]

#: Games of each pairing, if nobody says how many.
DEFAULT_GAMES = 200

_LABEL = re.compile(r"([A-Za-z0-9_.+-]+)=(.*)", re.DOTALL)


class Arena:
    """A tournament with its results; a context manager.

    `players` are descriptions for `parse_player`, or `Player` objects. `db` names an SQLite file;
    without one the results are kept in memory. If the file has results already, what is not given
    here is taken from it, and what is given must agree with it, except that `games` (for each
    pairing; default 200, or all `seeds`) and `sprt` may change. `settings` are the other fields of
    `Settings`.

    ``ValueError`` for arguments that make no sense, `StoreError` for files.
    """

    def __init__(
        self,
        players: Sequence[str | Player] | None = None,
        *,
        db: str | os.PathLike[str] = ":memory:",
        games: int | None = None,
        sprt: Sprt | None = None,
        **settings: Any,
    ) -> None:
        if players is not None:
            settings["players"] = _players(players)
        before = None
        try:
            with Store(db) as store:
                settings = {**store.settings.fields(), **settings}
                before = store.goal
        except NoResultsError:
            if players is None:
                raise ValueError("players: expected at least two") from None
            settings.setdefault("seed", random_seed())
        self._store = Store(db, Settings(**settings))
        try:
            self._set_goal(games, sprt, before)
        except BaseException:
            self.close()
            raise
        self.tally = self._counted()

    def _set_goal(self, games: int | None, sprt: Sprt | None, before: Goal | None) -> None:
        count = before.games if before else None
        if games is not None or count is None:
            if games is None and self.settings.seeds is None:
                games = DEFAULT_GAMES
            count = self.settings.count(games)
        if sprt is None and before is not None:
            sprt = before.sprt
        if sprt is not None and len(self.settings.players) > 2:
            raise ValueError("sprt: it is for two players")
        self.goal = Goal(count, sprt)
        if self.goal != before:
            self._store.set_goal(self.goal)

    def _counted(self) -> Tally:
        tally = Tally(self.settings, self.goal.sprt)
        for outcome in self._store.outcomes():
            tally.add(outcome)
        return tally

    @classmethod
    def load(cls, db: str | os.PathLike[str]) -> "Arena":
        """The results in a file, to look at; also while they are played. `StoreError`."""
        arena = cls.__new__(cls)
        arena._store = Store(db)
        arena.goal = arena._store.goal or Goal(0, None)
        arena.tally = arena._counted()
        return arena

    @property
    def settings(self) -> Settings:
        """Which games there are and how they are played."""
        return self._store.settings

    def run(
        self,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        slots: int | None = None,
        dask: str | None = None,
        on_games: Callable[[int], None] = lambda games: None,
    ) -> None:
        """Play the games that are missing, or until the sequential test has decided.

        They are played in `jobs` processes of this machine (default: one for each core; with 1 in
        this process), on the Dask cluster whose scheduler has the address `dask`, or on any
        `executor`, which gets `slots` tasks at a time (default: twice the number of cores). Games
        with time limits, and those of agents that have a ``time_ms``, get a core each:
        ``ValueError`` for more jobs than that, or for a cluster whose workers have several threads.
        `on_games` is told of games as they come in.

        `ArenaError` or `StoreError` if it cannot go on; then, as after a ``KeyboardInterrupt``, all
        games that came in are stored and another call goes on with the rest.
        """
        with self._workers(jobs, executor, slots, dask) as workers:
            play_missing(self._store, self.tally, self.goal.games, workers, on_games)

    def _workers(
        self, jobs: int | None, executor: Executor | None, slots: int | None, dask: str | None
    ) -> AbstractContextManager[Workers]:
        if sum(option is not None for option in (jobs, executor, dask)) > 1:
            raise ValueError("expected one of jobs, executor and dask")
        if dask is not None:
            return dask_workers(dask, one_thread=self._timed)
        cores = available_cores()
        if executor is not None:
            count = slots or 2 * len(cores)
            return nullcontext(Workers(executor, lambda: count))
        self._check_commands()
        if jobs is None:
            jobs = len(cores)
        if jobs < 1:
            raise ValueError(f"jobs: expected 1 or more, got {jobs}")
        if jobs > len(cores) and self._timed:
            raise ValueError(
                f"jobs: {jobs} games with time limits need as many cores, there are {len(cores)}"
            )
        return local_workers(jobs, cores)

    @property
    def _timed(self) -> bool:
        """Whether results depend on how much of a processor a game gets."""
        settings = self.settings
        agents = [make_agent(player.spec) for player in settings.players if not player.process]
        return bool(settings.timeout_scale) or any(getattr(a, "time_ms", 0) for a in agents)

    def _check_commands(self) -> None:
        """Better now than as a fault in every game."""
        for player in self.settings.players:
            if player.process:
                program = shlex.split(player.spec)[0]
                if shutil.which(program) is None:
                    known = ", ".join(AGENTS)
                    raise ValueError(
                        f"player {player.spec!r}: there is neither a program {program!r} nor an"
                        f" agent of that name (agents: {known})"
                    )

    def table(self) -> str:
        """The results as text."""
        return report.tables(self.tally)

    def to_json(self) -> dict[str, Any]:
        """The results as plain dicts, lists, numbers and strings."""
        return {**report.as_json(self.tally), "goal": self.goal.games}

    def to_csv(self) -> str:
        """A line for each game that was played, with a header, to publish or to analyse."""
        return report.as_csv(self.settings, self._store.outcomes())

    def lost_table(self, player: str | None = None) -> str:
        """The games that a player (default: the first) has lost, as text; empty if there is none.

        ``ValueError`` for a name that no player has.
        """
        names = [player.name for player in self.settings.players]
        if player is not None and player not in names:
            raise ValueError(f"no player is called {player!r}: expected one of {', '.join(names)}")
        index = 0 if player is None else names.index(player)
        rows = report.lost_games(self.settings, self._store.outcomes(), index)
        return report.lost_table(rows) if rows else ""

    def record(self, number: int) -> Record:
        """All that is stored of a game; `StoreError` if it was not played."""
        return self._store.game(number)

    def replay(self, number: int) -> Result:
        """A game that was played, as the referee's result; `StoreError`, ``ValueError``."""
        return replay(self.settings, self.record(number))

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def parse_player(text: str) -> Player:
    """A player from ``"mcts:time_ms=50"``, ``"./mybot --fast"`` or, with a name, ``"new=./mybot"``.

    What starts with the name of an agent (`locmsim.agents.AGENTS`) is one, with its options; all
    else is a command. ``ValueError`` for an agent's wrong options and for an empty command.
    """
    label = _LABEL.fullmatch(text)
    name, spec = label.groups() if label else (text, text)
    process = spec.partition(":")[0] not in AGENTS
    if process:
        try:
            words = shlex.split(spec)
        except ValueError as error:
            raise ValueError(f"player {text!r}: {error}") from None
        if not words:
            raise ValueError(f"player {text!r}: the command is empty")
    else:
        make_agent(spec)
    return Player(name, spec, process)


def _players(players: Sequence[str | Player]) -> tuple[Player, ...]:
    parsed = [parse_player(player) if isinstance(player, str) else player for player in players]
    names = unique_names([player.name for player in parsed])
    return tuple(
        Player(name, player.spec, player.process)
        for name, player in zip(names, parsed, strict=True)
    )

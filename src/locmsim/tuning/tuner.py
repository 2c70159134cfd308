"""Tuning by self-play: new weights are accepted if they beat the best ones so far.

    >>> from locmsim.tuning import Tuner, TuningSettings
    >>> tuner = Tuner(TuningSettings("1.2", games=40, match_games=20, nodes=100, pools=5))
    >>> for line in tuner.run(iterations=1):
    ...     print(line.split(":")[0])
    1
    >>> tuner.best == tuner.start or bool(tuner.accepted)
    True

The games depend only on the settings, not on the machines and the number of workers.
"""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar

from locmsim._common_options import Dask, Jobs
from locmsim._io import numbered
from locmsim._options import check_values, documented
from locmsim.networks import Weights, WeightsFile
from locmsim.stats import PairCounts, score_interval
from locmsim.tuning.files import Folder, TuningProgress, replaced
from locmsim.tuning.parts import check_packages, fit_part
from locmsim.tuning.self_play import PlayPairs, SelfPlay, TrainingGames, counted, play_task
from locmsim.tuning.settings import PARTS, TUNING_SEEDS, TotalIterations, TuningSettings
from locmsim.workers import TaskRunner, Workers, dask_workers, local_workers

__all__ = ["Tuner"]

_log = logging.getLogger(__name__)

#: Games, and mirrored pairs, per task of a worker.
_CHUNK = 20
_PAIRS = 10
#: Number of recent iterations whose games are used in a fit.
_WINDOW = 6
#: New weights must win by more than equal players would by luck in five of six matches.
_LEVEL = 0.68
#: Interval of saving in seconds, and the largest share of the time that saving may take.
_SAVE_SECONDS = 20.0
_SAVE_SHARE = 0.02

_T = TypeVar("_T")


class Tuner:
    """A tuning that can be stopped and resumed.

    Parameters
    ----------
    settings
        The settings, or a mapping with some of them.
    start
        The initial weights: those of a rule set, or the path of a weights file (default: the
        package's weights).
    folder
        The folder in which everything is saved. A tuning that is already there is resumed.
    command
        The command to record with the weights.

    Raises
    ------
    ValueError
        A setting is not valid or differs from those in the folder, or a file in the folder is
        damaged.
    OSError
        A file cannot be read or written.
    """

    def __init__(
        self,
        settings: TuningSettings | Mapping[str, Any] | None = None,
        *,
        start: Weights | str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        command: str | None = None,
    ) -> None:
        self._folder = Folder(folder)
        self._games: dict[int, TrainingGames] = {}
        self._due = 0.0
        chosen = asdict(settings) if isinstance(settings, TuningSettings) else dict(settings or {})
        if self._folder.exists():
            self.settings, self._progress = self._folder.load()
            for name, value in chosen.items():
                if (old := getattr(self.settings, name)) != value:
                    raise ValueError(f"{self._folder}: {name} is {old!r} there, not {value!r}")
            if start is not None and self._loaded(start)[self.settings.rules] != self.start:
                raise ValueError(f"{self._folder}: it started from other weights")
            _log.info("%s: resumed after iteration %d", self._folder, self.iteration)
        else:
            self.settings = TuningSettings(**chosen)
            file = self._loaded(start)
            self._progress = TuningProgress(file, [file[self.settings.rules]])
        if command is not None and command not in self._progress.commands:
            self._progress.commands.append(command)

    def _loaded(self, start: Weights | str | os.PathLike[str] | None) -> WeightsFile:
        rules = self.settings.rules
        if isinstance(start, Weights):
            return WeightsFile({rules: start})
        file = WeightsFile() if start is None else WeightsFile.load(start)
        # Stored, since the package's weights may have changed when the tuning is resumed.
        return WeightsFile({**file.weights, rules: file[rules]}, file.record)

    @property
    def start(self) -> Weights:
        """The weights at the start."""
        return self._progress.adopted[0]

    @property
    def best(self) -> Weights:
        """The best weights so far."""
        return self._progress.adopted[-1]

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """The matches by which weights were accepted: iteration, part, games, score, interval."""
        return self._progress.accepted

    @property
    def iteration(self) -> int:
        """The number of complete iterations."""
        return self._progress.iteration

    @property
    def _settings(self) -> dict[str, Any]:
        return {**asdict(self.settings), "parts": list(self.settings.parts)}

    def record(self) -> dict[str, Any]:
        """Return the history of the tuning, which is stored with the weights.

        Returns
        -------
        dict
            Commands, version of the library, settings, seeds, numbers of iterations and games, and
            the matches by which weights were accepted.
        """
        from locmsim import __version__

        return {
            "commands": list(self._progress.commands),
            "version": __version__,
            **self._settings,
            "tuning_seeds": [TUNING_SEEDS.start, TUNING_SEEDS.stop - 1],
            "iterations": self.iteration,
            "games_in_all": self._progress.games,
            "accepted": [dict(match) for match in self.accepted],
        }

    def check_packages(self) -> None:
        """Raise ``ImportError`` naming a package that this tuning needs and that is missing."""
        check_packages(self.settings.parts)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a weights file: the initial file with the best weights and the record added.

        Parameters
        ----------
        path : str or path
            The file to write.

        Raises
        ------
        ValueError
            The file at `path` was not written by this tuning, or was written after more iterations.
        OSError
            The file cannot be written.
        """
        self.check_target(path)
        rules = self.settings.rules
        replaced(self._progress.start, rules, self.best, self.record()).save(path)

    def check_target(self, path: str | os.PathLike[str]) -> None:
        """Raise the ``ValueError`` of `write` in advance.

        Parameters
        ----------
        path : str or path
            The file to be written later.
        """
        name = os.fspath(path)
        if not os.path.isfile(path):
            return
        try:
            record = WeightsFile.load(path).record
        except ValueError:
            raise ValueError(f"{name}: exists, and is not a weights file") from None
        last = record[-1] if record else {}
        ours = self.record()
        if any(last.get(key) != ours[key] for key in ("version", "tuning_seeds", *self._settings)):
            raise ValueError(f"{name}: exists, and was not written by this tuning")
        done = last.get("iterations", 0)
        if done > self.iteration:
            raise ValueError(
                f"{name}: exists, and has {done} iterations where this tuning has"
                f" {self.iteration}; resume that one or write to another file"
            )

    @documented()
    def run(
        self,
        iterations: TotalIterations,
        *,
        jobs: Jobs | None = None,
        dask: Dask | None = None,
        on_games: Callable[[str, int, int], None] | None = None,
    ) -> Iterator[str]:
        """Run the missing iterations, and yield a line about each.

        The results are the same on any number of processes, and on a cluster. By default everything
        runs in this process.

        Parameters
        ----------
        options
        on_games : callable, optional
            Called with the name of the current task, the number of its finished games and their
            total.

        Yields
        ------
        str
            A line of text for each iteration.

        Raises
        ------
        ValueError
            `jobs` is out of bounds or given together with `dask`, the address is not valid, games
            of earlier iterations are missing, or another process is tuning in the folder.
        OSError
            The scheduler cannot be reached, or a file cannot be read or written.
        ImportError
            A package is missing: of the extra `tune`, of `train` for parts with networks, or of
            `cluster`.
        WorkersError
            A task ended its worker three times, or the cluster is gone.
        """
        check_values(Tuner.run, iterations=iterations, jobs=jobs)
        workers_of = _workers_of(jobs, dask)
        self.check_packages()  # before playing any games
        self._on_games = on_games or (lambda what, done, count: None)
        with workers_of as self._workers, self._kept():
            while self.iteration < iterations:
                text = self._iterate()
                _log.info("iteration %s", text)
                yield text

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        """Lock the folder, and save everything at the end."""
        if not self._folder.exists():  # leave no traces of a tuning that could not start
            self._save()
        with self._folder.locked():
            try:
                yield
            finally:
                self._save()

    # ----------------------------------------------------------------------------- iterations

    def _iterate(self) -> str:
        """Run an iteration, save its results and return a line about it."""
        started, before = time.monotonic(), self._progress
        line, changes = self._improve(before.iteration + 1)
        pairs = sum(len(wins) for match in before.open.values() for wins in match.values())
        self._progress = replace(
            before,
            iteration=before.iteration + 1,
            games=before.games + 2 * pairs + self.settings.games,
            open={},
            **changes,
        )
        self._save()
        return f"{self.iteration}: {line}; {time.monotonic() - started:.0f} s"

    def _improve(self, iteration: int) -> tuple[str, dict[str, Any]]:
        """Play, fit, and compare with the best weights; return a text and the changed progress."""
        started = time.monotonic()
        played = self._self_play(iteration)
        line = f"{len(self._games[iteration].deck_won)} games"
        if played:
            line += f" ({60 * played / (time.monotonic() - started):.0f}/min)"
        candidates, losses = self._candidates()
        line += "".join(f"; loss of {part} {loss:.4f}" for part, loss in losses.items())
        results = {
            name: self._match(iteration, name, weights, "choice")
            for name, weights in candidates.items()
        }
        line += "".join(f"; {name} {100 * r.score:.1f} %" for name, r in results.items())
        name = max(results, key=lambda name: results[name].score)
        if results[name].score <= 0.5:
            return f"{line}: not accepted", {}
        tested, changes = self._test(iteration, name, candidates[name])
        return f"{line}; {tested}", changes

    def _candidates(self) -> tuple[dict[str, Weights], dict[str, float]]:
        """Return new weights by name, for each part and all together, and the loss of each part."""
        joined = TrainingGames.joined([self._games[i] for i in sorted(self._games)])
        candidates, losses = {}, {}
        for part in self.settings.parts:
            candidates[part], losses[part] = fit_part(part, self.best, joined)
        if len(candidates) > 1:
            every = {
                field: getattr(weights, field)
                for part, weights in candidates.items()
                for field in PARTS[part]
            }
            candidates[",".join(candidates)] = replace(self.best, **every)
        return candidates, losses

    def _test(self, iteration: int, name: str, weights: Weights) -> tuple[str, dict[str, Any]]:
        """Accept the weights if they win another match; return a text and the changed progress."""
        counts = self._match(iteration, f"test of {name}", weights, "test")
        low, high = score_interval(counts, _LEVEL)
        line = f"test of {name} {100 * counts.score:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        if low <= 0.5:
            return f"{line}: not accepted", {}
        match = {
            "iteration": iteration,
            "parts": name,
            "games": 2 * counts.total,
            "score": round(counts.score, 4),
            "interval": [round(low, 4), round(high, 4)],
        }
        return f"{line}: accepted", {
            "adopted": [*self._progress.adopted, weights],
            "accepted": [*self.accepted, match],
        }

    # ---------------------------------------------------------------------------------- games

    def _self_play(self, iteration: int) -> int:
        """Play the missing games of this iteration and return their number.

        Afterwards all games of the window are in memory.
        """
        self._load_window(iteration)
        settings = self.settings
        done = self._folder.load_games(iteration)
        pools = settings.card_sets()
        players = [self.best, *self._progress.adopted[:-1][-3:]]
        tasks = {
            chunk: SelfPlay(
                settings, iteration, chunk, min(_CHUNK, settings.games - first), pools, players
            )
            for chunk, first in enumerate(range(0, settings.games, _CHUNK))
            if chunk not in done
        }
        missing = sum(task.games for task in tasks.values())
        played = settings.games - missing
        self._on_games("self-play", played, settings.games)

        def numbers(chunk: int) -> range:
            first = _CHUNK * chunk + 1
            return range(first, first + tasks[chunk].games)

        try:
            for chunk, games in self._run_tasks("self-play", tasks, numbers):
                done[chunk] = games
                played += tasks[chunk].games
                self._on_games("self-play", played, settings.games)
                if self._is_due():
                    self._save_games(iteration, done)
        finally:
            self._save_games(iteration, done)
        self._games[iteration] = _joined_in_order(done)
        return missing

    def _load_window(self, iteration: int) -> None:
        """Load the games of the earlier iterations in the window, and drop older ones."""
        for old in range(max(1, iteration - _WINDOW + 1), iteration):
            if old not in self._games:
                chunks = self._folder.load_games(old)
                if not chunks:
                    path = self._folder.games_file(old)
                    raise ValueError(f"{path}: the games of iteration {old} are gone")
                self._games[old] = _joined_in_order(chunks)
        for old in [i for i in self._games if i <= iteration - _WINDOW]:
            del self._games[old]

    def _match(self, iteration: int, label: str, weights: Weights, purpose: str) -> PairCounts:
        """Play a match against the best weights; those with one purpose share their cards."""
        settings = self.settings
        pairs = settings.match_games // 2
        seeds = settings.random(purpose, iteration).sample(TUNING_SEEDS, pairs)
        done = self._progress.open.setdefault(label, {})
        tasks = {
            start: PlayPairs(
                settings.rules, settings.nodes, weights, self.best, seeds[start : start + _PAIRS]
            )
            for start in range(0, pairs, _PAIRS)
            if str(start) not in done
        }

        def numbers(start: int) -> range:
            return range(2 * start + 1, 2 * (start + len(tasks[start].seeds)) + 1)

        for start, wins in self._run_tasks(label, tasks, numbers):
            done[str(start)] = wins
            self._on_games(label, 2 * sum(map(len, done.values())), 2 * pairs)
            if self._is_due():
                self._save()
        return counted([n for wins in done.values() for n in wins])

    def _run_tasks(
        self, label: str, tasks: Mapping[int, Callable[[], _T]], games: Callable[[int], range]
    ) -> Iterator[tuple[int, _T]]:
        """Yield the numbers and results of tasks as workers finish them.

        `games` returns the numbers of a task's games, from 1.
        """
        runner: TaskRunner[int, _T] = TaskRunner(
            self._workers,
            tasks,
            lambda executor, number: executor.submit(play_task, tasks[number]),
            name=lambda number: f"{numbered('game', games(number))} of {label}",
        )
        for number, future in runner:
            yield number, future.result()

    # ---------------------------------------------------------------------------------- files

    def _is_due(self) -> bool:
        return time.monotonic() >= self._due

    def _save(self) -> None:
        with self._timed():
            self._folder.save(self.settings, self._progress)

    def _save_games(self, iteration: int, done: Mapping[int, TrainingGames]) -> None:
        with self._timed():
            self._folder.save_games(iteration, done)

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        """Save within this context; the longer saving takes, the later the next one is due."""
        started = time.monotonic()
        yield
        saved = time.monotonic()
        self._due = saved + max(_SAVE_SECONDS, (saved - started) / _SAVE_SHARE)


def _joined_in_order(chunks: Mapping[int, TrainingGames]) -> TrainingGames:
    return TrainingGames.joined([chunks[chunk] for chunk in sorted(chunks)])


def _workers_of(jobs: int | None, dask: str | None) -> contextlib.AbstractContextManager[Workers]:
    """Return local processes or a cluster; ``ValueError`` for both."""
    if jobs is not None and dask is not None:
        raise ValueError("jobs: does not apply with dask")
    return local_workers(jobs or 1, ()) if dask is None else dask_workers(dask)

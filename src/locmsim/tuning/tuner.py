"""Better weights by self-play: what wins matches against the best so far is taken.

    >>> from locmsim.tuning import Tuner, TuningSettings
    >>> tuner = Tuner(TuningSettings("1.2", games=40, match_games=20, nodes=100, pools=5))
    >>> for line in tuner.run(iterations=1):
    ...     print(line.split(":")[0])
    1
    >>> tuner.best == tuner.start or bool(tuner.accepted)
    True

What is played depends on the settings alone, not on where and by how many workers.
"""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar

from locmsim.networks import Weights, WeightsFile
from locmsim.stats import PairCounts, score_interval
from locmsim.tuning.files import Folder, Progress, replaced
from locmsim.tuning.parts import check_packages, fit_part
from locmsim.tuning.self_play import Games, PlayPairs, SelfPlay, counted, play_task
from locmsim.tuning.settings import PARTS, TUNING_SEEDS, TuningSettings
from locmsim.workers import TaskRunner, Workers, dask_workers, local_workers

__all__ = ["Tuner"]

_log = logging.getLogger(__name__)

#: Games, and mirrored pairs, that make up a task for a worker.
_CHUNK = 20
_PAIRS = 10
#: Iterations whose games a fit is made of.
_WINDOW = 6
#: New weights have to win by more than luck does in five of six matches of equals.
_LEVEL = 0.68
#: What was played is saved so often, or more seldom: saving takes at most this part of the time.
_SAVE_SECONDS = 20.0
_SAVE_SHARE = 0.02

_T = TypeVar("_T")


class Tuner:
    """A tuning that can be stopped and resumed.

    Parameters
    ----------
    settings
        Some or all of the settings; a mapping names them.
    start
        The weights to start from: those of a rule set, or the path of a weights file (default:
        those of the package).
    folder
        Everything is saved there. One that has a tuning in it is resumed.
    command
        Recorded with the weights.

    Raises
    ------
    ValueError
        For settings that make no sense; if what is given differs from what is in the folder; names
        a file there that cannot be read.
    OSError
        If a file cannot be read or written.
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
        self._games: dict[int, Games] = {}
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
            self._progress = Progress(file, [file[self.settings.rules]])
        if command is not None and command not in self._progress.commands:
            self._progress.commands.append(command)

    def _loaded(self, start: Weights | str | os.PathLike[str] | None) -> WeightsFile:
        rules = self.settings.rules
        if isinstance(start, Weights):
            return WeightsFile({rules: start})
        file = WeightsFile() if start is None else WeightsFile.load(start)
        # Written out: the weights of the package may be others when it is resumed.
        return WeightsFile({**file.weights, rules: file[rules]}, file.record)

    @property
    def start(self) -> Weights:
        """The weights at the start."""
        return self._progress.adopted[0]

    @property
    def best(self) -> Weights:
        """The weights that won last."""
        return self._progress.adopted[-1]

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """The matches by which new weights were taken: iteration, part, games, score, interval."""
        return self._progress.accepted

    @property
    def iteration(self) -> int:
        """How many iterations are complete."""
        return self._progress.iteration

    @property
    def _settings(self) -> dict[str, Any]:
        return {**asdict(self.settings), "what": list(self.settings.what)}

    def record(self) -> dict[str, Any]:
        """Return the history of the tuning, which is stored with the weights.

        Returns
        -------
        dict
            Commands, version of the library, settings, seeds, number of iterations and of games,
            and the matches by which weights were taken.
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
        check_packages(self.settings.what)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a weights file: what the first one contained, the best weights, and the record.

        Parameters
        ----------
        path : str or path
            The file to write.

        Raises
        ------
        ValueError
            There is a file at `path` that this tuning has not written, or has written when it had
            come further.
        OSError
            The file cannot be written.
        """
        self.check_target(path)
        rules = self.settings.rules
        replaced(self._progress.start, rules, self.best, self.record()).save(path)

    def check_target(self, path: str | os.PathLike[str]) -> None:
        """Raise the ``ValueError`` of `write` before there is something to write.

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

    def run(
        self,
        iterations: int,
        *,
        workers: int | None = None,
        dask: str | None = None,
        on_games: Callable[[str, int, int], None] | None = None,
    ) -> Iterator[str]:
        """Do what is missing to so many iterations.

        Parameters
        ----------
        iterations
            In all, those already done included.
        workers
            Processes; with one, which is the default, all is done in this process.
        dask
            The address of the scheduler of a Dask cluster, whose workers play the games in the
            place of processes here. What comes out is the same.
        on_games
            Called with what is played, how many of its games are done, and how many there are.

        Yields
        ------
        str
            A line of text for each iteration.

        Raises
        ------
        ValueError
            For less than one worker, for both workers and a cluster, for an address that makes no
            sense, if games of earlier iterations are gone, and if another process is tuning in the
            folder.
        OSError
            If there is no scheduler at that address; if a file cannot be read or written.
        ImportError
            If a package is missing: of the extra `tune`, of `train` if there are networks to train,
            or of `cluster`.
        WorkersError
            `locmsim.workers.WorkersError`, if a task ended its worker three times, or if the
            cluster is gone.
        """
        workers_of = _workers_of(workers, dask)
        self.check_packages()  # now, and not after all those games
        self._on_games = on_games or (lambda what, done, count: None)
        with workers_of as self._workers, self._kept():
            while self.iteration < iterations:
                text = self._iterate()
                _log.info("iteration %s", text)
                yield text

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        """Nobody else tunes in the folder within, and everything is there in the end."""
        if not self._folder.exists():  # nothing is left of a tuning that could not begin
            self._save()
        with self._folder.locked():
            try:
                yield
            finally:
                self._save()

    # ----------------------------------------------------------------------------- iterations

    def _iterate(self) -> str:
        """Do an iteration and save what came of it; a line about it."""
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
        """Play, fit, and compare with the best weights; what came out, and what changes of the
        progress."""
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
        """New weights by name, each part of them alone and all together; the loss of each part."""
        joined = Games.joined([self._games[i] for i in sorted(self._games)])
        candidates, losses = {}, {}
        for part in self.settings.what:
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
        """Take the weights if they win a further match; what came out, and what changes."""
        counts = self._match(iteration, f"test of {name}", weights, "test")
        low, high = score_interval(counts, _LEVEL)
        line = f"test of {name} {100 * counts.score:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        if low <= 0.5:
            return f"{line}: not accepted", {}
        match = {
            "iteration": iteration,
            "what": name,
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
        """Play what is missing of this iteration; how many games that was.

        All games of the window are in memory then.
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
        try:
            for chunk, games in self._run_tasks("self-play", tasks):
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
        """Have the games of the iterations before this one that a fit is made of, and no others."""
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
        for start, wins in self._run_tasks(label, tasks):
            done[str(start)] = wins
            self._on_games(label, 2 * sum(map(len, done.values())), 2 * pairs)
            if self._is_due():
                self._save()
        return counted([n for wins in done.values() for n in wins])

    def _run_tasks(
        self, label: str, tasks: Mapping[int, Callable[[], _T]]
    ) -> Iterator[tuple[int, _T]]:
        """Numbers and results of tasks as they are done by the workers."""
        runner: TaskRunner[int, _T] = TaskRunner(
            self._workers,
            tasks,
            lambda executor, number: executor.submit(play_task, tasks[number]),
            name=lambda number: f"task {number} of {label}",
        )
        for number, future in runner:
            yield number, future.result()

    # ---------------------------------------------------------------------------------- files

    def _is_due(self) -> bool:
        return time.monotonic() >= self._due

    def _save(self) -> None:
        with self._timed():
            self._folder.save(self.settings, self._progress)

    def _save_games(self, iteration: int, done: Mapping[int, Games]) -> None:
        with self._timed():
            self._folder.save_games(iteration, done)

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        """Save within; what takes long, as the games of hours do, is not due again soon."""
        started = time.monotonic()
        yield
        saved = time.monotonic()
        self._due = saved + max(_SAVE_SECONDS, (saved - started) / _SAVE_SHARE)


def _joined_in_order(chunks: Mapping[int, Games]) -> Games:
    return Games.joined([chunks[chunk] for chunk in sorted(chunks)])


def _workers_of(
    workers: int | None, dask: str | None
) -> contextlib.AbstractContextManager[Workers]:
    """Processes of this machine, or a cluster; ``ValueError`` for both and for less than one."""
    if workers is not None and dask is not None:
        raise ValueError("expected one of workers and dask")
    count = 1 if workers is None else workers
    if count < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    return local_workers(count, ()) if dask is None else dask_workers(dask)

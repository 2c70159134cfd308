"""Tuning by self-play: new weights are accepted if they beat the best ones so far.

The games depend only on the settings, not on the machines and the number of workers.
"""

import contextlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, NamedTuple

from locmsim.arena.fixtures import Player
from locmsim.arena.runner import BatchRunner
from locmsim.networks import Weights, WeightsFile
from locmsim.options.common import Dask, Jobs
from locmsim.options.declarations import check_values, documented
from locmsim.stats import PairCounts, score_interval
from locmsim.support.files import numbered
from locmsim.tuning.parts import check_packages, fit_part
from locmsim.tuning.run import Proof, Run, workers_for
from locmsim.tuning.self_play import PlayPairs, SelfPlay, TrainingGames, counted
from locmsim.tuning.settings import (
    PARTS,
    PROOF_SEEDS,
    TUNING_SEEDS,
    TotalIterations,
    TuningSettings,
)

_log = logging.getLogger(__name__)

#: Games per task of a worker, of self-play and in mirrored pairs.
_CHUNK = 20
#: Number of recent iterations whose games are used in a fit.
_WINDOW = 6
#: New weights must win by more than equal players would by luck in five of six matches.
_LEVEL = 0.68
#: What the games of self-play are called, in progress and results.
_SELF_PLAY = "self-play"


class _Chunk(NamedTuple):
    """What a worker returns for some games, which have random numbers of their own."""

    result: Any
    elapsed_ns: int


def play_chunks(tasks: Sequence[SelfPlay | PlayPairs]) -> list[_Chunk]:
    """Play some chunks of games, in a worker."""
    chunks = []
    for task in tasks:
        started = time.monotonic_ns()
        chunks.append(_Chunk(task(), time.monotonic_ns() - started))
    return chunks


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
        self._run = Run(folder, "a tuning")
        #: Games of the window by iteration, and the results of this iteration, as from `_stored`.
        self._games: dict[int, TrainingGames] = {}
        self._done: dict[str, dict[int, Any]] = {}
        chosen = asdict(settings) if isinstance(settings, TuningSettings) else dict(settings or {})
        #: Numbers of complete iterations and of games in them, matches by which new weights were
        #: accepted, and the commands that started and resumed it.
        self._state: dict[str, Any] = {"commands": [], "iteration": 0, "games": 0, "accepted": []}
        if begun := self._run.content:
            with self._run.reading():
                then = {**begun}
                self.settings = TuningSettings(**then.pop("settings"))
                if then.keys() != self._state.keys():
                    raise ValueError(f"expected {', '.join(self._state)}")
                self._state = then
                names = ["start.npz", *(_adopted(one["iteration"]) for one in self.accepted)]
                files = [WeightsFile.load(self._run.path(name)) for name in names]
            self._start_file = files[0]
            self._adopted = [file[self.settings.rules] for file in files]
            now = {**asdict(self.settings), **chosen}
            self._run.check_same(asdict(self.settings), asdict(TuningSettings(**now)))
            if start is not None and self._loaded(start)[self.settings.rules] != self.start:
                raise ValueError(f"{self._run.folder}: it started from other weights")
            _log.info("%s: resumed after iteration %d", self._run.folder, self.iteration)
        else:
            self.settings = TuningSettings(**chosen)
            self._start_file = self._loaded(start)
            self._adopted = [self._start_file[self.settings.rules]]
        if command not in (None, *self._state["commands"]):
            self._state["commands"] = [*self._state["commands"], command]

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
        return self._adopted[0]

    @property
    def best(self) -> Weights:
        """The best weights so far."""
        return self._adopted[-1]

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """The matches by which weights were accepted: iteration, part, games, score, interval."""
        accepted: list[dict[str, Any]] = self._state["accepted"]
        return accepted

    @property
    def iteration(self) -> int:
        """The number of complete iterations."""
        done: int = self._state["iteration"]
        return done

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
            "commands": [*self._state["commands"]],
            "version": __version__,
            **self._settings,
            "tuning_seeds": [TUNING_SEEDS.start, TUNING_SEEDS.stop - 1],
            "iterations": self.iteration,
            "games_in_all": self._state["games"],
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
        self._start_file.replaced(self.settings.rules, self.best, self.record()).save(path)

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
        ArenaError
            Games ended their worker three times, or the cluster is gone.
        """
        check_values(Tuner.run, iterations=iterations, jobs=jobs)
        self.check_packages()  # before playing any games
        self._on_games = on_games or (lambda what, done, count: None)
        if jobs is None and dask is None:
            jobs = 1
        workers = workers_for([self._player("tuned")] * 2, jobs=jobs, dask=dask, **self._how)
        with workers as self._workers, self._run.claimed():
            if self._run.folder is not None and not self._run.content:
                self._start_file.save(self._run.path("start.npz"))
            self._save()
            while self.iteration < iterations:
                text = self._iterate()
                _log.info("iteration %s", text)
                yield text

    def _save(self) -> None:
        self._run.save({"settings": self._settings, **self._state})

    # ----------------------------------------------------------------------------- iterations

    def _iterate(self) -> str:
        """Run an iteration, save its results and return a line about it."""
        started, iteration = time.monotonic(), self.iteration + 1
        self._done = self._done or self._stored(iteration)
        self._count = 0
        line, match, weights = self._improve(iteration)
        accepted = self.accepted
        if match is not None:
            if self._run.folder is not None:
                file = WeightsFile({self.settings.rules: weights})
                file.save(self._run.path(_adopted(iteration)))
            accepted = [*accepted, match]
            self._adopted.append(weights)
        games = self._state["games"] + self._count
        self._state |= {"iteration": iteration, "games": games, "accepted": accepted}
        self._done = {}
        self._save()
        return f"{iteration}: {line}; {time.monotonic() - started:.0f} s"

    def _improve(self, iteration: int) -> tuple[str, dict[str, Any] | None, Weights]:
        """Play, fit, and compare with the best weights; return a text and what was accepted."""
        started, resumed = time.monotonic(), bool(self._done)
        self._self_play(iteration)
        line = f"{len(self._games[iteration].deck_won)} games"
        if not resumed:
            line += f" ({60 * self.settings.games / (time.monotonic() - started):.0f}/min)"
        candidates, losses = self._candidates()
        line += "".join(f"; loss of {part} {loss:.4f}" for part, loss in losses.items())
        results = {
            name: self._match(iteration, name, weights, "choice")
            for name, weights in candidates.items()
        }
        line += "".join(f"; {name} {100 * r.score:.1f} %" for name, r in results.items())
        name = max(results, key=lambda name: results[name].score)
        weights = candidates[name]
        if results[name].score <= 0.5:
            return f"{line}: not accepted", None, weights
        counts = self._match(iteration, f"test of {name}", weights, "test")
        low, high = score_interval(counts, _LEVEL)
        line += f"; test of {name} {100 * counts.score:.1f} %"
        line += f" [{100 * low:.1f}, {100 * high:.1f}]"
        if low <= 0.5:
            return f"{line}: not accepted", None, weights
        match = {
            "iteration": iteration,
            "parts": name,
            "games": 2 * counts.total,
            "score": round(counts.score, 4),
            "interval": [round(low, 4), round(high, 4)],
        }
        return f"{line}: accepted", match, weights

    def _candidates(self) -> tuple[dict[str, Weights], dict[str, float]]:
        """Return new weights by name, for each part and all together, and the loss of each part."""
        joined = TrainingGames.joined([self._games[i] for i in sorted(self._games)])
        candidates, losses = {}, {}
        for part in self.settings.parts:
            candidates[part], losses[part] = fit_part(
                part, self.best, joined, network_size=self.settings.network_size
            )
        if len(candidates) > 1:
            every = {
                field: getattr(weights, field)
                for part, weights in candidates.items()
                for field in PARTS[part]
            }
            candidates[",".join(candidates)] = replace(self.best, **every)
        return candidates, losses

    # ---------------------------------------------------------------------------------- games

    def _self_play(self, iteration: int) -> None:
        """Play the missing games of this iteration; then those of the window are in memory."""
        settings = self.settings
        window = range(max(1, iteration - _WINDOW + 1), iteration)
        self._games = {i: self._games.get(i) or self._earlier(i) for i in window}
        pools = settings.card_sets()
        players = [self.best, *self._adopted[:-1][-3:]]
        tasks = {
            first: SelfPlay(
                settings,
                iteration,
                first // _CHUNK,
                min(_CHUNK, settings.games - first + 1),
                pools,
                players,
            )
            for first in range(1, settings.games + 1, _CHUNK)
        }
        self._games[iteration] = TrainingGames.joined(self._play(iteration, _SELF_PLAY, tasks))

    def _earlier(self, iteration: int) -> TrainingGames:
        """Return the stored games of an iteration."""
        chunks = self._stored(iteration).get(_SELF_PLAY, {})
        if _CHUNK * len(chunks) < self.settings.games:
            path = self._run.path(f"{_iteration(iteration)}.jsonl")
            raise ValueError(f"{path}: games of iteration {iteration} are gone")
        return TrainingGames.joined([chunks[first] for first in sorted(chunks)])

    def _stored(self, iteration: int) -> dict[str, dict[int, Any]]:
        """Return results by what was played and the number of the first game of each task."""
        found: dict[str, dict[int, Any]] = {}

        def read(entry: tuple[str, int, Any]) -> None:
            label, first, result = entry
            played = TrainingGames.from_text(result) if label == _SELF_PLAY else result
            found.setdefault(label, {})[first] = played

        self._run.results(_iteration(iteration), read)
        return found

    def _match(self, iteration: int, label: str, weights: Weights, purpose: str) -> PairCounts:
        """Play a match against the best weights; those with one purpose share their cards."""
        settings = self.settings
        pairs = settings.match_games // 2
        seeds = settings.random(purpose, iteration).sample(TUNING_SEEDS, pairs)
        tasks = {
            2 * begin + 1: PlayPairs(
                settings.rules,
                settings.nodes,
                weights,
                self.best,
                seeds[begin : begin + _CHUNK // 2],
            )
            for begin in range(0, pairs, _CHUNK // 2)
        }
        return counted([n for wins in self._play(iteration, label, tasks) for n in wins])

    def _play(
        self, iteration: int, label: str, tasks: Mapping[int, SelfPlay | PlayPairs]
    ) -> list[Any]:
        """Play the missing ones of tasks, by their first game; return the results of all."""
        done = self._done.setdefault(label, {})
        count = sum(task.games for task in tasks.values())
        self._count += count

        def report() -> None:
            played = sum(task.games for first, task in tasks.items() if first in done)
            self._on_games(label, played, count)

        report()
        missing = [first for first in tasks if first not in done]
        left, order = iter(missing), iter(missing)

        def name(chunks: Sequence[int]) -> str:
            games = [n for first in chunks for n in range(first, first + tasks[first].games)]
            return f"{numbered('game', games)} of {label}"

        for chunks in BatchRunner(
            self._workers,
            lambda count: [*islice(left, count)],
            lambda executor, chunks, again: executor.submit(
                play_chunks, [tasks[first] for first in chunks]
            ),
            name,
            in_order=True,
        ):
            for (result, _), first in zip(chunks, order, strict=False):
                done[first] = result
                plain = result.to_text() if isinstance(result, TrainingGames) else result
                self._run.add(_iteration(iteration), [label, first, plain])
                report()
        return [done[first] for first in tasks]

    # ---------------------------------------------------------------------------------- proof

    @property
    def _how(self) -> dict[str, Any]:
        """How the arena plays games of these weights."""
        return {"rules": self.settings.rules, "timeout_scale": 0.0}

    def _player(self, name: str, more: str = "") -> Player:
        """Return the agent whose games these are."""
        return Player(name, f"beam:time_ms=0,nodes={self.settings.nodes}{more}", False)

    def prove(
        self, games: int = 1000, *, jobs: int | None = None, dask: str | None = None
    ) -> Proof:
        """Play a match of the best weights against the start, on cards of `PROOF_SEEDS`.

        A sequential test ends it early, once it is clear that they are better by 20 Elo, or not.

        Parameters
        ----------
        games : int
            The most games.
        jobs, dask
            As for `run`, but by default there is a process for each core.

        Returns
        -------
        Proof
            The result of the match.

        Raises
        ------
        ArenaError, StoreError
            The match cannot be played.
        """
        with contextlib.ExitStack() as files:
            folder = self._run.folder or files.enter_context(tempfile.TemporaryDirectory())
            players = []
            best = WeightsFile({self.settings.rules: self.best})
            for name, file in (("tuned", best), ("start", self._start_file)):
                path = os.path.join(os.path.relpath(folder), f"{name}.npz")
                file.save(path)
                quoted = path.replace('"', '""')
                players.append(self._player(name, f',weights="{quoted}"'))
            return self._run.prove(
                self.iteration,
                players,
                jobs=jobs,
                dask=dask,
                games=games,
                force=True,  # the table says what has changed
                seeds=PROOF_SEEDS,
                **self._how,
            )


def _iteration(number: int) -> str:
    """Return the name of an iteration's results."""
    return f"iteration-{number:04}"


def _adopted(iteration: int) -> str:
    """Return the file of the weights that were accepted in an iteration."""
    return f"adopted-{iteration:04}.npz"

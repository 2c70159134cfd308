"""A run that is begun once and resumed: what is in its folder, and who uses it."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from locmsim.arena import Arena
from locmsim.arena.fixtures import Player
from locmsim.options.checks import OptionError
from locmsim.processes.workers import Workers
from locmsim.stats import Interval, Sprt, score_interval
from locmsim.support.files import try_lock, write_whole

_T = TypeVar("_T")


class Proof(NamedTuple):
    """A match of what was tuned against the start, on cards that the tuning did not see.

    Parameters
    ----------
    games : int
        Its games.
    score : Interval
        The score of what was tuned, with its 95 % interval.
    better : bool or None
        Whether the sequential test says that it is better; None if it did not decide.
    text : str
        The arena's table.
    """

    games: int
    score: Interval
    better: bool | None
    text: str


@contextlib.contextmanager
def workers_for(
    players: Sequence[Player | str], *, jobs: int | None, dask: str | None, **how: Any
) -> Iterator[Workers]:
    """Return the workers that games of these players need; `how` are options of `Arena`."""
    with (
        Arena(None, players, games=2, **how) as arena,
        arena.workers(jobs=jobs, dask=dask) as workers,
    ):
        yield workers


class Run:
    """The folder of a run, or none.

    ``run.json`` says what was begun and how far it is. Files ``NAME.jsonl`` have results, a line
    for each as it arrives: a killed process loses at most those that were not in a whole line.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, what: str) -> None:
        self.folder = None if folder is None else Path(folder)
        self._what = what
        self._alone = False
        #: What `save` has stored; empty before.
        self.content = self._read()

    def path(self, name: str) -> Path:
        """Return the path of a file in the folder."""
        assert self.folder is not None
        return self.folder / name

    def _read(self) -> dict[str, Any]:
        if self.folder is None or not (path := self.path("run.json")).exists():
            return {}
        with self.reading():
            content = json.loads(path.read_text(encoding="utf-8"))
            return {"settings": content["settings"], **content}

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """What is wrong with the content within is a ``ValueError`` that names the file."""
        try:
            yield
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            what = f"{self.path('run.json')}: not the state of {self._what}"
            raise ValueError(f"{what}: {error}") from None

    def check_same(self, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Raise ``ValueError`` if settings differ from those that it was begun with."""
        for name, value in now.items():
            if (old := then.get(name)) != value:
                raise OptionError(name, f"{self.folder} was begun with {old!r}, not {value!r}")

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Nobody else uses the folder within; it is made if there is none."""
        if self.folder is None:
            yield
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path("lock").open("a") as file:
            try:
                self._alone = try_lock(file.fileno())
            except OSError:  # file systems of some clusters do not support locks
                self._alone = True
            if not self._alone:
                raise ValueError(f"{self.folder}: another process uses it for {self._what}")
            try:
                if self._read() != self.content:
                    raise ValueError(f"{self.folder}: another process has used it meanwhile")
                yield
            finally:
                self._alone = False

    def save(self, content: Mapping[str, Any]) -> None:
        """Store what was begun, and how far it is."""
        text = json.dumps(content, indent=1)
        self.content = json.loads(text)
        if self.folder is not None:
            write_whole(self.path("run.json"), text + "\n")

    def results(self, name: str, read: Callable[[Any], _T], begin: int = 0) -> list[_T]:
        """Return what `read` makes of the results of a file from one on; it may refuse them.

        A last line that was not written whole does not count.
        """
        if self.folder is None or not (path := self.path(f"{name}.jsonl")).exists():
            return []
        *lines, rest = path.read_bytes().split(b"\n")
        if rest and self._alone:
            os.truncate(path, path.stat().st_size - len(rest))
        found = []
        for number, line in enumerate(lines[begin:], begin + 1):
            try:
                found.append(read(json.loads(line)))
            except (TypeError, ValueError) as error:
                what = f"{path}: line {number}: not a result of {self._what}"
                raise ValueError(f"{what}: {error}") from None
        return found

    def prove(
        self,
        after: int,
        players: Sequence[Player],
        *,
        jobs: int | None = None,
        dask: str | None = None,
        **how: Any,
    ) -> Proof:
        """Play a match of what was tuned against the start; `how` are options of `Arena`.

        A run that goes on has another match then: `after` is how far it is.
        """
        db = None if self.folder is None else self.path(f"proof-{after}.db")
        with Arena(db, players, **how) as arena:
            arena.set_test(Sprt(0, 20))
            arena.run(jobs=jobs, dask=dask)
            counts, state = arena.tally.pairs[(0, 1)], arena.tally.sprt_state
            accepted = None if state is None else state.accepted
            better = None if accepted is None else accepted == "H1"
            return Proof(2 * counts.total, score_interval(counts), better, arena.table(80))

    def add(self, name: str, *results: object) -> None:
        """Store further results."""
        if self.folder is not None and results:
            with self.path(f"{name}.jsonl").open("a", encoding="utf-8", newline="\n") as file:
                file.write("".join(f"{json.dumps(one)}\n" for one in results))

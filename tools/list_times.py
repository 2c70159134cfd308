"""Measure how long the list of games and a click in it take, by the size of a file of results.

    python tools/list_times.py [GAMES ...]

creates a file of results for each number of games (default: 100 and 100,000) and prints the
milliseconds of the first list of 100, of a filter that matches no game, of a click, and of the
tables and curves of the page *Arena*: the minimum of 20 rounds that alternate between the files,
each opened by its own library.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable

from locmsim.arena import Arena
from locmsim.arena.follow import ResultsReader
from locmsim.web.library import Filter, Library

ROUNDS = 20


def make(path: str, games: int) -> None:
    """Create a file of results in which the same two games are repeated."""
    with Arena(["one=greedy", "two=random"], db=path, games=2, seed=4) as arena:
        arena.run(jobs=1)
        records = [arena.record(number) for number in (1, 2)]
        arena._store.add_all(
            [
                record._replace(
                    fixture=record.fixture._replace(number=number),
                    outcome=record.outcome._replace(number=number),
                )
                for number in range(3, games + 1)
                for record in [records[(number - 1) % 2]]
            ]
        )


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def tables(path: str) -> None:
    """Return what the page *Arena* shows when it is opened."""
    reader = ResultsReader(path)
    reader.update()
    reader.to_json()
    reader.score_curve(0)


def main() -> None:
    counts = [int(text) for text in sys.argv[1:]] or [100, 100_000]
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{count}.db") for count in counts]
        for path, count in zip(paths, counts, strict=True):
            make(path, count)
        tasks: dict[str, Callable[[Library], object]] = {
            "list": lambda library: library.games(),
            "filter": lambda library: library.games(Filter(player="one", least=500)),
            "click": lambda library: library.load("d0:2"),
            "arena": lambda library: tables(library.dbs[0]),
        }
        print("games     " + "".join(f"{name:>9}" for name in tasks) + "  (ms)")
        times = {(path, name): [] for path in paths for name in tasks}  # type: dict[tuple[str, str], list[float]]
        for _ in range(ROUNDS):
            for path in paths:
                for name, task in tasks.items():
                    library = Library(dbs=[path])
                    times[path, name].append(milliseconds(lambda: task(library)))  # noqa: B023
        for path, count in zip(paths, counts, strict=True):
            shown = "".join(f"{min(times[path, name]):9.2f}" for name in tasks)
            print(f"{count:<10,}{shown}")


if __name__ == "__main__":
    main()

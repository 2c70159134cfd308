"""Measures how long the list of games and a click in it take, by the number of games in a file.

    python tools/list_times.py [GAMES ...]

creates a file of results and a file of logs for each number of games (by default 100 and 100,000).
It prints the milliseconds of processor time of the first list of 100 games, of lists with several
filters, of a click, of the choices of the filters, and of the tables and curves of the page
*Arena*: the minimum of 20 rounds in which the files take turns. Each round uses a new library for
results; logs have been read into the index of a library before, as on a page that is open.
"""

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.arena import Arena
from locmsim.arena.follow import ResultsReader
from locmsim.arena.game_store import GameQuery
from locmsim.arena.records import Record
from locmsim.arena.store import Store
from locmsim.contract import Fault, FaultKind
from locmsim.referee import play
from locmsim.referee.transcript import log_line
from locmsim.web.library import Library

ROUNDS = 20


def make(path: str, games: int) -> None:
    """Create a file of results: two games repeated with other turns, winners and faults."""
    with Arena(path, ["one=greedy", "two=random"], games=2, seed=4) as arena:
        arena.run(jobs=1)
        records = [arena.record(number) for number in (2, 1)]
    with Store(path, write=True) as store:
        store.add_all([variant(records[number & 1], number) for number in range(3, games + 1)])


def variant(record: Record, number: int) -> Record:
    """Return a copy of a game with another number and another end."""
    rng = random.Random(number)
    winner = rng.randrange(2)
    fault = None
    if rng.random() < 0.01:
        fault = Fault(1 - winner, rng.choice([*FaultKind]), "")
    outcome = record.outcome._replace(
        number=number,
        winner=winner,
        scores=(int(winner == 0), int(winner == 1)),
        turns=min(max(6, round(rng.gauss(35, 12))), 100),
        fault=fault,
    )
    return record._replace(fixture=record.fixture._replace(number=number), outcome=outcome)


def make_logs(path: str, games: int) -> None:
    """Create a file of logs, one per line."""
    match = play([make_agent("greedy"), make_agent("random")], Match(seed=4), timeout_scale=0)
    line = json.loads(log_line(match, ("one", "two")))
    with open(path, "w", encoding="utf-8") as file:
        for number in range(games):
            rng = random.Random(number)
            # A list reads who played, the scores and how many answers there were.
            times = "".join(
                f"$0 1ns at turn {i}\n" for i in range(max(8, round(rng.gauss(37, 12))))
            )
            log = {
                **line,
                "number": number,
                "summaries": [times],
                "scores": {"0": number & 1, "1": 1 - (number & 1)},
                "errors": {},
                "outputs": {},
                "views": [],
            }
            file.write(json.dumps(log) + "\n")


def milliseconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def tables(path: str) -> None:
    """Return what the page *Arena* shows when it is opened."""
    reader = ResultsReader(path)
    reader.update()
    reader.to_json()
    reader.score_curve(0)


FILTERS = {
    "nothing": GameQuery(players=["one"], least=500),
    "player": GameQuery(players=["one"]),
    "lost by": GameQuery(lost_by="two"),
    "fault": GameQuery(fault="timeout"),
    "lost+turns": GameQuery(players=["one"], lost_by="two", least=60),
    "turns": GameQuery(least=10, most=80),
    "all turns": GameQuery(players=["one"], least=10, most=80),
    "some turns": GameQuery(players=["one"], least=35),
    "few turns": GameQuery(players=["one"], most=8),
    "fault+turns": GameQuery(lost_by="one", fault="any", most=20),
}


def main() -> None:
    counts = [int(text) for text in sys.argv[1:]] or [100, 100_000]
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{count}.db") for count in counts]
        logs = [os.path.join(folder, f"{count}.jsonl") for count in counts]
        libraries = []
        for path, log, count in zip(paths, logs, counts, strict=True):
            make(path, count)
            make_logs(log, count)
            libraries.append(Library([log]))
            libraries[-1].games()
        lists: dict[str, Callable[[Library], object]] = {"list": lambda library: library.games()}
        for name, wanted in FILTERS.items():
            lists[name] = partial(Library.games, wanted=wanted)
        lists["choices"] = lambda library: library.choices()
        tasks = {
            **lists,
            "click": lambda library: library.load("d0:2"),
            "arena": lambda library: tables(library.dbs[0]),
        }
        times: dict[tuple[int, str, str], float] = {}
        for _ in range(ROUNDS):
            for path, count, library in zip(paths, counts, libraries, strict=True):
                for kind, works in (("results", tasks), ("logs", lists)):
                    for name, work in works.items():
                        asked = Library(dbs=[path]) if kind == "results" else library
                        spent = milliseconds(partial(work, asked))
                        key = count, kind, name
                        times[key] = min(spent, times.get(key, spent))
        for kind, works in (("results", tasks), ("logs", lists)):
            print(f"{kind:<12}" + "".join(f"{name:>12}" for name in works) + "  (ms)")
            for count in counts:
                shown = "".join(f"{times[count, kind, name]:12.2f}" for name in works)
                print(f"{count:<12,}{shown}")


if __name__ == "__main__":
    main()

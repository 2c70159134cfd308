"""Measure the overhead of worker processes, Dask and result files: ``python tools/scaling.py``.

Empty tasks are sent to real worker processes and to many fake Dask workers, which are threads of
this process; results of real games are written to a file of results and sent through a pipe. The
figures are processor time, so that they also hold on a busy machine. docs/scaling.md interprets
them.

``python tools/scaling.py --cores 1 2`` measures by the clock how long each engine takes with one
process and with two, on a machine where nothing else runs.
"""

import argparse
import contextlib
import csv
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path

from locmsim.arena import Arena
from locmsim.arena.game_worker import play_games
from locmsim.arena.store import Store
from locmsim.tuning.dataset import examples_of_agent
from locmsim.workers import TaskRunner, Workers, local_workers

PPO = Path(__file__).resolve().parents[1] / "examples" / "train" / "ppo.py"
TRAIN = (
    "-m torch.distributed.run --standalone --nproc-per-node {count} {ppo} --folder {folder}"
    " --sets 64 --evaluate-every 100000 --yardsticks random --games 2 --no-tensorboard"
    " --total-timesteps 393216"
)
#: Agents whose games are timed, from the fastest to the slowest: name -> number of games.
AGENTS = {"greedy": 40, "beam:nodes=3000,time_ms=0": 10}


def nothing(number: int) -> int:
    """Do nothing: a task."""
    return number


def submit(executor: Executor, number: int) -> Future[int]:
    return executor.submit(nothing, number)


@contextlib.contextmanager
def fake_workers(count: int) -> Iterator[Workers]:
    """Start a Dask scheduler with its workers, all in this process."""
    from distributed import Client, LocalCluster

    with (
        warnings.catch_warnings(),
        LocalCluster(
            n_workers=count, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        yield Workers(client.get_executor(pure=False), lambda: 2 * count)


def per_task(workers: Workers, tasks: int) -> tuple[float, float]:
    """Return the seconds of this process's processor time and of the clock per empty task."""
    list(TaskRunner(workers, range(min(tasks, 100)), submit))  # all workers have started
    cpu, clock = time.process_time(), time.perf_counter()
    done = sum(1 for _ in TaskRunner(workers, range(tasks), submit))
    assert done == tasks
    return (time.process_time() - cpu) / tasks, (time.perf_counter() - clock) / tasks


def processor_time(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def results(folder: Path, games: int) -> None:
    """Print how many games a second a file of results stores, and their size."""
    with Arena(["greedy", "random"], games=40, seed=1, timeout_scale=0) as arena:
        arena.run(jobs=1)
        settings = arena.settings
    played = play_games(settings, [*range(1, 41)])
    print(f"result of a game, pickled: {len(pickle.dumps(played)) / len(played):,.0f} bytes")
    for batch in (1, 16, 256):
        number = 0
        store = Store(folder / f"{batch}.db", write=True)
        with store:
            store.begin(settings)

            def add(store: Store = store, batch: int = batch) -> None:
                nonlocal number
                for _ in range(games // batch):
                    records = []
                    for _ in range(batch):
                        number += 1
                        record = played[number % len(played)]
                        outcome = record.outcome._replace(number=number)
                        records.append(record._replace(outcome=outcome))
                    store.add_all(records)

            seconds = processor_time(add)
        size = (folder / f"{batch}.db").stat().st_size / number
        print(
            f"SQLite, {batch} games per transaction: {number / seconds:,.0f} games/s of processor"
            f" time, {size:,.0f} bytes per game"
        )


def examples(games: int) -> None:
    """Print the cost per game in the process that collects a data set."""
    found = [*examples_of_agent("greedy", games)][-1]
    arrays = found.arrays()
    size = sum(array.nbytes for array in arrays.values()) / games
    parts = [pickle.dumps({name: array[:60] for name, array in arrays.items()}) for _ in range(99)]
    seconds = processor_time(lambda: [pickle.loads(part) for part in parts]) / len(parts)
    print(f"examples of a game: {size:,.0f} bytes, {1e6 * seconds:.0f} us to read them from a pipe")


#: Measurement on several cores -> its command, to which the number of processes is appended.
COMMANDS = {
    "arena, 4,000 games of greedy against osl": (
        "-m locmsim arena greedy osl --games 4000 --timeout-scale 0 --jobs"
    ),
    "tune, an iteration of 600 games": (
        "-m locmsim tune --output {folder}/w.npz --parts eval --iterations 1 --games 600"
        " --match-games 200 --pools 100 --jobs"
    ),
    "dataset, 1,000 games of beam:nodes=3000": (
        "-m locmsim dataset beam:nodes=3000,time_ms=0 --games 1000 --force -o {folder}/e.npz --jobs"
    ),
    "ppo.py, an update of 32,768 steps": TRAIN,
    "ppo.py --bfloat16, an update": TRAIN + " --bfloat16",
}


def on_cores(counts: list[int]) -> None:
    """Print the time of each engine with different numbers of processes, and the speedup."""
    for what, command in COMMANDS.items():
        seconds = []
        for count in counts:
            with tempfile.TemporaryDirectory() as folder:
                words = command.format(folder=folder, count=count, ppo=PPO).split()
                if "torch.distributed.run" not in command:
                    words.append(str(count))
                started = time.perf_counter()
                subprocess.run(
                    [sys.executable, *words], check=True, cwd=folder, capture_output=True,
                    env={**os.environ, "OMP_NUM_THREADS": "1"},
                )  # fmt: skip
                seconds.append(time.perf_counter() - started)
                log = Path(folder) / "log.csv"
                if (
                    log.exists()
                ):  # an update, without the first ones, which compile kernels and build decks
                    with log.open(newline="") as file:
                        updates = [float(row["seconds"]) for row in csv.DictReader(file)]
                    seconds[-1] = statistics.median(updates[len(updates) // 2 :])
        figures = ", ".join(
            f"{count} {'processes' if count > 1 else 'process'}: {one:.3g} s"
            f" ({seconds[0] / one:.2f} times as fast)"
            for count, one in zip(counts, seconds, strict=True)
        )
        print(f"{what}: {figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--tasks", type=int, default=2000, help="number of empty tasks (default: %(default)s)"
    )
    parser.add_argument(
        "--games", type=int, default=4096, help="number of games to store (default: %(default)s)"
    )
    parser.add_argument(
        "--workers", type=int, nargs="*", default=[4, 40], help="numbers of fake Dask workers"
    )
    parser.add_argument(
        "--cores",
        type=int,
        nargs="+",
        help="measure the engines with these numbers of processes instead",
    )
    options = parser.parse_args()
    if options.cores:
        on_cores(options.cores)
        return
    for agent, games in AGENTS.items():
        with Arena([agent, agent + ","[: ":" in agent]], games=2, seed=1) as arena:
            settings = arena.settings
        seconds = processor_time(lambda s=settings, n=games: play_games(s, [*range(1, n + 1)]))
        print(f"a game of {agent} in the arena: {1e3 * seconds / games:.1f} ms of processor time")
    with local_workers(2, ()) as workers:
        cpu, clock = per_task(workers, options.tasks)
        print(
            f"2 processes: {1e6 * cpu:.0f} us per task here, {1 / clock:,.0f} tasks/s by the clock"
        )
    for count in options.workers:
        with fake_workers(count) as workers:
            cpu, clock = per_task(workers, options.tasks)
        print(
            f"Dask, {count} fake workers: {1e6 * cpu:.0f} us per task, of scheduler, client and"
            f" workers, {1 / clock:,.0f} tasks/s by the clock"
        )
    with tempfile.TemporaryDirectory() as folder:
        results(Path(folder), options.games)
    examples(40)


if __name__ == "__main__":
    main()

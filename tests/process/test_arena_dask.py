"""Tests of tournaments on a Dask cluster, in one of which a worker is killed."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from helpers import LOCMSIM, needs, played, python, raises

from locmsim.arena import Arena

pytestmark = needs("distributed")

#: Runs in its own process, because the cluster leaves threads and sockets open.
SCRIPT = """
    import json, os, signal, sys
    from distributed import Client, LocalCluster
    from locmsim.arena import Arena

    def kill(games):
        if not killed and arena.tally.games >= 20:
            (address, pid), *_ = workers.items()
            os.kill(pid, signal.SIGKILL)
            killed.append(address)

    if __name__ == "__main__":
        options = dict(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            workers = client.run(os.getpid)
            killed = []
            with Arena(
                sys.argv[1], ["random", "greedy"], games=120, seed=3, timeout_scale=25.0
            ) as arena:
                arena.run(dask=cluster.scheduler_address, on_games=kill)
            print(json.dumps({"workers": len(workers), "killed": killed}))
"""

THREADS = """
    import json
    from distributed import LocalCluster
    from locmsim.arena import Arena, make_game
    from locmsim.tuning import Optimization, OptimizationSettings

    if __name__ == "__main__":
        options = dict(n_workers=1, threads_per_worker=2, dashboard_address=None)
        with LocalCluster(**options) as cluster:
            with Arena(None, ["random", "greedy"], games=4, timeout_scale=25.0) as arena:
                try:
                    arena.run(dask=cluster.scheduler_address)
                except ValueError as error:
                    message = str(error)
            with Arena(None, ["random", "greedy"], games=4, timeout_scale=0) as arena:
                arena.run(dask=cluster.scheduler_address)
                games = arena.tally.games
            found = []
            for how in ({"dask": cluster.scheduler_address}, {"jobs": 1}):
                bot = "beam:time_ms=0,nodes={nodes=4:1..40:int}"
                settings = OptimizationSettings(bot, make_game("locm"), games=40, timeout_scale=0)
                run = Optimization(settings)
                *_, last = run.run(**how)
                found.append([last.games, run.trials.history])
            print(json.dumps([message, games, found[0] == found[1], found[0][0]]))
"""


#: Prints the address of a scheduler without workers, and keeps it until its input ends.
EMPTY = """
    import sys
    from distributed import LocalCluster

    if __name__ == "__main__":
        with LocalCluster(n_workers=0, dashboard_address=None) as cluster:
            print(cluster.scheduler_address, flush=True)
            sys.stdin.read()
"""


@pytest.mark.slow
def test_a_cluster_without_workers_says_so(tmp_path: Path) -> None:
    script = tmp_path / "empty.py"
    script.write_text(textwrap.dedent(EMPTY))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, str(script)], **pipes) as cluster:  # type: ignore[call-overload]
        address = cluster.stdout.readline().strip()
        for words in (
            ["arena", "greedy", "random", "--games", "2"],
            ["tune", "--parts", "eval", "-o", str(tmp_path / "a.npz")],
            ["dataset", "greedy", "-o", str(tmp_path / "a.npz")],
        ):
            command = [*LOCMSIM, *words, "--dask", address]
            with subprocess.Popen(
                command, stderr=subprocess.PIPE, text=True, cwd=tmp_path
            ) as process:
                assert process.stderr is not None
                lines = iter(process.stderr.readline, "")
                assert any(f"cluster {address} has no workers yet" in line for line in lines)
                process.terminate()
        cluster.stdin.close()


@pytest.mark.slow
def test_worker_of_a_cluster_is_killed(tmp_path: Path) -> None:
    """If a worker of a cluster is killed, no game is lost and none is counted twice."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    db = tmp_path / "results.db"
    seen = json.loads(python(script, db).stdout)
    assert seen["workers"] == 2
    assert len(seen["killed"]) == 1
    with Arena(None, ["random", "greedy"], games=120, seed=3, timeout_scale=25.0) as arena:
        arena.run(jobs=1)
        expected = played(arena)
    with Arena.load(db) as arena:
        assert arena.tally.games == 120
        assert played(arena) == expected


@pytest.mark.usefixtures("impatient")
def test_no_scheduler() -> None:
    with Arena(None, ["random", "greedy"], games=2, timeout_scale=25.0) as arena:
        raises(OSError, r"127\.0\.0\.1:1", arena.run, dask="tcp://127.0.0.1:1")


@pytest.mark.slow
def test_workers_of_several_threads(tmp_path: Path) -> None:
    """Workers with several threads are refused: their timed games would share a core."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(THREADS))
    message, games, same, tuned = json.loads(python(script).stdout)
    assert message == (
        "dask: games with time limits need workers of one thread (dask worker --nthreads 1)"
    )
    assert games == 4
    # A bot is tuned there as on one processor.
    assert same
    assert 30 <= tuned <= 40

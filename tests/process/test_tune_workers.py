"""Tests of tuning with several workers, one of which is killed, and on a Dask cluster."""

import json
import os
import re
import signal
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from amounts import amount
from helpers import children_of, output_of, python

from locmsim.networks import WeightsFile, default_weights
from locmsim.tuning import Tuner, TuningSettings, self_play

SETTINGS = TuningSettings("1.2", games=240, match_games=40, nodes=40, pools=5)
#: Weights that self-play can easily improve.
OURS = replace(default_weights("1.2"), network=None)
BAD = replace(OURS, evaluation={**OURS.evaluation, "own.attack": -1.0, "their.attack": -1.0})

#: Runs in its own process, because the cluster leaves threads and sockets open.
SCRIPT = """
    import json, os, signal, sys
    from distributed import Client, LocalCluster
    from locmsim.tuning import Tuner

    def kill(what, done, count):
        if what == "self-play" and not killed and 0 < done < count:
            (address, pid), *_ = workers.items()
            os.kill(pid, signal.SIGKILL)
            killed.append(done)

    if __name__ == "__main__":
        settings, start, folder, out = sys.argv[1:]
        settings = json.loads(settings)
        options = dict(n_workers=2, threads_per_worker=2, dashboard_address=None)
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            workers = client.run(os.getpid)
            killed = []
            tuner = Tuner(
                {**settings, "parts": tuple(settings["parts"])}, start=start, folder=folder
            )
            lines = list(tuner.run(1, dask=cluster.scheduler_address, on_games=kill))
            tuner.write(out)
            print(json.dumps({"killed": killed, "lines": lines}))
"""


def untimed(line: str) -> str:
    return re.sub(r" \(\d+/min\)|; \d+ s$", "", line)


def results(folder: Path) -> list[str]:
    """Return the results of all tasks, which arrive in any order."""
    return sorted((folder / "iteration-0001.jsonl").read_text().splitlines())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tuner, str, Path]:
    """Return a tuning in one process, its output line and its folder."""
    folder = tmp_path_factory.mktemp("alone")
    tuner = Tuner(SETTINGS, start=BAD, folder=folder)
    (line,) = tuner.run(1)
    assert tuner.accepted  # otherwise, the weights would not depend on the games
    return tuner, untimed(line), folder


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster(alone: tuple[Tuner, str, Path], tmp_path: Path) -> None:
    """If a worker of a cluster is killed, the games and the weights are still the same."""
    pytest.importorskip("distributed")
    tuner, line, folder = alone
    script, start, out = (tmp_path / name for name in ("script.py", "start.npz", "out.npz"))
    script.write_text(textwrap.dedent(SCRIPT))
    WeightsFile({"1.2": BAD}).save(start)
    words = [json.dumps(asdict(SETTINGS)), str(start), str(tmp_path / "state"), str(out)]
    seen = json.loads(python(script, *words).stdout)
    assert len(seen["killed"]) == 1
    assert [untimed(said) for said in seen["lines"]] == [line]
    assert results(tmp_path / "state") == results(folder)
    assert WeightsFile.load(out)["1.2"] == tuner.best
    assert WeightsFile.load(out).record == [json.loads(json.dumps(tuner.record()))]


@pytest.mark.slow
def test_a_killed_process(alone: tuple[Tuner, str, Path], tmp_path: Path) -> None:
    tuner, line, folder = alone
    killed = []

    def kill(what: str, done: int, count: int) -> None:
        if what == "self-play" and not killed and 0 < done < count:
            child = children_of(os.getpid())[0]
            os.kill(child, signal.SIGKILL)
            killed.append(child)

    other = Tuner(SETTINGS, start=BAD, folder=tmp_path)
    (said,) = other.run(1, jobs=2, on_games=kill)
    assert len(killed) == 1
    assert untimed(said) == line
    assert results(tmp_path) == results(folder)
    assert other.best == tuner.best


@pytest.mark.slow
def test_threads_share_nothing() -> None:
    """Tasks can run in several threads, since a worker of a cluster may have more than one."""
    tasks = [
        self_play.SelfPlay(SETTINGS, 1, chunk, 20, range(1, 6), [OURS, BAD])
        for chunk in range(amount(4, 12))
    ]
    expected = [task() for task in tasks]
    with ThreadPoolExecutor(4) as executor:
        found = list(executor.map(lambda task: task(), tasks))
    for a, b in zip(expected, found, strict=True):
        for name, column in vars(a).items():
            assert np.array_equal(column, getattr(b, name)), name


@pytest.mark.usefixtures("impatient")
def test_no_scheduler(tmp_path: Path) -> None:
    words = ["tune", "--rules", "1.2", "--output", str(tmp_path / "tuned.npz"), "--dask"]
    err = output_of(*words, "tcp://127.0.0.1:1", code=1).err
    assert "Timed out trying to connect to tcp://127.0.0.1:1" in err
    err = output_of(*words, "nowhere", code=2).err
    assert "--dask: missing port number in address 'nowhere'" in err


def test_workers_or_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="jobs: does not apply with dask"):
        next(Tuner(SETTINGS).run(1, jobs=2, dask="tcp://127.0.0.1:1"))
    words = ["tune", "--output", str(tmp_path / "x.npz"), "--jobs", "2", "--dask", "tcp://a:1"]
    assert "--dask: not allowed with argument --jobs" in output_of(*words, code=2).err

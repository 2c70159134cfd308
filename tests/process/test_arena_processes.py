"""Tests of tournaments of real processes: misbehaving bots, killed workers and killed arenas."""

import contextlib
import ctypes
import gc
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from amounts import amount, slow_after
from helpers import (
    BOT,
    NoResultsError,
    Store,
    assert_gone,
    children_of,
    played,
    python,
    raises,
    run_on,
    running,
    started,
)

from locmsim.arena import Arena, ArenaError, available_cores
from locmsim.referee import FaultKind

#: Number of games that `test_many_games_leave_nothing` plays.
SOAK_GAMES = amount(100, most=2000)


def bot(kind: str = "", at: int = -1, argument: str = "") -> str:
    return shlex.join([*BOT, kind, str(at), argument] if kind else BOT)


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder where each bot writes its process id; at the end none may be running."""
    folder = tmp_path / "pids"
    folder.mkdir()
    monkeypatch.setenv("LOCMSIM_TEST_PIDS", str(folder))
    yield folder
    started = [int(file.name) for file in folder.iterdir()]
    try:
        assert_gone(started)
    finally:
        for pid in running(started):
            os.kill(pid, signal.SIGKILL)


# ------------------------------------------------------------------------ bots that misbehave

FAULTS = {
    "hangs-at-start": (bot("hang", 0), FaultKind.TIMEOUT),
    "hangs-later": (bot("hang", 2), FaultKind.TIMEOUT),
    "exits": (bot("leave", 1, "0"), FaultKind.CRASHED),
    "segfaults": (bot("die", 1, str(int(signal.SIGSEGV))), FaultKind.CRASHED),
    "floods": (bot("flood", 1, "x"), FaultKind.LINE_TOO_LONG),
    "half-a-line": (bot("say", 2, "PASS"), FaultKind.TIMEOUT),
    "ignores-sigterm": (bot("stubborn", 2), FaultKind.TIMEOUT),
    "answers-twice": (bot("say", 1, r"PASS\nPASS\n"), FaultKind.EARLY),
    "only-stderr": (bot("babble", 2), FaultKind.TIMEOUT),
    "nonsense": (bot("say", 1, r"WAIT\n"), FaultKind.MALFORMED),
}


@pytest.mark.slow
def test_faults_cost_one_game_each(pids: Path, tmp_path: Path) -> None:
    """Each misbehaving bot loses its games by the right fault, and children of bots are killed."""
    # A file that may be run, and cannot be: otherwise the arena would refuse it at once.
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere/interpreter\n")
    broken.chmod(0o755)
    players = [
        "good=" + bot(),
        f"not-there={broken}",
        *(f"{name}={command}" for name, (command, _) in FAULTS.items()),
    ]
    players += ["forks=" + bot("children", 1), "answers-early=" + bot("early", 1)]
    with Arena(None, players, mode="gauntlet", games=2, seed=1, timeout_scale=0.5) as arena:
        arena.run()
        assert arena.tally.games == 2 * (len(FAULTS) + 3)
        found = {
            player.name: dict(sums.faults)
            for player, sums in zip(arena.settings.players, arena.tally.players, strict=True)
        }
        # Whether the answer is noticed as early depends on the scheduling of the processes.
        assert set(found.pop("answers-early")) <= {FaultKind.EARLY}
        assert found == {
            "good": {},
            "not-there": {FaultKind.START_FAILED: 2},
            **{name: {kind: 2} for name, (_, kind) in FAULTS.items()},
            "forks": {},
        }
        assert arena.tally.players[0].wins[0] >= len(FAULTS) + 1


@pytest.mark.slow
def test_many_games_leave_nothing(pids: Path) -> None:
    """After many games, no processes, descriptors or memory are left.

    ``pytest --most`` plays 2,000 games, and ``-s`` shows what is left (docs/development.md).
    """

    def left() -> dict[str, int]:
        # Release what earlier tests and games have not released yet, so that it is not counted.
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        resident = int(Path("/proc/self/statm").read_text().split()[1])
        return {
            "bots": len(running(int(file.name) for file in pids.iterdir())),
            "children": len(children_of(os.getpid())),
            "descriptors": len(os.listdir("/proc/self/fd")),
            "memory": resident * os.sysconf("SC_PAGE_SIZE"),
        }

    players = [bot(), bot("leave", 3, "0")]
    with Arena(None, players, games=20, seed=1, timeout_scale=25.0) as warm:
        warm.run(jobs=1)
    before = left()
    print(f"\nafter 20 games: {before}")
    with Arena(None, players, games=SOAK_GAMES, seed=2, timeout_scale=25.0) as arena:
        arena.run(jobs=1)
        assert arena.tally.games == SOAK_GAMES
        assert arena.tally.players[1].faults == {FaultKind.CRASHED: SOAK_GAMES}
    after = left()
    print(f"after {SOAK_GAMES} more: {after}")
    assert len(list(pids.iterdir())) == 2 * (20 + SOAK_GAMES)
    # Results are kept in memory and may take a little.
    assert after.pop("memory") - before.pop("memory") < 4_000_000 + 1000 * SOAK_GAMES
    assert after == before


# ------------------------------------------------------------------------------------ cores


def test_bots_are_bound_to_cores(pids: Path) -> None:
    """Both bots of a game are bound to the same core, and each worker to a different core."""
    cores = available_cores()
    before = os.sched_getaffinity(0)
    players = [bot("where", 1), bot("where", 2)]
    with Arena(None, players, games=4, seed=1, timeout_scale=25.0) as arena:
        arena.run()
    used = {file.read_text() for file in pids.iterdir()}
    assert used <= {str(core) for core in cores}
    assert len(list(pids.iterdir())) == 8
    with Arena(None, players, games=2, seed=1, timeout_scale=25.0) as arena:
        arena.run(jobs=1)
    assert os.sched_getaffinity(0) == before


def test_games_of_several_cores(pids: Path) -> None:
    """With the option `cores`, both bots of each game are bound to that number of cores."""
    cores = available_cores()
    players = [bot("where", 1), bot("where", 2)]
    for jobs in (None, 1):
        with Arena(None, players, games=2, seed=1, timeout_scale=25.0) as arena:
            arena.run(jobs=jobs, cores=len(cores))
    assert {file.read_text() for file in pids.iterdir()} == {" ".join(map(str, cores))}
    with Arena(None, players, games=2, seed=1, timeout_scale=25.0) as arena:
        for message, how in (
            (rf"cores: expected 1 to {len(cores)}, got 0", {"cores": 0}),
            (r"jobs: 2 games with time .* need \d+ cores", {"jobs": 2, "cores": len(cores)}),
            ("cores: does not apply with dask", {"dask": "tcp://127.0.0.1:1", "cores": 2}),
        ):
            raises(ValueError, message, arena.run, **how)


@pytest.mark.slow
def test_more_games_than_cores_without_limits() -> None:
    many = len(available_cores()) + 1
    with Arena(None, ["random", "greedy"], games=4, seed=1, timeout_scale=0) as arena:
        arena.run(jobs=many)
        assert arena.tally.games == 4


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        # A group of version 2 whose parent has the smaller quota.
        (
            {
                "/proc/self/cgroup": "0::/a/b\n",
                "/proc/self/mountinfo": "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                "/sys/fs/cgroup/a/cpu.max": "100000 100000\n",
                "/sys/fs/cgroup/a/b/cpu.max": "300000 100000\n",
            },
            [1],
        ),
        # Version 1, whose own group has none.
        (
            {
                "/proc/self/cgroup": "3:cpuset:/x\n2:cpu,cpuacct:/a/b\n",
                "/proc/self/mountinfo": (
                    "31 24 0:27 / /groups/cpuset rw - cgroup cgroup rw,cpuset\n"
                    "32 24 0:28 / /groups/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
                ),
                "/groups/cpu/a/b/cpu.cfs_quota_us": "-1\n",
                "/groups/cpu/a/b/cpu.cfs_period_us": "100000\n",
                "/groups/cpu/a/cpu.cfs_quota_us": "250000\n",
                "/groups/cpu/a/cpu.cfs_period_us": "100000\n",
                "/groups/cpuset/x/cpu.cfs_quota_us": "100000\n",
            },
            [1, 2],
        ),
        # A container that is shown its own group only, with the name that it has outside.
        (
            {
                "/proc/self/cgroup": "1:cpu:/docker/0\n",
                "/proc/self/mountinfo": (
                    "32 24 0:28 /docker/0 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
                ),
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "50000\n",
            },
            [1, 2],
        ),
        ({}, [1, 2, 3]),
        *(
            ({"/sys/fs/cgroup/cpu.max": f"{quota} 100000\n"}, cores)
            for quota, cores in (("max", [1, 2, 3]), (200_000, [1, 2]), (50_000, [1]))
        ),
    ],
)
def test_processor_quotas(
    files: dict[str, str], cores: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each physical core counts once, and a container's CPU quota limits their number."""

    def fake(path: Path, *arguments: Any, **options: Any) -> str:
        if str(path).endswith("thread_siblings_list"):
            cpu = int(path.parents[1].name.removeprefix("cpu")) % 4
            return f"{cpu},{cpu + 4}\n"
        if str(path) in files:
            return files[str(path)]
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", fake)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 2, 3, 5, 7})
    assert available_cores() == cores


@pytest.mark.slow
def test_a_script_from_the_standard_input() -> None:
    """Workers cannot import it; that is said before any of them starts."""
    script = (
        "from locmsim.arena import Arena\n"
        "with Arena(None, ['random', 'greedy'], games=4, seed=1, timeout_scale=0) as arena:\n"
        "    arena.run(jobs={})\n"
        "    print(arena.tally.games)\n"
    )
    for jobs, code, shown in ((1, 0, "4\n"), (2, 1, "")):
        done = python("-", input=script.format(jobs), code=code)
        assert done.stdout == shown
    assert done.stderr.splitlines()[-1].endswith(
        "ArenaError: worker processes import the main script, and there is no file '<stdin>':"
        " put it into one, or use one job"
    )
    assert "SpawnProcess" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("player", "jobs", "end"),
    [("greedy", 2, ":`, or play with jobs=1"), ("mine.py:Mine", 1, ":`")],
)
def test_a_script_without_a_main_guard(player: str, jobs: int, end: str, tmp_path: Path) -> None:
    """One job is no way out where an agent of others has a process of its own."""
    (tmp_path / "mine.py").write_text("from locmsim.agents.greedy import GreedyAgent as Mine\n")
    script = tmp_path / "script.py"
    script.write_text(
        "from locmsim.arena import Arena\n"
        f"with Arena(None, ['random', {player!r}], games=4, seed=1, timeout_scale=0) as arena:\n"
        f"    arena.run(jobs={jobs})\n"
    )
    done = python(script, cwd=tmp_path, code=1)
    assert done.stderr.splitlines()[-1].endswith(
        f'put what it runs under `if __name__ == "__main__"{end}'
    )


OWN_AGENT = """
from locmsim.agents import AGENTS, GreedyAgent
from locmsim.arena import Arena

class Mine(GreedyAgent):
    pass

AGENTS["mine"] = Mine

if __name__ == "__main__":
    with Arena(None, ["mine:deck=bodies", "random"], games=4, seed=1, timeout_scale=25.0) as arena:
        arena.run(jobs=2)
        print(arena.tally.games, sum(player.faults.total() for player in arena.tally.players))
"""


@pytest.mark.slow
def test_agent_of_a_script(tmp_path: Path) -> None:
    """An agent that a script registers at its top level is also known in the worker processes."""
    script = tmp_path / "script.py"
    script.write_text(OWN_AGENT.replace("jobs=2", f"jobs={min(2, len(available_cores()))}"))
    done = python(script)
    assert (done.stdout, done.stderr) == ("4 0\n", "")


# ------------------------------------------------------------------------- workers that die


@pytest.mark.slow
def test_worker_that_is_killed() -> None:
    """If a worker is killed, the others play its games: none is lost and none is played twice."""
    with Arena(None, ["random", "greedy"], games=60, seed=3, timeout_scale=25.0) as arena:
        arena.run(jobs=1)
        expected = played(arena)
    killed: list[int] = []

    def kill(games: int) -> None:
        if not killed and arena.tally.games >= 5:
            children = children_of(os.getpid())
            names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
            killed.extend(
                pid for pid, name in names.items() if b"locmsim.processes.workers" in name
            )
            os.kill(killed[0], signal.SIGKILL)

    with Arena(None, ["random", "greedy"], games=60, seed=3, timeout_scale=25.0) as arena:
        arena.run(jobs=min(2, len(available_cores())), on_games=kill)
        assert killed
        assert played(arena) == expected


class Deadly(Executor):
    """An executor whose worker dies at a certain game and, like a pool, fails all pending games."""

    def __init__(self, deadly: int, deaths: int) -> None:
        self.deadly = deadly
        self.deaths = deaths
        self.alone = 0
        self.all_well = True
        self.waiting: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        task, _ = args
        numbers = [one.number for one in task.fixtures]
        if self.deadly in numbers and self.deaths:
            self.deaths -= 1
            self.all_well = False
            self.alone += not self.waiting and numbers == [self.deadly]
            for ended in (*self.waiting, future):
                ended.set_exception(BrokenExecutor("a process was terminated abruptly"))
            self.waiting.clear()
        elif numbers[-1] == self.deadly - 1 and self.all_well:
            self.waiting.append(future)
        else:
            future.set_result(fn(*args))
        return future


def test_game_that_kills_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a game kills its worker repeatedly, the others are played and an error names that game."""
    with Arena(None, ["random", "greedy"], games=8, seed=3, timeout_scale=25.0) as arena:
        executor = Deadly(2, 3)
        run_on(monkeypatch, executor, 2)
        raises(ArenaError, r"game 2 \(greedy against random, seed [0-9]+\): the worker", arena.run)
        assert executor.alone == 2
        assert arena.tally.games >= 1
        arena.run(jobs=1)
        assert arena.tally.games == 8


def test_game_whose_worker_was_killed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(monkeypatch, Deadly(3, 1), 2)
    with Arena(None, ["random", "greedy"], games=8, seed=3, timeout_scale=25.0) as arena:
        arena.run()
        assert arena.tally.games == 8


def test_executor_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(Executor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            raise BrokenExecutor("no longer usable")

    run_on(monkeypatch, Gone(), 2)
    message = r"\): not finished, .* workers are gone: no longer"
    with Arena(None, ["random", "greedy"], games=8, seed=3, timeout_scale=25.0) as arena:
        raises(ArenaError, message, arena.run)


# ------------------------------------------------------------------------- arenas that are killed


class Tool:
    """A process ``locmsim arena`` in the middle of a long tournament."""

    def __init__(self, db: Path, *options: str) -> None:
        self.db = db
        players = ["slow=" + bot("slow", 1, "0.3"), "good=" + bot()]
        words = ["arena", *players, "--db", str(db), "--seed", "5", "--games", "40", *options]
        self.process = started(*words)
        deadline = time.monotonic() + 60
        while self.stored() < 2 and time.monotonic() < deadline:
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def stored(self) -> int:
        with contextlib.suppress(NoResultsError), Store(self.db) as store:
            return len(store)
        return 0

    def workers(self) -> list[int]:
        """Return its worker processes."""
        return children_of(self.process.pid)


def go_on(db: Path, before: int) -> None:
    """Complete a tournament with fast bots, and check that it continues the stored games."""
    with Store(db) as store:
        stored = store.numbers()
        assert len(stored) >= before
    with Arena(db, games=2 * ((len(stored) + 3) // 2)) as arena:
        assert arena.tally.games == len(stored)
        arena.run(jobs=1)
        assert arena.tally.games == arena.settings.count
        for number in range(1, arena.settings.count + 1):
            arena.replay(number)


@pytest.mark.parametrize("jobs", slow_after(1, ["1", "2"]))
def test_arena_killed(tmp_path: Path, pids: Path, jobs: str) -> None:
    """After SIGKILL, an arena's workers and bots end, and the tournament can be continued."""
    tool = Tool(tmp_path / "results.db", "--jobs", jobs, "--timeout-scale", "0")
    workers = tool.workers()
    tool.process.kill()
    tool.process.communicate(timeout=60)
    assert_gone(workers)
    assert not running(int(file.name) for file in pids.iterdir() if jobs == "2")
    go_on(tool.db, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "number"),
    amount(
        [("1", signal.SIGTERM), ("2", signal.SIGINT), ("1", signal.SIGHUP)],
        [*product(("1", "2"), (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))],
    ),
)
def test_arena_interrupted(tmp_path: Path, pids: Path, jobs: str, number: signal.Signals) -> None:
    for terminal in {False, number == signal.SIGINT}:
        tool = Tool(tmp_path / f"{terminal}.db", "--jobs", jobs, "--timeout-scale", "0")
        workers = tool.workers()
        # Ctrl-C on a terminal signals all processes of the group; one message comes all the same.
        for pid in (tool.process.pid, *(workers if terminal else [])):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        out, err = tool.process.communicate(timeout=60)
        assert tool.process.returncode == 128 + number
        assert out == ""
        stored = tool.stored()
        assert err == (
            "locmsim arena: 40 games to play\n"
            f"locmsim arena: stopped; {stored} of 40 games are in {tool.db};"
            f" to resume: locmsim arena --db {tool.db}\n"
        )
        assert [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in running(workers)] == []
        assert running(int(file.name) for file in pids.iterdir()) == []
        go_on(tool.db, stored)

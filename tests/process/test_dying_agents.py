"""Agents may do anything: each end is a loss with its reason, or harmless, and nothing is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from helpers import LOCMSIM, children_of, default_signals, running

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.arena import Arena
from locmsim.arena.game_worker import DIED
from locmsim.contract import Fault
from locmsim.referee import FaultKind, IsolatedAgent, play

FILE = Path(__file__).parents[1] / "bots" / "dying.py"

CRASHED, MALFORMED, TIMEOUT = FaultKind.CRASHED, FaultKind.MALFORMED, FaultKind.TIMEOUT
#: Class of dying.py -> the expected fault and a part of its reason in a process of its own; None
#: for what does no harm.
ENDS: dict[str, tuple[FaultKind, str] | None] = {
    "Raises": (CRASHED, "raised ValueError: lost"),
    "RaisesSurrogate": (CRASHED, r"raised ValueError: half a character: \ud800"),
    "RaisesWithoutText": (CRASHED, "raised HostileError: (its text cannot be had: KeyError)"),
    "RaisesInReset": (CRASHED, "raised RuntimeError: not ready"),
    "RaisesInChoose": (CRASHED, "raised RuntimeError: no deck"),
    "Interrupts": (CRASHED, "raised GeneratorExit"),
    "Exits": (CRASHED, "raised SystemExit: 1"),
    "ExitsAtOnce": (CRASHED, "its process exited with code 3"),
    "ExitsInReset": (CRASHED, "its process exited with code 4"),
    "Segfaults": (CRASHED, "its process was killed by SIGSEGV"),
    "Aborts": (CRASHED, "its process was killed by SIGABRT"),
    "IsKilled": (CRASHED, "its process was killed by SIGKILL"),
    "TakesAllMemory": (CRASHED, "raised MemoryError"),
    "Recurses": (CRASHED, "raised RecursionError"),
    "Sleeps": (TIMEOUT, "no answer within"),
    "SleepsInChoose": (TIMEOUT, "no answer within"),
    "SwallowsEverything": (TIMEOUT, "no answer within"),
    "HangsInC": (TIMEOUT, "no answer within"),
    "AnswersNumpyText": None,
    "AnswersNumber": (MALFORMED, "answered 5, not one line"),
    "AnswersBytes": (MALFORMED, "answered b'PASS', not one line"),
    "AnswersTwoLines": (MALFORMED, r"answered 'PASS\nPASS', not one line"),
    "AnswersSurrogate": (MALFORMED, ""),
    "AnswersMegabyte": (FaultKind.LINE_TOO_LONG, "characters)"),
    "AnswersNul": (MALFORMED, ""),
    "Prints": None,
    "ClosesOutput": None,
    "ClosesInput": None,
    "LeavesThread": None,
    "LeavesChild": None,
    "LeavesDaemon": None,
}
#: What ends the process that plays it.
DEADLY = {"ExitsAtOnce", "ExitsInReset", "Segfaults", "Aborts", "IsKilled"}
HANGS = {"Sleeps", "SleepsInChoose", "SwallowsEverything", "HangsInC"}
#: One of each way to end, for the suite that everybody runs.
FEW = ["Raises", "Exits", "Segfaults", "SwallowsEverything", "AnswersNumpyText", "AnswersNumber"]


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that no process is left that has a text of this test in its environment."""
    mark = os.urandom(8).hex()
    monkeypatch.setenv("LOCMSIM_TEST", mark)
    yield
    deadline = time.monotonic() + 20
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []


def marked(mark: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return running(found)


def spec(name: str) -> str:
    return f"{FILE}:{name}"


def check(fault: Fault | None, name: str, player: int, *, isolated: bool = True) -> None:
    end = ENDS[name]
    if end is None:
        assert fault is None
        return
    assert fault is not None
    assert (fault.player, fault.kind) == (player, end[0])
    if isolated or name not in HANGS:
        assert end[1] in fault.message


@pytest.mark.parametrize("name", ENDS)
def test_in_a_process_of_its_own(name: str) -> None:
    agent = IsolatedAgent(partial(make_agent, spec(name)), 7)
    # The limits are those of the rules, which an answer in time keeps on any machine, only where
    # the agent hangs.
    scale = 1.0 if name in HANGS else 0.0
    result = play([make_agent("random"), agent], Match(seed=3), timeout_scale=scale)
    check(result.fault, name, 1)
    if ENDS[name] is not None:
        assert result.scores == (0, -1)


def test_plays_as_in_process() -> None:
    """The answers are those of the same agent in this process, and its standard error is kept."""
    inside = make_agent(spec("Prints"))
    inside.reset(7)
    there = play([IsolatedAgent(partial(make_agent, spec("Prints")), 7), make_agent("osl")],
                 Match(seed=5), timeout_scale=0)  # fmt: skip
    here = play([inside, make_agent("osl")], Match(seed=5), timeout_scale=0)
    assert [call.answer for call in there.calls] == [call.answer for call in here.calls]
    assert "a word" in there.stderr[0]
    assert "another" in there.stderr[0]


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_other_rules(rules: str) -> None:
    agent = IsolatedAgent(partial(make_agent, spec("Prints")), 1)
    result = play([agent, agent], Match(rules, seed=2), timeout_scale=0)
    assert result.fault is None


def arena_of(
    names: list[str], path: Path, *, jobs: int, isolate: bool = False, scale: float = 1.0
) -> None:
    players = ["greedy", *(f"{name}={spec(name)}" for name in names)]
    with Arena(players, db=path, mode="gauntlet", games=2, seed=4, timeout_scale=scale) as arena:
        arena.run(jobs=jobs, isolate=isolate)
        assert arena.tally.games == 2 * len(names)
        for outcome in arena.outcomes():
            seat = 1 - outcome.players.index(0)
            name = arena.settings.players[outcome.players[seat]].name
            check(outcome.fault, name, seat, isolated=False)
            if name in DEADLY:
                assert DIED in arena.record(outcome.number).stderr[seat] or isolate


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_tournament_always_ends(jobs: int, tmp_path: Path) -> None:
    arena_of(FEW, tmp_path / "a.db", jobs=jobs)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_all_in_a_tournament(jobs: int, tmp_path: Path) -> None:
    arena_of([*ENDS], tmp_path / "a.db", jobs=jobs)


def test_a_death_that_does_not_come_again(tmp_path: Path) -> None:
    """The game counts as it was played again, and says that a process died."""
    script = tmp_path / "once.py"
    script.write_text(
        "import os, pathlib\n"
        "from locmsim.agents import GreedyAgent\n"
        "class Once(GreedyAgent):\n"
        "    def act(self, observation):\n"
        f"        if not os.path.exists({str(tmp_path / 'died')!r}):\n"
        f"            pathlib.Path({str(tmp_path / 'died')!r}).touch()\n"
        "            os._exit(9)\n"
        "        return super().act(observation)\n"
    )
    with Arena(["greedy", f"{script}:Once"], games=4, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=2)
        assert [outcome.fault for outcome in arena.outcomes()] == [None] * 4
        told = [DIED in arena.record(number).stderr[0] for number in range(1, 5)]
        assert any(told)


def test_play_goes_on(tmp_path: Path) -> None:
    """The command ends with the scores, and the reason stands on the standard error."""
    done = subprocess.run(
        [*LOCMSIM, "play", spec("ExitsAtOnce"), "greedy", "-seed", "1"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.splitlines()[:2] == ["-1", "0"]
    assert "crashed): its process exited with code 3" in done.stderr


def test_play_isolates_the_packages_agents() -> None:
    command = [*LOCMSIM, "play", "greedy", "osl", "-seed", "1", "--timeout-scale", "0"]
    together, apart = (
        subprocess.run(command + more, capture_output=True, text=True, timeout=120)
        for more in ([], ["--isolate"])
    )
    assert together.returncode == apart.returncode == 0
    assert together.stdout == apart.stdout


def test_exit_status_of_a_bot_that_cannot_be_started() -> None:
    done = subprocess.run(
        [*LOCMSIM, "play", "./nowhere --x", "greedy", "-seed", "1"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.splitlines()[:2] == ["-1", "0"]
    assert "start failed" in done.stderr


def test_a_wrong_folder_is_no_fault_of_a_bot() -> None:
    with pytest.raises(OSError, match="nosuch"):
        play([["true"], ["true"]], Match(seed=1), cwd="/nosuch")


def test_an_agent_that_cannot_be_sent() -> None:
    with pytest.raises(ValueError, match="cannot be sent to another process"):
        play([IsolatedAgent(lambda: make_agent("osl")), make_agent("osl")], Match(seed=1))


@pytest.mark.parametrize("words", [["play"], ["arena", "--games", "4", "--jobs", "2"]])
def test_the_second_signal_ends_everything(words: list[str], tmp_path: Path) -> None:
    """An agent that swallows every exception does not keep the command alive."""
    ready = tmp_path / "ready"
    script = tmp_path / "stubborn.py"
    script.write_text(
        "import pathlib, time\n"
        "from locmsim.agents import GreedyAgent\n"
        "class Stubborn(GreedyAgent):\n"
        "    def act(self, observation):\n"
        f"        pathlib.Path({str(ready)!r}).touch()\n"
        "        while True:\n"
        "            try:\n"
        "                time.sleep(1000)\n"
        "            except BaseException:\n"
        "                pass\n"
    )
    players = [f"{script}:Stubborn", "greedy", "--timeout-scale", "0"]
    command = [*LOCMSIM, words[0], *players, *words[1:]]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 120
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.terminate()
        process.terminate()
        process.communicate(timeout=120)
    assert process.returncode == 128 + 15


def test_ctrl_c_while_workers_start(tmp_path: Path) -> None:
    """Workers that are still importing the package end without tracebacks."""
    command = [*LOCMSIM, "arena", "greedy", "osl", "--games", "400", "--jobs", "2"]
    with subprocess.Popen(
        [*command, "--timeout-scale", "0"], cwd=tmp_path, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=default_signals,
    ) as process:  # fmt: skip
        while process.poll() is None and not children_of(process.pid):
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in err


def test_a_killed_worker_leaves_no_bot(tmp_path: Path) -> None:
    """As the system kills it when memory runs out: its bots are found by their mark."""
    bots = f"{sys.executable} -c 'import time; time.sleep(1000)'"
    command = [*LOCMSIM, "arena", f"a={bots}", f"b={bots}", "--games", "2", "--jobs", "2"]
    with subprocess.Popen(
        [*command, "--timeout-scale", "0"], cwd=tmp_path, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        bot: list[int] = []
        while not bot and process.poll() is None:
            bot = [child for worker in children_of(process.pid) for child in children_of(worker)]
            time.sleep(0.01)
        workers = children_of(process.pid)
        (worker, *_) = [one for one in workers if bot[0] in children_of(one)]
        os.kill(worker, signal.SIGKILL)
        while bot[0] in running(bot) and process.poll() is None:
            time.sleep(0.01)
        process.terminate()
        process.communicate(timeout=120)
        assert running(bot) == []


if sys.platform != "linux":
    pytest.skip("processes are found in /proc", allow_module_level=True)

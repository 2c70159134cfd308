"""Agents may do anything: each end is a loss with its reason, or harmless, and nothing is left."""

import contextlib
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from amounts import amount, slow_after
from helpers import (
    DIED,
    assert_gone,
    children_of,
    locmsim,
    play_games,
    python,
    raises,
    running,
    started,
    wait_for,
)

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.arena import Arena, LocmGame
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
    "EndsButNotItsChild": (CRASHED, "its process exited with code 7"),
    "Segfaults": (CRASHED, "its process was killed by SIGSEGV"),
    "Aborts": (CRASHED, "its process was killed by SIGABRT"),
    "IsKilled": (CRASHED, "its process was killed by SIGKILL"),
    "TakesAllMemory": (CRASHED, "raised MemoryError"),
    "Recurses": (CRASHED, "raised RecursionError"),
    "Sleeps": (TIMEOUT, "no answer within"),
    "SleepsInChoose": (TIMEOUT, "no answer within"),
    "SwallowsEverything": (TIMEOUT, "no answer within"),
    "HangsInC": (TIMEOUT, "no answer within"),
    "AnswersLate": (TIMEOUT, "no answer within"),
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
    "LeavesHiddenDaemon": None,
}
#: The ends that differ for the program of an agent (`python -m locmsim.bot`): it has the game's
#: protocol, where a fault in Python is a traceback on the standard error and status 1.
PROGRAM_ENDS: dict[str, tuple[FaultKind, str] | None] = {
    **{
        name: (CRASHED, "its process exited with code 1")
        for name, end in ENDS.items()
        if (end and end[1].startswith("raised")) or name.startswith("Closes")
    },
    "AnswersNumber": (CRASHED, "its process exited with code 1"),
    "AnswersBytes": (CRASHED, "its process exited with code 1"),
    "AnswersTwoLines": (FaultKind.EARLY, "was written before the input"),
    "AnswersSurrogate": (CRASHED, "its process exited with code 1"),
    "AnswersMegabyte": (FaultKind.LINE_TOO_LONG, "without an end"),
    "Prints": (MALFORMED, "answer: 'another'"),
    "AnswersLate": None,  # it knows the limits of the rules only, not those of this test
}
#: What ends the process that plays it.
DEADLY = {"ExitsAtOnce", "ExitsInReset", "EndsButNotItsChild", "Segfaults", "Aborts", "IsKilled"}
HANGS = {"AnswersLate", "Sleeps", "SleepsInChoose", "SwallowsEverything", "HangsInC"}
#: One of each way to end, for the suite that everybody runs.
FEW = [
    "LeavesHiddenDaemon",
    "LeavesThread",
    "EndsButNotItsChild",
    "Raises",
    "Exits",
    "Segfaults",
    "SwallowsEverything",
    "AnswersNumpyText",
    "AnswersNumber",
]
#: Those of them that end a tournament differently; `--most` plays all cells of the table.
IN_TOURNAMENTS = amount(
    ["EndsButNotItsChild", "LeavesThread", "Raises", "Exits", "SwallowsEverything"], most=[*ENDS]
)
KINDS = ["agent", "isolated", "program"]


def scale_of(name: str) -> float:
    """Return the factor of the time limits: there are some only for those who hang.

    Each has about a second, which the other player keeps on any machine.
    """
    if name not in HANGS:
        return 0.0
    return 0.25 if name == "SleepsInChoose" else 5.0


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that no process is left with a text of this test in environment or command."""
    mark = os.urandom(8).hex()
    monkeypatch.setenv("LOCMSIM_TEST", mark)
    yield
    wait_for(lambda: not marked(mark), 20)


def marked(mark: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                texts = [(folder / name).read_bytes() for name in ("environ", "cmdline")]
                if mark.encode() in b"".join(texts):
                    found.append(int(folder.name))
            except OSError:
                continue
    return running(found)


def spec(name: str) -> str:
    return f"{FILE}:{name}"


def program(name: str) -> list[str]:
    return [sys.executable, "-P", "-m", "locmsim.bot", "--agent", spec(name), "--seed", "7"]


def check(fault: Fault | None, name: str, player: int, kind: str = "isolated") -> None:
    end = PROGRAM_ENDS.get(name, ENDS[name]) if kind == "program" else ENDS[name]
    if end is None:
        assert fault is None
        return
    assert fault is not None
    assert (fault.player, fault.kind) == (player, end[0])
    if kind != "agent" or name not in HANGS:  # it may have ended its worker first
        assert end[1] in fault.message


@pytest.mark.parametrize("name", slow_after(8, ENDS))
def test_in_a_process_of_its_own(name: str) -> None:
    agent = IsolatedAgent(partial(make_agent, spec(name)), 7)
    result = play([make_agent("random"), agent], Match(seed=3), timeout_scale=scale_of(name))
    check(result.fault, name, 1)
    if ENDS[name] is not None:
        assert result.scores == (0, -1)


@pytest.mark.slow
@pytest.mark.parametrize("name", amount(FEW, most=[*ENDS]))
def test_as_a_program(name: str) -> None:
    players = [make_agent("random"), program(name)]
    result = play(players, Match(seed=3), timeout_scale=scale_of(name))
    check(result.fault, name, 1, "program")
    if (end := ENDS[name]) is not None and end[1].startswith("raised") and name != "Exits":
        assert "Traceback" in result.stderr[1]


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


def test_last_words_are_kept() -> None:
    agent = IsolatedAgent(partial(make_agent, spec("IsKilled")), 1)
    result = play([agent, make_agent("osl")], Match(seed=5), timeout_scale=0)
    check(result.fault, "IsKilled", 0)
    assert "last words" in result.stderr[0]


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_other_rules(rules: str) -> None:
    agent = IsolatedAgent(partial(make_agent, spec("Prints")), 1)
    result = play([agent, agent], Match(rules, seed=2), timeout_scale=0)
    assert result.fault is None


def arena_of(names: list[str], folder: Path, kind: str, **where: Any) -> None:
    """Play a tournament of `random` against each; there are limits only for those that hang."""
    for scale in sorted({*map(scale_of, names)}):
        some = [name for name in names if scale_of(name) == scale]
        specs = {one: shlex.join(program(one)) if kind == "program" else spec(one) for one in some}
        players = ["random", *(f"{name}={text}" for name, text in specs.items())]
        settings: dict[str, Any] = {"mode": "gauntlet", "games": 2, "seed": 4}
        db = folder / f"{kind}-{scale}.db"
        with Arena(db, players, timeout_scale=scale, **settings) as arena:
            arena.run(isolate=kind == "isolated", **where)
            assert arena.tally.games == 2 * len(some)
            for outcome in arena.games():
                seat = 1 - outcome.players.index(0)
                name = arena.settings.players[outcome.players[seat]].name
                # With `isolate`, agents of this game are programs.
                check(outcome.fault, name, seat, "program" if kind == "isolated" else kind)
                if name in DEADLY and kind == "agent" and "dask" not in where:
                    assert DIED in arena.record(outcome.number).stderr[seat]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", amount([2], most=[1, 2]))
def test_a_tournament_always_ends(jobs: int, tmp_path: Path) -> None:
    arena_of(IN_TOURNAMENTS, tmp_path, "agent", jobs=jobs)


@pytest.mark.parametrize("kind", ["isolated", "program"])
@pytest.mark.parametrize("jobs", amount([1], most=[1, 2]))
def test_a_tournament_of_programs_always_ends(jobs: int, kind: str, tmp_path: Path) -> None:
    arena_of(amount(["Segfaults"], most=[*ENDS]), tmp_path, kind, jobs=jobs)


#: Runs in its own process, because the cluster leaves threads and sockets open.
ON_A_CLUSTER = """
import pathlib, sys
sys.path[:0] = sys.argv[1:3]
from distributed import LocalCluster
from test_dying_agents import arena_of

if __name__ == "__main__":
    names, kind, folder = sys.argv[3].split(), sys.argv[4], pathlib.Path(sys.argv[5])
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        arena_of(names, folder, kind, dask=cluster.scheduler_address)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", amount(["agent"], most=KINDS))
def test_on_a_cluster(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "script.py").write_text(ON_A_CLUSTER)
    names = amount(["Raises", "AnswersNumber"], most=[*ENDS])
    here = Path(__file__).parent
    words = [str(here), str(here.parent), " ".join(names), kind, str(tmp_path)]
    python(tmp_path / "script.py", *words)


def on_a_page(name: str, kind: str, folder: Path) -> None:
    """Play a game as a page does: a person, who has all the time, against the player."""
    from test_web_games import Table

    bot = shlex.join(program(name)) if kind == "program" else spec(name)
    with Table(bot, folder=str(folder), timeout_scale=scale_of(name)) as page:
        page.new("bot0", seed=3)
        page.choose()
        while not page.view["over"]:
            page.play("PASS")
            page.wait()
        fault = page.view["over"]["fault"]
    found = fault and Fault(fault["player"], FaultKind(fault["kind"]), fault["message"])
    check(found, name, 1, kind)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "isolated") for name in amount(FEW, most=ENDS)),
        *((name, "program") for name in amount(["Segfaults"], most=ENDS)),
    ],
)
def test_on_a_page(name: str, kind: str, tmp_path: Path) -> None:
    on_a_page(name, kind, tmp_path)


@pytest.mark.slow
def test_what_an_agent_closes_is_open_for_others() -> None:
    """One worker plays all games; the others print, which needs what was closed."""
    closing = [spec(name) for name in ("ClosesOutput", "ClosesInput", "ClosesStreams")]
    with Arena(None, [spec("Prints"), *closing], games=2, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
        assert [outcome.fault for outcome in arena.games()] == [None] * 12


@pytest.mark.slow
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
    with Arena(None, ["greedy", f"{script}:Once"], games=4, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=2)
        assert [outcome.fault for outcome in arena.games()] == [None] * 4
        told = [DIED in arena.record(number).stderr[0] for number in range(1, 5)]
        assert any(told)


def test_play_goes_on(tmp_path: Path) -> None:
    """The command ends with the scores, and the reason stands on the standard error."""
    done = locmsim("play", spec("ExitsAtOnce"), "greedy", "-seed", "1")
    assert done.stdout.splitlines()[:2] == ["-1", "0"]
    assert "crashed): its process exited with code 3" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("isolate", [[], ["--isolate"]])
@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("ExitsAsItIsMade", 2, "ExitsAsItIsMade: creating it with () raised SystemExit: 5"),
        ("EndsAsItIsMade", 0, "its process exited with code 6"),
        ("RaisesAsItIsMade", 2, "RaisesAsItIsMade: creating it with () raised KeyError: 'no'"),
        ("Raises:depth=3", 2, "BOT: agent {file}:Raises: unknown option 'depth'"),
        ("Nobody", 2, "BOT: agent {file}:Nobody: no class or function 'Nobody'"),
    ],
)
def test_what_cannot_be_made(name: str, code: int, message: str, isolate: list[str]) -> None:
    """A wrong description is an error; an agent that ends its process has lost."""
    # Programs are not begun for agents that end as they are made.
    code = code if code or not isolate else 2
    done = locmsim("play", spec(name), "greedy", "-seed", "1", *isolate, code=code)
    assert message.format(file=FILE) in done.stderr
    if not done.returncode:
        assert done.stdout.splitlines()[:2] == ["-1", "0"]


@pytest.mark.parametrize(
    "words",
    slow_after(
        1,
        [
            "arena greedy a={} --games 2",
            "arena greedy random --games 2 --decks {}",
            "web --bot a={}",
            "check {}",
            "optimize beam:nodes={{n=5}} --against {} --games 20 --state run",
        ],
    ),
)
def test_what_ends_as_it_is_created_ends_no_command(words: str, tmp_path: Path) -> None:
    filled = words.format(spec("EndsAsItIsMade"))
    done = locmsim(*filled.split(), cwd=tmp_path, code=2)
    assert "its process exited with code 6" in done.stderr
    assert "Traceback" not in done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
def test_what_ends_as_it_is_created_does_not_end_its_caller(tmp_path: Path) -> None:
    """This process would be gone."""
    from locmsim.tuning import Optimization, OptimizationSettings

    ends = spec("EndsAsItIsMade")
    message = "its process exited with code 6"
    for more in {}, {"decks": ends}, {"pilot": ends}:
        players = ["osl", "greedy"] if more else [ends, "greedy"]
        raises(ValueError, message, Arena, tmp_path / "a.db", players, **more)
    # A page looks at runs without playing, and a start that is not given is looked up.
    settings = OptimizationSettings(f"{ends}:depth={{depth=1}}", LocmGame())
    assert Optimization(settings).values == {"depth": "1"}
    with pytest.raises(ValueError, match="parameter depth: it has no start"):
        Optimization(replace(settings, player=f"{ends}:depth={{depth}}"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ("raise KeyError('gone')", "raised KeyError: 'gone'"),
        ("os._exit(5)", "its process exited with code 5"),
    ],
)
def test_what_only_a_worker_cannot_make(ending: str, reason: str, tmp_path: Path) -> None:
    """It is made once, where the tournament is begun, and never again: it loses all games."""
    (tmp_path / "once.py").write_text(
        "import os, pathlib\n"
        "from locmsim.agents import GreedyAgent\n"
        f"made = pathlib.Path({str(tmp_path / 'made')!r})\n"
        "class Once(GreedyAgent):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        if made.exists():\n"
        f"            {ending}\n"
        "        made.touch()\n"
    )
    players = ["greedy", f"once={tmp_path / 'once.py'}:Once"]
    with Arena(None, players, games=2, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
        records = play_games(arena.settings.task([1, 2]), apart=True)
        outcomes = [*arena.games(), *(record.outcome for record in records)]
        assert len(outcomes) == 4
        for outcome in outcomes:
            assert outcome.fault is not None
            assert outcome.fault.kind == CRASHED
            assert outcome.players[outcome.fault.player] == 1
            assert reason in outcome.fault.message


@pytest.mark.slow
def test_games_that_end_their_workers_are_played_again_alike() -> None:
    with Arena(None, ["greedy", spec("Segfaults")], games=2, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
        assert {outcome.fault and outcome.fault.kind for outcome in arena.games()} == {CRASHED}
        assert arena.verify(jobs=1) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("EndsAsItIsMade", "while it was made, its process exited with code 6"),
        ("Exits", "raised SystemExit: 1"),
        (
            "Segfaults",
            "game 0: the worker process ended, 3 times in a row: it was killed by SIGSEGV",
        ),
    ],
)
def test_examples_of_an_agent_that_fails(name: str, message: str, tmp_path: Path) -> None:
    """There is nobody who could win: the command ends, and says why."""
    words = ["dataset", spec(name), "-o", "a.npz", "--games", "1", "--jobs", "1"]
    done = locmsim(*words, cwd=tmp_path, code=1)
    assert message in done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os; os._exit(6)", "decks: while it was made, its process exited with code 6"),
        (
            "def build(*_): import os; os._exit(5)",
            "greedy with decks mine.py:build: game 0: the worker",
        ),
        ("def build(*_): raise KeyError(3)", "greedy with decks mine.py:build raised"),
        (
            "def other(*_): pass",
            "decks: deck builder mine.py:build: no class or function 'build'",
        ),
    ],
)
def test_examples_with_decks_of_others(code: str, message: str, tmp_path: Path) -> None:
    """What builds them runs in a process of its own, and cannot end the command in silence."""
    (tmp_path / "mine.py").write_text(f"{code}\n")
    words = ["dataset", "greedy", "-o", "a.npz", "--games", "1", "--jobs", "1"]
    done = locmsim(*words, "--decks", "mine.py:build", cwd=tmp_path, code=1)
    assert message in done.stderr
    assert not (tmp_path / "a.npz").exists()


@pytest.mark.slow
@pytest.mark.parametrize("player", [program("Prints"), ["greedy"]])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("RaisesInChoose", "raised RuntimeError: no deck"),
        ("RaisesInReset", "raised RuntimeError: not ready"),
        ("ExitsInReset", "its process exited with code 4"),
    ],
)
def test_who_chooses_the_cards(name: str, message: str, player: list[str]) -> None:
    """It plays in a process of its own too, and its end is the loss of whose cards it chooses."""
    done = locmsim("play", shlex.join(player), "random", "-seed", "1", "--decks", spec(name))
    assert done.stdout.splitlines()[:2] == ["-1", "0"]
    assert message in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("jobs", amount([1], [1, 2]))
def test_who_chooses_the_cards_in_a_tournament(jobs: int) -> None:
    players = [f"a={shlex.join(program('Prints'))}", "greedy"]
    for name in ("RaisesInChoose", "ExitsInReset"):
        with Arena(None, players, games=2, seed=4, timeout_scale=0, decks=spec(name)) as arena:
            arena.run(jobs=jobs)
            faults = [outcome.fault for outcome in arena.games()]
            assert [fault and (fault.player, fault.kind) for fault in faults] == [(0, CRASHED)] * 2


@pytest.mark.slow
def test_play_isolates_the_packages_agents() -> None:
    words = ["play", "greedy", "osl", "-seed", "1", "--timeout-scale", "0"]
    assert locmsim(*words).stdout == locmsim(*words, "--isolate").stdout


def test_a_wrong_folder_is_no_fault_of_a_bot() -> None:
    raises(OSError, "nosuch", play, [["true"], ["true"]], Match(seed=1), cwd="/nosuch")


def test_an_agent_that_cannot_be_sent() -> None:
    with pytest.raises(ValueError, match="cannot be sent to another process"):
        play([IsolatedAgent(lambda: make_agent("osl")), make_agent("osl")], Match(seed=1))


@pytest.mark.parametrize(
    "words", slow_after(1, [["play"], ["arena", "--games", "4", "--jobs", "2"]])
)
def test_the_second_signal_ends_everything(words: list[str], tmp_path: Path) -> None:
    """An agent that swallows every exception does not keep the command alive."""
    ready = tmp_path / "ready"  # holds the number of the agent's process
    script = tmp_path / "stubborn.py"
    script.write_text(
        "import os, pathlib, time\n"
        "from locmsim.agents import GreedyAgent\n"
        "class Stubborn(GreedyAgent):\n"
        "    def act(self, observation):\n"
        f"        pathlib.Path({str(ready)!r}).write_text(str(os.getpid()))\n"
        "        while True:\n"
        "            try:\n"
        "                time.sleep(1000)\n"
        "            except BaseException:\n"
        "                pass\n"
    )
    players = [f"{script}:Stubborn", "greedy", "--timeout-scale", "0"]
    with started(words[0], *players, *words[1:], cwd=tmp_path) as process:
        wait_for(lambda: ready.exists() and ready.read_text(), 120)
        process.terminate()
        process.terminate()
        process.communicate(timeout=120)
    # A signal that comes while the interpreter ends has the effect of the system.
    assert process.returncode in (128 + 15, -15)
    assert_gone([int(ready.read_text())])


@pytest.mark.slow
def test_ctrl_c_while_workers_start(tmp_path: Path) -> None:
    """Workers that are still importing the package end without tracebacks."""
    words = ["arena", "greedy", "osl", "--games", "400", "--jobs", "2", "--timeout-scale", "0"]
    with started(*words, cwd=tmp_path, start_new_session=True) as process:
        while process.poll() is None and not children_of(process.pid):
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_killed_worker_leaves_no_bot(tmp_path: Path) -> None:
    """As the system kills it when memory runs out: its bots are found by their mark."""
    bots = f"{sys.executable} -c 'import time; time.sleep(1000)'"
    words = ["arena", f"a={bots}", f"b={bots}", "--games", "2", "--jobs", "2"]
    with started(*words, "--timeout-scale", "0", cwd=tmp_path) as process:
        try:
            worker, bot = wait_for(lambda: next(bots_of_workers(process.pid), None))
            os.kill(worker, signal.SIGKILL)
            assert_gone([bot])
            assert process.poll() is None
        finally:
            process.terminate()
            process.communicate(timeout=120)


def bots_of_workers(pid: int) -> Iterator[tuple[int, int]]:
    """Yield the pids of workers with those of their bots; not of what is about to become one."""
    for worker in children_of(pid):
        for child in children_of(worker):
            with contextlib.suppress(OSError):  # it has ended
                if b"sleep(1000)" in Path(f"/proc/{child}/cmdline").read_bytes():
                    yield worker, child


if sys.platform != "linux":
    pytest.skip("processes are found in /proc", allow_module_level=True)

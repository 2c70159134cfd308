"""Tests of matches between real processes, with all ways in which a bot can misbehave."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from amounts import amount, slow_after
from helpers import BOT, Supervisor, children_of, raises, running

from locmsim import Match
from locmsim.game.observation import Observation
from locmsim.processes import reaper
from locmsim.referee import BotFault, BotProcess, FaultKind, Result, play, replay_calls
from locmsim.referee.process import MAX_LINE

#: Time limits that bots keep even on a slow machine, and limits that they are to exceed.
RELAXED = 25.0
TIGHT = 0.3


def bot(kind: str = "", at: int = -1, argument: str = "") -> list[str]:
    """Return the command of a bot that misbehaves at its question number `at`."""
    return [*BOT, kind, str(at), argument] if kind else BOT


class Processes:
    """The processes of the bots of a test, each of which writes its id to a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "LOCMSIM_TEST_PIDS": str(folder)}

    def seen(self) -> list[int]:
        return [int(file.name) for file in self.folder.iterdir()]

    def running(self) -> list[int]:
        return running(self.seen())


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Yield the processes of a test's bots; the test fails if one still runs at the end."""
    folder = tmp_path / "pids"
    folder.mkdir()
    found = Processes(folder)
    yield found
    left = found.running()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


class Passing:
    """An agent that passes, but calls `do` at its question number `at`."""

    def __init__(self, at: int = -1, do: Callable[[], Any] = lambda: "PASS") -> None:
        self.at = at
        self.do = do
        self.asked: list[Observation] = []

    def choose(self, observation: Observation) -> str:
        assert observation.phase == "choice"
        return self._answer(observation)

    def act(self, observation: Observation) -> str:
        assert observation.phase == "battle"
        return self._answer(observation)

    def _answer(self, observation: Observation) -> str:
        self.asked.append(observation)
        if len(self.asked) == self.at + 1:
            return self.do()  # type: ignore[no-any-return]
        return "PASS"


Run = Callable[..., Result]
#: How many processes of their own bots start, some without the environment or as daemons.
CHILDREN = {"children": 3, "stranger": 1, "heir": 1, "babbling_child": 1}


@pytest.fixture
def run(processes: Processes) -> Run:
    """Return a function that plays a match between a misbehaving bot and a good player.

    The good one is an agent of this process, unless it is to be a process (`two`) as well.
    """

    def run(
        kind: str,
        at: int,
        argument: str = "",
        *,
        player: int = 0,
        rules: str = "1.5",
        timeout_scale: float = RELAXED,
        two: bool = False,
        **options: float | bool,
    ) -> Result[Match]:
        commands: list[Any] = [bot() if two else Passing()] * 2
        commands[player] = bot(kind, at, argument)
        match, before = Match(rules, seed=1), len(processes.seen())
        result = play(commands, match, timeout_scale=timeout_scale, env=processes.env, **options)
        assert len(processes.seen()) == before + 1 + two + CHILDREN.get(kind, 0)
        assert result.match is match
        assert match.phase == "over"
        return result

    return run


def assert_fault(result: Result[Match], player: int, kind: FaultKind, *reason: str) -> None:
    assert result.fault is not None
    assert (result.fault.player, result.fault.kind) == (player, kind), result.fault
    for part in reason:
        assert part in result.fault.message
    scores = [0, 0]
    scores[player] = -1
    assert result.scores == tuple(scores)
    assert result.winner == 1 - player


# ---------------------------------------------------------------------------------- good matches


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_match_to_the_end(processes: Processes, rules: str) -> None:
    match = Match(rules, seed=7)
    result = play([bot(), bot()], match, timeout_scale=RELAXED, env=processes.env)
    assert result.fault is None
    assert result.stderr == ("", "")
    assert sorted(result.scores) == [0, 1]
    assert result.scores[result.winner] == 1
    # Play the same match by hand: it must have the same questions and the same end.
    reference = Match(rules, seed=7)
    for call in result.calls:
        assert call.player == reference.to_ask[0]
        assert call.turn == (None if reference.state is None else reference.state.turn)
        assert call.text == reference.input_text(call.player)
        assert call.answer == "PASS"
        assert call.limit_ms == reference.time_limit_ms(call.player) * RELAXED
        assert 0 < call.elapsed_ns < result.elapsed_ns
        assert call.result == reference.submit(call.player, "PASS")
    assert (reference.phase, reference.winner, reference.scores) == (
        "over",
        result.winner,
        list(result.scores),
    )
    assert result.turns == len(result.calls) - (2 if rules == "1.5" else 60)
    assert len(processes.seen()) == 2


def test_commands_are_split_like_in_a_shell(processes: Processes, tmp_path: Path) -> None:
    script = tmp_path / "my bot.py"
    script.write_bytes(Path(BOT[-1]).read_bytes())
    command = f"{shlex.join(BOT[:-1])} '{script}' leave 0 3"
    result = play([command, bot()], Match(seed=1), env=processes.env)
    assert_fault(result, 0, FaultKind.CRASHED, "exited with code 3")


def test_folder_of_the_bots(tmp_path: Path) -> None:
    (tmp_path / "here.py").write_bytes(Path(BOT[-1]).read_bytes())
    command = [*BOT[:-1], "here.py"]
    result = play([command, command], Match(seed=1), timeout_scale=RELAXED, cwd=tmp_path)
    assert result.fault is None


def test_same_seed_same_match() -> None:
    results = [play([bot(), bot()], Match(seed=3), timeout_scale=0) for _ in range(2)]
    first, second = ([(c.player, c.turn, c.text, c.answer) for c in r.calls] for r in results)
    assert first == second
    assert all(call.limit_ms is None for call in results[0].calls)


# --------------------------------------------------------------------------------- malformed text

# The bot writes backslash escapes as the bytes that they stand for. The whole rules of choices are
# those of tests of matches; here is what a pipe may do to an answer.
BAD_CONSTRUCTIONS = {
    r"": "0 cards, expected 30; answer: ''",
    r"   ": "0 cards, expected 30; answer: '   '",
    "CHOOSE 1;" * 3: "at most 2 times. It is part 3 of 3: 'CHOOSE 1'",
    "\ufeffPASS": r"a byte order mark stands before 'PASS'; answer: '\ufeffPASS'",
    r"CH\xffOSE 1": "Invalid action.",
    r"\xf0\x9f\x82\xa1": "Invalid action.",
    r"PASS\x00PASS": "Invalid action.",
}
BAD_PICKS = {
    r"": "Invalid action.",
    r"PICK\t1": "Invalid action.",
    r"PICK 3": "should be 0, 1 or 2",
    r"PICK \xff": "Invalid action.",
}
BAD_TURNS = {
    r"WAIT": "Invalid action name",
    r"SUMMON\t1 0": "Invalid action name",
    r"PASS;;HELP": "Invalid action name",
    r"\xff\xfe": "Invalid action name",
    r"SUMMON 0 0;SUMMON 2 1;ATTACK 0": "Invalid ATTACK arguments",
}


def malformed(answers: dict[str, str], *given: object) -> list[object]:
    return [pytest.param(*given, *item, id=f"{given[0]} {item[0]!r}") for item in answers.items()]


@pytest.mark.parametrize(
    ("rules", "at", "answer", "reason"),
    slow_after(
        14,
        [
            *malformed(BAD_CONSTRUCTIONS, "1.5", 0),
            *malformed(BAD_PICKS, "1.2", 0),
            *malformed(BAD_TURNS, "1.5", 1),
            *malformed({r"SUMMON": "Invalid SUMMON argument.", r"USE 1": "Invalid USE"}, "1.0", 30),
            *malformed({r"PICK 9": "should be 0, 1 or 2", r"WAIT": "Invalid action."}, "1.0", 29),
        ],
    ),
)
def test_malformed_answer(run: Run, rules: str, at: int, answer: str, reason: str) -> None:
    player = len(answer) % 2
    result = run("say", at, answer + r"\n", rules=rules, player=player)
    assert_fault(result, player, FaultKind.MALFORMED, reason)
    assert result.calls[-1].result.applied == []


@pytest.mark.parametrize(
    ("rules", "at", "answers"),
    [
        (
            "1.5",
            0,
            [
                r"CHOOSE 7;;  CHOOSE +007 because it is cheap\x00;PASS\n",
                r"\n",
                r"  ;; \t ;\x00\n",
                r"PASS \xff\xfe invalid UTF-8\n",
                r"SUMMON 999 0;ATTACK -5 +007 comment;USE 1 1 comment\n",
                *(f"PASS{end}" for end in (r"\n", r"\r", r"\r\n")),
            ],
        ),
        ("1.5", 0, [r"\x01PASS\t\n"]),
        ("1.2", 28, [r"PASS  whatever; \xff\n", r"PICK 2 a comment\n"]),
        ("1.0", 30, [r"SUMMON 1 and a comment; SUMMON 3\n"]),
        ("1.5", 1, []),  # "\r" and "\n" come apart
    ],
)
def test_odd_answers_that_are_fine(run: Run, rules: str, at: int, answers: list[str]) -> None:
    result = run("say_each" if answers else "late_end", at, "|".join(answers), rules=rules)
    assert result.fault is None
    assert sorted(result.scores) == [0, 1]
    given = [call.answer for call in result.calls if call.player == 0]
    for told, answer in zip(given[at:], answers, strict=False):
        if (plain := answer.rstrip("nr\\")) in ("", "PASS"):
            assert told == plain
    assert set(given[at + len(answers) :]) == {"PASS"}


def test_longest_line(run: Run) -> None:
    line = "PASS " + (MAX_LINE - 6) * "x"
    result = run("say", 1, line + r"\n")
    assert result.fault is None
    assert line in [call.answer for call in result.calls]


# ------------------------------------------------------------------------- silent and dead bots


@pytest.mark.parametrize(
    ("kind", "at", "player"),
    slow_after(
        1,
        amount(
            [("hang", 0, 0), ("stubborn", 1, 1)], [*product(("hang", "stubborn"), (0, 1), (0, 1))]
        ),
    ),
)
def test_hang(run: Run, kind: str, at: int, player: int) -> None:
    result = run(kind, at, player=player, timeout_scale=TIGHT)
    nominal = 1000 if at else 4000
    assert_fault(result, player, FaultKind.TIMEOUT, f"within {nominal * TIGHT:g} ms")
    last = result.calls[-1 if at or player else 0]
    assert last.answer is None
    assert last.elapsed_ns >= nominal * TIGHT * 1e6


def test_slow_bot_is_no_fault_without_limits(run: Run) -> None:
    result = run("slow", 3, "0.3", timeout_scale=0)
    assert result.fault is None
    # The bot has the question a little before the referee's clock starts.
    assert max(call.elapsed_ns for call in result.calls) >= 2e8


def test_match_limit(run: Run) -> None:
    result = run("slow", 2, "5", timeout_scale=0, match_limit=1.0)
    assert_fault(result, 0, FaultKind.MATCH_LIMIT, "whole match")
    left = 1000.0
    for call in result.calls:
        if call.player == 0:
            assert call.limit_ms == pytest.approx(left, abs=1e-3)
            left -= call.elapsed_ns / 1e6
    assert -3000 < left <= 0


LONG = "PASS " + (MAX_LINE - 5) * "x"


@pytest.mark.parametrize(
    ("kind", "at", "argument", "limits", "fault", "reason"),
    [
        ("say", 1, LONG, RELAXED, FaultKind.LINE_TOO_LONG, "10000 bytes"),
        ("say", 1, LONG + r"\n", RELAXED, FaultKind.LINE_TOO_LONG, "10000 bytes"),
        ("flood", 1, "x", RELAXED, FaultKind.LINE_TOO_LONG, ""),
        ("flood", 1, r"\x00\xff", RELAXED, FaultKind.LINE_TOO_LONG, ""),
        ("say", 1, "PASS", TIGHT, FaultKind.TIMEOUT, "only 'PASS' without a line end"),
        ("heir", 1, "", TIGHT, FaultKind.TIMEOUT, "its process exited with code 3"),
        ("leave", 0, "0", RELAXED, FaultKind.CRASHED, "exited with code 0"),
        ("leave", 1, "3", RELAXED, FaultKind.CRASHED, "exited with code 3"),
        ("leave", 5, "0", RELAXED, FaultKind.CRASHED, "exited with code 0"),
        ("die", 1, str(int(signal.SIGSEGV)), RELAXED, FaultKind.CRASHED, "killed by SIGSEGV"),
        ("crash", 2, "", RELAXED, FaultKind.CRASHED, "exited with code 1"),
        ("close_input", 1, "", RELAXED, FaultKind.CLOSED_INPUT, "closed its input"),
        ("close_output", 1, "", RELAXED, FaultKind.CLOSED_OUTPUT, "closed its output"),
        ("flood", 1, r"PASS\n", RELAXED, FaultKind.EARLY, ""),
        ("say", 1, r"PASS\nPASS\n", RELAXED, FaultKind.EARLY, r"'PASS\n' was written before"),
        ("babble", 2, "", TIGHT, FaultKind.TIMEOUT, ""),
        ("heir", 0, "", TIGHT, FaultKind.TIMEOUT, ""),
    ],
)
def test_faults(
    run: Run, kind: str, at: int, argument: str, limits: float, fault: FaultKind, reason: str
) -> None:
    player = (len(argument) + at) % 2
    result = run(kind, at, argument, player=player, timeout_scale=limits)
    assert_fault(result, player, fault, reason)
    if kind == "leave":
        assert result.stderr[player] == f"leaving with {argument}\n"
    if kind == "crash":
        assert result.stderr[player].rstrip().endswith("RuntimeError: no idea what to play")
    if kind == "babble":
        assert 100 < len(result.stderr[player]) < 10_000
    if (kind, fault) == ("say", FaultKind.EARLY):
        assert (result.calls[-1].text, result.calls[-1].answer) == (None, None)


def test_died_after_half_a_line(processes: Processes) -> None:
    command = ["/bin/sh", "-c", "read line; printf PAS; exit 4"]
    result = play([command, bot()], Match(seed=1), timeout_scale=RELAXED, env=processes.env)
    assert_fault(result, 0, FaultKind.CRASHED, "exited with code 4", "'PAS' without a line end")


def test_died_after_whole_lines() -> None:
    with Supervisor() as supervisor:
        bot = BotProcess(["/bin/sh", "-c", "read line; printf 'A\\nB\\nC\\n'; exit 4"], supervisor)
        assert bot.ask("?\n", 10.0, lenient=True)[0] == "A"
        time.sleep(0.2)
        with pytest.raises(BotFault, match=r"exited with code 4, after 'B\\nC\\n'$"):
            bot.ask("?\n", 10.0, lenient=True)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program-anywhere --fast", "No such file"),
        (["/"], "ermission denied"),
        ("", "the command is empty"),
        ("'half a quotation", "No closing quotation"),
        ([], "the command is empty"),
        (["a\0b"], "null byte"),
    ],
)
@pytest.mark.parametrize("player", [0, 1])
def test_start_failed(
    processes: Processes, command: str | list[str], reason: str, player: int
) -> None:
    other = ": > $LOCMSIM_TEST_PIDS/$$; read question; echo PASS; exec sleep 600"
    commands: list[str | list[str]] = [["/bin/sh", "-c", other]] * 2
    commands[player] = command
    result = play(commands, Match(seed=1), timeout_scale=RELAXED, env=processes.env)
    assert_fault(result, player, FaultKind.START_FAILED, "cannot run", reason)
    assert result.calls[player].text is None


def test_both_fail(processes: Processes) -> None:
    """If both bots fail, player 0 loses, even if player 1 failed first."""
    result = play([bot("leave", 0, "1"), "no-such-program"], Match(seed=1), env=processes.env)
    assert_fault(result, 0, FaultKind.CRASHED)
    assert [call.answer for call in result.calls] == [None, None]


# --------------------------------------------------------------------------------- early and floods


def test_answers_before_the_first_question(processes: Processes) -> None:
    commands = [bot("slow", 0, "1"), bot("early", 0)]
    result = play(commands, Match(seed=1), timeout_scale=RELAXED, env=processes.env)
    assert_fault(result, 1, FaultKind.EARLY)


def test_early_answers_count_if_lenient(run: Run) -> None:
    answers = r"PASS 1\nPASS 2\r\nPASS 3\rPA"
    result = run("say", 1, answers + r"SS 4\n", two=True, lenient=True)
    assert result.fault is None
    given = [call.answer for call in result.calls if call.player == 0]
    # The bot's regular answers queue up behind the early ones.
    assert given[:7] == ["PASS", "PASS 1", "PASS 2", "PASS 3", "PASS 4", "PASS", "PASS"]
    assert run("flood", 1, r"PASS\n", player=1, two=True, lenient=True).fault is None


def test_much_on_standard_error(run: Run) -> None:
    """A bot may write more than a pipe holds to standard error, before and after its answers."""
    result = run("chatter", 1, "600000", two=True)
    assert result.fault is None
    assert 100 < len(result.stderr[0]) < 10_000
    assert result.stderr[0].endswith("thinking...\n")


def test_endless_standard_error_beside_answers(run: Run) -> None:
    result = run("babbling_child", 1, two=True)
    assert result.fault is None
    assert result.turns > 50


# ------------------------------------------------------------------------------- left processes


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize("kind", ["children", "stranger"])
def test_children_and_daemons(run: Run, kind: str, at: int) -> None:
    assert run(kind, at, two=True).fault is None  # the fixture looks for them


def test_children_of_a_dead_bot(processes: Processes) -> None:
    commands = [bot("children", 1), bot("leave", 2, "1")]
    result = play(commands, Match(seed=1), timeout_scale=RELAXED, env=processes.env)
    assert_fault(result, 1, FaultKind.CRASHED)
    assert len(processes.seen()) == 5


def test_exception_in_the_referee(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    match = Match(seed=1)

    def fail(player: int, line: str | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(match, "submit", fail)
    with pytest.raises(KeyboardInterrupt):
        play([bot("children", 0), bot("stubborn", 0)], match, timeout_scale=0, env=processes.env)
    assert len(processes.seen()) >= 4


def test_interrupted_end(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal may arrive while the processes are being ended: they are ended all the same."""
    send, ends = reaper.send, 0

    def interrupted(link: Any, message: Any) -> None:
        nonlocal ends
        send(link, message)
        ends += message[0] == "end"
        if message[0] == "end" and ends == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(reaper, "send", interrupted)
    with pytest.raises(KeyboardInterrupt):
        play([bot("children", 0), BOT], Match(seed=1), timeout_scale=0, env=processes.env)
    assert ends == 2
    assert len(processes.seen()) == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "setup",
    [
        # Orphans become children of the referee, as of the first process of a container.
        "import ctypes; assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0",
        # The system does not keep exit codes.
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    ],
)
def test_children_and_daemons_of_other_processes(setup: str, processes: Processes) -> None:
    script = f"""
{setup}
from locmsim.processes import reaper
from locmsim import Match
from locmsim.referee import play
result = play([{bot("children", 0)!r}, {bot("leave", 9, "1")!r}], Match(seed=1), timeout_scale=25)
assert result.fault.message.startswith("its process exited"), result.fault
import os
import sys
sys.path.append({os.path.dirname(__file__) + "/.."!r})
from helpers import children_of
assert children_of(os.getpid()) == []
"""
    subprocess.run([sys.executable, "-c", script], check=True, env=processes.env, timeout=120)
    assert len(processes.seen()) == 5


@pytest.mark.slow
def test_many_matches_leave_nothing(processes: Processes) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    def play_some(count: int) -> None:
        for seed in range(count):
            commands = [bot(), bot("leave", 1 + seed % 2, "0")]
            play(commands, Match(seed=seed), timeout_scale=RELAXED, env=processes.env)

    def children() -> set[int]:
        return set(children_of(os.getpid()))

    play_some(1)
    before, others = open_files(), children()
    play_some(25)
    assert open_files() == before
    assert children() <= others


# ----------------------------------------------------------------------------- data for tools


def test_data_lines(run: Run) -> None:
    """Data lines are found even far from the end of the standard error."""
    noise = "x" * 20_000
    lines = ["[TDATA] a = 1", noise, r"[PDATA] b = \xe4", " [PDATA] c = 3", "[pdata+] d = 4", noise]
    result = run("say_error", 1, r"\n".join(lines) + r"\n[PDATA] unfinished", player=1)
    assert result.data == ((), ("[TDATA] a = 1", "[PDATA] b = \ufffd", "[pdata+] d = 4"))


def test_data_lines_in_pieces(start: Callable[..., BotProcess]) -> None:
    long = "head -c 5000 /dev/zero | tr '\\0' x"
    script = (
        "exec 3>&1 >&2; printf '[PDA'; sleep 0.1; printf 'TA] a = 1'; sleep 0.1;"
        f" printf '2\\n[PDATA] b = '; {long}; sleep 0.1;"
        " printf ' c = 3\\n[PDATA] d = 4\\n'; echo >&3"
    )
    pieces = start("/bin/sh", "-c", script)
    assert pieces.ask("", 20)[0] == ""
    pieces.stderr_tail()
    assert pieces.data_lines() == ["[PDATA] a = 12", "[PDATA] d = 4"]


def test_too_many_data_lines(run: Run) -> None:
    result = run("say_error", 1, r"[PDATA] some = thing\n" * 5000)
    assert 3000 < len(result.data[0]) < 4000


# ------------------------------------------------------------------------ agents in this process


@pytest.mark.parametrize("rules", ["1.5", "1.0"])
def test_agents(processes: Processes, rules: str) -> None:
    """Agents in this process play the same match as bot processes."""
    agent = Passing()
    mixed = play([agent, bot()], Match(rules, seed=7), timeout_scale=RELAXED, env=processes.env)
    result = play([agent, bot()][:1] * 2, Match(rules, seed=7), timeout_scale=RELAXED)
    for one in (mixed, result):
        assert one.fault is None
        assert [call.answer for call in one.calls] == ["PASS"] * len(result.calls)
        assert all(call.elapsed_ns > 0 for call in one.calls)
    assert mixed.scores == result.scores
    texts = [seen.format() for seen in agent.asked[: len(mixed.calls) // 2]]
    reference = Match(rules, seed=7)
    sent = []
    while reference.phase != "over":
        for player in reference.to_ask:
            sent.append((player, reference.input_text(player)))
            reference.submit(player, "PASS")
    assert texts == [text for player, text in sent if player == 0][: len(texts)]
    assert [call.text for call in mixed.calls if call.player == 1] == [t for p, t in sent if p]
    assert {call.text for call in result.calls} == {None}


def fail() -> str:
    raise KeyError("no such plan")


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize(
    ("do", "kind", "reason"),
    [
        (fail, FaultKind.CRASHED, "raised KeyError: 'no such plan'"),
        (lambda: None, FaultKind.MALFORMED, "answered None"),
        (lambda: "PASS\nPASS", FaultKind.MALFORMED, "not one line"),
        (lambda: "WAIT", FaultKind.MALFORMED, "Invalid action"),
    ],
)
def test_agent_that_fails(at: int, do: Callable[[], Any], kind: FaultKind, reason: str) -> None:
    for player in (0, 1):
        agents = [Passing(), Passing()]
        agents[player] = Passing(at, do)
        result = play(agents, Match(seed=7), timeout_scale=0)
        assert_fault(result, player, kind, reason)


def test_agent_that_is_too_late(set_clock: Callable[..., None]) -> None:
    """A clock that only the slow agent moves: a busy machine makes nobody else late."""
    now = [0]

    def answer_late() -> str:
        now[0] += 20_000_000
        return "PASS"

    set_clock("locmsim.referee.process_match", monotonic_ns=lambda: now[0])
    result = play([Passing(1, answer_late), Passing()], Match(seed=7), timeout_scale=0.01)
    assert_fault(result, 0, FaultKind.TIMEOUT, "for a limit of 10 ms")
    options = {"timeout_scale": 100, "match_limit": 0.01}
    result = play([Passing(1, answer_late), Passing()], Match(seed=7), **options)
    assert_fault(result, 0, FaultKind.MATCH_LIMIT)


def test_agent_that_is_interrupted() -> None:
    def interrupt() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play([Passing(2, interrupt), Passing()], Match(seed=7), timeout_scale=0)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="found by /proc")
@pytest.mark.parametrize("interrupted", [0, 1])
def test_bot_whose_start_is_interrupted(
    processes: Processes, monkeypatch: pytest.MonkeyPatch, interrupted: int
) -> None:
    """A bot is stopped if a signal arrives after its process started but before that is known."""
    started = 0
    receive = reaper.receive

    def interrupted_receive(link: Any) -> Any:
        nonlocal started
        message = receive(link)
        started += message[0] == "started"
        while len(processes.seen()) < started:
            time.sleep(0.01)
        if message[0] == "started" and started > interrupted:
            raise KeyboardInterrupt
        return message

    monkeypatch.setattr(reaper, "receive", interrupted_receive)
    waiting = ["/bin/sh", "-c", ": > $LOCMSIM_TEST_PIDS/$$; exec sleep 600"]
    with pytest.raises(KeyboardInterrupt):
        play([waiting, waiting], Match(seed=7), timeout_scale=0, env=processes.env)
    assert len(processes.seen()) == interrupted + 1
    assert processes.running() == []


def test_match_replayed_from_calls(run: Run) -> None:
    result = run("say", 3, r"WAIT\n", player=1, two=True)
    answers = [
        (call.player, call.answer, call.elapsed_ns, call.stderr, call.cpu_ns)
        for call in result.calls
    ]
    again = replay_calls(Match(seed=1), answers, timeout_scale=RELAXED)
    assert again.calls == result.calls
    assert (again.scores, again.fault) == (result.scores, result.fault)
    raises(ValueError, "answer 1 does not fit", replay_calls, Match(seed=1), answers[1:2] * 2)
    raises(ValueError, "not over after its 4 answers", replay_calls, Match(seed=1), answers[:4])


# ---------------------------------------------------------------------------------- one question


@pytest.fixture
def start(processes: Processes) -> Iterator[Callable[..., BotProcess]]:
    """Yield a function that starts a bot; the bots are stopped at the end of the test."""
    with Supervisor() as own:
        yield lambda *command: BotProcess(command, own, env=processes.env)


def test_question_that_is_not_read(start: Callable[..., BotProcess]) -> None:
    """If a bot never reads a question that is larger than a pipe, its time runs nevertheless."""
    deaf = start("/bin/sleep", "600")
    with pytest.raises(BotFault, match="bytes of the input were never read") as caught:
        deaf.ask("x" * 1_000_000, 0.1)
    assert caught.value.kind == FaultKind.TIMEOUT


def test_question_that_is_read_slowly(start: Callable[..., BotProcess]) -> None:
    """The time of an answer starts when the last byte of the question was written."""
    slow = "head -c 1 >/dev/null; sleep 0.5; head -c 999999 >/dev/null; echo done"
    reader = start("/bin/sh", "-c", slow)
    started = time.monotonic_ns()
    answer, elapsed_ns = reader.ask("x" * 1_000_000, 20)
    assert answer == "done"
    assert elapsed_ns < time.monotonic_ns() - started - 0.49e9


@pytest.mark.parametrize(("at", "load", "named"), [(0, 9.54, True), (0, 1.5, False), (1, 9, False)])
def test_a_late_first_answer_comes_with_the_load(
    at: int, load: float, named: bool, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most first answers that are late come from a machine that has too much to do."""
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    fault = run("hang", at, timeout_scale=TIGHT).fault
    assert fault is not None
    said = "; the load of this machine was 9.5, for 2 processors"
    assert fault.message.endswith(said) == named
    assert ("load" in fault.message) == named


def test_answer_that_is_there_at_the_end_of_the_limit(
    start: Callable[..., BotProcess], processes: Processes
) -> None:
    """A delayed referee looks for an answer once more before it declares a timeout."""
    ready = start("/bin/sh", "-c", "echo answer; : > $LOCMSIM_TEST_PIDS/$$; exec sleep 600")
    while not processes.seen():
        time.sleep(0.01)
    assert ready.ask("question\n", 0.0, lenient=True)[0] == "answer"
    raises(BotFault, "no answer within 0 ms", ready.ask, "question\n", 0.0, lenient=True)


def test_other_bots_errors_are_read_meanwhile(start: Callable[..., BotProcess]) -> None:
    """While one bot is asked, the other one's standard error is read, so that it is not blocked."""
    printing = start("/bin/sh", "-c", "read x; echo first; yes | head -c 500000 >&2; echo $x")
    other = start("/bin/sh", "-c", "read x; sleep 1; echo done")
    assert printing.ask("hello\n", 20)[0] == "first"
    assert other.ask("hello\n", 20, other=printing)[0] == "done"
    with pytest.raises(BotFault, match="was written before the input"):  # it was not blocked
        printing.ask("again\n", 20)


@pytest.mark.parametrize(
    "options",
    [
        *({"timeout_scale": scale} for scale in (-1.0, float("nan"), float("inf"))),
        *({"match_limit": limit} for limit in (0.0, float("nan"))),
    ],
)
def test_options_out_of_range(options: dict[str, float]) -> None:
    raises(ValueError, next(iter(options)), play, ["true", "true"], Match(seed=1), **options)


def test_what_cannot_be_played() -> None:
    match = Match(seed=1)
    raises(ValueError, "two commands", play, ["true"], match)
    match.submit(0, None)
    match.submit(1, None)
    raises(ValueError, "over", play, ["true", "true"], match)

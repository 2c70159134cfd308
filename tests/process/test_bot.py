"""Tests of the stdin bot, as a process and as the loop that reads questions and writes answers."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import (
    REFERENCE,
    RULE_SETS,
    GoldenChunk,
    Output,
    answer_of,
    each_rules,
    each_rules_slowly,
    output_of,
    python,
)
from onnx_files import write_onnx

from locmsim import Match, bot
from locmsim.agents import make_agent
from locmsim.errors import ProtocolError
from locmsim.game.observation import Observation
from locmsim.policy import Policy
from locmsim.referee import play

BOT = [sys.executable, "-m", "locmsim.bot"]
FOLDER = Path(__file__).parents[2] / "bots" / "mcts"
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start():
    """Yield a function that starts bots as processes; they are killed at the end of the test."""
    processes = []

    def run(*options: str, **streams: int) -> subprocess.Popen[str]:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen([*BOT, *options], text=True, **{**pipes, **streams})
        processes.append(process)
        return process

    yield run
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def main_of(monkeypatch):
    """Return a function that runs the bot in this process with an input."""

    def run(text: str, *options: str, code: int = 0) -> Output:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return output_of(*options, code=code, program=bot.main)

    monkeypatch.setattr("gc.freeze", lambda: None)
    monkeypatch.setattr("gc.disable", lambda: None)
    return run


def ask(process: subprocess.Popen[str], text: str) -> str:
    process.stdin.write(text)
    process.stdin.flush()
    return process.stdout.readline()


# ------------------------------------------------------------------------------------- matches


@each_rules_slowly
def test_matches_under_the_referee(rules):
    """The default bot wins against random actions. The time limits are wide, for busy machines."""
    match = Match(rules, seed=2)
    result = play((" ".join(BOT), " ".join([*BOT, "--agent", "random"])), match, timeout_scale=5)
    assert result.fault is None
    assert result.scores == (1, 0)


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.exists(), reason="not the source tree")
def test_the_folder_is_the_same_bot(start):
    text = Match(seed=1).input_text(0)
    process = python(FOLDER, input=text)
    assert process.stdout == ask(start(), text)
    assert process.stderr == ""


@pytest.mark.parametrize(
    "spec", ["osl", "beam:time_ms=0,nodes=300", "mcts:time_ms=0,iterations=20"]
)
def test_the_match_is_that_of_the_agent(start, spec):
    """With the same seed and budget, the process gives the same answers as the agent."""
    process = start("--agent", spec, "--seed", "5", "--deck", "bodies")
    agents = make_agent(spec, deck="bodies"), make_agent("random")
    for player, agent in enumerate(agents):
        agent.reset(5 + player)
    match = Match(seed=3)
    while match.to_ask:
        player, line = answer_of(match, agents)
        if player == 0:
            assert ask(process, match.input_text(0)) == line + "\n"
        match.submit(player, line)
    assert match.winner == 0


@pytest.mark.parametrize(("rules", "search"), [("1.5", "beam"), ("1.2", "mcts"), ("1.0", "mcts")])
def test_the_rules_decide_how_it_searches(monkeypatch, main_of, rules, search):
    asked = []

    class Noted:
        def __init__(self, name):
            self.name = name

        def reset(self, seed=0):
            self.seed = seed

        def choose(self, observation):
            asked.append((self.name, self.seed))
            return "PASS"

    monkeypatch.setattr(bot, "make_agent", lambda name, **options: Noted(name))
    assert main_of(Match(rules, seed=1).input_text(0), "--seed", "3") == ("PASS\n", "")
    assert asked == [(search, 3)]


# --------------------------------------------------------------------------- ends of the process


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


@pytest.mark.parametrize("lines", [0, 3, 50])
def test_end_of_input(main_of, lines):
    """If the input ends before or within the first question, the bot exits quietly."""
    text = Match(seed=1).input_text(0)
    assert main_of("".join(text.splitlines(keepends=True)[:lines])) == ("", "")


def test_nobody_reads(start):
    reading, writing = os.pipe()
    process = start(stdout=writing)
    os.close(writing)
    os.close(reading)
    process.stdin.write(Match(seed=1).input_text(0))
    process.stdin.flush()
    assert finish(process) == (0, None, "")


@pytest.mark.parametrize("number", [None, signal.SIGINT], ids=str)
def test_the_end_after_an_answer(start, number):
    """By the end of the input, and by Ctrl-C."""
    process = start()
    assert ask(process, Match(seed=1).input_text(0)).startswith("CHOOSE ")
    if number is not None:
        process.send_signal(number)
    assert finish(process) == (0, "", "")


def test_input_that_makes_no_sense(main_of):
    stdout, stderr = main_of("30 0 0 0\n30 0 zero 0\n", code=1)
    assert stdout == ""
    assert stderr == ("python -m locmsim.bot: line 2: deck_size: expected an integer, got 'zero'\n")


@pytest.mark.slow
@each_rules_slowly
@pytest.mark.parametrize("kind", ["npz", "onnx"])
def test_a_trained_chooser_chooses(start, rules, kind, tmp_path):
    """The process chooses the same cards as the agent."""
    path = tmp_path / f"choice.{kind}"
    policy = Policy.random("mlp", rules=rules, layout="choice", seed=2)
    if kind == "npz":
        policy.save(path)
    else:
        write_onnx(path, policy, {"locmsim.rules": rules, "locmsim.layout": "choice"})
    spec = f"greedy:{'deck' if rules == '1.5' else 'draft'}=policy:path={path}"
    process, agent = start("--agent", spec), make_agent(spec)
    agent.reset()
    match, chosen = Match(rules, seed=3), []
    while match.phase == "choice":
        line = agent.choose(match.observation(0))
        assert ask(process, match.input_text(0)) == f"{line}\n"
        chosen.append(line)
        match.submit(0, line)
        match.submit(1, "PASS")
    assert len(set(chosen)) == (1 if rules == "1.5" else 3)
    flag = "--deck" if rules == "1.5" else "--draft"
    for options in (["--agent", "greedy"], []):
        process = start(*options, flag, f"policy:path={path}")
        assert ask(process, Match(rules, seed=3).input_text(0)) == f"{chosen[0]}\n"


@pytest.mark.slow
def test_an_agent_of_a_file(tmp_path):
    """An agent in a file is looked up in the folder where the bot is started."""
    code = "from locmsim.agents import GreedyAgent\nclass Mine(GreedyAgent):\n    pass\n"
    (tmp_path / "mine.py").write_text(code)
    text = Match(seed=1).input_text(0)
    answers = set()
    for spec in ("greedy", "mine.py:Mine", "mine:Mine:draft=default", f"{tmp_path}/mine.py:Mine"):
        process = python("-m", "locmsim.bot", "--agent", spec, cwd=tmp_path, input=text)
        assert process.stderr == ""
        answers.add(process.stdout)
    assert len(answers) == 1


def test_help_lists_agents_and_their_options(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = output_of("--help", program=bot.main).out
    assert "  greedy " in text
    assert "time_ms=120.0" in text
    assert max(map(len, text.splitlines())) <= 80


def imported_of(modules, code):
    """Return which modules a process has imported after some code, as a text."""
    code += f"; print([name for name in {modules} if name in sys.modules])"
    # A process that measures coverage imports more modules.
    plain = {name: value for name, value in os.environ.items() if name[:9] != "COVERAGE_"}
    return python("-c", code, env=plain).stdout.strip()


def test_start_is_light():
    """Modules that take long to import are not imported before the first question can be read."""
    slow = (
        "numpy", "asyncio", "zipfile", "importlib.resources", "pathlib", "hashlib",
        "locmsim.search.analysis", "locmsim.rules.generator", "locmsim.agents.rule",
    )  # fmt: skip
    assert imported_of(slow, "import sys, locmsim.bot") == "[]"


def test_answers_need_no_numpy():
    """With the package's networks a bot chooses its cards and plays without it."""
    code = (
        "from locmsim import Match, play_match; from locmsim.agents import make_agent;"
        "agents = lambda: [make_agent(one) for one in ('beam:nodes=5', 'mcts:iterations=5')];"
        f"[play_match(Match(rules, seed=1), agents()) for rules in {RULE_SETS}]; import sys"
    )
    assert imported_of(("numpy", "zipfile"), code) == "[]"


def test_agents_are_imported_when_they_are_asked_for():
    code = (
        "import sys, locmsim.agents as agents;"
        "print('osl' in agents.AGENTS, 'locmsim.agents.osl' in sys.modules);"
        "print(agents.OSLAgent is agents.AGENTS['osl'] is agents.osl.OSLAgent);"
        "print({*agents.__all__} <= {*dir(agents)}, agents.Nobody)"
    )
    process = python("-c", code, code=1)
    assert process.stdout == "True False\nTrue\n"
    assert process.stderr.endswith("module 'locmsim.agents' has no attribute 'Nobody'\n")


# ------------------------------------------------------------------------------------- the loop


class Recorder:
    """An agent that records its observations."""

    def __init__(self) -> None:
        self.asked: list[Observation] = []

    def reset(self, seed: int = 0) -> None:
        pass

    def choose(self, observation: Observation) -> str:
        self.asked.append(observation)
        return f"choice {len(self.asked)}"

    def act(self, observation: Observation) -> str:
        self.asked.append(observation)
        return f"turn {len(self.asked)}"


@each_rules
def test_rules_are_recognised(rules):
    """The bot recognises rule set and phase of all inputs of golden games, the last included."""
    for game in GoldenChunk(rules, 0, 10 if REFERENCE is None else 100):
        texts = list(game["choice_inputs"][0])
        texts += [turn["input"] for turn in game["turns"] if turn["player"] == 0]
        agent = Recorder()
        target = io.StringIO()
        with pytest.raises(EOFError):
            bot.answer_all(agent, io.StringIO("".join(texts)), target)
        assert agent.asked == [Observation.parse(text, rules) for text in texts]
        choices = len(game["choice_inputs"][0])
        assert target.getvalue().splitlines() == [
            f"{'choice' if i <= choices else 'turn'} {i}" for i in range(1, len(texts) + 1)
        ]


def test_an_empty_table_does_not_decide_the_rules():
    """If the first input has no cards, 1.0 looks like 1.2; a later input decides the rules."""
    empty = "30 3 10 25 1\n30 3 10 25 1\n4 0\n0\n"
    row = "82 4 0 0 7 5 5 B-D--W 0 0 0 \n"
    agent = Recorder()
    with pytest.raises(EOFError):
        bot.answer_all(agent, io.StringIO(empty + empty[:-2] + "1\n" + row), io.StringIO())
    assert [observation.rules for observation in agent.asked] == ["1.2", "1.0"]


def test_nonsense_is_an_error_with_its_line():
    with pytest.raises(ProtocolError, match="line 1: own player line"):
        bot.answer_all(Recorder(), io.StringIO("hello\n"), io.StringIO())

"""Tests of the examples without a compiler: the bot in one file, the course and the notebook."""

import ast
import importlib
import json
import re
import sys
from pathlib import Path

import pytest
from amounts import amount
from helpers import answer_of, contest, each_rules, each_rules_slowly, python

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.referee import play

EXAMPLES = Path(__file__).parents[2] / "examples"
BOT = EXAMPLES / "stdin_bot.py"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="not the source tree")


def imported(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


# ------------------------------------------------------------------------------ the bot in one file


def test_the_bot_needs_the_standard_library_only():
    assert imported(BOT) <= sys.stdlib_module_names


@each_rules
def test_the_bot_plays_and_wins(rules):
    """The bot wins most games against random actions, and few of its actions are illegal."""
    wins = 0
    applied = ignored = 0
    for seed in range(6):
        match = Match(rules, seed=seed)
        bot = f"{sys.executable} -S -E {BOT}"
        result = play((bot, make_agent("random")), match, timeout_scale=5)
        assert result.fault is None
        wins += result.winner == 0
        turns = [call.result for call in result.calls if call.player == 0]
        applied += sum(len(turn.applied) for turn in turns)
        ignored += sum(len([a for a in turn.ignored if a != "PASS"]) for turn in turns)
    assert wins >= 5
    assert ignored <= 0.1 * applied


def test_the_bot_ends_when_its_input_does():
    done = python(BOT, input="")
    assert (done.stdout, done.stderr) == ("", "")


# ------------------------------------------------------------------------------------- the course

#: By step, the agent that it plays against, and the wins of 10 games that it must reach: far fewer
#: than its share in the many games of the table in docs/agents.md.
STEPS = {
    "greedy.py:Greedy": ("random", 8),
    "flat.py:Flat": ("greedy.py:Greedy", 4),
    "uct.py:UCT": ("flat.py:Flat", 3),
    "beam.py:Beam": ("uct.py:UCT", 3),
    "believer.py:Believer": ("beam.py:Beam", 3),
}
#: The maximum number of lines of code of a step, without docstrings and blank lines.
LINES = {"greedy.py:Greedy": 20, "uct.py:UCT": 80}


def of_course(name):
    return f"{EXAMPLES / 'course' / name}" if ".py" in name else name


@pytest.mark.slow
@each_rules_slowly
@pytest.mark.parametrize("step", STEPS)
def test_each_step_of_the_course_plays(step, rules):
    before, least = STEPS[step]
    few = amount(2, 10) if rules == "1.5" else 2
    wins = 0
    for game in range(few):
        specs = [of_course(step), of_course(before)]
        match = Match(rules, seed=game // 2)
        contest(match, specs if game % 2 == 0 else specs[::-1], (game, game))
        wins += match.winner == game % 2
    if few == 10:
        assert wins >= least


@pytest.mark.slow
def test_the_table_of_the_course(monkeypatch, capsys):
    monkeypatch.syspath_prepend(EXAMPLES / "course")
    table = importlib.import_module("table")
    monkeypatch.setattr(table, "STEPS", table.STEPS[:2])
    table.main(["--games", "2", "--rules", "1.5", "--jobs", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| step | against the previous step, 1.5 |"
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| `{name}`" for name in table.STEPS]
    assert re.fullmatch(r"\| `greedy.py:Greedy` \| 100\.0 \([0-9.]+ - 100\.0\) \|", lines[2])


@pytest.mark.parametrize("step", LINES)
def test_steps_are_as_short_as_the_page_says(step):
    tree = ast.parse(Path(of_course(step).rpartition(":")[0]).read_text(encoding="utf-8"))
    tree.body = tree.body[1:]  # without the docstring
    lines = [line for line in ast.unparse(tree).splitlines() if line.strip()]
    assert len(lines) <= LINES[step]


def test_the_page_shows_the_first_step_as_it_is():
    page = (EXAMPLES.parent / "docs" / "agents.md").read_text(encoding="utf-8")
    code = (EXAMPLES / "course" / "greedy.py").read_text(encoding="utf-8").split('"""', 2)[2]
    assert code.strip() in page


@pytest.mark.slow
@each_rules_slowly
@pytest.mark.parametrize("step", STEPS)
def test_no_step_peeks(step, rules):
    """The answer of a step does not depend on hidden cards."""
    match = Match(rules, seed=9)
    agents = make_agent("greedy"), make_agent("greedy")
    while match.state is None or match.state.turn < 6:
        match.submit(*answer_of(match, agents))
    player = match.to_ask[0]
    lines = set()
    for seed in range(3):
        agent = make_agent(of_course(step))
        agent.reset(1)
        lines.add(agent.act(match.state.resample_hidden(player, seed).observation(player)))
    assert len(lines) == 1


# ------------------------------------------------------------------------------------ the notebook


def test_the_notebook_runs(monkeypatch):
    """The cells of the notebook run in order as in Jupyter, and the file contains no output."""
    monkeypatch.chdir(EXAMPLES)
    (file,) = EXAMPLES.glob("*.ipynb")
    notebook = json.loads(file.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    names: dict[str, object] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    for number, cell in enumerate(cells):
        assert cell["outputs"] == []
        exec(compile("".join(cell["source"]), f"{file.name}[{number}]", "exec"), names)

"""The examples that need no compiler: the bot in one file, the tree search, the notebook."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import RULE_SETS

from locmsim.agents import make_agent
from locmsim.game.match import Match
from locmsim.referee import play

EXAMPLES = Path(__file__).parents[2] / "examples"
BOT = EXAMPLES / "stdin_bot.py"
TREE = f"{EXAMPLES / 'mcts_agent.py'}:TreeSearch"

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


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_bot_plays_and_wins(rules):
    """Nearly all games against random actions, and none of its actions is made up."""
    wins = 0
    applied = ignored = 0
    for seed in range(6):
        match = Match(rules, seed=seed)
        result = play((f"{sys.executable} {BOT}", make_agent("random")), match, timeout_scale=5)
        assert result.fault is None
        wins += result.winner == 0
        turns = [call.result for call in result.calls if call.player == 0]
        applied += sum(len(turn.applied) for turn in turns)
        ignored += sum(len([a for a in turn.ignored if a != "PASS"]) for turn in turns)
    assert wins >= 5
    assert ignored <= 0.1 * applied


def test_the_bot_ends_when_its_input_does():
    done = subprocess.run([sys.executable, BOT], input="", capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# --------------------------------------------------------------------------------- the tree search


def test_the_tree_search_is_short():
    code = (EXAMPLES / "mcts_agent.py").read_text(encoding="utf-8").split('"""', 2)[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 60


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_tree_search_wins(rules):
    for seat in (0, 1):
        specs = [f"{TREE}:iterations=40", "random"]
        match = Match(rules, seed=seat)
        contest(match, specs if seat == 0 else specs[::-1])
        assert match.winner == seat


def contest(match, specs):
    agents = [make_agent(spec) for spec in specs]
    while match.to_ask:
        player = match.to_ask[0]
        ask = agents[player].choose if match.state is None else agents[player].act
        result = match.submit(player, ask(match.observation(player)))
        assert result.error is None
        assert result.ignored in ([], ["PASS"])


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_tree_search_does_not_peek(rules):
    """What it cannot see may change, and its answer stays."""
    match = Match(rules, seed=9)
    agents = make_agent("greedy"), make_agent("greedy")
    while match.state is None or match.state.turn < 6:
        player = match.to_ask[0]
        ask = agents[player].choose if match.state is None else agents[player].act
        match.submit(player, ask(match.observation(player)))
    player = match.to_ask[0]
    lines = set()
    for seed in range(3):
        agent = make_agent(f"{TREE}:iterations=40")
        agent.reset(1)
        lines.add(agent.act(match.state.resample_hidden(player, seed).observation(player)))
    assert len(lines) == 1


# ------------------------------------------------------------------------------------ the notebook


def test_the_notebook_runs(monkeypatch):
    """Cell by cell, as Jupyter would; it is stored without output."""
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

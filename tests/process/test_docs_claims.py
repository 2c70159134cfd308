"""What pages claim about the output of commands: scores, who wins, what is refused, exit codes."""

import re
import shlex

import pytest
from helpers import BOT
from page_commands import DOCS, Desk, blocks, script

ROOT = DOCS.parent


def readme_match() -> str:
    """Return the README's match of the bundled bot against itself, with little time for a turn."""
    (command,) = [block for block in blocks("../README.md", "sh") if "bots/mcts" in block]
    play = command.split(" && ")[-1].replace(".venv/bin/", "")
    return play.replace("bots/mcts", f"{shlex.quote(str(ROOT / 'bots' / 'mcts'))} --time-ms 1")


def test_the_first_command_prints_scores_and_seeds(desk: Desk) -> None:
    """README: it prints both scores, 1 for the winner, and the seeds that repeat the match."""
    printed = desk.run(readme_match()).splitlines()
    assert sorted(printed[:2]) == ["0", "1"]
    assert printed[2] == "seed=1"
    seeds = [line for line in printed[2:] if "=" in line]
    assert {line.partition("=")[0] for line in seeds} >= {"cardGenSeed", "shufflePlayer0Seed"}
    again = f"locmsim play random random -d {shlex.quote(' '.join(seeds))}"
    assert [line for line in desk.run(again).splitlines()[2:] if "=" in line] == seeds


def test_check_accepts_a_bot_and_refuses_another(desk: Desk) -> None:
    """README and docs/referee.md: whether a bot keeps the protocol; status 1 if it failed."""
    desk.run("locmsim check ./mybot")
    script(desk.folder / "mybot", *BOT, "leave", "1", "3", arguments="")
    assert "crashed" in desk.run("locmsim check ./mybot", code=1)


@pytest.mark.slow
def test_exit_codes_of_play(desk: Desk) -> None:
    """docs/referee.md: 0 with or without a fault, 1 if a bot could not be started, 2 for usage."""
    script(desk.folder / "fails", *BOT, "leave", "1", "3", arguments="")
    assert desk.run("locmsim play ./fails greedy --seed 1").startswith("-1\n0\n")
    desk.run("locmsim play ./nothing greedy", code=1)
    desk.run("locmsim play greedy --rules 1.7", code=2)


@pytest.mark.slow
def test_exit_codes_of_the_bot(desk: Desk) -> None:
    """docs/agents.md: 0 when the input ends, 1 and the line if it is malformed, 2 for usage."""
    desk.run("python -m locmsim.bot < /dev/null")
    said = desk.run("echo nonsense | python -m locmsim.bot 2>&1", code=1)
    assert "line 1" in said
    desk.run("python -m locmsim.bot --search deep", code=2)


@pytest.mark.slow
def test_first_bots_win_and_lose_as_the_tutorial_says(desk: Desk) -> None:
    """The agent of the tutorial beats random and greedy, and loses with the deck of greedy."""
    text = (DOCS / "tutorials" / "first-bot.md").read_text(encoding="utf-8")
    code = re.findall(r"(?m)^```python\n(from locmsim.*?)^```$", text, re.S)[-1]
    (desk.folder / "mybot.py").write_text(code)
    shares = {}
    for deck, opponent in (("", "random"), ("", "greedy"), (":deck=classic", "greedy")):
        table = desk.run(
            f"locmsim arena mybot.py:Mine{deck} {opponent} --games 60 --seed 1"
            f" --db {len(shares)}.db"
        )
        (row,) = re.findall(rf"(?m)^mybot.py:Mine{deck} +60 +\d+ +([\d.]+)", table)
        shares[deck, opponent] = float(row)
    assert shares["", "random"] > 50
    assert shares["", "greedy"] > 50
    assert shares[":deck=classic", "greedy"] < 50


@pytest.mark.slow
def test_a_changed_bot_is_not_mixed_with_the_one_before(desk: Desk) -> None:
    """docs/compare.md: the arena refuses to resume if a file has changed; `--force` does."""
    (desk.folder / "mine.py").write_text("from locmsim.agents import RuleAgent as Mine\n")
    desk.run("locmsim arena mine.py:Mine random --games 2 --db results.db")
    (desk.folder / "mine.py").write_text("from locmsim.agents import GreedyAgent as Mine\n")
    desk.run("locmsim arena --db results.db --games 4", code=1)
    assert "4 games" in desk.run("locmsim arena --db results.db --games 4 --force")


@pytest.mark.slow
def test_puzzles_are_solved_as_the_page_shows(desk: Desk) -> None:
    """docs/referee.md: the printed scores of two agents."""
    page = (DOCS / "referee.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"(?m)^```text\n(\d+ puzzles.*?)^```$", page, re.S)
    (command,) = re.findall(r"(?m)^    (locmsim analyse --puzzles built-in .*)$", page)
    assert desk.run(command) == shown

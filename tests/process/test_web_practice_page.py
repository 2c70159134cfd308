"""Browser tests of the page *Practice*: puzzles and mistakes, by mouse, keyboard and touch."""

import re
from pathlib import Path
from typing import Any

import pytest
from amounts import amount
from browser import PHONE, browser, sync_api
from helpers import HOSTILE, log_line, match_of
from web_server import Opener, Server, server, visit, watch

from locmsim.referee.turn_report import LEAST_LOSS, report_turns
from locmsim.search.puzzles import DIFFICULTIES, built_in_puzzles

__all__ = ["browser", "server", "visit", "watch"]

pytestmark = pytest.mark.slow

expect = sync_api.expect
PUZZLES = built_in_puzzles()
more = pytest.mark.skipif(not amount(0, 1), reason="takes long: only with --more")


def target_of(action: str) -> tuple[str, str]:
    """Return the places on the board that are to be clicked for an action."""
    word, first, *rest = action.split()
    if word == "SUMMON":
        return f"card{first}", f"lane{rest[0] if rest else 0}"
    return f"card{first}", "player" if rest[0] == "-1" else f"card{rest[0]}"


def play(page: Any, actions: list[str], how: str = "click") -> None:
    """Play actions on the board: by "click", "tap" or "press" (the keyboard)."""
    for number, action in enumerate(actions, 1):
        for place in target_of(action):
            found = page.locator(f"[data-place={place}]")
            if how == "press":
                found.focus()
                page.keyboard.press("Enter")
            elif how == "tap":
                found.tap()
            else:
                found.click()
        page.wait_for_selector(f"body[data-done='{number}']")


def opened(page: Any, title: str) -> None:
    page.wait_for_selector("[aria-busy=false] .board .can")
    expect(page.locator("#exercise")).to_contain_text(title)
    page.wait_for_selector("[aria-busy=false] .board .can")


def count_of(page: Any, difficulty: str) -> str:
    return str(page.locator(f"[data-difficulty={difficulty}]").inner_text())


def test_a_puzzle_is_solved_and_remembered(server: Server, visit: Opener) -> None:
    page = visit(server(), "practice")
    opened(page, "Puzzle 1, easy")
    easy = sum(puzzle.difficulty == "easy" for puzzle in PUZZLES)
    assert count_of(page, "easy") == f"easy: 0 of {easy} solved"
    actions = PUZZLES[0].line.split(";")
    play(page, actions[:1])
    page.keyboard.press("u")
    page.wait_for_selector("body[data-done='0']")
    page.keyboard.press("Shift+E")
    expect(page.locator("#verdict")).to_contain_text("Not yet: the opponent has ")
    page.click("#again")
    expect(page.locator("#verdict")).to_be_hidden()
    play(page, actions)
    expect(page.locator("#verdict")).to_contain_text("Solved: this wins.")
    assert count_of(page, "easy") == f"easy: 1 of {easy} solved"
    page.click("#next")
    opened(page, "Puzzle 2, easy")
    page.reload()
    page.goto(page.url.partition("#")[0])
    opened(page, "Puzzle 2, easy")
    assert count_of(page, "easy") == f"easy: 1 of {easy} solved"
    page.click("#solve")
    words = page.locator("#solution li")
    expect(words).to_have_count(len(PUZZLES[1].line.split(";")))
    words.last.locator("button").click()
    page.click("#arrows")
    expect(page.locator(".arrows .advised")).not_to_have_count(0)


@more
@pytest.mark.parametrize("how", amount(["tap"], most=["press", "tap"]))
def test_puzzles_by_keyboard_and_touch(how: str, server: Server, visit: Opener) -> None:
    page = visit(server(), "practice", **(PHONE if how == "tap" else {}))
    opened(page, "Puzzle 1, easy")
    for rules in ("1.5", "1.2", "1.0"):
        page.select_option("#rules", rules)
        for difficulty in DIFFICULTIES:
            number, puzzle = next(
                (number, puzzle)
                for number, puzzle in enumerate(PUZZLES)
                if (puzzle.state.rules, puzzle.difficulty) == (rules, difficulty)
            )
            page.locator(f"[data-difficulty={difficulty}]").click()
            opened(page, f"Puzzle {number + 1}, {difficulty}, rules {rules}")
            play(page, puzzle.line.split(";"), how)
            expect(page.locator("#verdict")).to_contain_text("Solved: this wins.")


@more
def test_mistakes_of_a_report_are_played_again(watch: Opener) -> None:
    result = match_of(first="random")
    wrong = [t for t in report_turns(result, players=[0]) if t.loss >= LEAST_LOSS]
    page = watch(result, (HOSTILE, "bob"))
    page.click("#tab-report")
    page.click("#report-start")
    page.click("#try-again")
    opened(page, f"Turn {wrong[0].turn}, ")
    rows = page.locator("#mistakes li")
    expect(rows).to_have_count(len(wrong))
    expect(page.locator("#searched")).to_contain_text("Done: 1 of 1 match, ")
    assert HOSTILE.split()[0] in rows.first.inner_text()
    page.keyboard.press("Shift+E")
    told = page.locator("#verdict")
    expect(told).to_contain_text("Your chance of winning with this turn: ")
    assert re.search("(Worse by .* than|As good as) the best turn", told.inner_text())
    best = [] if wrong[0].best == "PASS" else wrong[0].best.split(";")
    expect(page.locator("#solution li")).to_have_count(max(1, len(best)))
    page.click("#again")
    page.wait_for_selector("body[data-done='0']")
    play(page, best)
    if page.locator("#verdict").is_hidden():
        page.click("#end")
    expect(told).to_contain_text("As good as the best turn that the engine found")
    expect(told).to_contain_text("Better by ")
    expect(rows.first).to_contain_text("solved: ")
    page.keyboard.press("n")
    opened(page, f"Turn {wrong[1].turn}, ")


@more
def test_mistakes_of_a_players_games(server: Server, visit: Opener, tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    logs = [log_line(match_of(seed=seed, first="random"), ("ann", "bob")) for seed in (4, 5)]
    path.write_text("\n".join(logs) + "\n")
    page = visit(server(str(path)), "practice")
    opened(page, "Puzzle 1, easy")
    page.select_option("#player", "ann")
    page.click("#find")
    expect(page.locator("#searched")).to_contain_text("Done: 2 of 2 matches")
    opened(page, ", \u2068ann\u2069 against \u2068bob\u2069")
    rows = page.locator("#mistakes li")
    rows.last.locator("button").click()
    expect(page.locator("#exercise")).to_have_text(rows.last.inner_text())

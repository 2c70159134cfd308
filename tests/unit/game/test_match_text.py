"""The text of a match: it is complete, and it says what happened."""

import re

import pytest
from helpers import begun_match, match_of, raises

from locmsim import Match
from locmsim.art import card_title
from locmsim.contract import Fault, FaultKind
from locmsim.referee import Result, replay_calls
from locmsim.referee.any_game import fault_text, position_after, summary_text
from locmsim.referee.locm_text import (
    card_text,
    match_text,
)
from locmsim.rules.cards import Area, Card, CardType

ANT = Card(1, CardType.CREATURE, 1, 2, 1, "-C----", 0, 0, 0, Area.TARGET, "Ant")


def given(*lines: str | None, fault: Fault | None = None, stderr: str = "") -> Result[Match]:
    """Return the result of a match with these answers, then PASS."""
    match = Match(seed=5)
    answers = iter(lines)
    calls = (
        (match.to_ask[0], next(answers, "PASS"), 1_500_000) for _ in range(200) if match.to_ask
    )
    return replay_calls(match, calls, fault=fault, stderr=("", stderr))


@pytest.mark.parametrize(
    ("rules", "ids"), [("1.5", "new"), ("1.5", "old"), ("1.2", "new"), ("1.0", "new")]
)
def test_every_action_and_its_effect(rules: str, ids: str) -> None:
    """Boards, health and deaths in the text are those of the match after each action."""
    result = match_of(rules, ids=ids)
    text = match_text(result)
    turns = re.split(r"\n\n(?=turn )", text)[1:]
    assert len(turns) == result.turns
    battle = [call for call in result.calls if call.turn is not None]
    health = [30, 30]
    for call, turn in zip(battle, turns, strict=True):
        first, *lines = turn.splitlines()
        assert first.startswith(f"turn {call.turn}, player {call.player}: ")
        done = [line for line in lines if re.match("    (summons|uses|.* attacks) ", line)]
        assert len(done) == len(call.result.applied)
        for action, line in zip(call.result.applied, done, strict=True):
            verb = {"SUMMON": "summons ", "USE": "uses ", "ATTACK": " attacks "}
            assert verb[action.split(" ")[0]] in line
        for player, now in re.findall(r"player ([01]): [+-][0-9]+ health, (-?[0-9]+) left", turn):
            health[int(player)] = int(now)
        boards = re.findall("^        board of ([01]): ", turn, re.MULTILINE)
        assert boards == ["0", "1"] * len(done)
    state = result.match.state
    assert state is not None
    for player in (0, 1):
        last = re.findall(f"board of {player}: (.*)", text)[-1]
        board = state.players[player].board
        assert last.count("#") == len(board)
        for creature in board:
            assert f"{creature.attack}/{creature.defense}" in last
    assert state.players[1 - result.winner].health <= 0 or "leads" in text
    assert text.endswith(f"player {result.winner} wins\n")


def test_decks_and_draws() -> None:
    result = match_of()
    lines = match_text(result).splitlines()
    assert lines[0] == "player 0 chose 30 cards:"
    cards = {card.base_id: card for card in result.match.cards}
    shown = set(lines[1 : lines.index("player 1 chose 30 cards:")])
    chosen = result.match.chosen[0]
    assert shown == {f"    {chosen.count(i)} x {card_text(cards[i])}" for i in chosen}
    assert all(f" x {card_title(cards[i])} (" in "\n".join(shown) for i in chosen)
    assert all(card.name == "" for card in result.match.cards)  # names are made for the text only
    draws = [line for line in lines if line.startswith("    draws ")]
    assert card_text(cards[result.match.decks[0][0][1]]) in draws[0]


def test_card_text() -> None:
    assert card_text(ANT) == "Ant (1: 2/1, C)"
    blue = Card(9, CardType.BLUE, 3, 0, -4, "------", 2, -1, 1, Area.LANE1)
    expected = f"{card_title(blue)} (3: +0/-4, own health +2, enemy health -1, draw 1, lane1)"
    assert card_text(blue) == expected
    assert card_text(blue, "Rain 9") == expected.replace(card_title(blue), "Rain 9")


def test_what_was_not_legal() -> None:
    text = match_text(given("PASS", "PASS", "ATTACK 900 -1;PASS"))
    assert "    not legal: ATTACK 900 -1 (not on the board)\n" in text
    assert "not legal: PASS" not in text


def test_fault() -> None:
    fault = Fault(1, FaultKind.CRASHED, "its process exited with code 3")
    result = given("PASS", "PASS", "PASS", None, fault=fault, stderr="Traceback\nKeyError: 7\n")
    end = "player 1, end of standard error:\n    Traceback\n    KeyError: 7\n"
    text = match_text(result)
    assert f"in turn 1 player 1 failed: its process exited with code 3\n{end}" in text
    assert text.endswith("player 0 wins\n")
    summary = summary_text(result)
    line = "player 1 failed in turn 1 (crashed): its process exited with code 3"
    assert summary.startswith("player 0 wins after 2 turns and 0.01 s\n" + line)
    assert summary.endswith(end)
    assert fault_text(result) == line
    assert fault_text(result, words=True) + "\n" == f"{line}\n{end}"


def test_summary_without_a_fault() -> None:
    result = given()
    lines = summary_text(result).splitlines()
    assert lines[0].startswith(f"player {result.winner} wins after {result.turns} turns and ")
    assert lines[1].endswith(" answers, mean 1.5 ms, worst 1.5 ms")
    assert len(lines) == 3


def test_colours() -> None:
    result = match_of()
    plain, colored = match_text(result), match_text(result, color=True)
    assert "\033" not in plain
    assert re.sub(r"\033\[[0-9]+m", "", colored) == plain
    assert colored != plain


def test_line_in_the_place_of_another() -> None:
    result = given("PASS", "PASS")
    assert result.match.state is not None
    call = result.calls[2]
    legal = begun_match(seed=5)
    assert legal.state is not None
    action = legal.state.action_to_string(legal.state.legal_actions()[-1])
    done = position_after(result, 0, f"{action} with a comment;PASS")
    assert done == position_after(result, 0, f"PASS;{action}")
    assert done != position_after(result, 0, call.answer or "")
    assert position_after(result, 0, "HELP") is None
    raises(ValueError, "the match has no turn 999", position_after, result, 999, "PASS")

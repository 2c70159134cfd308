"""The explanation of a lost match: more than the referee's message about the last answer."""

import pytest
from helpers import begun_match

from locmsim import Match
from locmsim.contract import Fault, FaultKind
from locmsim.game.explain import explain

BAD_CHOICE = 'Invalid action. Expected  "CHOOSE id" or "PASS".'
LONG = "CHOOSE " + "9" * 40


def chosen(answer: str, rules: str = "1.5") -> str:
    """Return the explanation of this answer of player 0 in the first choice step."""
    match = Match(rules, seed=3)
    assert match.explain() == ""
    match.submit(0, answer)
    match.submit(1, "PASS")
    return match.explain()


def played(answer: str | None, player: int = 0) -> str:
    """Return the explanation of this answer of a player in their first turn."""
    match = begun_match(seed=3)
    for seat in range(player):
        match.submit(seat, "PASS")
    match.submit(player, answer)
    return match.explain()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("", "0 cards, expected 30"),
        ("CHOOSE 1", "1 card, expected 30"),
        ("CHOOSE 1 ; CHOOSE 1;;", "2 cards, expected 30"),
        ("CHOOSE 1;TAKE 2;CHOOSE 3", f"{BAD_CHOICE} It is part 2 of 3: 'TAKE 2'"),
        ("TAKE 2", f"{BAD_CHOICE} It is part 1 of 1: 'TAKE 2'"),
        (" ; TAKE é", f"{BAD_CHOICE} It is part 1 of 1: 'TAKE \\xe9'"),
        ("CHOOSE 1;" + LONG, "It is part 2 of 2: 'CHOOSE " + "9" * 33 + "...'"),
        # A PASS stands for several parts, so parts after it have no number.
        ("PASS;TAKE 2", BAD_CHOICE),
        ("\ufeffPASS", "a byte order mark stands before 'PASS'"),
    ],
)
def test_decks(answer: str, text: str) -> None:
    if text.startswith("It is"):
        assert chosen(answer).endswith(f" {text}")
    else:
        assert chosen(answer) == text


def test_part_of_a_deck_that_is_too_many() -> None:
    copies = ";".join(["CHOOSE 1"] * 3)
    assert chosen(copies) == (
        "Invalid action argument. Card can be chosen at most 2 times. It is part 3 of 3: 'CHOOSE 1'"
    )


def test_drafts_have_the_message_alone() -> None:
    assert chosen("TAKE 1", "1.2") == 'Invalid action. Expected  "PICK [0,1,2]" or "PASS".'


def test_battles() -> None:
    alone = played("JUMP 1 2")
    assert alone
    assert "$" not in alone
    assert "part" not in alone
    assert not alone.startswith((":", " "))
    assert played("JUMP 1 2", player=1) == alone
    assert played("PASS;JUMP 1 2 ;ATTACK 1") == f"{alone} It is part 2 of 3: 'JUMP 1 2 '"
    assert played("\ufeffPASS") == "a byte order mark stands before 'PASS'"
    assert played(None) == "timeout!"


def test_faults_without_an_answer() -> None:
    crash = Fault(1, FaultKind.CRASHED, "$1 crashed")
    assert explain("1.5", crash, None, None) == "crashed"
    late = Fault(0, FaultKind.TIMEOUT, "$0 timeout!")
    assert explain("1.5", late, "JUMP 1", None) == "timeout!"
    other = Fault(0, FaultKind.MALFORMED, "$0: no reason")
    assert explain("1.5", other, "PASS", None) == "no reason"
    assert explain("1.5", other, "CHOOSE 1;CHOOSE 2", 2) == "no reason"

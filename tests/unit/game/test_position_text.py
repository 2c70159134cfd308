"""`State.to_text` and `State.from_text`: docs/rules.md, section 13."""

import pytest
from helpers import each_rules, raises
from hypothesis import given
from hypothesis import strategies as st
from strategies import Position, positions

from locmsim import Match, State
from locmsim.game.positions import start_position
from locmsim.search import Belief


def check(state: State) -> None:
    """Check that the text gives an equal state with an equal future, hidden cards included."""
    text = state.to_text()
    assert "\n" not in text
    again = State.from_text(text)
    again.validate()
    assert again == state
    assert again.key() == state.key()
    assert again.snapshot() == state.snapshot()
    assert again.table.pool == state.table.pool
    assert again.to_text() == text
    assert again.resample_hidden(1, 7) == state.resample_hidden(1, 7)
    assert (again.rollouts(8, 1) == state.rollouts(8, 1)).all()


@each_rules
@given(data=st.data())
def test_any_position(rules: str, data: st.DataObject) -> None:
    position: Position = data.draw(positions(rules))
    state = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    check(state)
    for step in range(5):  # area copies, creatures that forget, cards of the other player
        actions = state.legal_actions()
        if not actions:
            break
        state.apply_action(actions[(7 * step + 3) % len(actions)])
        check(state)


@each_rules
def test_samples_of_a_belief(rules: str) -> None:
    """Sampled hidden cards are in the pool and have no instance ids, which the text can say."""
    match = Match(rules, seed=2)
    belief = Belief()
    while match.phase == "choice":
        belief.see(match.observation(0))
        match.submit(0, "PASS")
        match.submit(1, "PASS")
    belief.see(match.observation(0))
    state = belief.sample(3)
    assert "?:" in state.to_text()
    for _ in range(60):
        if state.is_terminal():
            break
        check(state)
        state.apply_action(state.legal_actions()[-1])


def test_cards_of_the_fixed_list_are_written_short() -> None:
    assert start_position(1, "1.2").to_text().endswith(" 160 " + ",".join(map(str, range(1, 161))))


BOARD = "7:0:2:2:-----W:0:r"
CARD = "3:0:1:2:2:------:0:0:0:0"
TEXT = f"1.5 2 - 30,1,1,0,1,1,0/-/{BOARD}/9:0 30,1,1,1,1,1,0/60:0/-/- 1 {CARD}"


def test_the_text_of_the_errors_is_sound() -> None:
    assert State.from_text(f"\t{TEXT} \n").to_text() == TEXT  # blanks around it do not matter


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" 1 3:0", " 3:0", r"expected 7 fields \(rules turn winner player player pool cards\)"),
        ("1.5 2", "1.1 2", "rules: expected 1.5, 1.2, 1.0, got '1.1'"),
        ("1.5 2", "1.5 two", "turn: expected an integer, got 'two'"),
        ("1.5 2 -", "1.5 2 2", "winner: expected -, 0 or 1, got '2'"),
        (" 30,1,1,0", " 31x,1,1,0", r"players\[0\]\.health: expected an integer"),
        (" 30,1,1,0", " 30,14,1,0", r"players\[0\]\.max_mana: expected 0 to 13, got 14"),
        (" 30,1,1,0", " 30,1,0", r"players\[0\]: expected health,max_mana,.*,lost"),
        (",0/60:0", ",-1/60:0", r"players\[1\]\.lost: expected 0 to "),
        (",0/60:0", ",10/60:0", r"players\[1\]\.next_draw: expected at least 2"),
        ("/60:0", "/60:1", r"players\[1\]\.hand\[0\]\.card: expected 0 to 0, got 1"),
        ("/60:0", "/255:0", r"players\[1\]\.hand\[0\]\.id: expected 0 to 254, got 255"),
        ("/60:0", "/60:0:1", r"players\[1\]\.hand\[0\]: expected id:card"),
        ("/60:0", "/9:0", r"players\[1\]\.hand\[0\]\.id: instance id 9 occurs twice"),
        ("/60:0", "/" + ",".join(f"{i}:0" for i in range(60, 69)), r"players\[1\]\.hand: 9 cards"),
        ("/9:0", "/7:0", "instance id 7 occurs twice"),
        ("60:0/-/-", "60:0/-", r"players\[1\]: expected numbers/hand/board/deck"),
        (BOARD, "7:0:2", r"players\[0\]\.board\[0\]: expected id:card:attack"),
        (BOARD, "7:0:2:2:W-----:0:r", r"players\[0\]\.board\[0\]\.abilities"),
        (BOARD, "7:0:2:2:-----W:2:r", r"players\[0\]\.board\[0\]\.lane: expected 0 to 1, got 2"),
        (BOARD, "7:0:2:2:-----W:0:rf", r"players\[0\]\.board\[0\]\.flags"),
        (BOARD, "7:0:2:2:-----W:0:rr", r"players\[0\]\.board\[0\]\.flags"),
        (BOARD, "7:0:99999:2:-----W:0:r", r"players\[0\]\.board\[0\]\.attack: expected -30500"),
        (BOARD, ",".join(f"{i}:0:1:1:------:1:-" for i in (1, 2, 3, 4)), "no room in lane 1"),
        (BOARD, "6+:0:1:1:------:1:-,7:0:1:1:------:1:-", r"board\[1\]\.id: instance id 7 occurs"),
        (" 1 3:0", " 2 3:0", "pool: expected 0 to 1, got 2"),
        (" 30,1,1,0", " 0,1,1,0", "a player without health, and no winner"),
        (" 1 3:0", " 2 3:0:1:2:3:------:0:0:0:0,3:0", "base id"),
        ("/60:0", "/?:0", None),
        (" 1 3:0", " 0 3:0", None),
        (CARD, ",".join([CARD] * 257), "cards: 257 cards, expected at most 256"),
        ("/9:0", "/" + ",".join(f"{i}:0" for i in range(9, 40)), r"players\[0\]\.deck: 31 cards"),
        ("3:0:1:2", "3:0:128:2", r"cards\[0\]: cost: expected 0..127, got 128"),
        ("3:0:1:2", "3:0:1", r"cards\[0\]: expected base:type:cost"),
        ("3:0:1:2", "3:1:1:2", r"board\[0\]\.card: a card of type 1 is not a creature"),
    ],
)  # fmt: skip
def test_errors_name_the_field(old: str, new: str, message: str | None) -> None:
    assert TEXT.count(old) == 1
    text = TEXT.replace(old, new)
    if message is None:
        assert State.from_text(text).to_text() == text
        return
    raises(ValueError, message, State.from_text, text)


def test_an_area_copy_is_of_the_card_that_was_summoned() -> None:
    text = TEXT.replace("7:0", "4+:0").replace("/9:0", "/4:1") + f",{CARD}"
    raises(ValueError, r"deck\[0\]\.card: instance 4 is card 0 elsewhere", State.from_text, text)
    # Cards without an id are of the pool.
    text = TEXT.replace("/60:0", "/?:0").replace(" 1 3:0", " 0 3:0")
    raises(ValueError, r"players\[1\]\.hand\[0\]: a card without an id", State.from_text, text)


def test_other_errors() -> None:
    text = start_position(1, "1.2").to_text()
    with pytest.raises(ValueError, match=r"cards\[0\]: no card of 1\.x has the base id 999"):
        State.from_text(text.replace(" 160 1,", " 160 999,"))
    with pytest.raises(ValueError, match=r"players\[0\]\.runes: expected 5, 10, .* got '7'"):
        State.from_text(text.replace("5.10", "7.10", 1))
    raises(TypeError, "expected a string, got 5", State.from_text, 5)

"""`State` and `Match` of Vestrock from Python: bounds, errors, texts, bytes, playouts."""

import pickle
from collections import Counter

import numpy as np
import pytest
from helpers import raises
from vestrock_data import CARDS, position
from vestrock_help import rule_playouts

from locmsim.errors import GameOverError, IllegalActionError, InvalidActionError
from vestrock import (
    Card,
    Match,
    State,
    Table,
    extreme_deck,
    generate_deck,
    state_from_replies,
    state_from_text,
)
from vestrock.protocol import POSITION_QUESTIONS as QUESTIONS

MIDDLE = "[t3 ac A10 B7 m2 l1/0 | A h7,8 b3,5-,4(3/1/4)! | B h9 b19 | D 1,2]"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("init_hp", 1, r"init_hp: expected 2 to 10000, got 1"),
        ("init_hp", 7, "init_hp: expected an even number, got 7"),
        ("turns", 61, "turns: expected an even number, got 61"),
        ("hand_limit", 0, r"hand_limit: expected 1 to 1000, got 0"),
        ("draws", 1001, r"draws: expected 0 to 1000, got 1001"),
        ("burns", 1.5, "burns: expected an integer, got 1.5"),
    ],
)
def test_refused_parameters(name, value, message):
    raises(ValueError, message, State.new, CARDS, **{name: value})


def test_numpy_integers_are_integers():
    state = State.new(CARDS, init_hp=np.int32(10))
    state.apply_action(np.int64(1))
    assert state.phase == "action"


def test_action_numbers_of_a_deck():
    state = State.new(generate_deck(1))
    assert state.num_distinct_actions() == 20604
    assert State.new(extreme_deck(1, 1000)).num_distinct_actions() == 2006004
    texts = {state.action_to_string(a) for a in range(20604)}
    assert len(texts) == 20604
    assert all(state.string_to_action(state.action_to_string(a)) == a for a in range(0, 20604, 7))


@pytest.mark.parametrize(
    "text",
    ["", "ATTACK", "ATTACK 99", "ATTACK 03", "ATTACK  3", "ATTACK -5", "PLAY_CARD 3 -2", "attack 3",
     "DRAW_CARD 1", "WAIT", "PLAY_CARD -5 3", "ATTACK ³"],
)  # fmt: skip
def test_texts_that_are_no_action(text):
    raises(InvalidActionError, "no action", position(MIDDLE).string_to_action, text)


def test_illegal_actions_are_named_and_change_nothing():
    state = position(MIDDLE)
    before = state.key()
    attack = state.string_to_action("ATTACK 5")
    message = r"action \d+ \(ATTACK 5\) is not legal in \[t3 ac"
    raises(IllegalActionError, message, state.apply_action, attack)
    for number in (-1, state.num_distinct_actions()):
        raises(IllegalActionError, f"action {number} .*no number below", state.apply_action, number)
    assert state.key() == before


def test_a_finished_match_is_frozen():
    state = position("[t3 ac A9 B10 | A h13]")
    assert state.apply_command(0, "PLAY_CARD 13 -5") == ["OK"]
    assert state.is_terminal()
    assert state.current_player() == -4
    assert state.scores == [-10, 40]
    assert state.winner == 1
    assert state.returns() == [-1.0, 1.0]
    assert state.legal_actions() == []
    raises(GameOverError, "over", state.apply_action, 0)
    raises(GameOverError, "over", state.end_turn)
    assert state.apply_command(1, "GET_HP") == ["ERR 932 GameHasEnded"]
    assert state.apply_command(1, "GET_FINAL_SCORE") == ["OK", "40 -10"]


def test_mask_has_the_legal_actions():
    state = position(MIDDLE)
    mask = state.legal_actions_mask()
    assert mask.dtype == np.int8
    assert list(np.flatnonzero(mask)) == state.legal_actions()
    assert not state.legal_actions_mask(1).any()
    with pytest.raises(ValueError, match="at most 200 cards, the deck has 201"):
        State.new(generate_deck(1, 201)).legal_actions_mask()


def test_text_of_a_position():
    state = position(MIDDLE)
    assert str(state) == "[t3 ac A10 B7 m2 l1/0 | A h7,8 b3,4(3/1/4)!,5- | B h9 b19 | D 1,2]"
    assert repr(state) == f"<State {state}>"
    assert State.from_text(state.to_text(), CARDS, init_hp=10).snapshot() == state.snapshot()
    assert [str(card) for card in state.deck] == ["1 C 0 1 1 0 1", "2 C 0 1 2 1 2"]
    assert [creature.card.id for creature in state.attackers] == [4]
    assert state.turns_left == 58


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t3 ac A10", "'B' is missing"),
        ("t3 ac A10 B11", r"health\[1\]: expected 0\.\.10"),
        ("t3 ac A10 B0", r"health\[1\]: expected 1\.\.10"),
        ("t3 bl A9 B9 m1", "mana: expected 0 in the blocking phase"),
        ("t0 ac A9 B9", r"turn: expected 1\.\.60"),
        ("t3 ac A9 B9 x", "unexpected 'x'"),
        ("t3 ac A9 B9 | C b3", "unexpected 'C b3'"),
        ("t3 ac A9 B9 | A b33", "expected a creature of the deck, got '33'"),
        ("t3 ac A9 B9 | A b8", "card 8 is not a creature"),
        ("t3 ac A9 B9 | A h33", "no card 33 in the deck"),
        ("t3 ac A9 B9 | A h3 | B b3", "in two zones"),
        ("t3 ac A9 B9 | A h3,3", "not in order"),
        ("t3 ac A9 B9 | A h3 | D 3", "in two zones"),
        ("t3 ac A9 B9 | A b3(1/4/3)", "creature 3: health 4 of 3"),
        ("t3 ac A9 B9 | B b3!", "creature 3: attacks in the other player's turn"),
        ("t3 bl A9 B9 | A b3!", "creature 3: attacks in the other player's turn"),
        ("t3 bl A9 B9 | B b3*", "creature 3: blocked, but no attacker"),
    ],
)
def test_positions_that_cannot_be(text, message):
    raises(ValueError, message, position, text)


def test_copies_belong_to_the_same_match_only():
    state = position(MIDDLE)
    other = state.clone()
    other.apply_action(0)
    assert other != state
    other.copy_from(state)
    assert other == state
    raises(ValueError, "another deck or other parameters", state.copy_from, State.new(CARDS))
    assert State.new(CARDS) != State.new(CARDS, turns=50)
    assert State.new(CARDS) == State.new(list(CARDS))
    assert State.new(CARDS).key() == State.new(list(CARDS)).key()
    raises(TypeError, "unhashable", hash, state)


def test_bytes_that_are_no_state():
    data = position(MIDDLE).to_bytes()
    assert State.from_bytes(data) == position(MIDDLE)
    for broken in (b"", data[:-1], data[:40], b"X" + data[1:], data[:60] + b"\1" + data[61:]):
        raises(ValueError, r"state|table", State.from_bytes, broken)


def test_pickled_states_share_their_table():
    states = [position(MIDDLE)] * 2 + [position(MIDDLE).clone()]
    first, second, third = pickle.loads(pickle.dumps(states))
    assert first is second
    assert first == third
    state = states[0]
    one, two = pickle.loads(pickle.dumps([state, state.clone()]))
    assert one.table is two.table


def test_states_are_not_made_by_the_class():
    raises(TypeError, r"State\.new", State)
    empty = State.__new__(State)
    assert empty.is_terminal()
    assert empty.legal_actions() == empty.deck == empty.board(0) == []
    raises(GameOverError, "over", empty.apply_action, 0)
    raises(ValueError, "an empty Table", State.new, Table.__new__(Table))
    raises(TypeError, "immutable", Table(CARDS).__init__, CARDS)
    raises(ValueError, "a Table has its own", State.new, Table(CARDS), init_hp=10)


def test_random_playouts():
    state = State.new(generate_deck(1))
    scores = state.rollouts(50, 7)
    assert scores.dtype == np.int32
    assert list(state.rollouts(50, 7, threads=3)) == list(scores)
    assert state.rollout(7) == scores[0]
    assert len(Counter(scores.tolist())) > 3
    assert list(state.rollouts(50, 8)) != list(scores)
    raises(ValueError, "n: expected at least 0, got -1", state.rollouts, -1, 0)
    end = position("[t60 ac A7 B4]")
    assert set(end.rollouts(5, 1)) == {18}


def test_playouts_by_rule():
    state = State.new(generate_deck(1))
    scores = rule_playouts(state, 100, 7)
    assert list(rule_playouts(state, 100, 7, threads=2)) == list(scores)
    # Players who try to win mostly win or lose before the last turn.
    assert np.mean(scores > 60) > 0.1
    assert np.mean(scores < 0) > 0.1
    assert np.mean((scores > 60) | (scores < 0)) > 0.9


def test_extreme_decks_stay_within_their_memory():
    for seed, n in [(1, 1000), (2, 40), (3, 1)]:
        state = State.new(extreme_deck(seed, n), hand_limit=1000, draws=1000, turns=10)
        state.rollouts(2, seed)
        for action in (1, *[2] * n):
            state.apply_action(action)
        assert len(state.hand(0)) == n
        assert len(state.legal_actions()) > n
        state.validate()


def test_position_from_replies():
    """The replies to a client at the start of a turn are enough to restore the position."""
    for text in ("[t3 bl A9 B7 | A h7,8 b3,5- | B h9 b19!,4- | D 1,2]", "[t2 bl A1 B7 | A b3!]"):
        state = position(text)
        player = state.mover
        replies = {word: state.apply_command(player, word) for word in QUESTIONS}
        same = state_from_replies(replies, state.table.cards)
        assert same == state
        assert State.from_replies(replies, state.table.cards) == state
        # Without the deck, the state gives the same replies.
        seen = state_from_replies(replies)
        assert all(seen.apply_command(player, word) == replies[word] for word in QUESTIONS)
        del replies["GET_CURRENT_MANA"]
        assert state_from_replies(replies, state.table.cards) == state
        del replies["GET_HP"]
        raises(ValueError, "GET_HP is missing", state_from_replies, replies)


def test_replies_that_cannot_be_read():
    state = position("[t3 bl A9 B7 | A h7,8 b3,5- | D 1,2]")
    replies = {word: state.apply_command(0, word) for word in QUESTIONS}
    for word, lines, message in [
        ("GET_TURN_INFO", ["0 58"], "the other player's turn"),
        ("GET_HP", ["10 9"], "expected 3 numbers, got '10 9'"),
        ("GET_HANDS", ["3 0", "7 H 0 3 0 1 -1"], "counts of GET_HANDS"),
        ("GET_DECK", ["1", "7 H"], "expected seven values"),
        ("GET_BOARD", [], "index out of range"),
    ]:
        raises(ValueError, message, state_from_replies, {**replies, word: lines})


def test_state_from_text_with_parameters():
    state = state_from_text("[t1 bl A4 B4]", CARDS, init_hp=4, turns=2)
    state.end_turn()
    state.end_turn()
    assert state.scores == [6, 6]


# ---- matches -------------------------------------------------------------------------------------


def test_a_turn_in_one_line():
    match = Match.from_state(position("[t3 ac A10 B10 | A h7,9 b3,1 | D 4]"))
    assert match.to_ask == (0,)
    result = match.submit(0, "ADD_MANA 1; PLAY_CARD 7 -5 ;;ATTACK 3;ATTACK 1;FOO 1;GET_HP;ATTACK x")
    assert result.applied == ["ADD_MANA 1", "PLAY_CARD 7 -5", "ATTACK 3"]
    assert result.ignored == [
        "ATTACK 1: 905 InactiveCard",
        "FOO 1: 2 UnknownCommand",
        "GET_HP: 2 UnknownCommand",
        "ATTACK x: 3 BadFormat",
    ]
    assert match.to_ask == (1,)
    raises(ValueError, "it is the turn of player 1, got 0", match.submit, 0, "")
    match.submit(1, "")
    assert match.state.health == (10, 8)
    assert match.actions == [(3, "ADD_MANA 1"), (3, "PLAY_CARD 7 -5"), (3, "ATTACK 3")]


def test_the_log_makes_the_match_again():
    deck = [Card(1, "C", 5, 1, 1, 0, 0), Card(2, "C", 5, 1, 1, 0, 0)]
    match = Match(deck, init_hp=10)
    match.submit(0, "DRAW_CARD;DRAW_CARD;PLAY_CARD 1 -1;PLAY_CARD 2 -1")
    match.submit(1, "")
    match.submit(0, "ATTACK 1;ATTACK 2")
    assert match.submit(1, "ATTACK 1").ignored == ["ATTACK 1: 903 NotYourCard"]
    assert match.scores == [40, -10]
    again = Match.replay(deck, match.actions, init_hp=10)
    assert str(again) == "[t3 ac A10 B10 | A b1!,2!]"
    again.end_turn()
    again.end_turn()
    assert again == match.state
    with pytest.raises(ValueError, match="log: turn 1: ATTACK 1: ERR 912 CardNotOnBoard"):
        Match.replay(deck, [(1, "ATTACK 1")])


def test_an_action_that_the_blocking_phase_does_not_survive_is_logged_as_its_end():
    match = Match.from_state(position("[t3 bl A2 B10 | A h14 | B b3!]"))
    assert match.command("A", "PLAY_CARD 1 14 -5") == ["ERR 932 GameHasEnded"]
    assert match.actions == [(3, "FINISH_BLOCK")]
    assert match.is_over


def test_refused_names():
    raises(ValueError, "two different names", Match, CARDS, players=("A", "A"))


def test_lines_that_are_no_command():
    match = Match(CARDS)
    for line, code in [("", 2), ("WAIT 1", 3), ("GET_HP 1 1", 3), ("ÄÖ", 2), ("\0", 2)]:
        assert match.command("A", line)[0].split()[1] == str(code)
    assert match.command("A", "WAIT") == ["OK"]
    assert match.command("C", "GET_MY_MATCHES") == ["OK", "0", ""]
    assert match.command("C", "GET_HP 1") == ["ERR 930 NotYourMatch"]
    assert match.command("A", " GET_TURN_INFO\t 1 ") == ["OK", "1 60"]

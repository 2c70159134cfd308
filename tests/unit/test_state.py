"""`State`: everything that its table in docs/api.md promises, errors included.

The rules themselves are tested against golden games and a twin elsewhere.
"""

import copy
import hashlib
import random
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from amounts import amount
from helpers import RULE_SETS
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from strategies import positions

from locmsim import (
    Card,
    CardType,
    GameOverError,
    IllegalActionError,
    InvalidActionError,
    Match,
    Observation,
    State,
    StateBatch,
)
from locmsim._batch import rollout_by_steps
from locmsim._bench import kth_actions
from locmsim._core import PlayerView, Table, parse_integer
from locmsim.game.positions import random_game, start_position
from locmsim.search import Belief

each_rules = pytest.mark.parametrize("rules", RULE_SETS)

CREATURE = Card(1, CardType.CREATURE, 1, 2, 3, "-C-G--")
GREEN = Card(2, CardType.GREEN, 1, 1, 1)
RED = Card(3, CardType.RED, 1, -1, -1)
BLUE = Card(4, CardType.BLUE, 1, 0, -2, card_draw=1)


@cache
def game_positions(rules: str, games: int = amount(5, 12)) -> tuple[State, ...]:
    """Positions of random games, the finished ones included. Shared: clone before changing one."""
    found = []
    for seed in range(games):
        for state, action in random_game(start_position(seed, rules), seed):
            found.append(state)
            last = state.child(action)
        found.append(last)
    return tuple(found)


def finished(rules: str = "1.5") -> State:
    return game_positions(rules)[-1].clone()


def small_state(rules: str = "1.5") -> State:
    return State.new([CREATURE, GREEN, RED, BLUE] * 3, [CREATURE] * 12, rules=rules)


# ---- making states ------------------------------------------------------------------------------


@each_rules
def test_new_deals_in_draw_order(rules):
    deck = [CREATURE, GREEN, RED, BLUE] * 7
    state = State.new(deck, iter(deck), rules=rules)
    state.validate()
    first, second = state.players
    assert [card for _, card in first.hand + first.deck] == deck
    assert [card for _, card in second.hand + second.deck] == deck
    assert (first.hand_size, second.hand_size) == (5, 5)
    starts = (0, 60) if rules == "1.5" else (1, 2)
    for player, start in zip(state.players, starts, strict=True):
        ids = [number for number, _ in player.hand + player.deck]
        assert ids == list(range(start, start + 2 * len(deck), 2))
    assert (state.turn, state.current_player(), state.rules) == (0, 0, rules)


def test_new_with_ids_of_ones_own():
    state = State.new([CREATURE] * 5, [BLUE] * 6, ids=[np.arange(5), range(200, 206)])
    assert [number for number, _ in state.players[0].hand] == [0, 1, 2, 3, 4]
    assert [number for number, _ in state.players[1].hand] == [200, 201, 202, 203, 204]


@pytest.mark.parametrize(
    ("decks", "options", "message"),
    [
        (([CREATURE] * 31, []), {}, "deck0: 31 cards, expected at most 30"),
        (([], [CREATURE, "card"]), {}, r"deck1\[1\]: expected a Card, got 'card'"),
        (([CREATURE], []), {"ids": [[1]]}, "ids: expected one sequence for each player, got 1"),
        (([CREATURE], []), {"ids": [[], []]}, r"ids\[0\]: 0 ids for 1 cards"),
        (([CREATURE], []), {"ids": [["1"], []]}, r"ids\[0\]\[0\]: expected an integer, got '1'"),
        (([CREATURE], []), {"ids": [[255], []]}, r"ids\[0\]\[0\]: expected 0..254, got 255"),
        (([CREATURE], [CREATURE]), {"ids": [[7], [7]]}, "id 7 of player 1 occurs twice"),
        (([], []), {"rules": "1.4"}, "unknown rules '1.4'"),
        (([], []), {"pool": [1]}, r"pool\[0\]: expected a Card, got 1"),
        (
            ([], []),
            {"pool": [Card(i, CardType.RED, 0, 0, 0) for i in range(257)]},
            "more than 256 cards",
        ),
    ],
)
def test_new_refuses(decks, options, message):
    with pytest.raises(ValueError, match=message):
        State.new(*decks, **options)


def test_states_are_not_made_by_hand():
    with pytest.raises(TypeError, match=r"use State\.new"):
        State()
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Mine", (State,), {})
    with pytest.raises(TypeError, match=r"tables are made by State\.new"):
        Table()


@each_rules
def test_tables_know_their_rules(rules):
    assert small_state(rules).table.rules == rules


def test_a_pool_too_large_for_the_table_is_left_out():
    """Of a list of more cards than a game can hold, those that occur are enough."""
    cards = [replace(CREATURE, base_id=i) for i in range(300)]
    state = State.new(cards[:30], cards[30:60])
    decks = [[(c.id, c.card.base_id) for c in (*p.hand, *p.deck)] for p in state.players]
    again = State.from_snapshot(state.snapshot(), cards, decks)
    assert again == state
    assert sorted(card.base_id for card in again.table.pool) == list(range(60))


def test_a_state_made_around_its_constructors_is_empty_and_harmless():
    state = State.__new__(State)
    assert state.legal_actions() == [0]
    assert set(state.rollouts(20, 1).tolist()) <= {0, 1}
    assert isinstance(str(state), str)
    assert isinstance(state.key(), bytes)
    state.copy_from(small_state())
    assert state == small_state()


# ---- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [State.clone, copy.copy, copy.deepcopy])
def test_copies_are_independent(duplicate):
    state = small_state()
    before = state.snapshot()
    other = duplicate(state)
    assert other == state
    other.apply_action(0)
    assert other != state
    assert state.snapshot() == before


def test_deepcopy_inside_containers():
    states = [small_state(), small_state("1.0")]
    assert copy.deepcopy({"states": states}) == {"states": states}


def test_copy_from():
    state, other = small_state(), finished("1.0")
    assert state.copy_from(other) is None
    assert state == other
    assert state.rules == "1.0"
    for wrong in (None, 1, "state"):
        with pytest.raises(TypeError):
            state.copy_from(wrong)
    assert state == other


def test_child():
    state = small_state()
    action = state.legal_actions()[-1]
    expected = state.clone()
    expected.apply_action(action)
    assert state.child(np.int64(action)) == expected
    assert state != expected
    with pytest.raises(IllegalActionError):
        state.child(144)
    with pytest.raises(GameOverError):
        finished().child(0)


# ---- legal actions ------------------------------------------------------------------------------


@each_rules
def test_legal_actions(rules):
    for state in game_positions(rules):
        actions = state.legal_actions()
        assert actions == sorted(set(actions))
        assert all(type(action) is int for action in actions)
        assert bool(actions) is not state.is_terminal()
        player = state.current_player()
        assert state.legal_actions(player) == actions
        assert state.legal_actions(1 - state.turn % 2) == []
        mask = state.legal_actions_mask()
        assert mask.dtype == np.int8
        assert mask.shape == (state.num_distinct_actions(),)
        assert np.flatnonzero(mask).tolist() == actions
        assert set(mask.tolist()) <= {0, 1}
        assert not state.legal_actions_mask(1 - state.turn % 2).any()
        for action in actions:
            state.child(action).validate()


@each_rules
def test_the_kth_actions_are_the_listed_ones(rules):
    """Each legal action has one number k, in whatever order."""
    many = 0
    for state in (
        *game_positions(rules),
        *(start_position(seed, rules) for seed in range(amount(20, 50))),
    ):
        assert sorted(kth_actions(state)) == state.legal_actions()
        many += len(state.legal_actions()) > 10
    assert many > amount(10, 50)


@each_rules
@given(data=st.data())
def test_the_kth_actions_are_the_listed_ones_with_any_cards(rules, data):
    position = data.draw(positions(rules))
    state = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    assert sorted(kth_actions(state)) == state.legal_actions()


def test_mask_written_into_an_array():
    state = small_state()
    rows = np.full((3, 145), 7, dtype=np.int8)
    given = rows[1]
    assert state.legal_actions_mask(out=given) is given
    assert rows[1].tolist() == state.legal_actions_mask().tolist()
    assert (rows[0] == 7).all()
    assert (rows[2] == 7).all()
    assert not finished().legal_actions_mask(out=given).any()


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(145, dtype=np.uint8),
        np.zeros(145, dtype=np.int64),
        np.zeros(144, dtype=np.int8),
        np.zeros(155, dtype=np.int8),
        np.zeros((1, 145), dtype=np.int8),
        np.zeros(290, dtype=np.int8)[::2],
        np.frombuffer(bytes(145), dtype=np.int8),
        [0] * 145,
        bytearray(145),
    ],
    ids=lambda out: f"{type(out).__name__} {getattr(out, 'dtype', '')}{np.shape(out)}",
)
def test_mask_refuses_other_arrays(out):
    with pytest.raises(ValueError, match=r"int8 array of shape \(145,\)"):
        small_state().legal_actions_mask(out=out)
    assert not np.any(np.frombuffer(out, dtype=np.int8) if isinstance(out, bytearray) else out)


# ---- applying actions ---------------------------------------------------------------------------

INTEGERS = [
    int,
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
    np.array,
]


@pytest.mark.parametrize("make", INTEGERS, ids=lambda make: make.__name__)
def test_integers_of_all_kinds(make):
    for state in game_positions("1.5")[::5]:
        for action in state.legal_actions():
            if action > 127 and make is np.int8:
                continue
            checked, unchecked = state.clone(), state.clone()
            checked.apply_action(make(action))
            unchecked.apply_unchecked(make(action))
            assert checked == unchecked == state.child(make(action))
            assert state.action_to_string(make(action)) == state.action_to_string(action)


@pytest.mark.parametrize("wrong", [1.0, "1", b"1", None, np.float64(1), [1], np.array([1, 2])])
@pytest.mark.parametrize(
    "method",
    [State.apply_action, State.apply_unchecked, State.child, State.action_to_string],
    ids=lambda method: method.__name__,
)
def test_what_is_no_integer(method, wrong):
    state = small_state()
    with pytest.raises(TypeError):
        method(state, wrong)
    assert state == small_state()


@each_rules
@pytest.mark.parametrize(
    "wrong",
    [-1, -2, 155, 1000, 2**31, 2**32 + 1, 2**63, -(2**63) - 1, 10**100, np.uint64(2**64 - 1)],
)
def test_numbers_that_are_no_actions(rules, wrong):
    state = small_state(rules)
    for method in (state.apply_action, state.child, state.action_to_string):
        with pytest.raises(IllegalActionError, match=f"action {wrong} ") as raised:
            method(wrong)
        assert not isinstance(raised.value, GameOverError)
    assert state == small_state(rules)


def test_the_error_names_action_and_position():
    state = small_state()
    state.apply_action(1)
    poor = State.new([Card(1, CardType.CREATURE, 9, 1, 1)], [])
    with pytest.raises(IllegalActionError) as raised:
        poor.apply_action(2)
    assert str(raised.value) == f"action 2 (SUMMON 0 1) is not legal here\n{poor}"
    with pytest.raises(
        IllegalActionError, match=r"^action 144 is not legal here\nLOCM 1.5, turn 0"
    ):
        state.apply_action(144)
    with pytest.raises(GameOverError, match=r"^action 0: the game is over\nLOCM 1.5, turn"):
        finished().apply_action(0)


@each_rules
def test_everything_that_is_not_legal_is_refused(rules):
    for state in game_positions(rules)[::15]:
        legal = set(state.legal_actions())
        kept = state.clone()
        for action in range(-1, 160):
            if action not in legal:
                with pytest.raises(GameOverError if state.is_terminal() else IllegalActionError):
                    state.apply_action(action)
        assert state == kept


def test_apply_line_applies_nothing_of_a_malformed_line():
    state = small_state()
    for line in ("SUMMON 0 0;SUMMON", "SUMMON 0 0; dance"):
        with pytest.raises(InvalidActionError):
            state.apply_line(line)
        assert state == small_state()
    for wrong in (None, 3, b"PASS"):
        with pytest.raises(TypeError):
            state.apply_line(wrong)
    assert state.apply_line("SUMMON 0 0; SUMMON 0 0;PASS") == (
        ["SUMMON 0 0"],
        ["SUMMON 0 0", "PASS"],
    )
    assert state.current_player() == 1


def test_apply_line_on_a_finished_game():
    state = finished()
    before = state.clone()
    assert state.apply_line("PASS;SUMMON 250 0") == ([], ["PASS", "SUMMON 250 0"])
    assert state == before


# ---- OpenSpiel's methods ------------------------------------------------------------------------


@each_rules
def test_who_plays_and_who_has_won(rules):
    for state in game_positions(rules):
        assert state.is_terminal() is (state.winner is not None)
        if state.winner is None:
            assert state.current_player() == state.turn % 2
            assert state.returns() == [0.0, 0.0]
        else:
            assert state.current_player() == -4
            assert state.returns() == ([1.0, -1.0] if state.winner == 0 else [-1.0, 1.0])
        assert state.num_players() == 2
        assert state.num_distinct_actions() == (155 if rules == "1.0" else 145)
        assert state.is_chance_node() is False
        assert state.is_simultaneous_node() is False
        assert state.chance_outcomes() == []
        assert state.get_game().rules == rules


# ---- texts --------------------------------------------------------------------------------------


@each_rules
def test_action_texts_both_ways(rules):
    for state in game_positions(rules):
        for action in state.legal_actions():
            text = state.action_to_string(action)
            assert state.action_to_string(state.current_player(), action) == text
            assert state.string_to_action(text) == action
            assert state.string_to_action(state.current_player(), text) == action


def test_action_texts_refuse():
    state = small_state()
    for text in ("SUMMON 2 0", "ATTACK 0 -1", "USE 2 -1", "SUMMON 0 2", "ATTACK 300 -1"):
        with pytest.raises(IllegalActionError, match=f"^{text} is not legal here\nLOCM"):
            state.string_to_action(text)
    for text in (
        "",
        "summon 0 0",
        "SUMMON 0 0;",
        "SUMMON 0 0 now",
        "SUMMON  0 0",
        " PASS",
        "PASS;",
    ):
        with pytest.raises(InvalidActionError):
            state.string_to_action(text)
    with pytest.raises(GameOverError, match="PASS: the game is over"):
        finished().string_to_action("PASS")
    with pytest.raises(InvalidActionError):
        finished().string_to_action("pass")
    for arguments in ((), (0, 0, 0)):
        with pytest.raises(TypeError, match="takes one or two arguments"):
            state.action_to_string(*arguments)
        with pytest.raises(TypeError, match="takes one or two arguments"):
            state.string_to_action(*arguments)
    with pytest.raises(TypeError, match="expected a string, got 0"):
        state.string_to_action(0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("+" + "0" * 30 + "12", 12),
        ("-" + "0" * 5000 + "7", -7),
        ("0" * 25, 0),
        ("1" * 25, None),
        ("1" * 5000, None),
        (str(2**31 - 1), 2**31 - 1),
        (str(2**31), None),
        (str(-(2**31)), -(2**31)),
    ],
)
def test_integers_of_any_length(text, value):
    assert parse_integer(text) == value


def test_str_is_a_readable_board():
    state = small_state()
    state.apply_line("SUMMON 0 1")
    assert str(state) == "\n".join(
        (
            "LOCM 1.5, turn 1, player 1 to move",
            "player 0: 30 health, 0/1 mana, 7 in deck, draws 1",
            "  lane 0: -",
            "  lane 1: #0 2/3 -C-G--",
            "  hand: #2 green 1: 1/1 ------, #4 red 1: -1/-1 ------,"
            " #6 blue 1: 0/-2 ------, #8 creature 1: 2/3 -C-G--",
            "player 1: 30 health, 2/2 mana, 6 in deck, draws 1",
            "  lane 0: -",
            "  lane 1: -",
            "  hand: " + ", ".join(f"#{i} creature 1: 2/3 -C-G--" for i in range(60, 72, 2)),
        )
    )
    assert repr(state) == "<State rules=1.5 turn=1 winner=None>"
    assert "player 0 has won" in str(finished()) or "player 1 has won" in str(finished())
    assert "runes [5, 10, 15, 20, 25]" in str(small_state("1.0"))
    state.apply_line("SUMMON 60 0")
    assert "  lane 1: #0 2/3 -C-G--*" in str(state)


# ---- views --------------------------------------------------------------------------------------


@each_rules
def test_players_show_the_position(rules):
    for state in game_positions(rules):
        for view, shown in zip(state.players, state.snapshot()["p"], strict=True):
            assert view.health == shown["hp"]
            assert view.max_mana == shown["maxMana"]
            assert view.mana == shown["mana"]
            assert view.bonus_mana == shown["bonus"]
            assert view.next_draw == shown["draw"]
            assert view.shown_draw == shown["shown"]
            assert view.lost_health == shown.get("lost", 0)
            assert view.runes == shown.get("runes", [])
            assert [number for number, _ in view.hand] == shown["hand"]
            assert view.hand_size == len(shown["hand"])
            assert view.deck_size == len(view.deck) == shown["deck"]
            rows = [
                [c.id, c.card.base_id, *c[2:6], int(c.can_attack), int(c.has_attacked)]
                for c in view.board
            ]
            assert rows == shown["board"]
            assert len(view.effects_forgotten) == len(rows)
            assert not (rules == "1.5" and any(view.effects_forgotten))


def test_players_are_read_only_and_alive():
    state = small_state()
    me, _ = state.players
    for name in ("health", "mana", "hand", "deck", "board", "runes", "hand_size"):
        with pytest.raises(AttributeError):
            setattr(me, name, 1)
    before = me.hand
    state.apply_action(1)
    assert me.hand == before[1:]
    me.hand.clear()
    assert me.hand == before[1:]
    assert repr(me) == "<PlayerView health=30 mana=0/1 hand=4 deck=7>"
    with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
        PlayerView(state, 2)


def test_a_view_keeps_its_state_alive():
    view = small_state().players[1]
    assert [card for _, card in view.hand] == [CREATURE] * 5


def test_observation():
    state = small_state()
    assert state.observation(0) == Observation.of(state, 0)
    assert state.observation(1, []).opponent_hand == 5
    with pytest.raises(ValueError, match="player: expected 0 or 1"):
        state.observation(2)


# ---- equality -----------------------------------------------------------------------------------


def test_unhashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(small_state())


def test_equality_with_other_things():
    state = small_state()
    assert (state == 1) is False
    assert (state != None) is True  # noqa: E711
    assert state.__eq__("x") is NotImplemented


def rebuilt(state: State, places=None) -> State:
    """The same position with a card table of its own; `places`: each player's hand and deck."""
    players = state.players
    places = places or [p.hand + p.deck for p in players]
    cards = {c.card.base_id: c.card for p in players for c in (*p.hand, *p.deck, *p.board)}
    cards |= {card.base_id: card for card in state.table.pool}
    snapshot = state.snapshot()
    for player, held, shown in zip(players, places, snapshot["p"], strict=True):
        shown["hand"] = [number for number, _ in held[: player.hand_size]]
        for row, forgotten in zip(shown["board"], player.effects_forgotten, strict=True):
            row.append(int(forgotten))
    decks = [[(number, card.base_id) for number, card in held] for held in places]
    return State.from_snapshot(snapshot, cards, decks, state.rules)


@each_rules
def test_keys_are_equal_exactly_for_equal_positions(rules):
    some = game_positions(rules)[: amount(60, 120)]
    found = [*some[::3], *some[1::3]]
    found += [rebuilt(state) for state in found[::2]]
    pairs = [(a, b, a.key(), b.key()) for a, b in combinations(found, 2)]
    assert all((a == b) is (key == other) for a, b, key, other in pairs)
    assert sum(a == b for a, b, _, _ in pairs) >= len(found) / 4


@each_rules
def test_rebuilt_positions_are_equal(rules):
    for state in game_positions(rules):
        again = rebuilt(state)
        again.validate()
        assert again == state
        assert again.key() == state.key()
        assert again.table is not state.table


@each_rules
@given(data=st.data())
def test_every_field_counts_for_equality(rules, data):
    position = data.draw(positions(rules))
    state = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    changed = copy.deepcopy(position.snapshot)
    player = changed["p"][data.draw(st.integers(0, 1))]
    name = data.draw(
        st.sampled_from(["hp", "maxMana", "mana", "bonus", "shown", "draw", "turn", "winner"])
    )
    if name == "turn":
        changed["turn"] += 2
    elif name == "winner":
        changed["winner"] = 0
    else:
        player[name] += -1 if name in ("maxMana", "mana", "bonus") and player[name] else 1
    other = State.from_snapshot(changed, position.cards, position.decks, rules)
    assert other != state
    assert other.key() != state.key()
    same = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    assert same == state
    assert same.key() == state.key()


def test_cards_count_for_equality():
    """Equal ids and base ids, but another card."""
    other = Card(1, CardType.CREATURE, 1, 2, 3, "-C-G--", card_draw=1)
    states = [State.new([CREATURE], [], pool=[CREATURE, other]) for CREATURE in (CREATURE, other)]
    assert states[0] != states[1]
    assert states[0].key() != states[1].key()
    assert states[0].key() == State.new([CREATURE], [], pool=[]).key()


# ---- snapshots ----------------------------------------------------------------------------------


@each_rules
@given(data=st.data())
def test_snapshots_both_ways(rules, data):
    position = data.draw(positions(rules))
    state = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    state.validate()
    assert state.snapshot() == position.snapshot


def full_position():
    """A snapshot of 1.5 with something of everything, its cards and decks."""
    cards = {card.base_id: card for card in (CREATURE, GREEN, RED, BLUE)}
    players = [
        {
            "hp": 20,
            "maxMana": 5,
            "mana": 3,
            "bonus": 0,
            "draw": 2,
            "shown": 1,
            "lost": 7,
            "hand": [first, first + 2],
            "deck": 1,
            "board": [[first + 10, 1, 2, 3, "-C-G--", 1, 1, 0]],
        }
        for first in (0, 60)
    ]
    decks = [[[first, 2], [first + 2, 3], [first + 4, 4]] for first in (0, 60)]
    return {"turn": 4, "cur": 0, "winner": -1, "p": players}, cards, decks


def change(path, value):
    """Sets one field of the snapshot."""

    def apply(snapshot, cards, decks):
        target = snapshot
        for step in path[:-1]:
            target = target[step]
        if value is None:
            del target[path[-1]]
        else:
            target[path[-1]] = value

    return apply


ROW = [10, 1, 2, 3, "-C-G--", 1, 1, 0]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (change(["turn"], None), "turn: missing"),
        (change(["turn"], 4.0), "turn: expected an integer, got 4.0"),
        (change(["turn"], -2), "turn: expected -1.."),
        (change(["cur"], 1), "cur: expected 0 in turn 4"),
        (change(["winner"], 2), "winner: expected -1..1, got 2"),
        (change(["p"], [{}]), "p: expected two players"),
        (change(["p"], 5), "p: expected a list, got 5"),
        (change(["p", 0], 5), r"p\[0\].deck: missing"),
        (change(["p", 0, "hp"], None), r"p\[0\].hp: missing"),
        (change(["p", 1, "hp"], 10**12), r"p\[1\].hp: expected -1000"),
        (change(["p", 1, "maxMana"], 14), r"p\[1\].maxMana: expected 0..13, got 14"),
        (change(["p", 1, "mana"], -1), r"p\[1\].mana: expected 0..13, got -1"),
        (change(["p", 0, "bonus"], 2), r"p\[0\].bonus: expected 0..1, got 2"),
        (change(["p", 0, "draw"], 0), r"p\[0\].draw: expected at least 1"),
        (change(["p", 0, "lost"], -5), r"p\[0\].lost: expected 0"),
        (change(["p", 0, "hand"], 3), r"p\[0\].hand: expected a list, got 3"),
        (change(["p", 0, "hand"], [0, "2"]), r"p\[0\].hand\[1\]: expected an integer, got '2'"),
        (change(["p", 0, "hand"], [0, 60]), r"p\[0\].hand\[1\]: decks\[0\] does not say what"),
        (change(["p", 0, "hand"], [0, 0]), r"p\[0\].hand\[1\]: instance id 0 occurs twice"),
        (change(["p", 0, "hand"], [0] * 9), r"p\[0\].hand: more than 8 cards"),
        (change(["p", 0, "hand"], [0, 4]), r"decks\[0\]: instance id 4 occurs twice"),
        (change(["p", 0, "deck"], 4), r"p\[0\].deck: 4 cards left, but decks\[0\] has 3"),
        (change(["p", 0, "board"], {}), r"p\[0\].board: expected a list"),
        (change(["p", 0, "board"], [ROW[:7]]), r"p\[0\].board\[0\]: expected eight or nine values"),
        (
            change(["p", 0, "board"], [[256, *ROW[1:]]]),
            r"\[0\]: expected 0..255, got 256",
        ),
        (
            change(["p", 0, "board"], [[10, 9, *ROW[2:]]]),
            r"\[1\]: no card with base id 9",
        ),
        (change(["p", 0, "board"], [[10, 2, *ROW[2:]]]), r"board\[0\]\[1\]: card 2 is no creature"),
        (
            change(["p", 0, "board"], [[60, *ROW[1:]]]),
            r"\[0\]: instance id 60 occurs twice",
        ),
        (change(["p", 0, "board"], [ROW, ROW]), r"board\[1\]\[0\]: instance id 10 occurs twice"),
        (
            change(["p", 0, "board"], [[10 + i, *ROW[1:]] for i in range(4)]),
            r"board\[3\]: no room in lane 1",
        ),
        (change(["p", 0, "board", 0, 2], 30_501), r"board\[0\]\[2\]: expected -30500..30500"),
        (change(["p", 0, "board", 0, 3], "3"), r"board\[0\]\[3\]: expected an integer"),
        (change(["p", 0, "board", 0, 4], "GC----"), r"board\[0\]\[4\]: expected abilities"),
        (change(["p", 0, "board", 0, 4], 4), r"board\[0\]\[4\]: expected abilities"),
        (change(["p", 0, "board", 0, 5], 2), r"board\[0\]\[5\]: expected 0..1, got 2"),
        (change(["p", 0, "board", 0, 6], 2), r"board\[0\]\[6\]: expected 0..1, got 2"),
        (change(["p", 0, "board", 0, 7], True + 1), r"board\[0\]\[7\]: expected 0..1, got 2"),
        (lambda s, c, decks: decks.pop(), r"decks\[1\]: expected a list of"),
        (
            lambda s, c, decks: decks[0].append([6]),
            r"decks\[0\]\[3\]: expected \[instance",
        ),
        (lambda s, c, decks: decks[0].append(6), r"decks\[0\]: expected a list of"),
        (lambda s, c, decks: decks[0].append([255, 2]), r"decks\[0\]\[3\]\[0\]: expected 0..254"),
        (
            lambda s, c, decks: decks[0].append([6, 9]),
            r"decks\[0\]\[3\]\[1\]: no card",
        ),
        (lambda s, c, decks: decks[0].append([60, 2]), "instance id 60 of player 1 occurs twice"),
        (
            lambda s, c, decks: decks[0].extend([100 + i, 2] for i in range(28)),
            r"decks\[0\]: 31 cards, expected at most 30",
        ),
        (lambda s, cards, d: cards.update({5: CREATURE}), "keys that are not the base ids"),
        (lambda s, cards, d: cards.update({5: "x"}), r"cards\[4\]: expected a Card, got 'x'"),
    ],
)
def test_from_snapshot_names_the_field(damage, message):
    snapshot, cards, decks = full_position()
    State.from_snapshot(snapshot, cards, decks).validate()
    damage(snapshot, cards, decks)
    with pytest.raises(ValueError, match=message):
        State.from_snapshot(snapshot, cards, decks)


def test_from_snapshot_refuses_runes_that_are_none():
    snapshot, cards, decks = full_position()
    for player in snapshot["p"]:
        del player["lost"]
        player["runes"] = [5, 10]
    State.from_snapshot(snapshot, cards, decks, "1.2").validate()
    for wrong, message in ((7, "expected 5, 10"), (30, "expected 5..25"), ("5", "expected an")):
        snapshot["p"][1]["runes"] = [5, wrong]
        with pytest.raises(ValueError, match=rf"p\[1\].runes\[1\]: {message}"):
            State.from_snapshot(snapshot, cards, decks, "1.2")


def test_from_snapshot_takes_cards_in_any_form():
    snapshot, cards, decks = full_position()
    state = State.from_snapshot(snapshot, cards, decks)
    assert State.from_snapshot(snapshot, cards.values(), decks) == state
    assert State.from_snapshot(snapshot, iter(cards.values()), decks) == state
    twice = [*cards.values(), Card(1, CardType.CREATURE, 0, 0, 1)]
    with pytest.raises(ValueError, match="two different cards with base id 1"):
        State.from_snapshot(snapshot, twice, decks)


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(-1, 300), max_size=9),
    st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=3),
    st.just({}),
)


@given(data=st.data())
def test_from_snapshot_of_junk(data):
    """Whatever is in it, it is a valid state or a `ValueError`."""
    snapshot, cards, decks = full_position()
    for _ in range(data.draw(st.integers(1, 3))):
        target = data.draw(
            st.sampled_from(
                [
                    snapshot,
                    snapshot["p"],
                    *[p for p in snapshot["p"] if isinstance(p, dict)],
                    *[
                        place
                        for p in snapshot["p"]
                        if isinstance(p, dict)
                        for place in (p["hand"], p["board"], *p["board"])
                        if isinstance(place, list)
                    ],
                    decks,
                    *[deck for deck in decks if isinstance(deck, list)],
                ]
                if isinstance(snapshot["p"], list)
                and all(
                    isinstance(p, dict)
                    and isinstance(p.get("board"), list)
                    and isinstance(p.get("hand"), list)
                    for p in snapshot["p"]
                )
                else [decks]
            )
        )
        keys = list(target) if isinstance(target, dict) else list(range(len(target)))
        if keys:
            target[data.draw(st.sampled_from(keys))] = data.draw(junk)
    try:
        state = State.from_snapshot(snapshot, cards, decks)
    except ValueError:
        return
    state.validate()


# ---- playouts -----------------------------------------------------------------------------------


def test_rollouts():
    state = start_position(1)
    kept = state.clone()
    winners = state.rollouts(500, 3)
    assert winners.dtype == np.int8
    assert winners.shape == (500,)
    assert set(winners.tolist()) == {0, 1}
    assert state == kept
    assert winners.tolist() == state.rollouts(500, 3).tolist()
    assert winners.tolist() != state.rollouts(500, 4).tolist()


@each_rules
def test_a_playout_depends_on_seed_and_number_only(rules):
    for state in game_positions(rules)[5 : amount(100, 200) : 40]:
        for seed in (0, 2**63, 2**64 - 1, -1, np.int64(-7), np.uint64(2**64 - 7)):
            winners = state.rollouts(60, seed).tolist()
            for n in (0, 1, 17, 59):
                assert state.rollouts(n, seed).tolist() == winners[:n]
            for threads in (1, 2, 3, 1000):
                assert state.rollouts(60, seed, threads).tolist() == winners
                assert state.rollouts(60, seed=seed, threads=np.int32(threads)).tolist() == winners
            assert state.rollout(seed) == winners[0]
            assert type(state.rollout(seed)) is int
        assert state.rollouts(60, -1).tolist() == state.rollouts(60, 2**64 - 1).tolist()


def test_rollouts_from_a_finished_game():
    state = finished()
    assert state.rollouts(5, 1).tolist() == [state.winner] * 5
    assert state.rollout(1) == state.winner
    assert state.rollouts_counted(5, 1)[1] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 1), "n: expected at least 0, got -1"),
        ((1.0, 1), "n: expected an integer, got 1.0"),
        ((10**30, 1), "n: expected an integer"),
        ((1, 1.5), "seed: expected an integer, got 1.5"),
        ((1, "1"), "seed: expected an integer, got '1'"),
        ((1, 1, 0), "threads: expected at least 1, got 0"),
        ((1, 1, "2"), "threads: expected an integer, got '2'"),
    ],
)
def test_rollouts_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        small_state().rollouts(*arguments)


def test_playouts_of_a_game_without_end_are_broken_off():
    """Attack -500 heals whom it hits, faster than the empty deck harms them."""
    healer = Card(1, CardType.CREATURE, 0, -500, 500, "-C----", 0, 0, 0, 0)
    state = State.new([healer] * 30, [healer] * 30)
    for i, winner in enumerate(state.rollouts(4, 1).tolist()):
        assert winner in (0, 1)
        assert rollout_by_steps(state, 1, i)[0] == winner
    assert state.rollouts_counted(4, 1)[1] >= 4 * 1000


def test_perft_refuses():
    with pytest.raises(ValueError, match="depth: expected at least 0, got -1"):
        small_state().perft(-1)


@each_rules
def test_the_fused_loop_draws_and_applies_as_single_steps_do(rules):
    """Winner and number of actions of each of thousands of games."""
    games = 0
    for state in [start_position(seed, rules) for seed in range(amount(6, 20))] + [
        state for state in game_positions(rules)[::9] if not state.is_terminal()
    ]:
        applied = 0
        for i, winner in enumerate(state.rollouts(40, 11).tolist()):
            total = state.rollouts_counted(i + 1, 11)[1]
            assert rollout_by_steps(state, 11, i) == (winner, total - applied)
            applied = total
            games += 1
    assert games > amount(1000, 2000)


def sampling_positions() -> list[State]:
    """Positions of all rule sets with as different sets of legal actions as possible."""
    chosen = []
    for rules in RULE_SETS:
        ranked = sorted(
            (state for state in game_positions(rules, 40) if not state.is_terminal()),
            key=lambda state: -len(state.legal_actions()),
        )
        seen = set()
        for state in ranked:
            actions = tuple(state.legal_actions())
            if len(actions) > 1 and actions not in seen:
                seen.add(actions)
                chosen.append(state)
        chosen = chosen[: 90 * (1 + RULE_SETS.index(rules))]
    return chosen


def has_guard(state):
    return any("G" in c.abilities for c in state.players[1 - state.current_player()].board)


def has_area_item(state):
    me = state.players[state.current_player()]
    return any(c.card.type != CardType.CREATURE and c.card.area for c in me.hand) and any(
        text.startswith("USE") for text in map(state.action_to_string, state.legal_actions())
    )


def has_full_lane(state):
    board = state.players[state.current_player()].board
    size = 6 if state.rules == "1.0" else 3
    return any(sum(c.lane == lane for c in board) == size for lane in (0, 1))


def test_sampling_is_uniform():
    chosen = sampling_positions()
    assert len(chosen) >= 200
    for feature in (has_guard, has_area_item, has_full_lane):
        assert sum(map(feature, chosen)) >= 10, feature.__name__
    values, freedom = [], []
    for number, state in enumerate(chosen):
        actions = state.legal_actions()
        sampled = StateBatch.repeat(state, 400 * len(actions)).sample_actions(number)
        counts = np.bincount(sampled, minlength=state.num_distinct_actions())
        assert counts.sum() == counts[actions].sum(), "an action that is not legal"
        values.append(((counts[actions] - 400) ** 2 / 400).sum())
        freedom.append(len(actions) - 1)
    p_values = np.sort(special.chdtrc(freedom, values))  # of chi-squared tests
    assert p_values.min() > 1e-3 / len(chosen)
    assert 1e-3 < special.chdtrc(sum(freedom), sum(values)) < 1 - 1e-3
    # Kolmogorov and Smirnov: they are uniformly distributed.
    steps = np.arange(len(chosen) + 1) / len(chosen)
    distance = max((steps[1:] - p_values).max(), (p_values - steps[:-1]).max())
    assert special.kolmogorov(distance * len(chosen) ** 0.5) > 1e-3


# ---- hidden information -------------------------------------------------------------------------


def with_other_hidden_cards(state: State, viewer: int, rng: random.Random) -> State:
    """A position that looks the same to the viewer."""
    me, other = state.players[viewer], state.players[1 - viewer]
    mine = me.deck
    rng.shuffle(mine)
    numbers = [number for number, _ in other.hand + other.deck]
    rng.shuffle(numbers)
    theirs = [(number, rng.choice(state.table.pool)) for number in numbers]
    places = [me.hand + mine, theirs]
    return rebuilt(state, places if viewer == 0 else places[::-1])


@each_rules
@pytest.mark.parametrize("viewer", [0, 1])
def test_resampling_is_honest(rules, viewer):
    """Equal to the eye, equal after resampling: nothing hidden leaks into the result."""
    rng = random.Random(viewer)
    different = 0
    for number, state in enumerate(game_positions(rules)[3::5]):
        other = with_other_hidden_cards(state, viewer, rng)
        assert other.observation(viewer) == state.observation(viewer)
        different += other != state
        drawn = state.resample_hidden(viewer, number)
        assert drawn == other.resample_hidden(viewer, number)
        assert drawn.key() == other.resample_hidden(viewer, number).key()
    assert different > amount(25, 50)


@each_rules
@given(data=st.data())
def test_resampled_states_are_possible(rules, data):
    position = data.draw(positions(rules))
    state = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    check_resampled(state, data.draw(st.integers(0, 1)), data.draw(st.integers(0, 2**64)))


@each_rules
def test_resampled_states_of_games_are_possible(rules):
    for number, state in enumerate(game_positions(rules)[::3]):
        for viewer in (0, 1):
            check_resampled(state, viewer, number)


def check_resampled(state, viewer, seed):
    before = state.clone()
    drawn = state.resample_hidden(viewer, seed)
    assert state == before
    drawn.validate()
    assert drawn == state.resample_hidden(viewer, np.uint64(seed % 2**64))
    assert drawn.observation(viewer) == state.observation(viewer)
    me, my_new = state.players[viewer], drawn.players[viewer]
    other, new = state.players[1 - viewer], drawn.players[1 - viewer]
    assert my_new.hand == me.hand
    cards = sorted(c.card.to_row() for c in me.deck)
    assert sorted(c.card.to_row() for c in my_new.deck) == cards
    assert sorted(c.id for c in my_new.deck) == sorted(c.id for c in me.deck)
    assert new.board == other.board
    assert my_new.board == me.board
    assert (new.hand_size, new.deck_size) == (other.hand_size, other.deck_size)
    hidden = new.hand + new.deck
    assert sorted(c.id for c in hidden) == sorted(c.id for c in other.hand + other.deck)
    assert {c.card for c in hidden} <= set(state.table.pool)
    # What both see of the position is the same, down to the numbers that no text shows.
    old, changed = state.snapshot(), drawn.snapshot()
    for snapshot in (old, changed):
        del snapshot["p"][1 - viewer]["hand"]
    assert old == changed
    # It can be played on.
    assert drawn.rollout(1) in (0, 1)


def test_resampling_leaves_at_most_two_copies():
    pool = [Card(i, CardType.CREATURE, 1, 1, 1, area=1) for i in range(16)]
    deck = [card for card in pool[:15] for _ in range(2)]
    state = State.new(deck, deck, pool=pool)
    state.apply_line("SUMMON 0 0")
    assert len(state.players[0].board) == 2, "the card and its area copy"
    seen = set()
    for seed in range(50):
        drawn = state.resample_hidden(1, seed)
        player = drawn.players[0]
        cards = [c.card for c in player.hand + player.deck]
        assert max(map(cards.count, cards)) == 2
        assert cards.count(pool[0]) <= 1, "one is on the board, whatever its copies"
        seen.update(cards)
    assert seen == set(pool)


@each_rules
def test_resampling_draws_uniformly(rules):
    """Each card of the pool in each hidden place, and each order of one's own deck."""
    pool = [Card(i, CardType.CREATURE, 1, 1, 1) for i in range(8)]
    state = State.new(pool[:7], pool[:8], rules=rules, pool=pool)
    samples = 1200
    orders, places = Counter(), Counter()
    for seed in range(samples):
        drawn = state.resample_hidden(0, seed)
        orders[tuple(c.card.base_id for c in drawn.players[0].deck)] += 1
        other = drawn.players[1]
        places.update(enumerate(c.card.base_id for c in other.hand + other.deck))
    assert len(orders) == 2
    assert p_of_equal_shares(orders) > 1e-3
    assert len(places) == 8 * 8
    assert p_of_equal_shares(places) > 1e-3


def p_of_equal_shares(counts: Counter) -> float:
    """Of a chi-squared test."""
    mean = counts.total() / len(counts)
    value = sum((n - mean) ** 2 for n in counts.values()) / mean
    return special.chdtrc(len(counts) - 1, value)


def test_resampling_needs_a_pool():
    state = State.new([CREATURE] * 6, [], pool=[])
    state.resample_hidden(0, 1).validate()
    with pytest.raises(ValueError, match=r"the pool of the game, .* is empty"):
        state.resample_hidden(1, 1)
    with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
        state.resample_hidden(2, 1)
    with pytest.raises(ValueError, match="seed: expected an integer"):
        state.resample_hidden(0, None)


def test_resampled_states_belong_to_their_seeds():
    """The digest is that of an earlier version, written in plain Python."""
    digest = hashlib.sha256()
    for rules in RULE_SETS:
        for seed in range(1, 4):
            for state, _ in list(random_game(start_position(seed, rules), seed))[::3]:
                for viewer in (0, 1):
                    digest.update(state.resample_hidden(viewer, 7 * seed + viewer).key())
    assert digest.hexdigest()[:16] == "ace34ca0e90afd32"


def test_resampled_cards_keep_their_names():
    pool = [Card(i, CardType.CREATURE, 1, 1, 1, name=f"card {i}") for i in range(16)]
    state = State.new(pool[:8], pool[8:], pool=pool)
    for viewer in (0, 1):
        drawn = state.resample_hidden(viewer, 1)
        for player in drawn.players:
            for _, card in player.hand + player.deck:
                assert card.name == f"card {card.base_id}"


def test_resampling_needs_room_for_all_cards():
    """A belief's position has one entry for all hidden cards; each gets one of its own here."""
    pool = [Card(i, CardType.CREATURE, 1, 1, 1) for i in range(220)]
    battle = State.new(pool[:30], pool[:30], pool=[]).observation(0)
    belief = Belief()
    belief.see(Match(seed=1, cards=pool[:100]).observation(0))
    belief.see(battle)
    belief.root().resample_hidden(0, 1).validate()
    belief.see(Match(seed=1, cards=pool[100:220]).observation(0))
    belief.see(battle)
    with pytest.raises(ValueError, match="more than 256 cards in one game"):
        belief.root().resample_hidden(0, 1)


def test_a_copy_stays_what_it_is_when_its_neighbour_is_resampled():
    """A creature whose id follows that of a hidden card stays what it is whatever that becomes."""
    snapshot, cards, decks = full_position()
    snapshot["p"][1]["board"] = [[65, 1, 2, 3, "------", 0, 1, 0]]
    decks[1] = [[60, 2], [62, 3], [64, 1]]
    state = State.from_snapshot(snapshot, cards, decks)
    for seed in range(20):
        drawn = state.resample_hidden(0, seed)
        assert drawn.players[1].board == state.players[1].board


# ---- invariants ---------------------------------------------------------------------------------


def test_validate_finds_what_an_illegal_action_breaks():
    state = State.new([Card(1, CardType.CREATURE, 9, 1, 1)], [])

    def apply_what_costs_too_much():
        state.apply_unchecked(1)  # validates the state itself in a debug build
        state.validate()

    with pytest.raises(AssertionError, match="mana out of range"):
        apply_what_costs_too_much()


# ------------------------------------------------------------------------------- OpenSpiel's names


@each_rules
def test_rewards_and_returns(rules):
    for state, action in random_game(start_position(5, rules), 5):
        assert state.rewards() == state.returns() == [0.0, 0.0]
        assert [state.player_reward(p) for p in (0, 1)] == [0.0, 0.0]
        last = state.child(action)
    assert last.rewards() == last.returns()
    assert sorted(last.rewards()) == [-1.0, 1.0]
    for player in (0, 1):
        value = 1.0 if player == last.winner else -1.0
        assert last.player_reward(player) == last.player_return(player) == value
    for method in (last.player_reward, last.player_return):
        with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
            method(2)


@each_rules
def test_observation_string_tells_apart_what_a_player_sees(rules):
    seen = {}
    for state, _ in random_game(start_position(6, rules), 6):
        for player in (0, 1):
            text = state.observation_string(player)
            assert text.endswith("\n" + state.observation(player).format())
            hidden = state.resample_hidden(player, 1)
            assert hidden.observation_string(player) == text
            # What may be done is part of it.
            legal = state.legal_actions(player)
            assert seen.setdefault((player, text), legal) == legal
    with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
        state.observation_string(2)


@each_rules
def test_observation_string_follows_the_turn(rules):
    """Each action shows, also one that changes nothing of the protocol's text but the mana."""
    for state, action in random_game(start_position(8, rules), 8):
        player = state.current_player()
        child = state.child(action)
        assert child.observation_string(player) != state.observation_string(player)


@each_rules
def test_resample_from_infostate(rules):
    state = list(random_game(start_position(7, rules), 7))[12][0]
    numbers = iter([0.5, 0.25, 0.0, 1 - 2**-53])
    drawn = state.resample_from_infostate(1, lambda: next(numbers))
    assert drawn == state.resample_hidden(1, (2**31 << 32) + 2**30)
    assert drawn.observation_string(1) == state.observation_string(1)
    drawn = state.resample_from_infostate(0, lambda: next(numbers))
    assert drawn == state.resample_hidden(0, 2**32 - 1)
    random = np.random.default_rng(1)
    samples = {state.resample_from_infostate(0, random.random).key() for _ in range(8)}
    assert len(samples) == 8
    for number in (1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match=r"sampler: expected numbers in \[0, 1\)"):
            state.resample_from_infostate(0, lambda number=number: number)
    with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
        state.resample_from_infostate(2, random.random)

"""`State`: everything that its table in docs/api.md promises, errors included.

The rules themselves are tested against golden games and a reference elsewhere; snapshots, playouts
and hidden cards have modules of their own.
"""

import copy
import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from amounts import amount
from helpers import each_rules, raises
from hypothesis import given
from hypothesis import strategies as st
from states import (
    BLUE,
    CREATURE,
    GREEN,
    RED,
    finished,
    game_positions,
    rebuilt,
    small_state,
)
from strategies import positions

from locmsim import (
    Card,
    CardType,
    GameOverError,
    IllegalActionError,
    State,
    generate_cards,
)
from locmsim._bench import kth_actions
from locmsim._core import Table
from locmsim.game.positions import random_game, start_position
from locmsim.rules.cards import parse_integer

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


def test_a_table_of_cards():
    cards = generate_cards(1)
    table = Table(reversed(cards))
    assert (table.rules, table.pool) == ("1.5", cards)
    assert Table(cards, "1.0").rules == "1.0"
    state = State.new(cards[:3], cards[3:6], pool=table)
    assert state == State.new(cards[:3], cards[3:6], pool=cards)
    empty, nobody_s = Table([]), State.__new__(State).table
    for made in (table, state.table, empty, nobody_s):
        pool = made.pool
        raises(TypeError, "a table is made of cards, and immutable", made.__init__, cards[60:])
        assert made.pool == pool


def test_a_pool_too_large_for_the_table_is_left_out():
    """Of a list with more cards than a game can hold, the state keeps those that occur in it."""
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
        assert state.legal_actions(state.turn % 2) == actions
        assert state.legal_actions(1 - state.turn % 2) == []
        mask = state.legal_actions_mask()
        assert mask.dtype == np.int8
        assert mask.shape == (state.num_distinct_actions(),)
        assert np.flatnonzero(mask).tolist() == actions
        assert set(mask.tolist()) <= {0, 1}
        assert (state.legal_actions_mask(player) == mask).all()
        assert not state.legal_actions_mask(1 - state.turn % 2).any()
        for action in actions:
            state.child(action).validate()


@each_rules
def test_the_kth_actions_are_the_listed_ones(rules):
    """Each k selects another legal action, in any order."""
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


def test_the_error_names_action_and_position():
    state = small_state()
    state.apply_action(1)
    poor = State.new([Card(1, CardType.CREATURE, 9, 1, 1)], [])
    with pytest.raises(IllegalActionError) as raised:
        poor.apply_action(2)
    assert str(raised.value) == "action 2 (SUMMON 0 1) is not legal here"
    assert raised.value.position == poor
    assert pickle.loads(pickle.dumps(raised.value)).position == poor
    raises(IllegalActionError, r"^action 144 is not legal here$", state.apply_action, 144)
    with pytest.raises(GameOverError, match=r"^action 0: the game is over$") as over:
        finished().apply_action(0)
    assert over.value.position == finished()


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
        assert state.rewards() == [state.player_reward(p) for p in (0, 1)] == state.returns()
        assert state.returns() == [state.player_return(p) for p in (0, 1)]
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
            " #6 blue 1: 0/-2 ------ draw 1, #8 creature 1: 2/3 -C-G--",
            "player 1: 30 health, 2/2 mana, 6 in deck, draws 1",
            "  lane 0: -",
            "  lane 1: -",
            "  hand: " + ", ".join(f"#{i} creature 1: 2/3 -C-G--" for i in range(60, 72, 2)),
        )
    )
    assert repr(state) == "<State rules=1.5 turn=1 winner=None>"
    rich = Card.from_row([7, 3, 3, 0, -2, "------", 2, -3, 1, 1])
    line = "#0 blue 3: 0/-2 ------ own health +2 enemy health -3 draw 1 lane1"
    assert line in str(State.new([rich] * 10, [rich] * 10))
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


def test_a_view_keeps_its_state_alive():
    view = small_state().players[1]
    assert [card for _, card in view.hand] == [CREATURE] * 5


# ---- equality -----------------------------------------------------------------------------------


def test_equality_with_other_things():
    state = small_state()
    assert (state == 1) is False
    assert (state != None) is True  # noqa: E711
    assert state.__eq__("x") is NotImplemented


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
    for state in game_positions(rules)[:: amount(3, 1)]:
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
    """States with equal ids and base ids differ if a card differs."""
    other = Card(1, CardType.CREATURE, 1, 2, 3, "-C-G--", card_draw=1)
    states = [State.new([card], [], pool=[card]) for card in (CREATURE, other)]
    assert states[0] != states[1]
    assert states[0].key() != states[1].key()
    assert states[0].key() == State.new([CREATURE], [], pool=[]).key()


def test_an_area_copy_needs_an_id_of_its_own():
    pair = Card(2, CardType.CREATURE, 0, 1, 1, area=1)
    single = Card(3, CardType.CREATURE, 0, 1, 1)
    assert State.new([pair, single], [], ids=[[1, 0], []]).players[0].hand_size == 2
    text = State.new([pair, single], [], ids=[[0, 2], []]).to_text()
    with pytest.raises(ValueError, match="an instance id is that of another card's area copy"):
        State.from_text(text.replace("2:1/", "1:1/"))


# ---- invariants ---------------------------------------------------------------------------------


def test_validate_finds_what_an_illegal_action_breaks():
    state = State.new([Card(1, CardType.CREATURE, 9, 1, 1)], [])

    def apply_what_costs_too_much():
        state.apply_unchecked(1)  # validates the state itself in a debug build
        state.validate()

    raises(AssertionError, "mana out of range", apply_what_costs_too_much)


# ------------------------------------------------------------------------------- OpenSpiel's names


@each_rules
def test_observation_string_tells_apart_what_a_player_sees(rules):
    """Each action changes the string, even one that changes only mana in the protocol's text."""
    seen = {}
    for state, action in random_game(start_position(6, rules), 6):
        mover, child = state.current_player(), state.child(action)
        assert child.observation_string(mover) != state.observation_string(mover)
        for player in (0, 1):
            text = state.observation_string(player)
            assert text.endswith("\n" + state.observation(player).format())
            hidden = state.resample_hidden(player, 1)
            assert hidden.observation_string(player) == text
            # The text determines the legal actions.
            legal = state.legal_actions(player)
            assert seen.setdefault((player, text), legal) == legal

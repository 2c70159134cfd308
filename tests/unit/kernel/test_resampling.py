"""Resampled hidden cards: nothing leaks, and all possible deals are equally likely."""

import hashlib
import random
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from amounts import amount
from helpers import RULE_SETS, each_rules, raises
from hypothesis import given
from hypothesis import strategies as st
from states import CREATURE, full_position, game_positions, rebuilt
from strategies import positions

from locmsim import (
    Card,
    CardType,
    Match,
    State,
)
from locmsim.game.positions import random_game, start_position
from locmsim.search import Belief


def with_other_hidden_cards(state: State, viewer: int, rng: random.Random) -> State:
    """Return a position that looks the same to the viewer."""
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
    """Positions that look the same to the viewer are equal after resampling."""
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
    # Ids follow the draw order in 1.x, and would tell it.
    ids = [c.id if state.rules == "1.5" else 255 for c in me.deck]
    assert sorted(c.id for c in my_new.deck) == sorted(ids)
    assert new.board == other.board
    assert my_new.board == me.board
    assert (new.hand_size, new.deck_size) == (other.hand_size, other.deck_size)
    hidden = new.hand + new.deck
    assert {c.id for c in hidden} <= {255}
    assert {c.card for c in hidden} <= set(state.table.pool)
    # All public values are the same, even those that no text shows.
    old, changed = state.snapshot(), drawn.snapshot()
    for snapshot in (old, changed):
        del snapshot["p"][1 - viewer]["hand"]
    assert old == changed
    # The state can be played to an end.
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
    """Each hidden place gets each card of the pool equally often, and the deck each order."""
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
    assert p_of_shares(orders, Counter([*orders])) > 1e-3
    assert len(places) == 8 * 8
    assert p_of_shares(places, Counter([*places])) > 1e-3


def p_of_shares(counts: Counter, expected: Counter) -> float:
    """Return the p-value of a chi-squared test."""
    from scipy import special  # slow to import

    scale = counts.total() / expected.total()
    value = sum((counts[key] - n * scale) ** 2 / (n * scale) for key, n in expected.items())
    return special.chdtrc(len(expected) - 1, value)


@pytest.mark.parametrize("base_ids", [(0, 1, 2, 3), (3, 4, 70, 300)])
def test_copies_on_the_board_are_left_out(base_ids):
    """All sequences of hidden cards are as likely as draws from two copies of each, less these."""
    pool = [Card(i, CardType.CREATURE, 1, 1, 1) for i in base_ids]
    state = State.new([pool[2]] * 4, pool[:3], pool=pool)
    state.apply_line("SUMMON 0 0")
    assert len(state.players[0].board) == 1
    state = state.resample_hidden(1, 0)
    copies = [card for card in pool for _ in range(2)]
    copies.remove(pool[2])
    expected = Counter(permutations([card.base_id for card in copies], 3))
    found = Counter()
    for seed in range(8000):
        player = state.resample_hidden(1, seed).players[0]
        found[tuple(c.card.base_id for c in player.hand + player.deck)] += 1
    assert found.keys() == expected.keys()
    assert p_of_shares(found, expected) > 1e-3


def test_resampling_needs_a_pool():
    state = State.new([CREATURE] * 6, [], pool=[])
    state.resample_hidden(0, 1).validate()
    raises(ValueError, r"the pool of the game, .* is empty", state.resample_hidden, 1, 1)
    raises(ValueError, "player: expected 0 or 1, got 2", state.resample_hidden, 2, 1)


def test_resampled_states_belong_to_their_seeds():
    """The digest is that of the first version that draws from the pool as beliefs do."""
    digest = hashlib.sha256()
    for rules in RULE_SETS:
        for seed in range(1, 4):
            for state, _ in list(random_game(start_position(seed, rules), seed))[::3]:
                for viewer in (0, 1):
                    digest.update(state.resample_hidden(viewer, 7 * seed + viewer).key())
    assert digest.hexdigest()[:16] == "536bd8c1c97c375c"


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_the_order_of_a_draft_deck_does_not_leak(rules):
    """Its ids follow the draw order, so the cards are sorted first, whatever their base ids."""
    deck = [Card(1 + 256 * (i % 3), CardType.CREATURE, 1, 1, 1) for i in range(12)]
    decks = set()
    for order in (deck, [*deck[:5], *deck[:4:-1]]):
        state = State.new(order, deck, rules=rules)
        assert order == deck or state != State.new(deck, deck, rules=rules)
        drawn = state.resample_hidden(0, 7).players[0].deck
        decks.add(tuple((number, card.base_id) for number, card in drawn))
    assert len(decks) == 1


def test_resampled_cards_keep_their_names():
    pool = [Card(i, CardType.CREATURE, 1, 1, 1, name=f"card {i}") for i in range(16)]
    state = State.new(pool[:8], pool[8:], pool=pool)
    for viewer in (0, 1):
        drawn = state.resample_hidden(viewer, 1)
        for world in (drawn, drawn.resample_hidden(1 - viewer, 2), drawn.clone()):
            for player in world.players:
                for _, card in player.hand + player.deck:
                    assert card.name == f"card {card.base_id}"
            assert world.table.pool == pool
            passed_on = State.new(pool[:8], pool[8:], pool=world.table)
            assert [card.name for card in passed_on.table.pool] == [card.name for card in pool]


def test_resampled_states_share_their_table():
    """... so that resampling needs no room for other cards in it."""
    pool = [Card(i, CardType.CREATURE, 1, 1, 1) for i in range(220)]
    battle = State.new(pool[:30], pool[:30], pool=[]).observation(0)
    belief = Belief()
    belief.see(Match(seed=1, cards=pool[:100]).observation(0))
    belief.see(battle)
    belief.see(Match(seed=1, cards=pool[100:220]).observation(0))
    belief.see(battle)
    drawn = belief.root().resample_hidden(0, 1)
    drawn.validate()
    assert drawn.table is drawn.resample_hidden(1, 1).table


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_a_draft_deck_must_be_in_the_pool(rules):
    """Its ids would tell the draw order."""
    cards = [Card(i, CardType.CREATURE, 1, 1, 1) for i in range(40)]
    state = State.new(cards[:30], cards[:30], rules=rules, pool=cards[10:])
    with pytest.raises(ValueError, match=r"pool of the game, .* lacks a card of the player's own"):
        state.resample_hidden(0, 1)
    assert State.new(cards[:30], cards[:30], pool=cards[10:]).resample_hidden(0, 1) is not None


def test_a_copy_stays_what_it_is_when_its_neighbour_is_resampled():
    """A creature whose id follows that of a hidden card keeps its card when that one is redrawn."""
    snapshot, cards, decks = full_position()
    snapshot["p"][1]["board"] = [[65, 1, 2, 3, "------", 0, 1, 0]]
    decks[1] = [[60, 2], [62, 3], [64, 1]]
    state = State.from_snapshot(snapshot, cards, decks)
    for seed in range(20):
        drawn = state.resample_hidden(0, seed)
        assert drawn.players[1].board == state.players[1].board


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

"""Deals in compiled code: exactly those of the referee, and uniformly random decks."""

import numpy as np
from helpers import each_rules
from hypothesis import given
from hypothesis import strategies as st
from oracles.choice import Draft

from locmsim import Match
from locmsim.envs import Games, Options
from locmsim.rules.rulesets import get_rules


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.sampled_from([1, 2, 3, 4]))
def test_triplets_are_those_of_a_match(seed, league):
    match = Match("1.0", params={"draftChoicesSeed": seed, "league": league})
    expected = Draft(get_rules("1.0"), match.cards, match.params)
    assert match.offers == expected.offers


@each_rules
def test_rows_are_dealt_as_a_match_is(rules):
    games = Games(6, Options(rules=rules, card_sets=3, opponent="caller"))
    for row in range(games.n):
        games.begin(row, row)
        seed, derived = games.rows.views.seeds(row)
        names = get_rules(rules).seed_names
        match = Match(rules, params={"seed": seed, **dict(zip(names, derived, strict=True))})
        if rules != "1.5":
            assert match.params == Match(rules, seed=seed).params
        cards = games.cards(row)
        for player, deck in enumerate(games.rows.views.decks(row)):
            line = ";".join(f"CHOOSE {cards[i].base_id}" for i in deck)
            if rules == "1.5":
                match.submit(player, line)
        if rules != "1.5":
            for step in range(30):
                for player, deck in enumerate(games.rows.views.decks(row)):
                    match.submit(player, f"CHOOSE {cards[deck[step]].base_id}")
        assert match.phase == "battle"
        assert games.rows.views.state(row) == match.state
        assert games.rows.views.state(row).snapshot() == match.state.snapshot()
        if rules == "1.5":
            assert games.rows.views.state(row).table.pool == match.state.table.pool


def test_random_decks_are_uniform():
    """Each of the 120 cards has its share of all places, and pairs have theirs."""
    games = Games(400, Options(card_sets=1, opponent="caller"))
    counts = np.zeros(120, int)
    pairs = 0
    for row in range(games.n):
        games.begin(row, row)
        for deck in games.rows.views.decks(row):
            copies = np.bincount(deck, minlength=120)
            assert copies.max() <= 2
            counts += copies
            pairs += int((copies == 2).sum())
    decks = 2 * games.n
    expected = decks * 30 / 120
    # The variance of one card's copies: each of the 2 is in a deck with probability 1/8, without
    # replacement.
    variance = decks * 2 * (1 / 8) * (7 / 8) * (238 / 239)
    chi2 = ((counts - expected) ** 2).sum() / variance
    assert 70 < chi2 < 185  # 120 cards; beyond six deviations
    assert abs(pairs / decks - 120 * (30 * 29) / (240 * 239)) < 0.4


def test_random_picks_are_uniform():
    games = Games(300, Options(rules="1.2", opponent="caller"))
    counts = np.zeros(3, int)
    for row in range(games.n):
        games.begin(row, row)
        offers = games.rows.card_sets.offers(row)
        for deck in games.rows.views.decks(row):
            for card, triplet in zip(deck, offers, strict=True):
                counts[triplet.index(card)] += 1
    expected = counts.sum() / 3
    assert ((counts - expected) ** 2 / expected).sum() < 25

"""Decks are judged: chances of winning, and the choices that cost most."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from helpers import each_rules, raises

from locmsim import Match
from locmsim.decks import build_deck, deck_line, pick
from locmsim.decks.chances import calibration, probability_of, value_of_decks, win_probability
from locmsim.decks.report import WORST, report_decks
from locmsim.decks.value import default_value, term_rows
from locmsim.networks._decks import DeckNetworks
from locmsim.rules.generator import generate_cards


def chosen_match(rules: str, seed: int = 5) -> Match:
    """Return a match in which player 0 chose as the package does and player 1 at random."""
    match, rng = Match(rules, seed=seed), random.Random(seed)
    offers, picked = [], []
    while match.phase == "choice":
        offer = match.observation(0).offer
        if rules == "1.5":
            ids = [card.base_id for card in offer]
            match.submit(0, deck_line(build_deck(offer)))
            match.submit(1, deck_line(rng.sample(ids, 30)))
            continue
        place = pick(offer, picked, rules, earlier=offers)
        offers.append(offer)
        picked.append(offer[place])
        match.submit(0, f"PICK {place}")
        match.submit(1, f"PICK {rng.randrange(3)}")
    return match


@each_rules
def test_the_package_s_own_deck_is_the_better_one(rules: str) -> None:
    match = chosen_match(rules)
    own, other = report_decks(match)
    cards = {card.base_id: card for card in match.cards}
    decks = [[cards[base_id] for _, base_id in deck] for deck in match.decks]
    for report in (own, other):
        mine, theirs = decks[report.player], decks[1 - report.player]
        assert report.probability == pytest.approx(
            win_probability(rules, mine, theirs, report.player)
        )
        package = win_probability(rules, report.package_deck, theirs, report.player)
        assert report.with_package == pytest.approx(package)
        assert sorted(c.base_id for c in own.package_deck) == sorted(match.chosen[0])
    assert own.probability + other.probability == pytest.approx(1)
    assert own.probability == pytest.approx(own.with_package)
    assert own.probability > 0.5 > other.probability
    assert other.with_package > other.probability + 0.1
    assert own.worst == []
    assert len(other.worst) == WORST
    assert all(one.loss > 0 for one in other.worst)
    assert json.loads(json.dumps(other.to_json())) == other.to_json()


def test_exchanges_add_up() -> None:
    """In rules 1.5 the exchanges can be made one after the other, and gain what they say."""
    match = chosen_match("1.5")
    _, report = report_decks(match, count=10)
    deck, cards = list(match.chosen[1]), {card.base_id: card for card in match.cards}
    theirs = [cards[base_id] for base_id in match.chosen[0]]
    chance = report.probability
    for one in report.worst:
        for _ in range(one.copies):
            deck.remove(one.picked.base_id)
            deck.append(one.better.base_id)
        assert deck.count(one.better.base_id) <= 2
        after = win_probability("1.5", [cards[base_id] for base_id in deck], theirs, 1)
        assert after - chance == pytest.approx(one.loss, abs=1e-5)
        chance = after


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_picks_are_judged_by_what_was_known(rules: str) -> None:
    """A pick is compared with the best one of its turn; later offers do not matter."""
    match = chosen_match(rules)
    _, report = report_decks(match, count=30)
    value = value_of_decks(rules)
    cards = {card.base_id: card for card in match.cards}
    picked = [cards[base_id] for base_id in match.chosen[1]]
    for one in report.worst:
        assert one.turn is not None
        offers = match.offers[: one.turn + 1]
        values = dict(
            zip(
                [card.base_id for card in offers[-1]],
                value.expected(offers, picked[: one.turn]),
                strict=True,
            )
        )
        assert one.picked == picked[one.turn]
        assert values[one.better.base_id] == max(values.values()) > values[one.picked.base_id]
    assert [one.loss for one in report.worst] == sorted(
        (one.loss for one in report.worst), reverse=True
    )
    best = {one.turn for one in report.worst}
    assert 10 < len(best) < 30


def test_exchanged_values() -> None:
    """The table of exchanges has the values of the decks after them."""
    cards = generate_cards(3)[:40]
    rng = random.Random(1)
    copies = [2] * 10 + [1] * 10 + [0] * 20
    rng.shuffle(copies)
    networks, rows = DeckNetworks(default_value().networks), term_rows(cards)
    table = networks.exchanged(rows, copies)
    assert table.shape == (40, 40)
    for i in range(40):
        for j in range(40):
            moved = min(copies[i], 2 - copies[j])
            if i == j or moved <= 0:
                assert np.isnan(table[i, j])
                continue
            if (i + j) % 7:
                continue
            after = [*copies]
            after[i] -= moved
            after[j] += moved
            assert table[i, j] == pytest.approx(networks.value(rows, after), abs=1e-4)
    raises(ValueError, "terms: expected", networks.exchanged, rows[:, 1:].copy(), copies)


def test_best_exchange_ends_where_improvement_does() -> None:
    cards = generate_cards(4)
    value = default_value()
    deck = value.improved(build_deck(cards), cards)
    found = value.best_exchange(deck, cards)
    # Both copies at once may still gain where one alone does not.
    assert found is None or found[2] == 2


@each_rules
def test_calibration(rules: str) -> None:
    fitted = calibration(rules)
    assert fitted.games >= 1000
    assert fitted.pilot == "beam:nodes=1000"
    assert 0.3 < fitted.scale < 2
    assert probability_of(rules, 1.0, 0) + probability_of(rules, -1.0, 1) == pytest.approx(1)
    assert 0 <= probability_of(rules, -2000.0) < 1e-9
    assert probability_of(rules, 2000.0) == 1
    raises(ValueError, "unknown rules '2'", calibration, "2")


def test_no_decks_yet() -> None:
    match = Match("1.2", seed=1)
    raises(ValueError, "no decks: the match has not left its choice phase", report_decks, match)
    match.submit(0, "SING")
    match.submit(1, "PICK 0")
    raises(ValueError, "no decks", report_decks, match)


@pytest.mark.parametrize("size", [15, 16, 120, 160, 300])
def test_only_offered_cards_are_recommended(size: int) -> None:
    """A match may have more cards than it offers, or no other card than those of the deck."""
    cards = [replace(card, base_id=i) for i, card in enumerate((generate_cards(1) * 3)[:size])]
    match = Match(seed=2, cards=cards)
    ids = [card.base_id for card in match.offers]
    match.submit(0, deck_line([*ids[:15], *ids[:15]]))
    match.submit(1, deck_line([*ids[-15:], *ids[-15:]]))
    for report in report_decks(match):
        assert {one.better for one in report.worst} <= {*match.offers}
        assert size > 15 or report.worst == []


def test_cards_that_are_not_offered() -> None:
    cards = generate_cards(1)
    for method in (default_value().improved, default_value().best_exchange):
        raises(ValueError, "deck: card 119 is not offered", method, [*range(29), 119], cards[:100])

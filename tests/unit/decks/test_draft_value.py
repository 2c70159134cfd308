"""The value of drafts, and the picker that picks by the expected value of the draft."""

import numpy as np
import pytest
from helpers import raises

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.decks import (
    DRAFT_PICKERS,
    CurvePicker,
    ExpectedPicker,
    HistoryPicker,
    TableScore,
    card_score,
    pick,
)
from locmsim.decks.draft_value import DRAFT_SHAPES, DraftValue, draft_value_of
from locmsim.networks import default_weights
from locmsim.networks._drafts import DraftNetworks
from locmsim.rules.cards import Card, CardType, cards_1x, equal_cards_1x
from locmsim.search.belief import draft_attractions

CARDS = cards_1x()
#: Base ids of cards that differ in nothing else but their names.
PAIRS = [(7, 65), (15, 17), (19, 109)]


def networks(n: int = 2, seed: int = 1) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [
        {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in DRAFT_SHAPES.items()}
        for _ in range(n)
    ]


def in_numpy(arrays: list[dict[str, np.ndarray]], deck: list[Card]) -> float:
    """Return the mean of the networks' values of a deck."""
    rows = [card.base_id - 1 for card in deck]
    values = []
    for w in arrays:
        units = np.maximum(w["card"][rows].sum(axis=0) + w["bias"], 0)
        values.append(units @ w["output"] + w["direct"][rows].sum())
    return float(np.mean(values))


def offers_of(seed: int) -> list[list[Card]]:
    return [list(offer) for offer in Match("1.2", seed=seed).offers]


# ---- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_deck_is_worth_what_the_networks_say(n):
    arrays = networks(n)
    value = DraftValue(*arrays)
    rng = np.random.default_rng(2)
    for size in (0, 1, 30):
        deck = [CARDS[i] for i in rng.integers(0, 160, size)]
        assert value(deck) == pytest.approx(in_numpy(arrays, deck), abs=1e-5)
    assert all(
        np.array_equal(a[name], b[name])
        for a, b in zip(value.networks, arrays, strict=True)
        for name in DRAFT_SHAPES
    )


def test_cards_that_are_none_of_the_160_count_for_nothing():
    value = DraftValue(*networks())
    stranger = Card(900, CardType.CREATURE, 1, 1, 1)
    assert value([stranger, CARDS[3]]) == value([CARDS[3]])
    assert len(value.expected([[stranger, CARDS[0], CARDS[1]]], [])) == 3


def test_the_last_pick_has_the_value_of_the_deck():
    arrays = networks()
    offers = offers_of(3)
    picked = [offer[0] for offer in offers[:-1]]
    expected = DraftValue(*arrays).expected(offers, picked)
    assert expected == pytest.approx([in_numpy(arrays, [*picked, c]) for c in offers[-1]], abs=1e-5)


def test_before_the_last_pick_it_is_the_mean_over_what_is_offered():
    """All other cards are worth the same, so the value of the draft's rest is known."""
    arrays = networks(1)[0]
    arrays["card"][:] = 0
    arrays["direct"][:] = 1
    offers = offers_of(3)
    arrays["direct"][offers[4][1].base_id - 1] = 3
    picked = [offer[0] for offer in offers[:4]]
    assert offers[4][1] not in picked
    first, second, third = DraftValue(arrays).expected(offers[:5], picked, drafts=400)
    # The second card may be offered again, and is picked each time.
    assert first == third
    assert second == pytest.approx(first + 2, abs=0.3)


def test_better_decks_are_expected_from_offers_of_better_cards():
    arrays = {name: np.zeros(shape, np.float32) for name, shape in DRAFT_SHAPES.items()}
    arrays["direct"][:80] = 1.0
    value = DraftValue(arrays)
    good, bad = [CARDS[0], CARDS[1], CARDS[2]], [CARDS[100], CARDS[101], CARDS[102]]
    poor = [[CARDS[100 + 3 * i + k] for k in range(3)] for i in range(15)]
    rich = [[CARDS[3 * i + k] for k in range(3)] for i in range(15)]
    # Deck and choice are the same, but earlier offers tell what the pool is like.
    picked = [CARDS[150]] * 15
    assert value.expected([*rich, good], picked)[0] > value.expected([*poor, good], picked)[0] + 3
    assert value.expected([*rich, bad], picked)[0] < value.expected([*rich, good], picked)[0]


def test_it_foresees_what_a_deck_will_lack():
    """Of two cards that are worth the same, it takes the one of the rarer kind."""
    arrays = {name: np.zeros(shape, np.float32) for name, shape in DRAFT_SHAPES.items()}
    items = np.array([card.type != CardType.CREATURE for card in CARDS])
    # Each item beyond the third costs one.
    arrays["card"][items, 0] = 1
    arrays["bias"][0] = -3
    arrays["output"][0] = -1
    creature = next(card for card in CARDS if card.type == CardType.CREATURE)
    item = next(card for card in CARDS if card.type != CardType.CREATURE)
    value = DraftValue(arrays)
    values = value.expected([[item, creature, item]], [])
    assert values[1] >= values[0] == values[2]
    # If the value is additive, both kinds are worth the same.
    arrays["output"][0] = 0
    assert len(set(DraftValue(arrays).expected([[item, creature, item]], []))) == 1


@pytest.mark.parametrize(
    ("offers", "picked", "drafts", "message"),
    [
        ([], [], 4, "offers: expected 1 to 30, got 0"),
        ([CARDS[:3]] * 31, CARDS[:30], 4, "offers: expected 1 to 30, got 31"),
        ([CARDS[:3]] * 2, [], 4, "picked: expected 1 cards, got 0"),
        ([CARDS[:2]], [], 4, "offers: expected three cards, got 2"),
        ([CARDS[:3]], [], 0, "drafts: expected 1 or more, got 0"),
    ],
)
def test_what_does_not_fit_together(offers, picked, drafts, message):
    raises(ValueError, message, DraftValue(*networks()).expected, offers, picked, drafts)


def test_arrays_that_make_no_sense():
    raises(ValueError, "draft value: expected 1 to 4 networks, got 0", DraftValue)
    raises(ValueError, "draft value: expected 1 to 4 networks, got 5", DraftValue, *networks(5))
    with pytest.raises(ValueError, match="draft value: bias is missing"):
        DraftNetworks([{name: a for name, a in networks(1)[0].items() if name != "bias"}])
    with pytest.raises(ValueError, match="deck: expected at most 30 cards, got 31"):
        DraftValue(*networks())(CARDS[:31])


# ---- picks ---------------------------------------------------------------------------------------


class Last(HistoryPicker):
    """Takes the second card where it can see an earlier offer of three cards, else the third."""

    def choose(self, offers, picked, rules):
        assert len(offers) == len(picked) + 1
        return 1 if any(len(set(offer)) == 3 for offer in offers[:-1]) else 2


def test_a_picker_that_looks_back_is_given_all_offers():
    offers = offers_of(1)
    assert pick(offers[1], [offers[0][0]], "1.2", Last(), offers[:1]) == 1
    assert pick(offers[1], [offers[0][0]], "1.2", Last()) == 2
    agent = make_agent("greedy", draft=Last())
    match = Match("1.2", seed=1)
    assert [agent.choose(match.observation(0))] == ["PICK 2"]
    match.submit(0, "PICK 2"), match.submit(1, "PICK 0")
    assert agent.choose(match.observation(0)) == "PICK 1"


def test_the_expected_picker_takes_the_best_card():
    value = DraftValue(*networks())
    picker = ExpectedPicker({"1.2": value}, CurvePicker({"1.0": TableScore({})}))
    offers = offers_of(5)
    picked: list[Card] = []
    for turn, offer in enumerate(offers):
        expected = value.expected(offers[: turn + 1], picked)
        choice = pick(offer, picked, "1.2", picker, offers[:turn])
        assert expected[choice] == max(expected)
        picked.append(offer[choice])
    assert pick(offers[0], [], "1.0", picker) == CurvePicker({"1.0": TableScore({})})(
        offers[0], [], "1.0"
    )


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
@pytest.mark.parametrize("agent", ["greedy", "mcts:iterations=1,time_ms=0"])
def test_nobody_looks_into_the_pool(rules, agent):
    """Drafts that begin with the same offers begin with the same picks, whatever the pool."""
    first, other = (Match(rules, seed=seed).offers for seed in (1, 2))
    same = 12
    assert {c.base_id for o in first for c in o} != {c.base_id for o in other for c in o}
    picks = []
    for offers in (first, [*first[:same], *other[same:]]):
        ids = ",".join(" ".join(str(card.base_id) for card in offer) for offer in offers)
        match = Match(rules, seed=1, params={"predefinedDraftIds": ids})
        player = make_agent(agent)
        player.reset(7)
        picks.append([])
        for _ in range(30):
            picks[-1].append(player.choose(match.observation(0)))
            assert match.submit(0, picks[-1][-1]).error is None
            match.submit(1, "PASS")
    assert picks[0][:same] == picks[1][:same]
    assert picks[0] != picks[1]


# ---- what opponents have -------------------------------------------------------------------------


def test_opponents_draft_by_the_same_value():
    value = DraftValue(*networks(seed=4))
    offers = offers_of(2)
    weighted = draft_attractions(offers, "1.2", value=value)
    picked: list[Card] = []
    for turn, (offer, likely) in enumerate(zip(offers, weighted, strict=True)):
        assert {card for card, _ in likely} == set(offer)
        weights = dict(likely)
        best = max(offer, key=weights.__getitem__)
        assert weights[best] == 1
        expected = dict(zip(offer, value.expected(offers[: turn + 1], picked), strict=True))
        assert sorted(offer, key=expected.__getitem__) == sorted(offer, key=weights.__getitem__)
        picked.append(best)
    by_score = draft_attractions(offers, "1.2", lambda card: 0.0)
    assert all(weight == 1 for likely in by_score for _, weight in likely)
    ours = draft_value_of(default_weights("1.2"))
    assert draft_attractions(offers, "1.2") == draft_attractions(offers, "1.2", value=ours)


# ---- cards that are equal ------------------------------------------------------------------------


def test_which_cards_are_equal():
    found = [(first + 1, i + 1) for i, first in enumerate(equal_cards_1x()) if first != i]
    assert sorted(found) == PAIRS


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_equal_cards_are_worth_the_same(rules):
    weights = default_weights(rules)
    score = card_score(rules)
    for a, b in PAIRS:
        assert weights.draft[a] == weights.draft[b]
        assert score(CARDS[a - 1]) == score(CARDS[b - 1])
        for arrays in weights.draft_value:
            assert (arrays["card"][a - 1] == arrays["card"][b - 1]).all()
            assert arrays["direct"][a - 1] == arrays["direct"][b - 1]
        offers = [*offers_of(3)[:29], [CARDS[a - 1], CARDS[b - 1], CARDS[30]]]
        (_, first), (_, second), _ = draft_attractions(offers, rules)[-1]
        assert first == second


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
@pytest.mark.parametrize("name", DRAFT_PICKERS)
def test_of_equal_cards_the_first_is_taken(name, rules):
    """Names decide nothing: with the two in the other order, the choice is the same place."""
    taken = set()
    for seed in range(10):
        offers = offers_of(seed)
        earlier, third = offers[:seed], offers[20][0]
        picked = [offer[seed % 3] for offer in earlier]
        for a, b in PAIRS:
            one, other = CARDS[a - 1], CARDS[b - 1]
            if third in (one, other):
                continue
            for offer in ([one, other, third], [one, third, other], [third, one, other]):
                turned = [{one: other, other: one}.get(card, card) for card in offer]
                choice = pick(offer, picked, rules, name, earlier)
                assert choice == pick(turned, picked, rules, name, earlier)
                places = [i for i, card in enumerate(offer) if card != third]
                assert choice in (offer.index(third), places[0])
                taken.add(choice == places[0])
    assert taken == {False, True}

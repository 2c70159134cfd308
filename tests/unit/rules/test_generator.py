"""`generate_cards` against card sets of the official generator, and the errors of weights files."""

import copy
import gzip
import json
import math
from functools import reduce
from operator import getitem

import pytest
from helpers import REFERENCE, golden_lines, golden_path, raises
from hypothesis import given
from hypothesis import strategies as st

from locmsim.rules.cards import CardType
from locmsim.rules.generator import (
    _java_sum,
    generate_cards,
    load_weights,
    shipped_weights,
)
from locmsim.rules.rulesets import OFFER_SIZE

SETS = [json.loads(line) for line in golden_lines(golden_path("cardgen.jsonl.gz"))]
CHANGED = [golden for golden in SETS if "weights" in golden]


def rows(cards):
    return [card.to_row() for card in cards]


def seed_name(golden):
    return f"seed={golden['cardGenSeed']}"


@pytest.mark.parametrize("golden", SETS, ids=seed_name)
def test_shipped_and_changed_weights(golden):
    cards = generate_cards(golden["cardGenSeed"], golden.get("weights"))
    assert rows(cards) == golden["cards"]


@pytest.mark.skipif(REFERENCE is None, reason="needs the folder LOCMSIM_REFERENCE")
def test_card_sets_of_recorded_games():
    path = REFERENCE / "recorded-1.5.jsonl.gz"
    games = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert len(games) == 40
    for game in games:
        parameters = dict(line.split("=") for line in game["gameParameters"][0].split())
        text = "".join(part for part in game["errors"]["0"] if part)
        lines = text.split("\n")[4 : 4 + OFFER_SIZE]
        # Columns: base id, id, location, type, ..., draw, area, lane.
        recorded = [" ".join(line.split()[:1] + line.split()[3:12]) for line in lines]
        cards = generate_cards(int(parameters["cardGenSeed"]))
        assert [" ".join(map(str, row)) for row in rows(cards)] == recorded


def test_order_of_equal_weights_matters():
    weights = shipped_weights()
    reversed_curve = dict(reversed(weights["manaCurve"].items()))
    assert generate_cards(7, {**weights, "manaCurve": reversed_curve}) != generate_cards(7)


@given(st.integers(-(2**63), 2**63 - 1))
def test_sets_are_sorted_and_within_the_rules(seed):
    cards = generate_cards(seed)
    assert [card.base_id for card in cards] == list(range(OFFER_SIZE))
    assert [card.cost for card in cards] == sorted(card.cost for card in cards)
    for card in cards:
        if card.type == CardType.CREATURE:
            assert card.attack >= 0
            assert card.defense >= 1
        elif card.type == CardType.GREEN:
            assert min(card.attack, card.defense) >= 0
        else:
            assert max(card.attack, card.defense) <= 0
        if card.type == CardType.BLUE:
            assert (card.attack, card.abilities) == (0, "------")


def changed(path, value):
    """Return the shipped weights with one value replaced; `path` is a list of keys and indices."""
    weights = shipped_weights()
    reduce(getitem, path[:-1], weights)[path[-1]] = value
    return weights


def without(*path):
    weights = shipped_weights()
    del reduce(getitem, path[:-1], weights)[path[-1]]
    return weights


BAD_WEIGHTS = [
    ([], "weights: expected an object, got []"),
    (without("manaCurve"), "manaCurve: missing"),
    (changed(["manacurve"], {}), "manacurve: unknown key, expected typeProbabilities, manaCurve"),
    (changed(["manaCurve"], [1]), "manaCurve: expected an object with at least one member"),
    (changed(["manaCurve"], {}), "manaCurve: expected an object with at least one member"),
    (changed(["manaCurve", "x"], 1), "manaCurve: expected an integer, got 'x'"),
    (changed(["manaCurve", "128"], 1), "manaCurve: expected 0..127, got '128'"),
    (changed(["manaCurve", "3"], "much"), "manaCurve.3: expected a number, got 'much'"),
    (changed(["manaCurve", "3"], True), "manaCurve.3: expected a number, got True"),
    (changed(["manaCurve", "3"], -0.5), "manaCurve.3: expected a number >= 0, got -0.5"),
    (changed(["manaCurve", "3"], math.inf), "manaCurve.3: expected a finite number, got inf"),
    (changed(["manaCurve", "3"], 10**400), "manaCurve.3: expected a finite number, got 1000"),
    (
        changed(["typeProbabilities", "itemPink"], 1),
        "typeProbabilities: expected one of creature, itemGreen, itemRed, itemBlue, got 'itemPink'",
    ),
    (
        changed(["areaProbabilities", 1, "weight"], "x"),
        "areaProbabilities[1].weight: expected a number, got 'x'",
    ),
    (
        changed(["areaProbabilities", 1, "name"], "lane3"),
        "areaProbabilities[1].name: expected one of target, lane1, lane2, got 'lane3'",
    ),
    (without("areaProbabilities", 2, "multCost"), "areaProbabilities[2].multCost: missing"),
    (changed(["areaProbabilities", 0, "cost"], 1), "areaProbabilities[0].cost: unknown key"),
    (changed(["areaProbabilities", 0], 5), "areaProbabilities[0]: expected an object, got 5"),
    (changed(["areaProbabilities"], []), "areaProbabilities: expected a list with at least one"),
    (changed(["areaProbabilities"], "lane1"), "areaProbabilities: expected a list with at least"),
    (
        changed(["keywordProbabilities", 5, "name"], "W"),
        "keywordProbabilities[5].name: expected one of breakthrough, charge",
    ),
    (
        changed(["keywordNumberProbabilities", "7"], 1),
        "keywordNumberProbabilities: expected keys 0..6",
    ),
    (without("keywordProbabilities", 3), "keywordNumberProbabilities: expected keys 0..5"),
    (
        changed(["drawProbabilities", 0, "name"], "-1"),
        "drawProbabilities[0].name: expected 0..100, got '-1'",
    ),
    (
        changed(["myHealthProbabilities", 0, "name"], "1.5"),
        "myHealthProbabilities[0].name: expected an integer, got '1.5'",
    ),
    (
        changed(["oppHealthProbabilities", 0, "name"], "501"),
        "oppHealthProbabilities[0].name: expected -500..500, got '501'",
    ),
    (
        changed(["bonusAttackDistribution", "std"], None),
        "bonusAttackDistribution.std: expected a number, got None",
    ),
    (without("bonusDefenseDistribution", "mean"), "bonusDefenseDistribution.mean: missing"),
]


@pytest.mark.parametrize(("weights", "message"), BAD_WEIGHTS, ids=[m for _, m in BAD_WEIGHTS])
def test_bad_weights_are_named(weights, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        generate_cards(0, weights)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("mean", [3e9, 1e300])
def test_weights_that_make_impossible_cards(mean):
    """A number too large for an int becomes the largest one, as in Java."""
    weights = changed(["bonusAttackDistribution", "mean"], mean)
    message = r"card \d+ impossible: attack: expected -500..500, got -?2147483647"
    raises(ValueError, message, generate_cards, 0, weights)
    weights = changed(["bonusAttackDistribution", "mean"], -mean)
    assert {card.attack for card in generate_cards(0, weights)} == {0}


def test_rejected_property_with_factor_zero_leaves_a_budget_that_is_no_number():
    """A budget of NaN, as 0.0 / 0.0 in Java, affords everything and makes statistics 0."""
    weights = shipped_weights()
    for name in ("areaProbabilities", "drawProbabilities"):
        for entry in weights[name]:
            entry["multCost"] = 0
            entry["addCost"] = 1
    for card in generate_cards(1, weights):
        assert (card.area, card.card_draw) == (0, 0) or (card.area > 0) != (card.card_draw > 0)
        assert card.attack == 0
        assert card.defense == (1 if card.type == CardType.CREATURE else 0)


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([], 0.0),
        ([0.1] * 10, 1.0),  # 0.9999999999999999 by plain addition
        ([1e16, 1.0, 1.0], 1e16 + 2),
        ([1e16, 1.0], 1e16),  # compensated at the end, and rounded again
        ([2.5, 0.25], 2.75),
    ],
)
def test_sums_are_compensated_as_in_java(values, total):
    assert _java_sum(values) == total


def test_numbers_may_be_names():
    """The referee's JSON reader converts numbers to text."""
    weights = shipped_weights()
    for entry in weights["drawProbabilities"]:
        entry["name"] = int(entry["name"])
    assert generate_cards(3, weights) == generate_cards(3)


def test_load_weights(tmp_path):
    path = tmp_path / "weights.json"
    weights = CHANGED[0]["weights"]
    path.write_text(json.dumps(weights), encoding="utf-8")
    loaded = load_weights(path)
    assert loaded == weights
    assert list(loaded["typeProbabilities"]) == list(weights["typeProbabilities"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"manaCurve": {', "Expecting property name"),
        (b"\xff", "can't decode byte"),
        (b'{"manaCurve": {"1": 1, "2": 1, "1": 2}}', "1: occurs twice in one object"),
        (b"{}", "typeProbabilities: missing"),
        (b"3", "weights: expected an object, got 3"),
    ],
)
def test_load_weights_names_file_and_key(tmp_path, text, message):
    path = tmp_path / "weights.json"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=message) as caught:
        load_weights(path)
    assert str(path) in str(caught.value)


def test_generating_leaves_the_weights_as_they_were():
    weights = shipped_weights()
    before = copy.deepcopy(weights)
    generate_cards(5, weights)
    assert weights == before
    weights["manaCurve"].clear()
    assert shipped_weights() == before

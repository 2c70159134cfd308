"""The rule sets as data: every difference that docs/rules.md names, by its section."""

import dataclasses
import re
from pathlib import Path

import pytest

from locmsim.rules import cards, rulesets
from locmsim.rules.rulesets import RULES, RULES_NAMES, RuleSet, get_rules

#: Wheels have no .pyx files.
SOURCES = Path(__file__).parents[3] / "src" / "locmsim"

#: Field and values in 1.5, 1.2 and 1.0; comments name sections of docs/rules.md.
DIFFERENCES = [
    ("name", "1.5", "1.2", "1.0"),
    # 0: lanes, and places in each of them
    ("lanes", 2, 2, 1),
    ("lane_size", 3, 3, 6),
    # 1: seeds, in the order in which they are derived
    (
        "seed_names",
        ("cardGenSeed", "constructedChoicesSeed", "shufflePlayer0Seed", "shufflePlayer1Seed"),
        *[("draftChoicesSeed", "shufflePlayer0Seed", "shufflePlayer1Seed")] * 2,
    ),
    # 3, 5: the choice phase, runes
    ("draft", False, True, True),
    ("runes", False, True, True),
    # 7: areas
    ("areas", True, False, False),
    # 10: first and later limits in milliseconds
    ("choice_limits_ms", (4000, 4000), (1000, 100), (1000, 100)),
    ("battle_limits_ms", (1000, 200), (1000, 200), (1000, 100)),
]


@pytest.mark.parametrize(("field", "in_15", "in_12", "in_10"), DIFFERENCES)
def test_differences(field: str, in_15: object, in_12: object, in_10: object) -> None:
    values = [getattr(RULES[name], field) for name in ("1.5", "1.2", "1.0")]
    assert values == [in_15, in_12, in_10]
    assert list(map(type, values)) == list(map(type, [in_15, in_12, in_10]))


def test_all_differences_are_here() -> None:
    fields = [field.name for field in dataclasses.fields(RuleSet)]
    assert sorted(fields) == sorted(field for field, *_ in DIFFERENCES)
    assert [rules.num_actions for rules in RULES.values()] == [145, 145, 155]
    assert [rules.offer_size for rules in RULES.values()] == [120, 3, 3]


@pytest.mark.parametrize("name", ["1.1", "", None, 1.5, ["1.5"]])
def test_unknown_rules(name: object) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        get_rules(name)  # type: ignore[arg-type]
    expected = f"unknown rules {name!r}: expected one of '1.5', '1.2', '1.0'"
    assert str(caught.value) == expected
    assert get_rules("1.2") is RULES["1.2"]


@pytest.mark.skipif(not SOURCES.exists(), reason="not the source tree")
def test_constants_of_compiled_code_are_these() -> None:
    text = "".join(path.read_text() for path in sorted(SOURCES.glob("_core*.p[xy][dxi]")))
    compiled = {
        name: int(number) for name, number in re.findall(r"^    (\w+) = (-?\d[\d_]*)", text, re.M)
    }
    for name, value in {
        "MAX_DECK": rulesets.DECK_SIZE,
        "COPIES_PER_CARD": rulesets.COPIES_PER_CARD,
        "OFFER_SIZE": rulesets.OFFER_SIZE,
        "DRAFT_OFFER": rulesets.DRAFT_OFFER,
        "MAX_HAND": rulesets.HAND_LIMIT,
        "MAX_BOARD": rulesets.MAX_BOARD,
        "MAX_MANA": rulesets.MAX_MANA,
        "TURN_LIMIT": rulesets.TURN_LIMIT,
        "START_HEALTH": rulesets.START_HEALTH,
        "OPENING_HAND": rulesets.OPENING_HAND,
        "HIGHEST_RUNE": rulesets.DEFAULT_RUNES[-1],
        "ALL_RUNES": (1 << len(rulesets.DEFAULT_RUNES)) - 1,
        "MAX_ACTIONS": rulesets.MAX_ACTIONS,
        "TWO_LANE_ACTIONS": RULES["1.5"].num_actions,
        "MAX_CARDS": rulesets.MAX_CARDS,
        "POOL_ID": rulesets.MAX_INSTANCE_ID + 1,
        "MAX_STAT": rulesets.MAX_STAT,
        "MAX_HEALTH": rulesets.MAX_HEALTH,
        "ALL_KEYWORDS": len(cards.ABILITY_TEXTS) - 1,
        "MAX_CARD_STAT": cards.BOUNDS["attack"][1],
        "MAX_COST": cards.BOUNDS["cost"][1],
        "MAX_CARD_DRAW": cards.BOUNDS["card_draw"][1],
        "MAX_BASE_ID": cards.BOUNDS["base_id"][1],
        **{kind.name: kind.value for kind in cards.CardType},
        **{f"AREA_{area.name}": area.value for area in cards.Area},
        **{f"RULES_{name.replace('.', '')}": i for i, name in enumerate(RULES_NAMES)},
    }.items():
        assert compiled[name] == value, name
    keywords = ("BREAKTHROUGH", "CHARGE", "DRAIN", "GUARD", "LETHAL", "WARD")
    for letter, name in zip(cards.ABILITIES, keywords, strict=True):
        assert name[0] == letter
        assert (
            cards.ABILITY_BITS["".join(x if x == letter else "-" for x in cards.ABILITIES)]
            == (compiled[name])
        )

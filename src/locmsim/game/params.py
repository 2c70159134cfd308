"""The referee's seeds and other parameters of a match (docs/rules.md, section 1)."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral

from locmsim.game._match import derived_seeds
from locmsim.options.checks import integer
from locmsim.options.texts import did_you_mean
from locmsim.rules.cards import Card, load_cards, parse_integer
from locmsim.rules.rulesets import RuleSet

#: Parameters other than seeds, by the rule sets that know them.
_OTHER_PARAMS = {
    "1.5": ("predefinedCardListFile", "predefinedConstructedIds", "draftChoicesSeed"),
    "1.2": ("predefinedDraftIds",),
    "1.0": ("predefinedDraftIds", "league"),
}
_LEAGUES = (1, 2, 3, 4)

Params = dict[str, int | str]


def effective_params(rules: RuleSet, seed: int | None, wanted: Mapping[str, int | str]) -> Params:
    """Return all seeds as integers, and other parameters unchanged (docs/rules.md, section 1)."""
    known = ("seed", *rules.seed_names, *_OTHER_PARAMS[rules.name])
    for key, value in wanted.items():
        if key not in known:
            raise ValueError(
                f"unknown parameter {key!r} for rules {rules.name}: expected {', '.join(known)}"
                f"{did_you_mean(key, known)}"
            )
        if isinstance(value, bool) or not isinstance(value, Integral | str):
            raise ValueError(f"{key}: expected a string or an integer, got {value!r}")
    if "predefinedConstructedIds" in wanted:
        raise ValueError("predefinedConstructedIds: not supported, it crashes the official referee")

    if seed is None:
        seed = _seed(wanted, "seed")
    else:
        seed = integer("seed", seed)
        if not -(1 << 63) <= seed < 1 << 63:
            raise ValueError(f"seed: expected a signed 64-bit integer, got {seed}")
    if seed is None:
        seed = random.SystemRandom().getrandbits(63)
    params: Params = {"seed": seed}
    for name, value in zip(rules.seed_names, derived_seeds(rules.name, seed), strict=True):
        named = _seed(wanted, name)
        params[name] = value if named is None else named

    if "league" in wanted:
        params["league"] = _league(wanted["league"])
    for key in ("predefinedCardListFile", "predefinedDraftIds"):
        if key in wanted:
            params[key] = str(wanted[key])
    return params


def _seed(wanted: Mapping[str, int | str], name: str) -> int | None:
    return parse_integer(str(wanted[name]), 64) if name in wanted else None


def _league(value: int | str) -> int:
    league = parse_integer(str(value))
    if league is None or league not in _LEAGUES:
        raise ValueError(f"league: expected one of {_LEAGUES}, got {value!r}")
    return league


def fixed_cards(rules: RuleSet, params: Params, cards: Sequence[Card] | None) -> list[Card] | None:
    """Return the cards given by the caller or a file, in the order that offers are drawn from."""
    if cards is not None:
        if rules.draft:
            raise ValueError(f"cards: rules {rules.name} have a fixed card list")
        wanted = list(cards)
        _check_cards(wanted)
        return wanted
    if "predefinedCardListFile" in params:
        path = str(params["predefinedCardListFile"])
        try:
            return sorted(load_cards(path), key=lambda card: card.base_id)
        except OSError as error:
            raise ValueError(f"predefinedCardListFile: {error}") from None
    return None


def _check_cards(cards: list[Card]) -> None:
    if not cards:
        raise ValueError("cards: the list is empty")
    for i, card in enumerate(cards):
        if not isinstance(card, Card):
            raise ValueError(f"cards: expected Card objects, got {card!r} at index {i}")
    base_ids = [card.base_id for card in cards]
    if len(set(base_ids)) < len(base_ids):
        base_id, n = Counter(base_ids).most_common(1)[0]
        raise ValueError(f"cards: base id {base_id} occurs {n} times")

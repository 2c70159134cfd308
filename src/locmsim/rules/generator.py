"""The card generator of rules 1.5, bit for bit as in the Java referee (docs/rules.md, section 2).

A set of 120 cards follows from a seed and a table of weights, an object as in the JSON file
``data/cardWeights.json``. The order of the keys in its objects and of the entries in its lists
matters: entries of equal weight are tried in that order.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf, isfinite, nan
from typing import Any, Generic, TypeVar

from locmsim.javarandom import JavaRandom
from locmsim.rules.cards import (
    ABILITY_TEXTS,
    AREA_WORDS,
    BOUNDS,
    TYPE_WORDS,
    Area,
    Card,
    CardType,
    named_integer,
    parse_word,
)
from locmsim.rules.rulesets import OFFER_SIZE
from locmsim.support.files import data_file

__all__ = ["generate_cards", "load_weights", "shipped_weights"]

Weights = Mapping[str, Any]


def generate_cards(seed: int, weights: Weights | None = None) -> list[Card]:
    """Generate the 120 cards of a seed, base ids 0 to 119, by rising cost (docs/rules.md, section
    2).

    Parameters
    ----------
    seed : int
        The referee's ``cardGenSeed``.
    weights : mapping, optional
        A weights file as `json.load` returns it, with the order of its keys; by default the
        referee's own.

    Raises
    ------
    ValueError
        A key of `weights` is wrong, or makes a card impossible; the message names it.
    """
    recipe = _default_recipe() if weights is None else _compile(weights)
    master = JavaRandom(seed)
    # The order in which the referee creates its generators decides which one gets which seed.
    (types, costs, areas, order, counts, keywords, draws, my_health, opponent_health) = (
        JavaRandom(master.next_int()) for _ in range(9)
    )
    bonus_attack, bonus_defense = (JavaRandom(master.next_int()) for _ in range(2))
    # Where every card takes exactly one number, all are drawn at once, which is faster.
    card_types = recipe.types.choices(types)
    card_costs = recipe.costs.choices(costs)
    attacks = recipe.bonus_attack.values(bonus_attack)
    defenses = recipe.bonus_defense.values(bonus_defense)
    offered = (
        recipe.areas.choices(areas),
        recipe.draws.choices(draws),
        recipe.my_health.choices(my_health),
        recipe.opponent_health.choices(opponent_health),
    )
    # The order continues from card to card; its elements are indices of `bought`.
    properties = [_AREA, _KEYWORDS, _DRAW, _MY_HEALTH, _OPPONENT_HEALTH]

    drafts = []
    for i in range(OFFER_SIZE):
        kind, cost = card_types[i], card_costs[i]
        budget = float(cost)
        bought = [0, 0, 0, 0, 0]
        order.shuffle(properties)
        for which in properties:
            if which != _KEYWORDS:
                value, factor, price = offered[which][i]
                rest = budget * factor - price
                if rest < 0:
                    budget = _refund(rest, factor, price)
                else:
                    budget = rest
                    bought[which] = value
            elif kind != CardType.BLUE:
                budget, bought[_KEYWORDS] = recipe.buy_keywords(budget, counts, keywords)
        attack, defense = _body(kind, budget + attacks[i], budget + defenses[i])
        abilities = ABILITY_TEXTS[bought[_KEYWORDS]]
        effects = (bought[_MY_HEALTH], bought[_OPPONENT_HEALTH], bought[_DRAW])
        drafts.append((cost, kind, attack, defense, abilities, effects, bought[_AREA]))

    drafts.sort(key=lambda draft: draft[0])
    cards = []
    for i, (cost, kind, attack, defense, abilities, effects, area) in enumerate(drafts):
        try:
            cards.append(Card(i, kind, cost, attack, defense, abilities, *effects, Area(area)))
        except ValueError as error:
            raise ValueError(f"the weights make card {i} impossible: {error}") from None
    return cards


def shipped_weights() -> dict[str, Any]:
    """Return a new copy of the referee's weights, which may be changed."""
    return load_weights(data_file("cardWeights.json"))


def load_weights(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Load and check the weights in a JSON file; ``ValueError`` names file and key.

    Parameters
    ----------
    path : path-like
        Path of the file.
    """
    import json

    try:
        with open(path, encoding="utf-8") as file:
            weights = json.load(file, object_pairs_hook=_object_without_duplicates)
        _compile(weights)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return weights  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------ the recipe

# Indices of the properties that a card's budget may buy. Those before the keywords also index
# `offered` above.
_AREA, _DRAW, _MY_HEALTH, _OPPONENT_HEALTH, _KEYWORDS = range(5)

_KEYWORD_WORDS = {
    word: 1 << bit
    for bit, word in enumerate(("breakthrough", "charge", "drain", "guard", "lethal", "ward"))
}

_T = TypeVar("_T")
#: Something for sale: its value, the factor it puts on the budget, and its price after that.
_Property = tuple[int, float, float]


class _Choice(Generic[_T]):
    """A choice among weighted entries (15:WeightedChoiceGenerator.java)."""

    __slots__ = ("entries", "total")

    def __init__(self, entries: Iterable[tuple[float, _T]]) -> None:
        """Take pairs of weight and value, in the order of the file."""
        in_file_order = list(entries)
        self.total = _java_sum(weight for weight, _ in in_file_order)
        self.entries = sorted(in_file_order, key=lambda entry: entry[0])

    def choice(self, random: JavaRandom) -> _T:
        return self._at(random.next_double())

    def choices(self, random: JavaRandom) -> list[_T]:
        """Return one choice for each card."""
        return list(map(self._at, random.next_doubles(OFFER_SIZE)))

    def _at(self, uniform: float) -> _T:
        # Subtract one weight after the other: cumulative weights would round differently.
        left = uniform * self.total
        for weight, value in self.entries:  # noqa: B007
            left -= weight
            if left <= 0:
                break
        return value  # the last one, if rounding left more than the sum of the weights


@dataclass(frozen=True, slots=True)
class _Bonus:
    """Uniform numbers, though the referee calls them normal (15:NormalDistributionGenerator)."""

    mean: float
    std: float

    def values(self, random: JavaRandom) -> list[float]:
        """Return one number for each card."""
        return [uniform * self.std + self.mean for uniform in random.next_doubles(OFFER_SIZE)]


@dataclass(frozen=True, slots=True)
class _Recipe:
    """A checked weights file, ready for use."""

    types: _Choice[CardType]
    costs: _Choice[int]
    areas: _Choice[_Property]
    keyword_counts: _Choice[int]
    keywords: _Choice[_Property]
    draws: _Choice[_Property]
    my_health: _Choice[_Property]
    opponent_health: _Choice[_Property]
    bonus_attack: _Bonus
    bonus_defense: _Bonus
    #: The choice among the keywords that a card does not have, by the bits of those it has.
    _other_keywords: dict[int, _Choice[_Property]] = field(default_factory=dict)

    def buy_keywords(
        self, budget: float, counts: JavaRandom, keywords: JavaRandom
    ) -> tuple[float, int]:
        """Return the rest of the budget and the bits of the keywords bought.

        The first keyword that is too expensive ends it (15:KeywordsGenerator.java).
        """
        bits = 0
        for _ in range(self.keyword_counts.choice(counts)):
            bit, factor, price = self._without(bits).choice(keywords)
            rest = budget * factor - price
            if rest < 0:
                return _refund(rest, factor, price), bits
            budget = rest
            bits |= bit
        return budget, bits

    def _without(self, bits: int) -> _Choice[_Property]:
        if bits not in self._other_keywords:
            # Here their sum is taken in the order of rising weights, not in that of the file.
            self._other_keywords[bits] = _Choice(
                entry for entry in self.keywords.entries if not entry[1][0] & bits
            )
        return self._other_keywords[bits]


def _refund(rest: float, factor: float, price: float) -> float:
    """Return the budget after undoing a purchase, rounded as by the referee."""
    return (rest + price) / factor if factor else nan  # Java: 0.0 / 0.0


def _body(kind: CardType, attack_budget: float, defense_budget: float) -> tuple[int, int]:
    """Return attack and defense of a card (15:CardBuilder.java, addAttackAndDefense)."""
    attack = max(_java_int(attack_budget), 0)
    defense = max(_java_int(defense_budget), 0)
    if kind == CardType.CREATURE:
        return attack, max(defense, 1)
    if kind == CardType.GREEN:
        return attack, defense
    return -attack if kind == CardType.RED else 0, -defense


def _java_int(value: float) -> int:
    """Convert as Java's ``(int) value``: towards zero, saturating, 0 for NaN."""
    if -(2.0**31) < value < 2.0**31:
        return int(value)
    return 0 if value != value else (1 << 31) - 1 if value > 0 else -(1 << 31)


def _java_sum(values: Iterable[float]) -> float:
    """Sum finite numbers as ``DoubleStream.sum()`` of JDK 17: Kahan's compensated summation."""
    total = compensation = 0.0
    for value in values:
        corrected = value - compensation
        new_total = total + corrected
        compensation = (new_total - total) - corrected
        total = new_total
    return total - compensation


# ------------------------------------------------------------------------ the weights file


@cache
def _default_recipe() -> _Recipe:
    return _compile(shipped_weights())


def _compile(weights: object) -> _Recipe:
    """Return the recipe of a weights file; ``ValueError`` names the wrong key."""
    members = _members("", weights, _KEYS)
    recipe = _Recipe(**{name: read(key, members[key]) for key, (name, read) in _KEYS.items()})
    available = len({value for _, (value, _, _) in recipe.keywords.entries})
    for _, count in recipe.keyword_counts.entries:
        if not 0 <= count <= available:
            raise ValueError(
                f"keywordNumberProbabilities: expected keys 0..{available}, the number of"
                f" keywords in keywordProbabilities, got '{count}'"
            )
    return recipe


def _choice_by_key(parse: Callable[[str, str], _T]) -> Callable[[str, object], _Choice[_T]]:
    """Return a reader of ``{value: weight, ...}``."""

    def read(path: str, table: object) -> _Choice[_T]:
        if not isinstance(table, Mapping) or not table:
            raise ValueError(f"{path}: expected an object with at least one member, got {table!r}")
        return _Choice(
            (_weight(f"{path}.{key}", weight), parse(path, key)) for key, weight in table.items()
        )

    return read


def _choice_of_properties(
    parse: Callable[[str, str], int],
) -> Callable[[str, object], _Choice[_Property]]:
    """Return a reader of ``[{"name": value, "weight": w, "multCost": m, "addCost": a}, ...]``."""

    def entry(path: str, table: object) -> tuple[float, _Property]:
        members = _members(path, table, ("name", "weight", "multCost", "addCost"))
        factor = _finite(f"{path}.multCost", members["multCost"])
        price = _finite(f"{path}.addCost", members["addCost"])
        value = parse(f"{path}.name", str(members["name"]))
        return _weight(f"{path}.weight", members["weight"]), (value, factor, price)

    def read(path: str, table: object) -> _Choice[_Property]:
        if not isinstance(table, Sequence) or isinstance(table, str) or not table:
            raise ValueError(f"{path}: expected a list with at least one entry, got {table!r}")
        return _Choice(entry(f"{path}[{i}]", element) for i, element in enumerate(table))

    return read


def _bonus(path: str, table: object) -> _Bonus:
    members = _members(path, table, ("mean", "std"))
    return _Bonus(**{key: _finite(f"{path}.{key}", number) for key, number in members.items()})


def _one_of(words: Mapping[str, int]) -> Callable[[str, str], int]:
    return lambda path, text: parse_word(path, text, words)


def _number_for(card_field: str) -> Callable[[str, str], int]:
    """Return a parser of the integers that are possible in a field of a card."""
    low, high = BOUNDS[card_field]

    def parse(path: str, text: str) -> int:
        number = named_integer(path, text)
        if not low <= number <= high:
            raise ValueError(f"{path}: expected {low}..{high}, got {text!r}")
        return number

    return parse


#: The file's keys, with the recipe's field and the reader of each.
_KEYS: Mapping[str, tuple[str, Callable[[str, object], Any]]] = {
    "typeProbabilities": ("types", _choice_by_key(_one_of(TYPE_WORDS))),
    "manaCurve": ("costs", _choice_by_key(_number_for("cost"))),
    "areaProbabilities": ("areas", _choice_of_properties(_one_of(AREA_WORDS))),
    "keywordNumberProbabilities": ("keyword_counts", _choice_by_key(named_integer)),
    "keywordProbabilities": ("keywords", _choice_of_properties(_one_of(_KEYWORD_WORDS))),
    "drawProbabilities": ("draws", _choice_of_properties(_number_for("card_draw"))),
    "myHealthProbabilities": (
        "my_health",
        _choice_of_properties(_number_for("my_health_change")),
    ),
    "oppHealthProbabilities": (
        "opponent_health",
        _choice_of_properties(_number_for("opponent_health_change")),
    ),
    "bonusAttackDistribution": ("bonus_attack", _bonus),
    "bonusDefenseDistribution": ("bonus_defense", _bonus),
}


def _members(path: str, table: object, keys: Iterable[str]) -> Mapping[str, Any]:
    """Check that `table` is an object with exactly these keys, and return it."""
    if not isinstance(table, Mapping):
        raise ValueError(f"{path or 'weights'}: expected an object, got {table!r}")
    prefix = f"{path}." if path else ""
    for key in table:
        if key not in keys:
            raise ValueError(f"{prefix}{key}: unknown key, expected {', '.join(keys)}")
    for key in keys:
        if key not in table:
            raise ValueError(f"{prefix}{key}: missing")
    return table


def _finite(path: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{path}: expected a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = inf
    if not isfinite(number):
        raise ValueError(f"{path}: expected a finite number, got {value!r}")
    return number


def _weight(path: str, value: object) -> float:
    weight = _finite(path, value)
    if weight < 0:
        raise ValueError(f"{path}: expected a number >= 0, got {value!r}")
    return weight


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate keys, as the referee does; Python would keep the last one."""
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"{duplicate}: occurs twice in one object")
    return table

"""Heuristics of the choice phase: the deck of rules 1.5 and the draft of rules 1.2 and 1.0.

A heuristic is a plain function. For 1.5 a `DeckBuilder` takes the offered cards and returns 30 base
ids; for 1.x a `DraftPicker` takes the three cards of the turn, the cards taken before and the name
of the rule set, and returns 0, 1 or 2. One of your own can be given in place of a name, or be
registered under one:

    >>> from locmsim.decks.building import DECK_BUILDERS, build_deck, deck_line
    >>> from locmsim.rules.generator import generate_cards
    >>> def dearest(cards):
    ...     best = sorted(cards, key=lambda card: card.cost)[-15:]
    ...     return [card.base_id for card in best for _ in range(2)]
    >>> build_deck(generate_cards(1), dearest)[:4]
    [105, 105, 106, 106]
    >>> DECK_BUILDERS["dearest"] = dearest
    >>> deck_line(build_deck(generate_cards(1), "dearest"))[:33]
    'CHOOSE 105;CHOOSE 105;CHOOSE 106;'

    >>> from locmsim.rules.cards import cards_1x
    >>> from locmsim.decks.building import DRAFT_PICKERS, pick
    >>> def hardest_hitter(offer, picked, rules):
    ...     return max(range(3), key=lambda i: offer[i].attack)
    >>> pick(cards_1x()[:3], [], "1.2", hardest_hitter)
    0
    >>> DRAFT_PICKERS["hardest hitter"] = hardest_hitter

Most of one's own will be another table of weights: `GreedyBuilder` makes a `DeckBuilder` of any
card score and `CurvePicker` a `DraftPicker`; `WeightedScore` and `LinearScore` are scores.
What a heuristic returns is checked: a bot never sends a deck that the referee refuses.
"""

import json
import math
import os
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeVar

from locmsim.decks.features import CARD_TERMS, card_terms
from locmsim.rules.cards import ABILITIES, Area, Card, CardType
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, get_rules

if TYPE_CHECKING:
    from locmsim.decks.value import DeckValue

__all__ = [
    "CARD_TERMS",
    "DECK_BUILDERS",
    "DRAFT_PICKERS",
    "CardScore",
    "CurvePicker",
    "DeckBuilder",
    "DraftPicker",
    "GreedyBuilder",
    "LearntScore",
    "LinearScore",
    "SwapBuilder",
    "WeightedScore",
    "build_deck",
    "card_score",
    "card_terms",
    "deck_line",
    "load_card_weights",
    "pick",
    "static_order",
]

#: What a card is worth to a deck, in any unit.
CardScore = Callable[[Card], float]
#: Offered cards -> base ids of the deck in the order of choice.
DeckBuilder = Callable[[Sequence[Card]], list[int]]
#: Three offered cards, cards picked before, rule set -> index of the card to take.
DraftPicker = Callable[[Sequence[Card], Sequence[Card], str], int]


def build_deck(cards: Sequence[Card], heuristic: str | DeckBuilder = "default") -> list[int]:
    """The base ids of a legal deck of 30 from the offered `cards` (docs/rules.md, section 3).

    `heuristic` is a name in `DECK_BUILDERS` or a function of that kind. ``ValueError`` if the offer
    holds less than 15 different cards, the name is unknown, or the heuristic's deck is illegal.
    """
    offered = {card.base_id for card in cards}
    if len(offered) * COPIES_PER_CARD < DECK_SIZE:
        raise ValueError(
            f"a deck of {DECK_SIZE} needs {DECK_SIZE // COPIES_PER_CARD} different cards,"
            f" {len(offered)} are offered"
        )
    deck = _named("deck builder", heuristic, DECK_BUILDERS)(cards)
    if len(deck) != DECK_SIZE:
        raise ValueError(f"deck builder {heuristic!r} chose {len(deck)} cards, not {DECK_SIZE}")
    for base_id, copies in Counter(deck).items():
        if base_id not in offered:
            raise ValueError(f"deck builder {heuristic!r} chose {base_id}, which is not offered")
        if copies > COPIES_PER_CARD:
            raise ValueError(f"deck builder {heuristic!r} chose {copies} copies of {base_id}")
    return deck


def deck_line(deck: Sequence[int]) -> str:
    """The answer line that chooses these base ids."""
    return ";".join(f"CHOOSE {base_id}" for base_id in deck)


def pick(
    offer: Sequence[Card],
    picked: Sequence[Card],
    rules: str,
    heuristic: str | DraftPicker = "default",
) -> int:
    """Which of the three offered cards to take, 0 to 2, having taken `picked` before.

    `rules` is "1.2" or "1.0", `heuristic` a name in `DRAFT_PICKERS` or a function of that kind.
    ``ValueError`` for anything else, and if the heuristic answers anything but 0, 1 or 2.
    """
    _require_draft(rules)
    if len(offer) != 3:
        raise ValueError(f"a draft turn offers three cards, got {len(offer)}")
    choice = _named("draft picker", heuristic, DRAFT_PICKERS)(offer, picked, rules)
    if choice not in (0, 1, 2):
        raise ValueError(f"draft picker {heuristic!r} answered {choice!r}, not 0, 1 or 2")
    return choice


def _require_draft(rules: str) -> None:
    if not get_rules(rules).draft:
        raise ValueError(f"rules {rules} have no draft")


_T = TypeVar("_T")


def _named(what: str, heuristic: str | _T, registry: Mapping[str, _T]) -> _T:
    if not isinstance(heuristic, str):
        return heuristic
    if heuristic not in registry:
        known = ", ".join(registry)
        raise ValueError(f"unknown {what} {heuristic!r}: expected one of {known}, or a function")
    return registry[heuristic]


# ------------------------------------------------------------------------------ card scores


@dataclass(frozen=True, slots=True)
class LinearScore:
    """A weighted sum of what is printed on a card; every number is counted in its user's favour.

    So attack and defense of red and blue items count as what they take from the enemy, and a
    negative opponent health change as damage.
    """

    #: For each mana, and in addition for each mana above six: what comes late may come too late.
    cost: float
    cost_above_six: float = 0.0
    attack: float = 0.0
    defense: float = 0.0
    my_health: float = 0.0
    opponent_damage: float = 0.0
    draw: float = 0.0
    #: For the areas target, lane1, lane2.
    areas: tuple[float, float, float] = (0.0, 0.0, 0.0)
    #: For a creature, a green, a red and a blue item.
    types: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    #: For each of B, C, D, G, L, W of a creature, and in addition for each point of its attack.
    abilities: tuple[float, ...] = (0.0,) * 6
    abilities_by_attack: tuple[float, ...] = (0.0,) * 6
    #: For each of B, C, D, G, L, W that a green item gives or a red one takes.
    given: tuple[float, ...] = (0.0,) * 6
    taken: tuple[float, ...] = (0.0,) * 6
    #: What attack and defense have above this counts for nothing: it kills no second creature.
    enough: int = 12

    def __call__(self, card: Card) -> float:
        sign = 1 if card.type in (CardType.CREATURE, CardType.GREEN) else -1
        attack = min(sign * card.attack, self.enough)
        defense = min(sign * card.defense, self.enough)
        return (
            self.cost * card.cost
            + self.cost_above_six * max(card.cost - 6, 0)
            + self.attack * attack
            + self.defense * defense
            + self.my_health * card.my_health_change
            - self.opponent_damage * card.opponent_health_change
            + self.draw * card.card_draw
            + self.areas[card.area]
            + self.types[card.type]
            + self._abilities(card)
        )

    def _abilities(self, card: Card) -> float:
        columns = [i for i, letter in enumerate(ABILITIES) if letter in card.abilities]
        if card.type == CardType.CREATURE:
            return sum(
                self.abilities[i] + self.abilities_by_attack[i] * card.attack for i in columns
            )
        if card.type == CardType.GREEN:
            return sum(self.given[i] for i in columns)
        if card.type == CardType.RED:
            return sum(self.taken[i] for i in columns)
        return 0.0


class WeightedScore:
    """A `CardScore`: the sum of what a card has of each of the `CARD_TERMS` times its weight.

    Terms without a weight count for nothing:

    >>> score = WeightedScore({"cost.0": 2.0, "draw": 0.5})
    >>> score(Card(1, CardType.GREEN, cost=0, attack=1, defense=1, card_draw=3))
    3.5

    ``ValueError`` names a term that is unknown or a weight that is no finite number.
    """

    __slots__ = ("weights",)

    def __init__(self, weights: Mapping[str, float]) -> None:
        for name, weight in weights.items():
            if name not in CARD_TERMS:
                raise ValueError(f"card score: unknown term {name!r}")
            if (
                isinstance(weight, bool)
                or not isinstance(weight, int | float)
                or not math.isfinite(weight)
            ):
                raise ValueError(f"card score: {name}: expected a number, got {weight!r}")
        #: Term -> weight.
        self.weights = dict(weights)

    def __call__(self, card: Card) -> float:
        weight = self.weights.get
        return sum(weight(name, 0.0) * value for name, value in card_terms(card).items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeightedScore) and self.weights == other.weights

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"WeightedScore({self.weights})"


def load_card_weights(path: str | os.PathLike[str]) -> WeightedScore:
    """The card score of a weights file, as `locmsim tune` writes it: its object ``"deck"``.

    ``ValueError`` names the file and what is wrong in it, ``OSError`` if it cannot be read.
    """
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if not isinstance(content, dict) or not isinstance(content.get("deck"), dict):
            raise ValueError('expected an object with an object "deck" of weights in it')
        return WeightedScore(content["deck"])
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


@cache
def _tuned_score() -> WeightedScore:
    from importlib import resources  # slow to import

    text = (resources.files("locmsim") / "data" / "deck.json").read_text(encoding="utf-8")
    return WeightedScore(json.loads(text)["deck"])


def _by_tuned_score(card: Card) -> float:
    return _tuned_score()(card)


# ------------------------------------------------------------------------ decks of rules 1.5


@dataclass(frozen=True, slots=True)
class GreedyBuilder:
    """A `DeckBuilder`: the best cards by `score`, two of each, with guards against lopsided decks.

    All guards are optional and hold as far as the offer permits. The cards of the deck draw at
    least `min_draws` cards together, at least `min_creatures` of the 30 are creatures, of each type
    there are at most `limits` allows, and at most ``cost_limits[n]`` cards cost n or more. Equal
    scores go to the cheaper card, then to the lower base id.
    """

    score: CardScore
    min_creatures: int = 0
    limits: Mapping[CardType, int] = field(default_factory=dict)
    min_draws: int = 0
    cost_limits: Mapping[int, int] = field(default_factory=dict)

    def __call__(self, cards: Sequence[Card]) -> list[int]:
        distinct = {card.base_id: card for card in cards}.values()
        ranked = sorted(distinct, key=lambda card: (-self.score(card), card.cost, card.base_id))
        creatures = [card for card in ranked if card.type == CardType.CREATURE]
        drawers = [card for card in ranked if card.card_draw > 0]
        deck: Counter[int] = Counter()
        taken: list[Card] = []

        def take(candidates: Sequence[Card], wanted: Callable[[Card], bool]) -> None:
            for card in candidates:
                while (
                    len(taken) < DECK_SIZE and deck[card.base_id] < COPIES_PER_CARD and wanted(card)
                ):
                    deck[card.base_id] += 1
                    taken.append(card)

        take(drawers, lambda card: sum(c.card_draw for c in taken) < self.min_draws)
        take(creatures, lambda card: _count(taken, CardType.CREATURE) < self.min_creatures)
        take(ranked, lambda card: self._allows(card, taken))
        take(ranked, lambda card: True)
        return [card.base_id for card in ranked for _ in range(deck[card.base_id])]

    def _allows(self, card: Card, taken: Sequence[Card]) -> bool:
        return _count(taken, card.type) < self.limits.get(card.type, DECK_SIZE) and all(
            card.cost < cost or sum(c.cost >= cost for c in taken) < limit
            for cost, limit in self.cost_limits.items()
        )


def _count(cards: Sequence[Card], kind: CardType) -> int:
    return sum(card.type == kind for card in cards)


def _cheap(card: Card) -> float:
    return -card.cost


# In units of mana. The proportions follow a logistic regression on what the winner of the
# COG 2022 contest chose (four recorded pools; the 15 best cards by such a fit are about 75 % of its
# deck on a pool left out): cost above all, then area, cards drawn, Charge, green items. Strong
# play went with cheap decks there: the mean cost was 0.99, 1.26 and 1.71 for the first three, with
# 6 in a pool.
_CHAMPION_SCORE = LinearScore(
    cost=-0.9,
    attack=0.18,
    defense=0.3,
    my_health=0.18,
    opponent_damage=0.27,
    draw=0.35,
    areas=(0.0, 0.8, 0.65),
    types=(0.0, 0.5, -0.1, -0.25),
    abilities=(0.0, 0.6, 0.0, 0.1, 0.1, 0.25),
)
# The same taste with attack and defense counted for more, and so dearer cards and more creatures:
# for play that wins by trading them.
_BODY_SCORE = replace(_CHAMPION_SCORE, cost=-0.7, attack=0.25)


def _is_cheap_area(card: Card) -> bool:
    return card.area != Area.TARGET and card.cost <= 4


def _area_first(card: Card) -> float:
    # Area cards count up to three times, so they come before all others as long as they are cheap.
    return _by_tuned_score(card) + 100.0 * _is_cheap_area(card)


_ITEM_LIMITS = {CardType.GREEN: 10, CardType.RED: 8, CardType.BLUE: 8}


@dataclass(frozen=True, slots=True)
class SwapBuilder:
    """A `DeckBuilder`: another one's deck, in which cards are exchanged while that improves it.

    `value` says what a whole deck is worth (default: the network in the package, see
    `locmsim.decks.value`). Only cards that `allowed` answers True for come in. `restarts` random
    decks, the same ones for the same offer, are improved too, and the most valuable result is
    taken: no single exchange may lead from a good deck to a better one of another kind.
    """

    start: DeckBuilder
    value: "DeckValue | None" = None
    allowed: Callable[[Card], bool] | None = None
    restarts: int = 0

    def __call__(self, cards: Sequence[Card]) -> list[int]:
        from locmsim.decks.value import default_value  # slow to import

        value = self.value or default_value()
        deck = self.start(cards)
        allowed = self.allowed
        if allowed is not None:
            cards = [card for card in cards if card.base_id in deck or allowed(card)]
        by_id = {card.base_id: card for card in cards}
        copies = sorted(by_id) * COPIES_PER_CARD
        chance = random.Random(0)
        starts = [deck, *(chance.sample(copies, DECK_SIZE) for _ in range(self.restarts))]
        return max(
            (value.improved(start, cards) for start in starts),
            key=lambda deck: value([by_id[base_id] for base_id in deck]),
        )


_SCORE = GreedyBuilder(_by_tuned_score, min_creatures=10)
#: Two restarts raise the value by 0.035 on an average of 60 card sets, twenty by 0.045.
_MOST_VALUABLE = SwapBuilder(_SCORE, restarts=2)


def _default_deck(cards: Sequence[Card]) -> list[int]:
    return [*_remembered_deck(tuple(cards))]


@lru_cache(maxsize=64)
def _remembered_deck(cards: tuple[Card, ...]) -> tuple[int, ...]:
    """The deck is looked for once an offer: both players want it, and both to guess the other's."""
    return tuple(_MOST_VALUABLE(cards))


#: The deck builders by name. "default" looks for the most valuable deck, "score" has the best cards
#: by the tuned score (docs/bot.md compares them); "classic" imitates the champion's decks;
#: "cheapest" is a baseline.
DECK_BUILDERS: dict[str, DeckBuilder] = {
    "default": _default_deck,
    "score": _SCORE,
    "classic": GreedyBuilder(_CHAMPION_SCORE, min_creatures=10, limits=_ITEM_LIMITS),
    "bodies": GreedyBuilder(_BODY_SCORE, min_creatures=14, limits=_ITEM_LIMITS),
    "area": SwapBuilder(GreedyBuilder(_area_first, min_creatures=10), allowed=_is_cheap_area),
    "cheapest": GreedyBuilder(_cheap),
}


# ------------------------------------------------------------------- drafts of rules 1.2 and 1.0


@cache
def _learnt_values(rules: str) -> dict[int, float]:
    """Base id -> value, the best card first."""
    from importlib import resources  # slow to import

    text = (resources.files("locmsim") / "data" / f"draft-{rules}.json").read_text()
    return {int(base_id): value for base_id, value in json.loads(text).items()}


@dataclass(frozen=True, slots=True)
class LearntScore:
    """A `CardScore` for the 160 cards of "1.2" or "1.0": what each did for the decks it was in.

    Learnt from matches (docs/drafts.md), in hundredths of a game at even odds, as a deviation from
    the mean card. Any other card counts as that.
    """

    rules: str

    def __call__(self, card: Card) -> float:
        return _learnt_values(self.rules).get(card.base_id, 0.0)


_DRAFT_SCORES: Mapping[str, CardScore] = {rules: LearntScore(rules) for rules in ("1.2", "1.0")}


def card_score(rules: str) -> CardScore:
    """The score behind the default heuristic of this rule set: a guess at anyone's taste."""
    return _DRAFT_SCORES[rules] if get_rules(rules).draft else _tuned_score()


def static_order(rules: str) -> tuple[int, ...]:
    """The 160 base ids of rules "1.2" or "1.0", the most wanted first (docs/drafts.md)."""
    _require_draft(rules)
    return tuple(_learnt_values(rules))


@cache
def _ranks(rules: str) -> dict[int, int]:
    return {base_id: rank for rank, base_id in enumerate(static_order(rules))}


def _pick_by_order(offer: Sequence[Card], picked: Sequence[Card], rules: str) -> int:
    """The card that stands first in the static order of the rule set."""
    ranks = _ranks(rules)
    return min(range(len(offer)), key=lambda i: ranks.get(offer[i].base_id, len(ranks)))


def _pick_cheapest(offer: Sequence[Card], picked: Sequence[Card], rules: str) -> int:
    """The cheapest card, the first of them: a baseline."""
    return min(range(len(offer)), key=lambda i: offer[i].cost)


@dataclass(frozen=True, slots=True)
class CurvePicker:
    """A `DraftPicker`: a score for each rule set, corrected by what the deck lacks so far.

    A deck should end with `curve` cards of cost 0-1, 2, 3, 4, 5, 6 and 7 or more, and with `items`
    items. A card gains `pull` for each card that its column of the curve lags behind the share
    due by now, and loses as much where it is ahead; an item likewise by `item_pull`.
    """

    scores: Mapping[str, CardScore]
    curve: tuple[int, ...] = (3, 6, 6, 5, 4, 3, 3)
    items: int = 8
    pull: float = 0.5
    item_pull: float = 0.1

    def __call__(self, offer: Sequence[Card], picked: Sequence[Card], rules: str) -> int:
        score = self.scores[rules]
        have = Counter(map(self._column, picked))
        items = sum(card.type != CardType.CREATURE for card in picked)
        due = (len(picked) + 1) / DECK_SIZE
        item_bonus = self.item_pull * (self.items * due - items)

        def worth(i: int) -> float:
            column = self._column(offer[i])
            bonus = self.pull * (self.curve[column] * due - have[column])
            if offer[i].type != CardType.CREATURE:
                bonus += item_bonus
            return score(offer[i]) + bonus

        return max(range(len(offer)), key=worth)

    def _column(self, card: Card) -> int:
        return min(max(card.cost, 1), len(self.curve)) - 1


_curve_picker = CurvePicker(_DRAFT_SCORES)

#: The draft pickers by name; "cheapest" is a baseline.
DRAFT_PICKERS: dict[str, DraftPicker] = {
    "default": _curve_picker,
    "curve": _curve_picker,
    "order": _pick_by_order,
    "cheapest": _pick_cheapest,
}

"""Scores of cards: the value of a single card to a deck."""

import math
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from locmsim.decks.features import CARD_TERMS
from locmsim.networks._decks import weighted_scores
from locmsim.networks.weights import Weights, shared_weights
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import get_rules

#: The value of a card to a deck, in any unit.
CardScore = Callable[[Card], float]


class WeightedScore:
    """A `CardScore`: the weighted sum of a card's `CARD_TERMS`.

    Terms without a weight do not count:

    >>> from locmsim.rules.cards import CardType
    >>> score = WeightedScore({"cost.0": 2.0, "draw": 0.5})
    >>> score(Card(1, CardType.GREEN, cost=0, attack=1, defense=1, card_draw=3))
    3.5

    Parameters
    ----------
    weights : mapping of str to float
        Term -> weight.

    Raises
    ------
    ValueError
        A term is unknown, or a weight is not a finite number; the message names it.
    """

    __slots__ = ("_numbers", "weights")

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
        self._numbers = array("d", [weights.get(name, 0.0) for name in CARD_TERMS])

    def __call__(self, card: Card) -> float:
        score: float = weighted_scores(self._numbers, [card])[0]
        return score

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeightedScore) and self.weights == other.weights

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"WeightedScore({self.weights})"


@dataclass(frozen=True, slots=True)
class TableScore:
    """A `CardScore` from a table of values by base id; other cards have the value 0.

    The package's table for rules "1.2" and "1.0" was fitted to matches (docs/drafts.md): the effect
    of each of the 160 cards on the win rate of its deck, in hundredths of a game at even odds,
    relative to the mean card.

    Parameters
    ----------
    values : mapping of int to float
        Base id -> value.
    """

    values: Mapping[int, float] = field(repr=False)  # a screenful in every agent's repr

    def __call__(self, card: Card) -> float:
        return self.values.get(card.base_id, 0.0)


def score_of(weights: Weights) -> CardScore:
    """Return the card score of a player's weights: that of the draft, or of decks.

    Parameters
    ----------
    weights
        Weights of one rule set.

    Raises
    ------
    ValueError
        A weight is unknown or not a number; the message names it.
    """
    if weights.draft is not None:
        return TableScore(weights.draft)
    return WeightedScore(weights.deck_score or {})


def require_draft(rules: str) -> None:
    """Raise ``ValueError`` for rules without a draft."""
    if not get_rules(rules).draft:
        raise ValueError(f"rules {rules} have no draft")


@cache
def card_score(rules: str) -> CardScore:
    """Return the card score of the default heuristic, an estimate of what anyone prefers.

    Parameters
    ----------
    rules : str
        The rule set.
    """
    return score_of(shared_weights(rules))


@cache
def static_order(rules: str) -> tuple[int, ...]:
    """Return the 160 base ids of rules "1.2" or "1.0", the best first (docs/drafts.md).

    Cards of the same value, such as equal ones of two names, stand together.
    ``ValueError`` for rules without a draft.

    Parameters
    ----------
    rules : str
        "1.2" or "1.0".
    """
    require_draft(rules)
    values = shared_weights(rules).draft or {}
    return tuple(sorted(values, key=lambda base_id: (-values[base_id], base_id)))

"""Draft pickers of rules 1.2 and 1.0, which pick one of three cards, thirty times.

A `DraftPicker` is a plain function: it takes the three cards of the turn, the cards taken before
and the name of the rule set, and returns 0, 1 or 2. Your own function can be passed instead of a
name, or registered under one:

    >>> from locmsim.rules.cards import cards_1x
    >>> from locmsim.decks import DRAFT_PICKERS, pick
    >>> def hardest_hitter(offer, picked, rules):
    ...     return max(range(3), key=lambda i: offer[i].attack)
    >>> pick(cards_1x()[:3], [], "1.2", hardest_hitter)
    0
    >>> DRAFT_PICKERS["hardest hitter"] = hardest_hitter

`CurvePicker` creates one from any card score. A `HistoryPicker` gets all offers so far, which
reveal what may come later.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from locmsim.decks.builders import named
from locmsim.decks.draft_value import DRAFTS, DraftValue, default_draft_value, draft_value_of
from locmsim.decks.scores import (
    CardScore,
    card_score,
    require_draft,
    score_of,
)
from locmsim.networks.weights import Weights, shared_weights
from locmsim.options.checks import whole
from locmsim.rules.cards import Card, CardType
from locmsim.rules.rulesets import DECK_SIZE, RULES

#: Three offered cards, cards picked before, rule set -> index of the card to take.
DraftPicker = Callable[[Sequence[Card], Sequence[Card], str], int]


class HistoryPicker(ABC):
    """A `DraftPicker` that looks at all offers so far."""

    @abstractmethod
    def choose(self, offers: Sequence[Sequence[Card]], picked: Sequence[Card], rules: str) -> int:
        """Return the index of the card to take from the last offer.

        Parameters
        ----------
        offers
            Three cards of each turn so far.
        picked
            The cards taken from the offers before the last one.
        rules
            The rule set.
        """

    def __call__(self, offer: Sequence[Card], picked: Sequence[Card], rules: str) -> int:
        """Pick a card without knowledge of the earlier offers, only of the picked cards."""
        return self.choose([*((card,) * len(offer) for card in picked), offer], picked, rules)


def pick(
    offer: Sequence[Card],
    picked: Sequence[Card],
    rules: str,
    heuristic: str | DraftPicker = "default",
    earlier: Sequence[Sequence[Card]] | None = None,
) -> int:
    """Return the index of the offered card to take.

    Parameters
    ----------
    offer
        Three cards.
    picked
        The cards taken before.
    rules
        "1.2" or "1.0".
    heuristic
        A name in `DRAFT_PICKERS` or a function of that kind.
    earlier
        The offers from which they were taken; by default they are unknown.

    Returns
    -------
    int
        0 to 2.

    Raises
    ------
    ValueError
        An argument is not valid, or the heuristic does not return 0, 1 or 2.
    """
    require_draft(rules)
    if len(offer) != 3:
        raise ValueError(f"a draft turn offers three cards, got {len(offer)}")
    picker = named("draft picker", heuristic, DRAFT_PICKERS)
    if earlier is not None and isinstance(picker, HistoryPicker):
        choice = picker.choose([*earlier, offer], picked, rules)
    else:
        choice = picker(offer, picked, rules)
    try:
        return whole("", choice, 0, 2)
    except ValueError:
        raise ValueError(f"draft picker {heuristic!r} answered {choice!r}, not 0, 1 or 2") from None


@cache
def _values(rules: str) -> Mapping[int, float]:
    require_draft(rules)
    return shared_weights(rules).draft or {}


def _pick_by_order(offer: Sequence[Card], picked: Sequence[Card], rules: str) -> int:
    """Return the card that comes first in the static order of the rule set.

    Of cards of the same value it is the first one of the offer.
    """
    values = _values(rules)
    return max(range(len(offer)), key=lambda i: values.get(offer[i].base_id, -math.inf))


def _pick_cheapest(offer: Sequence[Card], picked: Sequence[Card], rules: str) -> int:
    """Return the first of the cheapest cards: a baseline."""
    return min(range(len(offer)), key=lambda i: offer[i].cost)


@dataclass(frozen=True, slots=True)
class CurvePicker:
    """A `DraftPicker` with a score for each rule set, corrected for what the deck lacks.

    Parameters
    ----------
    scores : mapping of str to function
        Rule set -> the value of a `Card`.
    curve : tuple of int
        How many cards of the final deck should cost 0-1, 2, 3, 4, 5, 6 and 7 or more.
    items : int
        How many of them should be items.
    pull : float
        What a card gains for each card by which its column of the curve lags behind its share so
        far, and loses if the column is ahead.
    item_pull : float
        The same for items.
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


@dataclass(frozen=True, slots=True)
class ExpectedPicker(HistoryPicker):
    """A `HistoryPicker` that maximises the expected value of the final deck.

    Parameters
    ----------
    values : mapping of str to DraftValue
        Rule set -> the value of decks.
    otherwise : DraftPicker
        Picks in rule sets that `values` lacks.
    drafts : int
        How many continuations of the draft are sampled.
    """

    values: Mapping[str, DraftValue]
    otherwise: DraftPicker
    drafts: int = DRAFTS

    def choose(self, offers: Sequence[Sequence[Card]], picked: Sequence[Card], rules: str) -> int:
        if rules not in self.values:
            return self.otherwise(offers[-1], picked, rules)
        values = self.values[rules].expected(offers, picked, self.drafts)
        return max(range(len(values)), key=values.__getitem__)


def draft_picker(weights: Mapping[str, Weights]) -> DraftPicker:
    """Return the draft picker of these weights, which are given by rule set.

    Parameters
    ----------
    weights : mapping of str to Weights
        Rule set -> weights.
    """
    drafted = {name: w for name, w in weights.items() if RULES[name].draft}
    curve = CurvePicker({name: score_of(w) for name, w in drafted.items()})
    values = {name: draft_value_of(w) for name, w in drafted.items()}
    found = {name: value for name, value in values.items() if value is not None}
    return ExpectedPicker(found, curve) if found else curve


@cache
def _default_curve() -> CurvePicker:
    return CurvePicker({name: card_score(name) for name, r in RULES.items() if r.draft})


def _pick_by_curve(offer: Sequence[Card], picked: Sequence[Card], rules: str) -> int:
    """Return the card of the highest value, corrected for what the deck lacks."""
    return _default_curve()(offer, picked, rules)


class _PickByValue(HistoryPicker):
    """The picker of the package, loaded on first use."""

    def choose(self, offers: Sequence[Sequence[Card]], picked: Sequence[Card], rules: str) -> int:
        value = default_draft_value(rules)
        values = {} if value is None else {rules: value}
        return ExpectedPicker(values, _pick_by_curve).choose(offers, picked, rules)


#: The draft pickers by name; "cheapest" is a baseline.
DRAFT_PICKERS: dict[str, DraftPicker] = {
    "default": _PickByValue(),
    "curve": _pick_by_curve,
    "order": _pick_by_order,
    "cheapest": _pick_cheapest,
}

"""The choice phase as an environment shows it: one card after the other, thirty times."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks import build_deck, pick
from locmsim.envs.games import Options, card_range, deck_choosers, indices_of
from locmsim.game.match import Match
from locmsim.rules.cards import ABILITIES, Area, Card, CardType
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, HAND_LIMIT, RuleSet, get_rules

__all__ = ["Choice", "ChoiceLayout", "battle_of", "choice_of"]

_ROW = 24
_PILE = 16
_OFFER = 120
_TRIPLET = 3


# ------------------------------------------------------------------------------- observations


@lru_cache(maxsize=4096)
def _row(card: Card) -> NDArray[np.int8]:
    """A card as in the hand of layout "entities", without what depends on a position."""
    kinds = [int(card.type == kind) for kind in CardType]
    numbers = [card.attack, card.defense, card.my_health_change, card.opponent_health_change]
    keywords = [int(letter in card.abilities) for letter in ABILITIES]
    areas = [int(card.area == Area.LANE1), int(card.area == Area.LANE2)]
    row = [1, *kinds, card.cost, *np.clip(numbers, -127, 127), card.card_draw, *keywords, *areas]
    return np.array([*row, *[0] * (_ROW - len(row))], np.int8)


def rows_of(cards: list[Card]) -> NDArray[np.int8]:
    """The rows of cards."""
    return np.array([_row(card) for card in cards], np.int8).reshape(-1, _ROW)


def _pile(cards: list[Card]) -> list[int]:
    """Cards without an order, as the deck in layout "entities"."""
    counts = [0] * _PILE
    for card in cards:
        counts[card.type] += 1
        counts[4 + min(card.cost, 7)] += 1
        counts[12] += card.card_draw
        counts[13] += card.area != Area.TARGET
        if card.type == CardType.CREATURE:
            counts[14] += "C" in card.abilities
            counts[15] += "G" in card.abilities
    counts[12] = min(counts[12], 127)
    return counts


class ChoiceLayout:
    """What is seen in the choice phase: offered cards, what was chosen, a summary of it, the step.

    ``offer``: 3 (1.x) or 120 rows as of the hand in layout "entities", in 1.5 by ascending base
    id; ``chosen``: in 1.x the picks so far as 30 such rows, in 1.5 how many of each card;
    ``pile``: the chosen cards as ``own_deck`` there; ``step``: cards chosen.
    """

    def __init__(self, rules: RuleSet) -> None:
        offered = _TRIPLET if rules.draft else _OFFER
        chosen = DECK_SIZE * _ROW if rules.draft else _OFFER
        #: Name -> where it begins and ends.
        self.blocks: dict[str, tuple[int, int]] = {}
        start = 0
        for name, size in (
            ("offer", offered * _ROW), ("chosen", chosen), ("pile", _PILE), ("step", 1),
        ):  # fmt: skip
            self.blocks[name] = (start, start + size)
            start += size
        self.shape = (start,)
        self.draft = rules.draft

    def write(
        self,
        out: NDArray[np.int8],
        offer: list[Card],
        chosen: list[Card],
        rows: NDArray[np.int8] | None = None,
    ) -> None:
        """Fill a vector of this layout; `rows` are those of the offer if they are there already."""
        out[:] = 0
        start, end = self.blocks["offer"]
        if rows is None:
            rows = rows_of(offer)
        out[start : start + rows.size] = rows.reshape(-1)
        start, end = self.blocks["chosen"]
        if self.draft:
            rows = out[start:end].reshape(-1, _ROW)
            for i, card in enumerate(chosen):
                rows[i] = _row(card)
        else:
            places = {card.base_id: i for i, card in enumerate(offer)}
            for card in chosen:
                out[start + places[card.base_id]] += 1
        start, end = self.blocks["pile"]
        out[start:end] = _pile(chosen)
        out[-1] = len(chosen)

    def split(self, observations: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Named views of the blocks."""
        return {name: observations[..., a:b] for name, (a, b) in self.blocks.items()}


# -------------------------------------------------------------------------------- the choice


class Choice:
    """The choice phase of one episode, seen by one seat."""

    def __init__(
        self,
        rules: RuleSet,
        choosers: list[Any],
        sets: tuple[int, int] | None,
        refresh: int,
        cards: Any,
    ) -> None:
        self.rules = rules
        self.layout = ChoiceLayout(rules)
        self.actions = _TRIPLET if rules.draft else _OFFER
        self._choosers = choosers
        self._sets = sets
        self._cards = cards
        self._refresh = refresh
        self.match: Match | None = None
        self.chosen: list[Card] = []
        self._copies = np.zeros(self.actions, np.int8)
        self._rows: NDArray[np.int8] | None = None

    def begin(self, random: np.random.Generator, episode: int, params: Any = None) -> None:
        """Offers of another match; `episode` is the number of those before it."""
        if params is not None:
            if "seed" not in params:  # what is not given follows from the environment's
                params = {"seed": int(random.integers(1 << 63)), **params}
        else:
            params = {"seed": int(random.integers(1 << 63))}
            if self._sets is not None:
                drawn = int(random.integers(*self._sets))
                params["cardGenSeed"] = drawn + (episode // self._refresh if self._refresh else 0)
        self.begin_match(Match(self.rules.name, params=params, cards=self._cards))

    def kept(self) -> tuple[Any, ...]:
        """All that an episode changes, for `put_back`."""
        return self.match, self.chosen, self._copies.copy(), self._rows

    def put_back(self, kept: tuple[Any, ...]) -> None:
        """The choice as it was when it was `kept`."""
        self.match, self.chosen, self._copies, self._rows = kept

    def begin_match(self, match: Match) -> None:
        """The offers of a match."""
        self.match = match
        self.chosen = []
        self._copies[:] = 0
        self._rows = None if self.rules.draft else rows_of(self.offer)  # the same in all steps

    @property
    def offer(self) -> list[Card]:
        """The cards that may be picked now, by the numbers of actions; [] at the end."""
        assert self.match is not None
        if not self.rules.draft:
            return self.match.cards
        if len(self.chosen) == DECK_SIZE:
            return []
        triplet = self.match.offers[len(self.chosen)]
        assert isinstance(triplet, list)
        return triplet

    def mask(self) -> NDArray[np.int8]:
        """1 for each card that may be picked; only the first one at the end."""
        mask = np.zeros(self.actions, np.int8)
        if len(self.chosen) == DECK_SIZE:
            mask[0] = 1
        elif self.rules.draft:
            mask[:] = 1
        else:
            mask[:] = self._copies < COPIES_PER_CARD
        return mask

    def pick(self, action: int) -> None:
        """Take a card; it has to be one that the mask allows."""
        self.chosen.append(self.offer[action])
        self._copies[action] += 1

    def write(self, out: NDArray[np.int8]) -> None:
        """Fill a vector of the layout with what is seen now."""
        self.layout.write(out, self.offer, self.chosen, self._rows)

    def again(self, random: np.random.Generator) -> Match:
        """The same match with other shuffles."""
        assert self.match is not None
        params = {
            name: int(random.integers(1 << 62)) if "shuffle" in name else value
            for name, value in self.match.params.items()
        }
        return Match(self.rules.name, params=params, cards=self._cards)

    def other_deck(self, seat: int, random: np.random.Generator) -> list[int]:
        """The other player's deck in the order of the choice, as base ids."""
        assert self.match is not None
        chooser = self._choosers[1 - seat]
        if isinstance(chooser, list):
            self._check_given(chooser)
            return chooser
        if not self.rules.draft:
            if chooser == "random":
                copies = [card.base_id for card in self.match.cards] * COPIES_PER_CARD
                return [int(base) for base in random.permutation(copies)[:DECK_SIZE]]
            offers = self.match.offers
            return build_deck([card for card in offers if isinstance(card, Card)], chooser)
        picked: list[Card] = []
        offers = [offer for offer in self.match.offers if isinstance(offer, list)]
        for turn, offer in enumerate(offers):
            if chooser == "random":
                choice = int(random.integers(_TRIPLET))
            else:
                choice = pick(offer, picked, self.rules.name, chooser, offers[:turn])
            picked.append(offer[choice])
        return [card.base_id for card in picked]

    def _check_given(self, deck: list[int]) -> None:
        """``ValueError`` unless a given deck can be chosen in this match."""
        assert self.match is not None
        indices_of(deck, self.match.cards, self.rules)
        offers = [offer for offer in self.match.offers if isinstance(offer, list)]
        for turn, (base_id, offer) in enumerate(zip(deck, offers, strict=False)):
            if base_id not in [card.base_id for card in offer]:
                raise ValueError(f"decks: card {base_id} is not offered in turn {turn}")

    def lines(self, decks: list[list[int]]) -> list[list[str]]:
        """The answer lines of both players."""
        if self.rules.draft:
            return [[f"CHOOSE {base}" for base in deck] for deck in decks]
        return [[";".join(f"CHOOSE {base}" for base in deck)] for deck in decks]

    def hidden(self, other: list[int]) -> NDArray[np.int8]:
        """A privileged state as of `BattleEnv`: no hands yet; the decks in the order of choice, one
        as far as it has been chosen, the `other` one, base ids, as it will be."""
        assert self.match is not None
        rows = np.zeros((2 * (HAND_LIMIT + DECK_SIZE), _ROW), np.int8)
        cards = {card.base_id: card for card in self.match.cards}
        own = 2 * HAND_LIMIT
        for i, card in enumerate(self.chosen):
            rows[own + i] = _row(card)
        for i, base in enumerate(other):
            rows[own + DECK_SIZE + i] = _row(cards[base])
        return rows.reshape(-1)


def battle_of(match: Match, lines: list[list[str]]) -> Match:
    """A match at the start of its battle; the given one stays in its choice phase."""
    match = match.clone()
    for pair in zip(*lines, strict=True):
        for player, line in enumerate(pair):
            match.submit(player, line)
    return match


def choice_of(options: Options) -> Choice:
    rules = get_rules(options.rules)
    cards = options.cards
    if cards is not None:
        cards = [card if isinstance(card, Card) else Card.from_row(card) for card in cards]
        if len(cards) != _OFFER:
            raise ValueError(f"cards: expected {_OFFER}, got {len(cards)}")
    sets = None
    if not rules.draft and cards is None and options.card_sets is not None:
        first, n = card_range(options.card_sets)
        sets = (first, first + n)
    return Choice(rules, deck_choosers(options.decks, rules), sets, options.refresh, cards)

"""The cards of episodes: card sets, and decks chosen from them where Python chooses."""

from collections.abc import Callable, Container, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np

from locmsim._core import Table
from locmsim.agents.choosers import RANDOM, deck_builder_of, draft_picker_of
from locmsim.decks import DeckBuilder, build_deck, pick
from locmsim.envs.pool import Pool
from locmsim.options.checks import OptionError, integer, whole
from locmsim.rules.cards import Card, cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, OFFER_SIZE, RuleSet


class CardSet(list[Card]):
    """Cards by ascending base id, and the decks that builders have made of them."""

    def __init__(self, cards: Iterable[Card]) -> None:
        super().__init__(cards)
        #: Name -> builder and deck. A pool of decks wants them again and again; some take 30 ms.
        self.decks: dict[str, tuple[DeckBuilder, list[int]]] = {}


def _generated(seed: int) -> tuple[Table, CardSet]:
    """Return the cards of a cardGenSeed, as the pool of a table and as a list."""
    cards = CardSet(generate_cards(seed))
    return Table(cards), cards


#: For card sets that many episodes have. One set takes 28 KB.
generated = lru_cache(maxsize=4096)(_generated)
#: For card sets of one episode each, which is asked about its cards more than once.
_generated_once = lru_cache(maxsize=128)(_generated)


def generated_table(seed: int) -> Table:
    """Return the table of the cards of a cardGenSeed."""
    return generated(seed)[0]


@lru_cache(maxsize=2)
def _fixed(rules: str) -> tuple[Table, list[Card]]:
    """Return the cards of rules 1.x, as the pool of a table and as a list."""
    cards = list(cards_1x())
    return Table(cards, rules), cards


def _table_of(cards: Any) -> tuple[Table, CardSet]:
    """Return table and list of the user's own cards; ``ValueError`` if they are not valid."""
    if not isinstance(cards, Iterable):
        raise ValueError(f"cards: expected a list of cards, got {cards!r}")
    cards = [card if isinstance(card, Card) else Card.from_row(card) for card in cards]
    if not DECK_SIZE // COPIES_PER_CARD <= len(cards) <= OFFER_SIZE:
        raise ValueError(
            f"cards: expected {DECK_SIZE // COPIES_PER_CARD}..{OFFER_SIZE}, got {len(cards)}"
        )
    if len({card.base_id for card in cards}) != len(cards):
        raise ValueError("cards: a base id occurs twice")
    cards = CardSet(sorted(cards, key=lambda card: card.base_id))
    return Table(cards), cards


def _card_range(value: Any) -> tuple[int, int]:
    """Return the first cardGenSeed of `Options.card_sets`, and their number."""
    try:
        first, end = value if isinstance(value, Sequence) else (0, value)
        first = whole("card_sets", first, 0, 2**63 - 2)
        return first, whole("card_sets", end, first + 1, 2**63 - 1) - first
    except ValueError:
        raise ValueError(
            f"card_sets: expected a number above 0 or (first, end), got {value!r}"
        ) from None


class CardSource:
    """The card sets that the episodes of an environment are played with.

    Parameters
    ----------
    rules : RuleSet
    cards, card_sets
        As in `Options`.
    most : int
        Of the lists that resets give: there may be this many before unused ones are forgotten.
    """

    def __init__(self, rules: RuleSet, cards: Any, card_sets: Any, most: int) -> None:
        self._most = most
        #: Lists that resets were given, by what stands for their cardGenSeed.
        self._cards_of_caller: dict[int, tuple[Table, list[Card]]] = {}
        #: The cards of all episodes, if they are the same.
        self._only: tuple[Table, list[Card]] | None = None
        self._listed = cards is not None
        #: The lowest cardGenSeed of the sets and their number: (-1, 1) if all episodes have the
        #: same cards, (0, 0) if each has a set of its own, which no other one asks for.
        self.range = (0, 0)
        if rules.draft:
            self._only, self.range = _fixed(rules.name), (-1, 1)
        elif cards is not None:
            self._only, self.range = _table_of(cards), (-1, 1)
        elif card_sets is not None:
            self.range = _card_range(card_sets)
        #: Number of cards of a set.
        self.size = OFFER_SIZE if self._only is None else len(self._only[1])

    def of(self, seed: int) -> tuple[Table, list[Card]]:
        """Return the cards of a cardGenSeed: compiled, and by ascending base id."""
        if self._only is not None:
            return self._only
        make = generated if self.range[1] else _generated_once
        return self._cards_of_caller.get(seed) or make(seed)

    def is_list(self, seed: int) -> bool:
        """Return whether the cards follow from no seed, as a user has listed them."""
        return self._listed or seed in self._cards_of_caller

    def keep(self, cards: Any, used: Callable[[], Container[int]]) -> int:
        """Keep a list for the episodes that have it; return what stands for its cardGenSeed.

        `used` tells which of those are still in use. ``ValueError`` for a list that cannot be used.
        """
        if self._only is not None:
            raise ValueError("cards: all episodes of this environment have the same ones")
        table, found = _table_of(cards)
        if len(found) != OFFER_SIZE:
            raise ValueError(f"cards: expected {OFFER_SIZE} in a reset, got {len(found)}")
        digest = sha256(repr([card.to_row() for card in found]).encode()).digest()
        key = -1 - int.from_bytes(digest[:7], "little")
        if len(self._cards_of_caller) > self._most:
            wanted = used()
            self._cards_of_caller = {
                one: kept for one, kept in self._cards_of_caller.items() if one in wanted
            }
        self._cards_of_caller.setdefault(key, (table, found))
        return key


# ------------------------------------------------------------------------------------- decks


class Decks:
    """How the decks of episodes come about, where the caller does not pick them.

    Parameters
    ----------
    decks
        As `Options.decks`.
    rules : RuleSet
    battle : bool
        Whether episodes begin with a battle, for which both decks are chosen.

    Raises
    ------
    ValueError
        For a value that says no way to choose decks.
    """

    def __init__(self, decks: Any, rules: RuleSet, battle: bool) -> None:
        self._rules = rules
        self._battle = battle
        self._pool = decks if isinstance(decks, Pool) else None
        for member in self._pool.members if self._pool else ():
            _choosers(member, rules)
        self._fixed = [_drawn, _drawn] if self._pool else _choosers(decks, rules)
        #: What the rows are told of both seats together and of each: see `_source`.
        self.source = _source(self._fixed, rules)
        self.sources = [  # given ids have to be looked for in the offers of each episode
            "asked" if isinstance(chooser, list) else _source([chooser], rules)
            for chooser in self._fixed
        ]

    def of_set(self, cards: list[Card]) -> list[list[int]] | None:
        """Return the decks that a card set determines; [] for a seat whose deck it does not."""
        if self._battle:
            if self.source != "given":
                return None
            return [_deck_of(chooser, cards, self._rules) for chooser in self._fixed]
        return [
            _deck_of(chooser, cards, self._rules) if source == "given" else []
            for chooser, source in zip(self._fixed, self.sources, strict=True)
        ]

    def drawn(
        self, cards: list[Card], offers: list[list[int]] | None, random: np.random.Generator
    ) -> list[list[int]]:
        """Return both decks of an episode, as indices of cards."""
        choosers = self._of_episode(random)
        return [_deck_of(chooser, cards, self._rules, offers, random) for chooser in choosers]

    def drawn_for(
        self,
        player: int,
        cards: list[Card],
        offers: list[list[int]] | None,
        draw: Callable[[], int],
    ) -> list[int]:
        """Return the deck of a player who picks before or after the caller; `draw` gives a seed."""
        random, chooser = None, self._fixed[player]
        if self._pool:
            random = np.random.default_rng(draw())
            chooser = self._of_episode(random)[player]
        deck = _deck_of(chooser, cards, self._rules, offers, random)
        if offers is not None and isinstance(chooser, list):
            for turn, (card, offer) in enumerate(zip(deck, offers, strict=True)):
                if card not in offer:
                    raise ValueError(f"decks: card {chooser[turn]} is not offered in turn {turn}")
        return deck

    def _of_episode(self, random: np.random.Generator) -> list[Any]:
        if not self._pool:
            return self._fixed
        weights = np.array(self._pool.weights) / sum(self._pool.weights)
        drawn = self._pool.members[int(random.choice(len(weights), p=weights))]
        return _choosers(drawn, self._rules)


def _drawn(*arguments: Any) -> Any:
    """Stands for what a pool draws for each episode."""
    raise AssertionError("a pool is drawn from")


def for_both(decks: Any) -> Any:
    """Return the pair that a text or a function stands for; anything else as it is."""
    if isinstance(decks, str) and "/" in decks and ":" not in decks:
        return tuple(decks.split("/"))  # a path may have a slash: with one, a pair is a tuple
    return (decks, decks) if isinstance(decks, str) or callable(decks) else decks


def _choosers(decks: Any, rules: RuleSet) -> list[Any]:
    """Return how each seat chooses: "random", a builder or picker, base ids, a function."""
    decks = for_both(decks)
    if not isinstance(decks, Sequence | np.ndarray) or len(decks) != 2:
        raise ValueError(f"decks: expected one way for both seats or a pair, got {decks!r}")
    for deck in decks:
        if isinstance(deck, str) and deck != RANDOM:
            try:
                (draft_picker_of if rules.draft else deck_builder_of)(deck)
            except OptionError as error:
                raise ValueError(f"decks: {error.reason}") from None
    return [deck if isinstance(deck, str) or callable(deck) else _base_ids(deck) for deck in decks]


def _base_ids(deck: Any) -> list[int]:
    try:
        return [integer("decks", base_id) for base_id in deck]
    except (TypeError, ValueError):
        raise ValueError(f"decks: expected base ids, got {deck!r}") from None


def _source(choosers: Sequence[Any], rules: RuleSet) -> str:
    """ "random": the kernel chooses; "given": the same decks whenever a set is played; "asked"."""
    if all(chooser == "random" for chooser in choosers):
        return "random"
    if all(isinstance(chooser, list) for chooser in choosers):
        return "given"
    named = all(isinstance(chooser, str | list) and chooser != "random" for chooser in choosers)
    return "given" if named and not rules.draft else "asked"


def _deck_of(
    chooser: Any,
    cards: list[Card],
    rules: RuleSet,
    offers: list[list[int]] | None = None,
    random: np.random.Generator | None = None,
) -> list[int]:
    """Return a deck as indices into `cards`."""
    if isinstance(chooser, list):
        return indices_of(chooser, cards, rules)
    if rules.draft:
        assert offers is not None
        picked: list[int] = []
        offered = [[cards[i] for i in triplet] for triplet in offers]
        for turn, triplet in enumerate(offers):
            if chooser == "random":
                assert random is not None
                choice = int(random.integers(3))
            else:
                before = [cards[i] for i in picked]
                picker = draft_picker_of(chooser)
                choice = pick(offered[turn], before, rules.name, picker, offered[:turn])
            picked.append(triplet[choice])
        return picked
    if chooser == "random":
        assert random is not None
        copies = random.permutation(COPIES_PER_CARD * len(cards))[:DECK_SIZE]
        return [int(i) // COPIES_PER_CARD for i in copies]
    if not (isinstance(chooser, str) and isinstance(cards, CardSet)):
        return indices_of(build_deck(as_offered(cards), chooser), cards, rules)
    builder = deck_builder_of(chooser)
    known = cards.decks.get(chooser)
    if known is None or known[0] is not builder:
        deck = indices_of(build_deck(as_offered(cards), builder), cards, rules)
        known = cards.decks[chooser] = builder, deck
    return known[1]


def as_offered(cards: list[Card]) -> list[Card]:
    """Return the order in which the choice phase of 1.5 shows cards."""
    return sorted(cards, key=lambda card: (card.cost, card.base_id))


def indices_of(deck: Sequence[int], cards: list[Card], rules: RuleSet) -> list[int]:
    """Return the indices of a deck's cards by base id; ``ValueError`` if one is missing."""
    places = {card.base_id: i for i, card in enumerate(cards)}
    if not isinstance(deck, Sequence | np.ndarray):
        raise ValueError(f"decks: expected base ids, got {deck!r}")
    if len(deck) != DECK_SIZE:
        raise ValueError(f"decks: expected {DECK_SIZE} cards, got {len(deck)}")
    for base_id in deck:
        if base_id not in places:
            raise ValueError(f"decks: there is no card with base id {base_id}")
    if not rules.draft and max(map(list(deck).count, deck)) > COPIES_PER_CARD:
        raise ValueError(f"decks: more than {COPIES_PER_CARD} copies of a card")
    return [places[base_id] for base_id in deck]

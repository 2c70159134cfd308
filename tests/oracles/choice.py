"""The choice phase in plain Python, as an oracle: offers, and the effect of answers."""

from collections.abc import Sequence
from typing import NoReturn

from locmsim._core import BLANKS
from locmsim.game.observation import CardInPlay, Observation, PlayerLine
from locmsim.game.params import Params
from locmsim.rules.cards import NO_ABILITIES, Card, CardType, parse_integer
from locmsim.rules.rulesets import (
    COPIES_PER_CARD,
    DECK_SIZE,
    DEFAULT_RUNES,
    START_HEALTH,
    RuleSet,
)
from oracles.javarandom import JavaRandom

__all__ = ["Construct", "Draft", "FatalAnswer"]

OFFER_SIZE = 120  # cards of the construct phase
DRAFT_POOL_SIZE = 60  # cards that the triplets of a draft are drawn from


class FatalAnswer(Exception):
    """Raised for an answer that loses the match; the text follows the player's name."""


def _refuse(message: str) -> NoReturn:
    raise FatalAnswer(f": {message}")


class Construct:
    """The one choice step of 1.5: thirty cards out of one offer, at most two of each."""

    steps = 1
    #: Cards that a player takes in a step.
    picks = DECK_SIZE

    def __init__(self, cards: Sequence[Card], seed: int) -> None:
        if len(cards) > OFFER_SIZE:
            cards = [cards[i] for i in _distinct(JavaRandom(seed), len(cards), OFFER_SIZE)]
        self.offers = sorted(cards, key=lambda card: (card.cost, card.base_id))
        self._rows = tuple(map(CardInPlay.offer, self.offers))
        self._copies = {card.base_id: COPIES_PER_CARD for card in self.offers}  # in their order

    def observation(self, player: int, step: int) -> Observation:
        line = PlayerLine(START_HEALTH, 0, 0, 0)
        return Observation("1.5", line, line, 0, (), self._rows)

    def legal_picks(self, step: int, picks: Sequence[int]) -> list[int]:
        """Return the indices in the offer of the cards that may be taken after `picks`."""
        left = self._copies.copy()
        for place in picks:
            left[self.offers[place].base_id] -= 1
        return [i for i, card in enumerate(self.offers) if left[card.base_id]]

    def line(self, step: int, picks: Sequence[int]) -> str:
        """Return the answer that takes the cards at these indices of the offer."""
        return ";".join([f"CHOOSE {self.offers[place].base_id}" for place in picks])

    def apply(self, line: str, step: int, chosen: list[int]) -> None:
        """Add the cards that `line` chooses to `chosen`, up to the first error if any."""
        left = self._copies.copy()
        for part in line.split(";"):
            part = part.strip(BLANKS)
            # The fast path for nearly all parts.
            number = parse_integer(part.split(" ")[1]) if part.startswith("CHOOSE ") else None
            if number is not None and left.get(number):
                left[number] -= 1
                chosen.append(number)
                continue
            # A bare PASS fills the deck; a PASS with a comment is one card, even one too many.
            while part == "PASS" and len(chosen) < DECK_SIZE:
                self._take("PASS", left, chosen)
            if part and part != "PASS":
                self._take(part, left, chosen)
        if len(chosen) != DECK_SIZE:
            raise FatalAnswer(" didn't choose correct number of cards!")

    def _take(self, part: str, left: dict[int, int], chosen: list[int]) -> None:
        word, *arguments = part.split(" ", 2)
        if word == "PASS":
            base_id = next((base_id for base_id, n in left.items() if n), None)
            if base_id is None:
                _refuse("Something went horrible wrong. No card available to choose.")
        elif word == "CHOOSE":
            base_id = parse_integer(arguments[0]) if arguments else None
            if base_id is None:
                _refuse('Invalid "CHOOSE" argument. Expected integer (card base id).')
            if base_id not in left:
                _refuse('Invalid action format. "CHOOSE" argument should be valid card\'s base id.')
            if not left[base_id]:
                _refuse(
                    f"Invalid action argument. Card can be chosen at most {COPIES_PER_CARD} times."
                )
        else:
            _refuse('Invalid action. Expected  "CHOOSE id" or "PASS".')
        left[base_id] -= 1
        chosen.append(base_id)


class Draft:
    """The thirty choice steps of 1.x: one card of three each."""

    steps = DECK_SIZE
    #: Cards that a player takes in a step.
    picks = 1

    def __init__(self, rules: RuleSet, cards: list[Card], params: Params) -> None:
        self._rules = rules
        if "predefinedDraftIds" in params:
            self.offers = _predefined_triplets(str(params["predefinedDraftIds"]), cards)
        else:
            allowed = [card for card in cards if _in_league(card, int(params.get("league", 4)))]
            self.offers = _drawn_triplets(JavaRandom(int(params["draftChoicesSeed"])), allowed)

    def observation(self, player: int, step: int) -> Observation:
        rune = max(DEFAULT_RUNES)
        me = PlayerLine(START_HEALTH, 0, step, 0, rune)
        # The referee judges player 0 first, and counts their card when it writes to player 1.
        opponent = me._replace(deck_size=step + player)
        rows = tuple(map(CardInPlay.offer, self.offers[step]))
        return Observation(self._rules.name, me, opponent, 0, (), rows)

    def legal_picks(self, step: int, picks: Sequence[int]) -> list[int]:
        """Return the indices in the offer of the cards that may be taken."""
        return list(range(len(self.offers[step])))

    def line(self, step: int, picks: Sequence[int]) -> str:
        """Return the answer that takes the card at the last of these indices of the offer."""
        return f"PICK {picks[-1]}"

    def apply(self, line: str, step: int, chosen: list[int]) -> None:
        """Add the card that `line` chooses to `chosen`."""
        ids = [card.base_id for card in self.offers[step]]
        word, *arguments = line.split(" ", 2)
        value = parse_integer(arguments[0]) if arguments else None
        if word == "PASS":
            chosen.append(ids[0])
        elif word not in ("PICK", "CHOOSE") or value is None:
            _refuse('Invalid action. Expected  "PICK [0,1,2]" or "PASS".')
        elif word == "CHOOSE":
            if value not in ids:
                # The referee prints a hash set of 16 buckets.
                shown = sorted(dict.fromkeys(ids), key=lambda base_id: base_id % 16)
                _refuse(
                    'Invalid action format. "CHOOSE" argument should be valid card\'s base id '
                    f"{shown}."
                )
            chosen.append(value)
        elif 0 <= value < len(ids):
            chosen.append(ids[value])
        else:
            _refuse('Invalid action format. "PICK" argument should be 0, 1 or 2.')


def _distinct(rng: JavaRandom, n: int, count: int) -> list[int]:
    """Draw `count` different numbers below `n`, or all if there are fewer, in random order."""
    picks: dict[int, None] = {}
    while len(picks) < min(count, n):
        picks[rng.next_int(n)] = None
    return list(picks)


def _in_league(card: Card, league: int) -> bool:
    """Return whether a league drafts `card` (12:DraftPhase.java:55-75)."""
    if league == 1:
        effects = (card.my_health_change, card.opponent_health_change, card.card_draw)
        plain = card.abilities == NO_ABILITIES and not any(effects)
        return card.type == CardType.CREATURE and plain
    hard = not set("DLW").isdisjoint(card.abilities)
    return league == 4 or (not hard and (league == 3 or card.type == CardType.CREATURE))


def _drawn_triplets(rng: JavaRandom, cards: list[Card]) -> list[list[Card]]:
    pool = _distinct(rng, len(cards), DRAFT_POOL_SIZE)
    triplets = []
    for _ in range(DECK_SIZE):
        picks: dict[int, None] = {}
        while len(picks) < 3:
            picks[pool[rng.next_int(len(pool))]] = None
        triplets.append([cards[i] for i in picks])
    return triplets


def _predefined_triplets(text: str, cards: list[Card]) -> list[list[Card]]:
    """Return the triplets of ``predefinedDraftIds``; as in the referee, extra ones are ignored."""
    by_id = {card.base_id: card for card in cards}
    parts = text.replace("_", " ").split(",")
    if len(parts) < DECK_SIZE:
        raise ValueError(f"predefinedDraftIds: expected {DECK_SIZE} triplets, got {len(parts)}")
    triplets = []
    for i, part in enumerate(parts[:DECK_SIZE]):
        ids = [parse_integer(word) for word in part.split()[:3]]
        triplet = [by_id[base_id] for base_id in ids if base_id is not None and base_id in by_id]
        if len(triplet) != 3:
            raise ValueError(
                f"predefinedDraftIds: triplet {i}: expected three base ids, got {part!r}"
            )
        triplets.append(triplet)
    return triplets

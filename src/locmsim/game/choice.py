"""The choice phase in Python: what is offered, and what the referee says of answers.

The rules are docs/rules.md, section 3; `locmsim.game._match` applies them.
"""

from collections.abc import Sequence
from functools import lru_cache

from locmsim.contract import FaultKind
from locmsim.game._match import (
    NO_ANSWER,
    NO_NUMBER,
    NO_PLACE,
    NOT_OFFERED,
    NOTHING_LEFT,
    THIRD_COPY,
    UNKNOWN_WORD,
    WRONG_COUNT,
    CompiledCards,
    MatchCore,
)
from locmsim.game.observation import Observation
from locmsim.game.params import Params
from locmsim.javarandom import JavaRandom
from locmsim.rules.cards import NO_ABILITIES, Card, CardType, cards_1x, parse_integer
from locmsim.rules.rulesets import (
    COPIES_PER_CARD,
    DECK_SIZE,
    DRAFT_OFFER,
    OFFER_SIZE,
    RuleSet,
    get_rules,
)

#: What the referee says after the player's name, by fault: in 1.5, and in 1.x where that differs.
_TEXTS_15 = {
    NO_ANSWER: " timeout!",
    UNKNOWN_WORD: ': Invalid action. Expected  "CHOOSE id" or "PASS".',
    NO_NUMBER: ': Invalid "CHOOSE" argument. Expected integer (card base id).',
    NOT_OFFERED: (': Invalid action format. "CHOOSE" argument should be valid card\'s base id.'),
    THIRD_COPY: (f": Invalid action argument. Card can be chosen at most {COPIES_PER_CARD} times."),
    NOTHING_LEFT: ": Something went horrible wrong. No card available to choose.",
    WRONG_COUNT: " didn't choose correct number of cards!",
}
_NO_PICK = ': Invalid action. Expected  "PICK [0,1,2]" or "PASS".'
_TEXTS_1X = {
    NO_ANSWER: " timeout!",
    UNKNOWN_WORD: _NO_PICK,
    NO_NUMBER: _NO_PICK,
    NO_PLACE: ': Invalid action format. "PICK" argument should be 0, 1 or 2.',
    NOT_OFFERED: ': Invalid action format. "CHOOSE" argument should be valid card\'s base id',
}


def fault_text(rules: RuleSet, player: int, fault: int, offer: Sequence[Card]) -> str:
    """Return the referee's message about a fault; `offer` is what the player was shown."""
    text = (_TEXTS_1X if rules.draft else _TEXTS_15)[fault]
    if rules.draft and fault == NOT_OFFERED:
        # The referee prints a hash set of 16 buckets.
        ids = dict.fromkeys(card.base_id for card in offer)
        text += f" {sorted(ids, key=lambda base_id: base_id % 16)}."
    return f"${player}{text}"


def fault_kind(fault: int) -> FaultKind:
    """Return the kind of a fault."""
    return FaultKind.TIMEOUT if fault == NO_ANSWER else FaultKind.MALFORMED


# ------------------------------------------------------------------------------------ offers


def start_match(
    rules: RuleSet, params: Params, cards: list[Card] | None
) -> tuple[list[Card], MatchCore]:
    """Return all cards of a match by ascending base id, and its compiled part.

    `cards` are those of 1.5 if they follow from no seed, in the order that offers are drawn from.
    """
    seeds = [int(params[name]) for name in rules.seed_names]
    if rules.draft:
        fixed = _fixed(rules.name)
        if "predefinedDraftIds" in params:
            triplets = _predefined_triplets(str(params["predefinedDraftIds"]))
            return list(cards_1x()), MatchCore(rules.name, fixed, seeds, triplets=triplets)
        allowed = _allowed(int(params.get("league", 4)))
        return list(cards_1x()), MatchCore(rules.name, fixed, seeds, allowed)
    if cards is None:
        compiled = _generated(int(params["cardGenSeed"]))
        return list(compiled.offer), MatchCore(rules.name, compiled, seeds)
    compiled = _compiled(tuple(_offered(cards, int(params["constructedChoicesSeed"]))))
    return sorted(cards, key=lambda card: card.base_id), MatchCore(rules.name, compiled, seeds)


def _offered(cards: list[Card], seed: int) -> list[Card]:
    """Return the cards on offer in 1.5, of a list that may be longer."""
    if len(cards) <= OFFER_SIZE:
        return cards
    random = JavaRandom(seed)
    picks: dict[int, None] = {}
    while len(picks) < OFFER_SIZE:
        picks[random.next_int(len(cards))] = None
    return [cards[i] for i in picks]


class _Same:
    """Cards that are compared by identity, which is fast; they stay alive with it."""

    def __init__(self, cards: tuple[Card, ...]) -> None:
        self.cards = cards
        self._ids = tuple(map(id, cards))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._ids == other._ids

    def __hash__(self) -> int:
        return hash(self._ids)


def _compiled(cards: tuple[Card, ...]) -> CompiledCards:
    return _compiled_once(_Same(cards))


@lru_cache(maxsize=4)
def _compiled_once(cards: _Same) -> CompiledCards:
    """Return given cards as matches need them, cached because many matches share them."""
    return CompiledCards("1.5", cards.cards)


@lru_cache(maxsize=32)
def _generated(seed: int) -> CompiledCards:
    """Return a seed's cards, cached because the matches of a pair share them, and pages ask again.

    The offer contains all cards, whatever its seed.
    """
    from locmsim.rules.generator import generate_cards  # slow to import; bots never need it

    return CompiledCards("1.5", generate_cards(seed))


@lru_cache(maxsize=2)
def _fixed(rules: str) -> CompiledCards:
    return CompiledCards(rules, cards_1x())


@lru_cache(maxsize=4)
def _allowed(league: int) -> bytes:
    """Return the indices of the cards that a league drafts (12:DraftPhase.java:55-75)."""
    return bytes(i for i, card in enumerate(cards_1x()) if _in_league(card, league))


def _in_league(card: Card, league: int) -> bool:
    if league == 1:
        effects = (card.my_health_change, card.opponent_health_change, card.card_draw)
        plain = card.abilities == NO_ABILITIES and not any(effects)
        return card.type == CardType.CREATURE and plain
    hard = not set("DLW").isdisjoint(card.abilities)
    return league == 4 or (not hard and (league == 3 or card.type == CardType.CREATURE))


def _predefined_triplets(text: str) -> list[list[int]]:
    """Return the triplets of ``predefinedDraftIds`` as indices; extra ones are ignored."""
    places = {card.base_id: i for i, card in enumerate(cards_1x())}
    parts = text.replace("_", " ").split(",")
    if len(parts) < DECK_SIZE:
        raise ValueError(f"predefinedDraftIds: expected {DECK_SIZE} triplets, got {len(parts)}")
    triplets = []
    for i, part in enumerate(parts[:DECK_SIZE]):
        ids = [parse_integer(word) for word in part.split()[:3]]
        triplet = [places[base_id] for base_id in ids if base_id is not None and base_id in places]
        if len(triplet) != 3:
            raise ValueError(
                f"predefinedDraftIds: triplet {i}: expected three base ids, got {part!r}"
            )
        triplets.append(triplet)
    return triplets


def choice_observations(
    rules: str, offers: Sequence[Sequence[Card]], player: int
) -> list[Observation]:
    """Return a player's observations in the choice phase: of one offer (1.5) or a draft's.

    Parameters
    ----------
    rules : str
    offers : sequence of sequences of Card
        One offer in 1.5, those of all steps in a draft.
    player : int
        0 or 1.

    Returns
    -------
    list of Observation
        One for each offer.
    """
    if not get_rules(rules).draft:
        return [_compiled(tuple(offer)).seen for offer in offers]
    places = {card.base_id: i for i, card in enumerate(cards_1x())}
    triplets = [[places[card.base_id] for card in offer] for offer in offers]
    core = MatchCore(rules, _fixed(rules), (0, 0, 0), triplets=triplets)
    return [core.observation(player, step) for step in range(len(offers))]


def compiled_choice(
    rules: str, offer: Sequence[Card], chosen: Sequence[Card]
) -> tuple[CompiledCards, list[int], list[int]]:
    """Return the cards of a choice, compiled, and what is offered and chosen as indices of them.

    Parameters
    ----------
    rules : str
    offer : sequence of Card
        Three cards of a draft, or all that are offered in 1.5.
    chosen : sequence of Card

    Raises
    ------
    ValueError
        For a wrong number of cards, or one that the rules or the offer do not have.
    """
    draft = get_rules(rules).draft
    compiled = _fixed(rules) if draft else _compiled(tuple(offer))
    if draft and len(offer) != DRAFT_OFFER:
        raise ValueError(f"offer: expected {DRAFT_OFFER} cards, got {len(offer)}")
    cards: Sequence[Card] = cards_1x() if draft else sorted(offer, key=lambda card: card.base_id)
    places = {card.base_id: i for i, card in enumerate(cards)}
    for name, some in (("offer", offer), ("chosen", chosen)):
        for card in some:
            if card.base_id not in places:
                what = f"of rules {rules}" if draft else "of the offer"
                raise ValueError(f"{name}: no card {what} has the base id {card.base_id}")
    offered = [places[card.base_id] for card in offer] if draft else []
    return compiled, offered, [places[card.base_id] for card in chosen]


def chosen_by(line: str, offer: Sequence[Card], rules: str = "1.5") -> list[int]:
    """Return the base ids that an answer takes from an offer, up to its fault if any.

    In 1.5 equal base ids count once, as in `build_deck`.
    """
    chosen: list[int] = []
    seeds = [0] * len(get_rules(rules).seed_names)
    if not get_rules(rules).draft:
        offer = [*{card.base_id: card for card in offer}.values()]
    compiled, offered, _ = compiled_choice(rules, offer, ())
    core = MatchCore(rules, compiled, seeds, triplets=[offered] * DECK_SIZE if offered else None)
    core.answer(0, line, chosen)
    return chosen

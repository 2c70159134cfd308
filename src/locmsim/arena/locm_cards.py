"""What became of the cards in a match of Legends of Code and Magic."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from locmsim._core import original_of
from locmsim.game.match import Match
from locmsim.rules.cards import ABILITIES, AREA_WORDS, TYPE_WORDS, Card
from locmsim.rules.rulesets import get_rules

#: The groups of rows, in the order of tables.
GROUPS = ("card", "cost", "type", "keyword", "area", "draw")
#: Costs from this one on are counted together.
_DEAR = 8
_TYPES = {value: word for word, value in TYPE_WORDS.items()}
_AREAS = {value: word for word, value in AREA_WORDS.items()}
_KEYWORDS = dict(
    zip(ABILITIES, ("breakthrough", "charge", "drain", "guard", "lethal", "ward"), strict=True)
)
#: The group and the name of a row.
_Key = tuple[str, str]


@cache
def _keys_1x(card: Card) -> tuple[_Key, ...]:
    return (("card", f"{card.base_id} {card.name}"),)


def _keys_15(card: Card) -> tuple[_Key, ...]:
    """Return the kinds that a card of 1.5 belongs to; its cards are new in each match."""
    cost = f"cost {card.cost}" if card.cost < _DEAR else f"cost {_DEAR} or more"
    keywords = [_KEYWORDS[letter] for letter in card.abilities if letter != "-"]
    return (
        ("cost", cost),
        ("type", _TYPES[card.type]),
        *(("keyword", word) for word in keywords or ["no keyword"]),
        ("area", _AREAS[card.area]),
        ("draw", f"draw {card.card_draw}"),
    )


def cards_of(
    match: Match, answers: Iterable[tuple[int, str | None]]
) -> tuple[Mapping[str, Mapping[_Key, int]], ...]:
    """Play answers in a new match; return for each player the cards of each case by row."""
    played: tuple[list[int], list[int]] = ([], [])
    base_ids: dict[int, int] = {}
    for seat, line in answers:
        applied = match.submit(seat, line).applied
        if applied and not base_ids:
            base_ids = {number: base for deck in match.decks for number, base in deck}
        for action in applied:
            word, source, *_ = action.split(" ")
            if word != "ATTACK":
                played[seat].append(base_ids[original_of(match.rules, int(source))])
    keys: Callable[[Card], tuple[_Key, ...]]
    keys = _keys_1x if get_rules(match.rules).draft else _keys_15
    rows = {card.base_id: keys(card) for card in match.cards}
    return tuple(
        {
            case: Counter([key for base in cards for key in rows[base]])
            for case, cards in _cases(match, seat, played[seat]).items()
        }
        for seat in (0, 1)
    )


def _cases(match: Match, seat: int, played: Sequence[int]) -> dict[str, Sequence[int]]:
    """Return the base ids of each case of one player in a match that is over."""
    chosen, deck = match.chosen[seat], [base for _, base in match.decks[seat]]
    offered = []
    # Of a draft that ended by a fault, only the triplets that were shown.
    steps = max(map(len, match.chosen)) + 1
    for offer in match.offers[:steps] if get_rules(match.rules).draft else match.offers:
        offered += [offer.base_id] if isinstance(offer, Card) else [card.base_id for card in offer]
    left = len(deck) if match.state is None else match.state.players[seat].deck_size
    return {
        "offered": offered,
        "chosen": chosen,
        "in deck": deck,
        "drawn": deck[: len(deck) - left],
        "played": played,
    }

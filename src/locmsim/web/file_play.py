"""A page of one file in which a person plays whole matches against levels of the engine."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from locmsim.game.match import Match
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, get_rules
from locmsim.web.file_engine import packed_engine
from locmsim.web.file_parts import packed_json
from locmsim.web.file_replay import page_html
from locmsim.web.match_data import Cards, match_page

#: How many card sets of rules 1.5 a page has: the generator is not in it.
SETS = 200
_ELEMENT = re.compile("(<[^>]*>)")
#: Pieces of pictures that occur this often are stored once.
_OFTEN = 4


def play_html(rules: str = "1.5", *, sets: int = SETS, seed: int = 1) -> str:
    """Return the page in which matches are played.

    Parameters
    ----------
    rules : str
        The rule set.
    sets : int
        How many card sets it has in rules 1.5. Drafts have one list of cards, and any number of
        matches.
    seed : int
        The seed of the match with the first card set; the others have the next ones.

    Returns
    -------
    str
        An HTML document, which needs no other file.

    Raises
    ------
    ValueError
        There are no such rules, or `sets` is below 1.
    ImportError
        The engine must be compiled, and there is no compiler for WebAssembly.
    """
    rule_set = get_rules(rules)
    if sets < 1:
        raise ValueError(f"sets: expected 1 or more, got {sets}")
    seeds = [seed] if rule_set.draft else range(seed, seed + sets)
    note = (
        "All cards of these rules are in this file, and each match is another draft."
        if rule_set.draft
        else f"This file has {sets} sets of 120 cards: a match is played with one of them."
    )
    drawn = [_cards(Match(rules, seed=one).cards) for one in seeds]
    pictures = [card["svg"] for one_set in drawn for card in one_set["cards"].values()]
    counts = Counter(piece for picture in pictures for piece in _ELEMENT.split(picture))
    pieces = [piece for piece, n in counts.items() if n >= _OFTEN and len(piece) > 4]
    places = {piece: place for place, piece in enumerate(pieces)}
    for one_set in drawn:
        for card in one_set["cards"].values():
            split = filter(None, _ELEMENT.split(card["svg"]))
            card["svg"] = [places.get(piece, piece) for piece in split]
    data = {
        **match_page(rules, [], Cards(), []),
        "size": DECK_SIZE,
        "copies": COPIES_PER_CARD,
        "sets": [
            [one, packed_json(one_set["cards"])] for one, one_set in zip(seeds, drawn, strict=True)
        ],
        "pieces": packed_json(pieces),
        "note": note,
        "engine": packed_engine(rules),
    }
    return page_html(data, "play")


def _cards(cards: Sequence[Card]) -> dict[str, Any]:
    """Return cards as pages draw them."""
    found = Cards(cards)
    for card in cards:
        found.key(card)
    return found.to_json()

"""The chance of winning with a deck against another one, before a card is played.

The deck and draft values of the package say how the decks compare (`locmsim.decks.value`,
`locmsim.decks.draft_value`). Their differences are turned into chances by two numbers for each rule
set, which were fitted to games between decks of all kinds (``data/deck-chances.json``, written by
`tools/deck_chances.py`; docs/drafts.md has the table).

    >>> from locmsim.rules.cards import cards_1x
    >>> cheap = sorted(cards_1x(), key=lambda card: card.cost)[:30]
    >>> dear = sorted(cards_1x(), key=lambda card: card.cost)[-30:]
    >>> win_probability("1.2", cheap, dear) > 0.5 > win_probability("1.2", dear, cheap)
    True
"""

import json
import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from locmsim.decks.draft_value import DraftValue, default_draft_value
from locmsim.decks.value import DeckValue, default_value
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import get_rules
from locmsim.support.files import data_file

__all__ = ["Calibration", "calibration", "probability_of", "value_of_decks", "win_probability"]


class Calibration(NamedTuple):
    """How the values of decks became results of games.

    Parameters
    ----------
    first : float
        The log-odds by which player 0 wins with equal decks.
    scale : float
        The log-odds for a difference of 1 between the values of two decks.
    games : int
        The number of games that this was fitted to.
    pilot : str
        The agent that played both decks.
    """

    first: float
    scale: float
    games: int
    pilot: str


@cache
def calibration(rules: str) -> Calibration:
    """Return the calibration of a rule set.

    Parameters
    ----------
    rules : str
        The rule set.

    Raises
    ------
    ValueError
        There is no such rule set.
    """
    with open(data_file("deck-chances.json"), encoding="utf-8") as file:
        data = json.load(file)
    return Calibration(**data["rules"][get_rules(rules).name], pilot=data["pilot"])


def value_of_decks(rules: str) -> DeckValue | DraftValue:
    """Return the package's value of decks of a rule set.

    Parameters
    ----------
    rules : str
        The rule set.

    Raises
    ------
    ValueError
        There is no such rule set.
    """
    if not get_rules(rules).draft:
        return default_value()
    value = default_draft_value(rules)
    assert value is not None, "the weights of the package have one"
    return value


def probability_of(rules: str, difference: float, player: int = 0) -> float:
    """Return the chance of winning of a player whose deck is worth more by a difference.

    Parameters
    ----------
    rules : str
        The rule set.
    difference : float
        The value of the player's deck less that of the opponent's.
    player : int
        0 or 1.

    Returns
    -------
    float
        From 0 to 1.
    """
    fitted = calibration(rules)
    odds = fitted.scale * difference + (fitted.first if player == 0 else -fitted.first)
    return 1 / (1 + math.exp(-odds)) if odds > 0 else math.exp(odds) / (1 + math.exp(odds))


def win_probability(
    rules: str, mine: Sequence[Card], theirs: Sequence[Card], player: int = 0
) -> float:
    """Return the chance of winning with one deck against another.

    Parameters
    ----------
    rules : str
        The rule set.
    mine, theirs : sequence of Card
        The decks of the player and of the opponent.
    player : int
        0 or 1: who has the first deck.

    Returns
    -------
    float
        From 0 to 1; the chances of both players add up to 1.

    Raises
    ------
    ValueError
        There is no such rule set.
    """
    value = value_of_decks(rules)
    return probability_of(rules, value(mine) - value(theirs), player)

"""The value of cards in a draft of rules 1.2 and 1.0, fitted to games.

The winner's log-odds are modelled as a sum over the cards of both decks. The contribution of a card
is the sum of the values of its properties and its own deviation. A penalty keeps deviations small
that few games support; its strength is chosen to predict held-out games best. Cards that differ in
base id and name alone count as one card (`equal_cards_1x`).
"""

import logging
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.rules.cards import ABILITIES, Card, CardType, cards_1x, equal_cards_1x
from locmsim.tuning.fitting import fit_logistic

_Array = NDArray[np.float64]
_log = logging.getLogger(__name__)

#: Value of a unit of log-odds at even odds: 100 times p (1 - p).
HUNDREDTHS = 25
#: In squared log-odds: the prior variance of a property's value, and the candidate variances of the
#: deviations.
_PROPERTY_VARIANCE = 0.003
_VARIANCES = (0.0005, 0.001, 0.002, 0.004, 0.008)
_FOLDS = 5


def copies_of(decks: NDArray[Any]) -> NDArray[np.int8]:
    """Return how often decks contain each of the 160 cards.

    Parameters
    ----------
    decks
        Shape (games, 2, 30): base ids.

    Returns
    -------
    int8 array
        Shape (games, 2, 160).
    """
    copies = np.zeros((*decks.shape[:2], len(cards_1x())), np.int8)
    game, player = np.indices(decks.shape[:2])
    for cards in np.moveaxis(decks, 2, 0):
        np.add.at(copies, (game, player, cards - 1), 1)
    return copies


def fit_card_values(differences: NDArray[Any], won: NDArray[Any]) -> tuple[dict[int, float], float]:
    """Fit the value of each card to games.

    Parameters
    ----------
    differences
        Shape (games, 160): the `copies_of` the deck of player 0 minus those of player 1.
    won
        Shape (games,): 1 where player 0 has won, else 0.

    Returns
    -------
    values : dict of int to float
        Base id -> value, the best card first: a deviation from the mean card, in hundredths of a
        game at even odds, to two digits.
    loss : float
        The mean log loss on held-out games, in nats.

    Raises
    ------
    ValueError
        There are fewer than two games.
    """
    if len(won) < 2:
        raise ValueError("nothing to fit: no games")
    losses = [_held_out_loss(differences, won, variance) for variance in _VARIANCES]
    best = int(np.argmin(losses))
    advantage, values = _fit(differences, won, _VARIANCES[best])
    values = HUNDREDTHS * (values - values.mean())
    _log.info(
        "%d games: loss %.4f on held-out games, at variance %s; player 0 %+.1f; values %.2f about"
        " their mean",
        len(won), losses[best], _VARIANCES[best], HUNDREDTHS * advantage, np.std(values),
    )  # fmt: skip
    rounded = zip(cards_1x(), np.round(values, 2).tolist(), strict=True)
    ranked = sorted(rounded, key=lambda pair: (-pair[1], pair[0].base_id))
    return {card.base_id: value for card, value in ranked}, float(losses[best])


def _fit(differences: NDArray[Any], won: NDArray[Any], variance: float) -> tuple[float, _Array]:
    """Return player 0's advantage and the value of each card, as log-odds.

    The values of properties and the deviations from them are modelled as normal with mean 0; the
    latter with this variance. The advantage is free.
    """
    table = _standard_properties()
    like = np.array(equal_cards_1x())
    tied = np.zeros(differences.shape)  # all copies of equal cards count for the first of them
    for card, first in enumerate(like):
        tied[:, first] += differences[:, card]
    columns = np.column_stack([tied @ table, tied]).astype(np.float64)
    precision = np.repeat([1 / _PROPERTY_VARIANCE, 1 / variance], [table.shape[1], len(table)])
    prior = np.zeros(columns.shape[1])
    weights, advantage, _ = fit_logistic(columns, won, prior, precision)
    worth, deviations = np.split(weights, [table.shape[1]])
    return advantage, (table @ worth + deviations)[like]


def _held_out_loss(differences: NDArray[Any], won: NDArray[Any], variance: float) -> float:
    """Return the log loss of games, predicted from the other games."""
    fold = np.arange(len(won)) % _FOLDS
    losses = []
    for k in range(min(_FOLDS, len(won))):
        advantage, values = _fit(differences[fold != k], won[fold != k], variance)
        odds = advantage + differences[fold == k] @ values
        losses.extend(np.logaddexp(0, odds) - won[fold == k] * odds)
    return float(np.mean(losses))


def _properties(card: Card) -> list[float]:
    """Return the printed properties of a card as numbers."""
    creature = card.type == CardType.CREATURE
    body = card.cost, max(card.cost - 6, 0), abs(card.attack), min(abs(card.defense), 12)
    flags = [letter in card.abilities for letter in ABILITIES]
    return [
        card.my_health_change,
        card.opponent_health_change,
        card.card_draw,
        *(card.type == kind for kind in CardType),
        *(number * creature for number in body),
        *(number * (not creature) for number in body),
        *(flag * (card.type == kind) for kind in CardType for flag in flags),
        *(flag * creature * card.attack for flag in flags),
    ]


@cache
def _standard_properties() -> _Array:
    """Return a row for each of the 160 cards; each column has mean 0 and standard deviation 1."""
    table = np.array([_properties(card) for card in cards_1x()], float)
    table = table[:, table.std(axis=0) > 0]
    standard: _Array = (table - table.mean(axis=0)) / table.std(axis=0)
    return standard

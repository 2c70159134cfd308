"""The value of decks in a draft of rules 1.2 and 1.0 in PyTorch, for training.

A small ensemble starts from the values of cards and learns the value of a deck beyond their sum;
`locmsim.decks.draft_value` uses it for play.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks.draft_value import DRAFT_SHAPES
from locmsim.decks.value import term_rows
from locmsim.rules.cards import cards_1x, equal_cards_1x
from locmsim.tuning.card_values import HUNDREDTHS
from locmsim.tuning.training import Array, Tensor, parameters, torch, train

#: Training parameters: few epochs and strong weight decay, since a network trained longer memorises
#: single games.
_EPOCHS = 6
_RATE = 1e-2
_DECAY = {"card": 1.0, "terms": 0.1, "output": 0.1, "direct": 1e-3}
#: Divisor of sums over a deck, and standard deviation of the initial values.
_SUMS = 5.0
_OFF_CENTRE = 0.5


def train_draft_value(
    copies: NDArray[Any], won: NDArray[Any], values: Mapping[int, float], *, seed: int = 0
) -> tuple[dict[str, Array], float]:
    """Train a network of a `locmsim.decks.draft_value.DraftValue`.

    Parameters
    ----------
    copies
        Shape (games, 2, 160): `copies_of` the decks.
    won
        Shape (games,): 1 where player 0 has won, else 0.
    values
        Base id -> value of the card in hundredths of a game, from which the network starts.
    seed
        Seed of the initial arrays and the order of the games.

    Returns
    -------
    arrays : dict of str to float32 array
        For `DraftValue`.
    loss : float
        The mean loss in the last epoch, in nats per game.

    Raises
    ------
    ValueError
        There are no games.
    """
    if not len(won):
        raise ValueError("nothing to train on: no games")
    rng = np.random.default_rng(seed)
    model = DraftModel(copies, values, rng)
    loss = train(model, np.arange(len(won)), won, epochs=_EPOCHS, rng=rng, decay=_DECAY, rate=_RATE)
    return model.value(), loss


class DraftModel:
    """The value of decks as a `Model` whose rows are indices of games.

    The contribution of a card to the units is a sum over its `CARD_TERMS` and its own deviation.
    Cards that differ in base id and name alone share the numbers of the first (`equal_cards_1x`).
    """

    def __init__(
        self, copies: NDArray[Any], values: Mapping[int, float], rng: np.random.Generator
    ) -> None:
        terms = term_rows(cards_1x())
        terms = terms[:, terms.std(axis=0) > 0]
        terms = (terms - terms.mean(axis=0)) / terms.std(axis=0) / terms.shape[1] ** 0.5
        self._terms = torch.from_numpy(terms)
        self._copies = copies
        self._like = torch.tensor(equal_cards_1x())
        cards, units = DRAFT_SHAPES["card"]
        from_terms = rng.standard_normal((terms.shape[1], units)).astype(np.float32)
        centre = copies.mean(axis=(0, 1)) @ (terms @ from_terms) / _SUMS
        self.arrays = parameters(
            {
                "terms": from_terms,
                "card": np.zeros((cards, units)),
                "bias": _OFF_CENTRE * rng.standard_normal(units) - centre,
                "output": np.zeros(units),
                "direct": np.array([values[i] for i in range(1, cards + 1)]) / HUNDREDTHS,
                # Player 0's advantage apart from the decks.
                "advantage": np.zeros(()),
            }
        )

    def _cards(self) -> Tensor:
        return (self._terms @ self.arrays["terms"] + self.arrays["card"])[self._like]

    def _direct(self) -> Tensor:
        return self.arrays["direct"][self._like]

    def __call__(self, rows: NDArray[Any]) -> Tensor:
        """Return the log-odds that player 0 wins each of these games."""
        w = self.arrays
        copies = torch.from_numpy(self._copies[rows].astype(np.float32))
        units = (copies @ self._cards() / _SUMS + w["bias"]).relu()
        values = units @ w["output"] + copies @ self._direct()
        return values[:, 0] - values[:, 1] + w["advantage"]

    def value(self) -> dict[str, Array]:
        """Return the arrays for `DraftValue`."""
        tensors = {**self.arrays, "card": self._cards() / _SUMS, "direct": self._direct()}
        return {name: tensors[name].detach().numpy().copy() for name in DRAFT_SHAPES}

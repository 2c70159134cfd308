"""The training loop of small networks, in numpy: Adam on the log loss of results.

Positions and decks have networks of their own; each is a `Model` here, which computes its output
and gradients for many rows at a time. Searches and deck builders run the compiled ones.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["RATE", "Array", "Model", "train"]

Array = NDArray[np.float32]

#: Rows of a step, and the longest step of a weight that starts from nothing.
_BATCH = 1024
RATE = 3e-3
#: Part of the steps in which they grow to that; then they become shorter.
_WARM_UP = 0.1
#: By this part of a step weights shrink.
_DECAY = 1e-4
#: How slowly the means of the gradient and of its square follow (Adam).
_MEANS = 0.9, 0.999


class Model(Protocol):
    """Something whose `arrays` can be trained."""

    arrays: dict[str, Array]

    def forward(self, rows: NDArray[Any]) -> tuple[NDArray[Any], Any]:
        """The log-odds, and whatever `gradients` needs."""

    def gradients(self, layers: Any, logits: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The derivatives of a sum over the rows, given those by the `logits`."""


def train(
    model: Model,
    rows: NDArray[Any],
    won: NDArray[Any],
    *,
    epochs: int,
    chance: np.random.Generator,
    decay: Mapping[str, float] | None = None,
    rate: float = RATE,
) -> float:
    """Train the arrays of a model, in place, to predict results from rows.

    By Adam, with a step that grows and then shrinks, on the mean of the negative logarithm of the
    chance that the model gave to each result.

    Parameters
    ----------
    model
        Whose `arrays` change.
    rows
        Shape (rows, ...): whatever the model takes.
    won
        Shape (rows,): 1 where the result that the model predicts came about, else 0.
    epochs
        How often each row is seen.
    chance
        Of the order in which they are seen.
    decay
        Name of an array -> by which part of a step it shrinks, if not by the usual one.
    rate
        The longest step of a weight.

    Returns
    -------
    float
        The mean loss in the last epoch, nats a row.

    Raises
    ------
    ValueError
        Without rows.
    """
    if not len(won):
        raise ValueError("nothing to train on: no rows")
    decays = dict.fromkeys(model.arrays, _DECAY) | dict(decay or {})
    first = {name: np.zeros_like(array) for name, array in model.arrays.items()}
    second = {name: np.zeros_like(array) for name, array in model.arrays.items()}
    batches = -(-len(won) // _BATCH)
    loss = 0.0
    for epoch in range(epochs):
        order = chance.permutation(len(won))
        losses = 0.0
        for batch in range(batches):
            picked = order[batch * _BATCH : (batch + 1) * _BATCH]
            logits, layers = model.forward(rows[picked])
            target = won[picked].astype(np.float32)
            losses += float(np.logaddexp(0, np.where(target > 0, -logits, logits)).sum())
            errors = 1 / (1 + np.exp(-logits)) - target
            step = epoch * batches + batch + 1
            pace = rate * _pace(step / (epochs * batches))
            for name, gradient in model.gradients(layers, errors / len(picked)).items():
                first[name] += (1 - _MEANS[0]) * (gradient - first[name])
                second[name] += (1 - _MEANS[1]) * (gradient**2 - second[name])
                mean = first[name] / (1 - _MEANS[0] ** step)
                size = np.sqrt(second[name] / (1 - _MEANS[1] ** step)) + 1e-8
                model.arrays[name] -= pace * (mean / size + decays[name] * model.arrays[name])
        loss = losses / len(won)
    return loss


def _pace(progress: float) -> float:
    if progress < _WARM_UP:
        return progress / _WARM_UP
    return 0.5 + 0.5 * float(np.cos(np.pi * (progress - _WARM_UP) / (1 - _WARM_UP)))

"""The training loop of small networks, in PyTorch: AdamW on the log loss of results.

Positions, decks and drafts have separate networks; each is a `Model` here, whose tensors are named
like the arrays in a weights file. Searches and deck builders run the compiled networks, which do
not need PyTorch.

The same rows and seed give the same arrays on one machine: training runs on the CPU in one thread.
"""

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

try:
    import torch as torch
    from torch import Tensor as Tensor
except ModuleNotFoundError:
    raise ImportError(
        "training networks needs PyTorch, which is not installed: pip install 'locmsim[train]'"
    ) from None

Array = NDArray[np.float32]

#: Batch size, and highest learning rate of a network trained from scratch.
_BATCH = 1024
RATE = 3e-3
#: Share of the steps in which the learning rate rises; afterwards it falls.
_WARM_UP = 0.1
#: Default weight decay.
_DECAY = 1e-4


class Model(Protocol):
    """A model whose `arrays` can be trained."""

    arrays: dict[str, Tensor]

    def __call__(self, rows: NDArray[Any]) -> Tensor:
        """Return the log-odds of each row."""


def parameters(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Return copies of arrays as trainable tensors."""
    return {
        name: torch.tensor(array, dtype=torch.float32, requires_grad=True)
        for name, array in arrays.items()
    }


def log_odds(model: Model, rows: NDArray[Any]) -> Array:
    """Return the log-odds of each row, computed in batches as in training."""
    with _one_thread(), torch.no_grad():
        parts = [model(part).numpy() for part in _batches(rows)]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def train(
    model: Model,
    rows: NDArray[Any],
    won: NDArray[Any],
    *,
    epochs: int,
    rng: np.random.Generator,
    decay: Mapping[str, float] | None = None,
    rate: float = RATE,
) -> float:
    """Train the arrays of a model, in place, to predict results from rows.

    The optimizer is AdamW with a learning rate that rises and then falls; the loss is the mean log
    loss of the results.

    Parameters
    ----------
    model
        The model, whose `arrays` change.
    rows
        Shape (rows, ...): the inputs of the model.
    won
        Shape (rows,): 1 where the predicted result occurred, else 0; or its probability.
    epochs
        Number of epochs.
    rng
        Random numbers for the order of the rows.
    decay
        Name of an array -> its weight decay, if it differs from the default.
    rate
        The highest learning rate.

    Returns
    -------
    float
        The mean loss in the last epoch, in nats per row.

    Raises
    ------
    ValueError
        There are no rows.
    """
    if not len(won):
        raise ValueError("nothing to train on: no rows")
    decays = dict.fromkeys(model.arrays, _DECAY) | dict(decay or {})
    groups = [{"params": [w], "weight_decay": decays[name]} for name, w in model.arrays.items()]
    steps = epochs * math.ceil(len(won) / _BATCH)
    optimizer = torch.optim.AdamW(groups, lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: _pace((done + 1) / steps))
    losses: list[float] = []
    with _one_thread():
        for _ in range(epochs):
            losses = []
            for picked in _batches(rng.permutation(len(won))):
                target = torch.from_numpy(won[picked].astype(np.float32))
                loss = torch.nn.functional.binary_cross_entropy_with_logits(
                    model(rows[picked]), target
                )
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(loss.item() * len(picked))
    return math.fsum(losses) / len(won)


def _batches(rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (rows[first : first + _BATCH] for first in range(0, len(rows), _BATCH))


def _pace(progress: float) -> float:
    if progress < _WARM_UP:
        return progress / _WARM_UP
    return 0.5 + 0.5 * math.cos(math.pi * (progress - _WARM_UP) / (1 - _WARM_UP))


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread: more would change the order of sums, and small networks gain little."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

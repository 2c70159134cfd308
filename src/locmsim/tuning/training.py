"""The training loop of small networks, in PyTorch: AdamW on the log loss of results.

Positions, decks and drafts have networks of their own; each is a `Model` here, made of tensors by
the names of the arrays in a weights file. Searches and deck builders run the compiled ones, which
need no PyTorch.

The same rows and seed give the same arrays on a machine: it trains on the CPU, in one thread.
"""

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

try:
    import torch
    from torch import Tensor
except ModuleNotFoundError:
    raise ImportError(
        "training networks needs PyTorch, which is not installed: pip install 'locmsim[train]'"
    ) from None

__all__ = ["RATE", "Array", "Model", "Tensor", "log_odds", "parameters", "torch", "train"]

Array = NDArray[np.float32]

#: Rows of a step, and the longest step of a weight that starts from nothing.
_BATCH = 1024
RATE = 3e-3
#: Part of the steps in which they grow to that; then they become shorter.
_WARM_UP = 0.1
#: By this part of a step weights shrink.
_DECAY = 1e-4


class Model(Protocol):
    """Something whose `arrays` can be trained."""

    arrays: dict[str, Tensor]

    def __call__(self, rows: NDArray[Any]) -> Tensor:
        """Return the log-odds of each row."""


def parameters(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Arrays as tensors that can be trained, copied."""
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

    By AdamW, with a step that grows and then shrinks, on the mean of the negative logarithm of the
    probability that the model gave to each result.

    Parameters
    ----------
    model
        Whose `arrays` change.
    rows
        Shape (rows, ...): whatever the model takes.
    won
        Shape (rows,): 1 where the predicted result came about, else 0; or its probability.
    epochs
        How often each row is seen.
    rng
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
    """More of them would add up in another order, and such networks gain little by it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

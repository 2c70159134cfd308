"""The network that foretells the result of a game, learnt from positions and who won.

`_network.pxd` says what it looks like and runs it in searches; here it is in numpy, to learn it.

    >>> import numpy as np
    >>> from locmsim.game.match import Match
    >>> from locmsim.networks.network import Network, inputs, learn
    >>> match = Match(seed=1)
    >>> _ = match.submit(0, "PASS"), match.submit(1, "PASS")
    >>> seen = inputs(match.state, 0)
    >>> arrays, loss = learn(np.stack([seen, seen]), np.array([1, 1]), epochs=200)
    >>> Network(arrays)(match.state, 0) > 1
    True
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from locmsim.networks._network import BLOCKS, SHAPES, Network, inputs

__all__ = ["BLOCKS", "SHAPES", "Network", "descend", "inputs", "learn", "listed"]

_Array = NDArray[np.float32]

#: Positions of a step, and the longest step of a weight.
_BATCH = 1024
_RATE = 3e-3
#: Part of the steps in which they grow to that; then they become shorter.
_WARM_UP = 0.1
#: By this part of a step weights shrink.
_DECAY = 1e-4
#: How slowly the means of the gradient and of its square follow (Adam).
_MEANS = 0.9, 0.999
#: Positions by whose spread inputs are scaled.
_SAMPLE = 100_000
#: Arrays that begin with zeros.
_ZERO = {"lane_bias", "hidden_bias", "deeper_bias", "direct"}


def listed(arrays: Mapping[str, NDArray[np.float32]]) -> dict[str, Any]:
    """Arrays as lists for a file of text, their numbers cut to five digits."""

    def cut(numbers: Any) -> Any:
        return [*map(cut, numbers)] if isinstance(numbers, list) else float(f"{numbers:.5g}")

    return {name: cut(array.tolist()) for name, array in arrays.items()}


class Model(Protocol):
    """Something whose `arrays` can be learnt."""

    arrays: dict[str, _Array]

    def forward(self, rows: NDArray[Any]) -> tuple[NDArray[Any], Any]:
        """The logarithms of the odds, and whatever `gradients` needs."""

    def gradients(self, layers: Any, logits: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The derivatives of a sum over the rows, given those by the `logits`."""


def learn(
    positions: NDArray[Any], won: NDArray[Any], *, epochs: int = 8, seed: int = 0
) -> tuple[dict[str, _Array], float]:
    """The arrays of a `Network` that foretells results, and the mean loss (nats) in the last epoch.

    `positions` has a row of `inputs` for each result in `won` (0 or 1), all of one rule set.
    ``ValueError`` without rows.
    """
    if not len(won):
        raise ValueError("nothing to learn from: no positions")
    chance = np.random.default_rng(seed)
    model = _Positions(positions, chance)
    loss = descend(model, positions, won, epochs=epochs, chance=chance)
    return model.unscaled(), loss


def descend(
    model: Model,
    rows: NDArray[Any],
    won: NDArray[Any],
    *,
    epochs: int,
    chance: np.random.Generator,
    decay: Mapping[str, float] | None = None,
) -> float:
    """Learn the arrays of a model from rows and results; the mean loss (nats) in the last epoch.

    By Adam, with a step that grows and then shrinks, on the mean of the negative logarithm of the
    chance that the model gave to each result. `decay` says for arrays by which part of a step they
    shrink, if not by the usual one.
    """
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
            rate = _RATE * _pace(step / (epochs * batches))
            for name, gradient in model.gradients(layers, errors / len(picked)).items():
                first[name] += (1 - _MEANS[0]) * (gradient - first[name])
                second[name] += (1 - _MEANS[1]) * (gradient**2 - second[name])
                mean = first[name] / (1 - _MEANS[0] ** step)
                size = np.sqrt(second[name] / (1 - _MEANS[1] ** step)) + 1e-8
                model.arrays[name] -= rate * (mean / size + decays[name] * model.arrays[name])
        loss = losses / len(won)
    return loss


def _pace(progress: float) -> float:
    if progress < _WARM_UP:
        return progress / _WARM_UP
    return 0.5 + 0.5 * float(np.cos(np.pi * (progress - _WARM_UP) / (1 - _WARM_UP)))


class _Positions:
    """The network on many positions at a time, its inputs divided by their spread."""

    def __init__(self, positions: NDArray[Any], chance: np.random.Generator) -> None:
        sample = _blocks(positions[:_SAMPLE])
        self.spread = {
            "creature": _spread(sample["creatures"]),
            "card": _spread(sample["hand"]),
            "other": sample["other"].std(axis=0) + (sample["other"].std(axis=0) < 1e-6),
        }
        #: The slots of each lane.
        self.slots = [np.flatnonzero(sample["lane"][0] == lane) for lane in (0, 1)]
        self.arrays: dict[str, _Array] = {}
        for name, shape in SHAPES.items():
            size = shape[-2:][0] ** -0.5 if shape and name not in _ZERO else 0.0
            self.arrays[name] = np.asarray(size * chance.standard_normal(shape), np.float32)

    def forward(self, positions: NDArray[Any]) -> tuple[_Array, dict[str, _Array]]:
        """The logarithms of the odds, and the layers: what goes into each and comes out."""
        w, n = self.arrays, len(positions)
        seen = _blocks(positions)
        creatures = seen["creatures"] / self.spread["creature"]
        cards = seen["hand"] / self.spread["card"]
        creature = np.maximum(creatures @ w["creature"], 0)
        sums = np.stack([creature[:, :, s].sum(axis=2).reshape(n, -1) for s in self.slots], axis=1)
        lane = np.maximum(sums @ w["lane"] + w["lane_bias"], 0)
        card = np.maximum(cards @ w["card"], 0)
        other = seen["other"] / self.spread["other"]
        joined = np.concatenate([lane.sum(1), sums.sum(1), card.sum(1), other], axis=1)
        hidden = np.maximum(joined @ w["hidden"] + w["hidden_bias"], 0)
        deeper = np.maximum(hidden @ w["deeper"] + w["deeper_bias"], 0)
        logits = deeper @ w["output"] + joined @ w["direct"] + w["output_bias"]
        return logits, {
            "creatures": creatures, "cards": cards, "creature": creature, "sums": sums,
            "lane": lane, "card": card, "joined": joined, "hidden": hidden, "deeper": deeper,
        }  # fmt: skip

    def gradients(self, layers: dict[str, _Array], logits: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Of a sum over the positions, given its derivatives by the `logits`."""
        w, n = self.arrays, len(logits)
        lanes, sums = w["lane"].shape[1], w["card"].shape[1]
        deeper = np.outer(logits, w["output"]) * (layers["deeper"] > 0)
        hidden = deeper @ w["deeper"].T * (layers["hidden"] > 0)
        joined = hidden @ w["hidden"].T + np.outer(logits, w["direct"])
        lane = joined[:, None, :lanes] * (layers["lane"] > 0)
        by_lane = lane @ w["lane"].T + joined[:, None, lanes : lanes + 2 * sums]
        creature = np.empty_like(layers["creature"])
        for number, slots in enumerate(self.slots):
            creature[:, :, slots] = by_lane[:, number].reshape(n, 2, 1, sums)
        creature *= layers["creature"] > 0
        card = joined[:, None, lanes + 2 * sums : lanes + 3 * sums] * (layers["card"] > 0)
        return {
            "creature": np.stack(
                [_product(layers["creatures"][:, i], creature[:, i]) for i in (0, 1)]
            ),
            "card": _product(layers["cards"], card),
            "lane": _product(layers["sums"], lane),
            "lane_bias": lane.sum((0, 1)),
            "hidden": layers["joined"].T @ hidden,
            "hidden_bias": hidden.sum(0),
            "deeper": layers["hidden"].T @ deeper,
            "deeper_bias": deeper.sum(0),
            "output": layers["deeper"].T @ logits,
            "direct": layers["joined"].T @ logits,
            "output_bias": np.asarray(logits.sum()),
        }

    def unscaled(self) -> dict[str, _Array]:
        """The arrays for inputs as they are."""
        w = dict(self.arrays)
        others = len(self.spread["other"])
        joined = np.concatenate(
            [np.ones(len(w["direct"]) - others, np.float32), self.spread["other"]]
        )
        for name, spread in (
            ("creature", self.spread["creature"][:, None]),
            ("card", self.spread["card"][:, None]),
            ("hidden", joined[:, None]),
            ("direct", joined),
        ):
            w[name] = (w[name] / spread).astype(np.float32)
        return w


def _blocks(positions: NDArray[Any]) -> dict[str, _Array]:
    ends = np.cumsum([np.prod(shape) for shape in BLOCKS.values()])[:-1]
    return {
        name: part.reshape(len(positions), *shape).astype(np.float32)
        for (name, shape), part in zip(
            BLOCKS.items(), np.split(positions, ends, axis=1), strict=True
        )
    }


def _spread(things: _Array) -> _Array:
    """Of creatures or cards, over those that there are."""
    there = things.reshape(-1, things.shape[-1])
    there = there[there[:, 0] > 0]
    spread = there.std(axis=0) if len(there) else np.zeros(there.shape[1], np.float32)
    return spread + (spread < 1e-6)


def _product(inputs: NDArray[Any], outputs: NDArray[Any]) -> _Array:
    """The derivatives by weights that are the same for all things of a position."""
    return np.tensordot(inputs, outputs, ([0, 1], [0, 1])).astype(np.float32)

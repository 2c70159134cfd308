"""The value network of positions in numpy, to train it.

`networks/_network.pxd` says what it looks like and runs it in searches.

    >>> import numpy as np
    >>> from locmsim import Match
    >>> from locmsim.networks import Network, inputs
    >>> from locmsim.tuning.positions import train_network
    >>> match = Match(seed=1)
    >>> _ = match.submit(0, "PASS"), match.submit(1, "PASS")
    >>> seen = inputs(match.state, 0)
    >>> arrays, loss = train_network(np.stack([seen, seen]), np.array([1, 1]), epochs=200)
    >>> Network(arrays)(match.state, 0) > 1
    True
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.networks import BLOCKS, SHAPES
from locmsim.tuning.training import Array, train

__all__ = ["PositionModel", "train_network"]

#: Positions by whose spread inputs are scaled.
_SAMPLE = 100_000
#: Arrays that begin with zeros.
_ZERO = {"lane_bias", "hidden_bias", "deeper_bias", "direct"}


def train_network(
    positions: NDArray[Any], won: NDArray[Any], *, epochs: int = 8, seed: int = 0
) -> tuple[dict[str, Array], float]:
    """Train a value network.

    Parameters
    ----------
    positions
        Shape (positions, inputs): `locmsim.networks.inputs` of each, all of one rule set.
    won
        Shape (positions,): 1 if the player whose turn ends there has won, else 0.
    epochs
        How often each position is seen.
    seed
        Of the first weights and of the order of the positions.

    Returns
    -------
    arrays : dict of str to float32 array
        For `locmsim.networks.Network`.
    loss : float
        The mean loss in the last epoch, nats a position.

    Raises
    ------
    ValueError
        Without positions.
    """
    if not len(won):
        raise ValueError("nothing to train on: no positions")
    chance = np.random.default_rng(seed)
    model = PositionModel(positions, chance)
    loss = train(model, positions, won, epochs=epochs, chance=chance)
    return model.unscaled(), loss


class PositionModel:
    """The network on many positions at a time, its inputs divided by their spread: a `Model`."""

    def __init__(self, positions: NDArray[Any], chance: np.random.Generator) -> None:
        sample = _blocks(positions[:_SAMPLE])
        self.spread = {
            "creature": _spread(sample["creatures"]),
            "card": _spread(sample["hand"]),
            "other": sample["other"].std(axis=0) + (sample["other"].std(axis=0) < 1e-6),
        }
        #: The slots of each lane.
        self.slots = [np.flatnonzero(sample["lane"][0] == lane) for lane in (0, 1)]
        self.arrays: dict[str, Array] = {}
        for name, shape in SHAPES.items():
            size = shape[-2:][0] ** -0.5 if shape and name not in _ZERO else 0.0
            self.arrays[name] = np.asarray(size * chance.standard_normal(shape), np.float32)

    def forward(self, positions: NDArray[Any]) -> tuple[Array, dict[str, Array]]:
        """The log-odds, and the layers: what goes into each and comes out."""
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

    def gradients(self, layers: dict[str, Array], logits: NDArray[Any]) -> dict[str, NDArray[Any]]:
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

    def unscaled(self) -> dict[str, Array]:
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


def _blocks(positions: NDArray[Any]) -> dict[str, Array]:
    ends = np.cumsum([np.prod(shape) for shape in BLOCKS.values()])[:-1]
    return {
        name: part.reshape(len(positions), *shape).astype(np.float32)
        for (name, shape), part in zip(
            BLOCKS.items(), np.split(positions, ends, axis=1), strict=True
        )
    }


def _spread(things: Array) -> Array:
    """Of creatures or cards, over those that there are."""
    there = things.reshape(-1, things.shape[-1])
    there = there[there[:, 0] > 0]
    spread = there.std(axis=0) if len(there) else np.zeros(there.shape[1], np.float32)
    return spread + (spread < 1e-6)


def _product(inputs: NDArray[Any], outputs: NDArray[Any]) -> Array:
    """The derivatives by weights that are the same for all things of a position."""
    return np.tensordot(inputs, outputs, ([0, 1], [0, 1])).astype(np.float32)

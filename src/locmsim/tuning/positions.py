"""The value network of positions in PyTorch, for training.

`networks/_network.pxd` describes it and runs it in searches.

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
from locmsim.tuning.training import Array, Tensor, parameters, torch, train

__all__ = ["PositionModel", "train_network"]

#: Number of positions whose standard deviation scales the inputs.
_SAMPLE = 100_000
#: Arrays that are initially zero.
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
        Number of epochs.
    seed
        Seed of the initial weights and the order of the positions.

    Returns
    -------
    arrays : dict of str to float32 array
        For `locmsim.networks.Network`.
    loss : float
        The mean loss in the last epoch, in nats per position.

    Raises
    ------
    ValueError
        There are no positions.
    """
    if not len(won):
        raise ValueError("nothing to train on: no positions")
    rng = np.random.default_rng(seed)
    model = PositionModel(positions, rng)
    loss = train(model, positions, won, epochs=epochs, rng=rng)
    return model.unscaled(), loss


class PositionModel:
    """The network as a `Model`; its inputs are divided by their standard deviation."""

    def __init__(self, positions: NDArray[Any], rng: np.random.Generator) -> None:
        sample = _blocks(positions[:_SAMPLE])
        self.scales = {
            "creature": _scales(sample["creatures"]),
            "card": _scales(sample["hand"]),
            "other": sample["other"].std(axis=0) + (sample["other"].std(axis=0) < 1e-6),
        }
        #: The slots of each lane.
        self.slots = [np.flatnonzero(sample["lane"][0] == lane) for lane in (0, 1)]
        arrays = {}
        for name, shape in SHAPES.items():
            size = shape[-2:][0] ** -0.5 if shape and name not in _ZERO else 0.0
            arrays[name] = np.asarray(size * rng.standard_normal(shape))
        self.arrays = parameters(arrays)

    def __call__(self, rows: NDArray[Any]) -> Tensor:
        """Return the log-odds of each position."""
        w, n = self.arrays, len(rows)
        seen = _blocks(rows)
        creatures = torch.from_numpy(seen["creatures"] / self.scales["creature"])
        cards = torch.from_numpy(seen["hand"] / self.scales["card"])
        other = torch.from_numpy(seen["other"] / self.scales["other"])
        # For each position, side and slot; each side has its own weights.
        creature = torch.einsum("nsci,sio->nsco", creatures, w["creature"]).relu()
        sums = torch.stack([creature[:, :, s].sum(2).reshape(n, -1) for s in self.slots], dim=1)
        lane = (sums @ w["lane"] + w["lane_bias"]).relu()
        card = (cards @ w["card"]).relu()
        joined = torch.cat([lane.sum(1), sums.sum(1), card.sum(1), other], dim=1)
        hidden = (joined @ w["hidden"] + w["hidden_bias"]).relu()
        deeper = (hidden @ w["deeper"] + w["deeper_bias"]).relu()
        return deeper @ w["output"] + joined @ w["direct"] + w["output_bias"]

    def unscaled(self) -> dict[str, Array]:
        """Return the arrays for unscaled inputs."""
        arrays = {name: tensor.detach().numpy() for name, tensor in self.arrays.items()}
        others = len(self.scales["other"])
        joined = np.concatenate(
            [np.ones(len(arrays["direct"]) - others, np.float32), self.scales["other"]]
        )
        scales = {
            "creature": self.scales["creature"][:, None],
            "card": self.scales["card"][:, None],
            "hidden": joined[:, None],
            "direct": joined,
        }
        return {
            name: (array / scales.get(name, 1)).astype(np.float32) for name, array in arrays.items()
        }


def _blocks(positions: NDArray[Any]) -> dict[str, Array]:
    ends = np.cumsum([np.prod(shape) for shape in BLOCKS.values()])[:-1]
    return {
        name: part.reshape(len(positions), *shape).astype(np.float32)
        for (name, shape), part in zip(
            BLOCKS.items(), np.split(positions, ends, axis=1), strict=True
        )
    }


def _scales(things: Array) -> Array:
    """Return the standard deviation over the creatures or cards that exist."""
    there = things.reshape(-1, things.shape[-1])
    there = there[there[:, 0] > 0]
    scales = there.std(axis=0) if len(there) else np.zeros(there.shape[1], np.float32)
    return scales + (scales < 1e-6)

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

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.networks import BLOCKS, LARGE_SHAPES, SHAPES
from locmsim.networks._network import shapes_of
from locmsim.networks.weights import Arrays
from locmsim.tuning.training import RATE, Array, Tensor, log_odds, parameters, torch, train

#: Number of positions whose standard deviation scales the inputs.
_SAMPLE = 100_000
#: Arrays that are initially zero.
_ZERO = {"lane_bias", "hidden_bias", "deeper_bias", "direct"}


def train_network(
    positions: NDArray[Any],
    won: NDArray[Any],
    *,
    large: bool = False,
    start: Arrays | None = None,
    epochs: int = 8,
    rate: float = RATE,
    seed: int = 0,
) -> tuple[dict[str, Array], float]:
    """Train a value network.

    Parameters
    ----------
    positions
        Shape (positions, inputs): `locmsim.networks.inputs` of each, all of one rule set.
    won
        Shape (positions,): 1 if the player whose turn ends there has won, else 0; or the
        probability of it.
    large
        Whether the network is of the large size.
    start
        Initial arrays, instead of random ones: those of a network of the same or the small size.
        Where the size differs, the units that are added change nothing at first.
    epochs
        Number of epochs.
    rate
        The highest learning rate; use a low one to continue from arrays trained on more games.
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
        There are no positions, or the initial network is large where a small one is trained.
    """
    if not len(won):
        raise ValueError("nothing to train on: no positions")
    rng = np.random.default_rng(seed)
    model = PositionModel(positions, rng, LARGE_SHAPES if large else SHAPES, start)
    loss = train(model, positions, won, epochs=epochs, rng=rng, rate=rate)
    return model.unscaled(), loss


def network_loss(arrays: Arrays, positions: NDArray[Any], won: NDArray[Any]) -> float:
    """Return the mean log loss of a network's predictions, in nats per position.

    Parameters
    ----------
    arrays
        The network.
    positions, won
        As for `train_network`.
    """
    model = PositionModel(positions, np.random.default_rng(0), shapes_of(arrays), arrays)
    odds = log_odds(model, positions)
    return float(np.mean(np.logaddexp(0, odds) - won * odds))


class PositionModel:
    """The network as a `Model`; its inputs are divided by their standard deviation."""

    def __init__(
        self,
        positions: NDArray[Any],
        rng: np.random.Generator,
        shapes: Mapping[str, tuple[int, ...]] = SHAPES,
        start: Arrays | None = None,
    ) -> None:
        sample = _blocks(positions[:_SAMPLE])
        self.scales = {
            "creature": _scales(sample["creatures"]),
            "card": _scales(sample["hand"]),
            "other": sample["other"].std(axis=0) + (sample["other"].std(axis=0) < 1e-6),
        }
        #: The slots of each lane.
        self.slots = [np.flatnonzero(sample["lane"][0] == lane) for lane in (0, 1)]
        arrays = {}
        for name, shape in shapes.items():
            size = shape[-2:][0] ** -0.5 if shape and name not in _ZERO else 0.0
            arrays[name] = np.asarray(size * rng.standard_normal(shape))
        if start is not None:
            _put(arrays, {name: array * self._scale(name, start) for name, array in start.items()})
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
        return {
            name: (array / self._scale(name, arrays)).astype(np.float32)
            for name, array in arrays.items()
        }

    def _scale(self, name: str, arrays: Arrays) -> Array:
        """Return the divisors of the inputs that the rows of an array belong to."""
        if name in ("creature", "card"):
            return np.asarray(self.scales[name][:, None], np.float32)
        if name not in ("hidden", "direct"):
            return np.ones((), np.float32)
        others = self.scales["other"]
        units = np.ones(len(arrays["direct"]) - len(others), np.float32)
        joined: Array = np.concatenate([units, others]).astype(np.float32)
        return joined[:, None] if name == "hidden" else joined


def _put(arrays: dict[str, NDArray[Any]], start: Mapping[str, NDArray[Any]]) -> None:
    """Put a network into a larger one, whose other units get no weight in what follows them.

    The rows of the two layers that take several groups of units are told by `_rows`.
    """
    if start["hidden"].size > arrays["hidden"].size:
        raise ValueError("start: a large network, where a small one is trained")
    for name, array in start.items():
        to, units = arrays[name], array.shape[-1:]
        if name in ("creature", "card"):
            to[..., : units[0]] = array
        elif name == "output_bias":
            to[...] = array
        elif to.ndim == 2:
            to[:, : units[0]] = 0
            to[_rows(name, arrays, start), : units[0]] = array
        elif name in ("output", "direct"):
            to[:] = 0
            to[_rows(name, arrays, start)] = array
        else:
            to[: units[0]] = array


def _rows(
    name: str, arrays: Mapping[str, NDArray[Any]], start: Mapping[str, NDArray[Any]]
) -> NDArray[Any]:
    """Return the rows of a larger network's array that those of a smaller one become."""
    sums, wide_sums = start["card"].shape[1], arrays["card"].shape[1]
    lanes, wide_lanes = start["lane"].shape[1], arrays["lane"].shape[1]
    of_sums = np.concatenate([k * wide_sums + np.arange(sums) for k in range(3)])
    if name == "lane":
        return of_sums[: 2 * sums]
    if name in ("hidden", "direct"):
        others = BLOCKS["other"][0]
        of_others = wide_lanes + 3 * wide_sums + np.arange(others)
        return np.concatenate([np.arange(lanes), wide_lanes + of_sums, of_others])
    return np.arange(len(start[name]))


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

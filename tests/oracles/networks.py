"""The networks of positions and of decks, in NumPy, for one input at a time."""

from collections.abc import Mapping, Sequence

import numpy as np

from locmsim.networks import BLOCKS

Arrays = Mapping[str, np.ndarray]


def blocks(inputs: np.ndarray) -> dict[str, np.ndarray]:
    """Return the parts of a network's inputs for a position, by the names of `BLOCKS`."""
    ends = np.cumsum([np.prod(shape) for shape in BLOCKS.values()])[:-1]
    parts = zip(BLOCKS.items(), np.split(inputs, ends), strict=True)
    return {name: part.reshape(shape).astype(float) for (name, shape), part in parts}


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def position_log_odds(w: Arrays, inputs: np.ndarray) -> float:
    """Return the same as `locmsim.networks.Network`."""
    seen = blocks(inputs)
    sums = np.zeros((2, 2, w["card"].shape[1]))  # by lane and side
    for side in (0, 1):
        for lane, creature in zip(seen["lane"], seen["creatures"][side], strict=True):
            sums[int(lane), side] += relu(creature @ w["creature"][side])
    lanes = sum(relu(of_lane.ravel() @ w["lane"] + w["lane_bias"]) for of_lane in sums)
    cards = sum(relu(card @ w["card"]) for card in seen["hand"])
    joined = np.concatenate([lanes, sums.sum(axis=0).ravel(), cards, seen["other"]])
    hidden = relu(joined @ w["hidden"] + w["hidden_bias"])
    deeper = relu(hidden @ w["deeper"] + w["deeper_bias"])
    return float(deeper @ w["output"] + joined @ w["direct"] + w["output_bias"])


def deck_value(networks: Sequence[Arrays], terms: np.ndarray) -> float:
    """Return the same as `locmsim.decks.value.DeckValue`, from the terms of the cards."""
    values = []
    for w in networks:
        units = relu(terms @ w["card"] + w["card_bias"])
        sums = np.concatenate([terms.sum(axis=0), units.sum(axis=0)])
        hidden = relu(sums @ w["hidden"] + w["hidden_bias"])
        values.append(hidden @ w["output"] + sums @ w["direct"])
    return float(np.mean(values))

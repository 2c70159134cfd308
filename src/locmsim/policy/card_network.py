"""The network that rates the cards of an offer, which `examples/train/choose.py` trains.

All cards, offered or chosen, share an encoder of one layer. The context of the choice is a layer
over the mean of the offered cards, the sum of the chosen cards, and the numbers of the blocks
``pile`` and ``step``. The rating of a card comes from its encoding, how many of it are chosen,
and the context; another output of the context is the value of the position.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from locmsim.game.layouts import Layout
from locmsim.policy._policy import MlpRunner
from locmsim.rules.rulesets import get_rules

_Array = NDArray[np.float32]
#: Numbers of a card; of the pile and the step; layers, each a matrix and its biases.
_CARD, _COUNTS = 24, 17
_LAYERS = ("card", "context", "offer", "adjust", "rating", "value")
#: Divisor of the sum of the chosen cards.
_SUM_SCALE = 10


def card_shapes(units: int = 64, context: int = 128) -> dict[str, tuple[int, ...]]:
    """Return name -> shape of the arrays of a network with layers of these sizes."""
    sizes = {
        "card": (_CARD, units), "context": (2 * units + _COUNTS, context),
        "offer": (units + 1, context), "adjust": (context, context),
        "rating": (context, 1), "value": (context, 1),
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {}
    for name, (inputs, outputs) in sizes.items():
        shapes[f"{name}.w"] = (inputs, outputs)
        shapes[f"{name}.b"] = (outputs,)
    return shapes


class CardRunner:
    """Runs the network; `arrays` must be valid."""

    def __init__(self, arrays: Mapping[str, _Array], layout: Layout) -> None:
        self._sizes = {name: arrays[f"{name}.b"].size for name in _LAYERS}
        self._layers = {
            name: MlpRunner({key: arrays[key] for key in (f"{name}.w", f"{name}.b")}, False)
            for name in _LAYERS
        }
        self._layout = layout
        self._draft = get_rules(layout.rules).draft

    def _layer(self, name: str, x: _Array) -> _Array:
        """Return the output of a layer for inputs (..., numbers)."""
        out = np.empty((*x.shape[:-1], self._sizes[name]), np.float32)
        rows = np.ascontiguousarray(x, np.float32).reshape(-1, x.shape[-1])
        self._layers[name].run(rows, out.reshape(len(rows), -1))
        return out

    def run(self, x: _Array, logits: _Array, values: _Array) -> None:
        """Write logits (rows, offered cards) and values (rows,) of observations (rows, size)."""
        views = self._layout.split(x / self._layout.scale)
        cards = np.maximum(self._layer("card", views["offer"]), 0)
        if self._draft:
            chosen = views["chosen"]
            encoded = np.maximum(self._layer("card", chosen), 0) * chosen[..., :1]
            copies = np.zeros_like(cards[..., :1])
        else:
            copies = views["chosen"]
            encoded = cards * copies
        sums = encoded.sum(1) / np.float32(_SUM_SCALE)
        parts = [cards.mean(1), sums, views["pile"], views["step"]]
        context = np.maximum(self._layer("context", np.concatenate(parts, 1)), 0)
        seen = self._layer("offer", np.concatenate([cards, copies], 2))
        seen += self._layer("adjust", context)[:, None]
        logits[:] = self._layer("rating", np.maximum(seen, 0))[..., 0]
        values[:] = np.tanh(self._layer("value", context)[..., 0])

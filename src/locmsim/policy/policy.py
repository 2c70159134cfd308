"""A trained network with its layout: `Policy`, stored as one file without code.

Two kinds of networks are supported. Both are run by compiled code, without PyTorch.

"entities" uses the layout of that name. Cards in hand, own creatures and enemy creatures have one
shared encoder each. The encodings are summed over the hand and over each lane, and go through a
trunk of two layers together with all features that do not belong to a card. The logit of an action
is the product of a query and a key: of card and lane for SUMMON, of card and target for USE, of
attacker and target for ATTACK; PASS has a logit from the trunk. Another output of the trunk is the
value of the position, -1 to 1. The shapes of the arrays determine the sizes of the layers.

"mlp" is a stack of dense layers over any layout, as in Stable-Baselines3.

"cards" rates the cards of an offer, in the layout "choice": see `locmsim.policy.card_network`.

    >>> import numpy as np
    >>> policy = Policy.random("entities", seed=1)
    >>> observations = np.zeros((2, 440), np.int8)
    >>> masks = np.eye(2, 145, dtype=np.int8)
    >>> policy.act_batch(observations, masks)
    array([0, 1])
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from locmsim.game.layouts import CHOICE, get_layout
from locmsim.networks._network import checked
from locmsim.networks.archives import read_archive, write_archive
from locmsim.policy._policy import EntityRunner, MlpRunner, entity_shapes
from locmsim.policy.base import RatingPolicy
from locmsim.policy.card_network import CardRunner, card_shapes

_FORMAT = 1
_KINDS = ("entities", "mlp", "cards")
_ACTIVATIONS = ("relu", "tanh")
_Array = NDArray[np.float32]
#: Of observations, into logits and values.
_Run: TypeAlias = Callable[[_Array, _Array, _Array], None]


class Policy(RatingPolicy):
    """A network that returns logits of actions, and the layout that it was trained on.

    Parameters
    ----------
    arrays : mapping
        Name -> array. For "entities", those of `locmsim.policy._policy.entity_shapes`, of any
        matching sizes; for "cards", those of `locmsim.policy.card_network.card_shapes`. For "mlp",
        ``policy.0.w`` (inputs, outputs), ``policy.0.b`` and so on, the
        last ones with an output per action; and ``value.0.w`` ... if there is a value.
    meta : mapping
        ``kind``: "entities", "mlp" or "cards"; ``layout`` and ``layout_version``; ``rules``: the
        rule set; ``activation`` of "mlp": "relu" or "tanh"; further JSON values are kept, such as a
        description of the training.

    Raises
    ------
    ValueError
        Something is missing or does not fit; the message names it.
    """

    def __init__(self, arrays: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
        self.meta: dict[str, Any] = {"format": _FORMAT, **meta}
        for key in ("kind", "layout", "layout_version", "rules"):
            if key not in meta:
                raise ValueError(f"policy: {key}: missing")
        if self.meta["format"] != _FORMAT:
            raise ValueError(f"policy: format {self.meta['format']!r}, expected {_FORMAT}")
        super().__init__(self.meta["rules"], self.meta["layout"])
        layout = self._layout
        if self.meta["layout_version"] != layout.version:
            raise ValueError(
                f"policy: trained with version {self.meta['layout_version']!r} of layout"
                f" {layout.name!r}, which is now {layout.version}"
            )
        if self.meta["kind"] == "entities":
            shapes = self._entity_shapes(arrays)
        elif self.meta["kind"] == "cards":
            shapes = self._card_shapes(arrays)
        elif self.meta["kind"] == "mlp":
            activation = self.meta.get("activation")
            if activation not in _ACTIVATIONS:
                raise ValueError(f"policy: activation: expected relu or tanh, got {activation!r}")
            shapes = self._stack_shapes("policy", arrays, layout.actions)
            if "value.0.w" in arrays:
                shapes |= self._stack_shapes("value", arrays, 1)
        else:
            kinds = ", ".join(_KINDS)
            raise ValueError(f"policy: kind: expected one of {kinds}, got {self.meta['kind']!r}")
        self.arrays: dict[str, _Array] = checked("policy", arrays, shapes)
        self._run = self._network()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.arrays, self.meta), {"temperature": self.temperature}

    def _entity_shapes(self, arrays: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
        if self.layout not in ("entities", "entities-f32"):
            raise ValueError(f"policy: an entity network cannot have layout {self.layout!r}")
        units, key = _sizes(arrays, "summon.w", 2)
        (trunk,) = _sizes(arrays, "trunk1.b", 1)
        return entity_shapes(units, trunk, key)

    def _card_shapes(self, arrays: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
        if self.layout != CHOICE:
            raise ValueError(f"policy: a network of cards cannot have layout {self.layout!r}")
        (units,) = _sizes(arrays, "card.b", 1)
        (context,) = _sizes(arrays, "context.b", 1)
        return card_shapes(units, context)

    def _network(self) -> _Run:
        if self.kind == "cards":
            return CardRunner(self.arrays, self._layout).run
        return self._entity_network() if self.kind == "entities" else self._perceptrons()

    def _stack_shapes(
        self, head: str, arrays: Mapping[str, Any], outputs: int
    ) -> dict[str, tuple[int, ...]]:
        """Return the matrices and biases of a head's dense layers, in order."""
        shapes: dict[str, tuple[int, ...]] = {}
        size, layer = self._layout.shape[0], 0
        while layer == 0 or f"{head}.{layer}.w" in arrays:
            _, width = _sizes(arrays, f"{head}.{layer}.w", 2)
            shapes[f"{head}.{layer}.w"] = size, width
            shapes[f"{head}.{layer}.b"] = (width,)
            size, layer = width, layer + 1
        if size != outputs:
            raise ValueError(f"policy: {head}: expected {outputs} outputs, got {size}")
        return shapes

    def _entity_network(self) -> _Run:
        scale = self._layout.scale
        return EntityRunner(
            self.arrays, scale if self.layout == "entities" else np.ones_like(scale)
        ).run

    def _perceptrons(self) -> _Run:
        tanh = self.meta["activation"] == "tanh"
        heads = {
            head: MlpRunner({n: a for n, a in self.arrays.items() if n.startswith(head)}, tanh)
            for head in ("policy", "value")
            if f"{head}.0.w" in self.arrays
        }

        def run(x: _Array, logits: _Array, values: _Array) -> None:
            heads["policy"].run(x, logits)
            if "value" in heads:
                heads["value"].run(x, values.reshape(-1, 1))

        return run

    # ------------------------------------------------------------------------------ what it is

    @property
    def kind(self) -> str:
        """ "entities", "mlp" or "cards"."""
        return str(self.meta["kind"])

    def __repr__(self) -> str:
        size = sum(array.size for array in self.arrays.values())
        return f"<Policy {self.kind} layout={self.layout!r} rules={self.rules} {size} weights>"

    # -------------------------------------------------------------------------------- running

    def rate(self, observations: _Array) -> tuple[_Array, _Array]:
        logits = np.empty((len(observations), self._layout.actions), np.float32)
        values = np.full(len(observations), np.nan, np.float32)
        self._run(observations, logits, values)
        return logits, values

    # ---------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as .npz: its arrays and one JSON text ``meta``.

        That has the version and the digest of the library by which it was first written. If writing
        fails, an existing file is unchanged.

        Parameters
        ----------
        path : str or path
            The file to write.
        """
        from locmsim.support.identity import library

        write_archive(path, {"library": library("locmsim"), **self.meta}, self.arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Policy":
        """Load the policy of a file.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            The file is not a policy; the message says what is wrong.
        """
        try:
            with open(path, "rb") as file:
                meta, arrays = read_archive(file, "policy")
            return cls(arrays, meta)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def random(
        cls, kind: str = "entities", *, rules: str = "1.5", seed: int = 0,
        layout: str | None = None, hidden: tuple[int, ...] | None = None,
    ) -> "Policy":  # fmt: skip
        """Return a policy with random weights, for experiments.

        Parameters
        ----------
        kind : str
            "entities", "mlp" or "cards".
        rules : str
            The rule set.
        seed : int
            The seed of the weights.
        layout : str, optional
            The layout of its observations: by default "entities", that of "cards" is "choice".
        hidden : tuple of int, optional
            The sizes of the hidden layers of "mlp", by default (64, 64).

        Raises
        ------
        ValueError
            The kind is unknown, or does not have such a layout or hidden layers.
        """
        if kind not in _KINDS:
            raise ValueError(f"kind: expected one of {', '.join(_KINDS)}, got {kind!r}")
        if hidden is not None and kind != "mlp":
            raise ValueError(f"hidden: does not apply to kind {kind!r}, only to 'mlp'")
        random = np.random.default_rng(seed)
        layout = layout or (CHOICE if kind == "cards" else "entities")
        if kind == "entities":
            shapes = dict(entity_shapes())
        elif kind == "cards":
            shapes = card_shapes()
        else:
            outputs = get_layout(layout, rules).actions
            sizes = [get_layout(layout, rules).shape[0], *((64, 64) if hidden is None else hidden)]
            shapes = {}
            for head, last in (("policy", outputs), ("value", 1)):
                pairs = zip(sizes, [*sizes[1:], last], strict=True)
                for i, (rows, columns) in enumerate(pairs):
                    shapes[f"{head}.{i}.w"] = (rows, columns)
                    shapes[f"{head}.{i}.b"] = (columns,)
        arrays = {
            name: random.normal(size=shape) / np.sqrt(shape[0] if shape else 1)
            for name, shape in shapes.items()
        }
        meta = {
            "kind": kind, "layout": layout, "layout_version": get_layout(layout, rules).version,
            "rules": rules,
        }  # fmt: skip
        if kind == "mlp":
            meta["activation"] = "tanh"
        return cls(arrays, meta)


def _sizes(arrays: Mapping[str, Any], name: str, dimensions: int) -> tuple[int, ...]:
    """Return the shape of an array, from which the others are derived."""
    if name not in arrays:
        raise ValueError(f"policy: {name} is missing")
    shape: tuple[int, ...] = np.shape(arrays[name])
    if len(shape) != dimensions or 0 in shape:
        raise ValueError(f"policy: {name}: expected {dimensions} dimensions, got shape {shape}")
    return shape

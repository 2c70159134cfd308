"""A trained network and what it is to be shown: `Policy`, one file without code in it.

Two kinds of networks are run, compiled and without the library that trained them.

"entities" is made for the layout of that name. Cards in hand, own and enemy creatures each have an
encoder, the same for all places; what it gives is summed over the hand and over each lane and goes,
with all that is no card, through a trunk of two layers. An action is rated by how well what acts
fits what it is aimed at: SUMMON a card and a lane, USE a card and a creature or the player, ATTACK
a creature and another one or the player, as the product of a query and a key; PASS by the trunk.
Another output of the trunk is the value of the position, -1 to 1.

"mlp" is a stack of dense layers over any layout, as Stable-Baselines3 makes them.

    >>> import numpy as np
    >>> policy = Policy.random("entities", seed=1)
    >>> observations = np.zeros((2, 440), np.int8)
    >>> masks = np.eye(2, 145, dtype=np.int8)
    >>> policy.act_batch(observations, masks)
    array([0, 1])
"""

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim._io import write_whole
from locmsim.game.layouts import get_layout
from locmsim.policy._policy import ENTITY_SHAPES, EntityRunner, MlpRunner
from locmsim.rules.rulesets import get_rules

__all__ = ["Policy"]

_FORMAT = 1
_ACTIVATIONS = ("relu", "tanh")
_Array = NDArray[np.float32]


class Policy:
    """A network that rates actions, and the layout that it was trained on.

    Parameters
    ----------
    arrays : mapping
        Name -> array. "entities": those of `locmsim.policy._policy.ENTITY_SHAPES`. "mlp":
        ``policy.0.w`` (inputs, outputs), ``policy.0.b`` and so on, the last ones with an output for
        each action; and, if there is a value, ``value.0.w`` ...
    meta : mapping
        ``kind``: "entities" or "mlp"; ``layout`` and ``layout_version``; ``rules``: the rule set;
        ``activation`` of "mlp": "relu" or "tanh"; anything else that JSON can hold is kept, such as
        how it was trained.

    Raises
    ------
    ValueError
        Names what is missing or does not fit.
    """

    def __init__(self, arrays: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
        self.meta: dict[str, Any] = {"format": _FORMAT, **meta}
        for key in ("kind", "layout", "layout_version", "rules"):
            if key not in meta:
                raise ValueError(f"policy: {key}: missing")
        if self.meta["format"] != _FORMAT:
            raise ValueError(f"policy: format {self.meta['format']!r}, expected {_FORMAT}")
        self._rules = get_rules(self.meta["rules"])
        layout = get_layout(self.meta["layout"], self._rules.name)
        if self.meta["layout_version"] != layout.version:
            raise ValueError(
                f"policy: made for version {self.meta['layout_version']!r} of layout"
                f" {layout.name!r}, which is now {layout.version}"
            )
        self._layout = layout
        self.arrays: dict[str, _Array] = {}
        for name, array in arrays.items():
            given = np.asarray(array)
            if given.dtype.kind not in "fiu" or not np.isfinite(given).all():
                raise ValueError(f"policy: {name}: expected finite numbers")
            self.arrays[name] = np.array(given, np.float32, order="C")
        if self.meta["kind"] == "entities":
            self._check_entities()
            self._entities = EntityRunner(self.arrays)
        elif self.meta["kind"] == "mlp":
            activation = self.meta.get("activation")
            if activation not in _ACTIVATIONS:
                raise ValueError(f"policy: activation: expected relu or tanh, got {activation!r}")
            self._mlp = self._stack("policy", self._rules.num_actions)
            self._value = self._stack("value", 1) if "value.0.w" in self.arrays else None
        else:
            raise ValueError(f"policy: kind: expected entities or mlp, got {self.meta['kind']!r}")

    def __deepcopy__(self, memo: dict[int, Any]) -> "Policy":
        return self  # nothing changes it

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.arrays, self.meta)

    def _check_entities(self) -> None:
        if self.layout not in ("entities", "entities-f32"):
            raise ValueError(f"policy: an entity network cannot have layout {self.layout!r}")
        for name, shape in ENTITY_SHAPES.items():
            if name not in self.arrays:
                raise ValueError(f"policy: {name}: missing")
            if self.arrays[name].shape != shape:
                raise ValueError(
                    f"policy: {name}: expected shape {shape}, got {self.arrays[name].shape}"
                )
        if unknown := self.arrays.keys() - ENTITY_SHAPES.keys():
            raise ValueError(f"policy: unknown arrays {', '.join(sorted(unknown))}")

    def _stack(self, head: str, outputs: int) -> MlpRunner:
        """The dense layers of a head."""
        layers: list[tuple[_Array, _Array]] = []
        size = self._layout.shape[0]
        while f"{head}.{len(layers)}.w" in self.arrays:
            name = f"{head}.{len(layers)}"
            if f"{name}.b" not in self.arrays:
                raise ValueError(f"policy: {name}.b: missing")
            weights, biases = self.arrays[f"{name}.w"], self.arrays[f"{name}.b"]
            if weights.ndim != 2 or weights.shape[0] != size:
                raise ValueError(
                    f"policy: {name}.w: expected shape ({size}, outputs), got {weights.shape}"
                )
            size = weights.shape[1]
            if biases.shape != (size,):
                raise ValueError(f"policy: {name}.b: expected shape ({size},), got {biases.shape}")
            layers.append((weights, biases))
        if not layers:
            raise ValueError(f"policy: {head}.0.w: missing")
        if size != outputs:
            raise ValueError(f"policy: {head}: expected {outputs} outputs, got {size}")
        return MlpRunner(layers, self.meta["activation"] == "tanh")

    # ------------------------------------------------------------------------------ what it is

    @property
    def kind(self) -> str:
        """ "entities" or "mlp"."""
        return str(self.meta["kind"])

    @property
    def layout(self) -> str:
        """Name of the layout that observations are to have."""
        return self._layout.name

    @property
    def rules(self) -> str:
        """Name of the rule set."""
        return self._rules.name

    def __repr__(self) -> str:
        size = sum(array.size for array in self.arrays.values())
        return f"<Policy {self.kind} layout={self.layout!r} rules={self.rules} {size} weights>"

    # -------------------------------------------------------------------------------- running

    def evaluate(self, observations: NDArray[Any]) -> tuple[_Array, _Array]:
        """Ratings of all actions, legal or not, and values of positions.

        Parameters
        ----------
        observations : array (rows, size of the layout)

        Returns
        -------
        logits : float32 array (rows, actions)
        values : float32 array (rows,)
            To the player who is shown the observation; NaN if the network has no value.

        Raises
        ------
        ValueError
            For another shape.
        """
        given = np.asarray(observations)
        if given.ndim != 2 or given.shape[1:] != self._layout.shape:
            raise ValueError(
                f"observations: expected shape (rows, {self._layout.shape[0]}), got {given.shape}"
            )
        x = np.ascontiguousarray(given, np.float32)
        if self.kind == "entities" and self.layout == "entities":
            x = x / self._layout.scale
        logits = np.empty((len(x), self._rules.num_actions), np.float32)
        values = np.full(len(x), np.nan, np.float32)
        if self.kind == "entities":
            self._entities.run(x, logits, values)
        else:
            self._mlp.run(x, logits)
            if self._value is not None:
                self._value.run(x, values.reshape(-1, 1))
        return logits, values

    def act_batch(
        self,
        observations: NDArray[Any],
        masks: NDArray[Any],
        *,
        seed: int = 0,
        temperature: float = 0.0,
    ) -> NDArray[np.int64]:
        """An action for each row.

        Parameters
        ----------
        observations : array (rows, size of the layout)
        masks : array (rows, actions)
            Nonzero where an action is legal; at least one of each row.
        seed : int
            For what is drawn if the temperature is above 0.
        temperature : float
            0: the legal action with the highest rating. Else each is drawn with a probability
            proportional to exp(rating / temperature).

        Returns
        -------
        int64 array (rows,)

        Raises
        ------
        ValueError
            For other shapes, a row without a legal action, a negative temperature.
        """
        if not temperature >= 0:
            raise ValueError(f"temperature: expected 0 or more, got {temperature}")
        logits, _ = self.evaluate(observations)
        legal = np.asarray(masks) != 0
        if legal.shape != logits.shape:
            raise ValueError(f"masks: expected shape {logits.shape}, got {legal.shape}")
        if not legal.any(axis=1).all():
            raise ValueError("masks: a row without a legal action")
        ratings = np.where(legal, logits, -np.inf)
        if temperature > 0:
            noise = np.random.default_rng(seed).gumbel(size=ratings.shape)
            ratings = ratings / temperature + noise
        chosen: NDArray[np.int64] = ratings.argmax(axis=1)
        return chosen

    # ---------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as .npz: its arrays, and one JSON text ``meta``.

        A file that was there before stays as it was if that fails.
        """
        import io

        buffer = io.BytesIO()
        np.savez_compressed(buffer, meta=np.array(json.dumps(self.meta)), **self.arrays)  # type: ignore[arg-type]
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Policy":
        """The policy of a file.

        Raises
        ------
        OSError
            If it cannot be read.
        ValueError
            Names the file and what is wrong in it.
        """
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
                arrays = {name: content[name] for name in content.files}
            text = arrays.pop("meta", None)
            if text is None or text.shape != ():
                raise ValueError("no policy: it has no text meta")
            return cls(arrays, json.loads(str(text)))
        except OSError:
            raise
        except Exception as error:  # zipfile and numpy have many for broken files
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def random(
        cls, kind: str = "entities", *, rules: str = "1.5", seed: int = 0,
        layout: str = "entities", hidden: tuple[int, ...] = (64, 64),
    ) -> "Policy":  # fmt: skip
        """A policy that has learnt nothing, to try things with."""
        random = np.random.default_rng(seed)
        if kind == "entities":
            shapes = dict(ENTITY_SHAPES)
        else:
            outputs = get_rules(rules).num_actions
            sizes = [get_layout(layout, rules).shape[0], *hidden]
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

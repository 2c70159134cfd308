"""What positions are worth to a search: `Evaluation`, and files of its weights."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

from locmsim._core import State
from locmsim._io import write_whole
from locmsim.networks._network import Network
from locmsim.rules.rulesets import RULES, get_rules
from locmsim.search._evaluation import TERMS, Evaluator

__all__ = ["TERMS", "Evaluation", "ValueFunction", "load_weights", "save_weights"]

#: A function of a state and a player whose turn ends there, in the place of the weights: the value
#: to him. It is called with the GIL for each node, so it makes a search a hundred times slower.
ValueFunction: TypeAlias = Callable[[State, int], float]


class Evaluation(Mapping[str, float]):
    """What positions are worth: a weight for each name in `TERMS`, which says what it counts.

    `weights` replaces some or all of the default ones of a rule set:

    >>> careful = Evaluation({"own.health": 0.5})
    >>> len(careful) == len(TERMS)
    True
    >>> careful.replace(scale=20)["scale"]
    20

    It can be called with a state and the player whose turn ends there. ``ValueError`` names a
    weight that is unknown or no number.

    Searches find turns with the weights. What comes of them is predicted by `network`, if there is
    one: that of the rule set in the package, where it has one and no `weights` are given, or a
    `locmsim.networks.network.Network`; else by the weights, too. None is for no network.
    """

    def __init__(
        self,
        weights: Mapping[str, float] | None = None,
        rules: str = "1.5",
        *,
        network: Network | Literal["default"] | None = "default",
    ) -> None:
        self._weights = {**_defaults().weights[get_rules(rules).name], **(weights or {})}
        self.compiled = Evaluator(self._weights)
        if network == "default":
            network = None if weights else _defaults().networks.get(rules)
        #: By which results are predicted, or None.
        self.network: Network | None = network

    def replace(self, **weights: float) -> "Evaluation":
        """The same with other weights, whose names may have ``_`` in the place of their dot."""
        names = {name.replace(".", "_"): name for name in TERMS}
        changed = {**self, **{names.get(key, key): w for key, w in weights.items()}}
        return Evaluation(changed, network=self.network)

    def __getitem__(self, name: str) -> float:
        return self._weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __call__(self, state: State, player: int) -> float:
        return self.compiled(state, player)

    def __repr__(self) -> str:
        return f"Evaluation({self._weights})"


def load_weights(path: str | os.PathLike[str]) -> dict[str, Evaluation]:
    """The evaluations of a weights file, by rule set; those it lacks are the default ones.

    The file is a JSON object: rule set -> {term: weight}; terms left out have their default. Its
    object ``"network"``, if it has one, holds networks: rule set -> {name: numbers} (see
    `locmsim.networks.network.SHAPES`). What else `locmsim tune` writes ("deck", "about") is not
    read here.
    ``ValueError`` names the file and what is wrong in it, ``OSError`` if it cannot be read.
    """
    try:
        return _evaluations(json.loads(Path(path).read_text(encoding="utf-8")))
    except json.JSONDecodeError as error:
        raise ValueError(f"{os.fspath(path)}: no JSON: {error}") from None
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def _evaluations(content: Any) -> dict[str, Evaluation]:
    if not isinstance(content, dict):
        raise ValueError("expected an object of rule sets, each an object of weights")
    parts = {key: w for key, w in content.items() if key not in ("deck", "about", "network")}
    networks = content.get("network", {})
    if not isinstance(networks, dict) or not all(
        isinstance(w, dict) for w in [*parts.values(), *networks.values()]
    ):
        raise ValueError("expected an object of rule sets, each an object of weights")
    for rules in [*parts, *networks]:
        if rules not in RULES:
            raise ValueError(f"unknown rule set {rules!r}: expected one of {[*RULES]}")
    evaluations = {}
    for rules in RULES:
        try:
            network = Network(networks[rules]) if rules in networks else None
            if rules in parts or network:
                evaluations[rules] = Evaluation(parts.get(rules), rules, network=network)
            else:
                evaluations[rules] = Evaluation(rules=rules)
        except ValueError as error:
            raise ValueError(f"{rules}: {error}") from None
    return evaluations


def save_weights(path: str | os.PathLike[str], weights: Mapping[str, Mapping[str, float]]) -> None:
    """Write a weights file for `load_weights`; ``ValueError`` for weights that it would refuse."""
    content = {rules: dict(Evaluation(w, rules)) for rules, w in weights.items()}
    write_whole(path, json.dumps(content, indent=1) + "\n")


@dataclass(frozen=True)
class _Defaults:
    weights: Mapping[str, Mapping[str, float]]
    networks: Mapping[str, Network]


@cache
def _defaults() -> _Defaults:
    content = json.loads(files("locmsim").joinpath("data/weights.json").read_text(encoding="utf-8"))
    networks = {rules: Network(arrays) for rules, arrays in content.get("network", {}).items()}
    return _Defaults({rules: content[rules] for rules in RULES}, networks)

"""What positions are worth to a search: `Evaluation`."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Literal, TypeAlias

from locmsim._core import State
from locmsim.networks._network import Network
from locmsim.networks.weights import Weights, default_weights
from locmsim.search._evaluation import TERMS, Evaluator

__all__ = ["TERMS", "Evaluation", "ValueFunction"]

#: A function of a state and a player whose turn ends there, in the place of the weights: the value
#: to them. It is called with the GIL for each node, so it makes a search a hundred times slower.
ValueFunction: TypeAlias = Callable[[State, int], float]


class Evaluation(Mapping[str, float]):
    """What positions are worth: a weight for each name in `TERMS`, which says what it counts.

    Searches find turns with the weights. What comes of them is predicted by a network if there is
    one, else by the weights, too.

    Parameters
    ----------
    weights : mapping of str to float, optional
        Replaces some or all of the default weights of a rule set.
    rules : str
        The rule set: searches refuse positions of any other.
    network : Network or None, optional
        Predicts results. By default it is the network of the rule set in the package, if there is
        one, but none where `weights` are given: that network was fitted to the package's own, and
        would hide what other weights do. The representation shows which it is.

    Raises
    ------
    ValueError
        A weight is unknown, or no number.

    >>> careful = Evaluation({"own.health": 0.5})
    >>> len(careful) == len(TERMS)
    True
    >>> careful.replace(scale=20)["scale"]
    20

    It can be called with a state and the player whose turn ends there.

    >>> careful.network is None
    True
    """

    def __init__(
        self,
        weights: Mapping[str, float] | None = None,
        rules: str = "1.5",
        *,
        network: Network | Literal["default"] | None = "default",
    ) -> None:
        self._weights = {**default_weights(rules).evaluation, **(weights or {})}
        self.compiled = Evaluator(self._weights)
        if network == "default":
            network = None if weights else _default_network(rules)
        #: The name of the rule set whose positions it is for.
        self.rules = rules
        #: By which results are predicted, or None.
        self.network: Network | None = network

    @classmethod
    def of(cls, weights: Weights, rules: str = "1.5") -> "Evaluation":
        """The evaluation in the weights of a rule set, with their network if they have one."""
        network = None if weights.network is None else Network(weights.network)
        return cls(weights.evaluation, rules, network=network)

    def replace(self, **weights: float) -> "Evaluation":
        """The same with other weights, whose names may have ``_`` in the place of their dot."""
        names = {name.replace(".", "_"): name for name in TERMS}
        changed = {**self, **{names.get(key, key): w for key, w in weights.items()}}
        return Evaluation(changed, self.rules, network=self.network)

    def __getitem__(self, name: str) -> float:
        return self._weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __call__(self, state: State, player: int) -> float:
        return self.compiled(state, player)

    def __repr__(self) -> str:
        network = "None" if self.network is None else "<network>"
        return f"Evaluation({self._weights}, {self.rules!r}, network={network})"


@cache
def _default_network(rules: str) -> Network | None:
    arrays = default_weights(rules).network
    return None if arrays is None else Network(arrays)

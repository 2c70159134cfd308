"""What positions are worth to a search: `Evaluation`."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from locmsim._core import State
from locmsim.networks._network import Network
from locmsim.networks.weights import Weights, default_weights
from locmsim.search._evaluation import TERMS, Evaluator

if TYPE_CHECKING:  # bots start without numpy
    import numpy as np
    from numpy.typing import NDArray

    from locmsim.batch import BatchResult, StateBatch

__all__ = [
    "TERMS",
    "BatchEvaluation",
    "Evaluation",
    "OnObservations",
    "win_chance",
]

#: A batch evaluator: see `StateBatch.values`.
BatchEvaluation: TypeAlias = Callable[["StateBatch"], "BatchResult"]


class OnObservations:
    """A batch evaluator by a function of what players see, as networks are.

    Parameters
    ----------
    function : callable
        Gets the observations of a batch, (rows, numbers), each that of the player whose turn it is,
        and the masks of what is legal there, int8 (rows, actions). It returns values, or a pair of
        values and priors, as `StateBatch.values` says.
    layout : str
        Of the observations, as for `StateBatch.observation_tensor`.

    >>> from locmsim import StateBatch
    >>> from locmsim.game.positions import start_position
    >>> even = OnObservations(lambda seen, masks: (seen[:, 0] * 0, masks))
    >>> StateBatch.repeat(start_position(1), 2).values(even).tolist()
    [0.0, 0.0]
    """

    def __init__(
        self,
        function: "Callable[[NDArray[Any], NDArray[np.int8]], BatchResult]",
        layout: str = "entities-f32",
    ) -> None:
        self.function = function
        self.layout = layout

    def __call__(self, batch: "StateBatch") -> "BatchResult":
        observations = batch.observation_tensor(layout=self.layout)
        return self.function(observations, batch.legal_actions_mask())


class Evaluation(Mapping[str, float]):
    """What positions are worth: a weight for each name in `TERMS`, which says what it counts.

    Searches find turns with the weights. What comes of them is predicted by a network if there is
    one, else by the weights, too.

    Called with a state and the player whose turn ends there, it gives the value by the weights.
    Its unit is that of the weights, in which a point of the weight "scale" is one: ``tanh(value /
    scale)`` is the expected result from -1 to 1, so that the chance to win is 0.88 at a value of
    `scale` and 0.5 at 0. A won game is worth 1000, a lost one -1000. `results` gives expected
    results, and `win_chance` the chance by the package's own evaluation.

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
        """Return the evaluation in the weights of a rule set, with their network if they have one.

        Parameters
        ----------
        weights : Weights
            As `locmsim.networks.weights` loads them.
        rules : str
            The rule set.

        Returns
        -------
        Evaluation
        """
        network = None if weights.network is None else Network(weights.network)
        return cls(weights.evaluation, rules, network=network)

    def replace(self, **weights: float) -> "Evaluation":
        """Return the same evaluation with some other weights.

        Parameters
        ----------
        **weights
            New weights by the names of `TERMS`, with ``_`` in place of their dot.

        Returns
        -------
        Evaluation

        Raises
        ------
        ValueError
            There is no such term.
        """
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

    def results(self, batch: "StateBatch") -> "NDArray[np.float64]":
        """Return the results that searches expect when the turn ends in each state.

        Parameters
        ----------
        batch : StateBatch

        Returns
        -------
        array
            float64, (rows,), from -1 to 1 for the player whose turn it is: by the network if there
            is one, else ``tanh(value / scale)``. Of a finished game 1 or -1.

        Raises
        ------
        ValueError
            The states are of other rules.
        """
        import numpy as np

        from locmsim.search._values import expected_results

        array = batch._array
        if array.rule_set != self.rules:
            raise ValueError(
                f"evaluation: it is of rules {self.rules}, the states of {array.rule_set}"
            )
        out = np.empty(len(batch))
        expected_results(self.compiled, self.network, array, out)
        return out

    def __repr__(self) -> str:
        network = "None" if self.network is None else "<network>"
        return f"Evaluation({self._weights}, {self.rules!r}, network={network})"


@overload
def win_chance(states: State, player: int | None = None) -> float: ...
@overload
def win_chance(states: "StateBatch", player: int | None = None) -> "NDArray[np.float64]": ...
def win_chance(
    states: "State | StateBatch", player: int | None = None
) -> "float | NDArray[np.float64]":
    """Return the probability that a player wins if the present turn ends now.

    This is the package's own estimate, at once: it comes from the evaluation and the network by
    which its searches judge the ends of turns. Nothing is searched, so what the player to move
    could still do in the turn does not count. It looks at the cards in hand of the player whose
    turn it is, and at the number of the opponent's cards, not at what these are.

    It is calibrated on the ends of turns that ``beam:nodes=3000`` played against itself
    (docs/api.md has the table). For a turn that ends well before all is done that could be done,
    it is too low for the player to move.

    Parameters
    ----------
    states : State or StateBatch
        A position, or many of one rule set.
    player : int, optional
        0 or 1; by default the player whose turn it is, in each.

    Returns
    -------
    float or array
        From 0 to 1, and the chances of both players add up to 1; of a finished game 0 or 1. Of a
        batch a float64 array (rows,).

    Raises
    ------
    ValueError
        For another player.

    >>> from locmsim.game.match import Match
    >>> match = Match(seed=3)
    >>> _ = match.submit(0, "PASS"), match.submit(1, "PASS")
    >>> 0 < win_chance(match.state, 0) < 1
    True
    >>> round(win_chance(match.state, 0) + win_chance(match.state, 1), 9)
    1.0
    """
    import numpy as np

    from locmsim.batch import StateBatch

    if player not in (None, 0, 1):
        raise ValueError(f"player: expected 0 or 1, got {player!r}")
    batch = StateBatch([states]) if isinstance(states, State) else states
    rules = batch._array.rule_set
    chances = (1 + _default_evaluation(rules).results(batch)) / 2
    chances /= chances + (1 - chances) * np.exp(_OPTIMISM[rules])
    if player is not None:
        movers = np.empty(len(batch), np.int8)
        batch._array.movers(movers)
        chances = np.where(movers == player, chances, 1 - chances)
    return float(chances[0]) if isinstance(states, State) else chances


#: By rule set, the log-odds by which the evaluation is too hopeful about turns that a search chose:
#: the best of many turns is the one whose value errs upwards. The most likely ones for 300 games of
#: ``beam:nodes=3000`` against itself, seeds 770000 to 770299.
_OPTIMISM = {"1.5": 0.42, "1.2": 0.19, "1.0": 0.33}


@cache
def _default_evaluation(rules: str) -> Evaluation:
    return Evaluation(rules=rules)


@cache
def _default_network(rules: str) -> Network | None:
    arrays = default_weights(rules).network
    return None if arrays is None else Network(arrays)

"""Evaluate positions for a search: `Evaluation`."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, overload

from locmsim._core import State
from locmsim.networks._network import Network
from locmsim.networks.weights import Weights, shared_weights
from locmsim.options.checks import player_number
from locmsim.rules.rulesets import get_rules
from locmsim.search._engine import TERMS, CompiledEvaluation

if TYPE_CHECKING:  # bots start without numpy
    import numpy as np
    from numpy.typing import NDArray

    from locmsim.batch import BatchFunction, BatchResult, StateBatch


class OnObservations:
    """Makes a batch evaluator of a function of observations, such as a network.

    Parameters
    ----------
    function : callable
        Called with the observations of a batch, (rows, numbers), each of the player to move, and
        the masks of legal actions, int8 (rows, actions). It returns values, or a pair of values and
        priors, see `StateBatch.values`.
    layout : str
        Layout of the observations, as for `StateBatch.observation_tensor`.

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
        self._function = function
        self._layout = layout

    @property
    def function(self) -> "Callable[[NDArray[Any], NDArray[np.int8]], BatchResult]":
        """The function of observations and masks."""
        return self._function

    @property
    def layout(self) -> str:
        """The layout of the observations."""
        return self._layout

    def __call__(self, batch: "StateBatch") -> "BatchResult":
        observations = batch.observation_tensor(layout=self.layout)
        return self.function(observations, batch.legal_actions_mask())


class TurnEndEvaluation:
    """Holds a function that says what a position is worth if the turn ends there.

    Beam search and `MCTS` ask any plain function that way. `PolicySearch` asks plain functions
    about the player to move, and this one as it asks an `Evaluation`: about a position in mid-turn
    as if the turn ended there, and after PASS about the end of that turn. It uses no priors of it.

    Parameters
    ----------
    function : function of a StateBatch
        Returns for each row the expected result if the turn ends there, from -1 to 1, for the
        player whose turn it is, see `StateBatch.values`.

    >>> from locmsim.game.positions import start_position
    >>> from locmsim.search import PolicySearch
    >>> even = TurnEndEvaluation(lambda batch: [0.0] * len(batch))
    >>> PolicySearch(even, simulations=8).search(start_position(1)).value
    0.0
    """

    def __init__(self, function: "BatchFunction") -> None:
        self._function = _callable(function)

    def results(self, batch: "StateBatch") -> "BatchResult":
        """Return the results expected when the turn ends in each state.

        Parameters
        ----------
        batch : StateBatch
        """
        return self._function(batch)


class MoverEvaluation:
    """Holds a function that says what a position is worth to the player to move.

    That is what a value network says, also the one of a policy. `PolicySearch` asks any plain
    function that way. Beam search and `MCTS` ask plain functions about ends of turns, and this one
    about the position after them, in which the opponent is to move, in a sampled world. They use
    no priors of it.

    Parameters
    ----------
    function : function of a StateBatch
        Returns for each row the expected result, from -1 to 1, for the player to move, and if it
        has them, priors. `OnObservations` makes one of a function of observations.

    >>> from locmsim.game.positions import start_position
    >>> from locmsim.search import BeamSearch
    >>> even = MoverEvaluation(lambda batch: [0.0] * len(batch))
    >>> BeamSearch(evaluation=even).search(start_position(1), nodes=50).value == 0
    True
    """

    def __init__(self, function: "BatchFunction") -> None:
        self._function = _callable(function)

    @property
    def function(self) -> "BatchFunction":
        """The function."""
        return self._function

    def results(self, batch: "StateBatch") -> "NDArray[np.float64]":
        """Return the results expected when the turn ends in each state, by the positions after it.

        Parameters
        ----------
        batch : StateBatch
        """
        import numpy as np

        after = batch.clone()
        after.step(np.zeros(len(batch), np.int64))
        values = after.values(self._function)
        movers, others = np.empty((2, len(batch)), np.int8)
        batch._array.movers(movers)
        after._array.movers(others)
        return np.where(movers == others, values, -values)


def _callable(function: "BatchFunction") -> "BatchFunction":
    """Return a function of a batch; ``TypeError`` for anything else."""
    if not callable(function) or isinstance(function, Mapping):
        raise TypeError(f"function: expected a function of a StateBatch, got {function!r}")
    return function


class Evaluation(TurnEndEvaluation, Mapping[str, float]):
    """Evaluates a position by a weighted sum of the terms in `TERMS`.

    Terms that begin with "own." are those of the player whose turn ends, and are added; those that
    begin with "their." are the other player's, and are subtracted: with weights of 1 for
    "own.health" and "their.health", the value is the difference in health.

    Searches find turns with the weights. The results of turns are predicted by a network if there
    is one, else also by the weights.

    Calling it with a state and the player whose turn ends there returns the value by the weights.
    ``tanh(value / scale)``, with the weight "scale", is the expected result from -1 to 1, so that
    the probability of winning is 0.88 at a value of `scale` and 0.5 at 0. A won game is worth 1000,
    a lost one -1000. `results` returns expected results, and `win_chance` the probability of
    winning by the package's own evaluation.

    Parameters
    ----------
    weights : mapping of str to float, optional
        Replaces some or all of the default weights of a rule set.
    rules : str
        The rule set; searches refuse positions of another one.
    network : Network or None, optional
        Predicts results. The default is the package's network for the rule set, if there is one,
        but no network if `weights` are given: the network was fitted to the package's weights and
        would hide the effect of others. The representation shows which one is used.

    Raises
    ------
    ValueError
        A weight is unknown or not a number.

    Warns
    -----
    UserWarning
        If among some weights that of "their.health" is negative, so that the other player's health
        would be added.

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
        weights = weights or {}
        self._weights = {**shared_weights(get_rules(rules).name).evaluation, **weights}
        self._compiled = CompiledEvaluation(self._weights)
        # All weights of a set are fitted together, and single ones may come out negative.
        if len(weights) < len(self._weights) and weights.get("their.health", 0) < 0:
            warnings.warn(
                f"weights: their.health is {weights['their.health']:g}; terms of the other player"
                " are subtracted, so a positive weight is the usual one",
                stacklevel=2,
            )
        if network == "default":
            network = None if weights else _default_network(rules)
        self._rules = rules
        self._network: Network | None = network

    @property
    def rules(self) -> str:
        """The name of the rule set."""
        return self._rules

    @property
    def network(self) -> Network | None:
        """The network that predicts results, or None."""
        return self._network

    @property
    def compiled(self) -> CompiledEvaluation:
        """The weights in the form that a compiled search uses.

        :meta private:
        """
        return self._compiled

    @classmethod
    def of(cls, weights: Weights, rules: str = "1.5") -> "Evaluation":
        """Return the evaluation of loaded weights, with their network if there is one.

        Parameters
        ----------
        weights : Weights
            As `locmsim.networks.weights` loads them.
        rules : str
            The rule set.
        """
        network = None if weights.network is None else Network(weights.network)
        return cls(weights.evaluation, rules, network=network)

    def replace(self, **weights: float) -> "Evaluation":
        """Return the same evaluation with some other weights.

        Parameters
        ----------
        **weights
            New weights by the names of `TERMS`, with ``_`` in place of their dot.

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
            is one, else ``tanh(value / scale)``. The result of a finished game is 1 or -1.

        Raises
        ------
        ValueError
            The states are of other rules.
        """
        import numpy as np

        from locmsim.search._engine import expected_results

        array = batch._array
        if array.rule_set != self.rules:
            raise ValueError(
                f"evaluation: it is for rules {self.rules}, the states for {array.rule_set}"
            )
        out = np.empty(len(batch))
        expected_results(self.compiled, self.network, array, out)
        return out

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same weights, rules and network."""
        if not isinstance(other, Evaluation):
            return Mapping.__eq__(self, other)
        mine, theirs = (one.network and one.network.arrays for one in (self, other))
        same = mine is theirs or (
            mine is not None
            and theirs is not None
            and all((mine[name] == theirs[name]).all() for name in mine)
        )
        return same and self.rules == other.rules and self._weights == other._weights

    __hash__ = None  # type: ignore[assignment]

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

    This is the package's own estimate, without a search: it comes from the evaluation and the
    network by which its searches evaluate the ends of turns. Actions that the player to move could
    still play in the turn do not count. The estimate uses the hand of the player whose turn it is
    and the size of the opponent's hand, but not its cards.

    It is calibrated on the ends of turns that ``beam:nodes=3000`` played against itself
    (docs/api.md has the table). If a turn could be continued profitably, the estimate is too low
    for the player to move.

    Parameters
    ----------
    states : State or StateBatch
        A position, or many of one rule set.
    player : int, optional
        0 or 1; by default the player whose turn it is in each state.

    Returns
    -------
    float or array
        From 0 to 1; the values of both players add up to 1, and a finished game has 0 or 1. For a
        batch, a float64 array (rows,).

    Raises
    ------
    ValueError
        `player` is not 0 or 1.

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
    from locmsim.search._engine import exp

    if player is not None:
        player = player_number(player)
    batch = StateBatch([states]) if isinstance(states, State) else states
    rules = batch._array.rule_set
    chances = (1 + _default_evaluation(rules).results(batch)) / 2
    chances /= chances + (1 - chances) * exp(_OPTIMISM[rules])
    if player is not None:
        movers = np.empty(len(batch), np.int8)
        batch._array.movers(movers)
        chances = np.where(movers == player, chances, 1 - chances)
    return float(chances[0]) if isinstance(states, State) else chances


#: By rule set, the log-odds by which the evaluation is too optimistic about turns that a search
#: chose, since the best of many values tends to err upwards. Maximum-likelihood estimates from 300
#: games of ``beam:nodes=3000`` against itself, seeds 770000 to 770299.
_OPTIMISM = {"1.5": 0.42, "1.2": 0.24, "1.0": 0.21}


@cache
def _default_evaluation(rules: str) -> Evaluation:
    """Return the package's evaluation for a rule set."""
    return Evaluation(rules=rules)


@cache
def _default_network(rules: str) -> Network | None:
    """Return the package's network for a rule set, if there is one."""
    arrays = shared_weights(rules).network
    return None if arrays is None else Network(arrays)

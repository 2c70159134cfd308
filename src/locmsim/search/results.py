"""Hold the results of searches."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # bots start without numpy
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole turn that a search compared with others.

    Attributes
    ----------
    actions : list of int
        Its actions without PASS.
    visits : int
        Number of sampled results in `value`.
    value : float
        The player's expected result, from -1 to 1.
    """

    actions: list[int]
    visits: int
    value: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The turn that a search found for the player who is asked.

    Attributes
    ----------
    actions : list of int
        The actions of the turn without PASS.
    line : str
        The answer line for them.
    value : float
        The player's expected result, from -1 to 1; 1 if the turn wins.
    visits : int
        Number of sampled results in `value`: visits of the turn (MCTS), or worlds in which it was
        tried (beam search). It is 0 if the turn wins, since nothing was sampled.
    nodes : int
        Number of positions that were made by applying an action and evaluated.
    iterations : int
        Number of visits of all turns together (MCTS); 0 in a beam search.
    depth : int
        Length of the longest sequence of the player's actions that was searched.
    pv : list of str
        The principal variation: `actions` as texts.
    elapsed : float
        Duration of the search in seconds.
    plans : list of Plan
        The whole turns that were played on in sampled worlds, those with the most visits first. The
        list is empty if a winning turn was found, which needs no comparison.
    """

    actions: list[int]
    line: str
    value: float
    visits: int
    nodes: int
    iterations: int
    depth: int
    pv: list[str]
    elapsed: float
    plans: list[Plan] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class PolicyResult:
    """The action that a `PolicySearch` found for the player who is asked.

    Attributes
    ----------
    action : int
        The best action.
    policy : array
        float64, (actions,): the improved policy, probabilities; 0 where an action is not legal.
        What can be done with either of two copies of a card stands at the first of them.
    value : float
        The expected result of that policy, from -1 to 1.
    visits : array
        int32, (actions,): the number of simulations that began with each action.
    values : array
        float64, (actions,): their mean result; for an action that was not tried, the result that is
        expected of it.
    pv : list of str
        The principal variation up to the end of the turn: the action and what follows it, each the
        most visited one, as texts.
    nodes : int
        Number of nodes of the tree.
    elapsed : float
        Duration in seconds of the search of all positions that were searched together.
    """

    action: int
    policy: "NDArray[np.float64]"
    value: float
    visits: "NDArray[np.int32]"
    values: "NDArray[np.float64]"
    pv: list[str]
    nodes: int
    elapsed: float

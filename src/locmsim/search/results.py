"""What a search found."""

from dataclasses import dataclass, field

__all__ = ["Plan", "SearchResult"]


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole turn that a search compared with others.

    Attributes
    ----------
    actions : list of int
        Its actions, PASS not among them.
    visits : int
        How many sampled results `value` comes from.
    value : float
        The player's expected result, from -1 to 1.
    """

    actions: list[int]
    visits: int
    value: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found for the player who is asked.

    Attributes
    ----------
    actions : list of int
        Actions of the turn, PASS not among them.
    line : str
        The answer line for them.
    value : float
        The player's expected result, from -1 to 1; 1 if the turn wins.
    visits : int
        How many sampled results `value` comes from: visits of the turn (MCTS), or worlds in which
        it was tried (beam search).
    nodes : int
        Positions that were made by applying an action and evaluated.
    iterations : int
        Visits of all turns together (MCTS); 0 in a beam search.
    depth : int
        Longest sequence of own actions that was looked at.
    pv : list of str
        The principal variation: `actions` as texts.
    elapsed : float
        Seconds.
    plans : list of Plan
        The whole turns that were played on in sampled worlds, those of most visits first. None of
        a winning turn, which needs no comparison.
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

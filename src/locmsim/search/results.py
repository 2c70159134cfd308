"""What a search found."""

from dataclasses import dataclass

__all__ = ["SearchResult"]


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
        How many sampled results `value` comes from: visits of the first action (MCTS), or worlds
        in which the turn was tried (beam search).
    nodes : int
        Positions that were made by applying an action and evaluated.
    iterations : int
        Descents of the tree (MCTS); 0 in a beam search.
    depth : int
        Longest sequence of own actions that was looked at.
    pv : list of str
        The principal variation: `actions` as texts.
    elapsed : float
        Seconds.
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

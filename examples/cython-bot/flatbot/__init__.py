"""A bot that tries each legal action with playouts and takes the one that wins most often."""

from collections import Counter

from flatbot._playouts import count_wins
from locmsim import State

__all__ = ["choose", "count_wins"]


def choose(state: State, *, worlds: int = 8, playouts: int = 25, seed: int = 0) -> int:
    """The most promising action of the player to move.

    In each of several worlds, where the cards that he cannot see are drawn anew, every action gets
    the same number of playouts.
    """
    player = state.current_player()
    wins: Counter[int] = Counter()
    for world in range(worlds):
        drawn = state.resample_hidden(player, seed + world)
        wins.update(count_wins(drawn, playouts, seed + world))
    return max(wins, key=wins.__getitem__)

"""Many matches between players: pairing, seats, seeds, statistics, executors and storage.

    >>> from locmsim.arena import Arena
    >>> with Arena(None, ["greedy", "random"], games=10, seed=1) as arena:
    ...     arena.run(jobs=1)
    ...     print(arena.tally.games, arena.tally.players[0].wins)
    10 [5, 5]

An `Arena` is a tournament with its file of results; `Arena.run` plays the missing games. It can
play every registered `locmsim.contract.Game`, see `known_games`.
"""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)

"""Many matches between players: pairing, seats, seeds, statistics, executors and storage.

    >>> from locmsim.arena import Arena
    >>> with Arena(["greedy", "random"], games=10, seed=1) as arena:
    ...     arena.run(jobs=1)
    ...     print(arena.tally.games, arena.tally.players[0].wins)
    10 [5, 5]

An `Arena` is a tournament with its file of results; `Arena.run` plays the missing games. It can
play every registered `locmsim.contract.Game`, see `known_games`.
"""

from typing import TYPE_CHECKING

from locmsim._lazy import imported_later
from locmsim.workers import CorePool, available_cores

if TYPE_CHECKING:
    from locmsim.arena.cards import CardCase as CardCase
    from locmsim.arena.cards import CardRow as CardRow
    from locmsim.arena.locm import LocmGame as LocmGame
    from locmsim.arena.records import Answer as Answer
    from locmsim.arena.records import Outcome as Outcome
    from locmsim.arena.records import Record as Record
    from locmsim.arena.records import Times as Times
    from locmsim.arena.registry import GAMES as GAMES
    from locmsim.arena.registry import known_games as known_games
    from locmsim.arena.registry import make_game as make_game
    from locmsim.arena.runner import ArenaError as ArenaError
    from locmsim.arena.schedule import MODES as MODES
    from locmsim.arena.schedule import Fixture as Fixture
    from locmsim.arena.schedule import Player as Player
    from locmsim.arena.schedule import Settings as Settings
    from locmsim.arena.seeds import parse_seeds as parse_seeds
    from locmsim.arena.store import Goal as Goal
    from locmsim.arena.store import StoreError as StoreError
    from locmsim.arena.tally import PlayerTally as PlayerTally
    from locmsim.arena.tally import Tally as Tally
    from locmsim.arena.tournament import Arena as Arena
    from locmsim.arena.tournament import parse_player as parse_player
    from locmsim.arena.verification import Difference as Difference
    from locmsim.stats import Sprt as Sprt

__all__ = [
    "GAMES",
    "MODES",
    "Answer",
    "Arena",
    "ArenaError",
    "CardCase",
    "CardRow",
    "CorePool",
    "Difference",
    "Fixture",
    "Goal",
    "LocmGame",
    "Outcome",
    "Player",
    "PlayerTally",
    "Record",
    "Settings",
    "Sprt",
    "StoreError",
    "Tally",
    "Times",
    "available_cores",
    "known_games",
    "make_game",
    "parse_player",
    "parse_seeds",
]

# Names that are imported when asked for, and their modules: a worker process needs few of them.
__getattr__, __dir__ = imported_later(
    __name__,
    {
        "Answer": "records",
        "Arena": "tournament",
        "ArenaError": "runner",
        "CardCase": "cards",
        "CardRow": "cards",
        "Difference": "verification",
        "Fixture": "schedule",
        "GAMES": "registry",
        "Goal": "store",
        "LocmGame": "locm",
        "MODES": "schedule",
        "Outcome": "records",
        "Player": "schedule",
        "PlayerTally": "tally",
        "Record": "records",
        "Settings": "schedule",
        "Sprt": "tally",
        "StoreError": "store",
        "Tally": "tally",
        "Times": "records",
        "known_games": "registry",
        "make_game": "registry",
        "parse_player": "tournament",
        "parse_seeds": "seeds",
    },
)

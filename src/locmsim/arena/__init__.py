"""Many matches between players: pairing, seats, seeds, statistics, executors and storage.

    >>> from locmsim.arena import Arena
    >>> with Arena(["greedy", "random"], games=10, seed=1) as arena:
    ...     arena.run(jobs=1)
    ...     print(arena.tally.games, arena.tally.players[0].wins)
    10 [5, 5]

An `Arena` is a tournament with its file of results; `Arena.run` plays the missing games. It can
play every registered `locmsim.contract.Game`, see `known_games`.
"""

from locmsim.arena.cards import CardCase, CardRow
from locmsim.arena.locm import LocmGame
from locmsim.arena.records import Answer, Outcome, Record, Times
from locmsim.arena.registry import GAMES, known_games, make_game
from locmsim.arena.runner import ArenaError
from locmsim.arena.schedule import MODES, Fixture, Player, Settings
from locmsim.arena.seeds import parse_seeds
from locmsim.arena.store import Goal, StoreError
from locmsim.arena.tally import PlayerTally, Tally
from locmsim.arena.tournament import Arena, parse_player
from locmsim.arena.verification import Difference
from locmsim.stats import Sprt
from locmsim.workers import CorePool, available_cores

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

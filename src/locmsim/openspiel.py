"""The game object that OpenSpiel's algorithms ask for: see `locmsim.envs.openspiel`."""

from locmsim.envs.openspiel import Game, MatchState, Observer, game

__all__ = ["Game", "MatchState", "Observer", "game"]

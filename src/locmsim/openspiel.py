"""The game object that OpenSpiel's algorithms ask for: see `locmsim.envs.openspiel`."""

from locmsim.envs.openspiel import BattleState, Game, MatchState, Observer, game

__all__ = ["BattleState", "Game", "MatchState", "Observer", "game"]

"""Bots as processes, the match between them, logs."""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)

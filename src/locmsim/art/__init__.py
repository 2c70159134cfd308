"""Pictures of cards: pure functions from a card to SVG."""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)

"""Features and scores of cards, deck builders, draft pickers and the value of decks."""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)

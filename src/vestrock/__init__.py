"""Vestrock: the second game, with a kernel, bots and a server of its own (docs/vestrock/rules.md).

`State` is a position, `Match` a match under the protocol's rules, and `generate_deck` generates
decks. The bots and everything else are imported from the modules.
"""

from locmsim.gamekit import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)

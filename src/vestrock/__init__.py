"""Vestrock: the second game, with a kernel, bots and a server of its own (docs/vestrock/rules.md).

`State` is a position, `Match` a match under the protocol's rules, and `generate_deck` generates
decks. The bots and everything else are imported from the modules.
"""

from typing import TYPE_CHECKING

from locmsim.gamekit import imported_later
from vestrock._core import ABI_VERSION, Creature, State, Table
from vestrock.deck import (
    Card,
    extreme_deck,
    format_deck,
    generate_deck,
    load_deck,
    parse_deck,
    save_deck,
)

if TYPE_CHECKING:
    from vestrock.client import Client as Client
    from vestrock.match import Match as Match
    from vestrock.positions import state_from_replies as state_from_replies
    from vestrock.positions import state_from_text as state_from_text
    from vestrock.positions import state_to_text as state_to_text
    from vestrock.server import Server as Server

__all__ = [
    "ABI_VERSION",
    "Card",
    "Client",
    "Creature",
    "Match",
    "Server",
    "State",
    "Table",
    "extreme_deck",
    "format_deck",
    "generate_deck",
    "load_deck",
    "parse_deck",
    "save_deck",
    "state_from_replies",
    "state_from_text",
    "state_to_text",
]

_LATE = {
    "Client": "client",
    "Match": "match",
    "Server": "server",
    "state_from_replies": "positions",
    "state_from_text": "positions",
    "state_to_text": "positions",
}
__getattr__, __dir__ = imported_later(__name__, _LATE)

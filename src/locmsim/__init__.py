"""locmsim: an exact, fast simulator of Legends of Code and Magic for search bots.

`State` is the battle, `Match` a whole game; docs/api.md shows all of the names below in use.
Most modules are imported on first use, because a referee and a bot are started for every game.
"""

import os
import sys
from typing import TYPE_CHECKING

from locmsim._core import ABI_VERSION, State
from locmsim._lazy import imported_later
from locmsim._moved import MovedFinder
from locmsim.errors import (
    GameOverError,
    IllegalActionError,
    InvalidActionError,
    LocmError,
    ProtocolError,
)
from locmsim.rules.actions import Action, ActionKind
from locmsim.rules.cards import Area, Card, CardType, cards_1x, load_cards, save_cards

if TYPE_CHECKING:
    from locmsim import agents as agents
    from locmsim import arena as arena
    from locmsim import art as art
    from locmsim import decks as decks
    from locmsim import envs as envs
    from locmsim import export as export
    from locmsim import game as game
    from locmsim import networks as networks
    from locmsim import openspiel as openspiel
    from locmsim import policy as policy
    from locmsim import referee as referee
    from locmsim import rules as rules
    from locmsim import search as search
    from locmsim import stats as stats
    from locmsim import tuning as tuning
    from locmsim import web as web
    from locmsim.batch import StateBatch as StateBatch
    from locmsim.contract import Fault as Fault
    from locmsim.contract import TurnResult as TurnResult
    from locmsim.contract import play_match as play_match
    from locmsim.game.match import Match as Match
    from locmsim.game.observation import Observation as Observation
    from locmsim.rules.generator import generate_cards as generate_cards

__version__ = "0.1.0"
__all__ = [
    "ABI_VERSION",
    "Action",
    "ActionKind",
    "Area",
    "Card",
    "CardType",
    "Fault",
    "GameOverError",
    "IllegalActionError",
    "InvalidActionError",
    "LocmError",
    "Match",
    "Observation",
    "ProtocolError",
    "State",
    "StateBatch",
    "TurnResult",
    "__version__",
    "agents",
    "arena",
    "cards_1x",
    "envs",
    "generate_cards",
    "get_include",
    "load_cards",
    "openspiel",
    "play_match",
    "referee",
    "save_cards",
    "search",
]

#: Names that are imported on first use, and their modules. So are all public modules themselves.
_LATER = {
    "Fault": "contract",
    "Match": "game.match",
    "Observation": "game.observation",
    "StateBatch": "batch",
    "TurnResult": "contract",
    "generate_cards": "rules.generator",
    "play_match": "contract",
}
__getattr__, __dir__ = imported_later(__name__, _LATER)
sys.meta_path.insert(0, MovedFinder)


def get_include() -> str:
    """Return the folder of ``locm.h``, the simulator as one header for C17 and C++17.

    It is for a compiler's ``-I``. Cython finds ``locmsim/_core.pxd`` by itself.
    """
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")

from locmsim import agents as agents
from locmsim import arena as arena
from locmsim import art as art  # not in __all__
from locmsim import decks as decks  # not in __all__
from locmsim import envs as envs
from locmsim import export as export  # not in __all__
from locmsim import game as game  # not in __all__
from locmsim import networks as networks  # not in __all__
from locmsim import openspiel as openspiel
from locmsim import policy as policy  # not in __all__
from locmsim import referee as referee
from locmsim import rules as rules  # not in __all__
from locmsim import search as search
from locmsim import stats as stats  # not in __all__
from locmsim import tuning as tuning  # not in __all__
from locmsim import web as web  # not in __all__
from locmsim._core import ABI_VERSION as ABI_VERSION
from locmsim._core import State as State
from locmsim.batch import StateBatch as StateBatch
from locmsim.contract import Fault as Fault
from locmsim.contract import TurnResult as TurnResult
from locmsim.contract import play_match as play_match
from locmsim.errors import GameOverError as GameOverError
from locmsim.errors import IllegalActionError as IllegalActionError
from locmsim.errors import InvalidActionError as InvalidActionError
from locmsim.errors import LocmError as LocmError
from locmsim.errors import ProtocolError as ProtocolError
from locmsim.game.match import Match as Match
from locmsim.game.observation import Observation as Observation
from locmsim.rules.actions import Action as Action
from locmsim.rules.actions import ActionKind as ActionKind
from locmsim.rules.cards import Area as Area
from locmsim.rules.cards import Card as Card
from locmsim.rules.cards import CardType as CardType
from locmsim.rules.cards import cards_1x as cards_1x
from locmsim.rules.cards import load_cards as load_cards
from locmsim.rules.cards import save_cards as save_cards
from locmsim.rules.generator import generate_cards as generate_cards

__version__: str

def get_include() -> str: ...

"""The `Agent` protocol, and base classes of the library's agents."""

import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

from locmsim._core import State
from locmsim.agents._scripted import turn_line
from locmsim.agents.choosers import deck_builder_of, draft_picker_of
from locmsim.decks import DeckBuilder, DraftPicker, build_deck, deck_line, pick
from locmsim.game.answers import answer_line, played
from locmsim.game.observation import Observation
from locmsim.options.checks import budget
from locmsim.options.declarations import Option, documented
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES
from locmsim.search.belief import Belief


class Agent(Protocol):
    """A player who is shown every observation of a game, each exactly once."""

    def reset(self, seed: int = 0) -> None:
        """Start a new game.

        Parameters
        ----------
        seed : int
            The answers depend only on the seed and the observations.
        """

    def choose(self, observation: Observation) -> str:
        """Return the answer line of the choice phase: the whole deck (1.5) or one pick (1.x).

        Parameters
        ----------
        observation : Observation
            The observation of the player.
        """

    def act(self, observation: Observation) -> str:
        """Return the answer line of a battle turn.

        Parameters
        ----------
        observation : Observation
            The observation of the player.

        Returns
        -------
        str
            Actions separated by ``;``, or "PASS" without actions.
        """


Deck = Annotated[
    str | DeckBuilder,
    Option(
        "how a deck of rules 1.5 is built: a function of the offer, or a text, see"
        " `locmsim.agents.choosers`",
        kind="str or function",
    ),
]
Draft = Annotated[
    str | DraftPicker,
    Option(
        "how cards are picked in rules 1.x: a function or a text, as for `deck`",
        kind="str or function",
    ),
]


@documented()
@dataclass
class ChoosingAgent(ABC):
    """An agent that chooses its cards by a heuristic, at random or by a trained policy.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        No way to choose cards has that name, or its file cannot be used.
    """

    deck: Deck = "default"
    draft: Draft = "default"

    def __post_init__(self) -> None:
        self.reset()
        deck_builder_of(self.deck)  # what is wrong with them is said here
        draft_picker_of(self.draft)

    def reset(self, seed: int = 0) -> None:
        """Start a new game.

        Parameters
        ----------
        seed : int
            The answers depend only on the seed and the observations.
        """
        self.random = random.Random(seed)
        self.picked: list[Card] = []
        self.chosen: list[int] = []  # base ids
        self._offers: list[tuple[Card, ...]] = []

    def choose(self, observation: Observation) -> str:
        """Return the answer line of the choice phase: the whole deck (1.5) or one pick (1.x).

        Parameters
        ----------
        observation : Observation
            The observation of the player.
        """
        offer = observation.offer
        if not RULES[observation.rules].draft:
            deck = self.build(offer)
            self.chosen = deck
            return deck_line(deck)
        choice = self.pick(offer, observation.rules)
        self._offers.append(offer)
        self.picked.append(offer[choice])
        self.chosen.append(offer[choice].base_id)
        return f"PICK {choice}"

    def start_turn(self, deadline: float) -> None:
        """Set the deadline for the answer, by `time.perf_counter`.

        Parameters
        ----------
        deadline : float
            A time of `time.perf_counter`; infinity without a limit.
        """
        self.deadline = deadline

    def time_left(self) -> float:
        """Return the seconds left for the answer; infinity without a deadline."""
        return float(getattr(self, "deadline", math.inf)) - time.perf_counter()

    @abstractmethod
    def act(self, observation: Observation) -> str:
        """Return the answer line of a battle turn.

        Parameters
        ----------
        observation : Observation
            The observation of the player.

        Returns
        -------
        str
            Actions separated by ``;``, or "PASS" without actions.
        """

    def build(self, offer: tuple[Card, ...]) -> list[int]:
        """Return the base ids of a deck.

        Parameters
        ----------
        offer : tuple of Card
            The cards offered.
        """
        return build_deck(offer, deck_builder_of(self.deck, self.random))

    def pick(self, offer: tuple[Card, ...], rules: str) -> int:
        """Return the index of the card to draft.

        Parameters
        ----------
        offer : tuple of Card
            The three cards offered.
        rules : str
            The rule set.
        """
        picker = draft_picker_of(self.draft, self.random)
        return pick(offer, self.picked, rules, picker, self._offers)


class BelievingAgent(ChoosingAgent):
    """An agent with a belief that is updated by every observation.

    Parameters
    ----------
    deck : str or function
        As in `ChoosingAgent`.
    draft : str or function
        As in `ChoosingAgent`.
    """

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.belief = Belief()

    def choose(self, observation: Observation) -> str:
        self.belief.see(observation)
        before = len(self.chosen)
        line = super().choose(observation)
        self.belief.chose(self.chosen[before:])
        return line


class ScriptedAgent(ChoosingAgent):
    """An agent of `locmsim.agents._scripted`, which needs only the visible cards.

    Parameters
    ----------
    deck : str or function
        As in `ChoosingAgent`.
    draft : str or function
        As in `ChoosingAgent`.
    """

    #: Its name there.
    script: ClassVar[str]

    def act(self, observation: Observation) -> str:
        return turn_line(self.script, observation)


class BaseAgent(BelievingAgent):
    """An agent that plans its turn in a state with arbitrary hidden cards.

    Parameters
    ----------
    deck : str or function
        How a deck of 1.5 is built: a function of the offer, or a text, see
        `locmsim.agents.choosers`.
    draft : str or function
        How cards are picked in 1.x: the same for drafts.
    """

    def act(self, observation: Observation) -> str:
        started = time.perf_counter()
        self.belief.see(observation)
        state = self.belief.root()
        if state.is_terminal():  # died from drawing, but is still asked
            return "PASS"
        return line_of(state, self.plan(state.clone(), started))

    @abstractmethod
    def plan(self, state: State, started: float) -> list[int]:
        """Return the actions of a turn.

        Parameters
        ----------
        state : State
            The position at the start of the turn, with arbitrary hidden cards; a copy that may be
            changed.
        started : float
            Time of the request, by `time.perf_counter`.

        Returns
        -------
        list of int
            Actions that are legal in this order, without PASS.
        """


def line_of(state: State, actions: Iterable[int]) -> str:
    """Return the answer line that plays `actions` from `state`."""
    if isinstance(actions, str) or not isinstance(actions, Iterable):
        raise TypeError(f"plan: expected a list of actions, got {actions!r}")
    return answer_line(played(state.clone(), actions))


def check_bounds(time_ms: float, name: str, bound: int) -> None:
    """Raise ``ValueError`` unless a turn is bounded by time or by the option of that name."""
    budget(time_ms, **{name: bound})
    if not (time_ms or bound):
        raise ValueError(f"one of time_ms and {name} must be above 0")

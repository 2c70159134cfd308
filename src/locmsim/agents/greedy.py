"""The agent that takes the best action, one at a time."""

from collections.abc import Callable
from dataclasses import dataclass

from locmsim._core import State
from locmsim.agents.base import BaseAgent
from locmsim.decks import DeckBuilder
from locmsim.search._evaluation import TERMS
from locmsim.search.evaluation import Evaluation

__all__ = ["HAND_SET_WEIGHTS", "GreedyAgent", "greedy_turn"]

#: What a player's things are worth, in points of attack on the board: set by hand, and left as it
#: is, so that the agent stays the same yardstick.
_SIDE = {
    "health": 0.25,
    "low_health": 0.3,
    "creature": 0.4,
    "attack": 1.0,
    "defense": 0.7,
    "guard_defense": 0.15,
    "lethal": 1.5,
    "ward_attack": 0.4,
    "drain_attack": 0.3,
    "breakthrough_attack": 0.1,
    "card": 1.6,
    "room": 0.2,
    "open_attack": 0.1,
    "kill": 4.0,
}
#: The weights of the agent, the same at all rule sets.
HAND_SET_WEIGHTS = {
    **dict.fromkeys(TERMS, 0.0),
    **{f"{side}.{name}": weight for side in ("own", "their") for name, weight in _SIDE.items()},
    "scale": 12.0,
}


@dataclass
class GreedyAgent(BaseAgent):
    """One action after the other, each the best by its immediate result.

    `evaluation` gives the value of a state to a player; None is for the hand-set weights. The deck
    is what the default was when the agent was made: a yardstick stays as it is.
    """

    deck: str | DeckBuilder = "classic"
    evaluation: Callable[[State, int], float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._evaluate = self.evaluation or Evaluation(HAND_SET_WEIGHTS, network=None).compiled

    def plan(self, state: State, started: float) -> list[int]:
        return greedy_turn(state, self._evaluate)


def greedy_turn(state: State, evaluate: Callable[[State, int], float]) -> list[int]:
    """Action by action the one after which the position is best, as long as that improves it.

    Parameters
    ----------
    state : State
        At any point of its mover's turn. It is not changed.
    evaluate : function
        Of a state and a player: the value to that player, whose turn ends there.

    Returns
    -------
    list of int
        Actions, PASS not among them.
    """
    player = state.current_player()
    value = evaluate(state, player)
    actions: list[int] = []
    while True:
        best, after = 0, state
        for action in state.legal_actions()[1:]:
            child = state.clone()
            child.apply_unchecked(action)
            reached = evaluate(child, player)
            if reached > value:
                best, value, after = action, reached, child
        if not best:
            return actions
        actions.append(best)
        state = after

"""The agent "greedy", which plays the best single action at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from locmsim._core import State
from locmsim.agents._scripted import HAND_SET_WEIGHTS as HAND_SET_WEIGHTS
from locmsim.agents._scripted import greedy_line
from locmsim.agents.base import BaseAgent, Deck
from locmsim.game.observation import Observation
from locmsim.options.declarations import Option, documented


@documented()
@dataclass
class GreedyAgent(BaseAgent):
    """Play one action at a time, always the best by its immediate result.

    The default deck builder of this agent never changes, so that results against it stay
    comparable.

    Parameters
    ----------
    options
    """

    deck: Deck = "classic"
    evaluation: Annotated[
        Callable[[State, int], float] | None,
        Option(
            "``evaluation(state, player)`` returns the value of a state to a player; by default it"
            " uses weights set by hand",
            kind="function",
        ),
    ] = None

    def act(self, observation: Observation) -> str:
        if self.evaluation is not None:
            return super().act(observation)
        self.belief.see(observation)
        return greedy_line(self.belief.knowledge)

    def plan(self, state: State, started: float) -> list[int]:
        assert self.evaluation is not None
        return greedy_turn(state, self.evaluation)


def greedy_turn(state: State, evaluate: Callable[[State, int], float]) -> list[int]:
    """Return a greedy turn: the best action at a time, as long as it improves the position.

    Parameters
    ----------
    state : State
        A state at any point of the mover's turn; it is not changed.
    evaluate : function
        Function of a state and a player: the value to that player if the turn ends there.

    Returns
    -------
    list of int
        Actions, without PASS.
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

"""The agent that gym-locm calls greedy, and the papers that measure by it OSL."""

from dataclasses import dataclass

from locmsim._core import State
from locmsim.agents.base import BaseAgent
from locmsim.decks import DeckBuilder

__all__ = ["OSLAgent", "osl_action"]

KILL = 1000
HEALTH = 2


@dataclass
class OSLAgent(BaseAgent):
    """gym-locm's greedy: the best action by health and board, as long as there is any.

    See `osl_action`. It passes only if nothing else is legal.
    """

    deck: str | DeckBuilder = "classic"

    def plan(self, state: State, started: float) -> list[int]:
        actions = []
        state = state.clone()
        while action := osl_action(state):
            actions.append(action)
            state.apply_action(action)
        return actions


def osl_action(state: State) -> int:
    """The action other than PASS after which the position is best; PASS if there is none.

    A position is worth 1000 for a dead opponent, -1000 for being dead, twice the difference in
    health, and the difference in attack and defense on the board. (gym-locm also adds ten times
    the number of own creatures less the number of own creatures, which is nothing.) Of actions
    that are equally good it is the first in the order of gym-locm: creatures are summoned first,
    then items used, then attacks made, and each aims at creatures before the player.

    Parameters
    ----------
    state : State
        At any point of its mover's turn, or finished.

    Returns
    -------
    int
    """
    player = state.current_player()
    sources: dict[tuple[int, int | None], int] = {}
    candidates = []
    for action in state.legal_actions()[1:]:
        kind, _, source, target, _ = state.action(action)
        rank = sources.setdefault((kind, source), len(sources))
        candidates.append((rank, target == -1, action))
    best, most = 0, -float("inf")
    for _, _, action in sorted(candidates):
        child = state.clone()
        child.apply_unchecked(action)
        value = _value(child, player)
        if value > most:
            best, most = action, value
    return best


def _value(state: State, player: int) -> int:
    me, opponent = state.players[player], state.players[1 - player]
    value = HEALTH * (me.health - opponent.health)
    value += KILL * (opponent.health <= 0) - KILL * (me.health <= 0)
    value += sum(creature.attack + creature.defense for creature in me.board)
    return value - sum(creature.attack + creature.defense for creature in opponent.board)

"""Step 1: take the action that looks best, until none improves the position."""

from dataclasses import dataclass

from locmsim import State
from locmsim.agents import BaseAgent


def worth(state: State, player: int) -> float:
    """Return a player's advantage over the other: creatures, health, a won game."""
    if state.is_terminal():
        return 1000 * state.returns()[player]
    sides = [p.health / 4 + sum(c.attack + c.defense / 2 for c in p.board) for p in state.players]
    return sides[player] - sides[1 - player]


@dataclass
class Greedy(BaseAgent):
    def plan(self, state: State, started: float) -> list[int]:
        player, actions = state.current_player(), []
        while legal := state.legal_actions()[1:]:  # all but PASS
            best = max(legal, key=lambda action: worth(state.child(action), player))
            if worth(state.child(best), player) <= worth(state, player):
                break
            actions.append(best)
            state.apply_action(best)
        return actions

"""Step 2, flat Monte Carlo: take the action after which most random games are won."""

from dataclasses import dataclass

import numpy as np

from locmsim import State, StateBatch
from locmsim.agents import BaseAgent


@dataclass
class Flat(BaseAgent):
    worlds: int = 10
    playouts: int = 10

    def plan(self, state: State, started: float) -> list[int]:
        player, actions = state.current_player(), []
        # Hidden cards are sampled: each row is a world that the player may be in.
        worlds = StateBatch.sample(self.belief, self.worlds, self.random.getrandbits(60))
        while legal := state.legal_actions():
            wins = []
            for action in legal:
                after = worlds.clone()
                after.step(np.full(len(after), action))
                seed = self.random.getrandbits(60)
                wins.append((after.rollouts(self.playouts, seed) == player).mean())
            best = legal[int(np.argmax(wins))]
            if best == 0:  # PASS
                break
            actions.append(best)
            state.apply_action(best)
            worlds.step(np.full(len(worlds), best))
        return actions

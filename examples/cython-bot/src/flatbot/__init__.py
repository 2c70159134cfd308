"""A bot that tries thousands of random turns, and plays on after the best of them."""

from dataclasses import dataclass

from flatbot._inlined import best_turn, evaluate
from locmsim import State
from locmsim.agents import BaseAgent

__all__ = ["FlatAgent", "best_turn", "evaluate"]


@dataclass
class FlatAgent(BaseAgent):
    """Flat Monte-Carlo search over whole turns, answered greedily in sampled worlds."""

    tries: int = 2000
    samples: int = 8

    def plan(self, state: State, started: float) -> list[int]:
        """Return the actions of a turn that was requested at the time `started`."""
        worlds = self.belief.determinizer()
        # Any state of the belief does: its table has all cards that can occur in the worlds.
        root = self.belief.sample(0)
        seed = self.random.getrandbits(60)
        return best_turn(root, worlds, tries=self.tries, samples=self.samples, seed=seed)

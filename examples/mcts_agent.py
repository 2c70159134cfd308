"""Monte-Carlo tree search in sixty lines, honest about hidden cards; an agent by its file:

    locmsim arena examples/mcts_agent.py:TreeSearch:iterations=500 random --games 20

The tree is that of the own turn. What follows the turn depends on cards that nobody has seen, so
each iteration draws a world of its own from the belief: a state that looks to the player as the
true one does. The true state is never looked at. Legal actions within the turn are the same in all
worlds.
"""

import math
import random
from dataclasses import dataclass, field

from locmsim import State
from locmsim.agents import BaseAgent


@dataclass
class Node:
    """What is known about a sequence of actions: how often it was tried, and what it won."""

    visits: int = 0
    wins: float = 0.0
    children: dict[int, "Node"] = field(default_factory=dict)

    def choose(self, legal: list[int], exploration: float, chance: random.Random) -> int:
        """The untried action, or the one of the highest upper confidence bound (UCT)."""
        untried = [action for action in legal if action not in self.children]
        if untried:
            return chance.choice(untried)

        def bound(action: int) -> float:
            child = self.children[action]
            spread = math.sqrt(math.log(self.visits) / child.visits)
            return child.wins / child.visits + exploration * spread

        return max(legal, key=bound)


@dataclass
class TreeSearch(BaseAgent):
    """UCT over one's own turn, ends of turns judged by random games in sampled worlds."""

    iterations: int = 300
    playouts: int = 20
    exploration: float = 0.3

    def plan(self, state: State, started: float) -> list[int]:
        """The actions of a turn; `state` is the position with any cards in the hidden places."""
        root, player = Node(), state.current_player()
        for _ in range(self.iterations):
            world = self.belief.sample(self.random.getrandbits(60))
            node, path = root, [root]
            while not world.is_terminal() and world.current_player() == player:
                action = node.choose(world.legal_actions(), self.exploration, self.random)
                world.apply_action(action)
                node = node.children.setdefault(action, Node())
                path.append(node)
            winners = world.rollouts(self.playouts, self.random.getrandbits(60))
            won = float((winners == player).mean())
            for visited in path:
                visited.visits += 1
                visited.wins += won
        actions, node = [], root
        while node.children:
            action = max(node.children, key=lambda a: node.children[a].visits)
            if action == 0:  # PASS ends the turn
                break
            actions.append(action)
            node = node.children[action]
        return actions

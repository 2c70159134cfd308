"""Step 3, UCT: a tree over the player's turn, in which equal positions share a node.

Flat Monte Carlo looks one action ahead. A tree spends its random games on whole turns, and most of
them on the turns that win. The order of actions often does not matter, so that many orders lead to
the same position: a transposition table, keyed by hash, gives them one node.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from locmsim import State, StateBatch
from locmsim.agents import BaseAgent


@dataclass
class Node:
    """Statistics of a position within the turn."""

    legal: list[int]
    visits: int = 0
    wins: float = 0.0
    #: Nodes by action; that of PASS is not in the table.
    children: dict[int, "Node"] = field(default_factory=dict)

    def bound(self, child: "Node", exploration: float) -> float:
        """Return the upper confidence bound of a child."""
        bonus = math.sqrt(math.log(self.visits + 1) / child.visits)
        return child.wins / child.visits + exploration * bonus


@dataclass
class UCT(BaseAgent):
    iterations: int = 150
    playouts: int = 10
    exploration: float = 0.15

    def plan(self, state: State, started: float) -> list[int]:
        node, actions = Node(state.legal_actions()), []
        table = {state.hash64(): node}  # kept for the whole turn
        while node.legal:
            worlds = StateBatch.sample(self.belief, self.iterations, self.random.getrandbits(60))
            for world in worlds:
                for action in actions:
                    world.apply_action(action)
                self.visit(node, state.clone(), world, table)
            best = max(node.children, key=lambda action: node.children[action].visits)
            if best == 0:  # PASS
                break
            actions.append(best)
            state.apply_action(best)
            node = node.children[best]
        return actions

    def visit(self, node: Node, position: State, world: State, table: dict[int, Node]) -> None:
        """Descend to a new node, and play on from there at random in one world."""
        player, path = position.current_player(), [node]
        while path[-1].legal and (path[-1].visits or len(path) == 1):
            action = self.select(path[-1])
            world.apply_action(action)
            if action:
                position.apply_action(action)
            path.append(self.enter(path[-1], action, position, table))
        winners = world.rollouts(self.playouts, self.random.getrandbits(60))
        won = float(np.mean(winners == player))
        for passed in path:
            passed.visits += 1
            passed.wins += won

    def select(self, node: Node) -> int:
        """Return an untried action, or the one with the highest bound."""
        untried = [action for action in node.legal if action not in node.children]
        if untried:
            return self.random.choice(untried)
        return max(node.children, key=lambda a: node.bound(node.children[a], self.exploration))

    @staticmethod
    def enter(node: Node, action: int, position: State, table: dict[int, Node]) -> Node:
        """Return the node after an action; `position` is already there, except after PASS."""
        if action not in node.children:
            legal = position.legal_actions() if action else []
            new = Node(legal)
            node.children[action] = table.setdefault(position.hash64(), new) if action else new
        return node.children[action]

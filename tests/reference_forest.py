"""`PolicySearch` in slow, plain Python, as a reference for the compiled forest.

It searches one tree at a time, over states of sampled worlds, which are evaluated one by one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from reference_layouts import Past, slots
from states import rebuilt

from locmsim import State
from locmsim._core import Determinizer
from locmsim.search import PolicyOptions
from locmsim.search._engine import seed_of_turn

LEAST_PRIOR = 1e-30

#: A function of a world, and of its history if that is known, that returns the value for the player
#: to move and the priors by action number.
LeafEvaluation = Callable[[State, Past | None], tuple[float, Any]]


@dataclass
class Edge:
    action: int
    prior: float = 0.0
    n_priors: int = 0
    visits: int = 0
    waiting: int = 0
    total: float = 0.0
    child: "Node | None" = None

    @property
    def mean(self) -> float:
        return (self.total - self.waiting) / self.visits


@dataclass
class Node:
    who: int
    edges: dict[Any, Edge] = field(default_factory=dict)
    visits: int = 0
    total: float = 0.0
    value: float = 0.0


@dataclass
class Leaf:
    node: Node | None
    who: int
    path: list[tuple[Node, Edge]]
    value: float | None = None  # for `who`, if it is known exactly
    world: State | None = None
    past: Past | None = None
    before: State | None = None  # the end of the last turn, if PASS led here


def keys(state: State) -> dict[int, Any]:
    """Return the public forms of the legal actions, which do not depend on hidden instance ids."""
    one = state.rules == "1.0"
    first_use, first_attack = (9, 113) if one else (17, 121)
    hand = state.players[state.turn & 1].hand
    found: dict[int, Any] = {}
    for action in state.legal_actions():
        if action == 0 or action >= first_attack:
            found[action] = action
            continue
        if action < first_use:
            place, target = (action - 1, 0) if one else divmod(action - 1, 2)
        else:
            place, target = divmod(action - first_use, 13)
        found[action] = action >= first_use, hand[place].card.base_id, target
    return found


def attacks_win(state: State) -> bool:
    """Return whether the attacks that are possible at once kill the opponent."""
    who = state.turn & 1
    lanes = (0,) if state.rules == "1.0" else (0, 1)
    damage = 0
    for lane in lanes:
        enemies = [c for c in state.players[1 - who].board if c.lane == lane]
        if not any("G" in creature.abilities for creature in enemies):
            own = [c for c in state.players[who].board if c.lane == lane and c.can_attack]
            damage += sum(max(0, creature.attack) for creature in own)
    return damage >= state.players[1 - who].health


class ReferenceSearch:
    """A tree; `seed` is the seed of its worlds, and `noise` is added to the root's actions."""

    def __init__(
        self, worlds: Determinizer, seed: int, noise: Any, options: PolicyOptions,
        evaluate: LeafEvaluation, past: Past | None = None, turn_ends: bool = False,
    ) -> None:  # fmt: skip
        self.turn_ends = turn_ends
        self.worlds, self.seed, self.noise = worlds, seed, noise
        self.options, self.evaluate, self.past = options, evaluate, past
        first = worlds.sample(0)
        self.root = Node(first.turn & 1)
        self.is_gumbel = options.root == "gumbel"
        self.level = 0
        self.run()

    def run(self) -> None:
        options = self.options
        self.end_round([self.descend(None)])
        if self.is_gumbel:
            for level, n in schedule(
                min(len(self.root.edges), options.considered), options.simulations
            ):
                self.level = level
                for start in range(0, n, options.leaves):
                    rest = range(min(options.leaves, n - start))
                    self.end_round([self.descend(self.candidate()) for _ in rest])
            return
        for start in range(0, options.simulations, options.leaves):
            rest = range(min(options.leaves, options.simulations - start))
            edges = [*self.root.edges.values()]
            self.end_round([self.descend(self.puct(self.root, edges)) for _ in rest])

    # ---- one simulation

    def weighed(self, value: float, visits: int) -> float:
        return (self.options.visit_offset + visits) * self.options.value_scale * value

    def score(self, edge: Edge, visits: int) -> float:
        score = self.noise[edge.action] + math.log(max(edge.prior, LEAST_PRIOR))
        return score + self.weighed(edge.mean, visits) if visits else score

    def candidate(self) -> Edge:
        open_ = [edge for edge in self.root.edges.values() if edge.visits == self.level]
        return max(open_, key=lambda edge: self.score(edge, self.level))

    def puct(self, node: Node, edges: list[Edge]) -> Edge:
        root = math.sqrt(max(1, sum(edge.visits for edge in edges)))
        unvisited = node.total / node.visits

        def score(edge: Edge) -> float:
            mean = edge.mean if edge.visits else unvisited
            return mean + self.options.exploration * edge.prior * root / (1 + edge.visits)

        return max(edges, key=score)

    def descend(self, edge: Edge | None) -> Leaf:
        number = edge.visits if edge else 0
        state = self.worlds.sample(seed_of_turn(self.seed, number))
        past = None
        if self.past is not None:
            past = past_in(self.past, state)
            state = past.state
        before = None
        node = self.root
        path: list[tuple[Node, Edge]] = []
        action = edge.action if edge else 0
        while edge is not None:
            path.append((node, edge))
            edge.visits += 1
            edge.waiting += 1
            before = state.clone() if action == 0 else None
            if past is not None:
                past.apply(action)
                state = past.state
            else:
                state.apply_action(action)
            if state.is_terminal():
                assert state.winner is not None
                return Leaf(None, state.winner, path, 1.0)
            if edge.child is None:
                edge.child = Node(state.turn & 1)
            node = edge.child
            legal = {}
            for number, seen in keys(state).items():
                legal.setdefault(seen, number)
            if not node.edges or any(seen not in node.edges for seen in legal):
                break
            edge = self.puct(node, [node.edges[seen] for seen in legal])
            action = next(n for seen, n in legal.items() if node.edges[seen] is edge)
        leaf = Leaf(node, state.turn & 1, path, world=state, past=past, before=before)
        if path and attacks_win(state):
            leaf.value = 1.0
        return leaf

    # ---- results

    def end_round(self, leaves: list[Leaf]) -> None:
        for leaf in leaves:
            if leaf.value is None:
                assert leaf.world is not None
                if self.turn_ends and leaf.before is not None:
                    value, priors = self.evaluate(leaf.before, None)
                    leaf.value = -value
                else:
                    leaf.value, priors = self.evaluate(leaf.world, leaf.past)
                self.expand(leaf, priors)
            self.back_up(leaf)

    def expand(self, leaf: Leaf, priors: Any) -> None:
        state, node = leaf.world, leaf.node
        assert state is not None
        assert node is not None
        total = 0.0
        shares: dict[Any, list[float]] = {}
        for action, seen in keys(state).items():
            total += float(priors[action])
            shares.setdefault(seen, []).append(float(priors[action]))
            if seen not in node.edges:
                node.edges[seen] = Edge(action)
        for seen, parts in shares.items():
            edge = node.edges[seen]
            edge.n_priors += 1
            edge.prior += (sum(parts) / total - edge.prior) / edge.n_priors

    def back_up(self, leaf: Leaf) -> None:
        value = leaf.value
        assert value is not None
        if leaf.node is not None:
            if not leaf.node.visits:
                leaf.node.value = value
            leaf.node.visits += 1
            leaf.node.total += value
        for node, edge in reversed(leaf.path):
            result = value if node.who == leaf.who else -value
            edge.waiting -= 1
            edge.total += result
            node.visits += 1
            node.total += result

    # ---- the answer

    @property
    def visits(self) -> dict[int, int]:
        return {edge.action: edge.visits for edge in self.root.edges.values()}

    @property
    def completed(self) -> dict[int, float]:
        """Return the mean result of each action, or for unvisited actions the expected one."""
        edges = [*self.root.edges.values()]
        tried = [edge for edge in edges if edge.visits]
        visits = sum(edge.visits for edge in tried)
        weight = sum(edge.prior for edge in tried)
        unvisited = self.root.value
        if visits and weight > 0:
            mean = sum(edge.prior * edge.mean for edge in tried) / weight
            unvisited = (self.root.value + visits * mean) / (1 + visits)
        return {edge.action: edge.mean if edge.visits else unvisited for edge in edges}

    @property
    def policy(self) -> dict[int, float]:
        most = max(self.visits.values())
        if self.is_gumbel:
            weights = {
                edge.action: max(edge.prior, LEAST_PRIOR)
                * math.exp(self.weighed(self.completed[edge.action], most))
                for edge in self.root.edges.values()
            }
        else:
            weights = {action: float(visits) for action, visits in self.visits.items()}
        total = sum(weights.values())
        return {action: weight / total for action, weight in weights.items()}

    @property
    def action(self) -> int:
        most = max(self.visits.values())
        best = [edge for edge in self.root.edges.values() if edge.visits == most]
        if self.is_gumbel:
            return max(best, key=lambda edge: self.score(edge, most)).action
        return max(best, key=lambda edge: edge.mean).action


def schedule(candidates: int, simulations: int) -> list[tuple[int, int]]:
    """Return the passes of sequential halving: the earlier visits per action, and new visits.

    After each of as many equal shares of the simulations as there are halvings one is due; it
    comes when the pass has ended.
    """
    rounds = (candidates - 1).bit_length()
    passes, done, level, alive, halved = [], 0, 0, candidates, 0
    while done < simulations:
        passes.append((level, min(alive, simulations - done)))
        done += alive
        level += 1
        used = np.float32(done) / np.float32(simulations)
        while halved < rounds and used * np.float32(rounds) >= halved + 1:
            halved += 1
            alive = (alive + 1) // 2
    return passes


def past_in(past: Past, world: State) -> Past:
    """Return the history in a sampled world, in which hidden cards get their own instance ids."""
    mover = past.state.turn & 1
    state = with_ids(world)
    made = Past(state)
    made.drawn = [set(), set()]
    made.drawn[mover] = past.drawn[mover] & made.hand_ids(mover)
    made.shown = [list(cards) for cards in past.shown]
    made.actions = past.actions
    # Area copies whose originals are gone may have other ids in that world.
    made.began = [
        {
            there.id
            for here, there in zip(slots(past.state, who), slots(state, who), strict=True)
            if here is not None and here.id in past.began[who]
        }
        for who in (0, 1)
    ]
    return made


def with_ids(world: State) -> State:
    """Return the same position with free instance ids for the cards that have none."""
    players = world.players
    used = {c.id & ~1 for p in players for c in (*p.hand, *p.board) if c.id != 255}
    free = iter([number for number in range(0, 254, 2) if number not in used])
    places = []
    for player in players:
        held = [(c.id if c.id != 255 else next(free), c.card) for c in player.hand]
        places.append(held + [(next(free), c.card) for c in player.deck])
    return rebuilt(world, places)

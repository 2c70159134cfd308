"""Search over one's own turn in plain Python: an evaluation, a greedy search and a beam.

All of it works on a `State` whose mover is at any point of his turn, and looks at nothing that he
cannot see: states drawn by `Belief.sample` give the same answer as the true one. It is the slow and
clear counterpart of a compiled search; a few thousand nodes take a tenth of a second. Section
numbers are those of docs/rules.md.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, TypeAlias

from locmsim._core import State
from locmsim.rules.rulesets import HAND_LIMIT, RULES, RuleSet

__all__ = ["Budget", "Evaluation", "beam_search", "greedy_turn", "turn_key"]

Snapshot: TypeAlias = Mapping[str, Any]

#: Value of a won position, above any sum of other terms.
WON = 1e6

# Columns of a board row of a snapshot (section 13).
ATTACK, DEFENSE, ABILITIES, LANE = range(2, 6)


class Budget:
    """How much a search may do: until a moment, for a number of nodes, or both.

    `deadline` is a time of `time.perf_counter`, in seconds. Under a budget of nodes alone a search
    does the same on every machine. A node is a position that was reached by an action.
    """

    __slots__ = ("deadline", "nodes")

    def __init__(self, *, deadline: float | None = None, nodes: int | None = None) -> None:
        self.deadline = deadline
        self.nodes = nodes

    def spend(self) -> bool:
        """Take one node; False if nothing is left."""
        if self.nodes is not None:
            self.nodes -= 1
            if self.nodes < 0:
                return False
        return self.deadline is None or time.perf_counter() < self.deadline


# ------------------------------------------------------------------------------------ evaluation


@dataclass(frozen=True)
class Evaluation:
    """A linear evaluation of the end of a player's turn, in points of attack on the board.

    Each term counts for the player, and against him when it is the opponent's.
    """

    #: Each point of health, and in addition each point below `low`.
    health: float = 0.25
    low_health: float = 0.35
    low: int = 10
    #: A creature: its attack, its defense, and being there at all.
    attack: float = 1.0
    defense: float = 0.7
    creature: float = 0.4
    #: Keywords: for each point of defense, once, and for each point of attack.
    guard: float = 0.15
    lethal: float = 1.5
    ward: float = 0.4
    drain: float = 0.3
    breakthrough: float = 0.1
    #: Each card in hand at the start of his next turn: the next draw counts, up to the hand limit.
    #: So is what damage makes him draw.
    card: float = 1.6
    #: Each card that he will have to draw from an empty deck.
    deck_out: float = -4.0
    #: Each point of attack that no Guard holds back, and its being enough to kill.
    open_attack: float = 0.1
    threat: float = 4.0
    #: Each lane with room for creatures and area copies to come.
    room: float = 0.2

    _values: dict[tuple[int, int, str], float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __call__(self, snapshot: Snapshot, player: int, rules: RuleSet) -> float:
        """The value of a position (see `State.snapshot`) to `player`, whose turn it has been."""
        if snapshot["winner"] >= 0:
            return WON if snapshot["winner"] == player else -WON
        me, op = snapshot["p"][player], snapshot["p"][1 - player]
        value = self._own(me, rules) - self._own(op, rules)
        return value + self._attack(me, op) - self._attack(op, me)

    def _own(self, p: Snapshot, rules: RuleSet) -> float:
        """What one player has."""
        health: int = p["hp"]
        hand = len(p["hand"])
        room = [rules.lane_size] * rules.lanes
        value: float = self.health * health - self.low_health * max(0, self.low - health)
        for row in p["board"]:
            room[row[LANE]] -= 1
            kind = row[ATTACK], row[DEFENSE], row[ABILITIES]
            worth = self._values.get(kind)
            if worth is None:
                worth = self._values[kind] = self._creature(*kind)
            value += worth
        value += self.room * (rules.lanes - room.count(0))
        draws: int = min(p["draw"], HAND_LIMIT - hand)
        missing: int = max(0, draws - p["deck"])
        return value + self.card * (hand + draws - missing) + self.deck_out * missing

    def _creature(self, attack: int, defense: int, abilities: str) -> float:
        by_letter = {
            "B": self.breakthrough * attack,
            "D": self.drain * attack,
            "G": self.guard * defense,
            "L": self.lethal * (attack > 0),
            "W": self.ward * attack,
        }
        value = self.creature + self.attack * attack + self.defense * defense
        return value + sum(by_letter.get(letter, 0.0) for letter in abilities)

    def _attack(self, p: Snapshot, other: Snapshot) -> float:
        """What the creatures of one player may do to the other one's health at once."""
        guarded = {row[LANE] for row in other["board"] if "G" in row[ABILITIES]}
        damage: int = sum(row[ATTACK] for row in p["board"] if row[LANE] not in guarded)
        kills: bool = damage >= other["hp"]
        return self.open_attack * damage + self.threat * kills


# ------------------------------------------------------------------------------------ own turn


def turn_key(snapshot: Snapshot, player: int, base_ids: Mapping[int, int]) -> Any:
    """Equal for two positions of one turn that differ in the order of cards and creatures only.

    `base_ids` are those of the instances in hand at the turn's start: copies of a card are alike.
    """
    me, op = snapshot["p"][player], snapshot["p"][1 - player]
    return (
        me["hp"],
        op["hp"],
        me["draw"],
        op["draw"],
        me["mana"],
        op.get("lost"),
        tuple(sorted([base_ids[card] for card in me["hand"]])),
        tuple(sorted([tuple(row[1:]) for row in me["board"]])),
        tuple(sorted([tuple(row[1:]) for row in op["board"]])),
    )


def greedy_turn(state: State, evaluate: Evaluation) -> list[int]:
    """Action by action the one after which the position is best, as long as that improves it."""
    state = state.clone()
    player, rules = state.current_player(), RULES[state.rules]
    actions: list[int] = []
    value = evaluate(state.snapshot(), player, rules)
    while True:
        best = None
        for action in state.legal_actions()[1:]:
            child = state.clone()
            child.apply_unchecked(action)
            reached = evaluate(child.snapshot(), player, rules)
            if reached > value:
                best, value = action, reached
        if best is None:
            return actions
        actions.append(best)
        state.apply_unchecked(best)


def beam_search(
    state: State, evaluate: Evaluation, budget: Budget, widths: Iterable[int] = (6, 30, 150)
) -> list[int]:
    """The best turn found: after each number of actions the best positions are followed up.

    Positions that differ in order only count once. The search is repeated with each of the
    `widths` as long as the budget lasts, so a small budget also suffices for whole turns. A win
    ends it.
    """
    player, rules = state.current_player(), RULES[state.rules]
    base_ids = {number: card.base_id for number, card in state.players[player].hand}
    root = state.snapshot()
    best: tuple[float, tuple[int, ...]] = (evaluate(root, player, rules), ())
    values: dict[Any, float] = {}
    for width in widths:
        level: list[tuple[float, State, tuple[int, ...]]] = [(best[0], state, ())]
        seen = {turn_key(root, player, base_ids)}
        while level:
            reached: list[tuple[float, State, tuple[int, ...]]] = []
            for _, node, path in level:
                for action in node.legal_actions()[1:]:
                    if not budget.spend():
                        return list(max([best, *((v, p) for v, _, p in reached)], key=_first)[1])
                    child = node.clone()
                    child.apply_unchecked(action)
                    snapshot = child.snapshot()
                    key = turn_key(snapshot, player, base_ids)
                    if key in seen:
                        continue
                    seen.add(key)
                    value = values.get(key)
                    if value is None:
                        value = values[key] = evaluate(snapshot, player, rules)
                    if value == WON:
                        return [*path, action]
                    if not child.is_terminal():
                        reached.append((value, child, (*path, action)))
            level = nlargest(width, reached, key=_first)
            if level and level[0][0] > best[0]:
                best = level[0][0], level[0][2]
    return list(best[1])


def _first(item: tuple[Any, ...]) -> Any:
    return item[0]

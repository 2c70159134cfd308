"""A beam search over the player's turn in plain Python.

It works on a `State` whose mover is at any point of their turn, and looks at nothing that they
cannot see.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from heapq import nlargest
from typing import Any, TypeAlias

from locmsim import State

Snapshot: TypeAlias = Mapping[str, Any]


class Budget:
    """The budget of a search: a deadline, a number of nodes, or both.

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


def turn_key(snapshot: Snapshot, player: int, base_ids: Mapping[int, int]) -> Any:
    """Return a key of a position within a turn that ignores the order of cards and creatures.

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


def beam_search(
    state: State,
    evaluate: Callable[[State, int], float],
    budget: Budget,
    widths: Iterable[int] = (6, 30, 150),
) -> list[int]:
    """Return the best turn found; after each number of actions the best positions are continued.

    Positions that differ in order only count once. The search is repeated with each of the
    `widths` as long as the budget lasts, so a small budget also suffices for whole turns. A win
    ends it.
    """
    player = state.current_player()
    base_ids = {number: card.base_id for number, card in state.players[player].hand}
    root = state.snapshot()
    best: tuple[float, tuple[int, ...]] = (evaluate(state, player), ())
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
                        value = values[key] = evaluate(child, player)
                    if child.winner == player:
                        return [*path, action]
                    if not child.is_terminal():
                        reached.append((value, child, (*path, action)))
            level = nlargest(width, reached, key=_first)
            if level and level[0][0] > best[0]:
                best = level[0][0], level[0][2]
    return list(best[1])


def _first(item: tuple[Any, ...]) -> Any:
    return item[0]

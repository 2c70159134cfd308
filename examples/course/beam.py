"""Step 4, a beam: keep the best positions after one action, after two, and so on.

Random games say little about a position and cost microseconds each. An evaluation says more: the
package has one, and any function of a `StateBatch` will do, such as your own network. In one call
for thousands of positions it costs next to nothing per position, whatever it is written in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from locmsim import State, StateBatch
from locmsim.agents import BaseAgent
from locmsim.search import Evaluation


def turns(
    roots: StateBatch, evaluation: Callable[[StateBatch], Any] | Evaluation, width: int
) -> list[list[tuple[float, list[int], State]]]:
    """Return for each root the turns that a beam finds, best first: value, actions and end."""
    level, owner = roots, np.arange(len(roots))
    paths: list[list[int]] = [[] for _ in range(len(roots))]
    found = [
        [(float(value), path, state)]
        for value, path, state in zip(roots.values(evaluation), paths, roots, strict=True)
    ]
    while len(level):
        legal = level.actions()
        moves = legal.action != 0  # all but PASS
        parent, action = legal.row[moves], legal.action[moves]
        level = level.take(parent)
        level.step(action)
        values = level.values(evaluation)
        # Keep one of several equal positions, and the best ones of each root.
        of = owner[parent]
        _, new = np.unique(
            np.stack([of.astype(np.uint64), level.hash64()]), axis=1, return_index=True
        )
        order = new[np.lexsort([-values[new], of[new]])]
        rank = np.arange(len(order)) - np.searchsorted(of[order], of[order])
        kept = order[rank < width]
        paths = [[*paths[parent[i]], int(action[i])] for i in kept]
        level, owner = level.take(kept), of[kept]
        for row, i in enumerate(kept):
            found[of[i]].append((float(values[i]), paths[row], level[row]))
    return [sorted(ends, key=lambda end: -end[0]) for ends in found]


@dataclass
class Beam(BaseAgent):
    width: int = 100

    def plan(self, state: State, started: float) -> list[int]:
        _, actions, _ = turns(StateBatch([state]), Evaluation(rules=state.rules), self.width)[0][0]
        return actions

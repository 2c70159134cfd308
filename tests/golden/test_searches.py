"""Results of searches with fixed seeds and budgets do not change by accident."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from helpers import DATA, each_rules

from locmsim import Observation
from locmsim.game.positions import random_game, start_position
from locmsim.search import MCTS, BeamSearch, MCTSOptions

SEARCHES: dict[str, tuple[Any, dict[str, int]]] = {
    "beam": (BeamSearch(), {"nodes": 3000}),
    "mcts": (MCTS(), {"iterations": 120}),
    "mcts, worlds=3": (MCTS(MCTSOptions(worlds=3)), {"iterations": 200}),
}
EXPECTED = json.loads((DATA / "searches.json").read_text())


def turns(rules: str) -> Iterator[Observation]:
    """Return what players see at starts of turns in which there is something to decide."""
    for seed in (1, 2, 3):
        last = -1
        for state, _ in random_game(start_position(seed, rules), seed):
            if state.turn > last and state.turn in (4, 9) and len(state.legal_actions()) > 2:
                yield state.observation(state.current_player())
            last = state.turn


@each_rules
@pytest.mark.parametrize("name", SEARCHES)
def test_results_are_those_of_before(name: str, rules: str) -> None:
    """They are the same on every machine, to the last bit."""
    search, budget = SEARCHES[name]
    results = [search.search(seen, seed=i, **budget) for i, seen in enumerate(turns(rules))]
    assert [[result.line, result.value] for result in results] == EXPECTED[rules][name]

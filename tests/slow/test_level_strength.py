"""Tests that each level of the bundled bot beats the level below, but not in nearly all games."""

import pytest
from amounts import amount
from helpers import RULE_SETS

from locmsim.arena import Arena


@pytest.mark.parametrize("rules", amount(["1.5"], most=RULE_SETS))
def test_each_level_beats_the_one_below(rules: str) -> None:
    for k in range(2, 10):
        players = [f"level:k={k}", f"level:k={k - 1}"]
        with Arena(None, players, rules=rules, games=100, seed=7, timeout_scale=0) as arena:
            arena.run(jobs=1)
            lost = len([*arena.games(lost_by=players[1])])
        # The levels are chosen to win 55 to 80 %; in 100 games, chance adds or subtracts about 10.
        assert 45 <= lost <= 90, k

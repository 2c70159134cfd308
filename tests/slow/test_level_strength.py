"""Each level of the bundled bot beats the one below, and not too clearly."""

import pytest
from helpers import RULE_SETS

from locmsim.arena import Arena


@pytest.mark.parametrize("rules", RULE_SETS)
def test_each_level_beats_the_one_below(rules: str) -> None:
    for k in range(2, 10):
        players = [f"level:k={k}", f"level:k={k - 1}"]
        with Arena(players, rules=rules, games=100, seed=7, timeout_scale=0) as arena:
            arena.run(jobs=1)
            lost = len(arena.lost(players[1]))
        # The table was made for 55 to 80 %; of 100 games they win 10 more or less by chance.
        assert 45 <= lost <= 90, k

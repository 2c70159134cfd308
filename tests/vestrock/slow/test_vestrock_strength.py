"""Tests of the strength of the bots, in 400 matches with 200 decks, from both seats."""

import pytest

from locmsim.arena import Arena


@pytest.mark.parametrize(
    ("bots", "games", "share"),
    [
        (["rule", "random"], 400, 0.95),
        (["search:nodes=4000", "rule"], 400, 0.85),
        # With the same number of positions per turn, looking ahead is better.
        (["search:nodes=2000", "search:nodes=2000,depth=1"], 400, 0.53),
    ],
)
def test_the_first_wins(bots, games, share):
    with Arena(None, bots, game="vestrock", games=games, seed=5000) as arena:
        arena.run(jobs=1)
        assert sum(arena.tally.players[0].wins) >= share * games

"""Tests of the replay page, step by step, for more golden games than the other tests."""

import pytest
from amounts import amount
from browser import Opener, browser, check_game, open_page
from helpers import each_rules, golden_games

__all__ = ["browser", "open_page"]


@pytest.mark.parametrize("part", range(amount(1, most=6)))
@each_rules
def test_every_step(rules: str, part: int, open_page: Opener) -> None:
    games = list(golden_games(rules))[part::18]
    for game in games[: amount(3, most=len(games))]:
        if game["turns"]:
            check_game(open_page, game)

"""The stdin bot as a program: games with either instance ids are the same, with nothing illegal."""

import sys
from typing import Any

import pytest
from amounts import amount

from locmsim.arena import Arena

pytestmark = pytest.mark.slow

#: Games of each pair.
GAMES = amount(20, most=300)
#: Its answers depend on nothing but what it is sent.
BOT = f"bot={sys.executable} -m locmsim.bot --agent beam:time_ms=0,nodes=60"
KINDS = (
    "greedy",
    "beam:time_ms=0,nodes=60",
    "mcts:time_ms=0,iterations=60",
    "search:simulations=8",
    "learned",
)


def played(ids: str, kind: str) -> list[Any]:
    """Play games of the bot against a kind of agent; return the actions of each, and the winner."""
    games = []
    with Arena(
        None, [BOT, f"other={kind}"], ids=ids, games=GAMES, seed=5, timeout_scale=0
    ) as arena:
        arena.run(jobs=2)
        for number in range(1, arena.tally.games + 1):
            result = arena.replay(number)
            assert result.fault is None
            assert result.match.ids == ids
            for call in result.calls:
                assert [text for text in call.result.ignored if text != "PASS"] == []
            applied = [(call.player, call.result.applied) for call in result.calls]
            games.append((arena.record(number).outcome.players, applied, result.winner))
    assert len(games) == GAMES
    return games


@pytest.mark.parametrize("kind", KINDS)
def test_games_of_the_bot_are_the_same_with_either_ids(kind: str) -> None:
    assert played("old", kind) == played("new", kind)

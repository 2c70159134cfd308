"""The levels of the bundled bot: those below the last one slip, and do not depend on the clock."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from amounts import amount
from helpers import RULE_SETS, each_rules

from locmsim import Match
from locmsim.agents import LEVELS, BeamAgent, GreedyAgent, Level, LevelAgent, make_agent
from locmsim.referee import play


def answers(agent: Any, rules: str, seed: int = 3) -> list[str | None]:
    other = make_agent("greedy")
    agent.reset(5)
    other.reset(6)
    result = play([agent, other], Match(rules, seed=seed), timeout_scale=0)
    assert result.fault is None
    return [call.answer for call in result.calls if call.player == 0]


def wins(players: Sequence[Any], rules: str, games: int) -> int:
    """Return how many matches the first agent wins, with seats swapped each time."""
    won = 0
    for i in range(games):
        seats = list(players) if i % 2 else [*players][::-1]
        for seat, agent in enumerate(seats):
            agent.reset(2 * i + seat)
        result = play(seats, Match(rules, seed=100 + i // 2), timeout_scale=0)
        assert result.winner is not None
        won += seats[result.winner] is players[0]
    return won


def test_tables() -> None:
    assert list(LEVELS) == list(RULE_SETS)
    for table in LEVELS.values():
        assert len(table) == 10
        assert table[-1] == Level(time_ms=BeamAgent().time_ms)
        assert all(level.time_ms == 0 for level in table[:-1])  # they do not depend on the machine
        assert all(level.slips == 1 or level.nodes > 0 for level in table[:-1])


@each_rules
def test_answers_depend_on_the_seed_only(rules: str) -> None:
    found = {k: answers(LevelAgent(k), rules) for k in (1, 6, 9)}
    for k, first in found.items():
        assert first == answers(make_agent(f"level:k={k}"), rules)
    assert found[1] != found[9]


def test_without_slips_it_is_the_beam(registered: Callable[..., None]) -> None:
    registered(LEVELS, "1.2", [Level(nodes=300)])
    found = answers(LevelAgent(1), "1.2")
    assert len(found) > 33
    assert answers(BeamAgent(nodes=300, time_ms=0), "1.2") == found


def test_with_slips_only_it_is_greedy(registered: Callable[..., None]) -> None:
    registered(LEVELS, "1.0", [Level(slips=1.0)])
    assert answers(LevelAgent(1), "1.0") == answers(GreedyAgent(), "1.0")


@pytest.mark.slow
@each_rules
def test_the_first_level_loses_to_greedy(rules: str) -> None:
    games = amount(12, 24)
    assert wins([LevelAgent(1), GreedyAgent()], rules, games) < games / 2 - 1

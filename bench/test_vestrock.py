"""Vestrock: the kernel's operations from compiled code, playouts, turns of the bots."""

import pytest

from locmsim.vestrock import State, generate_deck
from locmsim.vestrock._bench import StateLoops
from locmsim.vestrock.bench import POSITIONS, median_positions, positions
from locmsim.vestrock.bots import make_bot
from locmsim.vestrock.bots._policy import rule_playouts

LOOPS = 100
PLAYOUTS = 200


@pytest.mark.benchmark(group="vestrock kernel")
@pytest.mark.parametrize("find", [median_positions, positions], ids=["median", "match"])
@pytest.mark.parametrize("operation", ["clone", "apply", "legal", "turn"])
def test_kernel(benchmark, operation, find):
    """``apply`` and ``turn`` with a copy before each."""
    run = getattr(StateLoops(find()), operation)
    assert benchmark(run, LOOPS) > 0
    if benchmark.enabled:
        benchmark.extra_info["operations"] = LOOPS * POSITIONS
        seconds = benchmark.stats.stats.median
        benchmark.extra_info["ns each"] = 1e9 * seconds / LOOPS / POSITIONS


@pytest.mark.benchmark(group="vestrock playouts")
@pytest.mark.parametrize("policy", ["rule", "random"])
def test_playouts(benchmark, policy):
    state = State.new(generate_deck(1))
    play = (
        (lambda: rule_playouts(state, PLAYOUTS, 1))
        if policy == "rule"
        else (lambda: state.rollouts(PLAYOUTS, 1))
    )
    assert len(benchmark(play)) == PLAYOUTS


@pytest.mark.benchmark(group="vestrock bots")
@pytest.mark.parametrize("bot", ["random", "rule", "search:nodes=2000"])
def test_turns_of_bots(benchmark, bot):
    """One answer in each of the median positions."""
    player = make_bot(bot)
    states = median_positions()
    lines = benchmark(lambda: [player.turn(state) for state in states])
    assert len(lines) == POSITIONS

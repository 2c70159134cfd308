"""The kernel: playouts, and its C functions as compiled callers use them."""

import pytest

from locmsim._bench import KernelLoops, game_lengths
from locmsim.bench import groups, starts, typical


def per_operation(benchmark, operations):
    """Note the time of one operation, where a round is many."""
    benchmark.extra_info["operations"] = operations
    if benchmark.stats is not None:
        benchmark.extra_info["ns each"] = benchmark.stats["median"] / operations * 1e9


@pytest.mark.benchmark(group="playouts")
@pytest.mark.parametrize("threads", [1, 2])
def test_rollouts(benchmark, rules, threads):
    states = starts(rules)
    games = 500

    def play():
        for state in states:
            state.rollouts(games, 1, threads=threads)

    benchmark(play)
    actions, _ = game_lengths(states, games, 1)
    benchmark.extra_info["games"] = games * len(states)
    per_operation(benchmark, actions)


@pytest.mark.benchmark(group="kernel")
@pytest.mark.parametrize("operation", ["copy", "clone", "apply", "count", "list", "kth"])
def test_operation(benchmark, rules, operation):
    """Every operation includes "copy"."""
    loops = KernelLoops(groups(rules), 1)
    benchmark(loops.run, operation, 5)
    per_operation(benchmark, 5 * sum(map(len, groups(rules))))


@pytest.mark.benchmark(group="kernel")
def test_perft(benchmark, rules):
    state, _ = typical(rules)[0]
    nodes = benchmark(state.perft, 4)
    per_operation(benchmark, nodes)

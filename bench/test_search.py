"""Searches with a budget of iterations, at starts of turns with much to decide."""

import pytest

from locmsim.bench import SEARCHES, search_positions


@pytest.mark.benchmark(group="search")
@pytest.mark.parametrize("name", SEARCHES)
def test_search(benchmark, rules, name):
    search, unit, iterations = SEARCHES[name]
    seen = search_positions(rules)

    def run():
        return [
            search.search(observation, iterations=iterations, belief=belief)
            for observation, belief in seen
        ]

    results = benchmark.pedantic(run, rounds=5)
    done = sum(r.nodes if unit == "nodes/s" else r.iterations for r in results)
    benchmark.extra_info[unit] = done / sum(r.elapsed for r in results)
    assert done > 0

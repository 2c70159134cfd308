"""Searches with a budget of nodes or iterations, at starts of turns with much to decide."""

import pytest

from locmsim.bench import SEARCHES, search_positions


@pytest.mark.benchmark(group="search")
@pytest.mark.parametrize("name", SEARCHES)
def test_search(benchmark, rules, name):
    search, unit, budget = SEARCHES[name]
    seen = search_positions(rules)

    def run():
        return [
            search.search(observation, belief=belief, **{unit: budget})
            for observation, belief in seen
        ]

    results = benchmark.pedantic(run, rounds=5)
    done = sum(getattr(r, unit) for r in results)
    benchmark.extra_info[f"{unit}/s"] = done / sum(r.elapsed for r in results)
    assert done > 0

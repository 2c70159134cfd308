"""Environments: steps, resets, advantages, decisions of a network."""

import pytest

gymnasium = pytest.importorskip("gymnasium")

from locmsim.envs import bench  # noqa: E402


def note(benchmark, rate):
    benchmark.extra_info["a second"] = rate


@pytest.mark.benchmark(group="environments")
@pytest.mark.parametrize("opponent", ["pass", "random", "osl", "greedy"])
def test_single(benchmark, rules, opponent):
    note(benchmark, benchmark.pedantic(bench.single_steps, (rules, opponent, 0.3), rounds=1))


@pytest.mark.benchmark(group="environments")
@pytest.mark.parametrize("opponent", [None, "random", "osl", "greedy"])
@pytest.mark.parametrize("layout", ["entities", "gym-locm"])
def test_vector(benchmark, rules, layout, opponent):
    if (rules, layout) == ("1.0", "gym-locm"):
        pytest.skip("gym-locm has no rules 1.0")
    arguments = (rules, layout, opponent, 0.3)
    note(benchmark, benchmark.pedantic(bench.vector_steps, arguments, rounds=1))


@pytest.mark.benchmark(group="environments")
def test_all_figures(benchmark, rules):
    found = benchmark.pedantic(lambda: list(bench.figures(rules, 1.0)), rounds=1)
    assert all(value > 0 for _, value, _ in found)

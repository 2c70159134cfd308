"""Calls from Python: single states and batches."""

import numpy as np
import pytest

from locmsim import StateBatch
from locmsim.bench import search_positions, starts, typical


@pytest.fixture
def pair(rules):
    """A position with five or six legal actions, and one of these."""
    return typical(rules)[0]


@pytest.mark.benchmark(group="python")
class TestState:
    def test_clone(self, benchmark, pair):
        state, _ = pair
        assert benchmark(state.clone) == state

    def test_copy_from(self, benchmark, pair):
        state, _ = pair
        other = state.clone()
        benchmark(other.copy_from, state)

    @pytest.mark.parametrize("method", ["apply_unchecked", "apply_action"])
    @pytest.mark.parametrize("number", [int, np.int64])
    def test_apply(self, benchmark, pair, method, number):
        """With the `copy_from` that it takes to do it again."""
        state, action = pair
        other = state.clone()
        apply, action = getattr(other, method), number(action)

        def step():
            other.copy_from(state)
            apply(action)

        benchmark(step)
        assert other == state.child(action)

    def test_child(self, benchmark, pair):
        state, action = pair
        benchmark(state.child, action)

    def test_legal_actions(self, benchmark, pair):
        state, action = pair
        assert action in benchmark(state.legal_actions)

    def test_legal_actions_mask(self, benchmark, pair):
        state, action = pair
        out = state.legal_actions_mask()
        assert benchmark(lambda: state.legal_actions_mask(out=out))[action] == 1

    def test_resample_hidden(self, benchmark, pair):
        state, _ = pair
        benchmark(state.resample_hidden, state.current_player(), 1)

    def test_snapshot(self, benchmark, pair):
        state, _ = pair
        benchmark(state.snapshot)

    def test_to_bytes(self, benchmark, pair):
        state, _ = pair
        benchmark(state.to_bytes)

    def test_key(self, benchmark, pair):
        state, _ = pair
        benchmark(state.key)


@pytest.mark.benchmark(group="batch")
class TestBatch:
    size = 10_000

    def test_step(self, benchmark, rules):
        start = StateBatch.repeat(starts(rules)[0], self.size)
        for seed in range(5):
            start.step(start.sample_actions(seed))
        actions = start.sample_actions(5)
        benchmark.pedantic(
            lambda batch: batch.step(actions), setup=lambda: ((start.clone(),), {}), rounds=50
        )
        benchmark.extra_info["states"] = self.size

    def test_masks(self, benchmark, rules):
        batch = StateBatch.repeat(starts(rules)[0], self.size)
        assert benchmark(batch.legal_actions_mask).any()

    @pytest.mark.parametrize("what", ["search", "its playouts alone"])
    def test_determinized_search(self, benchmark, rules, what):
        """Of one ply, in 100 worlds, with 10 playouts after each action in each of them."""
        seen, belief = search_positions(rules)[0]

        def ends():
            worlds = StateBatch.sample(belief, 100, seed=1)
            legal = worlds.actions()
            children = worlds.take(legal.row)
            children.step(legal.action)
            return children, legal.action

        def search(prepared=None):
            children, actions = prepared or ends()
            wins = (children.rollouts(10, seed=2) == belief.seat).sum(axis=1)
            return np.bincount(actions, wins)

        wins = benchmark(search, None if what == "search" else ends())
        benchmark.extra_info["playouts"] = 1000 * len(seen.legal_actions())
        assert wins.argmax() in seen.legal_actions()

    def test_rollouts(self, benchmark, rules):
        batch = StateBatch.repeat(starts(rules)[0], self.size)
        assert benchmark(batch.rollouts, 1, 1).shape == (self.size, 1)

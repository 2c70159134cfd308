"""Intervals, ratings and the sequential test: formulas, and what they promise in simulations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locmsim.stats import (
    PairCounts,
    Sprt,
    bradley_terry,
    elo_of,
    expected_score,
    score_interval,
)

counts = st.builds(PairCounts, *[st.integers(0, 5000)] * 3)


def wilson(won: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval, the roots p of (p - won/n)^2 = z^2 p (1 - p) / n."""
    z = 1.959963984540054
    a, b, c = 1 + z * z / n, -(2 * won / n + z * z / n), (won / n) ** 2
    root = math.sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def test_elo() -> None:
    assert elo_of(0.5) == 0
    assert elo_of(10 / 11) == pytest.approx(400)
    assert expected_score(-400) == pytest.approx(1 / 11)
    assert (elo_of(0), elo_of(1)) == (-math.inf, math.inf)
    for elo in (-700.0, -3.0, 0.0, 123.0):
        assert elo_of(expected_score(elo)) == pytest.approx(elo)


def test_interval_of_independent_games() -> None:
    """Pairs of independent games have nearly Wilson's interval for all games."""
    n, p = 20_000, 0.7
    pairs = PairCounts(int(n * 0.3 * 0.3), int(2 * n * p * 0.3), int(n * p * p))
    assert score_interval(pairs) == pytest.approx(wilson(2 * n * 7 // 10, 2 * n), abs=1e-4)
    # Without splits, pairs are like single games, whose interval is Wilson's.
    single = PairCounts(6000, 0, 14_000)
    assert score_interval(single) == pytest.approx(wilson(14_000, 20_000), abs=1e-4)


def test_interval_of_pairs_decided_by_the_seat() -> None:
    """Pairs that the seat decides show that the players are equal, so their interval is narrow."""
    low, high = score_interval(PairCounts(5, 190, 5))
    assert high - low < 0.04
    low, high = score_interval(PairCounts(100, 0, 100))
    assert high - low == pytest.approx(0.137, abs=0.003)


@given(counts)
def test_interval_holds_the_score(some: PairCounts) -> None:
    low, high = score_interval(some)
    assert 0 <= low <= some.score <= high <= 1
    assert high > low
    mirrored = score_interval(PairCounts(some.won, some.split, some.lost))
    assert mirrored == pytest.approx((1 - high, 1 - low))
    wide = score_interval(some, 0.99)
    assert wide[0] <= low
    assert high <= wide[1]


def test_interval_at_the_ends() -> None:
    assert score_interval(PairCounts()) == (0, 1)
    low, high = score_interval(PairCounts(0, 0, 20))
    assert 0.8 < low < 0.9
    assert high == 1


@pytest.mark.parametrize(("n", "least"), [(20, 0.915), (60, 0.935)])
@pytest.mark.parametrize("chance", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("by_seat", [0.0, 0.3, 0.6])
def test_coverage(n: int, least: float, chance: float, by_seat: float) -> None:
    """The interval contains the true score in about 95 of 100 cases, weighed by probability."""
    won, lost = ((1 - by_seat) * p * p for p in (chance, 1 - chance))
    split = 1 - won - lost
    inside = 0.0
    for losses in range(n + 1):
        for splits in range(n + 1 - losses):
            wins = n - losses - splits
            low, high = score_interval(PairCounts(losses, splits, wins))
            if low <= won + split / 2 <= high:
                ways = math.comb(n, losses) * math.comb(n - losses, splits)
                inside += ways * lost**losses * split**splits * won**wins
    assert least <= inside <= 0.985


# ------------------------------------------------------------------------------------ SPRT


def run_test(test: Sprt, elo: float, rng: np.random.Generator) -> tuple[str | None, int]:
    p = expected_score(elo)
    seen = PairCounts()
    for games in (rng.random((20_000, 2)) < p).sum(axis=1):
        seen.add(games / 2)
        state = test.state(seen)
        if state.accepted:
            return state.accepted, state.pairs
    return None, seen.total


@pytest.mark.parametrize(("elo", "wrong"), [(0, "H1"), (60, "H0")])
def test_sequential_test_errs_rarely(elo: float, wrong: str) -> None:
    rng = np.random.default_rng(int(elo))
    results = [run_test(Sprt(0, 60), elo, rng) for _ in range(120)]
    verdicts = [verdict for verdict, _ in results]
    assert None not in verdicts
    assert verdicts.count(wrong) <= 0.1 * len(verdicts)
    assert np.mean([pairs for _, pairs in results]) < 200


def test_sequential_test_bounds() -> None:
    state = Sprt(0, 10, alpha=0.01, beta=0.1).state(PairCounts())
    assert (state.llr, state.accepted, state.pairs) == (0, None, 0)
    assert state.lower == pytest.approx(math.log(0.1 / 0.99))
    assert state.upper == pytest.approx(math.log(0.9 / 0.01))
    assert Sprt(0, 10).state(PairCounts(0, 0, 110)).accepted == "H1"
    assert Sprt(0, 10).state(PairCounts(110, 0, 0)).accepted == "H0"
    assert Sprt(0, 10).state(PairCounts(0, 3, 0)).accepted is None


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ((5, 5), "sprt"),
        ((6, 5), "sprt"),
        ((0, math.inf), "sprt"),
        ((0, 5, 0.5), "alpha"),
        ((0, 5, 0.05, 0), "beta"),
    ],
)
def test_impossible_tests(numbers: tuple[float, ...], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected"):
        Sprt(*numbers)


# ------------------------------------------------------------------------------ Bradley-Terry


@pytest.mark.slow
def test_ratings_of_two() -> None:
    """For two players, the difference in rating is the Elo difference that their score means."""
    pairs = PairCounts(300, 800, 900)
    ratings = bradley_terry(2, {(0, 1): pairs})
    assert ratings is not None
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(elo_of(pairs.score), abs=0.2)
    assert ratings.elo.sum() == pytest.approx(0)
    low, high = map(elo_of, score_interval(pairs))
    # Each of the two ratings has half of the difference, and of its error.
    assert 2 * ratings.error[0] == pytest.approx((high - low) / 2, rel=0.02)


@pytest.mark.slow
def test_ratings_are_found_again() -> None:
    rng = np.random.default_rng(5)
    truth = np.array([120.0, 30.0, -50.0, -100.0])
    inside = repeats = 0
    for _ in range(60):
        pairs = {}
        for a in range(4):
            for b in range(a + 1, 4):
                won = rng.random((100, 2)) < expected_score(truth[a] - truth[b])
                seen = PairCounts()
                for score in won.mean(axis=1):
                    seen.add(float(score))
                pairs[a, b] = seen
        ratings = bradley_terry(4, pairs)
        assert ratings is not None
        inside += int((abs(ratings.elo - truth) <= ratings.error).sum())
        repeats += 4
    assert 0.9 <= inside / repeats <= 0.99


def test_ratings_without_a_loss_or_a_link() -> None:
    won = PairCounts(0, 0, 50)
    ratings = bradley_terry(3, {(0, 1): won, (1, 2): won, (0, 2): PairCounts()})
    assert ratings is not None
    assert list(ratings.elo) == sorted(ratings.elo, reverse=True)
    assert np.isfinite(ratings.elo).all()
    assert np.isfinite(ratings.error).all()
    assert bradley_terry(3, {(0, 1): won, (1, 2): PairCounts()}) is None

"""The formulas of locmsim.stats against their definitions, written out."""

import math
import random
from functools import cache
from statistics import NormalDist, fmean, pvariance

import numpy as np
import pytest
from helpers import raises
from hypothesis import given
from hypothesis import strategies as st

from locmsim.stats import (
    PairCounts,
    Sprt,
    bradley_terry,
    elo_of,
    expected_score,
    most_telling,
    score_interval,
)

PAIRS = [0, 0, 0.25, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75, 1, 1, 1, 1, 1]
Z = NormalDist().inv_cdf(0.975)


def counted(pairs: list[float]) -> PairCounts:
    counts = PairCounts()
    for pair in pairs:
        counts.add(pair)
    return counts


def test_every_pair_is_counted_where_it_belongs() -> None:
    counts = counted(PAIRS)
    assert counts == PairCounts(lost=2, mostly_lost=1, split=3, mostly_won=4, won=5)
    assert counted([*PAIRS[:3], 0.25]).mostly_lost == 2
    assert counts.total == len(PAIRS)
    assert counts.score == pytest.approx(fmean(PAIRS))
    assert counts.reversed() == counted([1 - pair for pair in PAIRS])
    both = counted(PAIRS)
    both.add_all(counted([1, 0.25, 0.25, 0.5, 0, 0, 0.75]))
    assert both == counted([*PAIRS, 1, 0.25, 0.25, 0.5, 0, 0, 0.75])


@pytest.mark.parametrize("pairs", [[], [1], [0.25], [0.75, 0.75], PAIRS, PAIRS[:4]])
def test_smoothed_is_with_four_half_pairs_of_even_games(pairs: list[float]) -> None:
    """Two pairs of two even games each have the scores 0, 1/2, 1/2 and 1, each counted by half."""
    many = pairs * 2 + [0, 0.5, 0.5, 1]
    mean, variance = counted(pairs).smoothed()
    assert mean == pytest.approx(fmean(many))
    assert variance == pytest.approx(pvariance(many))


@pytest.mark.parametrize("pairs", [[0.5], PAIRS, PAIRS[:5], [1] * 9 + [0]])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_interval_is_wilsons(pairs: list[float], level: float) -> None:
    """At the ends of the interval, the observed score is just as unlikely as `level` says."""
    counts = counted(pairs)
    mean, variance = counts.smoothed()
    games = len(pairs) * mean * (1 - mean) / variance
    z = NormalDist().inv_cdf(0.5 + level / 2)
    low, high = score_interval(counts, level)
    assert low < counts.score < high
    for end in (low, high):
        away = (counts.score - end) ** 2
        assert away == pytest.approx(z * z * end * (1 - end) / games)


def test_interval_at_the_ends() -> None:
    assert score_interval(PairCounts()) == (0.0, 1.0)
    low, high = score_interval(counted([1] * 5))
    assert (0.3 < low < 0.8, high) == (True, 1.0)
    low, high = score_interval(counted([0] * 5))
    assert (low, 0.2 < high < 0.7) == (0.0, True)


@given(st.builds(PairCounts, *[st.integers(0, 5000)] * 3))
def test_interval_holds_the_score(some: PairCounts) -> None:
    low, high = score_interval(some)
    assert 0 <= low <= some.score <= high <= 1
    assert high > low
    mirrored = score_interval(PairCounts(some.won, some.split, some.lost))
    assert mirrored == pytest.approx((1 - high, 1 - low))
    wide = score_interval(some, 0.99)
    assert wide[0] <= low
    assert high <= wide[1]


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


def test_elo_and_scores_are_inverse() -> None:
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo_of(10 / 11) == pytest.approx(400)
    assert elo_of(0.5) == 0
    assert (elo_of(0), elo_of(1)) == (-math.inf, math.inf)
    for elo in (-700.0, -3.0, 0.0, 123.0):
        assert elo_of(expected_score(elo)) == pytest.approx(elo)


@pytest.mark.parametrize("pairs", [PAIRS, PAIRS * 20, [*PAIRS, *[1] * 400]], ids=len)
@pytest.mark.parametrize("elo", [(-5, 15), (300, 350)])
def test_sequential_test_is_the_ratio_of_likelihoods(
    pairs: list[float], elo: tuple[float, float]
) -> None:
    """Of each mean's most probable distribution of pairs; it is searched for, step by step."""
    state = Sprt(*elo, alpha=0.1, beta=0.02).state(counted(pairs))
    low, high = map(expected_score, elo)
    llr = _most_likely(pairs, high) - _most_likely(pairs, low)
    assert state.llr == pytest.approx(llr, abs=1e-3)
    assert (state.lower, state.upper) == pytest.approx((math.log(0.02 / 0.9), math.log(9.8)))
    assert state.pairs == len(pairs)
    expected = "H1" if llr > state.upper else "H0" if llr < state.lower else None
    assert state.accepted == expected


def _most_likely(pairs: list[float], mean: float) -> float:
    from scipy.optimize import minimize  # slow to import

    scores = np.array([0, 0.25, 0.5, 0.75, 1])
    weights = np.array([pairs.count(score) for score in scores]) / len(pairs)
    result = minimize(
        lambda p: -weights @ np.log(p),
        weights,
        jac=lambda p: -weights / p,
        bounds=[(1e-9, 1)] * 5,
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": lambda p: p @ scores - mean},
        ],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return -float(result.fun) * len(pairs)


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (0, 9), (40, 3), (100, 0)])
def test_sequential_test_of_whole_victories(won: int, lost: int) -> None:
    """If all pairs are won or lost, their likelihood is that of the two numbers."""
    low, high = expected_score(100), expected_score(200)
    llr = won * math.log(high / low) + lost * math.log((1 - high) / (1 - low))
    state = Sprt(100, 200).state(PairCounts(won=won, lost=lost))
    assert state.llr == pytest.approx(llr, abs=0.01)


@pytest.mark.parametrize(
    ("test", "elo", "wrong", "runs", "share", "most"),
    [
        # A normal distribution of pairs, as it was assumed, errs in 8 % of 2,000 runs.
        (Sprt(300, 350), 300, "H1", 500, 0.06, 300),
        (Sprt(0, 60), 0, "H1", 120, 0.1, 200),
        (Sprt(0, 60), 60, "H0", 120, 0.1, 200),
    ],
)
def test_sequential_test_errs_as_rarely_as_it_says(
    test: Sprt, elo: float, wrong: str, runs: int, share: float, most: float
) -> None:
    score = expected_score(elo)
    rng = random.Random(4)
    state = cache(lambda *counts: test.state(PairCounts(*counts)))
    errors = pairs = 0
    for _ in range(runs):
        counts = PairCounts()
        while (accepted := state(counts.lost, counts.split, counts.won).accepted) is None:
            # Looked at every ten pairs, as the workers of an arena bring them.
            for _ in range(10):
                counts.add(((rng.random() < score) + (rng.random() < score)) / 2)
        errors += accepted == wrong
        pairs += counts.total
    assert errors / runs < share
    assert pairs / runs < most


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((5, 5), "elo0 < elo1, got 5 and 5"),
        ((math.nan, 5), "expected -2000 to 2000, got nan"),
        ((0, math.inf), "expected -2000 to 2000, got inf"),
        ((-200_000, 0), "expected -2000 to 2000, got -200000"),
        ((0, 5, 0, 0.1), "alpha: expected more than 0 .*, got 0"),
        ((0, 5, 0.5, 0.1), "alpha: expected .*, got 0.5"),
        ((0, 5, 0.1, 0), "beta: expected more than 0 .*, got 0"),
        ((0, 5, 0.1, 0.5), "beta: expected .*, got 0.5"),
        ((0, 5, 0.1, 1.0), "beta: expected .*, got 1"),
    ],
)
def test_numbers_that_make_no_test(numbers: tuple[float, ...], message: str) -> None:
    raises(ValueError, message, Sprt, *numbers)


@pytest.mark.parametrize(
    ("elos", "h0", "h1"),
    [
        ((0, 5), "not better", "at least 5 Elo better"),
        ((-5, 0), "at least 5 Elo worse", "not worse"),
        ((5, 10), "at most 5 Elo better", "at least 10 Elo better"),
        ((-20, -2.5), "at least 20 Elo worse", "at most 2.5 Elo worse"),
    ],
)
def test_what_the_hypotheses_say(elos: tuple[float, float], h0: str, h1: str) -> None:
    test = Sprt(*elos)
    assert test.claim("new", "old", "H0") == f"new is {h0} than old"
    assert test.claim("new", "old") == test.claim("new", "old", "H1") == f"new is {h1} than old"


def test_ratings_of_two_are_those_of_their_score() -> None:
    counts = counted(PAIRS)
    ratings = bradley_terry(2, {(0, 1): counts})
    assert ratings is not None
    pairs = len(PAIRS) + 1  # a split one is added
    score = (sum(PAIRS) + 0.5) / pairs
    assert ratings.elo == pytest.approx([elo_of(score) / 2, -elo_of(score) / 2])
    deviation = math.sqrt(counts.smoothed()[1] / pairs) / (score * (1 - score))
    assert ratings.error == pytest.approx([Z * 400 / math.log(10) * deviation / 2] * 2)


@pytest.mark.parametrize("won", [1, 50, 10**6])
def test_ratings_of_those_who_hardly_ever_lose(won: int) -> None:
    """One always loses; two of its three opponents met a fourth in one pair each, and lost it."""
    pairs = {
        (0, 1): PairCounts(won=won),
        (2, 0): PairCounts(won=won),
        (3, 1): PairCounts(won=1),
        (3, 2): PairCounts(lost=1),
    }
    ratings = bradley_terry(4, pairs)
    assert ratings is not None
    # The most probable: everyone's points, with half a pair added, are those they were to expect.
    for one in range(4):
        points = expected = 0.0
        for (a, b), counts in pairs.items():
            if one in (a, b):
                seen = counts if one == a else counts.reversed()
                apart = ratings.elo[one] - ratings.elo[b if one == a else a]
                points += seen.score * seen.total + 0.5
                expected += (seen.total + 1) * expected_score(float(apart))
        assert points == pytest.approx(expected)
    assert np.isfinite(ratings.error).all()
    assert most_telling(4, pairs, {(0, 3): 1, (0, 1): 1}, 1) == [(0, 3)]


def test_ratings_count_pairs_of_both_orders() -> None:
    three = {(0, 1): counted(PAIRS), (1, 2): counted(PAIRS[3:]), (2, 0): counted([0, 0, 0.5])}
    ratings = bradley_terry(3, three)
    assert ratings is not None
    assert ratings.elo.sum() == pytest.approx(0)
    assert ratings.elo[0] > ratings.elo[1] > ratings.elo[2]
    for there, back in ((0, 1), (1, 2), (2, 0)):
        turned = dict(three)
        turned[back, there] = turned.pop((there, back)).reversed()
        again = bradley_terry(3, turned)
        assert again is not None
        assert again.elo == pytest.approx(ratings.elo)
        assert again.error == pytest.approx(ratings.error)
    halves = {(0, 1): counted(PAIRS[:7]), (1, 0): counted(PAIRS[7:]).reversed()}
    found = bradley_terry(2, halves)
    assert found is not None
    score = (sum(PAIRS) + 1) / (len(PAIRS) + 2)  # each order has one more split pair
    assert found.elo[0] - found.elo[1] == pytest.approx(elo_of(score))


def test_no_ratings_without_games_between_all() -> None:
    assert bradley_terry(3, {(0, 1): counted([1]), (1, 2): PairCounts()}) is None
    assert bradley_terry(3, {(0, 1): counted([1]), (2, 1): counted([0])}) is not None


def test_games_that_tell_most() -> None:
    """Equal players of whom little is known come first, each pairing only as often as allowed."""
    known, little = PairCounts(20, 60, 20), PairCounts(1, 2, 1)
    pairs = {(0, 1): known, (0, 2): PairCounts(lost=100), (1, 2): PairCounts(lost=100)}
    every = {(i, j): 100 for i in range(3) for j in range(i + 1, 3)}
    assert most_telling(3, {(0, 1): known}, every, 2) == [(0, 2), (1, 2)]
    # How hopeless player 2 is nobody knows, but their place is certain.
    assert most_telling(3, pairs, every, 5) == [(0, 1)] * 5
    assert most_telling(3, {**pairs, (0, 1): little}, every, 5) == [(0, 1)] * 5
    assert most_telling(3, {}, {(0, 1): 1, (1, 2): 2}, 9) in (
        [(0, 1), (1, 2), (1, 2)],
        [(1, 2), (0, 1), (1, 2)],
    )
    assert most_telling(3, {}, {}, 9) == []
    # Results without end, one-sided or in a circle: the ratings stay finite.
    circle = {(0, 1): PairCounts(won=10**6), (1, 2): PairCounts(won=10**6)}
    assert len(most_telling(3, {**circle, (0, 2): PairCounts(lost=10**6)}, every, 4)) == 4


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

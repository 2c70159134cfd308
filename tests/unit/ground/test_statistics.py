"""The formulas of locmsim.stats against their definitions, written out."""

import math
from statistics import NormalDist, fmean, pvariance

import pytest

from locmsim.stats import (
    PairCounts,
    Sprt,
    bradley_terry,
    elo_of,
    expected_score,
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


def test_elo_and_scores_are_inverse() -> None:
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo_of(10 / 11) == pytest.approx(400)
    assert elo_of(0.5) == 0
    assert (elo_of(0), elo_of(1)) == (-math.inf, math.inf)


@pytest.mark.parametrize("pairs", [[], [1], PAIRS, PAIRS * 20, [0, 0.5] * 60])
def test_sequential_test_is_the_ratio_of_normal_likelihoods(pairs: list[float]) -> None:
    counts = counted(pairs)
    state = Sprt(-5, 15, alpha=0.1, beta=0.02).state(counts)
    variance = counts.smoothed()[1]
    low, high = expected_score(-5), expected_score(15)
    llr = sum(((pair - low) ** 2 - (pair - high) ** 2) / (2 * variance) for pair in pairs)
    assert state.llr == pytest.approx(llr)
    assert (state.lower, state.upper) == pytest.approx((math.log(0.02 / 0.9), math.log(9.8)))
    assert state.pairs == len(pairs)
    expected = "H1" if llr > state.upper else "H0" if llr < state.lower else None
    assert state.accepted == expected


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
    with pytest.raises(ValueError, match=message):
        Sprt(*numbers)


def test_ratings_of_two_are_those_of_their_score() -> None:
    pytest.importorskip("choix")
    counts = counted(PAIRS)
    ratings = bradley_terry(2, {(0, 1): counts})
    assert ratings is not None
    pairs = len(PAIRS) + 1  # a split one is added
    score = (sum(PAIRS) + 0.5) / pairs
    assert ratings.elo == pytest.approx([elo_of(score) / 2, -elo_of(score) / 2])
    deviation = math.sqrt(counts.smoothed()[1] / pairs) / (score * (1 - score))
    assert ratings.error == pytest.approx([Z * 400 / math.log(10) * deviation / 2] * 2)


def test_ratings_count_pairs_of_both_orders() -> None:
    pytest.importorskip("choix")
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
    pytest.importorskip("choix")
    assert bradley_terry(3, {(0, 1): counted([1]), (1, 2): PairCounts()}) is None
    assert bradley_terry(3, {(0, 1): counted([1]), (2, 1): counted([0])}) is not None

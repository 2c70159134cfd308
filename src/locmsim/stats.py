"""Statistics of results: intervals, Elo, ratings of many players, and sequential tests.

Results are counted in pairs: two games with the same cards and shuffles and swapped seats, so that
luck has as little influence as possible. A pair scores 0, 1/2 or 1, and with draws also 1/4 or 3/4.
A single game that was not mirrored also counts as a pair.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated

from locmsim.options.checks import OptionError
from locmsim.options.declarations import Option, check, declaration, documented

if TYPE_CHECKING:  # each command about games imports this module, and NumPy takes as long as it
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Interval",
    "PairCounts",
    "Ratings",
    "Sprt",
    "SprtState",
    "bradley_terry",
    "elo_of",
    "expected_score",
    "most_telling",
    "score_interval",
]

#: Elo points per unit of log-odds.
_ELO = 400 / math.log(10)
#: The largest difference that a test is about: at 2000 Elo one game in 100,000 is lost.
_MOST_ELO = 2000
#: The standard deviation of the ratings of players of whom nothing is known.
_PRIOR = 800
#: The scores that a pair can have, as `PairCounts` orders them, and what stands for a score
#: that was not seen, so that a mean beyond all that were seen is possible.
_SCORES = (0, 0.25, 0.5, 0.75, 1)
_UNSEEN = 1e-3
#: A rating is found in a few steps, or a few dozen if players hardly ever lose; then only rounding
#: errors are left.
_MOST_STEPS = 200

Interval = tuple[float, float]


def elo_of(score: float) -> float:
    """Return the Elo difference at which a score is expected.

    Parameters
    ----------
    score : float
        0 to 1.

    Returns
    -------
    float
        Infinite at 0 and 1.
    """
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return _ELO * math.log(score / (1 - score))


def expected_score(elo: float) -> float:
    """Return the score that is expected at an Elo difference.

    Parameters
    ----------
    elo : float
        The difference.

    Returns
    -------
    float
        0 to 1.
    """
    return 1 / (1 + math.exp(-elo / _ELO))


@dataclass(slots=True)
class PairCounts:
    """The numbers of pairs of games that a player lost, split and won.

    Parameters
    ----------
    lost, split, won : int
        Pairs with 0, 1 and 2 points.
    mostly_lost, mostly_won : int
        Pairs of a draw and a defeat, and of a draw and a victory.
    """

    lost: int = 0
    split: int = 0
    won: int = 0
    mostly_lost: int = 0
    mostly_won: int = 0

    def add(self, score: float) -> None:
        """Count a pair.

        Parameters
        ----------
        score : float
            0, 0.25, 0.5, 0.75 or 1.
        """
        if score == 0.5:
            self.split += 1
        elif score == 1:
            self.won += 1
        elif score == 0:
            self.lost += 1
        elif score > 0.5:
            self.mostly_won += 1
        else:
            self.mostly_lost += 1

    def add_all(self, other: "PairCounts") -> None:
        """Count all pairs of another object.

        Parameters
        ----------
        other : PairCounts
            The pairs to add.
        """
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def reversed(self) -> "PairCounts":
        """Return the same pairs, counted for the other player."""
        return PairCounts(self.won, self.split, self.lost, self.mostly_won, self.mostly_lost)

    @property
    def _counts(self) -> tuple[int, int, int, int, int]:
        """The numbers of pairs with a score of 0, 1/4, 1/2, 3/4 and 1."""
        return self.lost, self.mostly_lost, self.split, self.mostly_won, self.won

    @property
    def total(self) -> int:
        """All pairs."""
        return sum(self._counts)

    @property
    def score(self) -> float:
        """The mean score; 0.5 without any pair."""
        if not self.total:
            return 0.5
        quarters = self.mostly_lost + 2 * self.split + 3 * self.mostly_won + 4 * self.won
        return quarters / (4 * self.total)

    def smoothed(self) -> tuple[float, float]:
        """Return mean and variance of a pair, including two additional even pairs.

        So the variance is never 0, and that of few pairs is not underestimated.
        """
        n = self.total + 2
        won, split = self.won + 0.5, self.split + 1
        mean = (won + split / 2 + self.mostly_lost / 4 + 3 * self.mostly_won / 4) / n
        square = (won + split / 4 + self.mostly_lost / 16 + 9 * self.mostly_won / 16) / n
        return mean, square - mean * mean


def score_interval(counts: PairCounts, level: float = 0.95) -> Interval:
    """Return Wilson's interval of the score.

    Wilson's interval is for single games with variance p (1 - p). Pairs vary less (half as much if
    their games are independent, less if one result predicts the other), so they count as
    correspondingly more games.

    Parameters
    ----------
    counts : PairCounts
        The pairs.
    level : float
        The confidence level.

    Returns
    -------
    low, high : float
    """
    if not counts.total:
        return 0.0, 1.0
    mean, variance = counts.smoothed()
    n = counts.total * mean * (1 - mean) / variance
    z = NormalDist().inv_cdf(0.5 + level / 2)
    p = counts.score
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At the ends the formula gives 0 and 1 except for rounding errors.
    return (centre - half if p > 0 else 0.0), (centre + half if p < 1 else 1.0)


# ------------------------------------------------------------------------------------- early stop


@dataclass(frozen=True, slots=True)
class SprtState:
    """The state of a sequential test.

    Parameters
    ----------
    llr : float
        The log-likelihood ratio of the two hypotheses.
    lower, upper : float
        The bounds at which H0 and H1 are accepted.
    accepted : str or None
        "H0", "H1", or None while the test is open.
    pairs : int
        The number of pairs at the decision, or so far.
    """

    llr: float
    lower: float
    upper: float
    accepted: str | None
    pairs: int


_HYPOTHESIS = declaration(
    "sprt", Annotated[float, Option("difference in Elo", -_MOST_ELO, _MOST_ELO)]
)


@documented()
@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential test: is a player better by `elo1` (H1), or only by `elo0` (H0)?

    The likelihood of a hypothesis is that of the most probable distribution of pairs that has its
    expected score (a generalised sequential probability ratio test, exact for pairs).

    Parameters
    ----------
    elo0, elo1 : float
        The two hypotheses, as differences in Elo, -2000 to 2000.
    options
    player : int
        The index of the player whose Elo is meant, 0 or 1.

    Raises
    ------
    ValueError
        The numbers do not define a test.
    """

    elo0: float
    elo1: float
    alpha: Annotated[
        float, Option("probability of accepting elo1 by mistake", 0.0, 0.49, above=True)
    ] = 0.05
    beta: Annotated[
        float, Option("probability of accepting elo0 by mistake", 0.0, 0.49, above=True)
    ] = 0.05
    player: int = 0

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            object.__setattr__(self, name, _HYPOTHESIS.check(getattr(self, name)))
        if not self.elo0 < self.elo1:
            raise OptionError("sprt", f"expected elo0 < elo1, got {self.elo0:g} and {self.elo1:g}")
        check(self)
        if self.player not in (0, 1):
            raise OptionError("sprt", f"expected player 0 or 1, got {self.player}")

    def claim(self, name: str, other: str, hypothesis: str = "H1") -> str:
        """Return what a hypothesis says, as a sentence without a full stop.

        Parameters
        ----------
        name, other : str
            The names of the player whose Elo is meant, and of their opponent.
        hypothesis : str
            "H0" or "H1".

        Returns
        -------
        str
            Such as "new is at least 20 Elo better than old".
        """
        elo = self.elo1 if hypothesis == "H1" else self.elo0
        if elo == 0:
            words = "not worse" if hypothesis == "H1" else "not better"
        else:
            # Better by 20 Elo or more, by 20 or less; worse by 20 or less, by 20 or more.
            bound = "least" if (hypothesis == "H1") == (elo > 0) else "most"
            words = f"at {bound} {abs(elo):g} Elo {'better' if elo > 0 else 'worse'}"
        return f"{name} is {words} than {other}"

    def state(self, counts: PairCounts) -> SprtState:
        """Return the state of the test after some pairs.

        Parameters
        ----------
        counts : PairCounts
            The pairs, counted for `player`.
        """
        lower = math.log(self.beta / (1 - self.alpha))
        upper = math.log((1 - self.beta) / self.alpha)
        low, high = expected_score(self.elo0), expected_score(self.elo1)
        llr = _log_likelihood(counts, high) - _log_likelihood(counts, low)
        accepted = "H1" if llr >= upper else "H0" if llr <= lower else None
        return SprtState(llr, lower, upper, accepted, counts.total)


def _log_likelihood(counts: PairCounts, mean: float) -> float:
    """Return the log-likelihood of pairs if their mean is given, less that of their frequencies.

    The most probable distribution with this mean has the frequencies f / (1 + t (score - mean)).
    Half the digits of t give all of the result, which hardly changes there.
    """
    seen = [
        (count or _UNSEEN, score - mean)
        for count, score in zip(counts._counts, _SCORES, strict=True)
    ]
    low, high = -1 / (1 - mean), 1 / mean
    for _ in range(40):
        t = (low + high) / 2
        if sum(count * away / (1 + t * away) for count, away in seen) > 0:
            low = t
        else:
            high = t
    return -sum(
        count * math.log1p(t * away)
        for count, (_, away) in zip(counts._counts, seen, strict=True)
        if count
    )


# ------------------------------------------------------------------------------ many players


@dataclass(frozen=True, slots=True)
class Ratings:
    """Elo ratings of several players, with a mean of 0 or one given rating.

    Parameters
    ----------
    elo : array of float64
        The rating of each player.
    error : array of float64
        Half the width of the 95 % interval of each.
    """

    elo: "NDArray[np.float64]"
    error: "NDArray[np.float64]"


def bradley_terry(
    players: int,
    pairs: Mapping[tuple[int, int], PairCounts],
    anchor: tuple[int, float] | None = None,
) -> Ratings | None:
    """Rate players by the Bradley-Terry model from their games against each other.

    A weak prior (one split pair for each pairing) keeps the rating of a player without a loss
    finite. Errors are computed from the variance of the pairs.

    Parameters
    ----------
    players : int
        The number of players.
    pairs : mapping
        ``(first, second)`` -> pairs, counted for the first of the two.
    anchor : tuple of int and float, optional
        A player and the rating they have; errors are then those of the differences from them.

    Returns
    -------
    Ratings or None
        None if the games do not connect all players.
    """
    import numpy as np

    met = {players: counts for players, counts in pairs.items() if counts.total}
    if not _connected(players, met):
        return None
    wins = _wins(players, met, 0.5)
    strength, curvature = _most_probable(wins)
    strength -= strength.mean()
    # The sandwich: the model's curvature around the scatter of the pairs.
    scatter = np.zeros((players, players))
    for (a, b), counts in met.items():
        weight = (counts.total + 1) * counts.smoothed()[1]
        scatter[[a, b], [a, b]] += weight
        scatter[[a, b], [b, a]] -= weight
    inverse = np.linalg.pinv(curvature)
    covariance = inverse @ scatter @ inverse
    elo, variance = _ELO * strength, np.diag(covariance)
    if anchor is not None:
        fixed, value = anchor
        elo = elo - elo[fixed] + value
        variance = variance + variance[fixed] - 2 * covariance[fixed]
    error = NormalDist().inv_cdf(0.975) * np.sqrt(np.maximum(variance, 0))
    return Ratings(elo, _ELO * error)


def most_telling(
    players: int,
    pairs: Mapping[tuple[int, int], PairCounts],
    candidates: Mapping[tuple[int, int], int],
    count: int,
) -> list[tuple[int, int]]:
    """Choose the pairings whose next pairs tell most about the ratings.

    One after the other is chosen that lowers most what is expected to be lost by ordering two
    players wrongly: games between players who are about equally strong, and whose ratings are
    uncertain.

    Parameters
    ----------
    players : int
        The number of players.
    pairs : mapping
        ``(first, second)`` -> the pairs so far, counted for the first of the two.
    candidates : mapping
        The pairings to choose from -> how often each may be chosen.
    count : int
        How many to choose.

    Returns
    -------
    list of tuple
        The pairings in the order of choice, fewer if no candidate is left.
    """
    import numpy as np

    left = dict(candidates)
    names = [*left]
    if not names:
        return []
    # Ratings have a normal prior here.
    odds, curvature = _most_probable(_wins(players, pairs, 0), (_ELO / _PRIOR) ** 2)
    covariance = np.linalg.inv(curvature)
    first, second = np.array(names).T
    apart = np.abs(odds[first] - odds[second])
    information = 0.25 / np.cosh(apart / 2) ** 2  # of a game: p (1 - p)
    allowed = np.ones(len(names), bool)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < count and allowed.any():
        variance = covariance[first, first] + covariance[second, second]
        variance -= 2 * covariance[first, second]
        after = variance / (1 + information * variance)
        gain = np.where(allowed, _lost_by_order(apart, variance) - _lost_by_order(apart, after), -1)
        # Of those that are equal up to rounding errors, the first.
        best = int(np.argmax(gain >= gain.max() * (1 - 1e-9)))
        column = covariance[:, first[best]] - covariance[:, second[best]]
        factor = information[best] / (1 + information[best] * variance[best])
        covariance = covariance - factor * np.outer(column, column)
        chosen.append(names[best])
        left[names[best]] -= 1
        allowed[best] = left[names[best]] > 0
    return chosen


def _lost_by_order(
    apart: "NDArray[np.float64]", variance: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """Return the expected difference between two players by which the one rated lower is better.

    The difference is assumed to have a logistic distribution.
    """
    import numpy as np

    scale = np.sqrt(3 * variance) / np.pi
    return scale * np.log1p(np.exp(-apart / scale))


def _wins(
    players: int, pairs: Mapping[tuple[int, int], PairCounts], added: float
) -> "NDArray[np.float64]":
    """Return the points of each row's player against each column's, in pairs."""
    import numpy as np

    wins = np.zeros((players, players))
    for (a, b), counts in pairs.items():
        wins[a, b] += counts.score * counts.total + added
        wins[b, a] += (1 - counts.score) * counts.total + added
    return wins


def _most_probable(
    wins: "NDArray[np.float64]", prior: float = 0
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """Return the most probable log-odds of players and the curvature of the likelihood there.

    `prior` is the inverse of the variance of a normal prior; without one, the mean stays 0.
    """
    import numpy as np

    met = wins + wins.T
    odds = np.zeros(len(wins))
    for _ in range(_MOST_STEPS):
        expected = np.exp(-np.logaddexp(0, odds[None, :] - odds[:, None]))
        weight = met * expected * (1 - expected)
        curvature = np.diag(weight.sum(1) + prior) - weight
        gradient = (wins - met * expected).sum(1) - prior * odds
        step = np.linalg.solve(curvature + (prior == 0), gradient)
        # Where a step parts two players who have met by `apart`, their curvature changes by the
        # factor e^apart at most. So far, a step is sure to raise the likelihood.
        apart = np.abs(step[:, None] - step[None, :])[met > 0].max(initial=0)
        if apart < 1e-9:
            break
        odds += step * (np.log1p(apart) / apart)
    return odds, curvature


def _connected(players: int, met: Iterable[tuple[int, int]]) -> bool:
    group = list(range(players))
    for a, b in met:
        old, new = group[a], group[b]
        group = [new if name == old else name for name in group]
    return len(set(group)) == 1

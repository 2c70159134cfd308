"""The trials of an optimization: what is compared, and what follows from the results."""

from collections import deque
from collections.abc import Sequence

from locmsim.stats import Interval, PairCounts, score_interval
from locmsim.tuning.methods import METHODS, Method, Point, Trial

#: Trials that are played at a time, or wait for earlier ones. It is the same for any number of
#: workers, so that the results are.
AHEAD = 48
#: Every tenth trial the present values meet the start, which tells how much they gain.
CHECK = 10
#: Trials that the estimate of the gain is made of: older ones are about other values.
_RECENT = 60


class Trials:
    """Asks a method for trials, and takes their results in order.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    reach : sequence of pairs of float
        The bounds of each parameter, in steps from its start.
    goals : sequence of int
        Games of the run when it was begun, and each time it was extended.
    against : bool
        Whether versions play opponents, not each other.
    seed : int
        The seed of the method.
    """

    def __init__(
        self,
        method: str,
        reach: Sequence[tuple[float, float]],
        goals: Sequence[int],
        against: bool,
        seed: int,
    ) -> None:
        checks = 4 if against else 2
        each = (checks if METHODS[method].compares_two else 2) + checks / (CHECK - 1)
        trials, *self._later = [max(1, round(games / each)) for games in goals]
        self._total = _with_checks(trials)
        self._method: Method = METHODS[method](reach, trials, seed)
        self._against = against
        self._asked = self.answered = self.games = 0
        self.origin: Point = (0.0,) * len(reach)
        #: The values after each trial, for a plot: games and point.
        self.history: list[tuple[int, Point]] = [(0, self.origin)]
        #: The score of the present values against the start, or by how much they are better.
        self.score: Interval | None = None
        self._checks: deque[float] = deque(maxlen=_RECENT)
        #: Trials without a result, and the numbers of those that are not being played.
        self.open: dict[int, Trial] = {}
        self._waiting: deque[int] = deque()
        self._ask()

    @property
    def best(self) -> Point:
        """What is recommended now, in steps from the start of each parameter."""
        return self._method.best

    def take(self, count: int) -> list[int]:
        """Return the numbers of up to so many trials that can be played now."""
        return [self._waiting.popleft() for _ in range(min(count, len(self._waiting)))]

    def _ask(self) -> None:
        while self._asked - self.answered < AHEAD:
            if self._asked == self._total:
                if self.open or not self._later:
                    return
                trials = self._later.pop(0)
                self._method.extend(trials)
                self._total = _with_checks(trials)
            number = self._asked + 1
            check = Trial(self.best, self.origin, f"check {number}")
            trial = self._method.ask() if number % CHECK else check
            if trial is None:
                return
            self._asked = number
            self.open[number] = trial
            self._waiting.append(number)

    def tell(self, points: Sequence[float]) -> None:
        """Take the points, 0 to 2, of each pair of the next trial; ``ValueError`` for others."""
        number = self.answered + 1
        trial = self.open.get(number)
        pairs = 2 if self._against and trial and trial.second is not None else 1
        if trial is None or len(points) != pairs or not all(0 <= x <= 2 for x in points):
            raise ValueError("not the result of that trial")
        del self.open[number]
        if self._waiting and self._waiting[0] == number:  # it was played before
            self._waiting.popleft()
        self.answered = number
        self.games += 2 * pairs
        score = points[0] / 2 if pairs == 1 else (points[0] - points[1] + 2) / 4
        if number % CHECK:
            self._method.tell(trial, score)
            self.history.append((self.games, self.best))
        else:
            self._checks.append(round(4 * score) / 4)
            counts = PairCounts()
            for one in self._checks:
                counts.add(one)
            self.score = score_interval(counts)
        self._ask()


def _with_checks(trials: int) -> int:
    return trials + (trials - 1) // (CHECK - 1)

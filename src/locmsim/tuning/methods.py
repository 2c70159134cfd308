"""Methods that look for the best parameters by games whose results are mostly luck.

All coordinates are steps from the start (`locmsim.tuning.parameters`). A method proposes trials and
is told their results in the same order; the same results lead to the same proposals.
"""

import math
import random
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

Point = tuple[float, ...]


class Trial(NamedTuple):
    """A comparison: a mirrored pair of games of `first`, or of both against the same opponent.

    Without `second`, the rival is the start, or the opponent. Trials of the same `deal` have the
    same cards.
    """

    first: Point
    second: Point | None
    deal: int | str


class Spsa:
    """Simultaneous perturbation stochastic approximation (Spall, 1992).

    Each trial compares two points on opposite sides of the present one, in a random direction of
    all parameters at once, and moves towards the winner. That way the number of games does not grow
    with the number of parameters. The recommended point is the mean of the last quarter, in which
    luck averages out. (Nevergrad's SPSA cannot compare two points by a match between them.)
    """

    compares_two = True
    #: The exponents of Spall's practical suggestions: of the moves, and of the perturbations.
    _MOVES, _PERTURBATIONS = 0.602, 0.101
    #: Part of the run in which moves hardly shrink, and the part at its end that is averaged.
    _SETTLING, _AVERAGED = 0.1, 0.25

    def __init__(self, reach: Sequence[tuple[float, float]], trials: int, seed: int) -> None:
        self._reach = reach
        self._random = random.Random(seed)
        self._point = [0.0] * len(reach)
        self._asked = self._answered = 0
        self._plan(trials)

    def _plan(self, trials: int) -> None:
        self._trials = trials
        self._sum = [0.0] * len(self._point)
        self._summed = 0
        # Fewer games need larger moves to arrive at all; more games should be spent on precision.
        self._last_move = min(max(0.05 * math.sqrt(5000 / trials), 0.02), 0.12)

    def extend(self, trials: int) -> None:
        """Go on from the recommended point as a run of that length would from there."""
        self._point = [*self.best]
        self._plan(trials)

    def ask(self) -> Trial:
        """Return another trial."""
        self._asked += 1
        size = self._perturbation(self._asked)
        signs = [self._random.choice((-size, size)) for _ in self._point]
        first, second = (
            tuple(x + side * sign for x, sign in zip(self._point, signs, strict=True))
            for side in (1, -1)
        )
        return Trial(first, second, self._asked)

    def _perturbation(self, number: int) -> float:
        return (self._trials / number) ** self._PERTURBATIONS if number < self._trials else 1.0

    def tell(self, trial: Trial, score: float) -> None:
        """Move towards the point that won more."""
        assert trial.second is not None
        self._answered += 1
        settling = self._SETTLING * self._trials
        shrunk = ((settling + self._trials) / (settling + self._answered)) ** self._MOVES
        move = self._last_move * shrunk * (2 * score - 1)
        size = self._perturbation(self._answered)
        for i, (low, high) in enumerate(self._reach):
            step = (trial.first[i] - trial.second[i]) / 2 / size**2
            self._point[i] = min(max(self._point[i] + move * step, low), high)
        if self._answered > (1 - self._AVERAGED) * self._trials:
            self._summed += 1
            for i, x in enumerate(self._point):
                self._sum[i] += x

    @property
    def best(self) -> Point:
        """The mean of the last quarter, or the present point before it."""
        if not self._summed:
            return tuple(self._point)
        return tuple(x / self._summed for x in self._sum)


class Cmaes:
    """CMA-ES with a learning rate that adapts to noise (Nomura et al., 2023), of the package cmaes.

    It learns which parameters must change together, for which it needs more games.
    """

    compares_two = False
    #: Trials of each candidate of a generation: fewer make the ranking luck, more cost generations.
    _PAIRS = 8
    _SIGMA = 1.5

    def __init__(self, reach: Sequence[tuple[float, float]], trials: int, seed: int) -> None:
        try:
            import numpy as np
            from cmaes import CMA
        except ImportError:
            raise ImportError("--method cmaes needs cmaes: pip install 'locmsim[tune]'") from None
        count = len(reach)
        self._one = count == 1  # it needs two coordinates: the second one does nothing
        bounds = np.array([*reach, *[(-math.inf, math.inf)] * self._one], dtype=float)
        self._cma = CMA(
            mean=np.zeros(count + self._one),
            sigma=self._SIGMA,
            bounds=bounds,
            seed=seed % 2**32,
            lr_adapt=True,
        )
        self._count = count
        # Candidates of a generation can be equal, at their bounds: each is known by its number.
        self._candidates: list[Point] = []
        self._scores: list[list[float]] = []
        self._left: deque[int] = deque()  # to be asked for, once for each trial
        self._waiting: deque[int] = deque()

    def ask(self) -> Trial | None:
        """Return a trial of a candidate of this generation; None until all of it is known."""
        if not self._left:
            if self._waiting:
                return None
            size = self._cma.population_size
            self._candidates = [tuple(map(float, self._cma.ask())) for _ in range(size)]
            self._scores = [[] for _ in range(size)]
            # All candidates play a first trial, then a second one: their cards are the same.
            self._left.extend([*range(size)] * self._PAIRS)
        deal = self._cma.generation * self._PAIRS + (len(self._left) - 1) // len(self._scores)
        self._waiting.append(self._left.popleft())
        return Trial(self._candidates[self._waiting[-1]][: self._count], None, deal)

    def tell(self, trial: Trial, score: float) -> None:
        """Take a score, and go on to the next generation when it was the last one."""
        import numpy as np

        self._scores[self._waiting.popleft()].append(score)
        if not self._left and not self._waiting:
            means = [-sum(scores) / len(scores) for scores in self._scores]
            self._cma.tell([*zip(map(np.array, self._candidates), means, strict=True)])

    def extend(self, trials: int) -> None:
        """Go on: the length of the run does not matter."""

    @property
    def best(self) -> Point:
        """The centre of the present distribution."""
        return tuple(map(float, self._cma.mean[: self._count]))


#: What proposes trials, is told their scores in the same order and recommends a point; after
#: `extend` it goes on to that number of trials. Without `compares_two` trials have no second point.
Method: TypeAlias = Spsa | Cmaes

#: Method by its name in `--method`; the first is the default.
METHODS: dict[str, type[Method]] = {"spsa": Spsa, "cmaes": Cmaes}

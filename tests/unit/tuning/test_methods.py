"""Methods find the best of a synthetic bot, whose results are as random as those of games."""

import random

import pytest

from locmsim.tuning.methods import METHODS, Point, Trial

#: The best values, in steps from the start.
BEST = (4.0, -3.0, 2.0)


def elo(point: Point) -> float:
    """Return the strength of a bot, 200 Elo below its best at the start."""
    distance = sum((x - best) ** 2 for x, best in zip(point, BEST, strict=True))
    return -200 * distance / sum(best**2 for best in BEST)


def play(trial: Trial, rng: random.Random) -> float:
    other = (0.0,) * len(BEST) if trial.second is None else trial.second
    expected = 1 / (1 + 10 ** ((elo(other) - elo(trial.first)) / 400))
    return sum(rng.random() < expected for _ in range(2)) / 2


def tuned(name: str, trials: int, ahead: int = 1, seed: int = 1) -> tuple[Point, list[Trial]]:
    method = METHODS[name]([(-8.0, 8.0)] * len(BEST), trials, seed)
    rng, waiting, asked = random.Random(seed), [], []
    for _ in range(trials):
        while len(waiting) < ahead and (trial := method.ask()) is not None:
            waiting.append(trial)
            asked.append(trial)
        trial = waiting.pop(0)
        method.tell(trial, play(trial, rng))
    return method.best, asked


@pytest.mark.parametrize(("name", "trials"), [("spsa", 2000), ("cmaes", 4000)])
def test_they_find_what_is_best(name: str, trials: int) -> None:
    if name == "cmaes":
        pytest.importorskip("cmaes")
    best, _ = tuned(name, trials, ahead=20)
    assert elo(best) > -30
    assert all(-8 <= x <= 8 for x in best)
    assert tuned(name, 400, ahead=20) == tuned(name, 400, ahead=20)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "reach", [[(-0.1, 0.1)] * 2, [(0.0, 0.1)] * 4, [(-0.1, 0.1)]], ids=["two", "switches", "one"]
)
@pytest.mark.parametrize("name", ["spsa", "cmaes"])
def test_candidates_can_be_equal(name: str, reach: list[tuple[float, float]], seed: int) -> None:
    """Bounds close to the start make many candidates one; each has its own results."""
    if name == "cmaes":
        pytest.importorskip("cmaes")
    method = METHODS[name](reach, 200, seed)
    rng, waiting = random.Random(seed), []
    for _ in range(200):
        while len(waiting) < 20 and (trial := method.ask()) is not None:
            waiting.append(trial)
        method.tell(waiting.pop(0), rng.random())
    assert all(low <= x <= high for x, (low, high) in zip(method.best, reach, strict=True))

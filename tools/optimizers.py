"""Compare the methods of ``locmsim optimize`` on synthetic bots whose best values are known.

Prints a table for docs/tuning.md: how much Elo is missing to the best at the end, on average over
several bots, for each number of parameters and games. The strength of a bot is a quadratic function
of its parameters, coupled at random, and falls from the best to the start by the given Elo; games
are decided by it and luck. Results come in as from workers that play several trials at a time.
"""

import argparse
import math
import random

import numpy as np

from locmsim.tuning.methods import METHODS, Point, Trial, make_method

#: Distance of the best from the start in steps, for one parameter, and trials played at a time.
DISTANCE, AHEAD = 5.0, 48


class Bot:
    """A bot whose strength is known."""

    def __init__(self, parameters: int, elo: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        mixed = rng.normal(size=(parameters, parameters))
        self._form = np.eye(parameters) + 0.5 * (mixed @ mixed.T) / parameters
        best = rng.normal(size=parameters)
        self._best = best * DISTANCE * math.sqrt(parameters) / np.linalg.norm(best)
        self._scale = elo / (self._best @ self._form @ self._best)

    def missing(self, point: Point) -> float:
        """Return by how much Elo a point is weaker than the best."""
        distance = np.array(point) - self._best
        return float(distance @ self._form @ distance * self._scale)


def play(bot: Bot, trial: Trial, rng: random.Random) -> float:
    """Return the score of a mirrored pair."""
    second = (0.0,) * len(trial.first) if trial.second is None else trial.second
    better = bot.missing(second) - bot.missing(trial.first)
    expected = 1 / (1 + 10 ** (-better / 400))
    return sum(rng.random() < expected for _ in range(2)) / 2


def tuned(name: str, parameters: int, games: int, bot: Bot, seed: int) -> Point:
    """Return what a method recommends after a number of games."""
    method = make_method(name, [(-15.0, 15.0)] * parameters, games // 2, seed)
    rng = random.Random(seed)
    waiting: list[Trial] = []
    for _ in range(games // 2):
        while len(waiting) < AHEAD and (trial := method.ask()) is not None:
            waiting.append(trial)
        trial = waiting.pop(0)
        method.tell(trial, play(bot, trial, rng))
    return method.best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elo", type=float, default=100, help="Elo of the gap (default: 100)")
    parser.add_argument("--bots", type=int, default=6, help="bots of each cell (default: 6)")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="which (default: all)")
    parser.add_argument("--most", type=int, default=50000, help="most games (default: 50000)")
    options = parser.parse_args()
    print("| parameters | games |", " | ".join(options.methods), "|")
    print("|---|---|" + "---|" * len(options.methods))
    for parameters in (3, 8, 20):
        for games in (2000, 10000, 50000):
            cells = []
            for name in options.methods:
                # Its model takes minutes at this size.
                if games > options.most or (name == "tpe" and games > 10000):
                    cells.append("")
                    continue
                left = [
                    bot.missing(tuned(name, parameters, games, bot, seed))
                    for seed in range(options.bots)
                    for bot in [Bot(parameters, options.elo, seed)]
                ]
                cells.append(f"{np.mean(left):.0f} ± {np.std(left) / math.sqrt(len(left)):.0f}")
            print(f"| {parameters} | {games:,} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()

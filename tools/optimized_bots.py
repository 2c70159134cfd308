"""Compare the methods of ``locmsim optimize`` on real bots that start badly.

    python tools/optimized_bots.py --games 4000 --c-bot ./bot

Prints a table for docs/tuning.md: what the tuned bots win of fresh games against their starts, with
95 % intervals. The bots are the agent "greedy" with six of its weights a factor of five too high or
too low, at 1.5 and 1.2, and examples/c-bot, which chooses the cheapest cards. Its program must have
been built so that no time limit of its own cuts its playouts:

    locmsim export --kernel -o locm.h
    cc -O2 -I. -DPLAYOUTS=10 -DTURN_MS=5000 examples/c-bot/bot.c -o bot

The games depend only on the seed, not on the number of processes.
"""

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path

from locmsim import State
from locmsim.agents import GreedyAgent
from locmsim.agents.greedy import HAND_SET_WEIGHTS
from locmsim.arena import Arena, make_game
from locmsim.search import Evaluation
from locmsim.stats import score_interval
from locmsim.tuning import Optimization, OptimizationSettings
from locmsim.tuning.methods import METHODS

#: Option of `Weighted` -> its weight and the factor that makes it bad.
WEIGHTS = {
    "health": ("health", 5.0),
    "attack": ("attack", 5.0),
    "defense": ("defense", 0.2),
    "creature": ("creature", 5.0),
    "card": ("card", 0.2),
    "lethal": ("lethal", 0.2),
}
PROOF_SEEDS = range(90_000_000, 99_000_000)


@dataclass
class Weighted(GreedyAgent):
    """The agent "greedy" with other weights for health, creatures and cards."""

    health: float = HAND_SET_WEIGHTS["own.health"]
    attack: float = HAND_SET_WEIGHTS["own.attack"]
    defense: float = HAND_SET_WEIGHTS["own.defense"]
    creature: float = HAND_SET_WEIGHTS["own.creature"]
    card: float = HAND_SET_WEIGHTS["own.card"]
    lethal: float = HAND_SET_WEIGHTS["own.lethal"]

    def __post_init__(self) -> None:
        weights = dict(HAND_SET_WEIGHTS)
        for option, (name, _) in WEIGHTS.items():
            weights[f"own.{name}"] = weights[f"their.{name}"] = getattr(self, option)
        self._value = Evaluation(weights, network=None)
        self.evaluation = self._worth

    def _worth(self, state: State, player: int) -> float:
        return self._value(state, player)


def greedy() -> str:
    """Return the description of "greedy" from its bad start."""
    options = []
    for option, (name, factor) in WEIGHTS.items():
        start = HAND_SET_WEIGHTS[f"own.{name}"] * factor
        options.append(f"{option}={{{option}={start:.4g}:0.01..100:log:step=1.5}}")
    return f"{Path(__file__).resolve()}:Weighted:{','.join(options)}"


def tuned(player: str, rules: str, method: str, options: argparse.Namespace, seed: int) -> str:
    """Tune a bot, and return a cell of the table."""
    settings = OptimizationSettings(
        player=player,
        game=make_game("locm", rules=rules),
        games=options.games,
        method=method,
        seed=seed,
        timeout_scale=0,
    )
    optimization = Optimization(settings)
    for _ in optimization.run(jobs=options.jobs):
        pass
    start = (0.0,) * len(optimization.parameters)
    players = [f"tuned={optimization.command(optimization.best)}"]
    players.append(f"start={optimization.command(start)}")
    seeds = PROOF_SEEDS[: options.proof_games // 2]
    with Arena(players, game=settings.game, seeds=seeds, timeout_scale=0) as arena:
        arena.run(jobs=options.jobs)
        counts = arena.tally.pairs[0, 1]
    low, high = score_interval(counts)
    values = " ".join(f"{name}={value}" for name, value in optimization.values.items())
    print(
        f"  {method}, rules {rules}, seed {seed}: {100 * counts.score:.1f} %, {values}", flush=True
    )
    return f"{100 * counts.score:.0f} ({100 * low:.0f} - {100 * high:.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--games", type=int, default=4000, help="games of a tuning (default: %(default)s)")
    add("--proof-games", type=int, default=1000, help="fresh games (default: %(default)s)")
    add("--methods", nargs="+", default=["spsa", "cmaes"], help="which (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of all random numbers (default: 1)")
    add("--jobs", type=int, default=os.cpu_count(), help="processes (default: one a core)")
    add("--c-bot", metavar="FILE", help="the program of examples/c-bot (default: left out)")
    options = parser.parse_args()
    bots = [("greedy", greedy(), "1.5"), ("greedy", greedy(), "1.2")]
    if options.c_bot:
        bot = f"{Path(options.c_bot).resolve()}"
        numbers = "{cost=-1:-4..4:step=0.5} {attack=0:-3..3:step=0.5} {defense=0:-3..3:step=0.5}"
        bots += [("c-bot", f"{bot} {numbers}", rules) for rules in ("1.5", "1.2")]
    if unknown := [name for name in options.methods if name not in METHODS]:
        parser.error(f"--methods: unknown {unknown[0]!r}")
    lines = ["| bot | rules | parameters | " + " | ".join(options.methods) + " |"]
    lines.append("|---|---|---|" + "---|" * len(options.methods))
    for name, player, rules in bots:
        before = time.perf_counter()
        cells = [tuned(player, rules, method, options, options.seed) for method in options.methods]
        lines.append(f"| {name} | {rules} | {player.count('{')} | " + " | ".join(cells) + " |")
        print(f"  {time.perf_counter() - before:.0f} s", flush=True)
    print("\n".join(lines))


if __name__ == "__main__":
    main()

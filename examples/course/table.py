"""Play each step of the course against the previous one: the table of docs/agents.md.

    python table.py --games 400

The games are mirrored pairs without time limits; the win rates come with a 95 % interval. Each
rule set takes some minutes on one core.
"""

import argparse
from pathlib import Path

from locmsim.arena import Arena
from locmsim.stats import score_interval

#: Each step plays against the previous one, the first against random actions.
STEPS = ("greedy.py:Greedy", "flat.py:Flat", "uct.py:UCT", "beam.py:Beam", "believer.py:Believer")


def score(step: str, before: str, rules: str, games: int, seed: int, jobs: int | None) -> str:
    """Return the win rate of a step in percent, with its interval."""
    folder = Path(__file__).resolve().parent
    players = [f"{folder / name}" if ".py:" in name else name for name in (step, before)]
    with Arena(
        None, [f"step={players[0]}", f"before={players[1]}"],
        games=games, rules=rules, seed=seed, timeout_scale=0,
    ) as arena:  # fmt: skip
        arena.run(jobs=jobs)
        counts = arena.tally.player_pairs(0)
        low, high = score_interval(counts)
        return f"{100 * counts.score:.1f} ({100 * low:.1f} - {100 * high:.1f})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--games", type=int, default=400, metavar="N", help="games per step (default: 400)"
    )
    parser.add_argument(
        "--rules", nargs="+", default=["1.5", "1.2"], metavar="RULES", help="rule sets"
    )
    parser.add_argument(
        "--seed", type=int, default=41, metavar="N", help="seed of the games (default: 41)"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="number of games played at once")
    options = parser.parse_args(arguments)
    print("| step | " + " | ".join(f"against the previous step, {r}" for r in options.rules) + " |")
    print("|---|" + "---|" * len(options.rules))
    for before, step in zip(("random", *STEPS[:-1]), STEPS, strict=True):
        cells = [
            score(step, before, rules, options.games, options.seed, options.jobs)
            for rules in options.rules
        ]
        print(f"| `{step}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

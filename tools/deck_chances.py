"""Fit the chance of winning with a deck to games between decks of all kinds.

    python tools/deck_chances.py --games 1500 --jobs 2 --output src/locmsim/data/deck-chances.json

In each game both decks come from a deck builder or a draft picker of the package, and a random
share of their cards, from none to all, is replaced by random ones. One agent plays both. The
differences between the values of the decks are fitted to the results by a logistic regression with
two numbers for each rule set (`locmsim.decks.chances`). The table that is printed compares the
chances of other games with what was won in them: of each five games, the last is for the table.

The games depend only on the seed, not on the number of processes.
"""

import argparse
import json
import math
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from locmsim import Match, play_match
from locmsim.agents import make_agent
from locmsim.agents.combined import CombinedAgent
from locmsim.decks import DECK_BUILDERS, DRAFT_PICKERS, build_deck, deck_line, pick
from locmsim.decks.chances import value_of_decks
from locmsim.rules.rulesets import COPIES_PER_CARD, RULES
from locmsim.support.files import write_whole

BINS = 5
FIRST_SEED = 3_000_000_000


class Chooser:
    """Chooses by a heuristic of the package, and with some probability at random."""

    def __init__(self, rules: str, seed: int) -> None:
        self._rng = random.Random(seed)
        names = DRAFT_PICKERS if RULES[rules].draft else DECK_BUILDERS
        self._name = self._rng.choice(sorted(names))
        self._share = self._rng.random() * self._rng.randrange(2)
        self._seen: list = []
        self._picked: list = []

    def reset(self, seed: int = 0) -> None:
        """Do nothing: a chooser is for one match."""

    def choose(self, observation) -> str:
        offer, rules = observation.offer, observation.rules
        if not RULES[rules].draft:
            return deck_line(self._mixed(build_deck(offer, self._name), offer))
        if self._rng.random() < self._share:
            place = self._rng.randrange(len(offer))
        else:
            place = pick(offer, self._picked, rules, self._name, self._seen)
        self._seen.append(offer)
        self._picked.append(offer[place])
        return f"PICK {place}"

    def _mixed(self, deck: list[int], offer) -> list[int]:
        kept = [base_id for base_id in deck if self._rng.random() >= self._share]
        copies = [card.base_id for card in offer for _ in range(COPIES_PER_CARD)]
        for base_id in kept:
            copies.remove(base_id)
        return kept + self._rng.sample(copies, len(deck) - len(kept))


def play(rules: str, pilot: str, seed: int) -> tuple[float, bool]:
    """Play a game; return the difference of the values of the decks, and whether player 0 won."""
    agents = [
        CombinedAgent(Chooser(rules, 2 * seed + player), make_agent(pilot)) for player in (0, 1)
    ]
    for player, agent in enumerate(agents):
        agent.reset(2 * seed + player)
    match = play_match(Match(rules, seed=seed), agents)
    cards = {card.base_id: card for card in match.cards}
    value = value_of_decks(rules)
    first, second = (value([cards[base_id] for _, base_id in deck]) for deck in match.decks)
    return first - second, match.winner == 0


def fitted(differences: np.ndarray, won: np.ndarray) -> tuple[float, float]:
    """Return the constant and the factor of a logistic regression, by Newton's method."""
    rows = np.stack([np.ones_like(differences), differences], axis=1)
    numbers = np.zeros(2)
    for _ in range(30):
        chances = 1 / (1 + np.exp(-rows @ numbers))
        weights = chances * (1 - chances)
        numbers += np.linalg.solve((rows * weights[:, None]).T @ rows, rows.T @ (won - chances))
    return float(numbers[0]), float(numbers[1])


def table(rows: dict[str, tuple[np.ndarray, np.ndarray]]) -> str:
    """Return the shares that the better deck's player won, by the chance that they had."""
    lines = ["| chance, % | " + " | ".join(f"{name}: won, % (games)" for name in rows) + " |"]
    lines.append("|---|" + "---|" * len(rows))
    for low in range(BINS):
        cells = []
        for chances, won in rows.values():
            favourite = np.maximum(chances, 1 - chances)
            inside = np.minimum(((favourite - 0.5) * 2 * BINS).astype(int), BINS - 1) == low
            right = won[inside] == (chances[inside] > 0.5)
            share = f"{100 * right.mean():.0f}" if inside.any() else "-"
            cells.append(f"{share} ({inside.sum():,})")
        lines.append(f"| {50 + 10 * low} to {60 + 10 * low} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--games", type=int, default=1500, help="games of each rule set (default: %(default)s)")
    add("--pilot", default="beam:nodes=1000", help="who plays (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of all random numbers (default: %(default)s)")
    add("--jobs", type=int, default=1, help="number of processes (default: %(default)s)")
    add("--output", required=True, help="the file to write")
    args = parser.parse_args()
    found, tested = {}, {}
    first = FIRST_SEED * args.seed
    with ProcessPoolExecutor(args.jobs) as executor:
        work = partial(executor.map, chunksize=20) if args.jobs > 1 else map
        for rules in RULES:
            seeds = range(first, first + args.games)
            results = [*work(partial(play, rules, args.pilot), seeds)]
            differences, won = (np.array(column, float) for column in zip(*results, strict=True))
            other = np.arange(args.games) % 5 == 4
            constant, factor = fitted(differences[~other], won[~other])
            chances = 1 / (1 + np.exp(-constant - factor * differences[other]))
            tested[rules] = chances, won[other]
            guess = np.where(won[other] > 0, chances, 1 - chances)
            print(
                f"{rules}: first {constant:.3f}, scale {factor:.3f};"
                f" {-np.log(guess).mean():.3f} nats a game, {math.log(2):.3f} without a value"
            )
            found[rules] = {
                "first": round(constant, 4),
                "scale": round(factor, 4),
                "games": int((~other).sum()),
            }
    print(table(tested))
    command = " ".join(["python", *sys.argv])
    data = {"command": command, "pilot": args.pilot, "rules": found}
    write_whole(args.output, json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()

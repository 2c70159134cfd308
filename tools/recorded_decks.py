"""Play the decks of a contest's winner against ours, on the card sets they were recorded on.

    python tools/recorded_decks.py --games 1000 --nodes 20000

plays mirrored pairs of games of rules 1.5 between the recorded deck and that of a deck builder, on
each of the four card sets in `tests/data/recorded-decks.jsonl`. The search of the agent "beam",
with a fixed number of nodes, plays both decks, so that only the decks differ. The command prints
the win rate of each recorded deck with its Wilson 95 % interval. The results depend only on the
seeds, not on the number of processes.

Nothing is trained on these card sets: `locmsim tune` excludes them from self-play.
"""

import argparse
import json
import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from locmsim import State
from locmsim._core import Determinizer
from locmsim.decks import DECK_BUILDERS, build_deck, deck_builder, score_of
from locmsim.networks import Weights, WeightsFile
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE
from locmsim.search import BeamOptions, Evaluation
from locmsim.search._engine import SearchEngine, play_game
from locmsim.search.belief import attractions
from locmsim.stats import PairCounts, score_interval

DATA = Path(__file__).parents[1] / "tests" / "data" / "recorded-decks.jsonl"
#: Pairs per task of a process.
CHUNK = 25


@dataclass(frozen=True)
class Pairs:
    """A task: pairs of games between two decks of a card set, both played with the same weights.

    Calling it returns how many games of each pair the first deck won.
    """

    pool: int
    decks: tuple[list[int], list[int]]
    weights: Weights
    nodes: int
    seeds: range

    def __call__(self) -> list[int]:
        cards = generate_cards(self.pool)
        by_id = {card.base_id: card for card in cards}
        decks = [[by_id[base_id] for base_id in deck] for deck in self.decks]
        prior = score_of(self.weights), deck_builder(self.weights)
        likely = [(COPIES_PER_CARD, [pair]) for pair in attractions(cards, "1.5", *prior)]
        evaluation = Evaluation.of(self.weights)
        engines = [
            SearchEngine(BeamOptions(), evaluation.compiled, evaluation.network) for _ in range(2)
        ]
        wins = []
        for seed in self.seeds:
            rng = random.Random(f"recorded decks {self.pool} {seed}")
            shuffled = [rng.sample(deck, DECK_SIZE) for deck in decks]
            seeds = rng.getrandbits(60)
            won = 0
            for seat, pair in enumerate((shuffled, shuffled[::-1])):
                start = State.new(*pair, rules="1.5", pool=cards)
                worlds = [Determinizer(start, player, [likely, likely]) for player in (0, 1)]
                won += play_game(start, engines, worlds, (self.nodes, self.nodes), seeds)[0] == seat
            wins.append(won)
        return wins


def recorded() -> dict[int, list[int]]:
    """Return the base ids of the recorded decks by the seed of their card set."""
    rows = [json.loads(line) for line in DATA.read_text().splitlines()]
    return {row["cardGenSeed"]: row["deck"] for row in rows}


def measure(
    weights: Weights, deck: str = "", *, games: int = 1000, nodes: int = 20_000, jobs: int = 1
) -> dict[int, PairCounts]:
    """Return the counts of pairs won by the recorded decks, by the seed of their card set.

    The other deck is that of these weights, or of the deck builder named `deck`.
    """
    builder = DECK_BUILDERS[deck] if deck else deck_builder(weights)
    tasks = [
        Pairs(pool, (theirs, build_deck(generate_cards(pool), builder)), weights, nodes, seeds)
        for pool, theirs in recorded().items()
        for first in range(0, games // 2, CHUNK)
        for seeds in [range(first, min(first + CHUNK, games // 2))]
    ]
    counts = {pool: PairCounts() for pool in recorded()}
    with ProcessPoolExecutor(jobs) as executor:
        for task, wins in zip(tasks, executor.map(Pairs.__call__, tasks), strict=True):
            for won in wins:
                counts[task.pool].add(won / 2)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=1000, help="games per card set")
    parser.add_argument("--nodes", type=int, default=20_000, help="nodes per turn")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--weights", help="weights file (default: the package's)")
    parser.add_argument("--deck", default="", help="deck builder (default: that of the weights)")
    args = parser.parse_args()
    weights = (WeightsFile.load(args.weights) if args.weights else WeightsFile())["1.5"]
    counts = measure(weights, args.deck, games=args.games, nodes=args.nodes, jobs=args.jobs)
    print("| card set | games | recorded deck wins | interval |\n|---|---|---|---|")
    for pool, count in counts.items():
        low, high = score_interval(count)
        share = f"{100 * count.score:.1f} % | {100 * low:.1f} - {100 * high:.1f}"
        print(f"| {pool} | {2 * count.total} | {share} |")


if __name__ == "__main__":
    main()

"""What whole decks of rules 1.5 are worth, learnt from games: the value behind the default deck.

    python tools/deck_network.py --rounds 3 --games 90000 --jobs 2

writes `src/locmsim/data/deck-network.json`, which `locmsim.deckvalue` reads.

In each round, games are played between decks of many kinds: those of the deck builders, and from
the second round on also those that the value found so far takes for the best, with its terms
disturbed; in some of either kind a few cards are exchanged for any others. The search of the agent
"beam" plays them, with a small budget. From the games of all rounds a new value is learnt. Without
the later rounds the value is wrong about decks that nobody had played: the ones that it likes best.

The games depend on the seed only, not on the number of processes. Their cards are among
`locmsim.tune.TUNING_SEEDS`.
"""

import argparse
import json
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np

from locmsim import State
from locmsim._core import Determinizer
from locmsim._search import Engine, play_game
from locmsim.beliefs import attractions
from locmsim.deckbuilding import SwapBuilder, build_deck
from locmsim.deckvalue import DeckValue, learn_decks, term_rows
from locmsim.generator import generate_cards
from locmsim.network import listed
from locmsim.rules import COPIES_PER_CARD
from locmsim.search import BeamOptions, Evaluation
from locmsim.tune import TUNING_SEEDS

FILE = Path(__file__).parents[1] / "src/locmsim/data/deck-network.json"
BUILDERS = "score", "score", "classic", "bodies", "area"
SEARCH = BeamOptions(turns=1, width=16, plans=12, reply_width=1)
NODES = 2500
CHUNK = 100
#: Part of the decks that the value so far likes, and by how much its terms are disturbed, in their
#: own spread.
LIKED = 0.7
DISTURBED = 0.0, 0.0, 0.2, 0.4, 0.7
#: Cards that are exchanged.
EXCHANGED = 0, 0, 2, 5, 10


@cache
def engines():
    evaluation = Evaluation()
    return [Engine("beam", SEARCH, evaluation.compiled, evaluation.network) for _ in range(2)]


def random_deck(cards, arrays, chance):
    if arrays and chance.random() < LIKED:
        direct = np.array(arrays["direct"])
        noise = chance.choice(DISTURBED) * direct.std()
        moved = direct + [chance.gauss(0, noise) for _ in direct]
        value = DeckValue({**arrays, "direct": moved})
        start = partial(build_deck, heuristic=chance.choice(BUILDERS))
        ids = SwapBuilder(start, value)(cards)
    else:
        ids = build_deck(cards, chance.choice(BUILDERS))
    by_id = {card.base_id: card for card in cards}
    deck = [by_id[base_id] for base_id in ids]
    for _ in range(chance.choice(EXCHANGED)):
        card = chance.choice(cards)
        if card.cost <= chance.randrange(8) and deck.count(card) < COPIES_PER_CARD:
            deck[chance.randrange(len(deck))] = card
    return deck


def play(arrays, task):
    """The terms of the decks of some games, and whether player 0 won."""
    chance = random.Random(f"deck network {task}")
    rows, won = [], []
    for _ in range(CHUNK):
        cards = generate_cards(chance.choice(TUNING_SEEDS))
        decks = [random_deck(cards, arrays, chance) for _ in range(2)]
        for deck in decks:
            chance.shuffle(deck)
        start = State.new(*decks, rules="1.5", pool=cards)
        groups = [(COPIES_PER_CARD, [pair]) for pair in attractions(cards, "1.5")]
        worlds = [Determinizer(start, player, [groups, groups]) for player in (0, 1)]
        seed = chance.getrandbits(60)
        winner, _ = play_game(start, engines(), worlds, (NODES, NODES), seed)
        if winner >= 0:
            rows.append([term_rows(deck) for deck in decks])
            won.append(winner == 0)
    return np.clip(rows, -128, 127).astype(np.int8), np.array(won, np.int8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=90_000, help="in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    arrays, played = {}, []
    with ProcessPoolExecutor(args.jobs) as executor:
        for number in range(args.rounds):
            tasks = [(args.seed, number, i) for i in range(-(-args.games // CHUNK))]
            played += executor.map(partial(play, arrays), tasks)
            decks, won = map(np.concatenate, zip(*played, strict=True))
            value, loss = learn_decks(decks, won, seed=args.seed)
            arrays = {name: array.tolist() for name, array in value.arrays.items()}
            print(f"{len(won)} games: loss {loss:.4f}", file=sys.stderr, flush=True)
    about = {"command": " ".join(sys.argv), "games": len(won), "loss": round(loss, 4)}
    content = {"network": listed(value.arrays), "about": [about]}
    args.out.write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()

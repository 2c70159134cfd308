"""What the cards of rules 1.2 and 1.0 are worth in a draft, fitted to matches.

    python tools/draft_values.py --rules 1.2 --seed 1 --out weights.npz

writes a weights file with it, otherwise that of the package.

In each game both players draft from the same offers and then play with the search of the agent
"greedy". `locmsim.tuning.card_values` fits what each card does for winning. In the first round of
games cards are picked at random, in each further one the more often the better they were found to
be in all games so far: a card is worth different things in different decks, and those that matter
are sensible ones.

The unit is a hundredth of a game at even odds: a card of value 4 in place of one of value 1 raises
the chance of winning from 50 to about 53 %.

The games depend on the seed only, not on the number of processes. Their own seeds are above 10^9,
so that matches with small seeds can test the result.
"""

import argparse
import logging
import math
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from locmsim import Match, __version__
from locmsim.agents.greedy import HAND_SET_WEIGHTS, greedy_turn
from locmsim.networks import WeightsFile
from locmsim.rules.cards import cards_1x
from locmsim.search import Evaluation
from locmsim.tuning.card_values import copies_of, fit_card_values
from locmsim.tuning.files import replaced

FIRST_SEED = 1_000_000_000

#: What a card must be worth more to be picked e times as often.
TEMPERATURE = 3.0


def drafted_match(rules, seed, values):
    """A match after a draft of random picks, those of high values the most likely."""
    rng = random.Random(seed)
    match = Match(rules, seed=seed)
    while match.phase == "choice":
        offer = match.observation(0).cards
        weights = [math.exp(values[row.base_id] / TEMPERATURE) for row in offer]
        for player in (0, 1):
            match.submit(player, f"PICK {rng.choices(range(3), weights)[0]}")
    return match


def play(rules, values, seed):
    """One game: for each of the 160 cards, player 0's copies less player 1's; and whether 0 won."""
    match = drafted_match(rules, seed, values)
    state = match.state.clone()
    evaluation = Evaluation(HAND_SET_WEIGHTS, network=None)
    while not state.is_terminal():
        for action in greedy_turn(state, evaluation):
            state.apply_action(action)
        if not state.is_terminal():
            state.apply_action(0)
    copies = copies_of(np.array([match.chosen]))[0]
    return copies[0] - copies[1], state.winner == 0


def play_games(executor, rules, values, seeds):
    """Matrix of games by cards, and vector of player 0's wins."""
    results = list(executor.map(partial(play, rules, values), seeds, chunksize=50))
    differences, wins = zip(*results, strict=True)
    return np.array(differences, float), np.array(wins, float)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rules", choices=["1.2", "1.0"], required=True)
    parser.add_argument("--seed", type=int, default=1, help="1 or more")
    parser.add_argument("--games", type=int, default=3000, help="in each round")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", required=True, help="weights file")
    parser.add_argument("--weights", help="that of whose other parts it is (default: the package)")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    values = {card.base_id: 0.0 for card in cards_1x()}
    rounds = []
    with ProcessPoolExecutor(args.jobs) as executor:
        for number in range(args.rounds):
            first = FIRST_SEED * args.seed + number * args.games
            seeds = range(first, first + args.games)
            rounds.append(play_games(executor, args.rules, values, seeds))
            games = [*map(np.concatenate, zip(*rounds, strict=True))]
            values, loss = fit_card_values(*games)
    record = {
        "command": " ".join(sys.argv),
        "version": __version__,
        "rules": args.rules,
        "what": ["draft"],
        "games": len(games[1]),
        "loss": round(loss, 4),
    }
    start = WeightsFile.load(args.weights) if args.weights else WeightsFile()
    weights = replace(start[args.rules], draft=values)
    replaced(start, args.rules, weights, record).save(args.out)


if __name__ == "__main__":
    main()

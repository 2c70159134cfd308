"""Fit the value of each card in a draft of rules 1.2 or 1.0 to matches.

    python tools/draft_values.py --rules 1.2 --seed 1 --output weights.npz

writes a weights file with the new values and the package's other weights.

In each game both players draft from the same offers and then play with the search of the agent
"greedy". `locmsim.tuning.card_values` fits each card's effect on winning. The first round picks
cards at random; every further round picks a card more often the better it did in all games so far:
a card's value depends on the rest of the deck, and sensible decks are the ones that matter.

The unit is a hundredth of a game at even odds: replacing a card of value 1 by one of value 4 raises
the win rate from 50 to about 53 %.

The games depend only on the seed, not on the number of processes. Their own seeds are above 10^9,
so that matches with small seeds can test the result.
"""

import argparse
import logging
import math
import random
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import weights_file

from locmsim import Match
from locmsim.agents.greedy import HAND_SET_WEIGHTS, greedy_turn
from locmsim.rules.cards import cards_1x
from locmsim.search import Evaluation
from locmsim.tuning.card_values import copies_of, fit_card_values

FIRST_SEED = 1_000_000_000

#: Difference in value that makes a card e times as likely to be picked.
TEMPERATURE = 3.0


def drafted_match(rules, seed, values):
    """Draft a match at random, with cards of high value picked more often."""
    rng = random.Random(seed)
    match = Match(rules, seed=seed)
    while match.phase == "choice":
        offer = match.observation(0).cards
        weights = [math.exp(values[row.base_id] / TEMPERATURE) for row in offer]
        for player in (0, 1):
            match.submit(player, f"PICK {rng.choices(range(3), weights)[0]}")
    return match


def play(rules, values, seed):
    """Play a game; return player 0's copies of each card minus player 1's, and whether 0 won."""
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
    """Play games; return the matrix of games by cards and the vector of player 0's wins."""
    results = list(executor.map(partial(play, rules, values), seeds, chunksize=50))
    differences, wins = zip(*results, strict=True)
    return np.array(differences, float), np.array(wins, float)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rules", choices=["1.2", "1.0"], required=True, help="rule set")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of all random numbers, at least 1"
    )
    parser.add_argument("--games", type=int, default=3000, help="games per round")
    parser.add_argument("--rounds", type=int, default=4, help="number of rounds")
    weights_file.add_options(parser)
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
    weights_file.save(args, args.rules, "draft", len(games[1]), loss, draft=values)


if __name__ == "__main__":
    main()

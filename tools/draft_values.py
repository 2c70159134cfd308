"""What the cards of rules 1.2 and 1.0 are worth in a draft, learnt from matches.

    python tools/draft_values.py --rules 1.2 --seed 1

writes `src/locmsim/data/draft-1.2.json`, from which `locmsim.decks.building` has its draft scores.

In each game both players draft from the same offers and then play with the search of the agent
"greedy". The logarithm of the winner's odds is taken for a sum over the cards of both decks. What a
card adds is a sum of what its properties are worth (`properties`) and a deviation of its own. A
penalty keeps deviations small that few games support; it is the one under which games that were
held back are predicted best. In the first round of games cards are picked at random, in each
further one the more often the better they were found to be in all games so far: a card is worth
different things in different decks, and those that matter are sensible ones.

The unit is a hundredth of a game at even odds: a card of value 4 in place of one of value 1 raises
the chance of winning from 50 to about 53 %.

The games depend on the seed only, not on the number of processes. Their own seeds are above 10^9,
so that matches with small seeds can test the result.
"""

import argparse
import math
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np

from locmsim import Match
from locmsim.agents.greedy import HAND_SET_WEIGHTS, greedy_turn
from locmsim.rules.cards import ABILITIES, CardType, cards_1x
from locmsim.search import Evaluation

DATA = Path(__file__).parents[1] / "src/locmsim/data"
FIRST_SEED = 1_000_000_000

#: Value at even odds of a unit of the logarithm of the odds: 100 times p (1 - p).
HUNDREDTHS = 25
#: What a card must be worth more to be picked e times as often.
TEMPERATURE = 3.0
#: In squared units of the logarithm of the odds: the variance expected of what a property is worth,
#: and those of the deviations to choose from.
PROPERTY_VARIANCE = 0.003
VARIANCES = (0.0005, 0.001, 0.002, 0.004, 0.008)
FOLDS = 5


def drafted_match(rules, seed, values):
    """A match after a draft of random picks, those of high values the most likely."""
    chance = random.Random(seed)
    match = Match(rules, seed=seed)
    while match.phase == "choice":
        offer = match.observation(0).cards
        weights = [math.exp(values[row.base_id - 1] / TEMPERATURE) for row in offer]
        for player in (0, 1):
            match.submit(player, f"PICK {chance.choices(range(3), weights)[0]}")
    return match


def play(rules, values, seed):
    """One game: for each of the 160 cards, player 0's copies less player 1's; and whether 0 won."""
    match = drafted_match(rules, seed, values)
    copies = [Counter(chosen) for chosen in match.chosen]
    state = match.state.clone()
    evaluation = Evaluation(HAND_SET_WEIGHTS, network=None)
    while not state.is_terminal():
        for action in greedy_turn(state, evaluation):
            state.apply_action(action)
        if not state.is_terminal():
            state.apply_action(0)
    difference = [copies[0][card.base_id] - copies[1][card.base_id] for card in cards_1x()]
    return difference, state.winner == 0


def play_games(executor, rules, values, seeds):
    """Matrix of games by cards, and vector of player 0's wins."""
    results = list(executor.map(partial(play, rules, values), seeds, chunksize=50))
    differences, wins = zip(*results, strict=True)
    return np.array(differences, float), np.array(wins, float)


def properties(card):
    """What is printed on a card, as numbers whose weighted sum tells about its value."""
    creature = card.type == CardType.CREATURE
    body = card.cost, max(card.cost - 6, 0), abs(card.attack), min(abs(card.defense), 12)
    flags = [letter in card.abilities for letter in ABILITIES]
    return [
        card.my_health_change,
        card.opponent_health_change,
        card.card_draw,
        *(card.type == kind for kind in CardType),
        *(number * creature for number in body),
        *(number * (not creature) for number in body),
        *(flag * (card.type == kind) for kind in CardType for flag in flags),
        *(flag * creature * card.attack for flag in flags),
    ]


@cache
def standard_properties():
    """A row for each of the 160 cards; each column has mean 0 and standard deviation 1."""
    table = np.array([properties(card) for card in cards_1x()], float)
    table = table[:, table.std(axis=0) > 0]
    return (table - table.mean(axis=0)) / table.std(axis=0)


def fit(differences, wins, variance):
    """Player 0's advantage, and a value for each card, in units of the logarithm of the odds.

    What properties are worth, and deviations from that, are taken for normal with mean 0; the
    latter with this variance. The advantage is free.
    """
    table = standard_properties()
    columns = np.column_stack([np.ones(len(wins)), differences @ table, differences])
    penalty = np.repeat(
        [0, 1 / PROPERTY_VARIANCE, 1 / variance], [1, table.shape[1], table.shape[0]]
    )
    weights = np.zeros(columns.shape[1])
    for _ in range(50):  # Newton's method
        chance = 1 / (1 + np.exp(-columns @ weights))
        gradient = columns.T @ (wins - chance) - penalty * weights
        hessian = (columns.T * (chance * (1 - chance))) @ columns + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    worth, deviations = np.split(weights[1:], [table.shape[1]])
    return weights[0], table @ worth + deviations


def held_out_loss(differences, wins, variance):
    """Mean of the negative logarithm of the chance that other games gave to what happened."""
    fold = np.arange(len(wins)) % FOLDS
    losses = []
    for k in range(FOLDS):
        advantage, values = fit(differences[fold != k], wins[fold != k], variance)
        odds = advantage + differences[fold == k] @ values
        losses.extend(np.logaddexp(0, odds) - wins[fold == k] * odds)
    return np.mean(losses)


def card_values(differences, wins, report=lambda text: None):
    """The value of each card in hundredths, as a deviation from their mean."""
    losses = [held_out_loss(differences, wins, variance) for variance in VARIANCES]
    variance = VARIANCES[int(np.argmin(losses))]
    advantage, values = fit(differences, wins, variance)
    values = HUNDREDTHS * (values - values.mean())
    report(
        f"{len(wins)} games: loss {min(losses):.4f} on games held back, at variance {variance};"
        f" player 0 {HUNDREDTHS * advantage:+.1f}; values {np.std(values):.2f} about their mean"
    )
    return np.round(values, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rules", choices=["1.2", "1.0"], required=True)
    parser.add_argument("--seed", type=int, default=1, help="1 or more")
    parser.add_argument("--games", type=int, default=3000, help="in each round")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    args = parser.parse_args()
    report = partial(print, file=sys.stderr, flush=True)
    values = np.zeros(len(cards_1x()))
    rounds = []
    with ProcessPoolExecutor(args.jobs) as executor:
        for number in range(args.rounds):
            first = FIRST_SEED * args.seed + number * args.games
            seeds = range(first, first + args.games)
            rounds.append(play_games(executor, args.rules, values.tolist(), seeds))
            values = card_values(*map(np.concatenate, zip(*rounds, strict=True)), report)
    rows = [(card.base_id, v) for card, v in zip(cards_1x(), values.tolist(), strict=True)]
    rows.sort(key=lambda row: (-row[1], row[0]))
    lines = ",\n".join(f'"{base_id}": {value}' for base_id, value in rows)
    (DATA / f"draft-{args.rules}.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()

"""Train the value of whole decks in rules 1.5, which the default deck builder maximises.

    python tools/deck_network.py --jobs 2 --output weights.npz

writes a weights file with the new value and the package's other weights. It needs the extra
`train`.

In each round, many kinds of decks are proposed for each of many card sets and play each other:
those of the deck builders and, from the second round on, mostly those that a network trained so far
rates best (`locmsim.tuning.proposals`). Each network is trained on a different part of the games,
so that together they also propose decks that the games say little about. The search of the agent
"beam" plays the decks: in the first rounds shallow and with a small budget, in the last rounds with
its full budget, against itself and against shallow beams that see only their own turn. Finally,
networks are trained on the games of all rounds to predict what decks are worth to the full search,
because that differs between players; their mean is the value.

The games depend only on the seed, not on the number of processes. Their card sets are from
`locmsim.tuning.TUNING_SEEDS`, without `RECORDED_SEEDS`.
"""

import argparse
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial

import numpy as np
import weights_file

from locmsim import State
from locmsim._core import Determinizer
from locmsim.decks.value import term_rows
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE
from locmsim.search import BeamOptions, Evaluation
from locmsim.search._engine import SearchEngine, play_game
from locmsim.search.belief import attractions
from locmsim.tuning import RECORDED_SEEDS, TUNING_SEEDS
from locmsim.tuning.decks import train_deck_value
from locmsim.tuning.proposals import propose_deck

#: Number of decks proposed per card set, and of games between them.
DECKS = 16
GAMES = 140
#: Number of networks in the ensemble, and the share of games on which a proposing one is trained.
NETWORKS = 4
PART = 0.6
EPOCHS = 6
#: Search of the first rounds, and its nodes per turn.
SEARCH = BeamOptions(turns=1, width=16, plans=12, reply_width=1)
NODES = 2500
#: Nodes per turn of the agent's own search and of two shallow ones, which see only their own turn:
#: a beam, and one so narrow that it is nearly greedy.
LAST_NODES = 20_000
SHALLOW = BeamOptions(turns=0, width=64), BeamOptions(turns=0, width=8)
SHALLOW_NODES = 4000, 300
#: Players: the agent's own search, the search of the first rounds, and the shallow ones; and in how
#: many of six games of the last rounds each plays against the agent's own search.
ITSELF, FIRST, BEAM, NARROW_BEAM = range(4)
OPPONENTS = ITSELF, ITSELF, BEAM, BEAM, BEAM, NARROW_BEAM
#: Longer games have no winner.
MAX_TURNS = 300


@cache
def engines(options=SEARCH):
    evaluation = Evaluation()
    return [SearchEngine(options, evaluation.compiled, evaluation.network) for _ in range(2)]


def play(networks, last, task):
    """Play games of one card set; return deck terms, whether player 0 won, and the players."""
    rng = random.Random(f"deck network {task}")
    pool = rng.choice(TUNING_SEEDS)
    cards = generate_cards(pool + (pool in RECORDED_SEEDS))
    likely = [(COPIES_PER_CARD, [pair]) for pair in attractions(cards, "1.5")]
    decks = [propose_deck(cards, networks, rng) for _ in range(DECKS)]
    terms = np.clip([term_rows(deck) for deck in decks], -128, 127).astype(np.int8)
    rows, won, players = [], [], []
    for _ in range(GAMES):
        numbers = rng.sample(range(DECKS), 2)
        shuffled = [rng.sample(decks[number], DECK_SIZE) for number in numbers]
        start = State.new(*shuffled, rules="1.5", pool=cards)
        pair, winner = (play_last if last else play_first)(start, likely, rng)
        if winner >= 0:
            rows.append(terms[numbers])
            won.append(winner == 0)
            players.append(pair)
    return np.array(rows), np.array(won, np.int8), np.array(players, np.int8)


def play_first(start, likely, rng):
    """Play a game of the first rounds; return the players and the winner."""
    worlds = [Determinizer(start, player, [likely, likely]) for player in (0, 1)]
    winner, _ = play_game(start, engines(), worlds, (NODES, NODES), rng.getrandbits(60))
    return (FIRST, FIRST), winner


def play_last(start, likely, rng):
    """Play a game of the last rounds, the agent's own search against some player."""
    searches = engines(BeamOptions())
    pair = [ITSELF, rng.choice(OPPONENTS)]
    if pair[1] == ITSELF:
        other = partial(beam_turn, searches[1], LAST_NODES, likely, rng)
    else:
        shallow = pair[1] - BEAM
        engine = engines(SHALLOW[shallow])[0]
        other = partial(beam_turn, engine, SHALLOW_NODES[shallow], likely, rng)
    turns = [partial(beam_turn, searches[0], LAST_NODES, likely, rng), other]
    if rng.randrange(2):
        pair.reverse()
        turns.reverse()
    state = start.clone()
    for _ in range(MAX_TURNS):
        for action in turns[state.current_player()](state):
            state.apply_action(action)
        if not state.is_terminal():
            state.apply_action(0)
        if state.is_terminal():
            return pair, state.winner
    return pair, -1


def beam_turn(engine, nodes, likely, rng, state):
    """Return the actions of a turn; only the order of the player's deck is unknown."""
    player = state.current_player()
    deck = Counter(item.card for item in state.players[player].deck)
    groups = [likely, likely]
    if deck:
        groups[player] = [(copies, [(card, 1.0)]) for card, copies in deck.items()]
    worlds = Determinizer(state, player, groups)
    seed = rng.getrandbits(60)
    outcome = engine.search(
        worlds, worlds.sample(seed), time_ns=None, nodes=nodes, iterations=None, seed=seed
    )
    return outcome.actions


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    parser.add_argument("--rounds", type=int, default=6, help="number of first rounds")
    parser.add_argument("--games", type=int, default=90_000, help="games per first round")
    parser.add_argument("--last-rounds", type=int, default=3, help="number of last rounds")
    parser.add_argument("--last-games", type=int, default=70_000, help="games per last round")
    weights_file.add_options(parser)
    args = parser.parse_args()
    networks, played = (), []
    rounds = args.rounds * [(False, args.games)] + args.last_rounds * [(True, args.last_games)]
    with ProcessPoolExecutor(args.jobs) as executor:
        for number, (last, asked) in enumerate(rounds):
            tasks = [(args.seed, number, i) for i in range(-(-asked // GAMES))]
            played += executor.map(partial(play, networks, last), tasks)
            games = [*map(np.concatenate, zip(*played, strict=True))]
            part = PART if number + 1 < len(rounds) else 1.0
            trained = [train(games, part, args.seed + i) for i in range(NETWORKS)]
            networks, losses = zip(*trained, strict=True)
            loss = sum(losses) / NETWORKS
            print(f"{len(games[1])} games: loss {loss:.4f}", file=sys.stderr, flush=True)
    weights_file.save(args, "1.5", "deck", len(games[1]), loss, deck_value=networks)


def train(games, part, seed):
    """Train a network on a part of the games; return its arrays and its loss."""
    decks, won, players = games
    training = np.random.default_rng(seed).random(len(won)) < part
    return train_deck_value(
        decks[training], won[training], players=players[training], epochs=EPOCHS, seed=seed
    )


if __name__ == "__main__":
    main()

"""What whole decks of rules 1.5 are worth, trained on games: the value behind the default deck.

    python tools/deck_network.py --jobs 2 --out weights.npz

writes a weights file with it, otherwise that of the package. It needs the extra `train`.

In each round, decks of many kinds are proposed for each of many card sets and play each other:
those of the deck builders, and from the second round on mostly those that a network found so far
takes for the best (`locmsim.tuning.proposals`). The networks have been trained on different parts
of the games, so that they propose what the games say little about. The search of the agent "beam"
plays the decks: in the first rounds with a small budget and shallow, in the last rounds in earnest,
against itself and against shallow beams that only see their own turn. At last networks are trained
on the games of all rounds to predict what decks are worth to the search in earnest, for that
differs between players; their mean is the value.

The games depend on the seed only, not on the number of processes. Their cards are among
`locmsim.tuning.TUNING_SEEDS`, without `RECORDED_SEEDS`.
"""

import argparse
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache, partial

import numpy as np

from locmsim import State, __version__
from locmsim._core import Determinizer
from locmsim.decks.value import term_rows
from locmsim.networks import WeightsFile
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE
from locmsim.search import BeamOptions, Evaluation
from locmsim.search._engine import Engine, play_game
from locmsim.search.belief import attractions
from locmsim.tuning import RECORDED_SEEDS, TUNING_SEEDS
from locmsim.tuning.decks import train_deck_value
from locmsim.tuning.files import replaced
from locmsim.tuning.proposals import propose_deck

#: Decks proposed for a card set, and the games between them.
DECKS = 16
GAMES = 140
#: Networks that propose decks and make up the value, and the part of the games that those that
#: propose have been trained on.
NETWORKS = 4
PART = 0.6
EPOCHS = 6
#: The search of the first rounds, and its nodes for a turn.
SEARCH = BeamOptions(turns=1, width=16, plans=12, reply_width=1)
NODES = 2500
#: Nodes of the agent's own search, and of the shallow ones that see their own turn only: a beam,
#: and one so narrow that it is nearly greedy.
LAST_NODES = 20_000
SHALLOW = BeamOptions(turns=0, width=64), BeamOptions(turns=0, width=8)
SHALLOW_NODES = 4000, 300
#: Players: the agent's own search, that of the first rounds, and the shallow ones; and how often,
#: of six times, they play against the first in the last rounds.
ITSELF, FIRST, BEAM, NARROW_BEAM = range(4)
OPPONENTS = ITSELF, ITSELF, BEAM, BEAM, BEAM, NARROW_BEAM
#: Longer games have no winner.
MAX_TURNS = 300


@cache
def engines(options=SEARCH):
    evaluation = Evaluation()
    return [Engine(options, evaluation.compiled, evaluation.network) for _ in range(2)]


def play(networks, last, task):
    """Some games of one card set: the terms of the decks, whether player 0 won, and who played."""
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
    """A game of the first rounds: who played, and the winner."""
    worlds = [Determinizer(start, player, [likely, likely]) for player in (0, 1)]
    winner, _ = play_game(start, engines(), worlds, (NODES, NODES), rng.getrandbits(60))
    return (FIRST, FIRST), winner


def play_last(start, likely, rng):
    """A game of the last rounds, of the agent's own search against some player."""
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
    """The actions of a turn; of the player's deck all is known but the order."""
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
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--games", type=int, default=90_000, help="in each of them")
    parser.add_argument("--last-rounds", type=int, default=3)
    parser.add_argument("--last-games", type=int, default=70_000, help="in each of them")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", required=True, help="weights file")
    parser.add_argument("--weights", help="that of whose other parts it is (default: the package)")
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
    record = {
        "command": " ".join(sys.argv),
        "version": __version__,
        "rules": "1.5",
        "what": ["deck"],
        "games": len(games[1]),
        "loss": round(loss, 4),
    }
    start = WeightsFile.load(args.weights) if args.weights else WeightsFile()
    weights = replace(start["1.5"], deck_value=networks)
    replaced(start, "1.5", weights, record).save(args.out)


def train(games, part, seed):
    """The arrays of a network that is trained on a part of the games, and the loss on them."""
    decks, won, players = games
    training = np.random.default_rng(seed).random(len(won)) < part
    return train_deck_value(
        decks[training], won[training], players=players[training], epochs=EPOCHS, seed=seed
    )


if __name__ == "__main__":
    main()

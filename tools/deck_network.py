"""What whole decks of rules 1.5 are worth, learnt from games: the value behind the default deck.

    python tools/deck_network.py --jobs 2

writes `src/locmsim/data/deck-network.json`, which `locmsim.decks.value` reads.

In each round, decks of many kinds are proposed for each of many card sets and play each other:
those of the deck builders, and from the second round on mostly those that a network found so far
takes for the best, with its terms disturbed; in some a few cards are exchanged for any others. The
networks have learnt from different parts of the games, so that they propose what the games say
little about: decks that nobody had played are what a network is most wrong about, and likes best.
The search of the agent "beam" plays the decks: in the first rounds with a small budget and shallow,
in the last rounds in earnest, against itself and against players that only see their own turn. At
last networks learn from the games of all rounds what decks are worth to the search in earnest, for
that differs between players; their mean is the value.

The games depend on the seed only, not on the number of processes. Their cards are among
`locmsim.tuning.tune.TUNING_SEEDS`.
"""

import argparse
import json
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np

from locmsim import State
from locmsim._core import Determinizer
from locmsim.decks.building import build_deck
from locmsim.decks.value import DeckValue, learn_decks, term_rows
from locmsim.networks.network import listed
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE
from locmsim.search import BeamOptions, Evaluation
from locmsim.search._engine import Engine, play_game
from locmsim.search.belief import attractions
from locmsim.tuning.tune import TUNING_SEEDS

FILE = Path(__file__).parents[1] / "src/locmsim/data/deck-network.json"
BUILDERS = "score", "score", "classic", "bodies", "area"
#: Decks proposed for a card set, and the games between them.
DECKS = 16
GAMES = 140
#: Networks that propose decks and make up the value, and the part of the games from which those
#: that propose have learnt.
NETWORKS = 4
PART = 0.6
EPOCHS = 6
#: The search of the first rounds, and its nodes for a turn.
SEARCH = BeamOptions(turns=1, width=16, plans=12, reply_width=1)
NODES = 2500
#: Nodes of the agent's own search, and of those that see their own turn only: a beam, and one
#: so narrow that it is nearly greedy.
LAST_NODES = 20_000
SHALLOW = BeamOptions(turns=0, width=64)
SHALLOW_NODES = 1000, 4000
NARROW = BeamOptions(turns=0, width=8)
NARROW_NODES = 300
#: Players: the agent's own search, that of the first rounds, and the others; and how often, of six
#: times, they play against the first in the last rounds.
ITSELF, FIRST, NARROW_BEAM, SHALLOW_BEAM = range(4)
OPPONENTS = ITSELF, ITSELF, SHALLOW_BEAM, SHALLOW_BEAM, SHALLOW_BEAM, NARROW_BEAM
#: Longer games have no winner.
MAX_TURNS = 300
#: Part of the decks that networks propose, and by how much their terms are disturbed, in their own
#: spread.
LIKED = 0.92
DISTURBED = 0.0, 0.0, 0.0, 0.1, 0.2, 0.4
#: Their search begins with a builder's deck, this often, or a random one of so many cheap cards.
BUILT = 0.4
CHEAPEST = 40, 60, 80, 120
#: Cards that are exchanged.
EXCHANGED = 0, 0, 0, 1, 2, 4, 8


@cache
def engines(options=SEARCH):
    evaluation = Evaluation()
    return [Engine(options, evaluation.compiled, evaluation.network) for _ in range(2)]


def random_deck(cards, networks, chance):
    if networks and chance.random() < LIKED:
        arrays = chance.choice(networks)
        direct = np.array(arrays["direct"])
        noise = chance.choice(DISTURBED) * direct.std()
        moved = direct + [chance.gauss(0, noise) for _ in direct]
        if chance.random() < BUILT:
            start = build_deck(cards, chance.choice(BUILDERS))
        else:
            cheap = sorted(cards, key=lambda card: card.cost)[: chance.choice(CHEAPEST)]
            start = chance.sample(COPIES_PER_CARD * [card.base_id for card in cheap], DECK_SIZE)
        ids = DeckValue({**arrays, "direct": moved}).improved(start, cards)
    else:
        ids = build_deck(cards, chance.choice(BUILDERS))
    by_id = {card.base_id: card for card in cards}
    deck = [by_id[base_id] for base_id in ids]
    for _ in range(chance.choice(EXCHANGED)):
        card = chance.choice(cards)
        if card.cost <= chance.randrange(8) and deck.count(card) < COPIES_PER_CARD:
            deck[chance.randrange(len(deck))] = card
    return deck


def play(networks, last, task):
    """Some games of one card set: the terms of the decks, whether player 0 won, and who played."""
    chance = random.Random(f"deck network {task}")
    cards = generate_cards(chance.choice(TUNING_SEEDS))
    likely = [(COPIES_PER_CARD, [pair]) for pair in attractions(cards, "1.5")]
    decks = [random_deck(cards, networks, chance) for _ in range(DECKS)]
    terms = np.clip([term_rows(deck) for deck in decks], -128, 127).astype(np.int8)
    rows, won, players = [], [], []
    for _ in range(GAMES):
        numbers = chance.sample(range(DECKS), 2)
        shuffled = [chance.sample(decks[number], DECK_SIZE) for number in numbers]
        start = State.new(*shuffled, rules="1.5", pool=cards)
        pair, winner = (play_last if last else play_first)(start, likely, chance)
        if winner >= 0:
            rows.append(terms[numbers])
            won.append(winner == 0)
            players.append(pair)
    return np.array(rows), np.array(won, np.int8), np.array(players, np.int8)


def play_first(start, likely, chance):
    """A game of the first rounds: who played, and the winner."""
    worlds = [Determinizer(start, player, [likely, likely]) for player in (0, 1)]
    winner, _ = play_game(start, engines(), worlds, (NODES, NODES), chance.getrandbits(60))
    return (FIRST, FIRST), winner


def play_last(start, likely, chance):
    """A game of the last rounds, of the agent's own search against some player."""
    searches = engines(BeamOptions())
    pair = [ITSELF, chance.choice(OPPONENTS)]
    if pair[1] == ITSELF:
        other = partial(beam_turn, searches[1], LAST_NODES, likely, chance)
    elif pair[1] == NARROW_BEAM:
        other = partial(beam_turn, engines(NARROW)[0], NARROW_NODES, likely, chance)
    else:
        number = chance.randrange(len(SHALLOW_NODES))
        pair[1] += number
        other = partial(beam_turn, engines(SHALLOW)[0], SHALLOW_NODES[number], likely, chance)
    turns = [partial(beam_turn, searches[0], LAST_NODES, likely, chance), other]
    if chance.randrange(2):
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


def beam_turn(engine, nodes, likely, chance, state):
    """The actions of a turn; of the own deck all is known but the order."""
    player = state.current_player()
    deck = Counter(item.card for item in state.players[player].deck)
    groups = [likely, likely]
    if deck:
        groups[player] = [(copies, [(card, 1.0)]) for card, copies in deck.items()]
    worlds = Determinizer(state, player, groups)
    seed = chance.getrandbits(60)
    return engine.search(worlds, time_ns=None, nodes=nodes, iterations=None, seed=seed).actions


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--games", type=int, default=90_000, help="in each of them")
    parser.add_argument("--last-rounds", type=int, default=3)
    parser.add_argument("--last-games", type=int, default=70_000, help="in each of them")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    networks, played = [], []
    rounds = args.rounds * [(False, args.games)] + args.last_rounds * [(True, args.last_games)]
    with ProcessPoolExecutor(args.jobs) as executor:
        for number, (last, asked) in enumerate(rounds):
            tasks = [(args.seed, number, i) for i in range(-(-asked // GAMES))]
            played += executor.map(partial(play, networks, last), tasks)
            games = [*map(np.concatenate, zip(*played, strict=True))]
            part = PART if number + 1 < len(rounds) else 1.0
            learnt = [learn(games, part, args.seed + i) for i in range(NETWORKS)]
            networks, losses = zip(*learnt, strict=True)
            loss = sum(losses) / NETWORKS
            print(f"{len(games[1])} games: loss {loss:.4f}", file=sys.stderr, flush=True)
    about = {"command": " ".join(sys.argv), "games": len(games[1]), "loss": round(loss, 4)}
    content = {"networks": networks, "about": [about]}
    args.out.write_text(json.dumps(content) + "\n")


def learn(games, part, seed):
    """The arrays of a network that has learnt from a part of the games, and the loss on them."""
    decks, won, players = games
    taken = np.random.default_rng(seed).random(len(won)) < part
    value, loss = learn_decks(
        decks[taken], won[taken], players=players[taken], epochs=EPOCHS, seed=seed
    )
    return listed(value.networks[0]), loss


if __name__ == "__main__":
    main()

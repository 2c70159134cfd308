"""Games between players in this process: self-play for training, and deciding matches."""

import base64
import io
import math
import random
import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from locmsim._core import Determinizer, State
from locmsim.decks import (
    CARD_TERMS,
    DeckBuilder,
    DraftPicker,
    build_deck,
    deck_builder,
    draft_picker,
    pick,
)
from locmsim.decks.value import term_rows
from locmsim.game.match import Match
from locmsim.networks import BLOCKS, Network, Weights, inputs
from locmsim.rules.cards import Card
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES
from locmsim.search import BeamOptions, Evaluation
from locmsim.search._engine import TERMS, CompiledEvaluation, SearchEngine, play_game
from locmsim.search.belief import attractions, draft_attractions
from locmsim.stats import PairCounts
from locmsim.tuning.proposals import propose_deck, score_builder
from locmsim.tuning.settings import TuningSettings

#: Search options of the players, those of the agent `beam`. Results depend on them: card values
#: from games with `turns=1` won 73 % of such games, but 52 % of the agent's games.
_SEARCH = BeamOptions()
#: The additive terms of an evaluation; the scale is fixed.
EVALUATION_TERMS = tuple(name for name in TERMS if name != "scale")
#: Number of inputs of a network.
INPUTS = sum(math.prod(shape) for shape in BLOCKS.values())
#: Largest weight that an evaluation accepts.
MAX_WEIGHT = 999.0
#: Perturbations in self-play: standard deviation of the logarithm of a weight; largest number added
#: to it, in points of the value; largest share of random picks.
_WEIGHT_NOISE = 0.3
_ADDED = 0.015
_RANDOM_PICKS = 0.5
#: Games per card set or draft, and decks proposed for them. A deck, and what the belief needs of a
#: draft, take as long as a game.
_GAMES_PER_POOL = 10
_DECKS = 6

_Triplets = Sequence[Sequence[Card]]
#: The evaluation of a player.
_Evaluation: TypeAlias = tuple[CompiledEvaluation, Network | None]


# ------------------------------------------------------------------------------------- offers


@dataclass(frozen=True)
class _Offer:
    """The cards of a match."""

    cards: Sequence[Card]
    triplets: _Triplets
    #: The cards that the opponent is likely to have, see `Determinizer`.
    groups: list[tuple[int, list[tuple[Card, float]]]]


@lru_cache(1000)
def _offer(rules: str, seed: int) -> _Offer:
    if RULES[rules].draft:
        triplets = [list(triplet) for triplet in cast(_Triplets, Match(rules, seed=seed).offers)]
        different = {card.base_id: card for triplet in triplets for card in triplet}
        groups = [(1, likely) for likely in draft_attractions(triplets, rules)]
        return _Offer(list(different.values()), triplets, groups)
    cards = generate_cards(seed)
    groups = [(COPIES_PER_CARD, [pair]) for pair in attractions(cards, rules)]
    return _Offer(cards, (), groups)


@lru_cache(1000)
def _terms(pool: int) -> NDArray[np.int8]:
    """Return the `CARD_TERMS` of a card set, by base id."""
    cards = sorted(generate_cards(pool), key=lambda card: card.base_id)
    return np.clip(term_rows(cards), -128, 127).astype(np.int8)


def deck_rows(pools: NDArray[np.int64], decks: NDArray[np.int16]) -> NDArray[np.int8]:
    """Return the terms of decks of rules 1.5.

    Parameters
    ----------
    pools
        Shape (games,): seeds of the card sets.
    decks
        Shape (games, 2, 30): base ids.

    Returns
    -------
    int8 array
        Shape (games, 2, 30, terms).
    """
    rows = np.empty((*decks.shape, len(CARD_TERMS)), np.int8)
    for pool in np.unique(pools):
        rows[pools == pool] = _terms(int(pool))[decks[pools == pool]]
    return rows


class _Chooser:
    """The choice of cards by a player."""

    def __init__(self, rules: str, weights: Weights) -> None:
        self.rules = rules
        self._builder: DeckBuilder | None = None
        self._picker: DraftPicker | None = None
        if RULES[rules].draft:
            self._picker = draft_picker({rules: weights})
        else:
            self._builder = deck_builder(weights)

    def deck(self, offer: _Offer, rng: random.Random | None = None) -> list[Card]:
        """Choose thirty cards; with `rng`, some of the picks of a draft are random."""
        if self._builder is not None:
            by_id = {card.base_id: card for card in offer.cards}
            return [by_id[base_id] for base_id in build_deck(offer.cards, self._builder)]
        assert self._picker is not None
        share = 0.0 if rng is None else _RANDOM_PICKS * rng.random()
        deck: list[Card] = []
        for turn, triplet in enumerate(offer.triplets):
            if rng is not None and rng.random() < share:
                deck.append(rng.choice(triplet))
            else:
                earlier = offer.triplets[:turn]
                deck.append(triplet[pick(triplet, deck, self.rules, self._picker, earlier)])
        return deck


# -------------------------------------------------------------------------------------- games


class _Ours(threading.local):
    """The objects of one thread: workers of a cluster may have several threads."""

    @cached_property
    def engines(self) -> tuple[SearchEngine, SearchEngine]:
        """The engines of both players."""
        evaluator = Evaluation().compiled
        return SearchEngine(_SEARCH, evaluator), SearchEngine(_SEARCH, evaluator)

    @cached_property
    def units(self) -> list[CompiledEvaluation]:
        """Return an evaluation for each term that counts only this term."""
        none = {**dict.fromkeys(TERMS, 0.0), "scale": 1.0}
        return [CompiledEvaluation({**none, name: 1.0}) for name in EVALUATION_TERMS]


_ours = _Ours()


def _network(weights: Weights) -> Network | None:
    return None if weights.network is None else Network(weights.network)


def _play(
    rules: str,
    offer: _Offer,
    decks: Sequence[Sequence[Card]],
    players: Sequence[_Evaluation],
    nodes: int,
    seed: int,
    ends: list[State] | None = None,
) -> int:
    """Return the winner, or -1 for an unfinished game."""
    start = State.new(*decks, rules=rules, pool=offer.cards)
    groups = [offer.groups, offer.groups]
    engines = _ours.engines
    for engine, player in zip(engines, players, strict=True):
        engine.evaluate_by(*player)
    worlds = Determinizer(start, 0, groups), Determinizer(start, 1, groups)
    return play_game(start, engines, worlds, (nodes, nodes), seed, ends)[0]


@dataclass
class TrainingGames:
    """The games to train on.

    Attributes
    ----------
    positions
        Shape (positions, terms): the terms of an evaluation at the ends of turns, for the player
        who has just played; no rows if no evaluation of positions is tuned.
    position_inputs
        Shape (positions, inputs): the inputs of a network for the same positions; no rows if no
        network is trained.
    position_won
        Shape (positions,): 1 if that player has won.
    pools
        Shape (games,): the seeds of the cards.
    decks
        Shape (games, 2, 30): base ids of the decks of players 0 and 1.
    deck_won
        Shape (games,): 1 if player 0 has won.
    """

    positions: NDArray[np.float32]
    position_inputs: NDArray[np.int16]
    position_won: NDArray[np.int8]
    pools: NDArray[np.int64]
    decks: NDArray[np.int16]
    deck_won: NDArray[np.int8]

    def check(self) -> None:
        """Raise ``ValueError`` if the arrays do not belong together."""
        rows, games = len(self.position_won), len(self.deck_won)
        if (
            self.positions.shape != (rows, len(EVALUATION_TERMS))
            or self.position_inputs.shape not in ((rows, INPUTS), (0, INPUTS))
            or self.pools.shape != (games,)
            or self.decks.shape != (games, 2, DECK_SIZE)
        ):
            raise ValueError("arrays of other shapes")

    def to_text(self) -> str:
        """Return the games as a text, from which `from_text` makes the same ones."""
        file = io.BytesIO()
        np.savez_compressed(file, **vars(self))
        return base64.b64encode(file.getvalue()).decode()

    @staticmethod
    def from_text(text: str) -> "TrainingGames":
        """Return the games of a text; ``ValueError`` for another text."""
        try:
            with np.load(io.BytesIO(base64.b64decode(text))) as file:
                games = TrainingGames(**file)
        except (EOFError, TypeError, zipfile.BadZipFile) as error:
            raise ValueError(error) from None
        games.check()
        return games

    @staticmethod
    def joined(parts: Sequence["TrainingGames"]) -> "TrainingGames":
        """Return the games of several objects in this order."""
        return TrainingGames(
            *(
                np.concatenate([getattr(part, column.name) for part in parts])
                for column in fields(TrainingGames)
            )
        )


@dataclass(frozen=True)
class SelfPlay:
    """A task: games between perturbed players."""

    settings: TuningSettings
    iteration: int
    chunk: int
    games: int
    pools: Sequence[int]
    #: The best weights, and earlier ones.
    players: Sequence[Weights]

    def __call__(self) -> TrainingGames:
        settings = self.settings
        rng = settings.random("games", self.iteration, self.chunk)
        # Better evaluations are found among players with different evaluations.
        explores = not {"eval", "network"}.isdisjoint(settings.parts)
        evaluations = [CompiledEvaluation(weights.evaluation) for weights in self.players]
        networks = [_network(weights) for weights in self.players]
        positions: list[list[float]] = []
        position_inputs: list[NDArray[np.int16]] = []
        position_won, games = [], []
        decks: list[list[Card]] = []
        for number in range(self.games):
            # One player has the best weights, the other earlier ones half of the time.
            players = [0, rng.choice([0, rng.randrange(len(self.players))])]
            rng.shuffle(players)
            if number % _GAMES_PER_POOL == 0:
                pool = rng.choice(self.pools)
                offer = _offer(settings.rules, pool)
                decks = self._decks(offer, rng)
            pair = rng.sample(decks, 2)
            for deck in pair:
                rng.shuffle(deck)
            evaluators = [
                (
                    _perturbed(self.players[i].evaluation, rng) if explores else evaluations[i],
                    networks[i],
                )
                for i in players
            ]
            ends: list[State] | None = [] if explores else None
            seed = rng.getrandbits(60)
            winner = _play(settings.rules, offer, pair, evaluators, settings.nodes, seed, ends)
            if winner >= 0:
                games.append((pool, [[one.base_id for one in deck] for deck in pair], winner == 0))
            for turn, state in enumerate(ends or () if winner >= 0 else ()):
                # Positions of one game are similar: half of them are as informative as all.
                if rng.random() < 0.5 and not state.is_terminal():
                    player = turn % 2
                    positions.append([term(state, player) for term in _ours.units])
                    if "network" in settings.parts:
                        position_inputs.append(inputs(state, player))
                    position_won.append(winner == player)
        pools, dealt, won = zip(*games, strict=True) if games else ((), (), ())
        return TrainingGames(
            np.array(positions, np.float32).reshape(-1, len(EVALUATION_TERMS)),
            np.array(position_inputs, np.int16).reshape(-1, INPUTS),
            np.array(position_won, np.int8),
            np.array(pools, np.int64),
            np.array(dealt, np.int16).reshape(-1, 2, DECK_SIZE),
            np.array(won, np.int8),
        )

    def _decks(self, offer: _Offer, rng: random.Random) -> list[list[Card]]:
        rules = self.settings.rules
        decks = []
        for _ in range(_DECKS):
            weights = rng.choice(self.players)
            if RULES[rules].draft:
                decks.append(_Chooser(rules, weights).deck(offer, rng))
            else:
                networks = weights.deck_value or ()
                decks.append(propose_deck(offer.cards, networks, rng, score_builder(weights)))
        return decks


def _perturbed(weights: Mapping[str, float], rng: random.Random) -> CompiledEvaluation:
    added = _ADDED * weights["scale"] / 12
    changed = {
        name: weight * math.exp(rng.gauss(0, _WEIGHT_NOISE)) + rng.gauss(0, added)
        for name, weight in weights.items()
        if name != "scale"
    }
    cut = {name: max(-MAX_WEIGHT, min(MAX_WEIGHT, weight)) for name, weight in changed.items()}
    return CompiledEvaluation({**cut, "scale": weights["scale"]})


# ------------------------------------------------------------------------------------ matches


@dataclass(frozen=True)
class PlayPairs:
    """A task: mirrored pairs of games on new cards, counting the first player's wins per pair."""

    rules: str
    nodes: int
    first: Weights
    second: Weights
    seeds: Sequence[int]

    @property
    def games(self) -> int:
        """The number of its games."""
        return 2 * len(self.seeds)

    def __call__(self) -> list[float]:
        both = self.first, self.second
        evaluators = [(CompiledEvaluation(w.evaluation), _network(w)) for w in both]
        choosers = [_Chooser(self.rules, weights) for weights in both]
        if _choose_alike(*both):  # a deck takes longer than a game
            choosers[1] = choosers[0]
        return [self._pair(seed, evaluators, choosers) for seed in self.seeds]

    def _pair(
        self, seed: int, evaluators: Sequence[_Evaluation], choosers: Sequence[_Chooser]
    ) -> float:
        offer = _offer(self.rules, seed)
        rng = random.Random(seed)
        decks = [chooser.deck(offer) for chooser in choosers]
        # A deck's cards are drawn in the same order by either player.
        orders = [rng.sample(range(DECK_SIZE), DECK_SIZE) for _ in range(2)]
        game_seed = rng.getrandbits(60)
        wins = 0.0
        for seat in (0, 1):
            players = (0, 1) if seat == 0 else (1, 0)
            winner = _play(
                self.rules,
                offer,
                [[decks[p][i] for i in order] for p, order in zip(players, orders, strict=True)],
                [evaluators[p] for p in players],
                self.nodes,
                game_seed,
            )
            wins += 0.5 if winner < 0 else winner == seat
        return wins


def _choose_alike(first: Weights, second: Weights) -> bool:
    parts = [replace(weights, evaluation={}, network=None) for weights in (first, second)]
    return parts[0] == parts[1]


def play_weights(
    first: Weights,
    second: Weights,
    seeds: Sequence[int],
    *,
    rules: str = "1.5",
    nodes: int = 2000,
) -> PairCounts:
    """Play mirrored pairs of quick games between weights.

    Parameters
    ----------
    first, second
        The players. Each chooses cards and evaluates positions by its weights.
    seeds
        One seed for each pair, from which cards and shuffles are derived.
    rules
        The rule set of the weights.
    nodes
        Positions that a player searches per turn.

    Returns
    -------
    PairCounts
        The pairs, counted for `first`.
    """
    return counted(PlayPairs(rules, nodes, first, second, seeds)())


def counted(wins: Sequence[float]) -> PairCounts:
    """Return the pairs from the wins in each, a draw counting half."""
    counts = PairCounts()
    for n in wins:
        counts.add(n / 2)
    return counts

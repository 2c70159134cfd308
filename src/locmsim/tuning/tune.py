"""Tuning: a better evaluation and deck score, by self-play in this process.

Two methods. "fit" plays games between perturbed players and asks by logistic regression how much
each term of a position, and of a deck, does for winning, or has a network learn to foretell who
wins; "cmaes" moves all weights at random and follows what wins against the weights at the start.
Either way what is new is taken only if it wins matches against the best so far.
docs/tuning.md has the command.

    >>> tuner = Tuner(Settings(games=50, match_games=20, nodes=200, pools=5))
    >>> for line in tuner.run(iterations=1):
    ...     print(line.split(":")[0])
    1
    >>> tuner.best == tuner.start or bool(tuner.accepted)
    True

What is played depends on the settings alone, not on the number of workers.
"""

import io
import json
import math
import os
import random
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from locmsim._core import Determinizer, State
from locmsim._io import write_whole
from locmsim.decks.building import CARD_TERMS, WeightedScore, card_score, card_terms, pick
from locmsim.game.match import Match
from locmsim.networks.network import BLOCKS, Network, inputs, learn, listed
from locmsim.rules.cards import Card
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES, get_rules
from locmsim.search._engine import Engine, play_game
from locmsim.search._evaluation import TERMS, Evaluator
from locmsim.search.belief import attractions
from locmsim.search.evaluation import Evaluation, load_weights
from locmsim.search.options import BeamOptions
from locmsim.stats import UnitCounts, score_interval
from locmsim.workers import local_workers

__all__ = [
    "PROOF_SEEDS",
    "TUNING_SEEDS",
    "Settings",
    "Tuner",
    "Weights",
    "fit_logistic",
    "play_match",
]

#: Seeds of card sets and drafts. Tuning sees those of the first range only, figures of strength
#: come from the second: what was tuned on some cards has to prove itself on others.
TUNING_SEEDS = range(1, 1_000_000)
PROOF_SEEDS = range(10_000_000, 11_000_000)

METHODS = ("fit", "cmaes")
PARTS = ("eval", "deck", "network")
#: ... as fields of `Weights`
_FIELDS = {"eval": "evaluation", "deck": "deck", "network": "network"}

#: How the players search.
_SEARCH = BeamOptions(turns=1, width=16, plans=16, reply_width=4)
#: Terms of an evaluation that add up; the scale is given.
_TERMS = tuple(name for name in TERMS if name != "scale")
_CARD_TERMS = tuple(CARD_TERMS)
#: Numbers that a network sees.
_INPUTS = sum(math.prod(shape) for shape in BLOCKS.values())
#: Games, and mirrored pairs, that make up a task for a worker.
_CHUNK = 20
_PAIRS = 10
#: Iterations whose games a fit is made of.
_WINDOW = 6
#: Perturbations in self-play: spread of the logarithm of a weight; what is added to it at most, in
#: points of the value; noise of the card scores, by their own spread.
_SPREAD = 0.3
_ADDED = 0.015
_DECK_NOISE = 1.0
#: As how many positions, or decks, the weights so far count, see `fit_logistic`.
_PRIOR_ROWS = {"eval": 2000.0, "deck": 4000.0}
#: New weights have to win by more than luck does in five of six matches of equals.
_LEVEL = 0.68
#: First step of CMA-ES, by the size of a weight; and the least size, by the mean one.
_SIGMA = 0.3
_LEAST_SIZE = 0.2
#: After how many generations of CMA-ES their centre is tested.
_TEST_EVERY = 10
#: At least so often what was played is saved.
_SAVE_SECONDS = 20.0
#: An evaluation takes no larger weights.
_MOST = 999.0

_Array = NDArray[np.float64]
_T = TypeVar("_T")
_Triplets = Sequence[Sequence[Card]]
#: What a player judges positions by.
_Judge: TypeAlias = tuple[Evaluator, Network | None]


# --------------------------------------------------------------------------- what is tuned


@dataclass(frozen=True)
class Weights:
    """A player as far as tuning is concerned: all weights of an evaluation, and of a deck score,
    and the arrays of a network, as lists.

    `deck` is None for rules with a draft. ``ValueError`` names a bad weight.
    """

    evaluation: Mapping[str, float]
    deck: Mapping[str, float] | None = None
    network: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        Evaluator(self.evaluation)
        if self.deck is not None:
            WeightedScore(self.deck)
        self.compiled_network()

    def compiled_network(self) -> Network | None:
        """For use in searches."""
        return None if self.network is None else Network(self.network)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None, rules: str = "1.5") -> "Weights":
        """Those of a weights file; what it lacks, and without a file all, are the default ones."""
        evaluation = Evaluation(rules=rules)
        deck = None
        if not get_rules(rules).draft:
            score = card_score(rules)
            deck = score.weights if isinstance(score, WeightedScore) else {}
        if path is not None:
            evaluation = load_weights(path)[rules]
            if deck is not None:
                deck = _read_json(path).get("deck", deck)
                try:
                    if not isinstance(deck, dict):
                        raise ValueError("deck: expected an object of weights")
                    WeightedScore(deck)
                except ValueError as error:
                    raise ValueError(f"{os.fspath(path)}: {error}") from None
        network = evaluation.network
        return cls(
            dict(evaluation),
            None if deck is None else dict(deck),
            None if network is None else listed(network.arrays),
        )

    def vector(self, part: str) -> _Array:
        """The weights of "eval" (in the order of `TERMS`, without the scale) or of "deck"."""
        names, weights = _named_part(self, part)
        return np.array([weights.get(name, 0.0) for name in names])

    def with_vector(self, part: str, vector: _Array) -> "Weights":
        """The same with other weights in that part, cut to four digits."""
        names, weights = _named_part(self, part)
        rounded = (float(f"{max(-_MOST, min(_MOST, x)):.4g}") for x in vector.tolist())
        new = {**weights, **dict(zip(names, rounded, strict=True))}
        return replace(self, **{_FIELDS[part]: new})


def _named_part(weights: Weights, part: str) -> tuple[tuple[str, ...], Mapping[str, float]]:
    if part == "eval":
        return _TERMS, weights.evaluation
    return _CARD_TERMS, weights.deck or {}


@dataclass(frozen=True)
class Settings:
    """What a tuning does. ``ValueError`` names a field that makes no sense."""

    rules: str = "1.5"
    method: str = "fit"
    #: What changes: "eval", "deck", "network"; by default the weights that the rules have.
    what: tuple[str, ...] = ()
    #: Games of an iteration, and of each match that decides whether new weights are taken.
    games: int = 4000
    match_games: int = 1000
    #: Budget of the searches: positions in a turn.
    nodes: int = 2000
    #: Different card sets, or drafts, of the games; those of matches are new each time.
    pools: int = 1000
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.what:
            every = PARTS[:1] if get_rules(self.rules).draft else PARTS[:2]
            object.__setattr__(self, "what", every)
        if self.method not in METHODS:
            raise ValueError(f"method: expected one of {', '.join(METHODS)}, got {self.method!r}")
        if self.what != tuple(part for part in PARTS if part in self.what):
            raise ValueError(f"what: expected some of {PARTS}, got {','.join(self.what)!r}")
        if "deck" in self.what and get_rules(self.rules).draft:
            raise ValueError(f"what: rules {self.rules} have a draft and no deck to choose")
        if "network" in self.what and self.method == "cmaes":
            raise ValueError("what: method cmaes changes weights, not a network")
        for name, least in (
            ("games", 2), ("match_games", 2), ("nodes", 1), ("pools", 1), ("seed", 0),
        ):  # fmt: skip
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name}: expected {least} or more, got {value!r}")
        if self.pools > len(TUNING_SEEDS):
            raise ValueError(f"pools: expected at most {len(TUNING_SEEDS)}, got {self.pools}")

    def random(self, *purpose: object) -> random.Random:
        """Random numbers for one purpose, the same for the same settings."""
        return random.Random(f"{self.seed} {self.rules} {purpose}")


# ------------------------------------------------------------------------------------ games


@dataclass(frozen=True)
class _Offer:
    """The cards of a match, and what players do with them."""

    cards: Sequence[Card]
    #: Terms of each card (1.5).
    terms: _Array
    triplets: _Triplets
    #: Which cards the opponent is likely to have: see `Determinizer`.
    groups: list[tuple[int, list[tuple[Card, float]]]]


@lru_cache(1000)
def _offer(rules: str, seed: int) -> _Offer:
    if RULES[rules].draft:
        triplets = [list(triplet) for triplet in cast(_Triplets, Match(rules, seed=seed).offers)]
        different = {card.base_id: card for triplet in triplets for card in triplet}
        groups = [(1, attractions(triplet, rules)) for triplet in triplets]
        return _Offer(list(different.values()), np.zeros((0, 0)), triplets, groups)
    cards = generate_cards(seed)
    groups = [(COPIES_PER_CARD, [pair]) for pair in attractions(cards, rules)]
    return _Offer(cards, np.array([_term_vector(card) for card in cards]), (), groups)


def _term_vector(card: Card) -> list[float]:
    terms = card_terms(card)
    return [terms.get(name, 0.0) for name in _CARD_TERMS]


def _deck(
    rules: str, offer: _Offer, weights: Weights, chance: random.Random | None = None
) -> tuple[list[Card], _Array]:
    """A player's deck and the sum of its terms (1.5); perturbed, if there is `chance`."""
    if RULES[rules].draft:
        # Perturbed: up to half of the picks are any card.
        share = 0.0 if chance is None else 0.5 * chance.random()
        deck: list[Card] = []
        for triplet in offer.triplets:
            if chance is not None and chance.random() < share:
                deck.append(chance.choice(triplet))
            else:
                deck.append(triplet[pick(triplet, deck, rules)])
        return deck, np.zeros(len(_CARD_TERMS))
    scores = offer.terms @ weights.vector("deck")
    twice = 1.0
    if chance is not None:
        noise = _DECK_NOISE * chance.random() * (float(scores.std()) or 1.0)
        scores = scores + [chance.gauss(0, noise) for _ in offer.cards]
        twice = chance.choice((1.0, 1.0, 0.6))
    order = sorted(
        range(len(offer.cards)),
        key=lambda i: (-scores[i], offer.cards[i].cost, offer.cards[i].base_id),
    )
    chosen: list[int] = []
    for i in order:
        copies = COPIES_PER_CARD if chance is None or chance.random() < twice else 1
        chosen += [i] * min(copies, DECK_SIZE - len(chosen))
    return [offer.cards[i] for i in chosen], offer.terms[chosen].sum(axis=0)


@cache
def _engines() -> tuple[Engine, Engine]:
    evaluator = Evaluation().compiled
    return Engine(_SEARCH, evaluator), Engine(_SEARCH, evaluator)


@cache
def _units() -> list[Evaluator]:
    """An evaluation for each term that counts nothing else."""
    none = {**dict.fromkeys(TERMS, 0.0), "scale": 1.0}
    return [Evaluator({**none, name: 1.0}) for name in _TERMS]


def _play(
    rules: str,
    offer: _Offer,
    decks: Sequence[Sequence[Card]],
    players: Sequence[_Judge],
    nodes: int,
    seed: int,
    ends: list[State] | None = None,
) -> int:
    """The winner."""
    start = State.new(*decks, rules=rules, pool=offer.cards)
    groups = [offer.groups, offer.groups]
    engines = _engines()
    for engine, player in zip(engines, players, strict=True):
        engine.evaluate_by(*player)
    worlds = Determinizer(start, 0, groups), Determinizer(start, 1, groups)
    return play_game(start, engines, worlds, (nodes, nodes), seed, ends)[0]


@dataclass
class _Games:
    """What is learnt from: positions at the ends of turns, for who has just played, as the terms of
    an evaluation and as a network sees them (if one learns), and the difference of the decks of
    players 0 and 1."""

    positions: NDArray[np.float32]
    position_inputs: NDArray[np.int16]
    position_won: NDArray[np.int8]
    decks: NDArray[np.float32]
    deck_won: NDArray[np.int8]

    def check(self) -> None:
        """``ValueError`` if the arrays do not belong together."""
        rows = len(self.position_won), len(self.deck_won)
        if (
            self.positions.shape != (rows[0], len(_TERMS))
            or self.position_inputs.shape not in ((rows[0], _INPUTS), (0, _INPUTS))
            or self.decks.shape != (rows[1], len(_CARD_TERMS))
        ):
            raise ValueError("arrays of other shapes")

    @staticmethod
    def joined(parts: Sequence["_Games"]) -> "_Games":
        return _Games(
            *(
                np.concatenate([getattr(part, column.name) for part in parts])
                for column in fields(_Games)
            )
        )


@dataclass(frozen=True)
class _SelfPlay:
    """A task: games between perturbed players."""

    settings: Settings
    iteration: int
    chunk: int
    games: int
    pools: Sequence[int]
    #: The best weights, and earlier ones.
    players: Sequence[Weights]

    def __call__(self) -> _Games:
        settings = self.settings
        chance = settings.random("games", self.iteration, self.chunk)
        players = [(weights, weights.compiled_network()) for weights in self.players]
        positions: list[list[float]] = []
        seen: list[NDArray[np.int16]] = []
        position_won: list[bool] = []
        decks: list[_Array] = []
        deck_won: list[bool] = []
        for _ in range(self.games):
            offer = _offer(settings.rules, chance.choice(self.pools))
            # One player has the best weights, the other as often as not earlier ones.
            pair = [players[0], chance.choice([players[0], chance.choice(players)])]
            chance.shuffle(pair)
            built = [_deck(settings.rules, offer, weights, chance) for weights, _ in pair]
            for deck, _ in built:
                chance.shuffle(deck)
            judges = [
                (_perturbed(weights.evaluation, chance), network) for weights, network in pair
            ]
            ends: list[State] = []
            winner = _play(
                settings.rules,
                offer,
                [deck for deck, _ in built],
                judges,
                settings.nodes,
                chance.getrandbits(60),
                ends,
            )
            if winner < 0:
                continue
            decks.append(built[0][1] - built[1][1])
            deck_won.append(winner == 0)
            for turn, state in enumerate(ends):
                # Positions of a game are much alike: half of them say as much.
                if chance.random() < 0.5 and not state.is_terminal():
                    player = turn % 2
                    positions.append([unit(state, player) for unit in _units()])
                    if "network" in settings.what:
                        seen.append(inputs(state, player))
                    position_won.append(winner == player)
        return _Games(
            np.array(positions, np.float32).reshape(-1, len(_TERMS)),
            np.array(seen, np.int16).reshape(-1, _INPUTS),
            np.array(position_won, np.int8),
            np.array(decks, np.float32).reshape(-1, len(_CARD_TERMS)),
            np.array(deck_won, np.int8),
        )


def _perturbed(weights: Mapping[str, float], chance: random.Random) -> Evaluator:
    added = _ADDED * weights["scale"] / 12
    changed = {
        name: weight * math.exp(chance.gauss(0, _SPREAD)) + chance.gauss(0, added)
        for name, weight in weights.items()
        if name != "scale"
    }
    cut = {name: max(-_MOST, min(_MOST, weight)) for name, weight in changed.items()}
    return Evaluator({**cut, "scale": weights["scale"]})


@dataclass(frozen=True)
class _Pairs:
    """A task: mirrored pairs of games on new cards; how many of each pair the first player won."""

    rules: str
    nodes: int
    first: Weights
    second: Weights
    seeds: Sequence[int]

    def __call__(self) -> list[int]:
        judges = [
            (Evaluator(weights.evaluation), weights.compiled_network())
            for weights in (self.first, self.second)
        ]
        return [self._pair(seed, judges) for seed in self.seeds]

    def _pair(self, seed: int, judges: Sequence[_Judge]) -> int:
        offer = _offer(self.rules, seed)
        chance = random.Random(seed)
        decks = [_deck(self.rules, offer, weights)[0] for weights in (self.first, self.second)]
        # A deck's cards come in the same order to either player who starts with it.
        orders = [chance.sample(range(DECK_SIZE), DECK_SIZE) for _ in range(2)]
        game_seed = chance.getrandbits(60)
        wins = 0
        for seat in (0, 1):
            players = (0, 1) if seat == 0 else (1, 0)
            winner = _play(
                self.rules,
                offer,
                [[decks[p][i] for i in order] for p, order in zip(players, orders, strict=True)],
                [judges[p] for p in players],
                self.nodes,
                game_seed,
            )
            wins += winner == seat
        return wins


def play_match(
    first: Weights,
    second: Weights,
    seeds: Sequence[int],
    *,
    rules: str = "1.5",
    nodes: int = 2000,
) -> UnitCounts:
    """The mirrored pairs of a match, counted for `first`, one pair for each of `seeds`.

    Players search `nodes` positions in a turn. Cards and shuffles follow from a pair's seed.
    """
    return _counted(_Pairs(rules, nodes, first, second, seeds)())


def _counted(wins: Sequence[int]) -> UnitCounts:
    counts = UnitCounts()
    for n in wins:
        counts.add(n / 2)
    return counts


# --------------------------------------------------------------------------------- regression


def fit_logistic(
    x: NDArray[Any], won: NDArray[Any], prior: _Array, prior_rows: float = 0.0
) -> tuple[_Array, float]:
    """Coefficients of a logistic regression with a constant, and the mean loss (nats a row).

    `x` has a row of terms for each result in `won` (0 or 1). Coefficients are drawn to `prior` with
    the weight of `prior_rows` rows, each term by itself; terms that never vary keep it.
    ``ValueError`` without rows.
    """
    from scipy.optimize import minimize

    if not len(won):
        raise ValueError("nothing to fit: no games")
    spread = x.std(axis=0, dtype=np.float64)
    used = spread > 1e-9
    z = x[:, used] / spread[used]
    centre = prior[used] * spread[used]
    sign = np.where(won > 0, -1.0, 1.0)
    penalty = prior_rows / 8  # its second derivative is that of so many rows at even odds

    def loss(b: _Array) -> tuple[float, _Array]:
        logits = z @ b[:-1] + b[-1]
        off = b[:-1] - centre
        # Of the wrong side: the derivative of log(1 + exp(sign * logit)).
        wrong = sign / (1 + np.exp(-sign * logits))
        gradient = np.append(z.T @ wrong + 2 * penalty * off, wrong.sum())
        return float(np.logaddexp(0, sign * logits).sum() + penalty * off @ off), gradient

    found = minimize(
        loss, np.append(centre, 0.0), jac=True, method="L-BFGS-B", options={"maxiter": 500}
    )
    coefficients = prior.copy()
    coefficients[used] = found.x[:-1] / spread[used]
    return coefficients, float(found.fun) / len(won)


def _fitted(weights: Weights, part: str, games: _Games) -> tuple[Weights, float]:
    """Weights by which the games would have been foretold best."""
    if part == "network":
        arrays, loss = learn(games.position_inputs, games.position_won)
        return replace(weights, network=listed(arrays)), loss
    if part == "deck":
        vector, loss = fit_logistic(
            games.decks, games.deck_won, weights.vector(part), _PRIOR_ROWS[part]
        )
        return weights.with_vector(part, vector), loss
    # The value over half the scale is the logarithm of the odds.
    unit = weights.evaluation["scale"] / 2
    vector, loss = fit_logistic(
        games.positions, games.position_won, weights.vector(part) / unit, _PRIOR_ROWS[part]
    )
    return weights.with_vector(part, vector * unit), loss


# ------------------------------------------------------------------------------------ tuning


@dataclass
class _Progress:
    """What is saved."""

    start: Weights
    best: Weights
    #: What else was in the weights file of the start.
    beside: dict[str, Any] = field(default_factory=dict)
    #: By which it was started and gone on with.
    commands: list[str] = field(default_factory=list)
    #: The best ones before.
    earlier: list[Weights] = field(default_factory=list)
    #: Iterations that are complete, and games in them.
    iteration: int = 0
    games: int = 0
    #: Results of matches by which new weights were accepted.
    accepted: list[dict[str, Any]] = field(default_factory=list)
    #: CMA-ES: the scores of each generation.
    scores: list[list[float]] = field(default_factory=list)
    #: Matches of this iteration: label -> chunk -> wins of each pair.
    open: dict[str, dict[str, list[int]]] = field(default_factory=dict)


class Tuner:
    """A tuning that can be stopped and gone on with.

    `settings` may be a mapping of some of them. It starts from the weights `start`, or those of a
    weights file of that name (default: our own). With a `folder` everything is saved there; one
    that has a tuning in it is gone on with, and what is given and differs from what is there is a
    ``ValueError``. So is a file there that cannot be read, by its name. `command` is recorded.
    """

    def __init__(
        self,
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        start: Weights | str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        command: str | None = None,
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self._games: dict[int, _Games] = {}
        self._optimiser: Any = None
        self._saved = time.monotonic()
        given = asdict(settings) if isinstance(settings, Settings) else dict(settings or {})
        if self.folder is not None and (self.folder / "state.json").exists():
            self.settings, self._progress = _load(self.folder / "state.json")
            for name, value in given.items():
                if (old := getattr(self.settings, name)) != value:
                    raise ValueError(f"{self.folder}: {name} is {old!r} there, not {value!r}")
            if start is not None and self._loaded(start) != (self.start, self._progress.beside):
                raise ValueError(f"{self.folder}: it started from other weights")
        else:
            self.settings = Settings(**given)
            first, beside = self._loaded(start)
            if (first.deck is None) != RULES[self.settings.rules].draft:
                raise ValueError(f"start: not the weights of a player of {self.settings.rules}")
            self._progress = _Progress(first, first, beside)
        if command is not None and command not in self._progress.commands:
            self._progress.commands.append(command)
        self._save()

    def _loaded(
        self, start: Weights | str | os.PathLike[str] | None
    ) -> tuple[Weights, dict[str, Any]]:
        if isinstance(start, Weights):
            return start, {}
        return Weights.load(start, self.settings.rules), {} if start is None else _read_json(start)

    @property
    def start(self) -> Weights:
        """The weights at the start."""
        return self._progress.start

    @property
    def best(self) -> Weights:
        """The weights that won last."""
        return self._progress.best

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """The matches by which new weights were taken: iteration, part, games, score, interval."""
        return self._progress.accepted

    @property
    def iteration(self) -> int:
        """How many iterations are complete."""
        return self._progress.iteration

    def record(self) -> dict[str, Any]:
        """What was done, for those who find the weights: commands, seeds, games, acceptance."""
        from locmsim import __version__

        return {
            "commands": self._progress.commands,
            "version": __version__,
            **asdict(self.settings),
            "tuning_seeds": [TUNING_SEEDS.start, TUNING_SEEDS.stop - 1],
            "iterations": self.iteration,
            "games_in_all": self._progress.games,
            "accepted": self.accepted,
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a weights file: what was in that of the start, the best weights, the record."""
        content = dict(self._progress.beside)
        about = content.pop("about", [])
        content[self.settings.rules] = dict(self.best.evaluation)
        if self.best.deck is not None:
            content["deck"] = dict(self.best.deck)
        if self.best.network is not None:
            networks = {**content.get("network", {}), self.settings.rules: self.best.network}
            content["network"] = networks
        content["about"] = [*about, self.record()]
        write_whole(path, json.dumps(content, indent=1) + "\n")

    def run(
        self,
        iterations: int,
        *,
        workers: int = 1,
        on_games: Callable[[str, int, int], None] | None = None,
    ) -> Iterator[str]:
        """Do what is missing to so many iterations; a line of text for each one.

        `on_games` is called with what is played, how many of its games are done, and how many there
        are. ``ImportError`` if a package of the extra `tune` is missing.
        """
        if workers < 1:
            raise ValueError(f"workers: expected at least 1, got {workers}")
        # Fail now, and not after all those games.
        import_module("scipy.optimize" if self.settings.method == "fit" else "cmaes")
        self._on_games = on_games or (lambda what, done, count: None)
        method = self._fit if self.settings.method == "fit" else self._evolve
        with local_workers(workers, ()) as self._workers:
            try:
                while self.iteration < iterations:
                    started, before = time.monotonic(), self._progress
                    line, changes = method(self.iteration + 1, self.iteration + 1 == iterations)
                    self._progress = replace(
                        before,
                        iteration=before.iteration + 1,
                        games=before.games + self._games_of(before),
                        open={},
                        **changes,
                    )
                    self._save()
                    yield f"{self.iteration}: {line}; {time.monotonic() - started:.0f} s"
            finally:
                self._save()

    def _games_of(self, progress: _Progress) -> int:
        matches = sum(len(wins) for match in progress.open.values() for wins in match.values())
        return 2 * matches + (self.settings.games if self.settings.method == "fit" else 0)

    # ------------------------------------------------------------------------------- methods

    def _fit(self, iteration: int, last: bool) -> tuple[str, dict[str, Any]]:
        started = time.monotonic()
        played = self._self_play(iteration)
        line = f"{len(self._games[iteration].deck_won)} games"
        if played:
            line += f" ({60 * played / (time.monotonic() - started):.0f}/min)"
        joined = _Games.joined([self._games[i] for i in sorted(self._games)])
        candidates = {}
        for part in self.settings.what:
            candidates[part], loss = _fitted(self.best, part, joined)
            line += f"; loss of {part} {loss:.4f}"
        if len(candidates) > 1:
            every = {_FIELDS[part]: getattr(new, _FIELDS[part]) for part, new in candidates.items()}
            candidates[",".join(candidates)] = replace(self.best, **every)
        results = {
            name: self._match(iteration, name, weights, self.best, "choice")
            for name, weights in candidates.items()
        }
        line += "".join(f"; {name} {100 * r.score:.1f} %" for name, r in results.items())
        name = max(results, key=lambda name: results[name].score)
        if results[name].score <= 0.5:
            return f"{line}: not accepted", {}
        tested, changes = self._test(iteration, name, candidates[name])
        return f"{line}; {tested}", changes

    def _test(self, iteration: int, name: str, weights: Weights) -> tuple[str, dict[str, Any]]:
        """Take the weights if they win a further match; what came out, and what changes."""
        counts = self._match(iteration, f"test of {name}", weights, self.best, "test")
        low, high = score_interval(counts, _LEVEL)
        line = f"test of {name} {100 * counts.score:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        if low <= 0.5:
            return f"{line}: not accepted", {}
        match = {
            "iteration": iteration,
            "what": name,
            "games": 2 * counts.total,
            "score": round(counts.score, 4),
            "interval": [round(low, 4), round(high, 4)],
        }
        return f"{line}: accepted", {
            "best": weights,
            "earlier": [*self._progress.earlier, self.best],
            "accepted": [*self.accepted, match],
        }

    def _evolve(self, iteration: int, last: bool) -> tuple[str, dict[str, Any]]:
        from cmaes import CMA

        parts = self.settings.what
        starts = [self.start.vector(part) for part in parts]
        sizes = [_sizes(vector) for vector in starts]

        def weights(x: _Array) -> Weights:
            moved = self.start
            moves = np.split(x, [len(starts[0])])
            for part, vector, size, move in zip(parts, starts, sizes, moves, strict=False):
                moved = moved.with_vector(part, vector + size * move)
            return moved

        optimiser, self._optimiser = (
            self._optimiser,
            None,
        )  # not to be used again if this is stopped
        if optimiser is None:
            optimiser = CMA(
                mean=np.zeros(sum(map(len, starts))), sigma=_SIGMA, seed=self.settings.seed
            )
            # The same seed asks for the same: all generations so far are told once more.
            for old in self._progress.scores:
                optimiser.tell([(optimiser.ask(), -score) for score in old])
        asked = [optimiser.ask() for _ in range(optimiser.population_size)]
        pairs = max(1, self.settings.games // (2 * len(asked)))
        scores = [
            self._match(iteration, f"candidate {i}", weights(x), self.start, "choice", pairs).score
            for i, x in enumerate(asked)
        ]
        optimiser.tell([(x, -score) for x, score in zip(asked, scores, strict=True)])
        line = (
            f"{len(asked)} candidates, {2 * pairs} games each: "
            f"mean {100 * float(np.mean(scores)):.1f} %, best {100 * max(scores):.1f} %"
        )
        changes: dict[str, Any] = {"scores": [*self._progress.scores, scores]}
        if last or iteration % _TEST_EVERY == 0:
            tested, more = self._test(iteration, "centre", weights(optimiser.mean))
            line = f"{line}; {tested}"
            changes |= more
        self._optimiser = optimiser
        return line, changes

    # --------------------------------------------------------------------------------- games

    def _self_play(self, iteration: int) -> int:
        """Play what is missing of this iteration; how many games that was.

        All games of the window are in memory then.
        """
        for old in range(max(1, iteration - _WINDOW + 1), iteration):
            if old not in self._games:
                chunks = self._load_games(old)
                if not chunks:
                    raise ValueError(
                        f"{self._games_file(old)}: the games of iteration {old} are gone"
                    )
                self._games[old] = _joined_in_order(chunks)
        for old in [i for i in self._games if i <= iteration - _WINDOW]:
            del self._games[old]
        settings = self.settings
        done = self._load_games(iteration)
        pools = settings.random("pools").sample(TUNING_SEEDS, settings.pools)
        players = [self.best, *self._progress.earlier[-3:]]
        tasks = {
            chunk: _SelfPlay(
                settings, iteration, chunk, min(_CHUNK, settings.games - first), pools, players
            )
            for chunk, first in enumerate(range(0, settings.games, _CHUNK))
            if chunk not in done
        }
        missing = sum(task.games for task in tasks.values())
        played = settings.games - missing
        self._on_games("self-play", played, settings.games)
        try:
            for chunk, games in self._spread(tasks):
                done[chunk] = games
                played += tasks[chunk].games
                self._on_games("self-play", played, settings.games)
                if self._is_due():
                    self._save_games(iteration, done)
        finally:
            self._save_games(iteration, done)
        self._games[iteration] = _joined_in_order(done)
        return missing

    def _match(
        self,
        iteration: int,
        label: str,
        first: Weights,
        second: Weights,
        purpose: str,
        pairs: int | None = None,
    ) -> UnitCounts:
        """A match between two; all of an iteration with the same purpose have the same cards."""
        settings = self.settings
        pairs = pairs or settings.match_games // 2
        seeds = settings.random(purpose, iteration).sample(TUNING_SEEDS, pairs)
        done = self._progress.open.setdefault(label, {})
        tasks = {
            start: _Pairs(
                settings.rules, settings.nodes, first, second, seeds[start : start + _PAIRS]
            )
            for start in range(0, pairs, _PAIRS)
            if str(start) not in done
        }
        for start, wins in self._spread(tasks):
            done[str(start)] = wins
            self._on_games(label, 2 * sum(map(len, done.values())), 2 * pairs)
            if self._is_due():
                self._save()
        return _counted([n for wins in done.values() for n in wins])

    def _spread(self, tasks: Mapping[int, Callable[[], _T]]) -> Iterator[tuple[int, _T]]:
        """Numbers and results of tasks as they are done by the workers."""
        left = iter(tasks.items())
        running: dict[Future[_T], int] = {}
        while True:
            while len(running) < self._workers.slots() and (task := next(left, None)) is not None:
                running[self._workers.executor.submit(task[1])] = task[0]
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()

    # --------------------------------------------------------------------------------- files

    def _is_due(self) -> bool:
        return time.monotonic() - self._saved > _SAVE_SECONDS

    def _save(self) -> None:
        self._saved = time.monotonic()
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"settings": asdict(self.settings), **asdict(self._progress)}
        write_whole(self.folder / "state.json", json.dumps(content) + "\n")

    def _games_file(self, iteration: int) -> Path:
        assert self.folder is not None
        return self.folder / f"games-{iteration:04}.npz"

    def _save_games(self, iteration: int, done: Mapping[int, _Games]) -> None:
        self._saved = time.monotonic()
        if self.folder is None or not done:
            return
        chunks = sorted(done)
        parts = [done[chunk] for chunk in chunks]
        file = io.BytesIO()
        np.savez_compressed(
            file,
            chunks=np.array(chunks),
            sizes=np.array([(len(part.position_won), len(part.deck_won)) for part in parts]),
            **vars(_Games.joined(parts)),
        )
        write_whole(self._games_file(iteration), file.getvalue())

    def _load_games(self, iteration: int) -> dict[int, _Games]:
        """Chunk -> its games, as far as they were saved."""
        if self.folder is None or not self._games_file(iteration).exists():
            return {}
        try:
            # Opened here, as numpy leaves a file that it refuses open.
            with self._games_file(iteration).open("rb") as opened, np.load(opened) as file:
                ends = file["sizes"].cumsum(axis=0)[:-1]
                columns = [
                    np.split(file[column.name], ends[:, int(column.name.startswith("deck"))])
                    for column in fields(_Games)
                ]
                parts = [_Games(*part) for part in zip(*columns, strict=True)]
                for part in parts:
                    part.check()
                return dict(zip(file["chunks"].tolist(), parts, strict=True))
        except (ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{self._games_file(iteration)}: not the games of a tuning: {error}"
            ) from None


def _joined_in_order(chunks: Mapping[int, _Games]) -> _Games:
    return _Games.joined([chunks[chunk] for chunk in sorted(chunks)])


def _sizes(vector: _Array) -> _Array:
    """The step of CMA-ES along each weight."""
    sizes = np.abs(vector)
    return np.maximum(sizes, _LEAST_SIZE * (float(sizes.mean()) or 1.0))


def _read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: no JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{os.fspath(path)}: expected an object")
    return content


def _load(path: Path) -> tuple[Settings, _Progress]:
    content = _read_json(path)
    try:
        settings = content.pop("settings")
        settings["what"] = tuple(settings["what"])
        for name in ("start", "best"):
            content[name] = Weights(**content[name])
        content["earlier"] = [Weights(**weights) for weights in content["earlier"]]
        return Settings(**settings), _Progress(**content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: not the state of a tuning: {error}") from None

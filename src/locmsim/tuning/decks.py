"""The value of decks in numpy, to train it on games, and the proposal of decks to play them with.

`locmsim.decks.value` is what plays. Decks that nobody has played are what a network is most wrong
about, and likes best; so games are played with those that it likes, disturbed.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks import DECK_BUILDERS, DeckBuilder, build_deck, deck_builder
from locmsim.decks.value import SHAPES, UNITS, DeckValue
from locmsim.networks.weights import Arrays, Weights
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE
from locmsim.tuning.training import RATE, Array, train

__all__ = ["DeckModel", "propose_deck", "score_builder", "train_deck_value"]

#: How fast arrays shrink in training (see `train`), and those that only one player has.
_DECAY = 1e-2
_DECAY_OF_PLAYERS = 0.1

#: Part of the decks that networks propose, and by how much their terms are disturbed, in their own
#: spread.
_LIKED = 0.92
_DISTURBED = 0.0, 0.0, 0.0, 0.1, 0.2, 0.4
#: Their search begins with a builder's deck, this often, or a random one of so many cheap cards.
_BUILT = 0.4
_CHEAPEST = 40, 60, 80, 120
#: Cards that are exchanged.
_EXCHANGED = 0, 0, 0, 1, 2, 4, 8
#: Builders, the first one twice as often as each other.
_BUILDERS = "score", "score", "classic", "bodies", "area"


def propose_deck(
    cards: Sequence[Card],
    networks: Sequence[Arrays],
    chance: random.Random,
    score: DeckBuilder | None = None,
) -> list[Card]:
    """A deck to train on, of any kind, but mostly one that a network likes.

    Parameters
    ----------
    cards
        The offer.
    networks
        Arrays of deck values; may be none.
    chance
        Decides everything.
    score
        In the place of the builder "score".

    Returns
    -------
    list of Card
        30 of the cards, at most two of each.
    """
    builders = {name: DECK_BUILDERS[name] for name in _BUILDERS} | (
        {"score": score} if score else {}
    )
    if networks and chance.random() < _LIKED:
        arrays = chance.choice(networks)
        direct = np.asarray(arrays["direct"])
        noise = chance.choice(_DISTURBED) * float(direct.std())
        moved = direct + [chance.gauss(0, noise) for _ in direct]
        if chance.random() < _BUILT:
            start = build_deck(cards, builders[chance.choice(_BUILDERS)])
        else:
            cheap = sorted(cards, key=lambda card: card.cost)[: chance.choice(_CHEAPEST)]
            start = chance.sample(COPIES_PER_CARD * [card.base_id for card in cheap], DECK_SIZE)
        ids = DeckValue({**arrays, "direct": moved}).improved(start, cards)
    else:
        ids = build_deck(cards, builders[chance.choice(_BUILDERS)])
    by_id = {card.base_id: card for card in cards}
    deck = [by_id[base_id] for base_id in ids]
    for _ in range(chance.choice(_EXCHANGED)):
        card = chance.choice(cards)
        if card.cost <= chance.randrange(8) and deck.count(card) < COPIES_PER_CARD:
            deck[chance.randrange(len(deck))] = card
    return deck


def score_builder(weights: Weights) -> DeckBuilder:
    """The builder "score" by the deck score of these weights."""
    return deck_builder(replace(weights, deck_value=None))


def train_deck_value(
    decks: NDArray[Any],
    won: NDArray[Any],
    *,
    players: NDArray[Any] | None = None,
    start: Arrays | None = None,
    epochs: int = 12,
    rate: float = RATE,
    seed: int = 0,
) -> tuple[dict[str, Array], float]:
    """Train a network of a `DeckValue`.

    Parameters
    ----------
    decks
        Shape (games, 2, 30, terms): the `locmsim.decks.value.term_rows` of the decks of players 0
        and 1.
    won
        Shape (games,): 1 where player 0 has won, else 0.
    players
        Shape (games, 2): whole numbers from 0 that tell who played the decks, if that differs. What
        a deck is worth is then trained for each of them, most of it on all games; the value that is
        returned is that to number 0.
    start
        Arrays to begin with, in the place of random ones.
    epochs
        How often each game is seen.
    rate
        The longest step of a weight: a short one goes on from arrays that more games have made.
    seed
        Of the first arrays and of the order of the games.

    Returns
    -------
    arrays : dict of str to float32 array
        For `locmsim.decks.value.DeckValue`.
    loss : float
        The mean loss in the last epoch, nats a game.

    Raises
    ------
    ValueError
        Without games.
    """
    if not len(won):
        raise ValueError("nothing to train on: no games")
    if players is None:
        players = np.zeros((len(won), 2), np.int64)
    chance = np.random.default_rng(seed)
    model = DeckModel(decks, players, chance, start)
    decay = dict.fromkeys(SHAPES, _DECAY) | dict.fromkeys(_OF_PLAYERS, _DECAY_OF_PLAYERS)
    loss = train(
        model, np.arange(len(won)), won, epochs=epochs, chance=chance, decay=decay, rate=rate
    )
    return model.value(), loss


#: Array of `DeckModel` with a row for each player -> the array it is added to; that of the sums
#: first.
_OF_PLAYERS = {"players_direct": "direct", "players_output": "output"}


class DeckModel:
    """The value of decks on many pairs of them, their terms divided by their spread and their sums
    by ten: a `Model` whose rows are numbers of games."""

    def __init__(
        self,
        decks: NDArray[Any],
        players: NDArray[Any],
        chance: np.random.Generator,
        start: Arrays | None = None,
    ) -> None:
        self.decks, self.players = decks, players
        terms = decks[:10_000].reshape(-1, decks.shape[-1]).astype(np.float32)
        self.spread = terms.std(axis=0) + (terms.std(axis=0) < 1e-6)
        n = int(players.max()) + 1
        #: "advantage" is what player 0 has ahead of player 1, decks aside.
        self.arrays: dict[str, Array] = {"advantage": np.zeros((n, n), np.float32)}
        for name, shape in SHAPES.items():
            size = shape[0] ** -0.5 if name in ("card", "hidden") else 0.0
            self.arrays[name] = (size * chance.standard_normal(shape)).astype(np.float32)
        if start is not None:
            for name, scale in self._scales().items():
                self.arrays[name] = (start[name] * scale).astype(np.float32)
        for name, added_to in _OF_PLAYERS.items():
            self.arrays[name] = np.zeros((n, *SHAPES[added_to]), np.float32)

    def forward(self, rows: NDArray[Any]) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
        w = self.arrays
        players = self.players[rows]
        cards = self.decks[rows].astype(np.float32) / self.spread
        units = np.maximum(cards @ w["card"] + w["card_bias"], 0)
        sums = np.concatenate([cards.sum(axis=2), units.sum(axis=2)], axis=-1) / 10
        hidden = np.maximum(sums @ w["hidden"] + w["hidden_bias"], 0)
        direct, output = (w[to] + w[name][players] for name, to in _OF_PLAYERS.items())
        values = (sums * direct).sum(axis=-1) + (hidden * output).sum(axis=-1)
        advantage = w["advantage"][players[:, 0], players[:, 1]]
        layers = {
            "players": players, "cards": cards, "units": units, "sums": sums, "hidden": hidden,
            "direct": direct, "output": output,
        }  # fmt: skip
        return values[:, 0] - values[:, 1] + advantage, layers

    def gradients(
        self, layers: dict[str, NDArray[Any]], logits: NDArray[Any]
    ) -> dict[str, NDArray[Any]]:
        w, n = self.arrays, 2 * len(logits)
        values = np.stack([logits, -logits], axis=1).reshape(n, 1)
        players = layers["players"].reshape(n)
        sums, hidden = layers["sums"].reshape(n, -1), layers["hidden"].reshape(n, -1)
        behind = values * layers["output"].reshape(n, -1) * (hidden > 0)
        by_sums = (behind @ w["hidden"].T + values * layers["direct"].reshape(n, -1)) / 10
        units = by_sums[:, None, -UNITS:] * (layers["units"].reshape(n, DECK_SIZE, -1) > 0)
        cards = layers["cards"].reshape(n, DECK_SIZE, -1)
        of_players = {}
        for name, outer in zip(_OF_PLAYERS, (sums, hidden), strict=True):
            of_players[name] = np.zeros_like(w[name])
            np.add.at(of_players[name], players, values * outer)
        advantage = np.zeros_like(w["advantage"])
        np.add.at(advantage, (layers["players"][:, 0], layers["players"][:, 1]), logits)
        return {
            "card": np.tensordot(cards, units, ([0, 1], [0, 1])),
            "card_bias": units.sum((0, 1)),
            "hidden": sums.T @ behind,
            "hidden_bias": behind.sum(0),
            "output": hidden.T @ values[:, 0],
            "direct": sums.T @ values[:, 0],
            "advantage": advantage,
            **of_players,
        }

    def _scales(self) -> dict[str, NDArray[Any]]:
        """By what arrays for terms as they are have to be multiplied."""
        sums = 10 * np.concatenate([self.spread, np.ones(UNITS, np.float32)])
        scales = {"card": self.spread[:, None], "hidden": sums[:, None], "direct": sums}
        return {name: scales.get(name, np.ones((), np.float32)) for name in SHAPES}

    def value(self) -> dict[str, Array]:
        """The arrays of the value to player number 0, for terms as they are."""
        w = dict(self.arrays)
        for name, added_to in _OF_PLAYERS.items():
            w[added_to] = w[added_to] + w.pop(name)[0]
        return {
            name: (w[name] / scale).astype(np.float32) for name, scale in self._scales().items()
        }

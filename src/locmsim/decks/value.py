"""What a whole deck is worth, and a deck builder that looks for the one that is worth most.

A sum over cards cannot say that a deck needs creatures to use its items on, or cheap cards beside
dear ones. A small network can: it sees the `CARD_TERMS` of all cards, summed up as they are and
behind a layer of units. Some of these were learnt from games between decks of all kinds, and say
what a deck is worth to the search that plays it (`tools/deck_network.py`).

    >>> from locmsim.decks.building import build_deck
    >>> from locmsim.decks.value import default_value
    >>> from locmsim.rules.generator import generate_cards
    >>> cards = generate_cards(1)
    >>> by_id = {card.base_id: card for card in cards}
    >>> value = default_value()
    >>> decks = [[by_id[i] for i in build_deck(cards, name)] for name in ("default", "cheapest")]
    >>> value(decks[0]) > value(decks[1])
    True
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks.features import CARD_TERMS, card_terms
from locmsim.networks._network import checked
from locmsim.networks.network import descend
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE

__all__ = ["SHAPES", "DeckValue", "default_value", "learn_decks", "term_rows"]

_Array = NDArray[np.float32]

_TERMS = {name: column for column, name in enumerate(CARD_TERMS)}
_UNITS = 64
#: Name -> shape of the arrays of a network.
SHAPES = {
    "card": (len(_TERMS), _UNITS),
    "card_bias": (_UNITS,),
    "hidden": (len(_TERMS) + _UNITS, _UNITS),
    "hidden_bias": (_UNITS,),
    "output": (_UNITS,),
    "direct": (len(_TERMS) + _UNITS,),
}
#: An exchange has to raise the value by more than this.
_LEAST_GAIN = 1e-4
#: How fast arrays shrink in learning (see `descend`), and those that only one player has.
_DECAY = 1e-2
_DECAY_OF_PLAYERS = 0.1


def term_rows(cards: Sequence[Card]) -> _Array:
    """The `CARD_TERMS` of cards: shape (cards, terms)."""
    rows = np.zeros((len(cards), len(_TERMS)), np.float32)
    for row, card in zip(rows, cards, strict=True):
        for name, number in card_terms(card).items():
            row[_TERMS[name]] = number
    return rows


class DeckValue:
    """The value of decks; the difference of two decks' values is the logarithm of the odds.

    It is the mean of what some networks say: each likes a few decks too much, and seldom the same
    ones. Each is given by its arrays, one of numbers for each name in `SHAPES`; ``ValueError``
    names one that is missing, unknown, of another shape or not finite, or says that no network is
    given.
    """

    def __init__(self, *networks: Mapping[str, Any]) -> None:
        if not networks:
            raise ValueError("deck value: no network is given")
        self.networks = tuple(checked("deck value", arrays, SHAPES) for arrays in networks)
        self._bias = np.concatenate([arrays["hidden_bias"] for arrays in self.networks])
        self._output = np.concatenate([arrays["output"] for arrays in self.networks])
        self._output /= len(self.networks)

    def __call__(self, deck: Sequence[Card]) -> float:
        hidden, direct = self._inputs(deck)
        return float(self._output_of(hidden.sum(axis=0) + self._bias) + direct.sum())

    def improved(self, deck: Sequence[int], cards: Sequence[Card]) -> list[int]:
        """The deck, by base ids, that exchanging cards for offered ones leads to: one at a time, as
        long as that raises the value, and always by the best exchange."""
        # Sorted, so that the order of the offer decides nothing.
        offered = sorted({card.base_id: card for card in cards}.values(), key=lambda c: c.base_id)
        hidden, direct = self._inputs(offered)
        chosen = Counter(deck)
        copies = np.array([chosen[card.base_id] for card in offered])
        total = copies.astype(np.float32) @ hidden + self._bias
        value = float(self._output_of(total.copy()) + copies @ direct)
        while (copies < COPIES_PER_CARD).any():
            out, into = np.flatnonzero(copies), np.flatnonzero(copies < COPIES_PER_CARD)
            gains = direct[into] - direct[out, None] + copies @ direct - value
            entering = hidden[into]
            for i, card in enumerate(out):  # a row at a time stays in the cache
                gains[i] += self._output_of(entering + (total - hidden[card]))
            gains[out[:, None] == into] = -np.inf
            best = np.unravel_index(gains.argmax(), gains.shape)
            if gains[best] <= _LEAST_GAIN:
                break
            copies[out[best[0]]] -= 1
            copies[into[best[1]]] += 1
            total += hidden[into[best[1]]] - hidden[out[best[0]]]
            value += float(gains[best])
        return [card.base_id for card, n in zip(offered, copies, strict=True) for _ in range(n)]

    def _inputs(self, cards: Sequence[Card]) -> tuple[_Array, _Array]:
        """What each card adds to the hidden units of all networks, shape (cards, units), and to the
        value itself. Those of a deck are their sums."""
        terms = term_rows(cards)
        columns, direct = [], np.zeros(len(cards), np.float32)
        for w in self.networks:
            units = np.maximum(_by_row(terms, w["card"]) + w["card_bias"], 0)
            sums = np.concatenate([terms, units], axis=1)
            columns.append(_by_row(sums, w["hidden"]))
            direct += sums @ w["direct"] / len(self.networks)
        return np.concatenate(columns, axis=1), direct

    def _output_of(self, hidden: _Array) -> _Array:
        """What the hidden units make of their inputs, which are overwritten."""
        # No "@", see `_by_row`.
        output: _Array = np.einsum("...i,i", np.maximum(hidden, 0, out=hidden), self._output)
        return output


def _by_row(rows: _Array, matrix: _Array) -> _Array:
    """Their product, a row at a time: for all of them BLAS would wake threads, which takes longer,
    above all where other processes use the cores."""
    product: _Array = (rows[:, None] @ matrix)[:, 0]
    return product


@cache
def default_value() -> DeckValue:
    """The one in the package."""
    text = files("locmsim").joinpath("data/deck-network.json").read_text(encoding="utf-8")
    return DeckValue(*json.loads(text)["networks"])


# ---------------------------------------------------------------------------------- learning


def learn_decks(
    decks: NDArray[Any],
    won: NDArray[Any],
    *,
    players: NDArray[Any] | None = None,
    epochs: int = 12,
    seed: int = 0,
) -> tuple[DeckValue, float]:
    """A `DeckValue` that foretells results, and the mean loss (nats) in the last epoch.

    `decks` has shape (games, 2, 30, terms), the `term_rows` of the decks of players 0 and 1; `won`
    is 1 where player 0 has won. `players`, of shape (games, 2), are whole numbers from 0 that tell
    who played them, if that differs. What a deck is worth is then learnt for each of them, most of
    it from all games, and the value is that to number 0. ``ValueError`` without games.
    """
    if not len(won):
        raise ValueError("nothing to learn from: no games")
    if players is None:
        players = np.zeros((len(won), 2), np.int64)
    chance = np.random.default_rng(seed)
    model = _Games(decks, players, chance)
    decay = dict.fromkeys(SHAPES, _DECAY) | dict.fromkeys(_OF_PLAYERS, _DECAY_OF_PLAYERS)
    loss = descend(model, np.arange(len(won)), won, epochs=epochs, chance=chance, decay=decay)
    return model.value(), loss


#: Array of `_Games` with a row for each player -> the array that it is added to, that of the sums
#: first.
_OF_PLAYERS = {"players_direct": "direct", "players_output": "output"}


class _Games:
    """Pairs of decks, their terms divided by their spread and their sums by ten; the rows of this
    model are numbers of games."""

    def __init__(
        self, decks: NDArray[Any], players: NDArray[Any], chance: np.random.Generator
    ) -> None:
        self.decks, self.players = decks, players
        terms = decks[:10_000].reshape(-1, decks.shape[-1]).astype(np.float32)
        self.spread = terms.std(axis=0) + (terms.std(axis=0) < 1e-6)
        n = int(players.max()) + 1
        #: "advantage" is what player 0 has ahead of player 1, decks aside.
        self.arrays: dict[str, _Array] = {"advantage": np.zeros((n, n), np.float32)}
        for name, shape in SHAPES.items():
            size = shape[0] ** -0.5 if name in ("card", "hidden") else 0.0
            self.arrays[name] = (size * chance.standard_normal(shape)).astype(np.float32)
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
        units = by_sums[:, None, -_UNITS:] * (layers["units"].reshape(n, DECK_SIZE, -1) > 0)
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

    def value(self) -> DeckValue:
        """That to player number 0, for terms as they are."""
        w = dict(self.arrays)
        del w["advantage"]
        for name, added_to in _OF_PLAYERS.items():
            w[added_to] = w[added_to] + w.pop(name)[0]
        scale = 10 * np.concatenate([self.spread, np.ones(_UNITS, np.float32)])
        w["card"] = w["card"] / self.spread[:, None]
        w["hidden"] = w["hidden"] / scale[:, None]
        w["direct"] = w["direct"] / scale
        return DeckValue(w)

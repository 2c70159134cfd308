"""The value of decks in PyTorch, for training; `locmsim.decks.value` is used for play."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks.value import DECK_SHAPES, UNITS
from locmsim.networks.weights import Arrays
from locmsim.tuning.training import RATE, Array, Tensor, parameters, torch, train

#: Weight decay of arrays (see `train`), and of those that belong to one player only.
_DECAY = 1e-2
_DECAY_OF_PLAYERS = 0.1


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
        Shape (games, 2): the players of the decks as integers from 0, if they differ. The value of
        a deck is then trained for each player, sharing most weights; the returned value is that to
        player number 0.
    start
        Initial arrays, instead of random ones.
    epochs
        Number of epochs.
    rate
        The highest learning rate; use a low one to continue from arrays trained on more games.
    seed
        Seed of the initial arrays and the order of the games.

    Returns
    -------
    arrays : dict of str to float32 array
        For `locmsim.decks.value.DeckValue`.
    loss : float
        The mean loss in the last epoch, in nats per game.

    Raises
    ------
    ValueError
        There are no games.
    """
    if not len(won):
        raise ValueError("nothing to train on: no games")
    if players is None:
        players = np.zeros((len(won), 2), np.int64)
    rng = np.random.default_rng(seed)
    model = DeckModel(decks, players, rng, start)
    decay = dict.fromkeys(DECK_SHAPES, _DECAY) | dict.fromkeys(_OF_PLAYERS, _DECAY_OF_PLAYERS)
    loss = train(model, np.arange(len(won)), won, epochs=epochs, rng=rng, decay=decay, rate=rate)
    return model.value(), loss


#: Array of `DeckModel` with a row for each player -> the array that it is added to.
_OF_PLAYERS = {"players_direct": "direct", "players_output": "output"}


class DeckModel:
    """The value of decks as a `Model` whose rows are indices of games; the terms are divided by
    their standard deviation and the sums by ten."""

    def __init__(
        self,
        decks: NDArray[Any],
        players: NDArray[Any],
        rng: np.random.Generator,
        start: Arrays | None = None,
    ) -> None:
        self.decks, self.players = decks, players
        terms = decks[:10_000].reshape(-1, decks.shape[-1]).astype(np.float32)
        self.scales = terms.std(axis=0) + (terms.std(axis=0) < 1e-6)
        n = int(players.max()) + 1
        # "advantage" is player 0's advantage apart from the decks.
        arrays: dict[str, NDArray[Any]] = {"advantage": np.zeros((n, n))}
        for name, shape in DECK_SHAPES.items():
            size = shape[0] ** -0.5 if name in ("card", "hidden") else 0.0
            arrays[name] = size * rng.standard_normal(shape)
        if start is not None:
            for name, scale in self._scales().items():
                arrays[name] = start[name] * scale
        for name, added_to in _OF_PLAYERS.items():
            arrays[name] = np.zeros((n, *DECK_SHAPES[added_to]))
        self.arrays = parameters(arrays)

    def __call__(self, rows: NDArray[Any]) -> Tensor:
        """Return the log-odds that player 0 wins each of these games."""
        w = self.arrays
        players = torch.from_numpy(self.players[rows].astype(np.int64))
        cards = torch.from_numpy(self.decks[rows].astype(np.float32) / self.scales)
        units = (cards @ w["card"] + w["card_bias"]).relu()
        sums = torch.cat([cards.sum(2), units.sum(2)], dim=-1) / 10
        hidden = (sums @ w["hidden"] + w["hidden_bias"]).relu()
        direct, output = (w[to] + w[name][players] for name, to in _OF_PLAYERS.items())
        values = (sums * direct).sum(-1) + (hidden * output).sum(-1)
        return values[:, 0] - values[:, 1] + w["advantage"][players[:, 0], players[:, 1]]

    def _scales(self) -> dict[str, NDArray[Any]]:
        """Return the factors for arrays that take unscaled terms."""
        sums = 10 * np.concatenate([self.scales, np.ones(UNITS, np.float32)])
        scales = {"card": self.scales[:, None], "hidden": sums[:, None], "direct": sums}
        return {name: scales.get(name, np.ones((), np.float32)) for name in DECK_SHAPES}

    def value(self) -> dict[str, Array]:
        """Return the arrays of the value to player number 0, for unscaled terms."""
        w = {name: tensor.detach().numpy() for name, tensor in self.arrays.items()}
        for name, added_to in _OF_PLAYERS.items():
            w[added_to] = w[added_to] + w.pop(name)[0]
        return {
            name: (w[name] / scale).astype(np.float32) for name, scale in self._scales().items()
        }

"""The value of decks in PyTorch, to train it on games; `locmsim.decks.value` is what plays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks.value import SHAPES, UNITS
from locmsim.networks.weights import Arrays
from locmsim.tuning.training import RATE, Array, Tensor, parameters, torch, train

__all__ = ["DeckModel", "train_deck_value"]

#: How fast arrays shrink in training (see `train`), and those that only one player has.
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
        Shape (games, 2): whole numbers from 0 that tell who played the decks, if that differs. What
        a deck is worth is then trained for each of them, most of it on all games; the value that is
        returned is that to number 0.
    start
        Arrays to begin with, in place of random ones.
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
    rng = np.random.default_rng(seed)
    model = DeckModel(decks, players, rng, start)
    decay = dict.fromkeys(SHAPES, _DECAY) | dict.fromkeys(_OF_PLAYERS, _DECAY_OF_PLAYERS)
    loss = train(model, np.arange(len(won)), won, epochs=epochs, rng=rng, decay=decay, rate=rate)
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
        rng: np.random.Generator,
        start: Arrays | None = None,
    ) -> None:
        self.decks, self.players = decks, players
        terms = decks[:10_000].reshape(-1, decks.shape[-1]).astype(np.float32)
        self.scales = terms.std(axis=0) + (terms.std(axis=0) < 1e-6)
        n = int(players.max()) + 1
        # "advantage" is what player 0 has ahead of player 1, decks aside.
        arrays: dict[str, NDArray[Any]] = {"advantage": np.zeros((n, n))}
        for name, shape in SHAPES.items():
            size = shape[0] ** -0.5 if name in ("card", "hidden") else 0.0
            arrays[name] = size * rng.standard_normal(shape)
        if start is not None:
            for name, scale in self._scales().items():
                arrays[name] = start[name] * scale
        for name, added_to in _OF_PLAYERS.items():
            arrays[name] = np.zeros((n, *SHAPES[added_to]))
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
        """The factors that arrays for plain terms must be multiplied by."""
        sums = 10 * np.concatenate([self.scales, np.ones(UNITS, np.float32)])
        scales = {"card": self.scales[:, None], "hidden": sums[:, None], "direct": sums}
        return {name: scales.get(name, np.ones((), np.float32)) for name in SHAPES}

    def value(self) -> dict[str, Array]:
        """Return the arrays of the value to player number 0, for unscaled terms."""
        w = {name: tensor.detach().numpy() for name, tensor in self.arrays.items()}
        for name, added_to in _OF_PLAYERS.items():
            w[added_to] = w[added_to] + w.pop(name)[0]
        return {
            name: (w[name] / scale).astype(np.float32) for name, scale in self._scales().items()
        }

"""New weights from games: fitting and training of each part that can be tuned."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks import CARD_TERMS
from locmsim.networks import LARGE_SHAPES, Weights
from locmsim.networks._network import shapes_of
from locmsim.networks.weights import Arrays
from locmsim.tuning.card_values import copies_of, fit_card_values
from locmsim.tuning.fitting import fit_logistic, rows_as_precision
from locmsim.tuning.self_play import EVALUATION_TERMS, MAX_WEIGHT, TrainingGames, deck_rows

_log = logging.getLogger(__name__)

#: Parts with networks. Their training needs PyTorch and is imported on use.
_TRAINED = {"deck", "draft", "network"}
#: Weight of the previous weights, in positions or decks.
_PRIOR_POSITIONS = 2000.0
_PRIOR_DECKS = 4000.0
#: Number of networks in an ensemble of deck values (1.5: without an earlier one to continue from).
_NETWORKS = 4
#: Training parameters from scratch, and for continuing: earlier networks were trained on many more
#: games than those of a window, which a high learning rate would overfit.
_FIRST: dict[str, Any] = {"epochs": 12}
_MORE: dict[str, Any] = {"epochs": 4, "rate": 3e-4}

#: One in so many positions is kept apart to choose between networks.
_HELD_OUT = 10


def check_packages(parts: Iterable[str]) -> None:
    """Raise ``ImportError`` naming a package that these parts need and that is missing."""
    chosen = set(parts)
    if chosen != {"network"}:
        try:
            import_module("scipy.optimize")
        except ImportError:
            raise ImportError(
                "tuning needs scipy, which is not installed: pip install 'locmsim[tune]'"
            ) from None
    if not chosen.isdisjoint(_TRAINED):
        import_module("locmsim.tuning.training")


def fit_part(
    part: str, weights: Weights, games: TrainingGames, *, network_size: str = "same"
) -> tuple[Weights, float]:
    """Fit or train a part on games.

    Parameters
    ----------
    part
        A name in `locmsim.tuning.PARTS`.
    weights
        The current weights.
    games
        The games to train on.
    network_size
        As in `TuningSettings`.

    Returns
    -------
    weights : Weights
        The same weights with a new value of that part.
    loss : float
        The mean loss, in nats per row.

    Raises
    ------
    ValueError
        There are no games.
    ImportError
        A package is missing, see `check_packages`.
    """
    if part == "network":
        new, loss = _network(weights, games, network_size)
    else:
        new, loss = _FITS[part](weights, games)
    _log.info("%s: loss %.4f", part, loss)
    return new, loss


def _evaluation(weights: Weights, games: TrainingGames) -> tuple[Weights, float]:
    old = weights.evaluation
    # The value over half the scale is the log-odds.
    unit = old["scale"] / 2
    prior = np.array([old[name] for name in EVALUATION_TERMS]) / unit
    precision = rows_as_precision(games.positions, _PRIOR_POSITIONS)
    found, _, loss = fit_logistic(games.positions, games.position_won, prior, precision)
    new = dict(zip(EVALUATION_TERMS, _cut(found * unit), strict=True))
    return replace(weights, evaluation={**old, **new}), loss


def _network(weights: Weights, games: TrainingGames, size: str) -> tuple[Weights, float]:
    """Return a network and its loss in positions of games that it was not trained on.

    One is trained from scratch. Two continue from the present network, if it has no more units: one
    with small steps, and one with those of a training from scratch. The one that predicts the other
    games best is returned: few games cannot replace those that the present network was trained on,
    and many can.
    """
    from locmsim.tuning.positions import network_loss, train_network

    present = weights.network
    was_large = present is not None and shapes_of(present) is LARGE_SHAPES
    large = was_large if size == "same" else size == "large"
    positions, won = games.position_inputs, games.position_won
    known = len(won) - len(won) // _HELD_OUT
    ways: dict[str, dict[str, Any]] = {"from scratch": {}}
    if present is not None and large >= was_large:
        ways["continued"] = {"start": present}
        ways["continued in small steps"] = {"start": present, **_MORE}
    found = []
    for how, way in ways.items():
        arrays, _ = train_network(positions[:known], won[:known], large=large, **way)
        # With too few positions to keep some apart, all of them decide.
        rest = known if known < len(won) else 0
        found.append((network_loss(arrays, positions[rest:], won[rest:]), arrays))
        _log.info("network: loss %.4f %s", found[-1][0], how)
    loss, arrays = min(found, key=lambda pair: pair[0])
    return replace(weights, network=arrays), loss


def _deck(weights: Weights, games: TrainingGames) -> tuple[Weights, float]:
    """Return the card score, the value of decks, and the loss of the latter."""
    from locmsim.tuning.decks import train_deck_value

    rows = deck_rows(games.pools, games.decks)
    sums = rows.sum(axis=2, dtype=np.float32)
    x = sums[:, 0] - sums[:, 1]
    prior = np.array([(weights.deck_score or {}).get(name, 0.0) for name in CARD_TERMS])
    found, _, _ = fit_logistic(x, games.deck_won, prior, rows_as_precision(x, _PRIOR_DECKS))
    score = dict(zip(CARD_TERMS, _cut(found), strict=True))
    starts: Sequence[Arrays | None] = weights.deck_value or [None] * _NETWORKS
    how = _FIRST if weights.deck_value is None else _MORE
    trained = [
        train_deck_value(rows, games.deck_won, start=start, seed=seed, **how)
        for seed, start in enumerate(starts)
    ]
    networks, loss = _all(trained)
    return replace(weights, deck_score=score, deck_value=networks), loss


def _draft(weights: Weights, games: TrainingGames) -> tuple[Weights, float]:
    """Return the arrays of card values and deck values, and the loss of the latter."""
    from locmsim.tuning.drafts import train_draft_value

    copies = copies_of(games.decks)
    values, _ = fit_card_values(copies[:, 0] - copies[:, 1], games.deck_won)
    trained = [
        train_draft_value(copies, games.deck_won, values, seed=seed) for seed in range(_NETWORKS)
    ]
    networks, loss = _all(trained)
    return replace(weights, draft=values, draft_value=networks), loss


def _all(trained: Sequence[tuple[Arrays, float]]) -> tuple[list[Arrays], float]:
    """Return the networks of one part, and the mean of their losses."""
    return [arrays for arrays, _ in trained], float(np.mean([loss for _, loss in trained]))


def _cut(vector: NDArray[np.float64]) -> list[float]:
    """Round weights to four digits."""
    return [float(f"{max(-MAX_WEIGHT, min(MAX_WEIGHT, x)):.4g}") for x in vector.tolist()]


_FITS: Mapping[str, Callable[[Weights, TrainingGames], tuple[Weights, float]]] = {
    "eval": _evaluation,
    "deck": _deck,
    "draft": _draft,
}

"""Makes the network that values decks in exported bots, from the ensemble in the package.

    python tools/distil_deck_value.py           writes src/locmsim/export/data/deck-value.npz
    python tools/distil_deck_value.py --check   prints how much value its decks lose

The ensemble measures the loss. Both commands take some minutes and need the extra `train`. Run them
when the ensemble in the package changes.
"""

import sys
from pathlib import Path

import numpy as np

from locmsim.decks import GreedyBuilder, SwapBuilder, card_score
from locmsim.decks.value import DeckValue
from locmsim.networks.weights import Arrays, default_weights
from locmsim.rules.generator import generate_cards
from locmsim.tuning.distilling import distilled_deck_value

TARGET = Path(__file__).parents[1] / "src" / "locmsim" / "export" / "data" / "deck-value.npz"
CARD_SETS = range(5000, 5060)


def main() -> None:
    ensemble = default_weights("1.5").deck_value or ()
    if sys.argv[1:] == ["--check"]:
        one = dict(np.load(TARGET))
        for name, networks in (("distilled", [one]), ("its first network", ensemble[:1])):
            loss, error = losses(ensemble, networks)
            print(f"{name}: {loss:.3f} +- {error:.3f} of the log-odds lost")
        return
    np.savez_compressed(TARGET, **distilled_deck_value(ensemble))


def losses(ensemble: tuple[Arrays, ...], networks: tuple[Arrays, ...]) -> tuple[float, float]:
    """Return how much value, by the ensemble, decks built by networks lose: mean and error."""
    start = GreedyBuilder(card_score("1.5"), min_creatures=10)
    value = DeckValue(*ensemble)
    lost = []
    for seed in CARD_SETS:
        cards = generate_cards(seed)
        by_id = {card.base_id: card for card in cards}
        values = [
            value([by_id[i] for i in SwapBuilder(start, DeckValue(*some), restarts=2)(cards)])
            for some in (ensemble, networks)
        ]
        lost.append(values[0] - values[1])
    return float(np.mean(lost)), float(np.std(lost) / len(lost) ** 0.5)


if __name__ == "__main__":
    main()

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from locmsim.rules.cards import Card

__all__ = [
    "COST_COLUMNS",
    "DECK_SHAPES",
    "ENOUGH",
    "DeckNetworks",
    "term_rows",
    "weighted_scores",
]

COST_COLUMNS: Final[int]
ENOUGH: Final[int]

DECK_SHAPES: dict[str, tuple[int, ...]]

@final
class DeckNetworks:
    arrays: tuple[dict[str, NDArray[np.float32]], ...]
    def __new__(cls, networks: Iterable[Mapping[str, Any]]) -> DeckNetworks: ...
    def __deepcopy__(self, memo: dict[int, object]) -> DeckNetworks: ...
    def value(self, terms: NDArray[np.float32], copies: Sequence[int]) -> float: ...
    def improved(self, terms: NDArray[np.float32], copies: Sequence[int]) -> list[int]: ...
    def exchanged(
        self, terms: NDArray[np.float32], copies: Sequence[int]
    ) -> NDArray[np.float32]: ...

def term_rows(cards: Sequence[Card]) -> NDArray[np.float32]: ...
def weighted_scores(weights: array[float], cards: Sequence[Card]) -> list[float]: ...

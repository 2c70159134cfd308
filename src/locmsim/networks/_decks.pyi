from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from locmsim.rules.cards import Card

#: A row of terms for each card: float32, shape (cards, terms).
_Rows = NDArray[np.float32] | memoryview[float]

COST_COLUMNS: Final[int]
ENOUGH: Final[int]

DECK_SHAPES: dict[str, tuple[int, ...]]

@final
class DeckNetworks:
    def __new__(cls, networks: Iterable[Mapping[str, Any]]) -> DeckNetworks: ...
    @property
    def arrays(self) -> tuple[dict[str, NDArray[np.float32]], ...]: ...
    def __deepcopy__(self, memo: dict[int, object]) -> DeckNetworks: ...
    def value(self, terms: _Rows, copies: Sequence[int]) -> float: ...
    def improved(self, terms: _Rows, copies: Sequence[int]) -> list[int]: ...
    def exchanged(self, terms: _Rows, copies: Sequence[int]) -> NDArray[np.float32]: ...

def term_rows(cards: Sequence[Card]) -> NDArray[np.float32]: ...
def stored_rows(cards: Sequence[Card]) -> memoryview[float]: ...
def weighted_scores(weights: array[float], cards: Sequence[Card]) -> list[float]: ...

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DECK_SHAPES", "DeckNetworks"]

DECK_SHAPES: dict[str, tuple[int, ...]]

@final
class DeckNetworks:
    arrays: tuple[dict[str, NDArray[np.float32]], ...]
    def __new__(cls, networks: Iterable[Mapping[str, Any]]) -> DeckNetworks: ...
    def __deepcopy__(self, memo: dict[int, object]) -> DeckNetworks: ...
    def value(self, terms: NDArray[np.float32], copies: Sequence[int]) -> float: ...
    def improved(self, terms: NDArray[np.float32], copies: Sequence[int]) -> list[int]: ...

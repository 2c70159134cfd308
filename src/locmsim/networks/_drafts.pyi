from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DRAFT_SHAPES", "DraftNetworks"]

DRAFT_SHAPES: dict[str, tuple[int, ...]]

@final
class DraftNetworks:
    def __new__(cls, networks: Iterable[Mapping[str, Any]]) -> DraftNetworks: ...
    @property
    def arrays(self) -> tuple[dict[str, NDArray[np.float32]], ...]: ...
    def __deepcopy__(self, memo: dict[int, object]) -> DraftNetworks: ...
    def value(self, deck: Sequence[int]) -> float: ...
    def expected(
        self, offers: Sequence[Sequence[int]], picked: Sequence[int], drafts: int
    ) -> list[float]: ...
    def followed(self, offers: Sequence[Sequence[int]], drafts: int) -> list[list[float]]: ...

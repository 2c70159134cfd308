from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from locmsim._batch import StateArray
from locmsim._core import State
from locmsim.game._match import CompiledCards

LAYOUT_CODES: Final[dict[str, int]]

def entities_scale(scale: Sequence[float]) -> None: ...
def sizes() -> dict[str, dict[str, int]]: ...
def observe(state: State, player: int, layout: int, out: NDArray[Any]) -> None: ...
def observe_batch(array: StateArray, player: int, layout: int, out: NDArray[Any]) -> None: ...
def observe_choice(
    cards: CompiledCards, offer: Sequence[int], deck: Sequence[int], out: NDArray[np.int8]
) -> None: ...

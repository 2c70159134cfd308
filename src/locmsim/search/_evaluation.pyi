from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from locmsim._batch import StateArray
from locmsim._core import State

__all__ = ["TERMS", "Evaluator"]

TERMS: dict[str, str]

@final
class Evaluator:
    def __new__(cls, weights: Mapping[str, float]) -> Evaluator: ...
    def values(
        self, states: StateArray, players: NDArray[np.int8], out: NDArray[np.float32]
    ) -> None: ...
    def __call__(self, state: State, player: int) -> float: ...

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from locmsim.networks._network import Network
from locmsim.search._evaluation import Evaluator
from locmsim.search.options import BeamOptions

__all__ = ["Searcher", "python_seeds"]

def python_seeds(seed: int, n: int) -> list[int]: ...

@final
class Searcher:
    def __init__(
        self,
        options: BeamOptions,
        evaluator: Evaluator,
        network: Network | None,
        rules: str,
        nodes: int,
    ) -> None: ...
    def give(self, slot: int, key: int, numbers: NDArray[np.float64]) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

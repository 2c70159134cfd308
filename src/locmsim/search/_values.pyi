import numpy as np
from numpy.typing import NDArray

from locmsim._batch import StateArray
from locmsim.networks._network import Network
from locmsim.search._evaluation import Evaluator

__all__ = ["expected_results"]

def expected_results(
    evaluator: Evaluator, network: Network | None, batch: StateArray, out: NDArray[np.float64]
) -> None: ...

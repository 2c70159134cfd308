import numpy as np
from numpy.typing import NDArray

from locmsim._batch import StateArray
from locmsim.networks._network import Network
from locmsim.search._evaluation import CompiledEvaluation

__all__ = ["exp", "expected_results", "gumbel", "log", "tanh"]

def exp(x: float) -> float: ...
def log(x: float) -> float: ...
def tanh(x: float) -> float: ...
def gumbel(uniform: NDArray[np.float64]) -> None: ...
def expected_results(
    evaluator: CompiledEvaluation,
    network: Network | None,
    batch: StateArray,
    out: NDArray[np.float64],
) -> None: ...

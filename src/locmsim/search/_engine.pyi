from collections.abc import Callable, Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from locmsim._batch import StateArray
from locmsim._core import Determinizer, State
from locmsim.batch import BatchFunction
from locmsim.networks._network import Network
from locmsim.search.options import SearchOptions

TERMS: dict[str, str]

@final
class CompiledEvaluation:
    def __new__(cls, weights: Mapping[str, float]) -> CompiledEvaluation: ...
    def __call__(self, state: State, player: int) -> float: ...

class EngineResult:
    actions: list[int]
    depth: int
    iterations: int
    nodes: int
    plans: list[tuple[list[int], int, float]]
    value: float
    visits: int
    won: bool

@disjoint_base
class SearchEngine:
    def __new__(
        cls,
        options: SearchOptions,
        evaluation: CompiledEvaluation,
        network: Network | None = None,
    ) -> SearchEngine: ...
    def evaluate_by(
        self,
        evaluation: CompiledEvaluation,
        network: Network | None = None,
    ) -> None: ...
    def find_win(self, root: State, nodes: int) -> list[int] | None: ...
    def turn_value(
        self, worlds: Determinizer, root: State, actions: Sequence[int], n: int, seed: int
    ) -> float: ...
    def search(
        self,
        worlds: Determinizer,
        root: State,
        *,
        time_ns: int | None,
        nodes: int | None,
        iterations: int | None,
        seed: int,
        check: Callable[[], object] | None = None,
    ) -> EngineResult: ...

def play_game(
    start: State,
    engines: Sequence[SearchEngine],
    worlds: Sequence[Determinizer],
    nodes: Sequence[int],
    seed: int,
    ends: list[State] | None = None,
) -> tuple[int, int]: ...
def seed_of_turn(seed: int, turn: int) -> int: ...

@disjoint_base
class BatchEngine(SearchEngine):
    def __new__(
        cls,
        options: SearchOptions,
        evaluation: CompiledEvaluation,
        network: Network | None,
        function: BatchFunction,
        deals: bool = False,
    ) -> BatchEngine: ...

@disjoint_base
class SharedEngine(SearchEngine):
    def __new__(
        cls,
        options: SearchOptions,
        evaluation: CompiledEvaluation,
        network: Network | None,
        threads: int,
    ) -> SharedEngine: ...
    def serve(self, i: int) -> None: ...

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

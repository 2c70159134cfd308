from collections.abc import Callable, Sequence

from typing_extensions import disjoint_base

from locmsim._core import Determinizer, State
from locmsim.networks._network import Network
from locmsim.search._evaluation import CompiledEvaluation
from locmsim.search.options import SearchOptions

__all__ = ["EngineResult", "SearchEngine", "play_game", "seed_of_turn"]

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

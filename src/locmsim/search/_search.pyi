from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from locmsim._core import Determinizer, State
from locmsim.networks._network import Network

__all__ = ["TERMS", "Engine", "Evaluator", "Outcome", "play_game", "turn_key"]

TERMS: dict[str, str]

@final
class Evaluator:
    def __new__(cls, weights: Mapping[str, float]) -> Evaluator: ...
    def __call__(self, state: State, player: int) -> float: ...

class Outcome:
    actions: list[int]
    depth: int
    iterations: int
    nodes: int
    value: float
    visits: int
    won: bool

@final
class Engine:
    def __new__(
        cls,
        method: str,
        options: Any,
        evaluation: Evaluator | tuple[Evaluator, Callable[[State, int], float]],
        network: Network | None = None,
    ) -> Engine: ...
    def evaluate_by(
        self,
        evaluation: Evaluator | tuple[Evaluator, Callable[[State, int], float]],
        network: Network | None = None,
    ) -> None: ...
    def search(
        self,
        worlds: Determinizer,
        *,
        time_ns: int | None,
        nodes: int | None,
        visits: int | None,
        seed: int,
    ) -> Outcome: ...

def turn_key(state: State) -> int: ...
def play_game(
    start: State,
    engines: Sequence[Engine],
    worlds: Sequence[Determinizer],
    nodes: Sequence[int],
    seed: int,
    ends: list[State] | None = None,
) -> tuple[int, int]: ...

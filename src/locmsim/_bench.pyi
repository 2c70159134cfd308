from collections.abc import Iterable, Sequence
from typing import Literal, final

from locmsim._core import Determinizer, State

__all__ = [
    "COMPILER",
    "COMPILER_COMMAND",
    "CYTHON",
    "STATE_SIZE",
    "TARGET",
    "KernelLoops",
    "fair_playouts",
    "game_lengths",
    "greedy_turns",
    "kth_actions",
    "packed_worlds",
    "random_turns",
]

COMPILER: str
COMPILER_COMMAND: str
CYTHON: str
TARGET: str
STATE_SIZE: int

@final
class KernelLoops:
    @property
    def checked(self) -> int: ...
    def __new__(cls, groups: Iterable[Sequence[State]], seed: int) -> KernelLoops: ...
    def run(
        self,
        operation: Literal["copy", "clone", "apply", "count", "list", "kth"],
        rounds: int,
    ) -> float: ...

def game_lengths(states: Iterable[State], n: int, seed: int) -> tuple[int, int]: ...
def fair_playouts(worlds: Determinizer, n: int, seed: int) -> int: ...
def random_turns(state: State, n: int, seed: int) -> int: ...
def greedy_turns(state: State, n: int) -> int: ...
def packed_worlds(worlds: Determinizer) -> bytes: ...
def kth_actions(state: State) -> list[int]: ...

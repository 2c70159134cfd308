from collections.abc import Sequence
from typing import final

from vestrock._core import State

@final
class StateLoops:
    @property
    def found(self) -> int: ...
    def __new__(cls, states: Sequence[State]) -> StateLoops: ...
    def run(self, operation: str, loops: int) -> None: ...

from collections.abc import Iterable
from typing import Final, NamedTuple, final

from vestrock._core import State

WEIGHTS: Final[tuple[str, ...]]
DEFAULT_WEIGHTS: Final[tuple[float, ...]]

class SearchResult(NamedTuple):
    actions: list[int]
    value: float
    nodes: int
    depth: int
    candidates: int

@final
class TurnSearch:
    def __init__(self, weights: Iterable[float] | None = None) -> None: ...
    def search(
        self,
        state: State,
        *,
        time_ms: float | None = None,
        nodes: int | None = None,
        depth: int = 3,
    ) -> SearchResult: ...

def evaluate(state: State, weights: Iterable[float] | None = None) -> float: ...

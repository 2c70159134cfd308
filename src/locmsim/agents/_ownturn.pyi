from collections.abc import Mapping
from typing import Final, final

from locmsim._core import State

__all__ = ["OTHER_TERMS", "SIDE_TERMS", "OwnTurn"]

SIDE_TERMS: Final[dict[str, str]]
OTHER_TERMS: Final[dict[str, str]]

@final
class OwnTurn:
    def __new__(cls, weights: Mapping[str, float]) -> OwnTurn: ...
    def search(
        self, state: State, *, time_ns: int | None = None, nodes: int | None = None
    ) -> list[int]: ...

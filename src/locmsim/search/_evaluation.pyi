from collections.abc import Mapping
from typing import final

from locmsim._core import State

__all__ = ["TERMS", "CompiledEvaluation"]

TERMS: dict[str, str]

@final
class CompiledEvaluation:
    def __new__(cls, weights: Mapping[str, float]) -> CompiledEvaluation: ...
    def __call__(self, state: State, player: int) -> float: ...

from collections.abc import Mapping
from typing import final

from locmsim._core import State

__all__ = ["TERMS", "Evaluator"]

TERMS: dict[str, str]

@final
class Evaluator:
    def __new__(cls, weights: Mapping[str, float]) -> Evaluator: ...
    def __call__(self, state: State, player: int) -> float: ...

from collections.abc import Mapping
from typing import Any, final

__all__ = ["RowBlock"]

@final
class RowBlock:
    n: int
    n_actions: int
    battle_actions: int
    rules: str
    def __init__(self, n: int, options: Mapping[str, Any]) -> None: ...

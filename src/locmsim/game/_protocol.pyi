from typing import Any

__all__ = ["read_text"]

def read_text(
    text: str,
    rules: str | None,
    player_type: type[Any],
    action_type: type[Any],
    row_type: type[Any],
) -> tuple[Any, ...] | None: ...

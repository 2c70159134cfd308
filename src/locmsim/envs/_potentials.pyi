from typing import Final

__all__ = ["POTENTIALS"]

POTENTIALS: Final[tuple[str, ...]]

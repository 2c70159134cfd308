from typing import Final

from locmsim._core import State

__all__ = ["POTENTIALS", "potentials_of"]

POTENTIALS: Final[tuple[str, ...]]

def potentials_of(state: State, player: int) -> dict[str, float]: ...

from typing import Final

from locmsim._core import State

__all__ = ["OPPONENTS", "POTENTIALS", "choose_action", "play_battle", "potentials_of"]

OPPONENTS: Final[dict[str, int]]
POTENTIALS: Final[tuple[str, ...]]

def choose_action(name: str, state: State, seed: int = 0) -> int: ...
def play_battle(
    state: State, first: str, second: str, seed: int = 0, max_actions: int = 1400
) -> int: ...
def potentials_of(state: State, player: int) -> dict[str, float]: ...

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from locmsim._core import State, Table
from locmsim.envs._card_sets import CardSets
from locmsim.envs._player_table import PlayerTable
from locmsim.envs._requests import Requests
from locmsim.envs._views import Views

__all__ = ["Rows"]

_Array = NDArray[Any]

@final
class Rows:
    n: int
    n_actions: int
    battle_actions: int
    rules: str
    players: PlayerTable
    card_sets: CardSets
    requests: Requests
    views: Views
    def __init__(self, n: int, options: Mapping[str, Any]) -> None: ...
    def bind(
        self,
        obs: _Array | None = None,
        masks: _Array | None = None,
        rewards: _Array | None = None,
        rewards_both: _Array | None = None,
        terminated: _Array | None = None,
        truncated: _Array | None = None,
        to_move: _Array | None = None,
        acted: _Array | None = None,
        winner: _Array | None = None,
        length: _Array | None = None,
        final_obs: _Array | None = None,
        state: _Array | None = None,
    ) -> None: ...
    def step_row(self, i: int, action: Any) -> bool: ...
    def bad_rows(self, actions: NDArray[np.int64]) -> list[int]: ...
    def begin(self, i: int, seed: int | None = None) -> int: ...
    def draw(
        self, i: int, seed: int | None = None, seat: int | None = None, player: int | None = None
    ) -> None: ...
    def set_match(
        self,
        i: int,
        seed: int,
        seeds: Sequence[int],
        table: Table,
        decks: Sequence[Sequence[int]] | None = None,
    ) -> None: ...
    def begin_drawn(
        self, i: int, decks: Sequence[Sequence[int]] | None = None, state: State | None = None
    ) -> None: ...
    def kept(self, i: int) -> Any: ...
    def put_back(self, i: int, kept: Any) -> None: ...
    def sample(self, seed: int, out: NDArray[np.int64]) -> None: ...
    def show_all(self, over: bool = False) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def action_of(action: Any) -> int: ...

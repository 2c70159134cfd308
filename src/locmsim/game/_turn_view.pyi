from collections.abc import Iterable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.rules.cards import Card

@final
class TurnView:
    n_actions: int
    player: int
    def __init__(
        self,
        state: State,
        drawn: Iterable[int] = (),
        came: Iterable[int] = (),
        shown: Iterable[Card] = (),
        played: Iterable[Card] = (),
    ) -> None: ...
    def observe(self, layout: str, out: NDArray[Any], mask: NDArray[np.int8]) -> None: ...
    def apply(self, action: int) -> None: ...
    @property
    def over(self) -> bool: ...

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from locmsim._batch import StateArray
from locmsim._core import Determinizer
from locmsim.game._turn_view import TurnView
from locmsim.networks._network import Network
from locmsim.search.options import PolicyOptions

@final
class Forest:
    size: int
    num_actions: int
    def __new__(
        cls,
        worlds: Sequence[Determinizer],
        views: Sequence[TurnView | None],
        seeds: NDArray[np.uint64],
        noise: NDArray[np.float64],
        options: PolicyOptions,
        layout: str | None,
        leaves: int,
        turn_ends: bool = False,
        network: Network | None = None,
    ) -> Forest: ...
    def gather(self, observations: NDArray[Any] | None, masks: NDArray[np.int8] | None) -> int: ...
    def states(self) -> StateArray: ...
    def scatter(
        self,
        priors: NDArray[np.float32] | None,
        values: NDArray[np.float64],
        are_logits: bool,
    ) -> None: ...
    def results(
        self,
        actions: NDArray[np.int32],
        policies: NDArray[np.float64],
        means: NDArray[np.float64],
        visits: NDArray[np.int32],
        values: NDArray[np.float64],
    ) -> None: ...
    def variation(self, i: int) -> list[int]: ...
    def nodes(self, i: int) -> int: ...

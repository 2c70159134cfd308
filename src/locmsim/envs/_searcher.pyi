from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from locmsim.networks._drafts import DraftNetworks
from locmsim.networks._network import Network
from locmsim.search._engine import CompiledEvaluation
from locmsim.search.options import SearchOptions

@final
class Searcher:
    def __init__(
        self,
        options: SearchOptions,
        evaluator: CompiledEvaluation,
        network: Network | None,
        draft: DraftNetworks | None,
        rules: str,
        nodes: int,
    ) -> None: ...
    def give(
        self,
        slot: int,
        key: int,
        scores: NDArray[np.float64],
        copies: NDArray[np.uint8] | None,
    ) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

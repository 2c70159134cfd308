from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from vestrock._core import State

def rule_line(state: State, seed: SupportsIndex | None = None) -> list[int]: ...
def rule_playouts(
    state: State, n: SupportsIndex, seed: SupportsIndex, threads: int = 1
) -> NDArray[np.int32]: ...

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

def gae(
    rewards: ArrayLike,
    values: ArrayLike,
    dones: ArrayLike,
    acted: ArrayLike,
    last_values: ArrayLike,
    last_to_move: ArrayLike | None = None,
    *,
    gamma: float = 1.0,
    lam: float = 0.95,
    mode: Literal["zero-sum", "per-player"] = "zero-sum",
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]: ...

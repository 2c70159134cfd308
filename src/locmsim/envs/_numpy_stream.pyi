from collections.abc import Sequence

import numpy as np

__all__ = ["drawn"]

def drawn(generator: np.random.Generator | int, bounds: Sequence[int]) -> list[int]: ...

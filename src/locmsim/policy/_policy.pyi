from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float32]

def entity_shapes(
    units: int = 48, trunk: int = 160, key: int = 32
) -> dict[str, tuple[int, ...]]: ...
def set_vector_bits(most: int) -> None: ...

@final
class EntityRunner:
    def __init__(self, arrays: Mapping[str, _Array], scale: _Array) -> None: ...
    def run(self, x: _Array, logits: _Array, values: _Array) -> None: ...

@final
class MlpRunner:
    def __init__(self, arrays: Mapping[str, _Array], tanh: bool) -> None: ...
    def run(self, x: _Array, out: _Array) -> None: ...

from collections.abc import Mapping, Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENTITY_SHAPES", "EntityRunner", "MlpRunner"]

_Array = NDArray[np.float32]
ENTITY_SHAPES: Final[dict[str, tuple[int, ...]]]

@final
class EntityRunner:
    def __init__(self, arrays: Mapping[str, _Array]) -> None: ...
    def run(self, x: _Array, logits: _Array, values: _Array) -> None: ...

@final
class MlpRunner:
    def __init__(self, layers: Sequence[tuple[_Array, _Array]], tanh: bool) -> None: ...
    def run(self, x: _Array, out: _Array) -> None: ...

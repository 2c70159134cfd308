from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from locmsim._core import State

SHAPES: dict[str, tuple[int, ...]]
LARGE_SHAPES: dict[str, tuple[int, ...]]
BLOCKS: dict[str, tuple[int, ...]]

def packed(
    owner: str, arrays: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> bytes: ...
def unpacked(
    numbers: bytes, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, NDArray[np.float32]]: ...
def checked(
    owner: str, arrays: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, NDArray[np.float32]]: ...
def shapes_of(arrays: Mapping[str, Any]) -> dict[str, tuple[int, ...]]: ...

@final
class Network:
    def __new__(cls, arrays: Mapping[str, Any]) -> Network: ...
    @property
    def arrays(self) -> Mapping[str, NDArray[np.float32]]: ...
    def __deepcopy__(self, memo: dict[int, object]) -> Network: ...
    def __call__(self, state: State, player: int) -> float: ...

def inputs(state: State, player: int) -> NDArray[np.int16]: ...

from typing import final

import numpy as np
from numpy.typing import NDArray

from locmsim.envs._rows import Rows

@final
class ThreadPool:
    n: int
    def __new__(cls, rows: Rows, n: int) -> ThreadPool: ...
    def serve(self, i: int) -> None: ...
    def run(self, actions: NDArray[np.int64]) -> int: ...
    def stop(self) -> None: ...

from typing import Any, final

from numpy.typing import NDArray

from locmsim.envs._rows import Rows

_Array = NDArray[Any]

@final
class Fresh:
    def __init__(
        self,
        rows: Rows,
        observation: _Array,
        mask: _Array,
        in_info: bool,
        hidden: _Array | None = None,
    ) -> None: ...
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]] | None: ...
    def begin(self) -> tuple[Any, dict[str, Any]] | None: ...
    def __call__(self) -> tuple[Any, dict[str, Any]]: ...

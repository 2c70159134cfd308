from typing import Final

POTENTIALS: Final[tuple[str, ...]]

"""Names that are in other packages now: who uses an old one is told the new one."""

from importlib.machinery import ModuleSpec
from typing import Final

__all__ = ["COMMANDS", "MODULES", "MovedFinder"]

#: Old module -> where it is now.
MODULES: Final = {
    "locmsim.envs.dataset": "locmsim.tuning.dataset",
    "locmsim.envs.evaluate": "locmsim.tuning.evaluate",
    "locmsim.vestrock": "the package vestrock: import vestrock",
}
#: Old command of ``locmsim`` -> its words now, which the rest of the line follows.
COMMANDS: Final = {"vestrock": "vestrock"}


class MovedFinder:
    """Refuses to import a module under its old name, and says where it is."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Raise ``ImportError`` for an old name; leave other names to other finders."""
        if name in MODULES:
            raise ImportError(f"{name} is now {MODULES[name]}", name=name)
        return None

from typing_extensions import disjoint_base

from locmsim.networks._network import Network
from locmsim.search._engine import SearchEngine
from locmsim.search._evaluation import CompiledEvaluation
from locmsim.search.options import SearchOptions

__all__ = ["SharedEngine"]

@disjoint_base
class SharedEngine(SearchEngine):
    def __new__(
        cls,
        options: SearchOptions,
        evaluation: CompiledEvaluation,
        network: Network | None,
        threads: int,
    ) -> SharedEngine: ...
    def serve(self, i: int) -> None: ...

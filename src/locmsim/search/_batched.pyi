from typing_extensions import disjoint_base

from locmsim.batch import BatchFunction
from locmsim.networks._network import Network
from locmsim.search._engine import SearchEngine
from locmsim.search._evaluation import CompiledEvaluation
from locmsim.search.options import SearchOptions

__all__ = ["BatchEngine"]

@disjoint_base
class BatchEngine(SearchEngine):
    def __new__(
        cls,
        options: SearchOptions,
        evaluation: CompiledEvaluation,
        network: Network | None,
        function: BatchFunction,
        deals: bool = False,
    ) -> BatchEngine: ...

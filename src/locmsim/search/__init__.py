"""Find turns from what the protocol shows, by beam search or Monte-Carlo tree search.

Both get an `Observation` and see nothing else: hidden cards are sampled from a `Belief`. Both look
for a win within the turn first, and both evaluate a turn by playouts from its end in sampled
worlds, in which the opponent replies. They are compiled and run without the GIL.

    >>> from locmsim.game.match import Match
    >>> from locmsim.search import BeamSearch
    >>> match = Match(seed=3)
    >>> _ = match.submit(0, "PASS"), match.submit(1, "PASS")
    >>> result = BeamSearch().search(match.observation(0), nodes=20_000, seed=1)
    >>> result.line.split(" ")[0] in ("PASS", "SUMMON", "USE")
    True
    >>> match.submit(0, result.line).ignored in ([], ["PASS"])
    True
"""

from typing import TYPE_CHECKING

from locmsim._lazy import imported_later
from locmsim.search.belief import Belief
from locmsim.search.evaluation import TERMS, Evaluation, OnObservations, win_chance
from locmsim.search.options import (
    BeamOptions,
    MCTSOptions,
    PolicyOptions,
    SearchOptions,
    describe_options,
)
from locmsim.search.results import Plan, PolicyResult, SearchResult
from locmsim.search.turn_search import MCTS, BeamSearch

if TYPE_CHECKING:
    from locmsim.search.analysis import Analysis as Analysis
    from locmsim.search.analysis import analyse as analyse
    from locmsim.search.policy_search import PolicySearch as PolicySearch
    from locmsim.search.policy_search import SearchPosition as SearchPosition

__all__ = [
    "MCTS",
    "TERMS",
    "Analysis",
    "BeamOptions",
    "BeamSearch",
    "Belief",
    "Evaluation",
    "MCTSOptions",
    "OnObservations",
    "Plan",
    "PolicyOptions",
    "PolicyResult",
    "PolicySearch",
    "SearchOptions",
    "SearchPosition",
    "SearchResult",
    "analyse",
    "describe_options",
    "win_chance",
]

# Bots never need these.
__getattr__, __dir__ = imported_later(
    __name__,
    {"Analysis": "analysis", "analyse": "analysis"}
    | dict.fromkeys(("PolicySearch", "SearchPosition"), "policy_search"),
)

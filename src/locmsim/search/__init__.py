"""Searches that see what the protocol shows: beam search, Monte-Carlo tree search."""

from locmsim.search.search import (
    MCTS,
    TERMS,
    BeamOptions,
    BeamSearch,
    Evaluation,
    MCTSOptions,
    SearchResult,
)

__all__ = [
    "MCTS",
    "TERMS",
    "BeamOptions",
    "BeamSearch",
    "Evaluation",
    "MCTSOptions",
    "SearchResult",
]

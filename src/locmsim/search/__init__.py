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

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)

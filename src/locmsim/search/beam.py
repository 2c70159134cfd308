"""Beam search over the own turn."""

from collections.abc import Mapping

from locmsim._core import State
from locmsim.game.observation import Observation
from locmsim.search.base import Search
from locmsim.search.belief import Belief
from locmsim.search.evaluation import Evaluation, ValueFunction
from locmsim.search.options import BeamOptions
from locmsim.search.results import SearchResult

__all__ = ["BeamSearch"]


class BeamSearch(Search):
    """Beam search over the own turn, the best whole turns tested against sampled replies.

    Parameters
    ----------
    options : BeamOptions, optional
    evaluation : Evaluation, or mapping of rule sets to them, or callable, optional
        What positions are worth; the weights of the package by default. A function gets a state
        and the player whose turn ends there.
    """

    options: BeamOptions

    def __init__(
        self,
        options: BeamOptions | None = None,
        *,
        evaluation: Evaluation | ValueFunction | Mapping[str, Evaluation] | None = None,
    ) -> None:
        super().__init__(options or BeamOptions(), evaluation)

    def search(
        self,
        observation: Observation | State,
        *,
        time_ms: float | None = None,
        nodes: int | None = None,
        seed: int = 0,
        belief: Belief | None = None,
    ) -> SearchResult:
        """Find the best turn for the player who is asked.

        Parameters
        ----------
        observation : Observation or State
            What they see. A state is first replaced by what its mover observes; their turn has to
            be at its beginning.
        time_ms : float, optional
            Milliseconds that the search may take, kept to within 2.
        nodes : int, optional
            Positions that may be made. With this bound alone the result depends on the arguments
            only.
        seed : int
            Of the sampled worlds.
        belief : Belief, optional
            What the player knows from the game so far, `observation` included; without it the
            search starts from this observation alone.

        Returns
        -------
        SearchResult

        Raises
        ------
        ValueError
            Neither bound is given; in the choice phase, in the middle of a turn, and for a
            finished game; `belief` has seen something else last; the evaluation is of other rules.
        """
        return self._search(observation, time_ms, seed, belief, nodes=nodes)

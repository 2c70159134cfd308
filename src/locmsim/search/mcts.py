"""Monte-Carlo tree search over whole turns."""

from collections.abc import Mapping

from locmsim._core import State
from locmsim.game.observation import Observation
from locmsim.search.base import Search
from locmsim.search.belief import Belief
from locmsim.search.evaluation import Evaluation, ValueFunction
from locmsim.search.options import MCTSOptions
from locmsim.search.results import SearchResult

__all__ = ["MCTS"]


class MCTS(Search):
    """Monte-Carlo tree search over whole turns: the own ones of a beam search, and replies to them.

    Each sampled world has a tree below each of the own turns, of turns that a narrow beam finds.

    Parameters
    ----------
    options : MCTSOptions, optional
    evaluation : Evaluation, or mapping of rule sets to them, or callable, optional
        What positions are worth; the weights of the package by default. A function gets a state
        and the player whose turn ends there.
    """

    options: MCTSOptions

    def __init__(
        self,
        options: MCTSOptions | None = None,
        *,
        evaluation: Evaluation | ValueFunction | Mapping[str, Evaluation] | None = None,
    ) -> None:
        super().__init__(options or MCTSOptions(), evaluation)

    def search(
        self,
        observation: Observation | State,
        *,
        time_ms: float | None = None,
        iterations: int | None = None,
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
        iterations : int, optional
            Visits of plans. With this bound alone the result depends on the arguments only, and the
            beam that finds the plans makes at most 256 positions for each.
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
        return self._search(observation, time_ms, seed, belief, iterations=iterations)

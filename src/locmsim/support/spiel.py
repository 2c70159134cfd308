"""What OpenSpiel's states have beyond what a state of ours needs: methods that follow from others.

Code written for OpenSpiel calls them. Nothing here knows the game.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex

from locmsim.options.checks import player_number


class SpielPosition:
    """A position of a two-player game without chance, whose hidden part can be drawn anew.

    It has no past.
    """

    if TYPE_CHECKING:

        def current_player(self) -> int: ...
        def is_terminal(self) -> bool: ...
        def returns(self) -> list[float]: ...
        def to_text(self) -> str: ...
        def resample_hidden(self, player: SupportsIndex, seed: SupportsIndex) -> Any: ...

    def rewards(self) -> list[float]:
        """Return what the last action brought each player: the same as `returns`, as only the end
        counts.
        """
        return self.returns()

    def player_return(self, player: SupportsIndex) -> float:
        """Return the entry of `returns` for one player.

        Parameters
        ----------
        player : int
            0 or 1.

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1.
        """
        return self.returns()[player_number(player)]

    def player_reward(self, player: SupportsIndex) -> float:
        """Return the entry of `rewards` for one player.

        Parameters
        ----------
        player : int
            0 or 1.

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1.
        """
        return self.rewards()[player_number(player)]

    def num_players(self) -> int:
        """Return 2, the number of players."""
        return 2

    def is_player_node(self) -> bool:
        """Return whether a player is to move: always, until the end."""
        return not self.is_terminal()

    def is_chance_node(self) -> bool:
        """Return False: what is random follows from the seeds, and is part of the state."""
        return False

    def is_simultaneous_node(self) -> bool:
        """Return False: one player moves at a time."""
        return False

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return an empty list: there are no chance nodes."""
        return []

    def history_str(self) -> str:
        """Return the position text, which tells states apart as a history does in OpenSpiel.

        A state has no past: `locmsim.openspiel.MatchState` has the actions of a match.

        Returns
        -------
        str
            As `to_text`.
        """
        return self.to_text()

    def resample_from_infostate(self, player: SupportsIndex, sampler: Callable[[], float]) -> Any:
        """Return a new state that looks the same to a player: `resample_hidden` by OpenSpiel's
        name.

        Parameters
        ----------
        player : int
            0 or 1, the player whose knowledge is kept.
        sampler : callable
            Returns random numbers, 0 <= x < 1, as ``pyspiel.UniformProbabilitySampler(0.0, 1.0)``
            and ``numpy.random.Generator.random`` do. It is called twice.

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1, a number is not in [0, 1), or the pool is needed and empty.
        """
        seed = 0
        for _ in range(2):
            number = sampler()
            if not 0 <= number < 1:
                raise ValueError(f"sampler: expected numbers in [0, 1), got {number!r}")
            seed = seed << 32 | int(number * 2**32)
        return self.resample_hidden(player, seed)

"""The protocol of bots, and the two bots without a search."""

from random import Random
from typing import Protocol

from vestrock._core import State


class Bot(Protocol):
    """A player of one or several matches.

    Its only state between turns is its random numbers.
    """

    def reset(self, seed: int = 0) -> None:
        """Derive all further random choices from `seed`.

        Parameters
        ----------
        seed : int
            Where random numbers come from.
        """

    def turn(self, state: State, time_ms: float | None = None) -> str:
        """Return the commands of the mover for the rest of the turn.

        Parameters
        ----------
        state
            A position of a match that is not over; it is not changed.
        time_ms
            Time for the turn in milliseconds; None for the bot's own default.

        Returns
        -------
        str
            Commands without the match id, joined by ``;``. The end of the turn needs no command.
        """
        ...


def as_line(state: State, actions: list[int]) -> str:
    """Return actions as the answer of a bot, without the end of the turn.

    Parameters
    ----------
    state : State
        The position before the first action.
    actions : list of int
        Actions in order; the end of the turn may be among them.
    """
    return ";".join(state.action_to_string(action) for action in actions if action)


class RandomBot:
    """Plays uniformly random legal actions until the end of the turn is drawn."""

    def __init__(self) -> None:
        self.reset()

    def reset(self, seed: int = 0) -> None:
        """Begin the random numbers of a seed.

        Parameters
        ----------
        seed : int
            Where random numbers come from.
        """
        self._random = Random(seed)

    def turn(self, state: State, time_ms: float | None = None) -> str:
        """Return commands for the rest of the turn, as `Bot.turn`.

        Parameters
        ----------
        state : State
            A position of a match that is not over; it is not changed.
        time_ms : float, optional
            Not used.
        """
        after = state.clone()
        actions = []
        while not after.is_terminal():
            actions.append(self._random.choice(after.legal_actions()))
            if actions[-1] == 0:
                break
            after.apply_unchecked(actions[-1])
        return as_line(state, actions)


class RuleBot:
    """Plays by the rules of thumb of `vestrock.bots._policy`, without random choices."""

    def reset(self, seed: int = 0) -> None:
        """Do nothing: the bot has no state.

        Parameters
        ----------
        seed : int
            Not used.
        """

    def turn(self, state: State, time_ms: float | None = None) -> str:
        """Return commands for the rest of the turn, as `Bot.turn`.

        Parameters
        ----------
        state : State
            A position of a match that is not over; it is not changed.
        time_ms : float, optional
            Not used.
        """
        from vestrock.bots._policy import rule_line

        return as_line(state, rule_line(state))


def share_of_time(left_ms: float, matches_left: int, reserve_ms: float = 50.0) -> float:
    """Return the time for the next match if several matches are on the move.

    Parameters
    ----------
    left_ms
        Time until the turn ends, in milliseconds.
    matches_left
        Number of matches that have no answer yet, the next one included.
    reserve_ms
        Time reserved for sending the commands.

    Returns
    -------
    float
        An equal share in milliseconds, at least 0. Time that a match does not use is available to
        later ones.
    """
    return max(0.0, left_ms - reserve_ms) / max(1, matches_left)

"""The steps of a game that is played, as far as those who look at it may see them."""

from collections.abc import Sequence
from typing import Any

from locmsim._core import State
from locmsim.web.views import Cards, action_steps, turn_step

__all__ = ["ShownSteps"]


class ShownSteps:
    """Steps of a page (`locmsim.web.replay_data`) that grow, and whose end can be taken back.

    Parameters
    ----------
    cards : Cards
        Those of the page.
    names : tuple of str
        Of the players.
    hidden : int, optional
        The player whose hand is not shown.
    """

    def __init__(self, cards: Cards, names: tuple[str, str], hidden: int | None) -> None:
        self._cards, self._names, self._hidden = cards, names, hidden
        self._steps: list[dict[str, Any]] = []
        #: The number of steps that no longer change: all but those of the person's turn.
        self.settled = 0

    def settle(self) -> None:
        """Let none of the steps so far change any more."""
        self.settled = len(self._steps)

    def since(self, have: int) -> tuple[int, list[dict[str, Any]]]:
        """Return the steps that a page needs, which has some that no longer change.

        Returns
        -------
        start : int
            The number of those before them.
        steps : list of dict
            All others.
        """
        start = have if 0 <= have <= self.settled else 0
        return start, self._steps[start:]

    def start_turn(self, state: State) -> None:
        """Show the start of a turn."""
        self._steps.append(turn_step(state, self._cards, self._hidden))

    def act(self, state: State, actions: Sequence[str]) -> None:
        """Show actions of a turn; the state becomes the one after them."""
        self._steps += action_steps(state, actions, self._cards, self._names, self._hidden)

    def take_back(self) -> None:
        """Take the last step back."""
        self._steps.pop()

    def play_turn(self, before: State, actions: Sequence[str], chat: str) -> None:
        """Show a whole turn, and what its player said; none of it will change."""
        self.start_turn(before)
        self._steps[-1]["chat"] = chat
        self.act(before, actions)
        self.settle()

    def end(self, state: State) -> None:
        """Show the end of the match, if that is not the last step already."""
        last = turn_step(state, self._cards, self._hidden)
        if not self._steps or self._steps[-1]["board"] != last["board"]:
            self._steps.append(last)  # they died from drawing
        self.settle()

"""What Gymnasium's environments for one episode and for many have in common."""

from collections.abc import Mapping
from typing import Any

from locmsim.envs.games import Games
from locmsim.envs.players import Players
from locmsim.game.layouts import ChoiceLayout, Layout

__all__ = ["LocmEnvBase"]


class LocmEnvBase:
    """The layouts and the players of an environment."""

    #: What plays the episodes.
    games: Games

    @property
    def layout(self) -> Layout | ChoiceLayout:
        """What the numbers of an observation mean, in the battle if there is one."""
        return self.games.shown_layout

    @property
    def choice_layout(self) -> ChoiceLayout | None:
        """... in the choice phase; None without one."""
        return self.games.choice_layout

    @property
    def first_pick(self) -> int:
        """The number of the first action that picks a card."""
        return self.games.rows.battle_actions

    @property
    def players(self) -> Players:
        """The players by name: put one in, ask how episodes against each have ended."""
        return self.games.players

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Draw the players of new episodes by other weights: see `Players.set_weights`."""
        self.games.players.set_weights(weights)

    def set_opponent(self, opponent: Any) -> None:
        """Play against others from the next episodes on; as `Options.opponent`."""
        self.games.players.replace(opponent)

"""What the environments of Gymnasium and PettingZoo have in common."""

from collections.abc import Mapping
from typing import Any

from locmsim.envs.games import Games
from locmsim.envs.options import Options, RenderMode, options_of
from locmsim.envs.players import Players
from locmsim.envs.rendering import RENDER_MODES
from locmsim.game.layouts import Layout
from locmsim.options.declarations import declaration


class RowsEnv:
    """Options, the games that are played by them, and the layouts of observations."""

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012
    #: The options, checked.
    options: Options
    #: What plays the episodes.
    games: Games

    def _play(
        self, n: int, options: Mapping[str, Any], render_mode: str | None, **settings: Any
    ) -> None:
        """Begin with `n` rows; `settings` are more arguments of `Games`."""
        declaration("render_mode", RenderMode).check(render_mode)
        self.render_mode = render_mode
        self.options = options_of(options)
        self.games = Games(n, self.options, **settings)

    @property
    def layout(self) -> Layout:
        """What the numbers of an observation mean, in the battle if there is one."""
        return self.games.shown_layout

    @property
    def choice_layout(self) -> Layout | None:
        """What they mean in the choice phase; None without one."""
        return self.games.choice_layout

    @property
    def first_pick(self) -> int:
        """The number of the first action that picks a card."""
        return self.games.rows.battle_actions


class LocmEnvBase(RowsEnv):
    """A `RowsEnv` in which others may play against the caller."""

    @property
    def players(self) -> Players:
        """The players by name: put one in, ask how episodes against each have ended."""
        return self.games.players

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Draw the players of new episodes by other weights: see `Players.set_weights`.

        Parameters
        ----------
        weights : mapping of str to float
            By the name of the player.
        """
        self.games.players.set_weights(weights)

    def set_opponent(self, opponent: Any) -> None:
        """Play against others from the next episodes on.

        Parameters
        ----------
        opponent
            As `Options.opponent`.
        """
        self.games.players.replace(opponent)

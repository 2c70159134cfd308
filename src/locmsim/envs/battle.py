"""``locmsim/Battle-v0``: one battle, an action at a time, against an opponent."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.envs.games import HIDDEN_SIZE, Games, Options, options_of
from locmsim.envs.players import Players
from locmsim.envs.rendering import RENDER_MODES, battle_frame, battle_text, check_render_mode, show
from locmsim.errors import IllegalActionError
from locmsim.game.layouts import Layout

__all__ = ["BattleEnv", "battle_spaces", "seed_bits"]


def battle_spaces(options: Options, n_actions: int) -> tuple[spaces.Space[Any], spaces.Discrete]:
    """The spaces of observations and actions."""
    layout: Layout = options.observation_layout
    box = spaces.Box(layout.low, layout.high, layout.shape, layout.dtype.type)
    actions = spaces.Discrete(n_actions)
    if options.mask == "info":
        return box, actions
    mask = spaces.Box(0, 1, (n_actions,), np.int8)
    parts: dict[str, spaces.Space[Any]] = {"observation": box, "action_mask": mask}
    if options.privileged:
        parts["state"] = spaces.Box(-127, 127, (HIDDEN_SIZE,), np.int8)
    return spaces.Dict(parts), actions


def seed_bits(random: np.random.Generator) -> int:
    """64 bits from which all chance of a row follows."""
    return int(random.integers(0, 2**64, dtype=np.uint64))


class BattleEnv(gymnasium.Env[Any, Any]):
    """One battle against an opponent; PASS ends the turn, and the opponent answers at once.

    Parameters
    ----------
    render_mode : "ansi", "human", "rgb_array" (extra ``png``) or None
    **options
        See `locmsim.envs.Options`.

    Raises
    ------
    ValueError
        Names the option that is wrong.

    Notes
    -----
    With ``mask="obs"`` an observation is a dict of ``observation``, a vector of `layout`, and
    ``action_mask``, int8 of shape (145,), in 1.0 (155,). At the end of an episode only PASS is
    legal. With ``privileged`` there is a ``state`` too: the cards in the learner's hand and the
    opponent's, then their decks in the order of drawing, each as in the hand of "entities" (24
    numbers, without those of history). `reset` takes the options of `Games.begin`.

    The info has ``turn`` and ``seat``; at the end also ``winner`` (-1: nobody), ``returns`` of
    both players, ``length`` in actions, ``illegal``, ``health`` of both and ``match``, from which
    the referee can play the battle's start again. Before the end nothing in it tells of hidden
    cards.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.options = options_of(options)
        self.games = Games(1, self.options)
        rows = self._rows = self.games.rows
        self.observation_space, self.action_space = battle_spaces(self.options, rows.n_actions)
        self._observation = np.zeros(self.layout.shape, self.layout.dtype)
        self._mask = np.zeros(rows.n_actions, np.int8)
        self._reward = np.zeros(1, np.float32)
        self._terminated = np.zeros(1, np.bool_)
        self._truncated = np.zeros(1, np.bool_)
        self._hidden = np.zeros(HIDDEN_SIZE, np.int8) if self.options.privileged else None
        self._raises = self.options.illegal == "raise"
        self._prints = render_mode == "human"
        self._bind()

    def _bind(self) -> None:
        """Have the rows write into our arrays."""
        self._rows.bind(
            self._observation, self._mask, self._reward,
            terminated=self._terminated, truncated=self._truncated,
            state=self._hidden,
        )  # fmt: skip
        in_info = self.options.mask == "info"
        self._fresh = self._rows.fresh(self._observation, self._mask, in_info, self._hidden)
        self._step = self._fresh.step

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_fresh"], state["_step"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    @property
    def layout(self) -> Layout:
        """What the numbers of an observation mean."""
        return self.games.layout

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; with a `seed` all chance from here on follows from it.

        Parameters
        ----------
        seed : int, optional
        options : dict, optional
            ``match``, ``decks``, ``state``, ``seat``: see `Games.begin`.

        Returns
        -------
        observation, info
        """
        first = self._np_random is None
        super().reset(seed=seed)
        bits = seed_bits(self.np_random) if first or seed is not None else None
        self._step = self._fresh.step
        try:
            self.games.begin(0, bits, options)
        finally:
            if self.games.failed and self._rows.waits_for(0):
                self._step = self._broken_off
        if self._prints:
            self.render()
        return self._fresh()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action and let the opponent answer if it ends the turn.

        Parameters
        ----------
        action : int

        Returns
        -------
        observation, reward, terminated, truncated, info

        Raises
        ------
        ResetNeeded
            Before the first `reset` and after the end of an episode.
        IllegalActionError
            With ``illegal="raise"``; nothing has changed then.
        """
        if self._raises:
            self._check(action)
        result = self._step(action)
        if result is None:
            result = self._special()
        if self._prints:
            self.render()
        return result

    def _special(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The rest of a step that is none like all others."""
        if self._rows.waits_for(0):
            try:
                self.games.serve()
            except BaseException:
                self._step = self._broken_off
                raise
        reward, terminated, truncated = self._rows.outcome(0)
        if self._rows.over(0) and not (terminated or truncated):
            raise ResetNeeded("no episode is running: call reset first")
        observation, info = self._fresh()
        if terminated or truncated:
            info.update(self.games.end_info(0))
        return observation, reward, terminated, truncated, info

    def _broken_off(self, action: Any) -> Any:
        """A step while the row still waits for an opponent that raised an exception."""
        self.games.check()

    def _check(self, action: Any) -> None:
        self.games.check()
        if self._rows.over(0):
            raise ResetNeeded("no episode is running: call reset first")
        if self._rows.bad_rows(np.array([action], np.int64)):
            raise IllegalActionError(f"action {action} is not legal here", self.state)

    def action_masks(self) -> NDArray[np.bool_]:
        """bool array of the legal actions, as sb3-contrib's MaskablePPO asks for it."""
        return self._mask.astype(np.bool_)

    def sample(self) -> int:
        """A uniformly random legal action, from `np_random`."""
        out = np.empty(1, np.int64)
        self._rows.sample(seed_bits(self.np_random), out)
        return int(out[0])

    @property
    def state(self) -> State:
        """A copy of the state, with all that is hidden from the learner."""
        return self._rows.state(0)

    def set_opponent(self, opponent: Any) -> None:
        """Play against others from the next episode on; as `Options.opponent`."""
        self.games.players.replace(opponent)

    @property
    def players(self) -> Players:
        """The players by name: put one in, ask how episodes against each have ended."""
        return self.games.players

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Draw the players of new episodes by other weights: see `Players.set_weights`."""
        self.games.players.set_weights(weights)

    def render(self) -> Any:
        """What the learner sees: a text, printed with "human", or uint8 (600, 800, 3)."""
        return show(
            self.render_mode,
            lambda: battle_text(self.state, self._rows.seat(0)),
            lambda: battle_frame(self.state, self._rows.seat(0)),
        )

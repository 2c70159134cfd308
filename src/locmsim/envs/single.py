"""The environments of Gymnasium: one episode at a time, which is the first row of many."""

from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.envs._fresh import Fresh
from locmsim.envs._rows import action_of
from locmsim.envs.base import LocmEnvBase
from locmsim.envs.options import Options, OptionValues, RenderMode, spaces_of
from locmsim.envs.resets import drawn_seed, known, one_seed
from locmsim.errors import IllegalActionError
from locmsim.options.declarations import documented


@documented(Options)
class LocmEnv(LocmEnvBase, gymnasium.Env[Any, Any]):
    """One episode of a match at a time: a battle, a choice phase, or both.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        For an option that is unknown or has a value that cannot be used.

    Notes
    -----
    With ``mask="obs"`` an observation is a dict with ``observation`` and ``action_mask``, int8. In
    the battle ``observation`` is a vector of `layout`, and there are 145 actions, 155 in 1.0. PASS
    ends the turn, and the opponent answers at once. In the choice phase it is a vector of
    the layout "choice", and an action picks one of 3 or 120 cards. Where an episode
    has both, picks are numbered after the actions of the battle, and the vector of the choice phase
    follows that of the battle. The one that is not in use is 0. At the end only action 0 is legal.

    With ``privileged`` there is a ``state`` too: the cards in the caller's hand and in the
    opponent's, then their decks in the order of drawing. Each card is described as in the hand of
    "entities", by 24 numbers, without those that tell of the past. In the choice phase the hands
    are empty and decks are in the order of choice: the caller's as far as it goes, the other one as
    it will be.

    The info has ``turn`` (-1 in the choice phase) and ``seat``, in the choice phase also ``step``.
    At the end it has ``winner`` (-1 for nobody), ``returns`` of both players, ``length`` in actions
    of the battle or, if there is none, in picks, ``illegal``, ``health`` of both players,
    ``match``, with which the referee can play the battle again, and ``winners``, the results of the
    battles after a choice. Nothing in the info tells of hidden cards before the end.
    """

    def __init__(self, *, render_mode: RenderMode = None, **options: Unpack[OptionValues]) -> None:
        self._play(1, options, render_mode)
        self.games.check_rewards()
        self.observation_space, self.action_space = spaces_of(self.options)
        self._start()

    def _start(self) -> None:
        """Have what a step returns copied in compiled code."""
        self.games.bind()
        arrays = self.games.arrays
        hidden = arrays["state"][0] if "state" in arrays else None
        in_info = self.options.mask == "info"
        self._fresh = Fresh(self.games.rows, arrays["obs"][0], arrays["masks"][0], in_info, hidden)
        self._step = self._fresh.step
        #: Whether a step has nothing to do but to step.
        self._plain = not (
            self.options.illegal == "raise"
            or self.games.results.pays
            or self.render_mode == "human"
        )
        #: Whether a reset has nothing to do but to begin an episode.
        self._goes_on = False

    def __getstate__(self) -> dict[str, Any]:
        left = ("_fresh", "_step", "_goes_on")
        return {k: v for k, v in self.__dict__.items() if k not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    @property
    def seat(self) -> int:
        """Where the caller plays, -1 for both seats."""
        return self.games.rows.views.seat(0)

    @property
    def phase(self) -> str:
        """ "choice", "battle" or "over"."""
        return "over" if self.games.rows.views.over(0) else self.games.rows.views.phase(0)

    @property
    def state(self) -> State:
        """A copy of the battle's state, with all that is hidden from the caller.

        ``ValueError`` in the choice phase.
        """
        return self.games.rows.views.state(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Everything random from here on follows from it.
        options : dict, optional
            ``match``, ``cards``, ``decks``, ``state``, ``seat`` and ``player``: see
            `Games.begin`.

        Returns
        -------
        observation, info

        Raises
        ------
        ValueError
            For an option that cannot be used. The episode before goes on.
        """
        if self._goes_on and seed is None and not options:
            shown = self._fresh.begin()
            if shown is None:
                self._serve()
                shown = self._fresh()
            return shown
        generator = self._np_random, self._np_random_seed
        start = None
        if seed is not None or generator[0] is None:
            super().reset(seed=one_seed(seed))
            start = drawn_seed(self.np_random)
        self._step, self._goes_on = self._refused, False
        try:
            self.games.begin(0, start, options and known(options))
        except BaseException:
            self._np_random, self._np_random_seed = generator
            if not self.games.rows.requests.waits_for(0):
                self._step = self._fresh.step  # the episode before goes on
            raise
        self._ready()
        if self.render_mode == "human":
            self.render()
        return self._fresh()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action; if it ends the turn, the opponent answers.

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
            With ``illegal="raise"``. Nothing has changed then.
        TypeError
            For an action other than an integer.
        RuntimeError
            While another thread steps the environment.
        """
        if self._plain:
            return self._step(action) or self._special()
        if self.options.illegal == "raise":
            self._check(action)
        result = self._step(action) or self._special()
        if self.games.results.pays:
            self.games.results.pay(self.games.arrays)
            result = (result[0], float(self.games.arrays["rewards"][0]), *result[2:])
        if self.render_mode == "human":
            self.render()
        return result

    def _special(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The rest of a step after which Python has something to do."""
        games, rows = self.games, self.games.rows
        if rows.requests.waits_for(0):
            self._serve()
        reward, terminated, truncated = rows.views.outcome(0)
        if rows.views.over(0) and not (terminated or truncated):
            raise ResetNeeded("no episode is running: call reset first")
        observation, info = self._fresh()
        if terminated or truncated:
            info.pop("step", None)
            info.update(games.results.info(0))
        return observation, reward, terminated, truncated, info

    def _serve(self) -> None:
        """Do what the row waits for; other threads are refused, and all after an exception."""
        self._step, self._goes_on = self._refused, False
        self.games.serve()
        self._ready()

    def _ready(self) -> None:
        """Take steps, and resets, again."""
        self._step = self._fresh.step
        self._goes_on = self._plain and not self.games.may_refuse

    def _refused(self, action: Any) -> Any:
        """Refuse a step while the row waits for its opponent, or for one that failed."""
        self.games.check_alone()
        self.games.check()

    def _check(self, action: Any) -> None:
        self.games.check()
        if self.games.rows.views.over(0):
            raise ResetNeeded("no episode is running: call reset first")
        action = action_of(action)
        if self.games.rows.bad_rows(np.array([action], np.int64)):
            if self.phase == "choice":
                raise IllegalActionError(f"card {action - self.first_pick} cannot be picked")
            raise IllegalActionError(f"action {action} is not legal here", self.state)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return a bool array of the legal actions, as MaskablePPO of sb3-contrib expects it."""
        mask: NDArray[np.int8] = self.games.arrays["masks"][0]
        return mask.astype(np.bool_)

    def sample(self) -> int:
        """Return a uniformly random legal action, drawn from `np_random`."""
        return int(self.games.sample(drawn_seed(self.np_random))[0])

    def render(self) -> Any:
        """Show the caller's view: a text, printed with "human", or a uint8 array (600, 800, 3)."""
        return self.games.shown(0, self.render_mode)

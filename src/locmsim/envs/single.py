"""The environments of Gymnasium: one episode at a time, which is the first row of many."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.envs._fresh import Fresh
from locmsim.envs.base import LocmEnvBase
from locmsim.envs.games import HIDDEN_SIZE, Games, options_of, seed_bits, spaces_of
from locmsim.envs.rendering import RENDER_MODES, check_render_mode, show
from locmsim.errors import IllegalActionError
from locmsim.rules.rulesets import get_rules

__all__ = ["BattleEnv", "ConstructEnv", "DraftEnv", "LocmEnv", "MatchEnv", "named_options"]


def named_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an id: "Battle", "Draft", "Construct" or "Match".

    ``ValueError`` for rules that have no such choice phase.
    """
    episode = {"Battle": "battle", "Match": "match"}.get(name, "choice")
    rules = "1.2" if name == "Draft" else "1.5"
    settings = {"rules": rules, **options, "episode": episode}
    if episode == "choice" and get_rules(settings["rules"]).draft != (name == "Draft"):
        has, expected = ("no draft", "1.2 or 1.0") if name == "Draft" else ("a draft", "1.5")
        raise ValueError(f"rules: {settings['rules']} has {has}, expected {expected}")
    return settings


class LocmEnv(LocmEnvBase, gymnasium.Env[Any, Any]):
    """One episode of a match: a battle, a choice phase, or both.

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
    With ``mask="obs"`` an observation is a dict of ``observation`` and ``action_mask``, int8. In
    the battle ``observation`` is a vector of `layout`, and there are 145 actions, in 1.0 155; PASS
    ends the turn, and the opponent answers at once. In the choice phase it is a vector of
    `locmsim.game.layouts.ChoiceLayout`, and an action picks one of 3 or 120 cards. Where an episode
    has both, picks are numbered after the actions of the battle, and the vector of the choice phase
    follows on that of the battle, each 0 in the other phase. At the end only action 0 is legal.

    With ``privileged`` there is a ``state`` too: the cards in the learner's hand and the
    opponent's, then their decks in the order of drawing, each as in the hand of "entities" (24
    numbers, without those of history). In the choice phase the hands are empty and decks are in the
    order of choice: the learner's as far as it goes, the other one as it will be.

    The info has ``turn`` (-1 in the choice phase) and ``seat``, in the choice phase ``step``; at
    the end also ``winner`` (-1: nobody), ``returns`` of both players, ``length`` in actions of the
    battle or, without one, picks, ``illegal``, ``health`` of both, ``match``, from which the
    referee can play the episode's battle from its start, and ``winners`` of the battles of a
    choice. Before the end nothing in it tells of hidden cards.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012
    #: What the options of a subclass are those of.
    _name = ""

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.options = options_of(named_options(self._name, options) if self._name else options)
        self.games = Games(1, self.options)
        rows = self._rows = self.games.rows
        self.observation_space, self.action_space = spaces_of(self.options)
        size, dtype = self.games.observation_shape
        self._observation = np.zeros(size, dtype)
        self._mask = np.zeros(rows.n_actions, np.int8)
        self._reward = np.zeros(1, np.float32)
        self._terminated = np.zeros(1, np.bool_)
        self._truncated = np.zeros(1, np.bool_)
        self._hidden = np.zeros(HIDDEN_SIZE, np.int8) if self.options.privileged else None
        self._raises = self.options.illegal == "raise"
        self._prints = render_mode == "human"
        self._both = np.zeros((1, 2), np.float32)
        self._to_move = np.zeros(1, np.int8)
        self._acted = np.zeros(1, np.int8)
        self._bind()

    def _bind(self) -> None:
        """Have the rows write into our arrays."""
        self._rows.bind(
            self._observation, self._mask, self._reward,
            terminated=self._terminated, truncated=self._truncated,
            state=self._hidden, rewards_both=self._both, to_move=self._to_move, acted=self._acted,
        )  # fmt: skip
        in_info = self.options.mask == "info"
        self._fresh = Fresh(self._rows, self._observation, self._mask, in_info, self._hidden)
        self._step = self._fresh.step

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_fresh"], state["_step"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    @property
    def seat(self) -> int:
        """Where the learner plays, -1 for both seats."""
        return self._rows.views.seat(0)

    @property
    def phase(self) -> str:
        """ "choice", "battle" or "over"."""
        return "over" if self._rows.views.over(0) else self._rows.views.phase(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; with a `seed` everything random from here on follows from it.

        Parameters
        ----------
        seed : int, optional
        options : dict, optional
            ``match``, ``decks``, ``state``, ``seat``: see `Games.begin`.

        Returns
        -------
        observation, info
        """
        generator = self._np_random, self._np_random_seed
        super().reset(seed=seed)
        first = generator[0] is None or seed is not None
        start = self.games.start_of(self.np_random) if first else None
        self._step = self._fresh.step
        try:
            self.games.begin(0, start, options)
        except ValueError:
            self._np_random, self._np_random_seed = generator
            raise
        finally:
            if self.games.failed and self._rows.requests.waits_for(0):
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
        if callable(self.options.reward):
            result = (result[0], self._own_reward(), *result[2:])
        if self._prints:
            self.render()
        return result

    def _own_reward(self) -> float:
        arrays = {
            "obs": self._observation[None], "masks": self._mask[None], "rewards": self._reward,
            "rewards_both": self._both, "terminated": self._terminated,
            "truncated": self._truncated, "to_move": self._to_move, "acted": self._acted,
        }  # fmt: skip
        return float(self.games.reward_of(arrays)[0])

    def _special(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The rest of a step that is none like all others."""
        if self._rows.requests.waits_for(0):
            try:
                self.games.serve()
            except BaseException:
                self._step = self._broken_off
                raise
        reward, terminated, truncated = self._rows.views.outcome(0)
        if self._rows.views.over(0) and not (terminated or truncated):
            raise ResetNeeded("no episode is running: call reset first")
        observation, info = self._fresh()
        if terminated or truncated:
            info.pop("step", None)
            info.update(self.games.end_info(0))
        return observation, reward, terminated, truncated, info

    def _broken_off(self, action: Any) -> Any:
        """A step while the row still waits for an opponent that raised an exception."""
        self.games.check()

    def _check(self, action: Any) -> None:
        self.games.check()
        if self._rows.views.over(0):
            raise ResetNeeded("no episode is running: call reset first")
        if self._rows.bad_rows(np.array([action], np.int64)):
            if self.phase == "choice":
                raise IllegalActionError(f"card {action - self.first_pick} cannot be picked")
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
        """A copy of the battle's state, with all that is hidden from the learner.

        ``ValueError`` in the choice phase.
        """
        return self._rows.views.state(0)

    def render(self) -> Any:
        """What the learner sees: a text, printed with "human", or uint8 (600, 800, 3)."""
        games = self.games
        return show(self.render_mode, lambda: games.text(0), lambda: games.frame(0))


class BattleEnv(LocmEnv):
    """``locmsim/Battle-v0``: one battle against an opponent."""

    _name = "Battle"


class DraftEnv(LocmEnv):
    """``locmsim/Draft-v0``: one card of three, thirty times (rules 1.2 and 1.0), then battles."""

    _name = "Draft"


class ConstructEnv(LocmEnv):
    """``locmsim/Construct-v0``: thirty of 120 cards, none more than twice (1.5), then battles."""

    _name = "Construct"


class MatchEnv(LocmEnv):
    """``locmsim/Match-v0``: the choice phase, then the battle."""

    _name = "Match"

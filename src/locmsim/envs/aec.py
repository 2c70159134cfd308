"""The battle, or the whole match, as an agent-environment cycle of PettingZoo.

>>> from locmsim.envs import aec
>>> env = aec.env(rules="1.5")
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     if termination or truncation:
...         env.step(None)
...     else:
...         env.step(env.action_space(agent).sample(observation["action_mask"]))
>>> env.agents
[]
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Space
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv, aec_registry, register
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from locmsim._core import State
from locmsim.envs.games import HIDDEN_SIZE, Games, Options, options_of, seed_bits, spaces_of
from locmsim.envs.players import CALLER
from locmsim.envs.rendering import (
    RENDER_MODES,
    check_render_mode,
    show,
)
from locmsim.game.layouts import Layout

__all__ = ["BattleAEC", "MatchAEC", "env", "raw_env"]

_AGENTS = ["player_0", "player_1"]


def _of_both(options: dict[str, Any]) -> Options:
    """Options by which the caller plays both seats."""
    settings = {
        name: value
        for name, value in options.items()
        if name not in ("opponent", "seat", "players")
    }
    return options_of({**settings, "opponent": CALLER})


class BattleAEC(AECEnv[str, Any, Any]):  # type: ignore[misc]
    """One battle of two agents, ``player_0`` and ``player_1``.

    Parameters
    ----------
    render_mode : "ansi", "human", "rgb_array" (extra ``png``) or None
    **options
        See `locmsim.envs.Options`; `opponent`, `seat` and `players` do not matter.

    Notes
    -----
    `observe` gives any agent's view at any time; only PASS is legal for the one that is not to
    move. Rewards come at the end, to both; shaping is paid when an agent is to move again. An
    illegal action loses. `state` is what both agents see, one after the other. With ``privileged``
    observations have a ``state`` too, as those of `BattleEnv`.
    """

    metadata = {  # noqa: RUF012
        "name": "locmsim/battle_v0",
        "render_modes": RENDER_MODES,
        "render_fps": 2,
        "is_parallelizable": False,
    }

    #: "battle" or "match".
    _episode = "battle"

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        self.render_mode = check_render_mode(render_mode)
        self.options = _of_both({**options, "episode": self._episode})
        if self.options.illegal == "raise":
            raise ValueError("illegal: expected lose or pass, got 'raise'")
        self.games = Games(1, self.options)
        self._rows = self.games.rows
        observations, actions = spaces_of(self.options)
        self.possible_agents = list(_AGENTS)
        self.observation_spaces: dict[str, Space[Any]] = dict.fromkeys(_AGENTS, observations)
        self.action_spaces: dict[str, Space[Any]] = dict.fromkeys(_AGENTS, actions)
        box = observations["observation"] if isinstance(observations, Dict) else observations
        assert isinstance(box, Box)
        self.state_space = Box(
            np.concatenate([box.low] * 2),
            np.concatenate([box.high] * 2),
            (2 * box.shape[0],),
            box.dtype.type,
        )
        self._both = np.zeros((1, 2), np.float32)
        self._terminated = np.zeros(1, np.bool_)
        self._truncated = np.zeros(1, np.bool_)
        self._bind()
        self._random: np.random.Generator | None = None

    def _bind(self) -> None:
        self._rows.bind(
            terminated=self._terminated, truncated=self._truncated, rewards_both=self._both
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    @property
    def layout(self) -> Layout:
        """What the numbers of an observation mean."""
        return self.games.layout

    @property
    def first_pick(self) -> int:
        """The number of the first action that picks a card."""
        return self._rows.battle_actions

    def observation_space(self, agent: str) -> Space[Any]:
        """The same for both agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """The same for both agents."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a battle; with a `seed` everything random from here on follows from it.

        `options` are those of `Games.begin`.
        """
        start: Any = None
        if seed is not None or self._random is None:
            self._random = seeding.np_random(seed)[0]
            start = seed_bits(self._random)
            if self._episode == "match":
                start = self._random
        self._terminated[0] = self._truncated[0] = False
        self.games.begin(0, start, options)
        self._open(_AGENTS[self._rows.views.mover(0)])

    def _open(self, first: str) -> None:
        """An episode in which `first` is to act."""
        self.agents = list(_AGENTS)
        self.rewards = dict.fromkeys(_AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(_AGENTS, 0.0)
        self.terminations = dict.fromkeys(_AGENTS, False)
        self.truncations = dict.fromkeys(_AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in _AGENTS}
        self.agent_selection = first
        self._masks_to_infos()

    def observe(self, agent: str) -> Any:
        """What an agent sees now, whoever is to move."""
        player = _AGENTS.index(agent)
        if self.options.mask == "info":
            return self._view(player)
        observation = {"observation": self._view(player), "action_mask": self._mask(player)}
        if self.options.privileged:
            observation["state"] = self._hidden(player)
        return observation

    def _view(self, player: int) -> NDArray[Any]:
        shape, dtype = self.games.observation_shape
        observation = np.empty(shape, dtype)
        self._rows.views.observe(0, player, observation)
        return observation

    def _mask(self, player: int) -> NDArray[np.int8]:
        mask = np.empty(self._rows.n_actions, np.int8)
        self._rows.views.observe(0, player, None, mask)
        return mask

    def _hidden(self, player: int) -> NDArray[np.int8]:
        hidden = np.empty(HIDDEN_SIZE, np.int8)
        self._rows.views.observe(0, player, None, hidden=hidden)
        return hidden

    def step(self, action: Any) -> None:
        """Take the action of the selected agent; None removes an agent after the end."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._act(action)
        self._masks_to_infos()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _act(self, action: Any) -> None:
        rows = self._rows
        rows.step_row(0, int(action))
        for player, name in enumerate(_AGENTS):
            self.rewards[name] = float(self._both[0, player])
        if self._terminated[0] or self._truncated[0]:
            result = self.games.end_info(0)
            for name in _AGENTS:
                self.terminations[name] = bool(self._terminated[0])
                self.truncations[name] = bool(self._truncated[0])
                self.infos[name] = dict(result)
        else:
            self.agent_selection = _AGENTS[rows.views.mover(0)]

    def _masks_to_infos(self) -> None:
        if self.options.mask == "info":
            for player, name in enumerate(_AGENTS):
                self.infos[name]["action_mask"] = self._mask(player)

    def state(self) -> NDArray[Any]:
        """What both agents see: for critics that may know everything."""
        return np.concatenate([self._view(0), self._view(1)])

    @property
    def battle(self) -> State:
        """A copy of the state of the battle, with all that is hidden.

        ``ValueError`` in the choice phase.
        """
        return self._rows.views.state(0)

    def render(self) -> Any:
        """What the player to move sees: a text, printed with "human", or uint8 (600, 800, 3)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render was called without a render mode")
        return show(self.render_mode, lambda: self.games.text(0), lambda: self.games.frame(0))

    def close(self) -> None:
        """Nothing is to be closed."""


class MatchAEC(BattleAEC):
    """A whole match of two agents: thirty picks of each in turn, then the battle.

    Parameters
    ----------
    render_mode : "ansi", "human", "rgb_array" (extra ``png``) or None
    **options
        As of `BattleAEC`, `layout` being "entities"; `decks` does not matter.

    Notes
    -----
    Observations and actions are those of `MatchEnv`. Neither agent sees what the other one picks.
    `reset` takes the option ``match``, the referee's parameters.
    """

    metadata = {**BattleAEC.metadata, "name": "locmsim/match_v0"}  # noqa: RUF012
    _episode = "match"


def raw_env(phase: str = "battle", **options: Any) -> BattleAEC:
    """The environment without wrappers: of the "battle", or of a whole "match"."""
    if phase not in ("battle", "match"):
        raise ValueError(f"phase: expected battle or match, got {phase!r}")
    return MatchAEC(**options) if phase == "match" else BattleAEC(**options)


def env(phase: str = "battle", **options: Any) -> Any:
    """The environment with a check that methods are called in order.

    Illegal actions are dealt with inside, so that no other wrapper is needed.
    """
    return OrderEnforcingWrapper(raw_env(phase, **options))


def _match_env(**options: Any) -> Any:
    return env("match", **options)


# ``pettingzoo.make("aec", "locmsim/battle_v0")``, once this module is imported.
for _name, _entry in (("battle", "env"), ("match", "_match_env")):
    if f"locmsim/{_name}_v0" not in aec_registry:
        register("aec", f"locmsim/{_name}_v0", f"locmsim.envs.aec:{_entry}")

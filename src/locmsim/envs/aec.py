"""The battle as an agent-environment cycle of PettingZoo.

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
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv, aec_registry, register
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from locmsim._core import State
from locmsim.envs.battle import RENDER_MODES, battle_spaces, seed_bits
from locmsim.envs.games import Games, Options
from locmsim.policy.layouts import Layout

__all__ = ["BattleAEC", "env", "raw_env"]

_AGENTS = ["player_0", "player_1"]


class BattleAEC(AECEnv[str, Any, Any]):  # type: ignore[misc]
    """One battle of two agents, ``player_0`` and ``player_1``.

    Parameters
    ----------
    render_mode : "ansi", "human" or None
    **options
        See `locmsim.envs.Options`; `opponent` and `seat` do not matter.

    Notes
    -----
    `observe` gives any agent's view at any time; only PASS is legal for the one that is not to
    move. Rewards come at the end, to both; shaping is paid when an agent is to move again. An
    illegal action loses. `state` is what both agents see, one after the other.
    """

    metadata = {  # noqa: RUF012
        "name": "locmsim/battle_v0",
        "render_modes": RENDER_MODES,
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode: expected ansi, human or None, got {render_mode!r}")
        self.render_mode = render_mode
        self.options = Options(**options)
        if self.options.illegal == "raise":
            raise ValueError("illegal: expected lose or pass, got 'raise'")
        if self.options.privileged:
            raise ValueError("privileged: not here, but `state` gives both views")
        self.games = Games(1, self.options, both=True)
        self._rows = self.games.rows
        spaces = battle_spaces(self.options, self._rows.n_actions)
        self.possible_agents = list(_AGENTS)
        self.observation_spaces = dict.fromkeys(_AGENTS, spaces[0])
        self.action_spaces = dict.fromkeys(_AGENTS, spaces[1])
        layout = self.layout
        self.state_space = gymnasium.spaces.Box(
            np.concatenate([layout.low] * 2),
            np.concatenate([layout.high] * 2),
            (2 * layout.shape[0],),
            layout.dtype.type,
        )
        self._both = np.zeros((1, 2), np.float32)
        self._terminated = np.zeros(1, np.bool_)
        self._truncated = np.zeros(1, np.bool_)
        self._acted = np.zeros(1, np.int8)
        self._bind()
        self._random: np.random.Generator | None = None

    def _bind(self) -> None:
        self._rows.bind(
            None, None, None, self._terminated, self._truncated, None, self._acted, self._both
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    @property
    def layout(self) -> Layout:
        """What the numbers of an observation mean."""
        return self.games.layout

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same for both agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same for both agents."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a battle; with a `seed` all chance from here on follows from it.

        `options` are those of `Games.begin`.
        """
        bits = None
        if seed is not None or self._random is None:
            self._random = seeding.np_random(seed)[0]
            bits = seed_bits(self._random)
        self._terminated[0] = self._truncated[0] = False
        self.games.begin(0, bits, options)
        self.agents = list(_AGENTS)
        self.rewards = dict.fromkeys(_AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(_AGENTS, 0.0)
        self.terminations = dict.fromkeys(_AGENTS, False)
        self.truncations = dict.fromkeys(_AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in _AGENTS}
        self.agent_selection = _AGENTS[self._rows.mover(0)]
        if self.options.mask == "info":
            self._masks_to_infos()

    def observe(self, agent: str) -> Any:
        """What an agent sees now, whoever is to move."""
        rows, layout = self._rows, self.layout
        observation = np.empty(layout.shape, layout.dtype)
        mask = np.empty(rows.n_actions, np.int8)
        rows.observe(0, _AGENTS.index(agent), observation, mask)
        if self.options.mask == "info":
            return observation
        if self._terminated[0] or self._truncated[0]:  # also where an illegal action ended it
            mask[:] = 0
            mask[0] = 1
        return {"observation": observation, "action_mask": mask}

    def step(self, action: Any) -> None:
        """Take the action of the selected agent; None removes an agent after the end."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        rows = self._rows
        self._cumulative_rewards[agent] = 0.0
        rows.step_row(0, action)
        for player, name in enumerate(_AGENTS):
            self.rewards[name] = float(self._both[0, player])
        if self._terminated[0] or self._truncated[0]:
            result = self.games.end_info(0)
            for name in _AGENTS:
                self.terminations[name] = bool(self._terminated[0])
                self.truncations[name] = bool(self._truncated[0])
                self.infos[name] = dict(result)
        else:
            self.agent_selection = _AGENTS[rows.mover(0)]
        if self.options.mask == "info":
            self._masks_to_infos()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _masks_to_infos(self) -> None:
        for player, name in enumerate(_AGENTS):
            mask = np.empty(self._rows.n_actions, np.int8)
            self._rows.observe(0, player, None, mask)
            self.infos[name]["action_mask"] = mask

    def state(self) -> NDArray[Any]:
        """What both agents see: for critics that may know everything."""
        out = np.empty((2, *self.layout.shape), self.layout.dtype)
        for player in (0, 1):
            self._rows.observe(0, player, out[player])
        return out.reshape(-1)

    @property
    def battle(self) -> State:
        """A copy of the state of the battle, with all that is hidden."""
        return self._rows.state(0)

    def render(self) -> str | None:
        """The board as text; with "human" it is printed."""
        if self.render_mode is None:
            gymnasium.logger.warn("render was called without a render mode")
            return None
        text = str(self.battle)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing is to be closed."""


def raw_env(**options: Any) -> BattleAEC:
    """The environment without wrappers."""
    return BattleAEC(**options)


def env(**options: Any) -> Any:
    """The environment with a check that methods are called in order.

    Illegal actions are dealt with inside, so that no other wrapper is needed.
    """
    return OrderEnforcingWrapper(BattleAEC(**options))


# ``pettingzoo.make("aec", "locmsim/battle_v0")``, once this module is imported.
if "locmsim/battle_v0" not in aec_registry:
    register("aec", "locmsim/battle_v0", "locmsim.envs.aec:env")

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

from typing import Annotated, Any, Unpack

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Dict, Space
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv, aec_registry, register
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from locmsim._core import State
from locmsim.envs.base import RowsEnv
from locmsim.envs.options import (
    HIDDEN_SIZE,
    Options,
    RenderMode,
    SharedOptionValues,
    spaces_of,
)
from locmsim.envs.pool import CALLER
from locmsim.envs.resets import drawn_seed, known, one_seed
from locmsim.options.declarations import Option, check_values, documented

__all__ = ["LocmAEC", "env", "raw_env"]

_AGENTS = ["player_0", "player_1"]
#: Options that say who plays where: here the caller plays both seats.
_WHO = "opponent", "seat", "players"
#: Those that do not apply: `phase` is in the place of "episode", and nobody else plays battles.
_WITHOUT = (*_WHO, "episode", "battlers", "battles", "deck_values")
_Phase = Annotated[
    str,
    Option(
        "what an episode is: a battle, or thirty picks of each agent in turn and then the battle",
        choices=("battle", "match"),
    ),
]

#: An option that means nothing: PettingZoo's own test of environments passes it.
_IGNORED = ("options",)


@documented(Options, without=_WITHOUT)
class LocmAEC(RowsEnv, AECEnv[str, Any, Any]):  # type: ignore[misc]
    """A battle, or a whole match, of two agents, ``player_0`` and ``player_1``.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        For an option that is unknown or has a value that cannot be used.

    Notes
    -----
    `observe` gives any agent's view at any time. Only PASS is legal for the one that is not to
    move. Rewards come at the end, to both; shaping is paid when an agent is to move again. An
    illegal action loses, or counts as PASS. `state` is what both agents see, one after the other.
    With ``privileged`` observations have a ``state`` too, as those of `LocmEnv`. Neither
    agent sees what the other one picks.
    """

    metadata = {**RowsEnv.metadata, "is_parallelizable": False}  # noqa: RUF012

    def __init__(
        self,
        phase: _Phase = "battle",
        *,
        render_mode: RenderMode = None,
        **options: Unpack[SharedOptionValues],
    ) -> None:
        super().__init__()
        check_values(LocmAEC, phase=phase)
        for name in options:
            if name in _WHO:
                raise ValueError(f"{name}: the caller plays both agents of this environment")
            if name == "episode":
                raise ValueError("episode: this environment has phase instead")
        self.metadata = {**self.metadata, "name": f"locmsim/{phase}_v0"}
        self._play(1, {**options, "episode": phase, "opponent": CALLER}, render_mode)
        if self.options.illegal == "raise":
            raise ValueError("illegal: expected lose or pass, got 'raise'")
        observations, actions = spaces_of(self.options)
        self.possible_agents = list(_AGENTS)
        self.observation_spaces: dict[str, Space[Any]] = dict.fromkeys(_AGENTS, observations)
        self.action_spaces: dict[str, Space[Any]] = dict.fromkeys(_AGENTS, actions)
        box = observations["observation"] if isinstance(observations, Dict) else observations
        assert isinstance(box, Box)
        low, high = (np.concatenate([bound] * 2) for bound in (box.low, box.high))
        self.state_space = Box(low, high, low.shape, box.dtype.type)
        self._started = False
        self._shape = self.games.observation_shape
        self.games.bind()

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the observation space, the same for both agents.

        Parameters
        ----------
        agent : str
        """
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the action space, the same for both agents.

        Parameters
        ----------
        agent : str
        """
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Everything random from here on follows from it.
        options : dict, optional
            ``match``, ``cards``, ``decks`` and ``state``: see `Games.begin`.

        Raises
        ------
        ValueError
            For an option that is unknown or cannot be used. The episode before goes on.
        """
        for name in ("seat", "player"):
            if (options or {}).get(name) is not None:
                raise ValueError(f"{name}: the caller plays both agents of this environment")
        start = None
        if seed is not None or not self._started:
            start = drawn_seed(seeding.np_random(one_seed(seed))[0])
        self.games.begin(0, start, known(options, _IGNORED))
        self._started = True
        self.agents = list(_AGENTS)
        self.agent_selection = _AGENTS[self.games.rows.views.mover(0)]
        self.rewards = dict.fromkeys(_AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(_AGENTS, 0.0)
        self.terminations = dict.fromkeys(_AGENTS, False)
        self.truncations = dict.fromkeys(_AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in _AGENTS}
        self._masks_to_infos()

    def observe(self, agent: str) -> Any:
        """Return the present observation of an agent, whoever is to move.

        Parameters
        ----------
        agent : str

        Returns
        -------
        array, or dict of arrays
        """
        if self.options.mask == "info":
            return self._view(agent)
        seen = np.empty(*self._shape)
        mask = np.empty(self.games.rows.n_actions, np.int8)
        hidden = np.empty(HIDDEN_SIZE, np.int8) if self.options.privileged else None
        self.games.rows.views.observe(0, _AGENTS.index(agent), seen, mask, hidden=hidden)
        if hidden is not None:
            return {"observation": seen, "action_mask": mask, "state": hidden}
        return {"observation": seen, "action_mask": mask}

    def _view(self, agent: str) -> NDArray[Any]:
        seen = np.empty(*self._shape)
        self.games.rows.views.observe(0, _AGENTS.index(agent), seen)
        return seen

    def step(self, action: Any) -> None:
        """Take the action of the selected agent; None removes an agent after the end.

        Parameters
        ----------
        action : int or None

        Raises
        ------
        ResetNeeded
            Before the first `reset`.
        TypeError
            For an action other than an integer.
        """
        if not self._started:
            raise ResetNeeded("no episode has begun: call reset first")
        agent, games = self.agent_selection, self.games
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        games.rows.step_row(0, action)
        self._cumulative_rewards[agent] = 0.0
        ((first, second),) = games.arrays["rewards_both"].tolist()
        self.rewards = {"player_0": first, "player_1": second}
        if games.rows.views.over(0):
            _, terminated, truncated = games.rows.views.outcome(0)
            self.terminations = dict.fromkeys(_AGENTS, terminated)
            self.truncations = dict.fromkeys(_AGENTS, truncated)
            self.infos = {name: games.results.info(0) for name in _AGENTS}
        else:
            self.agent_selection = _AGENTS[games.rows.views.mover(0)]
        self._masks_to_infos()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _masks_to_infos(self) -> None:
        if self.options.mask == "info":
            for player, agent in enumerate(_AGENTS):
                mask = self.infos[agent]["action_mask"] = np.empty(
                    self.games.rows.n_actions, np.int8
                )
                self.games.rows.views.observe(0, player, None, mask)

    def state(self) -> NDArray[Any]:
        """Return the observations of both agents, for critics with full information."""
        return np.concatenate([self._view(agent) for agent in _AGENTS])

    @property
    def battle(self) -> State:
        """A copy of the state of the battle, with all that is hidden.

        ``ValueError`` in the choice phase.
        """
        return self.games.rows.views.state(0)

    def render(self) -> Any:
        """Show the view of the player to move: text ("human": printed) or uint8 (600, 800, 3)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render was called without a render mode")
        return self.games.shown(0, self.render_mode)

    def close(self) -> None:
        """Nothing is to be closed."""


#: The environment without wrappers, by PettingZoo's name.
raw_env = LocmAEC


@documented(Options, without=_WITHOUT)
def env(
    phase: _Phase = "battle",
    *,
    render_mode: RenderMode = None,
    **options: Unpack[SharedOptionValues],
) -> Any:
    """Create the environment with a check that methods are called in order.

    No other wrapper is needed: the environment deals with illegal actions itself.

    Parameters
    ----------
    options
    """
    return OrderEnforcingWrapper(raw_env(phase, render_mode=render_mode, **options))


def _match_env(**options: Any) -> Any:
    return env("match", **options)


# ``pettingzoo.make("aec", "locmsim/battle_v0")``, once this module is imported.
for _name, _entry in (("battle", "env"), ("match", "_match_env")):
    if f"locmsim/{_name}_v0" not in aec_registry:
        register("aec", f"locmsim/{_name}_v0", f"locmsim.envs.aec:{_entry}")

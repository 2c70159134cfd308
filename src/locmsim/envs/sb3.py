"""The native vector environment as a ``VecEnv`` of Stable-Baselines3."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from locmsim.envs.vector import LocmVectorEnv


class SB3VecEnv(VecEnv):  # type: ignore[misc]
    """A `LocmVectorEnv` for algorithms of Stable-Baselines3 and sb3-contrib.

    Parameters
    ----------
    venv : LocmVectorEnv
        With ``mask="info"``, ``final_obs=True`` and SAME_STEP resets.

    Raises
    ------
    ValueError
        For another kind of vector environment.

    Notes
    -----
    ``env_method("action_masks")``, by which MaskablePPO asks each environment, is answered with the
    rows of one array.
    """

    def __init__(self, venv: LocmVectorEnv) -> None:
        if venv.options.mask != "info" or venv.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise ValueError('venv: expected mask="info" and SAME_STEP resets')
        if not venv.games.shows_final:
            raise ValueError("venv: expected final_obs=True")
        self.venv = venv
        self._seed: int | None = None
        self._actions: NDArray[np.int64] | None = None
        super().__init__(venv.num_envs, venv.single_observation_space, venv.single_action_space)
        self.metadata = venv.metadata

    def reset(self) -> Any:
        """Observations of new episodes."""
        observations, _ = self.venv.reset(seed=self._seed)
        self._seed = None
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return observations

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next `reset`."""
        self._seed = seed
        return [None if seed is None else seed + i for i in range(self.num_envs)]

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Observations, rewards, dones, infos."""
        observations, rewards, terminated, truncated, info = self.venv.step(self._actions)
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        known = [name for name in info if f"_{name}" in info]
        for i in np.flatnonzero(dones):
            infos[i] = {name: info[name][i] for name in known if info[f"_{name}"][i]}
            infos[i]["terminal_observation"] = infos[i].pop("final_obs")
            infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
        return observations, rewards, dones, infos

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return a frame per row, which `render` puts side by side."""
        frames: Sequence[NDArray[np.uint8]] = self.venv.render()
        return frames

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        """Call ``action_masks`` for each row, or a method of the environment for all."""
        rows = self._rows(indices)
        if method_name == "action_masks":
            masks = self.venv.action_masks()
            return [masks[i] for i in rows]
        result = getattr(self.venv, method_name)(*args, **kwargs)
        return [result for _ in rows]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the same attribute for all rows."""
        return [getattr(self.venv, attr_name) for _ in self._rows(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the whole environment; ``opponent`` is for the next episodes.

        ``AttributeError`` for one that it does not have or that cannot be changed, ``ValueError``
        for single rows.
        """
        if self._rows(indices) != list(range(self.num_envs)):
            raise ValueError("indices: attributes are those of all rows, expected None")
        if attr_name == "opponent":
            self.venv.set_opponent(value)
        elif hasattr(self.venv, attr_name):
            setattr(self.venv, attr_name, value)
        else:
            raise AttributeError(f"the environment has no attribute {attr_name!r}")

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the rows have an attribute."""
        return attr_name == "action_masks" or hasattr(self.venv, attr_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """False for all rows."""
        return [False for _ in self._rows(indices)]

    def close(self) -> None:
        """End the threads."""
        self.venv.close()

    def _rows(self, indices: int | Iterable[int] | None) -> list[int]:
        return list(self._get_indices(indices))

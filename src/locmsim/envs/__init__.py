"""Learning environments: Gymnasium, vector, PettingZoo, OpenSpiel.

The first three need the extra ``envs``. Importing this module registers the ids:

    >>> import gymnasium as gym
    >>> env = gym.make("locmsim.envs:locmsim/Battle-v0", opponent="random")
    >>> observation, info = env.reset(seed=1)
    >>> observation["observation"].shape, observation["action_mask"].shape
    ((440,), (145,))
"""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)

#: Name of an id -> the options that it stands for.
_IDS = {
    "Battle": {"episode": "battle"},
    "Construct": {"episode": "choice"},
    "Draft": {"episode": "choice", "rules": "1.2"},
    "Match": {"episode": "match"},
}


def _register() -> None:
    """Make the ids known to Gymnasium, if it is installed: the OpenSpiel game needs none of it."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:
        return
    if "locmsim/Battle-v0" in registry:
        return
    for name, options in _IDS.items():
        register(
            f"locmsim/{name}-v0",
            entry_point="locmsim.envs.single:LocmEnv",
            vector_entry_point="locmsim.envs.vector:LocmVectorEnv",
            kwargs=options,
        )


_register()

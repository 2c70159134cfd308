"""Learning environments: Gymnasium, vector, PettingZoo, OpenSpiel.

The first three need the extra ``envs``. Importing this module registers the ids:

    >>> import gymnasium as gym
    >>> env = gym.make("locmsim.envs:locmsim/Battle-v0", opponent="random")
    >>> observation, info = env.reset(seed=1)
    >>> observation["observation"].shape, observation["action_mask"].shape
    ((440,), (145,))
"""

from typing import TYPE_CHECKING

from locmsim._lazy import imported_later

if TYPE_CHECKING:
    from locmsim.envs._gae import gae as gae
    from locmsim.envs.games import Games as Games
    from locmsim.envs.options import Options as Options
    from locmsim.envs.players import PlayerResults as PlayerResults
    from locmsim.envs.players import Players as Players
    from locmsim.envs.players import Pool as Pool
    from locmsim.envs.results import EpisodeMatch as EpisodeMatch
    from locmsim.envs.single import LocmEnv as LocmEnv
    from locmsim.envs.vector import LocmVectorEnv as LocmVectorEnv


__all__ = [
    "EpisodeMatch",
    "Games",
    "LocmEnv",
    "LocmVectorEnv",
    "Options",
    "PlayerResults",
    "Players",
    "Pool",
    "gae",
]

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


# Names that are imported when asked for, and their modules.
__getattr__, __dir__ = imported_later(
    __name__,
    {
        "EpisodeMatch": "results",
        "Games": "games",
        "LocmEnv": "single",
        "LocmVectorEnv": "vector",
        "Options": "options",
        "PlayerResults": "players",
        "Players": "players",
        "Pool": "players",
        "gae": "_gae",
    },
)

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
    from locmsim.envs.base import LocmEnvBase as LocmEnvBase
    from locmsim.envs.games import Games as Games
    from locmsim.envs.options import Options as Options
    from locmsim.envs.players import PlayerResults as PlayerResults
    from locmsim.envs.players import Players as Players
    from locmsim.envs.players import Pool as Pool
    from locmsim.envs.results import EpisodeMatch as EpisodeMatch
    from locmsim.envs.single import BattleEnv as BattleEnv
    from locmsim.envs.single import ConstructEnv as ConstructEnv
    from locmsim.envs.single import DraftEnv as DraftEnv
    from locmsim.envs.single import LocmEnv as LocmEnv
    from locmsim.envs.single import MatchEnv as MatchEnv
    from locmsim.envs.vector import ConstructVectorEnv as ConstructVectorEnv
    from locmsim.envs.vector import DraftVectorEnv as DraftVectorEnv
    from locmsim.envs.vector import LocmVectorEnv as LocmVectorEnv
    from locmsim.envs.vector import MatchVectorEnv as MatchVectorEnv


__all__ = [
    "BattleEnv",
    "ConstructEnv",
    "ConstructVectorEnv",
    "DraftEnv",
    "DraftVectorEnv",
    "EpisodeMatch",
    "Games",
    "LocmEnv",
    "LocmEnvBase",
    "LocmVectorEnv",
    "MatchEnv",
    "MatchVectorEnv",
    "Options",
    "PlayerResults",
    "Players",
    "Pool",
    "gae",
]


def _register() -> None:
    """Make the ids known to Gymnasium, if it is installed: the OpenSpiel game needs none of it."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:
        return
    if "locmsim/Battle-v0" in registry:
        return
    for name in ("Battle", "Construct", "Draft", "Match"):
        vector = "LocmVectorEnv" if name == "Battle" else f"{name}VectorEnv"
        register(
            f"locmsim/{name}-v0",
            entry_point=f"locmsim.envs.single:{name}Env",
            vector_entry_point=f"locmsim.envs.vector:{vector}",
        )


_register()


# Names that are imported when asked for, and their modules.
__getattr__, __dir__ = imported_later(
    __name__,
    {
        "BattleEnv": "single",
        "ConstructEnv": "single",
        "ConstructVectorEnv": "vector",
        "DraftEnv": "single",
        "DraftVectorEnv": "vector",
        "EpisodeMatch": "results",
        "Games": "games",
        "LocmEnv": "single",
        "LocmEnvBase": "base",
        "LocmVectorEnv": "vector",
        "MatchEnv": "single",
        "MatchVectorEnv": "vector",
        "Options": "options",
        "PlayerResults": "players",
        "Players": "players",
        "Pool": "players",
        "gae": "_gae",
    },
)

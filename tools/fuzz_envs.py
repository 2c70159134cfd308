"""Run learning environments with legal and illegal actions, for builds with sanitizers.

    python tools/fuzz_envs.py --seconds 60

Each round creates an environment with random options and steps it and copies of it for a while.
Observations, masks and rewards must stay within their spaces. A finding names its round, which
``--seed ROUND`` repeats. docs/development.md explains how to build with sanitizers.
"""

import copy
import pickle
import random
from collections import Counter
from typing import Any

import numpy as np
from fuzzing import run_rounds

from locmsim.envs import LocmVectorEnv, Pool


class RandomPolicy:
    """A policy in Python that plays random legal actions by the seeds of the rows."""

    def act_batch(self, observations: Any, masks: Any, seeds: Any) -> Any:
        """Return an action for each row."""
        draws = [int(seed) % int(mask.sum()) for seed, mask in zip(seeds, masks, strict=True)]
        return np.array(
            [np.flatnonzero(mask)[draw] for draw, mask in zip(draws, masks, strict=True)]
        )


class Recurrent(RandomPolicy):
    """The same policy, with a state array that counts the requests of each row in an episode."""

    state_shape = (1,)

    def act_batch(self, observations: Any, masks: Any, seeds: Any, state: Any = None) -> Any:
        """Return an action for each row."""
        assert (state >= 0).all()
        state += 1
        return super().act_batch(observations, masks, seeds)


def last_action(observation: Any, mask: Any) -> int:
    """Return the last legal action: a function as a player."""
    return int(np.flatnonzero(mask)[-1])


#: Compiled agents and searches, and every kind of player in Python.
OPPONENTS = (
    "pass", "random", "max-attack", "osl", "greedy", "beam:nodes=12", "beam:nodes=40",
    "rule", "mcts:iterations=1,time_ms=0", RandomPolicy(), Recurrent(), last_action,
)  # fmt: skip
BATTLERS = ("random", "osl", "greedy", "beam:nodes=12", "rule")
MODES = ("SameStep", "NextStep", "Disabled")
SHAPINGS: tuple[dict[str, float], ...] = ({}, {"health": 0.1}, {"coac": 1.0, "board-presence": 0.1})
#: Counts of environments and steps.
done: Counter[str] = Counter()


def some_options(rng: random.Random) -> dict[str, Any]:
    """Return random options of a vector environment."""
    rules = rng.choice(("1.5", "1.2", "1.0"))
    episode = rng.choice(("battle", "battle", "choice", "match"))
    layouts = ["entities", "entities-f32"] + (["gym-locm"] if rules != "1.0" else [])
    options: dict[str, Any] = {
        "rules": rules,
        "episode": episode,
        "battlers": (rng.choice(BATTLERS), rng.choice(BATTLERS)),
        "battles": rng.choice((1, 1, 3)),
        "layout": "entities" if episode == "match" else rng.choice(layouts),
        "seat": rng.choice(("random", "first", "second", "alternate")),
        "illegal": rng.choice(("lose", "pass")),
        "max_actions": rng.choice((1, 7, 60, 1400, 1400)),
        "shaping": rng.choice(SHAPINGS),
        "gamma": rng.choice((0.9, 1.0)),
        "privileged": rng.random() < 0.3,
        "autoreset_mode": rng.choice(MODES),
        "threads": rng.choice((1, 1, 2, 3)),
        "copy": rng.random() < 0.5,
        "final_obs": rng.random() < 0.5,
    }
    if not options["shaping"]:
        del options["gamma"]
    if episode != "choice":
        del options["battlers"], options["battles"]
    if rules == "1.5":
        options["card_sets"] = rng.choice((1, 3, (7, 9), None))
        if options["card_sets"] is not None:  # building decks for new cards each time is slow
            options["refresh"] = rng.choice((0, 1, 3))
            options["decks"] = rng.choice(("random", "random", "area", ("random", "area")))
    else:
        options["decks"] = rng.choice(("random", "random", "default", ("random", "default")))
    return options


def pool_of(rng: random.Random, *others: Any) -> Pool:
    """Return a single player half of the time, else a pool of several."""
    players: dict[str, Any] = {"one": rng.choice(OPPONENTS)}
    players.update({f"other-{i}": other for i, other in enumerate(others)})
    return Pool(dict.fromkeys(players, 1 / len(players)), players)


def play_round(rng: random.Random) -> None:
    """Create an environment, and step it and copies of it."""
    options = some_options(rng)
    n = 1 if options.get("card_sets", 1) is None else rng.choice((1, 2, 5, 17))
    env: Any
    opponent: Any = rng.choice(OPPONENTS)
    if rng.random() < 0.3:
        opponent = "caller" if rng.random() < 0.5 else pool_of(rng, "caller")
        options["shaping"] = {}  # works with `rewards_both` only
        options.pop("gamma", None)
    env = LocmVectorEnv(n, opponent=opponent, **options)
    done["environments"] += 1
    env.reset(seed=rng.getrandbits(31))
    for _ in range(rng.choice((5, 40, 200)) // (1 if n < 5 else 5)):
        step(env, rng)
        if rng.random() < 0.02:
            env = changed(env, rng)
    env.close()


def step(env: Any, rng: random.Random) -> None:
    """Step with legal actions and a few illegal ones, and check the results."""
    actions = env.sample(rng.getrandbits(63))
    assert env.action_masks()[np.arange(env.num_envs), actions].all()
    for i in range(env.num_envs):
        if rng.random() < 0.05:
            actions[i] = rng.choice((rng.randrange(280), -1, 2**63 - 1, -(2**63), 2**32))
    if rng.random() < 0.2:
        arrays = {"obs": env.games.arrays["obs"].copy(), "masks": env.games.arrays["masks"].copy()}
        ends = {name: np.zeros(env.num_envs, np.bool_) for name in ("terminated", "truncated")}
        rewards = np.zeros((env.num_envs, 2), np.float32)
        env.step_into(actions, rewards_both=rewards, **arrays, **ends)
        seen = {"observation": arrays["obs"], "action_mask": arrays["masks"]}
        terminated, truncated = ends["terminated"], ends["truncated"]
    else:
        seen, rewards, terminated, truncated, _ = env.step(actions)
    done["steps"] += env.num_envs
    space = env.single_observation_space["observation"]
    assert (seen["observation"] >= space.low).all()
    assert (seen["observation"] <= space.high).all()
    assert seen["action_mask"].any(axis=1).all()
    assert (env.action_masks() == seen["action_mask"]).all()
    assert np.isfinite(rewards).all()
    ended = terminated | truncated
    if ended.any() and env.autoreset_mode.value == "Disabled":
        seen, _ = env.reset(options={"reset_mask": ended})
        assert (env.action_masks() == seen["action_mask"]).all()


def changed(env: Any, rng: random.Random) -> Any:
    """Replace the environment by a copy, change its opponent or restart its episodes."""
    what = rng.choice(("copy", "pickle", "opponent", "reset"))
    if what == "opponent":
        env.set_opponent(pool_of(rng, "osl"))
    elif what == "reset":
        seats = [rng.choice((0, 1)) for _ in range(env.num_envs)]
        env.reset(options={"seat": seats, "match": {"seed": rng.getrandbits(62)}})
    elif what in ("copy", "pickle"):
        other = copy.deepcopy(env) if what == "copy" else pickle.loads(pickle.dumps(env))
        env.close()
        env = other
    done[what] += 1
    return env


def main() -> None:
    run_rounds(__doc__, lambda number: play_round(random.Random(number)), done)


if __name__ == "__main__":
    main()

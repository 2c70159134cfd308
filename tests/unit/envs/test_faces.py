"""All faces of the same rows do the same: vectors, single ones, cycles, and copies."""

import gymnasium as gym
import numpy as np
import pytest
from amounts import FEW
from env_checks import EPISODES, Copied, Cycles, Into, Singles, Vector, check_faces
from gymnasium.vector import AutoresetMode
from helpers import draft_rows, each_rules_slowly, match_rows

from locmsim.envs import LocmVectorEnv
from locmsim.envs.resets import drawn_seed

BATTLERS = {"episode": "choice", "battlers": ("random", "osl"), "battles": 2}
#: Options of each kind of episode.
KINDS = {
    "battle": {"opponent": "random", "shaping": {"health": 0.1}},
    "battle, privileged": {"opponent": "osl", "privileged": True},
    "battle, masks in infos": {"opponent": "random", "mask": "info"},
    "choice": {**BATTLERS, "privileged": True},
    "match": {"episode": "match", "opponent": "random", "shaping": {"health": 0.1}},
    "battle, both seats": {"opponent": "caller"},
    "battle, both seats, cut": {"opponent": "caller", "max_actions": 7},
    "match, both seats": {"episode": "match", "opponent": "caller", "privileged": True},
    "choice, both seats": {**BATTLERS, "opponent": "caller"},
}


def faces_of(n, mode, **options):
    """Return all faces of the rows that these options make."""
    yield Vector(n, mode, **options)
    yield Vector(n, mode, threads=3, copy=False, **options)
    yield Copied(n, mode, threads=2, **options)
    yield Singles(n, mode, **options)
    if options.get("mask") != "info":
        yield Into(n, mode, threads=2, **options)
    both = options.get("opponent") == "caller"
    if both and mode is AutoresetMode.SAME_STEP and options.get("episode") != "choice":
        yield Cycles(n, mode, **options)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("kind", KINDS)
@each_rules_slowly
def test_faces_do_the_same(rules, kind, mode):
    """A row is what a single environment with its seed is, whatever it is asked through."""
    n = 5 if kind.startswith("battle") else 3
    faces = [*faces_of(n, mode, rules=rules, card_sets=4, **KINDS[kind])]
    steps, episodes = (100, 1) if kind.startswith("match") else (64, 3)
    assert check_faces(faces, steps, mode=mode) >= episodes


def test_many_rows_are_shared_by_threads():
    mode = AutoresetMode.SAME_STEP
    check_faces([Vector(300, mode, opponent="random", threads=n, **FEW) for n in (1, 2, 5)], 12)


@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize("mask", ["obs", "info"])
def test_what_gymnasium_makes(episode, mask):
    """`make_vec` makes the native rows, and single environments of its own if it is asked to."""
    name, options = EPISODES[episode]
    options = {"mask": mask, **options, **FEW}
    venv = gym.make_vec(name, num_envs=2, **options)
    assert isinstance(venv.unwrapped, LocmVectorEnv)
    assert venv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert venv.action_space.shape == (2,)
    seen, info = venv.reset(seed=3)
    assert seen in venv.observation_space
    masks = info["action_mask"] if mask == "info" else seen["action_mask"]
    np.testing.assert_array_equal(masks, venv.unwrapped.action_masks())
    np.testing.assert_equal(venv.reset(seed=[3, 4])[0], seen)
    seen, *_ = venv.step(venv.unwrapped.sample(1))
    assert seen in venv.observation_space
    sync = gym.make_vec(name, num_envs=2, vectorization_mode="sync", **options)
    venv = gym.make_vec(name, num_envs=2, autoreset_mode=AutoresetMode.NEXT_STEP, **options)
    np.testing.assert_equal(sync.reset(seed=2)[0], venv.reset(seed=2)[0])
    for number in range(60):
        actions = venv.unwrapped.sample(number)
        np.testing.assert_equal(sync.step(actions)[:4], venv.step(actions)[:4])
    sync.close()


@pytest.mark.parametrize("kind", [LocmVectorEnv, draft_rows, match_rows])
def test_first_seeds_are_drawn_from_the_chance_of_all_rows(kind):
    """A first reset without a seed draws the rows' seeds from the environment's generator."""
    venv, other = (kind(3, rules="1.2", **FEW) for _ in range(2))
    venv.np_random = np.random.default_rng(8)
    rng = np.random.default_rng(8)
    expected = other.reset(seed=[drawn_seed(rng) for _ in range(3)])[0]
    np.testing.assert_equal(venv.reset()[0], expected)
    # Further resets draw from each row's own generator.
    np.testing.assert_equal(venv.reset()[0], other.reset()[0])


@pytest.mark.slow
@pytest.mark.parametrize("battlers", [("osl", "rule"), ("beam:nodes=12", "osl")])
@pytest.mark.parametrize("rules", ["1.2", "1.5"])
def test_the_episode_after_battles_that_wait_for_python(rules, battlers):
    """The next episode shows its own cards, whoever played the battles before it."""
    options = {"rules": rules, "episode": "choice", "battlers": battlers, "card_sets": 50}
    mode = AutoresetMode.SAME_STEP
    assert check_faces([Vector(3, mode, **options), Singles(3, mode, **options)], 64) >= 5

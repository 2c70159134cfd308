"""Draft, Construct and Match as vector environments: each row does what the single one does."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from amounts import FEW, amount
from gymnasium.vector import AutoresetMode
from helpers import construct_env, construct_rows, draft_env, draft_rows, match_env, match_rows

from locmsim import IllegalActionError, Match
from locmsim.envs import LocmVectorEnv
from locmsim.envs.resets import drawn_seed

BATTLERS = {"battlers": ("random", "osl"), "battles": 2}
KINDS = {
    "Draft": (draft_env, draft_rows, BATTLERS),
    "Construct": (construct_env, construct_rows, BATTLERS),
    "Match": (match_env, match_rows, {"opponent": "random", "shaping": {"health": 0.1}}),
}
IDS = [("Draft", "1.2"), ("Construct", "1.5"), ("Match", "1.5"), ("Match", "1.0")]
each_id = pytest.mark.parametrize(("name", "rules"), IDS)


def both(name, rules, n, **given):
    """Return a vector environment, and single ones with the same options."""
    single, vector, options = KINDS[name]
    keywords = {k: v for k, v in given.items() if k in ("threads", "autoreset_mode", "final_obs")}
    options = {"rules": rules, **FEW, **options, **{k: given[k] for k in given.keys() - keywords}}
    return vector(n, **keywords, **options), [single(**options) for _ in range(n)]


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
    venv.close()
    other.close()


def row(observations, i):
    if isinstance(observations, dict):
        return {key: value[i] for key, value in observations.items()}
    return observations[i]


@pytest.mark.slow
@pytest.mark.parametrize("battlers", [("osl", "rule"), ("beam:nodes=12", "osl")])
@pytest.mark.parametrize(("name", "rules"), IDS[:2])
def test_the_episode_after_battles_that_wait_for_python(name, rules, battlers):
    """The next episode shows its own cards, whoever played the battles before it."""
    venv, envs = both(name, rules, 3, battlers=battlers, battles=1, card_sets=50)
    venv.reset(seed=1)
    for i, env in enumerate(envs):
        env.reset(seed=1 + i)
    for number in range(64):
        actions = venv.sample(number)
        observations, rewards, ended, _, _ = venv.step(actions)
        assert ended.all() == (number % 30 == 29)
        for i, env in enumerate(envs):
            expected = env.step(int(actions[i]))
            assert expected[1] == rewards[i]
            seen = env.reset()[0] if expected[2] else expected[0]
            np.testing.assert_equal(row(observations, i), seen)
    venv.close()


@pytest.mark.parametrize("mode", list(AutoresetMode))
@each_id
def test_rows_are_single_environments(name, rules, mode):
    n = amount(2, 3)
    options = {"autoreset_mode": mode, "threads": 2, "final_obs": True, "privileged": True}
    venv, envs = both(name, rules, n, **options)
    observations, _ = venv.reset(seed=7)
    for i, env in enumerate(envs):
        np.testing.assert_equal(row(observations, i), env.reset(seed=7 + i)[0])
    over = np.zeros(n, bool)
    ends = 0
    for number in range(75):
        if mode is AutoresetMode.DISABLED and over.any():
            observations, _ = venv.reset(options={"reset_mask": over})
            for i in np.flatnonzero(over):
                np.testing.assert_equal(row(observations, i), envs[i].reset()[0])
            over[:] = False
        actions = venv.sample(number)
        if number == 40:
            actions[0] = venv.single_action_space.n - 1  # mostly illegal
        observations, rewards, terminated, truncated, info = venv.step(actions)
        for i, env in enumerate(envs):
            if over[i]:
                expected = env.reset()[0], 0.0, False, False
                over[i] = False
            else:
                *expected, about = env.step(actions[i])
                ended = expected[2] or expected[3]
                over[i] = ended and mode is not AutoresetMode.SAME_STEP
                ends += ended
                if ended:
                    check_end(venv, info, about, i)
                if ended and mode is AutoresetMode.SAME_STEP:
                    for name, last in info["final_obs"].items():
                        np.testing.assert_equal(last[i], expected[0][name])
                    expected[0] = env.reset()[0]
            np.testing.assert_equal(row(observations, i), expected[0])
            assert (rewards[i], terminated[i], truncated[i]) == tuple(expected[1:])
        np.testing.assert_equal(info.get("_illegal", np.zeros(n, bool)), terminated | truncated)
    assert ends >= (1 if rules == "1.0" else n)  # games of 1.0 are long
    venv.close()


def check_end(venv, info, about, i):
    for key, value in about.items():
        if key == "match":
            assert dict(venv.match(i)) == dict(value)
        else:
            np.testing.assert_equal(info[key][i], value)
            assert info[f"_{key}"][i]


@pytest.mark.parametrize("name", KINDS)
def test_make_vec_makes_these_environments(name):
    _, make, options = KINDS[name]
    venv = gym.make_vec(f"locmsim.envs:locmsim/{name}-v0", num_envs=2, mask="info", **options)
    assert isinstance(venv.unwrapped, LocmVectorEnv)
    assert venv.unwrapped.options == make(2, mask="info", **options).options
    assert venv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, info = venv.reset(seed=3)
    assert observations in venv.observation_space
    np.testing.assert_array_equal(info["action_mask"], venv.unwrapped.action_masks())
    again = venv.reset(seed=[3, 4])[0]
    np.testing.assert_array_equal(observations, again)
    observations, rewards, *_, info = venv.step(venv.unwrapped.sample(1))
    assert observations in venv.observation_space
    assert rewards.tolist() == [0, 0]
    assert info["action_mask"].sum(axis=1).all()
    venv.close()


@each_id
def test_threads_do_not_matter(name, rules):
    venvs = [both(name, rules, 4, threads=threads)[0] for threads in (1, 3)]
    seen = [venv.reset(seed=5)[0] for venv in venvs]
    np.testing.assert_equal(*seen)
    for number in range(45):
        actions = venvs[0].sample(number)
        results = [venv.step(actions) for venv in venvs]
        np.testing.assert_equal(results[0], results[1])
    for venv in venvs:
        venv.close()


@pytest.mark.parametrize("name", ["Construct", "Match"])
def test_copies_and_pickles_go_on_alike(name):
    venv, _ = both(name, "1.5", 2)
    venv.reset(seed=2)
    for number in range(33):
        venv.step(venv.sample(number))
    other = pickle.loads(pickle.dumps(venv))
    for number in range(33, 70):
        actions = venv.sample(number)
        np.testing.assert_equal(venv.step(actions), other.step(actions))
    kept = venv.step(venv.sample(0))[0]["observation"]
    before = kept.copy()
    venv.step(venv.sample(1))
    np.testing.assert_array_equal(kept, before)
    venv.close()
    other.close()


def test_results_can_be_played_again():
    venv, _ = both("Match", "1.5", 2)
    venv.reset(seed=1)
    found = 0
    for number in range(90):
        ended = venv.step(venv.sample(number))[-1].get("_winner", np.zeros(2, bool))
        for i in np.flatnonzero(ended):
            about = venv.match(int(i))
            match = Match(about["rules"], params=about["params"])
            for player in (0, 1):
                match.submit(player, about["choices"][player][0])
            assert match.phase == "battle"
            found += 1
    assert found
    venv.close()


@pytest.mark.parametrize("name", ["Draft", "Match"])
def test_illegal_actions_raise_before_anything_is_applied(name):
    rules = "1.2" if name == "Draft" else "1.5"
    venv, _ = both(name, rules, 2, illegal="raise")
    venv.reset(seed=1)
    actions = venv.sample(1)
    masks = venv.action_masks()
    for bad in (venv.single_action_space.n, -1):
        with pytest.raises(IllegalActionError, match="nothing was applied; row 1"):
            venv.step(np.array([actions[0], bad]))
    np.testing.assert_array_equal(venv.action_masks(), masks)
    venv.step(actions)
    venv.close()


def test_opponents_can_be_changed_and_boards_shown():
    venv = match_rows(2, opponent="pass", render_mode="ansi", **FEW)
    venv.reset(seed=1)
    venv.set_opponent("osl")
    assert all(text.startswith("step 0 of 30") for text in venv.render())
    for number in range(31):
        venv.step(venv.sample(number))
    assert all("turn" in text for text in venv.render())
    venv.close()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="num_envs: expected 1 to "):
        draft_rows(0)
    with pytest.raises(ValueError, match="num_envs: expected 1 to "):
        match_rows(0)
    with pytest.raises(ValueError, match="threads: expected 1 to 65536, got 0"):
        construct_rows(1, threads=0)
    with pytest.raises(ValueError, match="render_mode: expected one of ansi"):
        draft_rows(1, render_mode="svg")
    venv = construct_rows(2, battlers=("pass", "pass"), **FEW)
    with pytest.raises(ValueError, match="seed: expected 2, got 1"):
        venv.reset(seed=[1])
    with pytest.raises(ValueError, match="reset_mask: expected a bool array"):
        venv.reset(options={"reset_mask": [True, False]})
    venv.reset(seed=1)
    with pytest.raises(ValueError, match=r"expected shape \(2,\)"):
        venv.step(np.zeros(3, int))
    venv.close()

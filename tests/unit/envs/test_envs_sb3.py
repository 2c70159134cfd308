"""Stable-Baselines3 and sb3-contrib: their usual recipes, with single and vector environments."""

import gymnasium as gym
import numpy as np
import pytest
from amounts import FEW, amount

pytest.importorskip("sb3_contrib")

import torch
from env_checks import EPISODES
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy as evaluate_masked
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecMonitor,
    VecNormalize,
    VecVideoRecorder,
)

from locmsim.envs.sb3 import SB3VecEnv

torch.set_num_threads(1)
MASKED = {**FEW, "mask": "info"}
SMALL = {"n_steps": 16, "batch_size": 32, "n_epochs": 1, "device": "cpu"}
ALONE = [name for name in EPISODES if "both" not in name]
each_episode = pytest.mark.parametrize("episode", EPISODES)


def native(episode="battle", n=2, **options):
    name, given = EPISODES[episode]
    options = {**given, **MASKED, **options}
    return SB3VecEnv(gym.make_vec(name, n, final_obs=True, **options))


def singles(episode="battle", n=2, **options):
    name, given = EPISODES[episode]
    options = {**given, **MASKED, **options}
    return DummyVecEnv([lambda: gym.make(name, **options) for _ in range(n)])


@each_episode
def test_rows_do_what_single_environments_do(episode):
    one, other = native(episode, 3), singles(episode, 3)
    for env in (one, other):
        env.seed(5)
    np.testing.assert_array_equal(one.reset(), other.reset())
    random, ends = np.random.default_rng(1), 0
    for _ in range(150):
        masks = np.stack(one.env_method("action_masks"))
        np.testing.assert_array_equal(masks, np.stack(other.env_method("action_masks")))
        actions = np.array([random.choice(mask.nonzero()[0]) for mask in masks])
        mine, theirs = one.step(actions), other.step(actions)
        for a, b in zip(mine[:3], theirs[:3], strict=True):
            np.testing.assert_allclose(a, b)
        for i in mine[2].nonzero()[0]:
            for name in ("terminal_observation", "TimeLimit.truncated", "winner", "seat"):
                np.testing.assert_array_equal(mine[3][i][name], theirs[3][i][name])
            ends += 1
    assert ends


@pytest.mark.parametrize("make", [native, singles])
@each_episode
def test_monitored_and_normalized(episode, make):
    """The monitor's sums and lengths are those of the episodes, even inside VecNormalize."""
    env = VecNormalize(VecMonitor(make(episode)), gamma=0.9)
    env.seed(3)
    env.reset()
    lengths, sums, ends = np.zeros(2, int), np.zeros(2), 0
    for _ in range(150):
        masks = env.env_method("action_masks")
        actions = np.array([mask.nonzero()[0][-1] for mask in masks])
        observations, rewards, dones, infos = env.step(actions)
        assert observations.dtype == np.float32
        assert np.isfinite(observations).all()
        assert np.abs(rewards).max() <= 10
        lengths += 1
        sums += env.get_original_reward()
        for i in dones.nonzero()[0]:
            episode_info = infos[i]["episode"]
            assert (episode_info["l"], episode_info["r"]) == (lengths[i], pytest.approx(sums[i]))
            assert infos[i]["terminal_observation"].dtype == np.float32
            lengths[i] = sums[i] = 0
            ends += 1
    assert ends


@pytest.mark.parametrize("episode", amount(["battle", "draft"], ALONE))
def test_masked_ppo_learns_and_is_evaluated(episode):
    """`make_vec_env` and the native environment both work, also with sb3-contrib's evaluation."""
    name, options = EPISODES[episode]
    stock = make_vec_env(name, n_envs=2, seed=1, env_kwargs={**options, **MASKED})
    for env in (stock, VecMonitor(native(episode))):
        model = MaskablePPO("MlpPolicy", env, seed=1, **SMALL)
        model.learn(32)
        rewards, lengths = evaluate_masked(
            model, env, n_eval_episodes=3, return_episode_rewards=True
        )
        assert set(rewards) <= {-1.0, 0.0, 1.0}
        assert len(lengths) == 3
        if episode in ("draft", "construct"):  # 30 picks: no action was illegal
            assert lengths == [30] * 3


def test_ppo_without_masks():
    """An illegal action loses the game, so PPO without masks can learn to avoid it."""
    env = VecMonitor(native())
    model = PPO("MlpPolicy", env, seed=1, **SMALL)
    model.learn(32)
    mean, _ = evaluate_policy(model, env, n_eval_episodes=4)
    assert -1 <= mean <= 1


def test_dict_observations_with_a_network_for_several_inputs():
    name = "locmsim.envs:locmsim/Battle-v0"
    env = make_vec_env(name, n_envs=2, seed=1, env_kwargs={"opponent": "osl", "card_sets": 2})
    MaskablePPO("MultiInputPolicy", env, seed=1, **SMALL).learn(32)


def test_pictures_of_all_rows_in_one():
    pytest.importorskip("cairosvg")
    env = native(n=4, render_mode="rgb_array")
    env.reset()
    assert len(env.get_images()) == 4
    frame = env.render()
    assert frame.shape == (2 * 600, 2 * 800, 3)
    np.testing.assert_array_equal(frame[:600, :800], env.venv.render()[0])
    assert env.metadata["render_fps"] == 2


def test_texts_of_all_rows(capsys):
    env = native(render_mode="human")
    env.reset()
    capsys.readouterr()
    env.render()
    assert capsys.readouterr().out.count("turn") == 2


@pytest.mark.parametrize("make", [native, singles])
def test_videos(make, tmp_path):
    pytest.importorskip("cairosvg")
    moviepy = pytest.importorskip("moviepy")
    env = VecVideoRecorder(
        make(render_mode="rgb_array"),
        str(tmp_path),
        record_video_trigger=lambda step: step == 0,
        video_length=3,
    )
    model = MaskablePPO("MlpPolicy", env, seed=1, **SMALL)
    evaluate_masked(model, env, n_eval_episodes=1, warn=False)
    env.close()
    (video,) = tmp_path.glob("*.mp4")
    with moviepy.VideoFileClip(str(video)) as clip:
        assert tuple(clip.size) == (800, 1200) or tuple(clip.size) == (1600, 600)

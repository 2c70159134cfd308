"""Gymnasium's vector wrappers do the same around our vector environments as around single ones."""

import gymnasium as gym
import numpy as np
import pytest
from env_checks import EPISODES
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

N = 3
#: Gymnasium before 1.4 mistakes the first step of an episode for the step of the reset.
SAME_STEP_IS_MISCOUNTED = tuple(map(int, gym.__version__.split(".")[:2])) < (1, 4)


def pair(episode, mode, **options):
    """Return a native vector environment, and one of single environments, which do the same."""
    name, given = EPISODES[episode]
    options = {"card_sets": 2, **given, **options}
    native = gym.make_vec(name, N, autoreset_mode=mode, **options)
    single = SyncVectorEnv(
        [lambda: gym.make(name, disable_env_checker=True, **options) for _ in range(N)],
        autoreset_mode=mode,
    )
    return native, single


def same(one, other):
    """Return whether observations, rewards or statistics are equal, whatever their precision."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    else:
        np.testing.assert_allclose(
            np.asarray(one, float), np.asarray(other, float), rtol=1e-4, atol=1e-5
        )


def run(native, single, steps, wrapped, check=None):
    """Step both with the same actions and return the number of episodes that ended."""
    venv, other = wrapped(native), wrapped(single)
    same(venv.reset(seed=7)[0], other.reset(seed=7)[0])
    assert venv.observation_space == other.observation_space
    random, ends = np.random.default_rng(1), 0
    for _ in range(steps):
        masks = native.action_masks()
        actions = np.array([random.choice(mask.nonzero()[0]) for mask in masks])
        results = venv.step(actions), other.step(actions)
        for mine, theirs in zip(results[0][:4], results[1][:4], strict=True):
            same(mine, theirs)
        ended = results[0][2] | results[0][3]
        ends += int(np.sum(ended))
        if check is not None:
            check(results[0][4], results[1][4], ended)
        if native.metadata["autoreset_mode"] is AutoresetMode.DISABLED and ended.any():
            reset = [env.reset(options={"reset_mask": ended.copy()})[0] for env in (venv, other)]
            same(*reset)
    venv.close()
    other.close()
    return ends


class Statistics(gym.vector.VectorWrapper):
    """A wrapper that checks RecordEpisodeStatistics: sums of rewards and lengths of episodes.

    SyncVectorEnv cannot serve as the reference with DISABLED resets: it takes ``reset_mask`` out of
    the options before the wrapper sees them.
    """

    def __init__(self, env):
        super().__init__(wrappers.RecordEpisodeStatistics(env))
        self.sums, self.ended = np.zeros((2, N)), np.zeros(N, bool)

    def step(self, actions):
        result = super().step(actions)
        _, rewards, terminated, truncated, info = result
        counted = ~self.ended if self.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP else 1
        self.sums += np.stack([rewards, np.ones(N)]) * counted
        self.ended = ended = terminated | truncated
        if SAME_STEP_IS_MISCOUNTED and self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            return result
        assert ("episode" in info) == bool(ended.any())
        if ended.any():
            np.testing.assert_array_equal(info["_episode"], ended)
            same(info["episode"]["r"], self.sums[0] * ended)
            same(info["episode"]["l"], self.sums[1] * ended)
            self.sums[:, ended] = 0
        return result


@pytest.mark.slow
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("episode", EPISODES)
def test_statistics_and_normalized_rewards(episode, mode):
    ends = run(
        *pair(episode, mode),
        steps=150,
        wrapped=lambda venv: (
            wrappers.NormalizeReward(venv, gamma=0.9)
            if isinstance(venv, SyncVectorEnv)
            else Statistics(wrappers.NormalizeReward(venv, gamma=0.9))
        ),
    )
    assert ends >= N


@pytest.mark.parametrize("mode", AutoresetMode)
def test_infos_as_lists(mode):
    """The info of an ended row has the values of the single environment's info, as Python types."""
    seen = 0

    def check(mine, theirs, ended):
        nonlocal seen
        assert len(mine) == N
        for i in ended.nonzero()[0]:
            last = theirs[i]["final_info"] if mode is AutoresetMode.SAME_STEP else theirs[i]
            for name in ("winner", "length", "illegal", "returns", "health", "turn", "seat"):
                np.testing.assert_array_equal(mine[i][name], last[name])
            seen += 1

    run(
        *pair("battle", mode),
        steps=50,
        wrapped=lambda venv: wrappers.DictInfoToList(wrappers.RecordEpisodeStatistics(venv)),
        check=check,
    )
    assert seen


#: Wrappers of observations: name -> wrapper and place of the mask.
OBSERVATIONS = {
    "FlattenObservation": (wrappers.FlattenObservation, "obs"),
    "FilterObservation": (lambda v: wrappers.FilterObservation(v, ["observation"]), "obs"),
    "DtypeObservation": (lambda v: wrappers.DtypeObservation(v, np.float32), "info"),
    "RescaleObservation": (
        lambda v: wrappers.RescaleObservation(v, np.float32(0), np.float32(1)),
        "info",
    ),
    "ReshapeObservation": (lambda v: wrappers.ReshapeObservation(v, (44, 10)), "info"),
    "TransformObservation": (lambda v: wrappers.TransformObservation(v, lambda o: o // 2), "info"),
    "VectorizeTransformObservation": (
        lambda v: wrappers.VectorizeTransformObservation(
            v, gym.wrappers.TransformObservation, func=lambda o: o // 2, observation_space=None
        ),
        "info",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
@pytest.mark.parametrize("name", OBSERVATIONS)
def test_wrappers_of_observations(name, mode):
    wrapped, mask = OBSERVATIONS[name]
    options = {"layout": "entities-f32"} if name == "RescaleObservation" else {}
    assert run(*pair("battle", mode, mask=mask, **options), steps=40, wrapped=wrapped)


@pytest.mark.slow
@pytest.mark.parametrize("episode", EPISODES)
def test_flat_observations(episode):
    mode = AutoresetMode.NEXT_STEP
    assert run(*pair(episode, mode), steps=150, wrapped=wrappers.FlattenObservation)


def test_normalized_observations():
    """NormalizeObservation accepts NEXT_STEP only."""
    wrapped = wrappers.NormalizeObservation
    assert run(*pair("battle", AutoresetMode.NEXT_STEP, mask="info"), steps=40, wrapped=wrapped)


REWARDS = {
    "TransformReward": lambda v: wrappers.TransformReward(v, lambda reward: 2 * reward),
    "VectorizeTransformReward": lambda v: wrappers.VectorizeTransformReward(
        v, gym.wrappers.TransformReward, func=lambda reward: 3 * reward
    ),
    "ClipReward": lambda v: wrappers.ClipReward(v, -0.5, 0.5),
    "TransformAction": lambda v: wrappers.TransformAction(v, lambda actions: actions),
}


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", REWARDS)
def test_wrappers_of_rewards_and_actions(name, mode):
    assert run(*pair("battle", mode), steps=40, wrapped=REWARDS[name])


@pytest.mark.parametrize("mode", AutoresetMode)
def test_tensors_of_pytorch(mode):
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    native, _ = pair("battle", mode, opponent="random")
    other, _ = pair("battle", mode, opponent="random")
    tensors = wrappers.NumpyToTorch(native)
    seen, _ = tensors.reset(seed=7)
    same(seen, other.reset(seed=7)[0])
    import torch

    ends = 0
    for _ in range(40):
        actions = other.sample(1)
        results, expected = tensors.step(torch.from_numpy(actions)), other.step(actions)
        for mine, theirs in zip(results[:4], expected[:4], strict=True):
            same(mine, theirs)
        ended = expected[2] | expected[3]
        ends += ended.sum()
        if mode is AutoresetMode.DISABLED and ended.any():
            for env in (native, other):
                env.reset(options={"reset_mask": ended})
    assert ends
    tensors.close()


def test_windows(monkeypatch):
    """HumanRendering shows all rows in one window."""
    pytest.importorskip("pygame")
    pytest.importorskip("cv2")
    pytest.importorskip("cairosvg")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    venv = gym.make_vec("locmsim.envs:locmsim/Battle-v0", 4, render_mode="rgb_array", card_sets=1)
    windows = wrappers.HumanRendering(venv)
    windows.reset(seed=1)
    windows.step(venv.sample(1))
    assert windows.num_rows * windows.num_cols >= 4
    windows.close()

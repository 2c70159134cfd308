"""Vector environments: each row does what the single environment with its seed does."""

import functools
import pickle

import gymnasium as gym
import numpy as np
import pytest
from amounts import amount
from env_checks import check_rows
from gymnasium.vector import AutoresetMode
from helpers import RULE_SETS

from locmsim import IllegalActionError
from locmsim.envs import LocmVectorEnv, Mixed, SelfPlayVectorEnv, gae

ID = "locmsim.envs:locmsim/Battle-v0"
FEW = {"card_sets": 4}
MODES = list(AutoresetMode)
each_rules = pytest.mark.parametrize("rules", RULE_SETS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", amount([1, 7], [1, 2, 7]))
@each_rules
def test_rows_are_single_environments(rules, mode, threads):
    check_rows(rules, mode, threads, copy=threads == 1, steps=70, ends=6)


@each_rules
def test_step_into_writes_what_step_returns(rules):
    one = LocmVectorEnv(8, rules=rules, opponent="osl", **FEW)
    other = LocmVectorEnv(8, rules=rules, opponent="osl", threads=2, **FEW)
    one.reset(seed=1)
    other.reset(seed=1)
    storage = np.zeros((50, 8, *one.layout.shape), np.int8)
    masks = np.zeros((50, 8, one.single_action_space.n), np.int8)
    rewards, dones = np.zeros((50, 8), np.float32), np.zeros((50, 8), np.bool_)
    total = 0
    for t in range(50):
        actions = one.sample(t)
        special = other.step_into(
            actions, obs=storage[t], masks=masks[t], rewards=rewards[t], dones=dones[t]
        )
        observations, reward, terminated, truncated, _ = one.step(actions)
        np.testing.assert_array_equal(storage[t], observations["observation"])
        np.testing.assert_array_equal(masks[t], observations["action_mask"])
        np.testing.assert_array_equal(rewards[t], reward)
        np.testing.assert_array_equal(dones[t], terminated | truncated)
        assert bool(special) >= bool(dones[t].any())
        total += int(dones[t].sum())
    assert total
    for bad in (
        {"obs": storage[0].astype(np.float32)}, {"masks": masks[0, :7]}, {"rewards": rewards},
        {"dones": dones[:1]}, {"obs": storage[0, :, ::2]},
    ):  # fmt: skip
        arrays = {"obs": storage[0], "masks": masks[0], "rewards": rewards[0], "dones": dones[0]}
        with pytest.raises(ValueError, match="expected"):
            other.step_into(actions, **{**arrays, **bad})


def test_many_rows_are_shared_by_threads():
    venvs = [LocmVectorEnv(300, opponent="random", threads=n, **FEW) for n in (1, 2, 5)]
    np.testing.assert_equal(*[venv.reset(seed=5)[0] for venv in venvs[:2]])
    venvs[2].reset(seed=5)
    for number in range(12):
        actions = venvs[0].sample(number)
        first, *others = [venv.step(actions) for venv in venvs]
        for other in others:
            np.testing.assert_equal(other, first)
    for venv in venvs:
        venv.close()


def test_make_vec_makes_this_environment():
    venv = gym.make_vec(ID, num_envs=3, opponent="random", layout="gym-locm", **FEW)
    assert isinstance(venv.unwrapped, LocmVectorEnv)
    assert venv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, _ = venv.reset(seed=1)
    assert observations in venv.observation_space
    assert venv.action_space.shape == (3,)
    sync = gym.make_vec(ID, num_envs=3, vectorization_mode="sync", opponent="random", **FEW)
    own = LocmVectorEnv(3, opponent="random", autoreset_mode="NextStep", **FEW)
    first, _ = sync.reset(seed=2)
    second, _ = own.reset(seed=2)
    np.testing.assert_equal(first, second)
    for number in range(60):
        actions = own.sample(number)
        np.testing.assert_equal(sync.step(actions)[:4], own.step(actions)[:4])
    sync.close()


def test_final_observations():
    plain = LocmVectorEnv(4, opponent="random", **FEW)
    venv = LocmVectorEnv(4, opponent="random", final_obs=True, **FEW)
    disabled = LocmVectorEnv(4, opponent="random", autoreset_mode="Disabled", **FEW)
    for env in (plain, venv, disabled):
        env.reset(seed=3)
    for number in range(100):
        actions = venv.sample(number)
        _, _, terminated, truncated, info = venv.step(actions)
        assert "final_obs" not in plain.step(actions)[4]
        last = disabled.step(actions)[0]["observation"]
        done = terminated | truncated
        if done.any():
            assert (info["_final_obs"] == done).all()
            np.testing.assert_array_equal(info["final_obs"][done], last[done])
            return
    raise AssertionError("no episode ended")


def test_infos_are_arrays_of_ended_rows():
    venv = LocmVectorEnv(16, opponent="random", **FEW)
    venv.reset(seed=1)
    seen = 0
    for number in range(80):
        _, rewards, terminated, truncated, info = venv.step(venv.sample(number))
        done = terminated | truncated
        assert bool(info) == bool(done.any())
        for i in np.flatnonzero(done):
            assert rewards[i] == info["returns"][i, info["seat"][i]]
            assert info["returns"][i, info["winner"][i]] == 1
            match = venv.match(int(i))
            assert match.match().phase == "battle"
            seen += 1
    assert seen > 10


def test_seeds_and_resets():
    venv = LocmVectorEnv(3, opponent="random", **FEW)
    first = venv.reset(seed=[4, 5, 6])[0]
    np.testing.assert_equal(first, venv.reset(seed=4)[0])
    assert not np.array_equal(first["observation"], venv.reset()[0]["observation"])
    with pytest.raises(ValueError, match="seed: expected 3, got 2"):
        venv.reset(seed=[1, 2])
    for mask in ([True] * 3, np.ones(2, bool), np.zeros(3, bool), np.ones(3)):
        with pytest.raises(ValueError, match="reset_mask: expected a bool array"):
            venv.reset(options={"reset_mask": mask})


def test_wrong_arguments():
    with pytest.raises(ValueError, match="num_envs: expected at least 1"):
        LocmVectorEnv(0)
    with pytest.raises(ValueError, match="threads: expected at least 1"):
        LocmVectorEnv(2, threads=0)
    venv = LocmVectorEnv(2, opponent="pass", illegal="raise", **FEW)
    venv.reset(seed=1)
    with pytest.raises(TypeError, match="expected integers, got float64"):
        venv.step(np.zeros(2))
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(3,\)"):
        venv.step(np.zeros(3, int))
    states = venv.states()
    with pytest.raises(IllegalActionError, match="nothing was applied; row 1: 144"):
        venv.step(np.array([0, 144]))
    assert venv.states() == states
    venv.step([0, 0])


@pytest.mark.parametrize("copies", [True, False])
def test_copies(copies):
    venv = LocmVectorEnv(2, opponent="pass", copy=copies, **FEW)
    first = venv.reset(seed=1)[0]["observation"]
    second = venv.step(np.zeros(2, np.int64))[0]["observation"]
    assert np.shares_memory(first, second) != copies


def test_vector_environments_can_be_pickled():
    venv = LocmVectorEnv(3, opponent="random", threads=2, **FEW)
    venv.reset(seed=1)
    venv.step(venv.sample(1))
    other = pickle.loads(pickle.dumps(venv))
    for number in range(40):
        actions = venv.sample(number)
        np.testing.assert_equal(venv.step(actions)[:4], other.step(actions)[:4])


# ------------------------------------------------------------------------------------ self-play


@each_rules
def test_self_play_moves_the_player_to_move(rules):
    venv = SelfPlayVectorEnv(6, rules=rules, layout="entities", **FEW)
    _, info = venv.reset(seed=1)
    assert info["to_move"].tolist() == [0] * 6
    states = venv.states()
    ended = 0
    for number in range(150):
        actions = venv.sample(number)
        movers = [state.current_player() for state in states]
        for state, action in zip(states, actions, strict=True):
            state.apply_action(int(action))
        observations, rewards, terminated, truncated, info = venv.step(actions)
        assert info["acted"].tolist() == movers
        now = venv.states()
        for i, state in enumerate(states):
            assert terminated[i] == state.is_terminal()
            assert info["rewards_both"][i].tolist() == state.returns()
            assert rewards[i] == state.returns()[movers[i]]
            if terminated[i]:
                ended += 1
                assert info["winner"][i] == state.winner
            else:
                assert now[i] == state
            seat = venv.layout.split(observations["observation"][i])["game"][1]
            assert seat == info["to_move"][i] == now[i].current_player()
            legal = np.flatnonzero(observations["action_mask"][i]).tolist()
            assert legal == now[i].legal_actions()
        assert not truncated.any()
        states = now
    assert ended > 3


def test_shaping_of_both_sides_telescopes():
    from locmsim.envs._potentials import potentials_of

    venv = SelfPlayVectorEnv(1, shaping={"coac": 1.0}, **FEW)
    for seed in range(4):
        venv.reset(seed=seed)
        first = [potentials_of(venv.states()[0], player)["coac"] for player in (0, 1)]
        totals = np.zeros(2)
        for number in range(500):
            _, rewards, terminated, _, info = venv.step(venv.sample(number))
            both = info["rewards_both"][0]
            totals += both
            assert rewards[0] == both[info["acted"][0]]
            if terminated[0]:
                break
        np.testing.assert_allclose(totals, info["returns"][0] - first, atol=1e-4)


def test_illegal_actions_lose_for_the_mover():
    venv = SelfPlayVectorEnv(2, **FEW)
    venv.reset(seed=1)
    _, rewards, terminated, _, info = venv.step(np.array([144, 0]))
    assert rewards.tolist() == [-1, 0]
    assert terminated.tolist() == [True, False]
    assert info["rewards_both"].tolist() == [[-1, 1], [0, 0]]
    assert info["winner"][0] == 1
    assert info["illegal"].tolist() == [True, False]


# ------------------------------------------------------------------------------------------- gae


def slow_gae(rewards, values, dones, to_move, last, last_to_move, gamma, lam):
    """Sums of discounted errors, step by step, each from its own player's side."""
    steps, rows = values.shape
    out = np.zeros((steps, rows))
    for i in range(rows):
        for t in range(steps):
            sign, factor = 1.0, 1.0
            for k in range(t, steps):
                end = k == steps - 1
                mover = last_to_move[i] if end else to_move[k + 1, i]
                value = last[i] if end else values[k + 1, i]
                turn = 1.0 if mover == to_move[k, i] else -1.0
                follow = 0.0 if dones[k, i] else gamma * turn * value
                out[t, i] += sign * factor * (rewards[k, i] + follow - values[k, i])
                if dones[k, i]:
                    break
                sign *= turn
                factor *= gamma * lam
    return out


def slow_per_player(rewards, values, dones, to_move, last, gamma, lam):
    steps, rows = values.shape
    out = np.zeros((steps, rows))
    for i in range(rows):
        for t in range(steps):
            p, factor, k = to_move[t, i], 1.0, t
            while True:
                earned, following, going = 0.0, last[i, p], False
                for j in range(k, steps):
                    if j > k and to_move[j, i] == p:  # their next decision
                        following, going = values[j, i], True
                        break
                    earned += rewards[j, i, p]
                    if dones[j, i]:
                        following = 0.0
                        break
                out[t, i] += factor * (earned + gamma * following - values[k, i])
                if not going:
                    break
                k = j
                factor *= gamma * lam
    return out


def test_gae():
    random = np.random.default_rng(1)
    shape = (12, 5)
    rewards, values = random.normal(size=(2, *shape)).astype(np.float32)
    both = random.normal(size=(*shape, 2)).astype(np.float32)
    dones = random.random(shape) < 0.2
    to_move = random.integers(0, 2, shape).astype(np.int8)
    last = random.normal(size=5).astype(np.float32)
    last_to_move = random.integers(0, 2, 5).astype(np.int8)
    for gamma, lam in ((1.0, 0.95), (0.9, 0.5)):
        given = gae(rewards, values, dones, to_move, last, last_to_move, gamma=gamma, lam=lam)
        expected = slow_gae(rewards, values, dones, to_move, last, last_to_move, gamma, lam)
        np.testing.assert_allclose(given, expected, atol=1e-5)
        last_both = random.normal(size=(5, 2)).astype(np.float32)
        out = np.empty(shape, np.float32)
        given = gae(
            both, values, dones, to_move, last_both, gamma=gamma, lam=lam, mode="per-player",
            out=out,
        )  # fmt: skip
        assert given is out
        expected = slow_per_player(both, values, dones, to_move, last_both, gamma, lam)
        np.testing.assert_allclose(given, expected, atol=1e-5)
    for arguments, message in (
        ((rewards, values[0], dones, to_move, last, last_to_move), "values: expected shape"),
        ((rewards[1:], values, dones, to_move, last, last_to_move), "rewards: expected shape"),
        ((rewards, values, dones, to_move, last, last_to_move[1:]), "last_to_move: expected"),
    ):
        with pytest.raises(ValueError, match=message):
            gae(*arguments)
    with pytest.raises(ValueError, match="mode: expected zero-sum or per-player"):
        gae(rewards, values, dones, to_move, last, last_to_move, mode="sum")
    with pytest.raises(ValueError, match="out: expected"):
        gae(rewards, values, dones, to_move, last, last_to_move, out=out[1:])


# ----------------------------------------------------------------------------------------- mixed


class FirstLegal:
    """Plays the highest legal action."""

    def __init__(self):
        self.rows = 0

    def act_batch(self, observations, masks, *, seed=0):
        self.rows += len(observations)
        return (masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)).astype(np.int64)


def test_frozen_policies_play_the_other_side():
    venv = SelfPlayVectorEnv(8, **FEW)
    observations, info = venv.reset(seed=1)
    policies = [FirstLegal(), FirstLegal()]
    mixed = Mixed(venv, 2, policies)
    assert mixed.seats.tolist() == [-1, -1, 1, 1, 0, 0, 1, 1]
    for number in range(120):
        to_move = info["to_move"]
        learner = mixed.learner(to_move)
        assert learner[:2].all()
        actions = venv.sample(number)
        before = actions.copy()
        mixed.act(actions, observations["observation"], observations["action_mask"], to_move)
        assert (actions[learner] == before[learner]).all()
        highest = FirstLegal().act_batch(actions, observations["action_mask"])
        assert (actions[~learner] == highest[~learner]).all()
        seats = mixed.seats.copy()
        observations, _, terminated, truncated, info = venv.step(actions)
        assert not info.get("illegal", np.zeros(1)).any()
        mixed.ended(terminated | truncated)
        changed = (terminated | truncated) & (seats >= 0)
        assert (mixed.seats == np.where(changed, 1 - seats, seats)).all()
    assert all(policy.rows for policy in policies)
    with pytest.raises(ValueError, match=r"learner_rows: expected 0..8, got 9"):
        Mixed(venv, 9, policies)
    with pytest.raises(ValueError, match="policies: expected at least one"):
        Mixed(venv, 2, [])


def test_a_closed_environment_goes_on_without_its_threads():
    found = []
    for threads in (1, 3):
        env = SelfPlayVectorEnv(5, card_sets=2, threads=threads)
        env.reset(seed=3)
        for number in range(40):
            if number == 20:
                env.close()
                assert not env._workers._threads
            seen, rewards, *_ = env.step(env.sample(number))
        found.append((seen["observation"].tobytes(), rewards.tobytes()))
    assert found[0] == found[1]


@pytest.mark.process
def test_processes_that_are_spawned():
    """Gymnasium's own vector environment, each row in a process that knows nothing of this one."""
    make = functools.partial(gym.make, ID, opponent="beam:nodes=20", card_sets=2)
    spawned = gym.vector.AsyncVectorEnv([make] * 2, context="spawn")
    try:
        single = [make() for _ in range(2)]
        seen, _ = spawned.reset(seed=4)
        for i, env in enumerate(single):
            np.testing.assert_equal(env.reset(seed=4 + i)[0]["observation"], seen["observation"][i])
        for _ in range(3):
            actions = np.array([env.unwrapped.sample() for env in single])
            seen, rewards, ended, _, _ = spawned.step(actions)
            for i, env in enumerate(single):
                result = env.step(actions[i])
                np.testing.assert_array_equal(result[0]["observation"], seen["observation"][i])
                assert result[1:3] == (rewards[i], ended[i])
            assert not ended.any()
    finally:
        spawned.close()


def test_ended_rows_have_nothing_but_pass_to_sample():
    """Also those that an illegal action or the limit of actions ended."""
    env = LocmVectorEnv(3, autoreset_mode="Disabled", opponent="pass", max_actions=2, card_sets=2)
    env.reset(seed=1)
    env.step(np.array([-1, 0, 0]))
    env.step(env.sample(1))
    env.step(env.sample(2))
    assert (env.sample(3) == 0).all()
    assert env.action_masks().sum(axis=1).tolist() == [1, 1, 1]

"""Vector environments: each row does what the single environment with its seed does."""

import copy
import functools
import inspect
import pickle
import re
import threading
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from amounts import FEW
from env_checks import Into, Singles, Vector, check_faces, seats_of
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from helpers import each_rules, raises

from locmsim import StateBatch, generate_cards
from locmsim.decks import DECK_BUILDERS
from locmsim.envs import LocmEnv, LocmVectorEnv, Pool, gae
from locmsim.policy import Policy

ID = "locmsim.envs:locmsim/Battle-v0"


def test_help_of_step_says_who_is_paid_when():
    """The table of docs/learning.md stands beside `step` too."""
    text = inspect.getdoc(LocmVectorEnv.step)
    head, *rows = re.split(r"^=+(?:  =+)+\n", text, flags=re.M)[1:3]
    assert head.split() == ["..", "SAME_STEP", "NEXT_STEP", "DISABLED"]
    page = (Path(__file__).parents[3] / "docs" / "learning.md").read_text()
    table = page.partition("| in the step that ends an episode |")[2].partition("\n\n")[0]
    for name in re.findall(r"^([\w, ]+?)  ", rows[0], re.M):
        for word in name.replace(",", " ").split():
            assert word in table, word


def test_the_page_explains_every_key_of_the_info():
    options = {
        "battlers": ("random", "random"),
        "battles": 2,
        "deck_values": True,
        "final_obs": True,
    }
    venv = LocmVectorEnv(2, episode="choice", card_sets=2, **options)
    venv.reset(seed=1)
    for number in range(30):
        info = venv.step(venv.sample(number))[4]
    page = (Path(__file__).parents[3] / "docs" / "learning.md").read_text()
    table = page.partition("| key | what it is |")[2].partition("\n\n")[0]
    first = " ".join(line.split(" | ")[0] for line in table.splitlines())
    names = {name for name in info if not name.startswith("_")}
    assert {*re.findall(r"`(\w+)`", first)} == names | {"match"}  # of single environments


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_rewards_of_the_user_see_how_episodes_end(mode):
    """`final_obs` is the position after the step in all modes, with and without `step_into`."""
    paid, shown = [], []

    def reward(arrays):
        shown.append(arrays["final_obs"].copy())
        own, enemy = arrays["final_obs"][:, 0], arrays["final_obs"][:, 8]
        return np.where(arrays["terminated"], own.astype(float) - enemy, 0)

    options = {"opponent": "random", "reward": reward, "seat": "first", **FEW}
    env = LocmVectorEnv(4, autoreset_mode=mode, **options)
    plain = LocmVectorEnv(4, autoreset_mode="DISABLED", opponent="random", seat="first", **FEW)
    into = LocmVectorEnv(4, autoreset_mode=mode, **options)
    for one in (env, plain, into):
        one.reset(seed=3)
    rewards = np.zeros(4, np.float32)
    over = np.zeros(4, bool)
    for number in range(300):
        actions = env.sample(number)
        result = env.step(actions)
        into.step_into(actions, rewards=rewards)
        np.testing.assert_array_equal(rewards, result[1])
        last = plain.step(actions)[0]["observation"]
        ended = (result[2] | result[3]) & ~over
        np.testing.assert_array_equal(shown[-2][ended], last[ended])
        np.testing.assert_array_equal(shown[-1], shown[-2])
        for i in np.flatnonzero(ended):
            own, enemy = result[4]["health"][i]
            assert result[1][i] == own - enemy
            paid.append(result[1][i])
        over |= ended
        if over.all():
            break
    assert over.all()
    assert any(paid)


@pytest.mark.parametrize("copies", [True, False])
def test_copies(copies):
    venv = LocmVectorEnv(2, opponent="pass", copy=copies, **FEW)
    first = venv.reset(seed=1)[0]["observation"]
    second = venv.step(np.zeros(2, np.int64))[0]["observation"]
    assert np.shares_memory(first, second) != copies


# ------------------------------------------------------------------------------------ self-play


# ------------------------------------------------------------------------------------------- gae


def slow_gae(rewards, values, dones, to_move, last, last_to_move, gamma, lam):
    """Compute sums of discounted errors step by step, each from its own player's side."""
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
    usual = (rewards, values, dones, to_move, last, last_to_move)
    for gamma, lam in ((1.0, 0.95), (0.9, 0.5)):
        given = gae(*usual, gamma=gamma, lam=lam)
        expected = slow_gae(*usual, gamma, lam)
        np.testing.assert_allclose(given, expected, atol=1e-5)
        for steps in (0, 1):
            some = (array[len(array) - steps :] for array in usual[:4])
            fewer = gae(*some, last, last_to_move, gamma=gamma, lam=lam)
            np.testing.assert_array_equal(fewer, given[12 - steps :])
        last_both = random.normal(size=(5, 2)).astype(np.float32)
        out = np.empty(shape, np.float32)
        given = gae(
            both, values, dones, to_move, last_both, gamma=gamma, lam=lam, mode="per-player",
            out=out,
        )  # fmt: skip
        assert given is out
        expected = slow_per_player(both, values, dones, to_move, last_both, gamma, lam)
        np.testing.assert_allclose(given, expected, atol=1e-5)
    for place, wrong, message in (
        (1, values[0], "values: expected shape"),
        (0, rewards[1:], "rewards: expected shape"),
        (5, last_to_move[1:], "last_to_move: expected"),
        (5, np.full(5, -1), "last_to_move: expected 0 or 1, got -1"),
        (3, to_move + 0.5, "acted: expected integers, got float64"),
    ):
        raises(ValueError, message, gae, *usual[:place], wrong, *usual[place + 1 :])
    raises(ValueError, "mode: expected zero-sum or per-player", gae, *usual, mode="sum")
    raises(ValueError, 'last_to_move: mode="zero-sum" needs it', gae, *usual[:5])
    raises(ValueError, "out: expected", gae, *usual, out=out[1:])
    for wrong in (2, 127, -2, -50, 256, 2**40):
        acted = to_move.astype(np.int64)
        acted[3, 2] = wrong
        message = f"acted: expected 0, 1, or -1 .*, got {wrong}$"
        for mode, paid, end in (("zero-sum", rewards, last), ("per-player", both, last_both)):
            given = paid, values, dones, acted, end, last_to_move
            raises(ValueError, message, gae, *given, mode=mode)
        message = f"last_to_move: expected 0 or 1, got {wrong}$"
        raises(ValueError, message, gae, *usual[:5], acted[3])


@pytest.mark.parametrize("mode", ["zero-sum", "per-player"])
def test_gae_of_steps_in_which_nobody_acted(mode):
    """They earn nothing, and all others what they would earn without them."""
    random = np.random.default_rng(2)
    shape = (9, 3) if mode == "zero-sum" else (9, 3, 2)
    rewards, values = random.normal(size=shape), random.normal(size=(9, 3))
    acted = random.integers(0, 2, (9, 3))
    dones = np.zeros((9, 3), bool)
    dones[3] = True
    ends = random.normal(size=shape[1:]), random.integers(0, 2, 3)
    expected = gae(rewards, values, dones, acted, *ends, mode=mode)
    began = np.insert(acted, 4, -1, axis=0)
    more = (np.insert(array, 4, 0, axis=0) for array in (rewards, values, dones))
    given = gae(*more, began, *ends, mode=mode)
    assert (given[4] == 0).all()
    np.testing.assert_array_equal(np.delete(given, 4, axis=0), expected)


# --------------------------------------------------------------------------------------- players


class Highest:
    """A policy that plays the highest legal action."""

    def __init__(self):
        self.calls = []

    def act_batch(self, observations, masks, seeds):
        assert len(observations) == len(masks) == len(seeds)
        assert seeds.dtype == np.uint64
        self.calls.append(len(seeds))
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def highest(observation, mask):
    return int(np.flatnonzero(mask)[-1])


@each_rules
def test_a_policy_is_asked_for_all_rows_together(rules):
    """The policy plays the same as a function that is called row by row."""
    policy = Highest()
    options = {"rules": rules, **FEW}
    env = LocmVectorEnv(32, opponent=policy, **options)
    slow = LocmVectorEnv(32, opponent=highest, **options)
    single = LocmEnv(opponent=Highest(), **options)
    first = env.reset(seed=1)[0]
    np.testing.assert_equal(first, slow.reset(seed=1)[0])
    np.testing.assert_equal(single.reset(seed=1)[0]["observation"], first["observation"][0])
    before = len(policy.calls)
    steps = 0
    for number in range(6):
        actions = env.sample(number)
        result = env.step(actions)
        steps += 1
        # Policies draw their seeds from the stream of the row, functions do not: so episodes
        # differ from the second one on.
        if not (result[2] | result[3]).any():
            np.testing.assert_equal(result, slow.step(actions))
        seen = single.step(actions[0])[0]["observation"]
        np.testing.assert_equal(seen, result[0]["observation"][0])
    calls = policy.calls[before:]
    assert len(calls) < steps * 25  # a call for each row would mean hundreds
    assert max(calls) > 4


def test_seeds_of_policies_are_those_of_rows():
    """A row does the same among many as alone, whatever random numbers its policy draws."""
    policy = Policy.random(seed=3)
    policy.temperature = 2.0
    mode, options = AutoresetMode.SAME_STEP, {"opponent": policy, **FEW}
    check_faces([Vector(7, mode, threads=2, **options), Singles(7, mode, **options)], 40)


def test_a_policy_may_keep_something_for_each_row():
    class Counting:
        state_shape = (2,)

        def act_batch(self, observations, masks, seeds, state):
            state += 1
            self.last = state.copy()
            return np.zeros(len(masks), np.int64)

    policy = Counting()
    env = LocmVectorEnv(3, opponent=policy, seat="first", **FEW)
    env.reset(seed=1)
    for turn in range(1, 4):
        env.step(np.zeros(3, np.int64))
        assert policy.last.tolist() == [[turn, turn]] * 3
    env.reset(options={"reset_mask": np.array([True, False, False])})
    env.step(np.zeros(3, np.int64))
    assert policy.last[:, 0].tolist() == [1, 4, 4]


def test_what_a_policy_returns_is_checked():
    class Bad:
        def __init__(self, answer):
            self.answer = answer

        def act_batch(self, observations, masks, seeds):
            return self.answer

    for answer, message in (
        (np.zeros(3), "act_batch: expected integers of shape"),
        (np.zeros(2, int), r"act_batch: expected integers of shape \(3,\)"),
        (np.array([0, 144, 0]), "row 1: action 144 of the opponent is not legal"),
    ):
        env = LocmVectorEnv(3, opponent=Bad(answer), seat="first", **FEW)
        env.reset(seed=1)
        raises(ValueError, message, env.step, np.zeros(3, np.int64))
        raises(ResetNeeded, "broken off by an exception in row", env.step, np.zeros(3, np.int64))


@pytest.mark.parametrize(
    ("players", "alone"),
    [
        (("caller", "osl"), {"opponent": "osl", "seat": "first"}),
        (("osl", "caller"), {"opponent": "osl", "seat": "second"}),
        (("caller", "caller"), {"opponent": "caller"}),
    ],
)
def test_options_that_say_who_plays_say_it_alike(players, alone):
    faces = [Vector(3, "SAME_STEP", **given, **FEW) for given in ({"players": players}, alone)]
    options = faces[0].env.options
    check_faces(faces, 40)
    assert replace(options, mask="info").players == players


def test_a_league():
    """The pool contains the caller, gets another player and new weights, and reports results."""
    policy = Highest()
    env = LocmVectorEnv(64, opponent=Pool({"caller": 1, "past": 1}, {"past": policy}), **FEW)
    seen, info = env.reset(seed=1)
    both = seats_of(env) < 0
    assert 16 < both.sum() < 48
    first = env.layout.split(seen["observation"])["game"][:, 1]
    np.testing.assert_array_equal(first, info["to_move"])
    assert (info["to_move"][both] == 0).all()
    assert set(info["to_move"][~both]) == {0, 1}
    won = dict.fromkeys(("caller", "past"), 0)
    games = 0
    for number in range(120):
        seats = seats_of(env)
        opponents = [env.games.rows.views.opponent(i) for i in range(64)]
        _, rewards, terminated, _, info = env.step(env.sample(number))
        both = info["rewards_both"]
        acted = info["acted"]
        np.testing.assert_array_equal(rewards, both[np.arange(64), acted])
        np.testing.assert_array_equal(both.sum(axis=1), np.zeros(64))
        assert (acted[seats >= 0] == seats[seats >= 0]).all()
        for i in np.flatnonzero(terminated):
            games += 1
            name = "caller" if seats[i] < 0 else "past"
            assert opponents[i] == env.players.slot(name)
            won[name] += info["winner"][i] == max(seats[i], 0)
    results = env.players.results
    assert {name: result.won for name, result in results.items()} == won
    assert sum(result.games for result in results.values()) == games > 60
    assert all(result.games for result in results.values())
    env.players["new"] = "pass"
    env.set_weights({"new": 1})
    env.players["past"] = Highest()  # its results are kept
    assert env.players.results["past"] == results["past"]
    env.reset(seed=1)
    assert (seats_of(env) >= 0).all()
    while env.players.results["new"].games < 10:
        env.step(env.sample(number))
    assert env.players.results["new"].rate > 0.5
    del env.players["past"]
    assert list(env.players) == ["caller", "new"]
    for weights, message in (
        ({"nww": 1}, "there is no player 'nww'; did you mean 'new'"),
        ({"new": 0}, "expected one that is positive"),
        ({"new": -1}, "weight of 'new': expected 0 or more"),
        ({"new": float("inf")}, "weight of 'new': expected 0 or more"),
        ({"new": 1e308, "caller": 1e308}, "a finite sum"),
    ):
        raises(ValueError, message, env.set_weights, weights)
    with pytest.raises(ValueError, match="only player with a weight"):
        del env.players["new"]
    other = pickle.loads(pickle.dumps(env))
    assert other.players.results == env.players.results
    np.testing.assert_equal(other.step(env.sample(1)), env.step(env.sample(1)))


def test_a_refused_player_leaves_the_table_as_it_was():
    """With all 64 places in use a name cannot be given to another player while it still plays."""
    env = LocmVectorEnv(4, opponent="random", **FEW)
    for i in range(63):
        env.players[f"past-{i}"] = "pass"
    env.reset(seed=1)
    before = dict(env.players), env.players.weights, env.players.results
    for name in ("random", "new"):
        with pytest.raises(ValueError, match="players: an environment has 64 at most"):
            env.players[name] = "greedy"
    env.players["past-7"] = "greedy"  # nobody plays against it
    assert env.players["past-7"] == "greedy"
    env.players["past-7"] = "pass"
    assert (dict(env.players), env.players.weights, env.players.results) == before
    env.set_weights({"random": 1})
    env.reset(seed=1, options={"player": "random"})


# ---------------------------------------------------------------------------------- rewards, decks


def test_a_reward_may_be_a_function_of_arrays():
    asked = []

    def reward(arrays):
        asked.append(set(arrays))
        return arrays["rewards"] + 0.25 * arrays["masks"].sum(axis=1) - arrays["to_move"]

    options = {"opponent": "osl", **FEW}
    mode = AutoresetMode.DISABLED
    faces = [face(3, mode, reward=reward, **options) for face in (Vector, Into, Singles)]
    check_faces(faces, 40, mode=mode)
    env, plain = (LocmVectorEnv(3, **more, **options) for more in ({"reward": reward}, {}))
    env.reset(seed=1), plain.reset(seed=1)
    for number in range(40):
        seen, rewards, *_ = env.step(env.sample(number))
        _, given, *_ = plain.step(plain.sample(number))
        expected = given + 0.25 * seen["action_mask"].sum(axis=1) - plain.to_move
        np.testing.assert_allclose(rewards, expected, atol=1e-6)
    wanted = {"obs", "masks", "rewards", "rewards_both", "terminated", "truncated", "to_move"}
    assert all(names >= wanted for names in asked)
    wrong = LocmVectorEnv(2, opponent="pass", reward=lambda arrays: 0.0, **FEW)
    wrong.reset(seed=1)
    with pytest.raises(ValueError, match=r"reward: expected shape \(2,\), got \(\)"):
        wrong.step(np.zeros(2, np.int64))


@pytest.mark.parametrize("episode", ["battle", "match"])
def test_a_pool_of_decks(episode):
    """Each episode draws one deck builder from the random stream of its row."""
    options = {"episode": episode, "opponent": "pass", "seat": "first", **FEW}
    env = LocmVectorEnv(32, decks=Pool({"bodies": 1, "area": 1}), **options)
    seen = env.reset(seed=1)[0]
    np.testing.assert_equal(env.reset(seed=1)[0], seen)
    decks = {tuple(sorted(env.games.rows.views.decks(i)[1])) for i in range(32)}
    known = set()
    for name in ("bodies", "area"):
        plain = LocmVectorEnv(32, decks=name, **options)
        plain.reset(seed=1)
        known |= {tuple(sorted(plain.games.rows.views.decks(i)[1])) for i in range(32)}
        assert {tuple(sorted(plain.games.rows.views.decks(i)[1])) for i in range(32)} & decks
    assert decks <= known or episode == "match"


def test_decks_of_a_pool_are_built_once_for_each_card_set(registered):
    built = []

    def builder(cards):
        built.append(min(card.cost for card in cards))
        return DECK_BUILDERS["bodies"](cards)

    registered(DECK_BUILDERS, "counted", builder)
    env = LocmVectorEnv(16, opponent="random", decks=Pool({"counted": 1, "random": 1}), card_sets=3)
    env.reset(seed=1)
    for number in range(200):
        env.step(env.sample(number))
    assert env.players.results["random"].games > 16
    assert len(built) == 3
    # A builder that replaces another one of the same name is called.
    registered(DECK_BUILDERS, "counted", lambda cards: builder(cards))
    env.reset(seed=1)
    assert len(built) == 6


def test_a_pair_of_decks_may_be_one_text():
    seen = [
        LocmVectorEnv(8, opponent="pass", decks=decks, **FEW).reset(seed=1)[0]
        for decks in ("bodies/area", ("bodies", "area"), Pool({"bodies/area": 1}))
    ]
    np.testing.assert_equal(seen[0], seen[1])
    assert seen[2]["observation"].shape == seen[0]["observation"].shape


# ------------------------------------------------------------------------- what a row begins with


def test_options_of_a_reset_may_differ_by_row():
    env = LocmVectorEnv(4, opponent=Pool({"osl": 1, "pass": 1}), **FEW)
    seats = np.array([0, 1, 1, 0])
    names = ["osl", "pass", "osl", "pass"]
    matches = [{"seed": 5}, None, {"cardGenSeed": 3}, {"seed": 6}]
    seen, _ = env.reset(seed=1, options={"seat": seats, "player": names, "match": matches})
    assert seats_of(env).tolist() == seats.tolist()
    assert [env.games.rows.views.opponent(i) for i in range(4)] == [
        env.players.slot(one) for one in names
    ]
    for i in range(4):
        single = LocmEnv(opponent=Pool({"osl": 1, "pass": 1}), **FEW)
        options = {"seat": seats[i], "player": names[i], "match": matches[i]}
        shown, _ = single.reset(seed=1 + i, options=options)
        np.testing.assert_equal(shown["observation"], seen["observation"][i])
    states = StateBatch(env.states())
    other = LocmVectorEnv(4, opponent="caller", **FEW)
    other.reset(seed=2, options={"state": states})
    assert other.states() == list(states)
    deck = [card.base_id for card in env.games.cards(0)][:15] * 2
    other.reset(seed=2, options={"decks": (deck, deck), "match": {"cardGenSeed": 1}})
    kept = other.states()
    pairs = [None, (deck, deck), None, None]
    other.reset(seed=3, options={"decks": pairs})
    with pytest.raises(ValueError, match="player: there is no 'oslo'; did you mean 'osl'"):
        env.reset(options={"player": "oslo"})
    assert len(kept) == 4


@pytest.mark.parametrize("episode", ["battle", "choice", "match"])
def test_cards_of_a_reset_may_differ_by_row(episode):
    """Each row plays the card list that it was given; later episodes have card sets of the pool."""
    lists = [generate_cards(seed) for seed in (11, 12)]
    options = {"episode": episode, "opponent": "beam:nodes=20"}
    if episode == "choice":
        options["battlers"] = "osl", "beam:nodes=9"
    env = LocmVectorEnv(3, autoreset_mode="DISABLED", card_sets=2, **options)
    given = {"cards": [lists[0], None, [card.to_row() for card in lists[1]]]}
    first = env.reset(seed=4, options=given)[0]
    assert [env.games.cards(0), env.games.cards(2)] == lists
    assert env.games.cards(1) not in lists
    for copied in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert copied.games.cards(2) == lists[1]
        copied.close()
    np.testing.assert_equal(env.reset(seed=4, options=given)[0], first)
    ended = np.zeros(3, np.bool_)
    infos = {}
    while not ended.all():
        _, _, terminated, truncated, _info = env.step(env.sample(3))
        for i in np.flatnonzero((terminated | truncated) & ~ended):
            infos[i] = env.match(i)
        ended |= terminated | truncated
    for i, cards in ((0, lists[0]), (2, lists[1])):
        match = infos[i].match()
        assert sorted(match.cards, key=lambda card: card.base_id) == cards
        assert {card.base_id for card in cards} >= set(match.chosen[0])
        if episode != "choice":
            assert match.state.table.pool
    assert "cards" not in infos[1]
    env.reset(seed=5)
    assert not any(env.games.cards(i) in lists for i in range(3))
    env.close()


def test_a_closed_environment_goes_on_without_its_threads():
    found = []
    before = {*threading.enumerate()}
    for threads in (1, 3):
        env = LocmVectorEnv(5, opponent="caller", card_sets=2, threads=threads)
        env.reset(seed=3)
        for number in range(40):
            if number == 20:
                assert len({*threading.enumerate()} - before) == threads - 1
                env.close()
                assert {*threading.enumerate()} <= before
            seen, rewards, *_ = env.step(env.sample(number))
        found.append((seen["observation"].tobytes(), rewards.tobytes()))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.process
def test_processes_that_are_spawned():
    """Gymnasium's AsyncVectorEnv runs each row in a new process, which inherits nothing."""
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
    """An illegal action or the limit of actions ends a row like the end of its game."""
    env = LocmVectorEnv(3, autoreset_mode="Disabled", opponent="pass", max_actions=2, card_sets=2)
    env.reset(seed=1)
    env.step(np.array([-1, 0, 0]))
    env.step(env.sample(1))
    env.step(env.sample(2))
    assert (env.sample(3) == 0).all()
    assert env.action_masks().sum(axis=1).tolist() == [1, 1, 1]


# ------------------------------------------------------------------------------------ both seats


def changed_by_weights(env):
    env.players["other"] = "random"
    env.set_weights({"other": 1})


def changed_by_opponent(env):
    env.set_opponent("random")


@pytest.mark.parametrize("change", [changed_by_weights, changed_by_opponent])
@pytest.mark.parametrize("mode", ["same", "next"])
def test_running_episodes_of_both_seats_keep_what_says_who_moved(change, mode):
    """Other weights are those of new episodes; the last of the old ones is told like the first."""
    mode = {"same": AutoresetMode.SAME_STEP, "next": AutoresetMode.NEXT_STEP}[mode]
    env = LocmVectorEnv(4, opponent="caller", autoreset_mode=mode, **FEW)
    env.reset(seed=1)
    change(env)
    env = pickle.loads(pickle.dumps(env))
    for number in range(500):
        before, to_move = seats_of(env), env.to_move.copy()
        _, rewards, terminated, _, info = env.step(env.sample(number))
        assert ("acted" in info) == ("to_move" in info) == ("rewards_both" in info)
        if (before >= 0).all():
            assert "acted" not in info
            break
        both = before < 0
        np.testing.assert_array_equal(info["to_move"], env.to_move)
        acted = info["acted"][both]
        assert ((acted == to_move[both]) | (acted == -1)).all()
        paid = info["rewards_both"]
        np.testing.assert_array_equal(
            rewards[terminated], paid[terminated, info["acted"][terminated]]
        )
    else:
        raise AssertionError("an episode runs on")


@pytest.mark.parametrize("number", [0, 1])
def test_shaping_is_refused_while_any_row_is_played_from_both_seats(number):
    """By the seats of the rows, whatever new episodes will be."""
    options = {"shaping": {"health": 1.0}, **FEW}
    actions, rewards = np.zeros(2, np.int64), np.zeros(2, np.float32)
    if number == 0:
        env = LocmVectorEnv(2, opponent="caller", **options)
        env.reset(seed=1)
        env.set_opponent("random")
    else:
        env = LocmVectorEnv(2, opponent="random", **options)
        env.players["me"] = "caller"
        env.reset(seed=1)
        env.step(actions)
        _, info = env.reset(options={"player": ["me", "random"]})
        assert "to_move" in info
    raises(ValueError, "rewards: where the caller plays both seats", env.step, actions)
    kept = env.states()
    with pytest.raises(ValueError, match="seats, shaping is in rewards_both only"):
        env.step_into(actions, rewards=rewards)
    assert env.states() == kept
    env.step_into(actions, rewards_both=np.zeros((2, 2), np.float32))
    _, info = env.reset(seed=1, options={"player": "random"})
    assert "to_move" not in info
    env.step(actions)

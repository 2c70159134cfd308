"""What environments refuse: options they do not know, values they cannot use, calls out of turn."""

import threading
import tracemalloc
from functools import partial

import numpy as np
import pytest
from amounts import FEW
from gymnasium.error import ResetNeeded
from helpers import construct_env, construct_rows, match_env

from locmsim import State
from locmsim.envs import LocmEnv, LocmVectorEnv, Pool, aec
from locmsim.envs.cards import generated
from locmsim.errors import IllegalActionError

DECK = [card for card in range(15) for _ in range(2)]


@pytest.mark.parametrize(
    "make",
    [LocmEnv, lambda: LocmVectorEnv(2), aec.env, aec.raw_env, lambda: construct_rows(2)],
)
def test_unknown_options_of_a_reset_are_refused(make):
    env = make()
    with pytest.raises(ValueError, match="options: unknown 'stat'; did you mean 'state'"):
        env.reset(options={"stat": 1})
    with pytest.raises(ValueError, match="options: unknown 'reset_masks'"):
        env.reset(options={"reset_masks": np.array([True, False])})
    env.reset(seed=1, options={})


@pytest.mark.parametrize("other", ["match", "cards", "decks"])
def test_a_position_takes_the_place_of_other_options(other):
    state = State.new((), ())
    given = {"match": {"seed": 1}, "cards": None, "decks": (DECK, DECK)}[other]
    given = given or generated(5)[1]
    for env in (LocmEnv(**FEW), LocmVectorEnv(2, **FEW)):
        with pytest.raises(ValueError, match=f"{other}: does not apply with state"):
            env.reset(seed=1, options={"state": state, other: given})


@pytest.mark.parametrize("make", [aec.env, aec.raw_env, lambda **o: aec.env("match", **o)])
@pytest.mark.parametrize(
    "option", [{"opponent": "random"}, {"seat": "first"}, {"players": ("caller", "osl")}]
)
def test_the_caller_of_a_cycle_plays_both_agents(make, option):
    with pytest.raises(ValueError, match=f"{next(iter(option))}: the caller plays both agents"):
        make(**option)


@pytest.mark.parametrize("option", [{"seat": 0}, {"player": "caller"}])
def test_a_reset_of_a_cycle_takes_no_seat(option):
    with pytest.raises(ValueError, match=f"{next(iter(option))}: the caller plays both agents"):
        aec.env().reset(options=option)


@pytest.mark.parametrize("make", [LocmEnv, match_env, LocmVectorEnv, aec.env])
@pytest.mark.parametrize("option", [{"battlers": ("osl", "osl")}, {"battles": 3}])
def test_only_a_choice_has_battles_of_others(make, option):
    with pytest.raises(ValueError, match=f'{next(iter(option))}: needs episode="choice"'):
        make(**option)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"decks": 5}, "decks: expected one way for both seats or a pair, got 5"),
        ({"decks": None}, "decks: expected one way for both seats or a pair, got None"),
        ({"decks": [1, 2]}, "decks: expected base ids, got 1"),
        ({"battlers": 5}, "battlers: expected two, got 5"),
        ({"players": 5}, "players: expected one for each seat, got 5"),
        ({"card_sets": "x"}, "card_sets: expected a number above 0 or .first, end., got 'x'"),
        ({"card_sets": 1.5}, "card_sets: .*, got 1.5"),
        ({"card_sets": (0,)}, "card_sets: .*, got .0,."),
        ({"card_sets": True}, "card_sets: .*, got True"),
        ({"card_sets": 2**70}, "card_sets: .*, got 1180"),
        ({"cards": 5}, "cards: expected a list of cards, got 5"),
        ({"shaping": 5}, "shaping: expected a mapping of potentials to weights, got 5"),
        ({"shaping": {"health": "x"}}, "shaping: health: expected a finite number, got 'x'"),
        ({"shaping": {"health": np.nan}}, "shaping: health: expected a finite number, got nan"),
        ({"reward": "win-loss=nan"}, "reward: win-loss: expected a finite number, got 'nan'"),
        ({"gamma": "x"}, "gamma: expected 0 to 1, got 'x'"),
        ({"max_actions": True}, "max_actions: expected an integer, got True"),
        ({"max_actions": 2**40}, "max_actions: expected 1 to 2\\^31 - 1, got "),
        ({"refresh": 2**70}, "refresh: expected 0 to 2\\^31 - 1"),
        ({"battles": 2**40}, "battles: expected 1 to 2\\^31 - 1"),
    ],
)
@pytest.mark.parametrize("make", [construct_env, construct_rows])
def test_values_that_no_option_has(make, option, message):
    with pytest.raises(ValueError, match=message):
        make(**option)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"decks": 5}, "decks: expected two, got 5"),
        ({"decks": {}}, "decks: expected two, got {}"),
        ({"match": 5}, "match: expected a mapping of seeds, got 5"),
        ({"cards": 5}, "cards: expected a list of cards, got 5"),
        ({"player": 5}, "player: there is no 5"),
        ({"seat": True}, "seat: expected 0 or 1, got True"),
    ],
)
def test_values_that_no_option_of_a_reset_has(option, message):
    for env in (LocmEnv(**FEW), LocmVectorEnv(2, **FEW)):
        with pytest.raises(ValueError, match=message):
            env.reset(seed=1, options=option)


@pytest.mark.parametrize("make", [LocmEnv, partial(LocmVectorEnv, 3), aec.raw_env])
def test_seeds_are_integers_of_python_or_of_numpy(make):
    """And an array of them is one for each row, where there are rows."""
    env, other = make(**FEW), make(**FEW)
    np.testing.assert_equal(env.reset(seed=np.int64(5)), other.reset(seed=5))
    assert observed(env) == observed(other)
    for seed, message in (
        (1.5, r"seed: expected an integer, got 1\.5"),
        (True, "seed: expected an integer, got True"),
        ("1", "seed: expected an integer, got '1'"),
        (-1, "seed: expected 0 or more, got -1"),
    ):
        with pytest.raises(ValueError, match=message):
            env.reset(seed=seed)
        if isinstance(env, LocmVectorEnv):
            with pytest.raises(ValueError, match=message):
                env.reset(seed=[seed, 1, 2])
    if isinstance(env, LocmVectorEnv):
        env.reset(seed=np.arange(3))
        other.reset(seed=[0, 1, 2])
        assert observed(env) == observed(other)
        with pytest.raises(ValueError, match="seed: expected 3, got 4"):
            env.reset(seed=np.arange(4))
    else:
        with pytest.raises(ValueError, match="seed: expected an integer, got array"):
            env.reset(seed=np.arange(3))


def observed(env):
    """Return all that the rows of an environment show."""
    return env.games.arrays["obs"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0.9}, "gamma: needs shaping"),
        ({"gamma": 0.9, "reward": "gym-locm:coac=1"}, "gamma: needs shaping"),
        ({"cards": generated(5)[1], "card_sets": 7}, "card_sets: does not apply with cards"),
        ({"cards": generated(5)[1], "refresh": 2}, "refresh: does not apply with cards"),
        ({"card_sets": None, "refresh": 2}, "refresh: does not apply with card_sets=None"),
    ],
)
@pytest.mark.parametrize(
    "make", [LocmEnv, partial(LocmVectorEnv, 2), partial(construct_rows, 2), aec.env]
)
def test_options_that_another_one_leaves_without_effect(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_the_same_card_sets_may_be_given_for_all_rule_sets(rules):
    """They have no effect where there is one card list, and a loop over rules needs no cases."""
    episodes = []
    for options in ({}, {"card_sets": 3, "refresh": 2}):
        env = LocmEnv(rules=rules, opponent="random", **options)
        episodes.append([env.reset(seed=seed)[0]["observation"].tolist() for seed in range(3)])
    assert episodes[0] == episodes[1]


@pytest.mark.parametrize("action", [0.9, 0.0, True, "0", None, np.float64(0), np.True_, [0]])
def test_an_action_is_an_integer(action):
    """Nothing has happened after the refusal: the same episode goes on."""
    for make in (LocmEnv, lambda **o: LocmEnv(illegal="raise", **o), construct_env):
        env, other = make(**FEW), make(**FEW)
        env.reset(seed=1)
        other.reset(seed=1)
        with pytest.raises(TypeError, match=r"action: expected an integer, got |scalar"):
            env.step(action)
        legal = env.sample()
        np.testing.assert_equal(env.step(legal)[:4], other.step(legal)[:4])
    cycle = aec.env(**FEW)
    cycle.reset(seed=1)
    with pytest.raises(TypeError, match=r"action: expected an integer, got "):
        cycle.step(action)
    with pytest.raises((TypeError, ValueError), match="actions: expected"):
        started(LocmVectorEnv(1, **FEW)).step([action])
    env = LocmEnv(opponent=lambda seen, mask: action, seat="first", **FEW)
    env.reset(seed=1)
    with pytest.raises(TypeError, match="opponent: action: expected an integer, got "):
        env.step(0)


@pytest.mark.parametrize("action", [2**70, -(2**70), np.uint64(2**63)])
def test_an_action_of_any_size_is_illegal(action):
    env = LocmEnv(**FEW)
    env.reset(seed=1)
    assert env.step(action)[1] == -1
    with pytest.raises(IllegalActionError):
        started(LocmEnv(illegal="raise", **FEW)).step(action)


def started(env):
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_no_step_before_a_reset(mode):
    env = LocmVectorEnv(2, autoreset_mode=mode, **FEW)
    with pytest.raises(ResetNeeded, match="call reset first"):
        env.step(np.zeros(2, np.int64))
    with pytest.raises(ResetNeeded, match="call reset first"):
        env.step_into(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="seat"):
        env.reset(options={"seat": 2})
    with pytest.raises(ResetNeeded, match="call reset first"):
        env.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="reset_mask: the first reset has to begin all rows"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(seed=1)
    assert env.step(np.zeros(2, np.int64))[0]["action_mask"].any(axis=1).all()
    with pytest.raises(ResetNeeded):
        aec.raw_env(**FEW).step(0)


def test_there_are_64_players_at_most():
    env = LocmVectorEnv(2, **FEW)
    env.reset(seed=1)
    for number in range(63):
        env.players[f"player-{number}"] = "greedy"
    with pytest.raises(ValueError, match=r"players: an environment has 64 at most$"):
        env.players["last"] = "greedy"
    pool = Pool(dict.fromkeys(map("beam:nodes={}".format, range(1, 66)), 1.0))
    with pytest.raises(ValueError, match=r"players: an environment has 64 at most$"):
        LocmVectorEnv(2, opponent=pool, **FEW)


def test_a_pool_that_does_not_fit_replaces_nobody():
    env = LocmVectorEnv(2, **FEW)
    env.reset(seed=1)  # episodes against "greedy" go on
    pool = Pool(dict.fromkeys(map("beam:nodes={}".format, range(1, 65)), 1.0))
    with pytest.raises(ValueError, match="64 at most, of whom 1 are replaced or deleted and still"):
        env.set_opponent(pool)
    assert list(env.players) == ["greedy"]
    env.step(env.sample(1))


class Slow:
    """A policy that answers when it is told to."""

    def __init__(self):
        self.asked, self.go_on = threading.Event(), threading.Event()

    def act_batch(self, observations, masks, seeds):
        self.asked.set()
        assert self.go_on.wait(60)
        return masks.argmax(axis=1)


@pytest.mark.parametrize("threads", [0, 1, 2])
def test_one_thread_at_a_time(threads):
    """The second one is refused at once, and the first one's step is as if it had been alone."""

    def make(policy):
        options = {"opponent": policy, "seat": "first", **FEW}
        return LocmVectorEnv(4, threads=threads, **options) if threads else LocmEnv(**options)

    policy, quick = Slow(), Slow()
    quick.go_on.set()
    env, alone = started(make(policy)), started(make(quick))
    action = np.zeros(4, np.int64) if threads else 0
    found = []
    first = threading.Thread(target=lambda: found.append(env.step(action)))
    first.start()
    assert policy.asked.wait(60)
    for method, arguments in ((env.step, (action,)), (env.reset, ())):
        with pytest.raises(RuntimeError, match="only one thread may do so at a time"):
            method(*arguments)
    policy.go_on.set()
    first.join(60)
    np.testing.assert_equal(found[0][:4], alone.step(action)[:4])
    np.testing.assert_equal(env.step(action)[:4], alone.step(action)[:4])


def test_an_opponent_cannot_step_the_environment_that_asks_it():
    env = LocmEnv(opponent=lambda seen, mask: env.step(0), seat="first", **FEW)
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="only one thread"):
        env.step(0)
    with pytest.raises(ResetNeeded, match="broken off"):
        env.step(0)


@pytest.mark.parametrize("given", [{}, {"seed": 3}])
def test_an_opponent_cannot_step_the_environment_that_begins(given):
    asked = []

    def meddle(seen, mask):
        for method, arguments in ((env.step, (0,)), (env.reset, ())):
            with pytest.raises(RuntimeError, match="only one thread"):
                method(*arguments)
        asked.append(len(mask))
        return 0

    env = LocmEnv(opponent=lambda seen, mask: 0, seat="second", **FEW)
    alone = started(LocmEnv(opponent=lambda seen, mask: 0, seat="second", **FEW))
    env.reset(seed=1)
    env.set_opponent(meddle)
    np.testing.assert_equal(env.reset(**given), alone.reset(**given))
    assert asked
    np.testing.assert_equal(env.step(0), alone.step(0))


def test_given_decks_of_a_reset_are_base_ids():
    with pytest.raises(ValueError, match="decks: expected base ids, got 5"):
        LocmEnv(**FEW).reset(seed=1, options={"decks": [5, DECK]})


@pytest.mark.slow
@pytest.mark.parametrize("episode", ["battle", "choice", "match"])
def test_card_sets_of_one_episode_are_not_kept(episode):
    """Nobody asks for the cards of an ended episode, so a process must not collect them."""
    options = {"battlers": ("random", "random")} if episode == "choice" else {}
    env = LocmVectorEnv(4, episode=episode, card_sets=None, opponent="random", **options)
    before = generated.cache_info().currsize
    for seed in range(40):
        env.reset(seed=4 * seed)
    tracemalloc.start()
    try:
        for seed in range(40, 140):
            env.reset(seed=4 * seed)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert generated.cache_info().currsize == before
    # At most 128 sets of 28 KB have taken the place of others; 400 have been played.
    assert kept < 5_000_000

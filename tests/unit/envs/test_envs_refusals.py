"""What environments refuse: options they do not know, values they cannot use, calls out of turn."""

import threading
import tracemalloc
from functools import partial

import numpy as np
import pytest
from amounts import FEW, amount
from env_checks import EPISODES, same
from gymnasium.error import ResetNeeded
from helpers import (
    construct_env,
    construct_rows,
    draft_env,
    draft_rows,
    match_env,
    match_rows,
    raises,
)

from locmsim import IllegalActionError, State, generate_cards
from locmsim.agents import make_agent
from locmsim.envs import LocmEnv, LocmVectorEnv, Options, Pool, aec
from locmsim.envs.cards import generated
from locmsim.policy import choice_tensor

DECK = [card for card in range(15) for _ in range(2)]
CARDS = generate_cards(5)
pair = partial(LocmVectorEnv, 2)
choosing_pair = partial(construct_rows, 2)
match_cycle = partial(aec.env, "match")
CYCLES = (aec.env, aec.raw_env, match_cycle)
EVERY = (LocmEnv, pair, match_env, construct_env, choosing_pair, aec.env)

#: What makes environments -> options, and what is said of them.
OPTIONS = {
    EVERY: [
        ({"rules": "2.0"}, "unknown rules '2.0'"),
        ({"mask": "no"}, "mask: expected one of obs, info"),
        ({"max_actions": 0}, "max_actions: expected 1 to "),
        ({"max_actions": True}, "max_actions: expected an integer, got True"),
        ({"max_actions": 2**40}, "max_actions: expected 1 to 2\\^31 - 1, got "),
        ({"gamma": 2}, "gamma: expected 0 to 1, got 2"),
        ({"gamma": "x"}, "gamma: expected 0 to 1, got 'x'"),
        ({"gamma": 0.9}, "gamma: needs shaping"),
        ({"gamma": 0.9, "reward": "gym-locm:coac=1"}, "gamma: needs shaping"),
        ({"layout": "no"}, "layout: expected one of entities, .*, got 'no'"),
        ({"layout": "choice"}, "layout: expected one of .*, got 'choice'"),
        ({"reward": "no"}, "reward: expected win-loss, deck-value"),
        ({"reward": "win-loss=nan"}, "reward: win-loss: expected a finite number, got 'nan'"),
        ({"reward": "deck-value=much"}, "reward: deck-value: expected a number, got 'much'"),
        ({"reward": "gym-locm:no"}, "unknown potential 'no'"),
        ({"reward": "gym-locm:coac=x"}, "coac: expected a number, got 'x'"),
        (
            {"reward": "gym-locm:coac", "shaping": {"health": 1}},
            "shaping: does not apply with reward",
        ),
        ({"shaping": 5}, "shaping: expected a mapping of potentials to weights, got 5"),
        ({"shaping": {"no": 1}}, "shaping: unknown potential 'no'"),
        ({"shaping": {"helth": 1}}, "unknown potential 'helth'; did you mean 'health'"),
        ({"shaping": {"health": "x"}}, "shaping: health: expected a finite number, got 'x'"),
        ({"shaping": {"health": np.nan}}, "shaping: health: expected a finite number, got nan"),
        ({"decks": "no"}, "decks: expected one of default, "),
        ({"decks": "randm"}, "decks: expected one of default, .*; did you mean 'random'"),
        ({"decks": ("random",) * 3}, "decks: expected one way"),
        ({"decks": "bodies/area/area"}, "or a pair, got"),
        ({"decks": "bodies/aera"}, "did you mean 'area'"),
        ({"decks": Pool({"aera": 1})}, "did you mean 'area'"),
        ({"decks": 5}, "decks: expected one way for both seats or a pair, got 5"),
        ({"decks": None}, "decks: expected one way for both seats or a pair, got None"),
        ({"decks": [1, 2]}, "decks: expected base ids, got 1"),
        ({"card_sets": 0}, "card_sets: expected a number above 0"),
        ({"card_sets": "x"}, "card_sets: expected a number above 0 or .first, end., got 'x'"),
        ({"card_sets": 1.5}, "card_sets: .*, got 1.5"),
        ({"card_sets": (0,)}, "card_sets: .*, got .0,."),
        ({"card_sets": True}, "card_sets: .*, got True"),
        ({"card_sets": 2**70}, "card_sets: .*, got 1180"),
        ({"refresh": -1}, "refresh: expected 0 to 2\\^31 - 1, got -1"),
        ({"refresh": 2**70}, "refresh: expected 0 to 2\\^31 - 1"),
        ({"cards": []}, r"cards: expected 15..120, got 0"),
        ({"cards": [], "rules": "1.2"}, r"cards: rules 1.2 have a fixed card list"),
        ({"cards": 5}, "cards: expected a list of cards, got 5"),
        ({"cards": CARDS, "card_sets": 7}, "card_sets: does not apply with cards"),
        ({"cards": CARDS, "refresh": 2}, "refresh: does not apply with cards"),
        ({"card_sets": None, "refresh": 2}, "refresh: does not apply with card_sets=None"),
        ({"render_mode": "svg"}, "render_mode: expected one of ansi, human, rgb_array, got"),
        ({"oponent": "osl"}, r"unknown option 'oponent'; did you mean 'opponent'\?"),
        ({"shape": {}}, "unknown option 'shape'"),
        ({"privileged": True, "mask": "info"}, 'privileged: needs mask="obs"'),
    ],
    EVERY[:5]: [
        ({"battles": 0, "episode": "choice"}, "battles: expected 1 to 2\\^31 - 1"),
        ({"battles": 2**40, "episode": "choice"}, "battles: expected 1 to 2\\^31 - 1"),
        ({"seat": "left"}, "seat: expected one of random, first"),
        ({"seat": "frist"}, "seat: expected one of .*; did you mean 'first'"),
        ({"illegal": "no"}, "illegal: expected one of lose, pass, raise"),
        ({"opponent": 3}, "opponent: expected a name"),
        ({"opponent": "nobody"}, "unknown agent 'nobody'"),
        ({"opponent": "gredy"}, "did you mean 'greedy'"),
        ({"opponent": "beam:nodes=-1"}, "nodes"),
        ({"opponent": Pool({"gredy": 1})}, "did you mean 'greedy'"),
        ({"players": 5}, "players: expected one for each seat, got 5"),
        ({"players": "caller"}, "players: expected one for each seat"),
        ({"players": ("osl", "osl")}, "players: expected 'caller' for one seat"),
        ({"players": ("caller", "osl"), "opponent": "osl"}, "does not apply with opponent"),
        ({"episode": "mtch"}, "episode: expected one of .* did you mean 'match'"),
        ({"battlers": ("osl", "gredy")}, "battlers: unknown agent 'gredy'; did you mean 'greedy'"),
        (
            {"battlers": ("baem:nodes=5", "osl")},
            "unknown agent 'baem:nodes=5'; did you mean 'beam'",
        ),
        ({"battlers": (3, "osl")}, "battlers: expected names of agents, got 3"),
        ({"battlers": ("osl",)}, "battlers: expected two"),
        ({"battlers": 5}, "battlers: expected two, got 5"),
        ({"layout": "gym-locm", "episode": "match"}, "gym-locm does not apply with episode="),
    ],
    (LocmEnv, match_env, pair, aec.env): [
        ({"battlers": ("osl", "osl")}, 'battlers: needs episode="choice"'),
        ({"battles": 3}, 'battles: needs episode="choice"'),
        ({"deck_values": True}, 'deck_values: needs episode="choice"'),
        ({"reward": "deck-value"}, 'reward: deck-value needs episode="choice"'),
    ],
    CYCLES: [
        ({"opponent": "random"}, "opponent: the caller plays both agents"),
        ({"seat": "first"}, "seat: the caller plays both agents"),
        ({"players": ("caller", "osl")}, "players: the caller plays both agents"),
        ({"illegal": "raise"}, "illegal: expected lose or pass"),
        ({"episode": "match"}, "episode: this environment has phase instead"),
    ],
    (partial(aec.raw_env, "draft"),): [({}, "phase: expected one of battle, match, got")],
    (match_cycle,): [({"layout": "gym-locm"}, 'gym-locm does not apply with episode="match"')],
    (partial(LocmVectorEnv, 0), partial(draft_rows, 0), partial(match_rows, 0)): [
        ({}, "num_envs: expected 1 to ")
    ],
    (pair, choosing_pair): [
        ({"threads": 0}, "threads: expected 1 to 65536, got 0"),
        ({"autoreset_mode": "never"}, "expected NEXT_STEP, SAME_STEP, DISABLED, got 'never'"),
        ({"opponent": make_agent("osl")}, "is one agent and cannot play 2 rows"),
    ],
    (LocmEnv, partial(LocmVectorEnv, 1)): [
        (
            {"opponent": Pool(dict.fromkeys(map("beam:nodes={}".format, range(1, 66)), 1.0))},
            r"players: an environment has 64 at most$",
        ),
    ],
    (LocmEnv,): [
        (
            {"opponent": "caller", "shaping": {"health": 1.0}},
            "rewards: where the caller plays both seats",
        )
    ],
    (Pool,): [
        ({"opponents": {"random": 0}}, "weight of 'random': expected more than 0, got 0"),
        ({"opponents": ["greedy", "random"]}, "expected a mapping of opponents to weights"),
    ],
    (partial(Pool, {"paste": 1}, {"past": "osl"}),): [
        ({}, "'past' has no weight; did you mean 'paste'")
    ],
    (choice_tensor,): [
        (
            {"rules": "1.5", "offer": CARDS[1:], "chosen": CARDS[:1]},
            "chosen: no card of the offer has the base id 0",
        ),
        ({"rules": "1.2", "offer": CARDS[:2]}, "offer: expected 3 cards, got 2"),
        (
            {"rules": "1.5", "offer": CARDS, "chosen": CARDS[:31]},
            "chosen: 31 cards, expected 30 at most",
        ),
    ],
}


@pytest.mark.parametrize(
    ("makers", "options", "message"),
    [(makers, *case) for makers, cases in OPTIONS.items() for case in cases],
)
def test_options(makers, options, message):
    for make in makers:
        raises(ValueError, message, make, **options)


def test_options_are_data():
    assert Options().rules == "1.5"
    with pytest.raises(TypeError):
        Options("1.5")
    with pytest.raises(AttributeError):
        Pool({"greedy": 1}).members.append("osl")


def over():
    """Return a position at the end of a game."""
    state = State.new((), ())
    while not state.is_terminal():
        state.apply_action(0)
    return state


RANDOM = {"battlers": ("random", "osl")}
one = partial(LocmEnv, **FEW)
rows = partial(LocmVectorEnv, 3, opponent="random", copy=False, **FEW)
match = partial(match_env, opponent="random", **FEW)
match_three = partial(match_rows, 3, opponent="random", copy=False, **FEW)
draft = partial(draft_env, **RANDOM)
choosing_three = partial(construct_rows, 3, **RANDOM, **FEW)
ALL = (one, rows, match, match_three, choosing_three, draft)
BATTLES = (one, rows)
ROWS = (rows, match_three, choosing_three)
BEFORE_A_CHOICE = "episodes that begin with a choice take none"
#: What makes environments -> options of `reset`, and what is said of them.
RESETS = {
    ALL: [
        ({"stat": 1}, "options: unknown 'stat'; did you mean 'state'"),
        ({"reset_masks": np.array([True, False])}, "options: unknown 'reset_masks'"),
        ({"seat": 2}, "seat: expected 0 or 1, got 2"),
        ({"seat": True}, "seat: expected 0 or 1, got True"),
        ({"match": 5}, "match: expected a mapping of seeds, got 5"),
        ({"match": {"sead": 1}}, "unknown parameter 'sead'"),
        ({"match": {"nothing": 1}}, "nothing"),
        ({"player": 5}, "player: there is no 5"),
        ({"player": "oslo"}, "player: there is no 'oslo'"),
    ],
    BATTLES: [
        ({"state": 7}, "state: expected a State, got 7"),
        ({"state": over()}, "the game is over"),
        ({"state": State.new((), (), rules="1.0")}, r"expected one of rules 1.5, got 1.0"),
        ({"state": State.new((), ()), "match": {"seed": 1}}, "match: does not apply with state"),
        ({"state": State.new((), ()), "cards": CARDS}, "cards: does not apply with state"),
        ({"state": State.new((), ()), "decks": (DECK, DECK)}, "decks: does not apply with state"),
        ({"decks": 5}, "decks: expected two, got 5"),
        ({"decks": {}}, "decks: expected two, got {}"),
        ({"decks": [DECK]}, "decks: expected (two|one for all rows or 3), got 1"),
        ({"decks": [5, DECK]}, "decks: expected (base ids, got 5|one for all rows or 3)"),
        ({"decks": [[1], [2]]}, "decks: expected 30 cards, got 1"),
        ({"decks": [DECK, [1] * 30]}, "more than 2 copies"),
        ({"decks": [DECK, [*range(29), 500]]}, "no card with base id 500"),
        ({"match": {"league": 9}}, "league"),
        ({"match": {"predefinedCardListFile": "x"}}, "predefinedCardListFile"),
        ({"cards": 5}, "cards: expected a list of cards, got 5"),
        ({"cards": CARDS[:60]}, "cards: expected 120 in a reset, got 60"),
    ],
    (partial(LocmEnv, rules="1.2"), partial(LocmVectorEnv, 2, rules="1.2")): [
        ({"cards": CARDS}, "cards: all episodes of this environment have the same")
    ],
    ROWS: [
        ({"seat": [0, 1, 2]}, "seat: expected 0 or 1, got 2"),
        ({"seat": [0, 1]}, "seat: expected one for all rows or 3, got 2"),
        *(
            ({"reset_mask": mask}, "reset_mask: expected a bool array")
            for mask in ([True] * 3, np.ones(2, bool), np.zeros(3, bool), np.ones(3))
        ),
    ],
    ALL[2:]: [
        ({"state": 1}, f"state: {BEFORE_A_CHOICE}"),
        ({"decks": [[1] * 30] * 2}, f"decks: {BEFORE_A_CHOICE}"),
    ],
}


def started(env):
    env.reset(seed=1)
    return env


def next_steps(env, count=4):
    """Return what some steps return, and a reset after them."""
    return [env.step(env.action_masks().argmax(axis=-1)) for _ in range(count)], env.reset()


@pytest.mark.parametrize(
    ("makers", "options", "message"),
    [(makers, *case) for makers, cases in RESETS.items() for case in cases],
)
def test_a_refused_reset_changes_nothing(makers, options, message):
    """Seat, position and generator stay: the episode continues, and so do later ones."""
    for make in makers:
        env, other = started(make()), started(make())
        for seed in (None, 8, None):
            raises(ValueError, message, env.reset, seed=seed, options=options)
        same(env.action_masks(), other.action_masks())
        same(next_steps(env), next_steps(other))


@pytest.mark.parametrize("make", CYCLES)
def test_resets_of_a_cycle(make):
    env = make()
    for options, message in (
        ({"seat": 0}, "seat: the caller plays both agents"),
        ({"player": "caller"}, "player: the caller plays both agents"),
        ({"stat": 1}, "options: unknown 'stat'; did you mean 'state'"),
        ({"reset_masks": np.array([True, False])}, "options: unknown 'reset_masks'"),
    ):
        raises(ValueError, message, env.reset, options=options)
    env.reset(seed=1, options={})


@pytest.mark.parametrize("make", [construct_env, draft_env, match_env])
@pytest.mark.parametrize("deck", [[1] * 29, [1] * 30, [999] * 30])
def test_given_decks_that_nobody_can_choose(make, deck):
    """The error is that of `reset`, not of an assertion after thirty picks."""
    raises(ValueError, "decks: ", make(decks=("random", deck)).reset, seed=1, options={"seat": 0})


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
        raises(ValueError, message, env.reset, seed=seed)
        if isinstance(env, LocmVectorEnv):
            raises(ValueError, message, env.reset, seed=[seed, 1, 2])
    if isinstance(env, LocmVectorEnv):
        env.reset(seed=np.arange(3))
        other.reset(seed=[0, 1, 2])
        assert observed(env) == observed(other)
        raises(ValueError, "seed: expected 3, got 4", env.reset, seed=np.arange(4))
    else:
        raises(ValueError, "seed: expected an integer, got array", env.reset, seed=np.arange(3))


def observed(env):
    """Return all that the rows of an environment show."""
    return env.games.arrays["obs"].tolist()


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_the_same_card_sets_may_be_given_for_all_rule_sets(rules):
    """They have no effect where there is one card list, and a loop over rules needs no cases."""
    episodes = []
    for options in ({}, {"card_sets": 3, "refresh": 2}):
        env = LocmEnv(rules=rules, opponent="random", **options)
        episodes.append([env.reset(seed=seed)[0]["observation"].tolist() for seed in range(3)])
    assert episodes[0] == episodes[1]


# ------------------------------------------------------------------------------------- actions


@pytest.mark.parametrize("action", [0.9, 0.0, True, "0", None, np.float64(0), np.True_, [0]])
def test_an_action_is_an_integer(action):
    """Nothing has happened after the refusal: the same episode goes on."""
    for make in (LocmEnv, lambda **o: LocmEnv(illegal="raise", **o), construct_env):
        env, other = started(make(**FEW)), started(make(**FEW))
        raises(TypeError, r"action: expected an integer, got |scalar", env.step, action)
        legal = env.sample()
        np.testing.assert_equal(env.step(legal)[:4], other.step(legal)[:4])
    cycle = started(aec.env(**FEW))
    raises(TypeError, r"action: expected an integer, got ", cycle.step, action)
    with pytest.raises((TypeError, ValueError), match="actions: expected"):
        started(LocmVectorEnv(1, **FEW)).step([action])
    env = started(LocmEnv(opponent=lambda seen, mask: action, seat="first", **FEW))
    raises(TypeError, "opponent: action: expected an integer, got ", env.step, 0)


WRONG = (-1, 500, 1 << 40, np.int64(-(1 << 63)), 2**70, -(2**70), np.uint64(2**63))


@pytest.mark.parametrize("action", WRONG)
@pytest.mark.parametrize("episode", EPISODES)
def test_an_illegal_action(episode, action):
    """It loses, stands for the first legal action, or is refused and changes nothing."""
    _, options = EPISODES[episode]
    name = {"draft": "choice", "construct": "choice"}.get(episode, episode.split(",")[0])
    options = {"episode": name, "rules": "1.2" if episode == "draft" else "1.5", **options, **FEW}
    env = LocmEnv(**options)
    _, info = env.reset(seed=1)
    seat = 0 if "both" in episode else info["seat"]
    seen, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (info["illegal"], info["winner"]) == (True, 1 - seat)
    assert np.flatnonzero(seen["action_mask"]).tolist() == [0]
    assert np.flatnonzero(env.action_masks()).tolist() == [0]
    raises(ResetNeeded, "call reset first", env.step, 0)
    lenient, legal = (started(LocmEnv(illegal="pass", **options)) for _ in range(2))
    first = int(np.flatnonzero(legal.action_masks())[0])
    np.testing.assert_equal(lenient.step(action), legal.step(first))
    strict = started(LocmEnv(illegal="raise", **options))
    message = "is not legal here" if name == "battle" else "cannot be picked"
    raises(IllegalActionError, message, strict.step, action)
    np.testing.assert_equal(strict.step(first), started(LocmEnv(**options)).step(first))


@pytest.mark.parametrize("make", [rows, match_three, choosing_three])
def test_illegal_actions_of_rows(make):
    """Rows refuse them before anything is applied."""
    env, other = started(make(illegal="raise")), started(make(illegal="raise"))
    actions, top = env.sample(1), env.single_action_space.n
    for bad in (top, -1):
        with pytest.raises(IllegalActionError, match=f"nothing was applied; row 1: {bad}"):
            env.step(np.array([actions[0], bad, actions[2]]))
    raises(TypeError, "expected integers, got float64", env.step, np.zeros(3))
    raises(ValueError, r"expected shape \(3,\), got \(4,\)", env.step, np.zeros(4, int))
    n, obs = env.num_envs, env.single_observation_space["observation"]
    arrays = {"obs": np.zeros((n, *obs.shape), obs.dtype), "masks": np.zeros((n, top), np.int8)}
    arrays["rewards"] = np.zeros(n, np.float32)
    for bad in (
        {"obs": arrays["obs"].astype(np.float64)}, {"masks": arrays["masks"][:2]},
        {"rewards": np.zeros((2, n), np.float32)}, {"terminated": np.zeros((1, n), np.bool_)},
        {"obs": arrays["obs"][:, ::2]}, {"length": np.zeros(n, np.int64)},
    ):  # fmt: skip
        raises(ValueError, "expected", env.step_into, actions, **{**arrays, **bad})
    np.testing.assert_equal(env.step(actions), other.step(actions))


@pytest.mark.parametrize("phase", ["battle", "match"])
def test_an_illegal_action_of_a_cycle(phase):
    env = started(aec.env(phase, **FEW))
    env.step(env.action_space("player_0").n - 1 if phase == "battle" else 0)  # PASS is no pick
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert env.terminations == {"player_0": True, "player_1": True}
    for agent in env.possible_agents:
        assert np.flatnonzero(env.observe(agent)["action_mask"]).tolist() == [0]
    lenient = started(aec.raw_env(phase, illegal="pass", **FEW))
    lenient.step(144)
    assert lenient.agent_selection == "player_1"
    assert lenient.rewards == {"player_0": 0.0, "player_1": 0.0}


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_no_step_before_a_reset(mode):
    env = LocmVectorEnv(2, autoreset_mode=mode, **FEW)
    raises(ResetNeeded, "call reset first", env.step, np.zeros(2, np.int64))
    raises(ResetNeeded, "call reset first", env.step_into, np.zeros(2, np.int64))
    raises(ValueError, "seat", env.reset, options={"seat": 2})
    raises(ResetNeeded, "call reset first", env.step, np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="reset_mask: the first reset has to begin all rows"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(seed=1)
    assert env.step(np.zeros(2, np.int64))[0]["action_mask"].any(axis=1).all()
    for single in (aec.raw_env(**FEW), LocmEnv(**FEW), LocmEnv(illegal="raise", **FEW)):
        with pytest.raises(ResetNeeded):
            single.step(0)


def test_a_pool_that_does_not_fit_replaces_nobody():
    env = started(LocmVectorEnv(2, **FEW))  # episodes against "greedy" go on
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
        raises(RuntimeError, "only one thread may do so at a time", method, *arguments)
    policy.go_on.set()
    first.join(60)
    np.testing.assert_equal(found[0][:4], alone.step(action)[:4])
    np.testing.assert_equal(env.step(action)[:4], alone.step(action)[:4])


def test_an_opponent_cannot_step_the_environment_that_asks_it():
    env = started(LocmEnv(opponent=lambda seen, mask: env.step(0), seat="first", **FEW))
    raises(RuntimeError, "only one thread", env.step, 0)
    raises(ResetNeeded, "broken off", env.step, 0)


@pytest.mark.parametrize("given", [{}, {"seed": 3}])
def test_an_opponent_cannot_step_the_environment_that_begins(given):
    asked = []

    def meddle(seen, mask):
        for method, arguments in ((env.step, (0,)), (env.reset, ())):
            raises(RuntimeError, "only one thread", method, *arguments)
        asked.append(len(mask))
        return 0

    options = {"opponent": lambda seen, mask: 0, "seat": "second", **FEW}
    env, alone = started(LocmEnv(**options)), started(LocmEnv(**options))
    env.set_opponent(meddle)
    np.testing.assert_equal(env.reset(**given), alone.reset(**given))
    assert asked
    np.testing.assert_equal(env.step(0), alone.step(0))


@pytest.mark.slow
@pytest.mark.parametrize("episode", amount(["match"], most=["battle", "choice", "match"]))
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

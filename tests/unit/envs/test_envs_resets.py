"""What a `reset` repeats, and the state after a reset or an opponent failed."""

import inspect
import os
import re
import sys
import threading
from dataclasses import fields
from typing import Unpack, get_type_hints

import gymnasium as gym
import numpy as np
import pytest
from amounts import FEW, amount
from gymnasium.error import ResetNeeded
from helpers import (
    ID_OPTIONS,
    construct_env,
    construct_rows,
    draft_env,
    each_rules,
    match_env,
    match_rows,
    python,
    raises,
)

from locmsim import Match
from locmsim.envs import LocmEnv, LocmVectorEnv, Options, aec
from locmsim.envs.options import OptionValues, SharedOptionValues
from locmsim.policy import Policy
from locmsim.tuning.evaluate import HELD_OUT, evaluate


def shown(env, **reset):
    """Return the observation of a reset and of some steps after it."""
    seen, _ = env.reset(**reset)
    rows = [seen]
    for _ in range(3):
        seen, _, over, _, _ = env.step(int(seen["action_mask"].nonzero()[0][-1]))
        rows.append(seen)
        if over:
            break
    return rows


# ----------------------------------------------------------------------------------- what repeats


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (lambda: LocmEnv(opponent="random", **FEW), {"cardGenSeed": 5}),
        (lambda: LocmEnv(opponent="random", **FEW), {"shufflePlayer0Seed": 5}),
        (lambda: LocmEnv(rules="1.2", opponent="random"), {"draftChoicesSeed": 5}),
        (lambda: construct_env(battlers=("random", "osl"), **FEW), {"cardGenSeed": 5}),
        (lambda: draft_env(battlers=("random", "osl")), {"shufflePlayer0Seed": 5}),
        (lambda: match_env(opponent="random", **FEW), {"cardGenSeed": 5}),
    ],
)
def test_what_parameters_leave_open_follows_from_the_seed(make, given):
    options = {"match": given}
    first, again = (shown(make(), seed=1, options=options) for _ in range(2))
    np.testing.assert_equal(first, again)
    env = make()
    (name,) = given
    env.reset(seed=1, options=options)
    one = shown(env, seed=1, options=options)
    other = shown(env, options=options)  # the row's generator has advanced
    assert len(one) == len(other)
    np.testing.assert_equal(one, first)
    seeds = dict(zip(env.games.rules.seed_names, env.games.rows.views.seeds(0)[1], strict=True))
    assert seeds[name] == given[name]


# ------------------------------------------------------------------------- resets that are refused


def test_a_reset_that_a_given_deck_does_not_allow_changes_no_row():
    """The constructor's decks fit the card sets of some episodes only, so a reset can fail late."""
    deck = [[1] * 30]
    options = {"decks": ("random", *deck), "battlers": ("random", "osl"), "seat": "random", **FEW}
    env, other = (construct_rows(3, **options) for _ in range(2))
    seeds = []
    for seed in range(100):
        try:
            env.reset(seed=seed)
        except ValueError:
            continue
        seeds.append(seed)
        break
    assert seeds
    other.reset(seed=seeds[0])
    refused = 0
    for seed in range(20):
        try:
            construct_rows(3, **options).reset(seed=seed)
        except ValueError:
            refused += 1
            raises(ValueError, "decks", env.reset, seed=seed)
    assert refused > 3
    np.testing.assert_equal(env.step(env.sample(1)), other.step(other.sample(1)))


def test_a_given_deck_of_a_draft_comes_from_its_offers():
    match = Match("1.2", seed=5)
    deck = [offer[1].base_id for offer in match.offers]
    env = draft_env(decks=(deck, deck), battlers=("random", "osl"))
    env.reset(seed=1, options={"match": {"seed": 5}})
    for _ in range(30):
        _, _, over, _, _ = env.step(0)
    assert over
    with pytest.raises(ValueError, match=r"decks: card \d+ is not offered in turn \d+$"):
        env.reset(seed=1, options={"match": {"seed": 6}})


# ----------------------------------------------------------------------------- opponents that fail


class Broken(Exception):
    pass


def failing(after: int):
    """Return an opponent that raises an exception once, in its turn number `after`."""
    calls = []

    def opponent(observation, mask):
        calls.append(1)
        if len(calls) == after:
            raise Broken
        return 0

    return opponent


def test_no_action_of_ours_is_played_for_an_opponent_that_failed():
    env = LocmEnv(opponent=failing(2), seat="first", **FEW)
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(Broken):
        env.step(0)
    before = env.state
    for action in (0, 1, 999):
        raises(ResetNeeded, r"broken off by an exception in row 0: reset$", env.step, action)
    assert env.state == before
    env.reset(seed=1)
    assert env.step(0)[1:4] == (0.0, False, False)


def test_an_opponent_that_fails_in_a_reset():
    env = LocmEnv(opponent=failing(1), seat="second", **FEW)
    with pytest.raises(Broken):
        env.reset(seed=1)
    raises(ResetNeeded, "broken off", env.step, 0)
    env.reset(seed=1)
    env.step(0)


@pytest.mark.parametrize("make", [LocmVectorEnv, match_rows])
def test_rows_whose_opponent_failed_are_named_and_the_others_go_on(make):
    env = make(4, opponent=failing(6), seat="first", **FEW)
    env.reset(seed=1)
    views = env.games.rows.views
    while views.phase(0) == "choice":
        env.step(env.sample(0))
    passes = np.zeros(4, np.int64)
    env.step(passes)
    with pytest.raises(Broken):
        env.step(passes)
    raises(ResetNeeded, r"in rows 1, 2, 3: reset$", env.step, passes)
    kept = views.state(0)
    env.reset(options={"reset_mask": np.array([False, True, True, True])})
    assert views.state(0) == kept
    env.step(env.sample(0) * [0, 1, 1, 1])
    assert views.state(0) != kept


def test_all_rows_ask_the_same_function():
    """All rows call the network that is being trained, not copies of its earlier weights."""

    class Network:
        def __init__(self):
            self.asked = 0

        def __call__(self, observation, mask):
            self.asked += 1
            return 0

    network = Network()
    env = LocmVectorEnv(5, opponent=network, seat="first", **FEW)
    env.reset(seed=1)
    env.step(np.zeros(5, np.int64))
    assert network.asked == 5


# --------------------------------------------------------------------------- arrays, forks, options


def test_arrays_that_are_refused_are_not_written_to():
    env = LocmEnv(opponent="pass", **FEW)
    env.reset(seed=1)
    rows = env.games.rows
    before = env.games.arrays["obs"].copy()
    other = np.zeros_like(env.games.arrays["obs"])
    raises(ValueError, "masks", rows.bind, other, np.zeros(3, np.int8))
    env.step(0)
    assert not other.any()
    assert (env.games.arrays["obs"] != before).any()


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize(
    "make",
    [
        lambda: LocmVectorEnv(256, opponent="random", threads=2, **FEW),
        lambda: construct_rows(4, battlers=("random", "osl"), threads=2, **FEW),
    ],
)
def test_a_forked_process_has_threads_of_its_own(make):
    env = make()
    env.reset(seed=1)
    for number in range(30):
        env.step(env.sample(number))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        for number in range(30, 60):
            env.step(env.sample(number))
        os.write(writing, b"done")
        os._exit(0)
    os.close(writing)
    timer = threading.Timer(60, os.kill, (child, 9))
    timer.start()
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b"done"
    timer.cancel()
    os.waitpid(child, 0)
    env.close()


def entries(made):
    """Return the options among the parameters in a docstring, in their order."""
    names = {option.name for option in fields(Options)}
    return [n for n in re.findall(r"(?m)^(\w+) : ", inspect.getdoc(made)) if n in names]


def test_types_of_options_are_known_to_type_checkers():
    """Each option is in the types of keyword arguments, with its type."""
    assert get_type_hints(OptionValues) == get_type_hints(Options)
    who = {"opponent", "seat", "players"}
    assert {*get_type_hints(SharedOptionValues)} == {*get_type_hints(Options)} - who
    for made, values in (
        (LocmEnv, OptionValues),
        (LocmVectorEnv, OptionValues),
        (aec.env, SharedOptionValues),
        (aec.raw_env, SharedOptionValues),
    ):
        assert inspect.signature(made).parameters["options"].annotation == Unpack[values]


def test_docstrings_list_the_options_with_their_defaults():
    """Where an option does not apply, it is not listed."""
    names = [option.name for option in fields(Options)]
    assert entries(Options) == entries(LocmEnv) == entries(LocmVectorEnv) == names
    who, choice = {"opponent", "seat", "players"}, {"battlers", "battles", "deck_values"}
    for made in (aec.LocmAEC, aec.env, aec.raw_env):
        assert entries(made) == [n for n in names if n not in {"episode", *who, *choice}]
    for made in (LocmEnv, LocmVectorEnv, aec.LocmAEC, aec.env):
        assert "\nrender_mode : " in inspect.getdoc(made)
        assert "\noptions\n" not in inspect.getdoc(made)
    assert '\nrules : {"1.5", "1.2", "1.0"}, default "1.5"\n' in inspect.getdoc(LocmEnv)
    assert "\nthreads : int, default 1\n" in inspect.getdoc(LocmVectorEnv)
    assert "\nbattles : int, default 1\n" in inspect.getdoc(LocmEnv)
    text = " ".join(inspect.getdoc(LocmEnv).split())
    assert "after a choice; from 1 to 2^31 - 1. The reward is" in text
    assert 'shuffled anew. Needs ``episode="choice"``.' in text


def test_an_id_is_a_name_for_options():
    for name, options in ID_OPTIONS.items():
        env = gym.make(f"locmsim.envs:locmsim/{name}-v0", **FEW).unwrapped
        assert type(env) is LocmEnv
        assert env.options == LocmEnv(**options, **FEW).options


def test_autoreset_modes_by_name():
    for mode in ("NEXT_STEP", "next_step", "NextStep", "SameStep", "DISABLED"):
        LocmVectorEnv(1, opponent="pass", autoreset_mode=mode, **FEW).close()


def test_illegal_actions_do_not_pay():
    """A learner who loses by an illegal action must not keep what a regular end takes away."""
    for name in ("coac", "player-health", "opponent-health", "player-board-presence"):
        env = LocmEnv(opponent="osl", reward=f"gym-locm:{name}", seat="second", **FEW)
        for seed in range(5):
            env.reset(seed=seed)
            while True:
                legal = env.action_masks().nonzero()[0]
                if env.state.turn > 6:
                    _, reward, _, _, info = env.step(-1)
                    assert info["illegal"]
                    assert reward <= 0
                    assert name != "coac" or reward < 0
                    break
                if env.step(int(legal[0]))[2]:
                    break


def test_evaluations_have_card_sets_of_their_own(spied):
    """Evaluations use card sets other than the default ones, on which policies were trained."""
    seen = spied(LocmVectorEnv, "__init__", lambda *_, **options: options.get("card_sets"))
    evaluate(Policy.random(), "random", games=2)
    assert seen == [HELD_OUT, HELD_OUT]
    evaluate(Policy.random(), "random", games=2, card_sets=3)
    assert seen[2:] == [3, 3]
    evaluate(Policy.random(rules="1.2"), "random", games=2)  # cards of 1.2 are always the same
    assert LocmEnv().options.card_sets <= HELD_OUT[0]


@each_rules
def test_evaluations_with_neighbouring_seeds_share_no_deal(rules, spied):
    policy = Policy.random(rules=rules)
    shown = spied(Policy, "act_batch", lambda _, seen, *__, **___: {*map(bytes, seen)})
    deals = []
    for seed in (1, 2):
        shown.clear()
        evaluate(policy, "random", games=20, seed=seed)
        deals.append(shown[0])  # the first decision of each game in the first seat
    assert [*map(len, deals)] == [10, 10]
    assert not deals[0] & deals[1]


# ------------------------------------------------------------------------- what the choice shows


def test_after_an_illegal_pick_the_battle_is_not_that_of_the_episode_before():
    env = match_env(opponent="pass", render_mode="ansi", **FEW)
    env.reset(seed=1)
    for _ in range(30):
        env.step(int(env.action_masks().nonzero()[0][0]))
    board = env.render()
    assert board.splitlines()[0] == str(env.state).splitlines()[0]
    env.reset(seed=2)
    env.step(int(env.action_masks().nonzero()[0][0]))
    assert env.step(-1)[2]
    assert env.render().startswith("step 1 of 30")
    with pytest.raises(ValueError, match="the battle has not begun"):
        env.state  # noqa: B018
    assert env.action_masks().nonzero()[0].tolist() == [0]


# ------------------------------------------------------------------- what one core of rows changes


def beam_game(env, seed):
    env.reset(seed=seed)
    trajectory = []
    while True:
        action = int(env.action_masks().nonzero()[0][-1])
        seen, reward, over, _, _ = env.step(action)
        trajectory.append((seen["observation"].tolist(), float(reward)))
        if over:
            return trajectory


@each_rules
def test_a_search_inside_believes_what_the_agent_does(rules):
    """This number of nodes is enough for the search to play on in sampled worlds."""
    spec = "beam:nodes=3000"
    options = {"rules": rules, "card_sets": 3}
    inside = LocmEnv(opponent=spec, **options)
    from locmsim.agents import make_agent

    outside = LocmEnv(opponent=make_agent(spec, time_ms=0), **options)
    for seed in range(amount(1, 3)):
        assert beam_game(inside, seed) == beam_game(outside, seed)


@pytest.mark.parametrize("name", ["player-health", "coac"])
def test_rewards_of_self_play_have_all_shaping(name):
    """Each player's `rewards_both` is the change of their potential, and the reward of a win."""
    from rows_access import potentials_of

    env = LocmVectorEnv(4, opponent="caller", shaping={name: 0.1}, **FEW)
    env.reset(seed=1)

    def potential():
        return np.array(
            [
                [0.1 * potentials_of(state, player)[name] for player in (0, 1)]
                for state in env.states()
            ]
        )

    both = np.zeros((4, 2), np.float32)
    ended, winner = np.zeros((2, 4), np.bool_), np.zeros(4, np.int8)
    paid, begun, games = np.zeros((4, 2)), potential(), 0
    for number in range(120):
        env.step_into(
            env.sample(number), rewards_both=both, terminated=ended[0], truncated=ended[1],
            winner=winner,
        )  # fmt: skip
        paid += both
        for i in np.flatnonzero(ended[0]):
            returns = np.array([1, -1]) * (1 - 2 * winner[i])
            np.testing.assert_allclose(paid[i], returns - begun[i], atol=1e-4)
            paid[i], begun[i], games = 0, potential()[i], games + 1
    assert games > 3


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_rows_of_a_choice_share_their_searches():
    """A search of its own would take nine megabytes a row."""
    code = """
from locmsim.envs import LocmVectorEnv
def size():
    return int(open("/proc/self/statm").read().split()[0]) * 4096
sizes = []
for rows in (1, 17):
    before = size()
    env = LocmVectorEnv(rows, episode="choice", battlers=("beam:nodes=50",) * 2, card_sets=2)
    env.reset(seed=1)
    for number in range(31):
        env.step(env.sample(number))
    sizes.append(size() - before)
print((sizes[1] - sizes[0]) / 16)
"""
    assert float(python("-c", code).stdout) < 1e6

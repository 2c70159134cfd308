"""Draft-v0, Construct-v0 and Match-v0: Gymnasium's checks, and the referee's choice phase."""

import json

import gymnasium as gym
import numpy as np
import pytest
from amounts import FEW, amount
from gymnasium.utils.env_checker import check_env
from helpers import construct_env

from locmsim import Match, State
from locmsim.decks.draft_value import default_draft_value
from locmsim.decks.value import default_value
from locmsim.envs import LocmEnv, LocmVectorEnv
from locmsim.policy import get_layout

IDS = [("Draft", "1.2"), ("Draft", "1.0"), ("Construct", "1.5")]
#: Options of choices of cards whose decks are judged by networks.
VALUED = {
    "episode": "choice",
    "battlers": ("random", "random"),
    "deck_values": True,
    "card_sets": 3,
}
MATCHES = [("Match", rules) for rules in ("1.5", "1.2", "1.0")]


def make(name, rules, **options):
    return gym.make(f"locmsim.envs:locmsim/{name}-v0", rules=rules, **{**FEW, **options})


def run(env, seed, random):
    """Play an episode of random legal actions and return what each step returned."""
    random = np.random.default_rng(random)
    observation, info = env.reset(seed=seed)
    steps = [observation]
    while True:
        action = int(random.choice(np.flatnonzero(observation["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        steps.append(observation)
        assert not truncated
        if terminated:
            return steps, reward, info
        assert reward == 0


@pytest.mark.slow
@pytest.mark.parametrize("mask", ["obs", "info"])
@pytest.mark.parametrize(("name", "rules"), IDS + MATCHES)
def test_gymnasium_has_nothing_to_criticise(name, rules, mask):
    options = {"opponent": "random"} if name == "Match" else {}
    env = make(name, rules, mask=mask, **options)
    check_env(env.unwrapped)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    np.testing.assert_equal(env.reset(seed=3)[0], again.reset(seed=3)[0])
    venv = gym.make_vec(f"locmsim/{name}-v0", num_envs=2, rules=rules, mask=mask, **FEW)
    venv.reset(seed=1)
    venv.step(venv.action_space.sample())
    venv.close()


@pytest.mark.parametrize(("name", "rules"), IDS)
def test_a_choice_is_the_referees(name, rules):
    env = make(name, rules, battlers=("osl", "random"))
    for seed in range(amount(1, 3)):
        steps, reward, info = run(env, seed, seed)
        assert len(steps) == 31
        assert reward == (1 if info["winner"] == info["seat"] else -1)
        again = run(env, seed, seed)
        np.testing.assert_equal(again[1:], (reward, info))
        match = Match(rules, params=info["match"]["params"])
        for pair in zip(*info["match"]["choices"], strict=True):
            for player, line in enumerate(pair):
                match.submit(player, line)
        assert match.phase == "battle"
        json.dumps(dict(info["match"]))


def test_rows_are_those_of_the_battle_layout():
    """An offered card is described as in hand, but for what depends on the position."""
    env = construct_env(seat="first", **FEW)
    observation, _ = env.reset(seed=1)
    cards = env.games.cards(0)
    layout = get_layout("entities")
    static = [i for i in range(24) if i not in (19, 20, 21)]
    offer = env.layout.split(observation["observation"])["offer"].reshape(120, 24)
    for start in range(0, 120, 30):
        state = State.new(cards[start : start + 30], cards[:30])
        hand = layout.split(state.observation_tensor(0, "entities"))["hand"]
        for h, held in enumerate(state.players[0].hand):
            row = offer[cards.index(held.card)]
            assert (row[static] == hand[h][static]).all()


@pytest.mark.parametrize(("name", "rules"), IDS + MATCHES)
def test_a_privileged_state_has_both_decks(name, rules):
    players = {"opponent": "random"} if name == "Match" else {"battlers": ("osl", "osl")}
    env = make(name, rules, privileged=True, **players)
    random = np.random.default_rng(1)
    seen, info = env.reset(seed=2)
    for number in range(30):
        rows = seen["state"].reshape(-1, 24)
        assert env.observation_space.contains(seen)
        assert not rows[:16].any()
        assert rows[16:46].any(axis=1).sum() == number
        assert rows[46:].any(axis=1).all()
        other = rows[46:].copy()
        action = int(random.choice(np.flatnonzero(seen["action_mask"])))
        seen, _, _, _, info = env.step(action)
    if name == "Match":  # the battle has begun, with cards in hands and decks
        rows = seen["state"].reshape(-1, 24)
        theirs = np.concatenate([rows[8:16], rows[46:]])
        costs = sorted(row[5] for row in theirs if row.any())
        expected = sorted(row[5] for row in other)
        assert rows[:16].any()
        assert all(costs.count(cost) <= expected.count(cost) for cost in costs)
    else:
        ids = info["match"].match().chosen[1 - info["seat"]]
        cards = {card.base_id: card for card in Match(rules, params=info["match"]["params"]).cards}
        assert [cards[i].cost for i in ids] == other[:, 5].tolist()


@pytest.mark.parametrize(("name", "rules"), IDS)
def test_battlers_that_search(name, rules):
    """The default bots search; with the same seed, their battles have the same result."""
    env = make(name, rules, decks="random")
    assert env.unwrapped.options.battlers == ("beam:nodes=500", "beam:nodes=500")
    first, again = run(env, 3, 3), run(env, 3, 3)
    np.testing.assert_equal(first[1:], again[1:])
    quick = make(name, rules, battlers=("beam:nodes=400", "random"), battles=3, refresh=1)
    wins = [run(quick, seed, seed)[1] for seed in range(amount(2, 4))]
    assert np.mean(wins) > 0.5


def test_card_sets_of_choices_are_refreshed():
    env = construct_env(card_sets=(3, 5), refresh=1, battlers=("random", "random"))
    drawn = []
    for episode in range(6):
        env.reset(seed=None if episode else 1)
        drawn.append(env.games.rows.card_sets.seed(0) - episode)
    assert set(drawn) == {3, 4}


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_values_of_decks_are_those_of_the_networks(rules):
    options = {**VALUED, "rules": rules}
    env, venv = LocmEnv(**options), LocmVectorEnv(3, **options)
    env.reset(seed=5)
    venv.reset(seed=[4, 5, 6])
    for number in range(30):
        actions = venv.sample(number)
        info = env.step(int(actions[1]))[4]
        infos = venv.step(actions)[4]
    match = info["match"].match()
    values = info["deck_values"]
    network = default_value() if rules == "1.5" else default_draft_value(rules)
    cards = {card.base_id: card for card in match.cards}
    for value, chosen in zip(values, match.chosen, strict=True):
        assert value == np.float32(network([cards[base] for base in chosen]))
    assert values[0] != values[1]
    np.testing.assert_array_equal(infos["deck_values"][1], values)
    assert len({tuple(row) for row in infos["deck_values"].tolist()}) == 3


@pytest.mark.parametrize("rules", ["1.5", "1.2"])
@pytest.mark.parametrize("reward", ["deck-value", "deck-value=0.5,win-loss=2"])
def test_rewards_by_the_values_of_decks(reward, rules):
    """All environments pay the result that the networks expect of the two decks."""
    deck, win = (1, 0) if reward == "deck-value" else (0.5, 2)
    options = {**VALUED, "rules": rules}
    env = LocmEnv(reward=reward, **options)
    venv = LocmVectorEnv(3, reward=reward, **options)
    written = LocmVectorEnv(3, reward=reward, **options)
    numbers = np.zeros(3, np.float32)
    both = np.zeros((3, 2), np.float32)
    _, rewards, info = run_same(env, [venv, written], numbers, both)
    values = info["deck_values"]
    mine = info["seat"]
    expected = np.tanh((values[mine] - values[1 - mine]) / 2)
    assert -1 < expected < 1
    result = 1 if info["winner"] == mine else -1
    assert rewards[0] == pytest.approx(deck * expected + win * result, abs=1e-6)
    assert rewards[1:] == [pytest.approx(rewards[0])] * 2
    assert both[1, mine] == pytest.approx(rewards[0])
    assert both.sum() == pytest.approx(0)


def run_same(env, vectors, numbers, both):
    """Play an episode of the first legal actions.

    Return the rewards of the single environment, those of row 1 of two vector environments, the
    second of which writes into arrays, and the info.
    """
    env.reset(seed=8)
    for venv in vectors:
        venv.reset(seed=7)  # row 1 has seed 8
    while True:
        action = int(env.action_masks().argmax())
        actions = np.full(3, action)
        _, reward, terminated, _, info = env.step(action)
        rewards = vectors[0].step(actions)[1]
        vectors[1].step_into(actions, rewards=numbers, rewards_both=both)
        if terminated:
            return env, [reward, float(rewards[1]), float(numbers[1])], info
        assert reward == 0
        assert not rewards.any()


def test_an_illegal_pick_is_worth_no_more_than_a_lost_battle():
    """The reward is that of the worst deck and a lost battle, whatever deck was picked."""
    options = {"battlers": ("random", "random"), "card_sets": 3, "illegal": "lose"}
    env = construct_env(reward="deck-value=0.5,win-loss=2", **options)
    env.reset(seed=1)
    env.step(0)
    seen = env.step(0)[0]
    assert env.layout.split(seen["observation"])["chosen"][0] == 2
    assert seen["action_mask"][0] == env.action_masks()[0] == 0
    _, reward, terminated, _, info = env.step(0)
    assert terminated
    assert info["illegal"]
    assert reward == -2.5

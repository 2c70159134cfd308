"""`locmsim/Battle-v0`: Gymnasium's own checks, and the same game played by hand."""

import json

import gymnasium as gym
import numpy as np
import pytest
import reference_layouts
from amounts import FEW, amount
from gymnasium.utils.env_checker import check_env
from helpers import RULE_SETS, each_rules
from reference_layouts import Past
from rows_access import potentials_of

from locmsim import Match, generate_cards
from locmsim.agents._scripted import SCRIPTED, choose_action
from locmsim.envs import EpisodeMatch, LocmEnv, LocmVectorEnv, Pool

ID = "locmsim.envs:locmsim/Battle-v0"


def finish(env, action=None):
    """Return the last step of an episode of random actions."""
    while True:
        step = env.step(env.unwrapped.sample() if action is None else action)
        if step[2] or step[3]:
            return step


def layouts(rules):
    return ("entities", "entities-f32") if rules == "1.0" else ("entities", "gym-locm")


@pytest.mark.parametrize(
    ("rules", "layout", "mask"),
    [(r, lay, m) for r in RULE_SETS for lay in layouts(r) for m in ("obs", "info")],
)
def test_gymnasium_has_nothing_to_criticise(rules, layout, mask):
    env = gym.make(ID, rules=rules, layout=layout, mask=mask, opponent="random", **FEW)
    check_env(env.unwrapped, skip_render_check=(layout, mask) != ("entities", "obs"))
    assert json.loads(env.spec.to_json())["kwargs"]["rules"] == rules
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    first, second = env.reset(seed=3)[0], again.reset(seed=3)[0]
    np.testing.assert_equal(first, second)


def pass_always(observation, mask):
    return 0


@pytest.mark.parametrize(
    "opponent", [*SCRIPTED, "greedy", pass_always, Pool({"random": 1, "osl": 2, "rule": 1})]
)
def test_every_kind_of_opponent_plays(opponent):
    env = LocmEnv(opponent=opponent, **FEW)
    check_env(env, skip_render_check=True)
    env.reset(seed=1)
    for _ in range(3):
        _, reward, terminated, truncated, info = finish(env)
        assert terminated
        assert not truncated
        assert reward == info["returns"][info["seat"]]
        env.reset()


@each_rules
@pytest.mark.parametrize("opponent", ["osl", "max-attack", "pass"])
def test_a_game_by_hand_is_the_same(rules, opponent):
    """Observations, masks, rewards and ends follow from `State` and the slow layouts."""
    env = LocmEnv(rules=rules, opponent=opponent, **FEW)
    random = np.random.default_rng(1)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        seat = info["seat"]
        seed_of_match, seeds = env.games.rows.views.seeds(0)
        state, past = start_by_hand(env, seed_of_match, seeds)
        answer(past, seat, opponent)
        while True:
            state = past.state
            assert env.state == state
            expected = reference_layouts.entities(state, seat, past)
            np.testing.assert_array_equal(observation["observation"], expected)
            legal = state.legal_actions(seat) or [0]
            assert np.flatnonzero(observation["action_mask"]).tolist() == legal
            assert np.flatnonzero(env.action_masks()).tolist() == legal
            if state.is_terminal():
                break
            action = int(random.choice(legal))
            observation, reward, terminated, truncated, info = env.step(action)
            past.apply(action)
            answer(past, seat, opponent)
            assert reward == past.state.returns()[seat]
            assert terminated == past.state.is_terminal()
            assert not truncated
            assert info["turn"] == past.state.turn
        assert info["winner"] == state.winner
        assert info["health"].tolist() == [view.health for view in state.players]
        assert info["match"]["params"]["seed"] == seed_of_match


def start_by_hand(env, seed, seeds):
    env_match = env.games
    cards = env_match.cards(0)
    result = (seed, seeds, env_match.rows.views.decks(0), env_match.rows.card_sets.offers(0))
    match = EpisodeMatch(env.options.rules, result, cards, fixed=False).match()
    return match.state, Past.of_deal(match.state)


def answer(past, seat, opponent):
    while not past.state.is_terminal() and past.state.turn & 1 != seat:
        past.apply(choose_action(opponent, past.state))


@each_rules
def test_match_of_the_info_is_the_one_that_was_played(rules):
    env = LocmEnv(rules=rules, opponent="pass", **FEW)
    env.reset(seed=4)
    start = env.state
    info = finish(env)[-1]
    match = info["match"]
    assert set(match) == {"rules", "params", "choices"}
    assert json.loads(json.dumps(dict(match))) == dict(match)
    if info["seat"] == 0:
        assert match.match().state == start
    again = LocmEnv(rules=rules, opponent="pass", **FEW)
    again.reset(seed=0, options={"match": match["params"], "seat": info["seat"]})
    assert again.games.rows.views.seeds(0)[0] == match["params"]["seed"]


def test_decks_and_matches_can_be_given():
    env = LocmEnv(opponent="pass", **FEW)
    decks = [[i for i in range(15) for _ in range(2)], list(range(20, 50))]
    params = Match(seed=9).params
    env.reset(seed=1, options={"match": params, "decks": decks, "seat": 0, "state": None})
    match = Match(params=params)
    for player, deck in enumerate(decks):
        match.submit(player, ";".join(f"CHOOSE {i}" for i in deck))
    assert env.state == match.state


def test_decks_of_1x_that_no_draft_gave_can_be_played_again():
    decks = [[*range(1, 31)], [*range(31, 61)]]
    env = LocmEnv(rules="1.2", opponent="pass", decks=decks, seat="first")
    env.reset(seed=1)
    start = env.state
    info = finish(env, action=0)[-1]
    assert "predefinedDraftIds" in info["match"]["params"]
    assert info["match"].match().state == start


def test_a_state_can_be_given():
    start = LocmEnv(**FEW)
    start.reset(seed=5)
    state = start.state
    for _ in range(20):
        state.apply_action(state.legal_actions()[-1])
    env = LocmEnv(opponent="pass", **FEW)
    seat = state.current_player()
    observation, info = env.reset(seed=1, options={"state": state, "seat": seat})
    assert env.state == state
    assert info["seat"] == seat
    np.testing.assert_array_equal(
        observation["observation"], reference_layouts.entities(state, seat, Past(state))
    )
    assert finish(env)[-1]["match"] is None


def test_seats():
    for seat, expected in (
        ("first", {0}), ("second", {1}), ("random", {0, 1}), ("alternate", {0, 1}),
    ):  # fmt: skip
        env = LocmEnv(seat=seat, opponent="pass", **FEW)
        seats = [env.reset(seed=None if i else 1)[1]["seat"] for i in range(12)]
        assert set(seats) == expected
        if seat == "alternate":
            assert seats == [0, 1] * 6


def test_pools_are_drawn_from_by_weight():
    calls = []
    named = {"a": lambda o, m: calls.append("a") or 0, "b": lambda o, m: calls.append("b") or 0}
    env = LocmEnv(opponent=Pool({"a": 3, "b": 1}, named), seat="second", **FEW)
    for i in range(200):
        env.reset(seed=None if i else 1)
    assert len(calls) == 200
    assert 115 < calls.count("a") < 185
    env.set_opponent("pass")
    env.reset()
    assert len(calls) == 200


# ------------------------------------------------------------------------------ rewards and ends


@pytest.mark.parametrize("mask", ["obs", "info"])
def test_each_step_has_arrays_of_its_own(mask):
    """Returned arrays stay as they were, whatever the caller does with others."""
    env = LocmEnv(opponent="random", mask=mask, card_sets=4)
    seen, info = env.reset(seed=1)
    kept = []
    for number in range(60):  # more than one chunk of arrays
        arrays = list(seen.values()) if mask == "obs" else [seen, info["action_mask"]]
        assert all(array.flags.writeable and array.flags.c_contiguous for array in arrays)
        kept += [(array, array.copy()) for array in arrays]
        legal = env.action_masks()
        arrays[1][:] = 7  # the caller may change returned arrays
        kept[-1] = arrays[1], arrays[1].copy()
        assert (env.action_masks() == legal).all()
        seen, _, ended, _, info = env.step(int(np.flatnonzero(legal)[number % legal.sum()]))
        if ended:
            seen, info = env.reset()
    for array, before in kept:
        np.testing.assert_array_equal(array, before)


def test_long_games_are_truncated():
    env = LocmEnv(opponent="pass", max_actions=20, shaping={"health": 1.0}, **FEW)
    env.reset(seed=1)
    _, _, terminated, truncated, info = finish(env, action=0)
    assert truncated
    assert not terminated
    assert info["length"] == 20
    assert info["winner"] == -1
    assert info["returns"].tolist() == [0, 0]


@pytest.mark.parametrize("opponent", ["pass", "random", "beam:nodes=12", "rule"])
def test_the_limit_of_actions_leaves_one_to_the_learner(opponent):
    """An episode whose limit the opponent's first turn exceeds still lets the learner act once."""
    env = LocmEnv(opponent=opponent, seat="second", max_actions=1, **FEW)
    for seed in range(5):
        env.reset(seed=seed)
        assert env.step(0)[2:4] == (False, True)


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_shaping_telescopes(gamma):
    weights = {"health": 0.5, "coac": 2.0, "opponent-board-presence": 0.25}
    env = LocmEnv(opponent="random", shaping=weights, gamma=gamma, **FEW)

    def phi(state, seat):
        own = potentials_of(state, seat)
        return 0.5 * (own["player-health"] + own["opponent-health"]) + (
            2.0 * own["coac"] + 0.25 * own["opponent-board-presence"]
        )

    for seed in range(5):
        _, info = env.reset(seed=seed)
        first = phi(env.state, info["seat"])
        total, factor = 0.0, 1.0
        while True:
            before = phi(env.state, info["seat"])
            _, reward, terminated, _, info = env.step(env.sample())
            if not terminated:
                expected = gamma * phi(env.state, info["seat"]) - before
                assert reward == pytest.approx(expected, abs=1e-5)
            total += factor * reward
            if terminated:
                break
            factor *= gamma
        won = info["returns"][info["seat"]]
        assert total == pytest.approx(factor * won - first, abs=1e-4)


def test_rewards_of_gym_locm():
    env = LocmEnv(opponent="random", reward="gym-locm:win-loss=2,player-health=3", **FEW)
    _, info = env.reset(seed=1)
    seat = info["seat"]
    health = env.state.players[seat].health
    total = 0.0
    while True:
        _, reward, terminated, _, info = env.step(env.sample())
        total += reward
        if terminated:
            break
    last = env.state.players[seat].health
    assert total == pytest.approx(2 * info["returns"][seat] + 3 * (last - health) / 30, abs=1e-4)


# -------------------------------------------------------------------------------- cards and decks


@pytest.mark.slow
def test_a_pool_of_card_sets_that_is_refreshed():
    """After each two episodes of a row, its lowest card set is replaced by the next new one."""
    env = LocmEnv(card_sets=(5, 8), refresh=2, opponent="beam:nodes=20")
    vector = LocmVectorEnv(3, card_sets=(5, 8), refresh=2, opponent="beam:nodes=20")
    drawn = set()
    for episode in range(amount(14, 40)):
        env.reset(seed=2 if episode == 0 else None)
        seed = env.games.rows.views.seeds(0)[1][0]
        assert 5 + episode // 2 <= seed < 8 + episode // 2
        drawn.add(seed)
        cards = {card.base_id: card for card in generate_cards(seed)}
        held = [card for _, card in (*env.state.players[0].hand, *env.state.players[1].hand)]
        assert all(card == cards[card.base_id] for card in held)
        for _ in range(3):  # against an opponent who has to know the set
            if env.step(env.sample())[2]:
                break
    assert len(drawn) > amount(4, 12)
    # The rows' episodes differ widely, so that they need different sets at one place of the pool.
    vector.reset(seed=2)
    for _ in range(10):
        vector.reset(options={"reset_mask": np.array([True, False, False])})
    assert vector.games.rows.views.seeds(0)[1][0] >= 5 + 5
    for number in range(amount(20, 100)):
        for row in range(3):
            state = vector.games.rows.views.state(row)
            seed = vector.games.rows.views.seeds(row)[1][0]
            assert sorted(state.table.pool, key=lambda card: card.base_id) == generate_cards(seed)
        vector.step(vector.sample(number))


def test_card_sets():
    env = LocmEnv(card_sets=(5, 8), opponent="pass")
    used = set()
    for i in range(40):
        env.reset(seed=None if i else 1)
        used.add(env.games.rows.views.seeds(0)[1][0])
    assert used == {5, 6, 7}
    fresh = LocmEnv(card_sets=None, opponent="pass")
    used = set()
    for i in range(4):
        fresh.reset(seed=None if i else 1)
        used.add(fresh.games.rows.views.seeds(0)[1][0])
        assert fresh.games.cards(0) == generate_cards(fresh.games.rows.views.seeds(0)[1][0])
        finish(fresh)
    assert len(used) == 4


def test_own_cards():
    cards = generate_cards(3)[:40]
    env = LocmEnv(cards=[card.to_row() for card in cards], opponent="random")
    env.reset(seed=1)
    assert {entry.card for entry in env.state.players[0].deck} <= set(cards)
    match = finish(env)[-1]["match"]
    assert match["cards"] == [card.to_row() for card in cards]
    assert match.match().phase == "battle"


@pytest.mark.parametrize(
    ("rules", "decks"),
    [
        ("1.5", "classic"), ("1.5", ("area", "random")), ("1.2", "curve"),
        ("1.0", ("order", "random")),
        ("1.5", lambda cards: [card.base_id for card in cards[:30]]),
    ],
)  # fmt: skip
def test_ways_to_choose_decks(rules, decks):
    env = LocmEnv(rules=rules, decks=decks, opponent="random", **FEW)
    for seed in range(3):
        env.reset(seed=seed)
        info = finish(env)[-1]
        assert info["match"].match().phase == "battle"


# ------------------------------------------------------------------------------------ the rest


def test_a_privileged_state_shows_every_card():
    env = LocmEnv(opponent="random", privileged=True, card_sets=2)
    seen, _ = env.reset(seed=4)
    for _ in range(60):
        assert env.observation_space.contains(seen)
        state, seat = env.state, env.games.rows.views.seat(0)
        rows = seen["state"].reshape(-1, 24)
        hands, decks = (rows[:8], rows[8:16]), (rows[16:46], rows[46:])
        for side in (0, 1):
            assert (hands[side][:, 0] == 1).sum() == len(state.players[seat ^ side].hand)
            costs = [card.cost for _, card in state.players[seat ^ side].hand]
            assert hands[side][: len(costs), 5].tolist() == costs
            assert (decks[side][:, 0] == 1).sum() == state.players[seat ^ side].deck_size
        shown = seen["observation"][24:216].reshape(8, 24)
        assert (hands[0][:, :19] == shown[:, :19]).all()
        seen, _, terminated, _, _ = env.step(env.sample())
        if terminated:
            break
        drawn = state.players[seat].deck_size - env.state.players[seat].deck_size
        hand = seen["state"].reshape(-1, 24)[: len(env.state.players[seat].hand)]
        assert (hand[len(hand) - drawn :] == decks[0][:drawn]).all()
    venv = LocmVectorEnv(2, opponent="random", privileged=True, card_sets=2)
    many, _ = venv.reset(seed=4)
    first, _ = env.reset(seed=4)
    assert venv.observation_space.contains(many)
    assert (many["state"][0] == first["state"]).all()

"""No observation, mask or info depends on what its player cannot see."""

import numpy as np
import pytest
from env_checks import check_games, layouts, shown
from helpers import RULE_SETS

from locmsim import Card, CardType, Observation, State
from locmsim.envs import BattleEnv, LocmVectorEnv
from locmsim.envs.games import Games, Options
from locmsim.policy import get_layout

each_rules = pytest.mark.parametrize("rules", RULE_SETS)


@each_rules
def test_resampling_what_is_hidden_changes_nothing_that_is_seen(rules):
    """In the middle of games, with their whole past."""
    assert check_games(rules, range(3)) > 300


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_swapped_game_looks_the_same_until_a_card_is_drawn(rules):
    """One row goes on with the true state, the other with another one, for a whole turn."""
    games = Games(2, Options(rules=rules, card_sets=4, opponent="caller"))
    rows = games.rows
    random = np.random.default_rng(5)
    steps = 0
    for seed in range(20):
        for row in (0, 1):
            games.begin(row, seed=seed)
        for _ in range(int(random.integers(40))):
            if rows.winner(0) < 0:
                action = int(random.choice(rows.state(0).legal_actions()))
                rows.step_row(0, action)
                rows.step_row(1, action)
        player = rows.mover(0)
        rows.put_state(1, rows.state(1).resample_hidden(player, seed))
        while rows.winner(0) < 0 and rows.mover(0) == player:
            assert shown(rows, 0, player, rules) == shown(rows, 1, player, rules)
            action = int(random.choice(rows.state(0).legal_actions()))
            rows.step_row(0, action)
            rows.step_row(1, action)
            steps += 1
    assert steps > 20


POISON = 77


@each_rules
def test_poisoned_cards_are_never_seen(rules):
    """Hidden cards with values that no other card has."""
    plain = [Card(i, CardType.CREATURE, 1, 1, 1) for i in range(1, 16) for _ in range(2)]
    poison = [
        Card(100 + i, CardType.CREATURE, POISON, POISON, POISON, "BCDGLW", POISON, POISON, POISON)
        for i in range(30)
    ]
    for player in (0, 1):
        decks = [plain, plain]
        hidden = [*plain[:5], *poison[:25]] if player == 0 else [*plain[:4], *poison[:26]]
        decks[1 - player] = hidden
        state = State.new(*decks, rules=rules)
        if state.turn & 1 != player:
            state.apply_action(0)
        games = Games(1, Options(rules=rules, opponent="caller"))
        games.begin(0, options={"state": state})
        for name in layouts(rules):
            layout = get_layout(name, rules)
            out = np.empty(layout.shape, layout.dtype)
            games.rows.observe(0, player, out, None, name)
            values = out if name == "entities" else np.round(out * 12)
            assert POISON not in values
            games.rows.observe(0, 1 - player, out, None, name)  # the other one knows their cards
            values = out if name == "entities" else np.round(out * 12)
            if player == 0:
                assert POISON not in out[: layout.blocks[2].start]


def test_infos_tell_nothing_before_the_end():
    env = BattleEnv(opponent="random", card_sets=2, mask="info")
    vector = LocmVectorEnv(2, opponent="random", card_sets=2)
    _, info = env.reset(seed=1)
    assert set(info) == {"turn", "seat", "action_mask"}
    assert vector.reset(seed=1)[1] == {}
    ended = False
    while not ended:
        _, _, terminated, truncated, info = env.step(env.sample())
        ended = terminated or truncated
        assert ("match" in info) == ended
        if not ended:
            assert set(info) == {"turn", "seat", "action_mask"}
        _, _, terminations, truncations, info = vector.step(vector.sample())
        assert bool(info) == bool((terminations | truncations).any())


def test_agents_are_given_observations_only():
    class Watcher:
        def __init__(self):
            self.given = []

        def reset(self, seed=0):
            self.given.append(type(seed))

        def act(self, observation):
            self.given.append(type(observation))
            return "PASS"

    watcher = Watcher()
    env = BattleEnv(opponent=watcher, card_sets=2)
    env.reset(seed=2)
    for _ in range(30):
        if any(env.step(env.sample())[2:4]):
            break
    assert set(watcher.given) == {int, Observation}


def test_functions_are_given_arrays_that_show_only_their_side():
    given = []

    def passing(observation, mask):
        given.append((observation, mask))
        return 0

    env = BattleEnv(opponent=passing, card_sets=2, seat="first")
    env.reset(seed=2)
    for _ in range(5):
        env.step(0)
    assert len(given) == 5
    for observation, mask in given:
        assert observation.shape == env.layout.shape
        assert mask[0] == 1
        assert env.layout.split(observation)["game"][1] == 1  # the second seat

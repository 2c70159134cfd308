"""No observation, mask or info depends on what its player cannot see."""

import hashlib

import gymnasium as gym
import numpy as np
import pytest
from amounts import amount
from env_checks import EPISODES, check_games, check_picks
from helpers import each_rules
from rows_access import put_state

from locmsim import Match, Observation
from locmsim.envs import Games, LocmEnv, LocmVectorEnv, Options
from locmsim.envs._potentials import POTENTIALS
from locmsim.game.positions import start_position


@each_rules
def test_resampling_what_is_hidden_changes_nothing_that_is_seen(rules):
    """Views stay the same in the middle of games, with their whole past."""
    assert check_games(rules, range(3)) > 300


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
    env = LocmEnv(opponent=watcher, card_sets=2)
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

    env = LocmEnv(opponent=passing, card_sets=2, seat="first")
    env.reset(seed=2)
    for _ in range(5):
        env.step(0)
    assert len(given) == 5
    for observation, mask in given:
        assert observation.shape == env.layout.shape
        assert mask[0] == 1
        assert env.layout.split(observation)["game"][1] == 1  # the second seat


# ------------------------------------------------------------------------- every kind of episode


class Hashing:
    """A policy whose actions depend on every number that it is shown."""

    def __init__(self, rules, layout="entities"):
        self.rules, self.layout = rules, layout

    def act_batch(self, observations, masks, seeds):
        rows = zip(observations, masks, strict=True)
        return np.array([hashing(observation, mask) for observation, mask in rows])


def hashing(observation, mask):
    """Return an action that depends on every number of the observation."""
    legal = np.flatnonzero(mask)
    digest = hashlib.sha256(observation.tobytes() + mask.tobytes()).digest()
    return int(legal[int.from_bytes(digest[:6], "little") % len(legal)])


#: Every kind of player, by rule set; scripted agents and searches are compiled.
PLAYERS = {
    "random": lambda rules: "random",
    "max-attack": lambda rules: "max-attack",
    "osl": lambda rules: "osl",
    "greedy": lambda rules: "greedy",
    "beam": lambda rules: "beam:nodes=60",
    "policy": Hashing,
    "policy, another layout": lambda rules: Hashing(rules, "entities-f32"),
    "function": lambda rules: hashing,
    "agent": lambda rules: "rule",
    "searching agent": lambda rules: "mcts:iterations=20,time_ms=0",
}
STRONG = {"beam of 3000 nodes": lambda rules: "beam:nodes=3000"}
#: All potentials, since shaping must not read hidden cards either.
SHAPING = dict.fromkeys(POTENTIALS, 0.1)
each_player = pytest.mark.parametrize(
    "kind", [*PLAYERS, *(pytest.param(kind, marks=pytest.mark.slow) for kind in STRONG)]
)


def player_of(kind, rules):
    return {**PLAYERS, **STRONG}[kind](rules)


def observed(env, row, who):
    """Return the observation and mask of a row for player `who`."""
    rows = env.games.rows
    out = np.empty(env.games.observation_shape[0], env.games.observation_shape[1])
    mask = np.empty(rows.n_actions, np.int8)
    rows.views.observe(row, who, out, mask)
    return out.tobytes(), mask.tobytes()


def views(env, row, who):
    """Return all that a row shows to the caller, and to any observer that asks for player `who`."""
    return [
        *observed(env, row, who),
        env.action_masks()[row].tobytes(),
        *(env.games.arrays[name][row].tobytes() for name in ("obs", "masks", "to_move")),
        int(env.to_move[row]),
        env.options.layout == "entities" and env.games.text(row),  # the same with any layout
    ]


LEARNERS = {
    "battle": {},
    "battle, entities-f32": {"layout": "entities-f32"},
    "battle, gym-locm": {"layout": "gym-locm"},
    "match": {"episode": "match"},
}


@each_rules
@pytest.mark.parametrize("seats", ["caller", "osl"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_redrawn_row_shows_and_pays_the_same(rules, learner, seats):
    """Observations, masks, texts and rewards of a whole turn do not depend on hidden cards."""
    if rules == "1.0" and "gym-locm" in learner:
        pytest.skip("gym-locm does not support 1.0")
    options = {"rules": rules, "opponent": seats, "card_sets": 3, "shaping": SHAPING}
    env = LocmVectorEnv(2, autoreset_mode="DISABLED", **options, **LEARNERS[learner])
    rows = env.games.rows
    random = np.random.default_rng(2)
    both, terminated = np.zeros((2, 2), np.float32), np.zeros(2, np.bool_)
    arrays = {
        "obs": env.games.arrays["obs"], "masks": env.games.arrays["masks"],
        "rewards_both": both, "terminated": terminated,
    }  # fmt: skip
    compared = ends = others = different = 0
    for seed in range(amount(2 if seats == "caller" else 5, 20)):
        env.reset(seed=[seed, seed])
        while not terminated[0]:
            action = int(random.choice(np.flatnonzero(env.action_masks()[0])))
            if rows.views.phase(0) == "choice":
                env.step_into(np.array([action, action]), **arrays)
                continue
            who, state = rows.views.mover(0), rows.views.state(0)
            other = state.resample_hidden(who, int(random.integers(1 << 62)))
            others += other != state
            put_state(rows, 1, other)
            rows.show_all()
            assert views(env, 0, who) == views(env, 1, who)
            different += observed(env, 0, 1 - who)[0] != observed(env, 1, 1 - who)[0]
            if action == 0:  # the opponent's answer and the next card depend on hidden cards
                put_state(rows, 1, state)
            env.step_into(np.array([action, action]), **arrays)
            assert both[0, who] == both[1, who]
            assert terminated[0] == terminated[1]
            if action != 0:
                assert views(env, 0, who) == views(env, 1, who)
                put_state(rows, 1, rows.views.state(0))
            compared += 1
        ends += action != 0
        terminated[:] = False
    assert compared > 50
    assert min(others, different) > 30  # the hidden cards did differ
    assert ends > 0 or seats == "osl"
    env.close()


@pytest.mark.slow
@each_rules
@pytest.mark.parametrize("episode", ["battle", "match"])
@each_player
def test_an_opponent_knows_nothing_of_a_deck_that_is_not_shown(rules, episode, kind):
    """Against learners who only pass, an opponent plays the same game, whatever their decks."""
    options = {"rules": rules, "opponent": player_of(kind, rules), "card_sets": 3}
    turns = 0
    for seat in (0, 1):
        if episode == "match":
            env = LocmVectorEnv(2, episode="match", **options)
            env.reset(seed=[5, 5], options={"seat": seat})
            for step in range(30):
                legal = [np.flatnonzero(mask) for mask in env.action_masks()]
                env.step(np.array([legal[0][step % 3], legal[1][-1 - step % 3]]))
        else:
            env = LocmVectorEnv(2, **options)
            match = Match(rules, seed=5)
            decks = [deck_of(match, number) for number in range(3)]
            pairs = [(own, decks[2])[:: 1 - 2 * seat] for own in decks[:2]]
            given = {"seat": seat, "match": [match.params] * 2, "decks": pairs}
            env.reset(seed=[5, 5], options=given)
        held = [[card.card for card in state.players[seat].hand] for state in env.states()]
        assert held[0] != held[1]
        ended = np.zeros(2, np.bool_)
        while not ended.any():
            one, other = env.states()
            for who in (seat, 1 - seat):
                first, second = one.players[who], other.players[who]
                assert first.board == second.board
                assert (first.health, first.hand_size) == (second.health, second.hand_size)
            hands = [state.players[1 - seat].hand for state in (one, other)]
            assert [held.card for held in hands[0]] == [held.card for held in hands[1]]
            turns += 1
            _, _, terminated, truncated, _ = env.step(np.zeros(2, np.int64))
            assert terminated[0] == terminated[1]
            ended = terminated | truncated
        env.close()
    assert turns > 8


def deck_of(match, number):
    """Return one of three decks that have little in common."""
    if match.rules == "1.5":
        return [match.cards[40 * number + i // 2].base_id for i in range(30)]
    return [offer[number].base_id for offer in match.offers]


@each_rules
@each_player
def test_an_opponent_answers_a_position_by_what_is_shown_of_it(rules, kind):
    """An opponent plays the same turn in all positions that look the same to it."""
    options = {"rules": rules, "opponent": player_of(kind, rules), "seat": "first"}
    env = LocmVectorEnv(2, autoreset_mode="DISABLED", **options)
    asked = others = 0
    for seed in range(amount(1, 6)):
        state = start_position(seed, rules)
        random = np.random.default_rng(seed)
        while not state.is_terminal():
            action = int(random.choice(state.legal_actions()))
            state.apply_action(action)
            if action != 0 or state.is_terminal() or state.current_player() == 0:
                continue
            other = state.resample_hidden(1, seed)
            env.reset(seed=[seed, seed], options={"state": [state, other]})
            after = env.states()
            asked += 1
            others += other != state
            for who in (0, 1):
                first, second = (one.players[who] for one in after)
                assert first.board == second.board
                assert first.health == second.health
            assert env.games.rows.views.length(0) == env.games.rows.views.length(1)
    assert asked > 5
    assert others > 5
    env.close()


@pytest.mark.slow
@each_rules
@pytest.mark.parametrize("kind", [*PLAYERS, *STRONG][4:])
def test_an_opponent_knows_only_what_it_is_shown(rules, kind):
    """It plays the same turn whatever the other's hand and both decks' order, with all its past."""
    turns = others = 0
    few = kind in STRONG
    for seed in range(amount(2, 12) if few else 12):
        opponent = player_of(kind, rules)
        games = Games(2, Options(rules=rules, opponent=opponent, card_sets=3, seat="first"))
        rows = games.rows
        for row in (0, 1):
            games.begin(row, seed)
        stream = np.random.default_rng(seed)
        while rows.views.winner(0) < 0:
            action = int(stream.choice(rows.views.state(0).legal_actions()))
            for row in (0, 1):
                rows.step_row(row, action)
            if not rows.requests.waits_for(0):
                continue
            # The opponent's turn has begun; in the other row, all that they cannot see is redrawn.
            hidden = rows.views.state(1).resample_hidden(1, seed)
            others += hidden != rows.views.state(0)  # late in a game, few hidden cards are left
            put_state(rows, 1, hidden)
            before = rows.views.length(0)
            for row in (0, 1):
                if "beam" in kind:
                    games.serving.search(row)
                else:
                    games.serve(np.array([row]))
            turns += rows.views.length(0) > before + 1
            one, other = rows.views.state(0), rows.views.state(1)
            assert one.players[1].board == other.players[1].board
            assert one.players[0].board == other.players[0].board
            assert one.players[0].health == other.players[0].health
            assert rows.views.length(0) == rows.views.length(1)
            if rows.views.winner(0) < 0:
                put_state(rows, 1, one)  # both rows continue from the same position
            for row in (0, 1):
                rows.requests.resume(row)
    assert turns > (5 if few else 30)
    assert others > (5 if few else 30)


@each_rules
@pytest.mark.parametrize("episode", ["choice", "match"])
def test_the_choice_shows_what_the_referee_sends(rules, episode):
    """Both players' views follow from the text of each step and from their own answers."""
    assert check_picks(rules, episode, range(amount(2, 30))) >= 120


@each_rules
def test_the_end_of_a_choice_tells_nothing_of_the_other_deck(rules):
    """Winner and reward depend on the other deck, the last observation and earlier infos do not."""
    builders = ("area", "classic") if rules == "1.5" else ("default", "curve")
    results = []
    for builder in builders:
        env = LocmVectorEnv(
            2, rules=rules, episode="choice", decks=builder, seat="second", final_obs=True,
            battlers=("random", "random"), card_sets=2,
        )  # fmt: skip
        assert env.reset(seed=3)[1] == {}
        for step in range(30):
            _seen, _, terminated, _, info = env.step(
                np.array([m.nonzero()[0][-1] for m in env.action_masks()])
            )
            assert bool(info) == (step == 29) == terminated.all()
        last = info["final_obs"]["observation"]
        results.append((last, [dict(env.match(i))["choices"] for i in range(2)]))
        env.close()
    np.testing.assert_array_equal(results[0][0], results[1][0])
    assert [choices[1] for choices in results[0][1]] == [choices[1] for choices in results[1][1]]
    assert results[0][1] != results[1][1]


@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize("mask", ["obs", "info"])
def test_what_is_in_an_info_before_the_end(episode, mask):
    """An info holds nothing from which hidden cards follow: no seed, no parameters, no deck."""
    name, options = EPISODES[episode]
    env = gym.make(name, mask=mask, disable_env_checker=True, **options)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        known = {"turn", "seat"} | ({"step"} if info["turn"] < 0 else set())
        assert set(info) == known | ({"action_mask"} if mask == "info" else set())
        legal = env.get_wrapper_attr("action_masks")().nonzero()[0]
        _, _, over, _, info = env.step(int(legal[-1]))
    assert "match" in info

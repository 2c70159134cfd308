"""`StateBatch`: it does to many states what `State` does to one."""

import copy
import math
import pickle

import numpy as np
import pytest
from helpers import each_rules

from locmsim import (
    ActionKind,
    Card,
    CardType,
    Match,
    State,
    StateBatch,
)
from locmsim.agents import make_agent
from locmsim.game.positions import random_game, start_position
from locmsim.search import Belief, Evaluation


def some_states(rules="1.5"):
    """Return the positions of one game from its start to its end."""
    states = []
    for state, action in random_game(start_position(2, rules), 5):
        states.append(state)
        last = state.child(action)
    return [*states, last]


@each_rules
def test_rows_are_the_states(rules):
    states = some_states(rules)
    batch = StateBatch(iter(states))
    assert len(batch) == len(states)
    assert list(batch) == states
    assert [batch[row] for row in range(len(states))] == states
    assert batch[-1] == states[-1]
    assert batch[np.int64(3)] == states[3]
    assert batch.num_distinct_actions() == states[0].num_distinct_actions()
    assert batch.is_terminal().tolist() == [state.is_terminal() for state in states]
    assert batch.is_terminal().dtype == np.bool_
    assert batch.winner.tolist() == [-1 if s.winner is None else s.winner for s in states]
    assert batch.current_player().tolist() == [state.current_player() for state in states]
    assert batch.returns().tolist() == [state.returns() for state in states]
    assert batch.legal_counts.tolist() == [len(state.legal_actions()) for state in states]
    assert batch.legal_actions_mask().tolist() == [
        state.legal_actions_mask().tolist() for state in states
    ]
    out = np.full((len(states), batch.num_distinct_actions()), 7, np.int8)
    assert batch.legal_actions_mask(out) is out
    assert (out == batch.legal_actions_mask()).all()
    for array, dtype in (
        (batch.winner, np.int8),
        (batch.current_player(), np.int8),
        (batch.returns(), np.float64),
        (batch.legal_counts, np.int32),
        (batch.legal_actions_mask(), np.int8),
    ):
        assert array.dtype == dtype
    assert repr(batch) == f"<StateBatch of {len(states)} states, 1 finished>"


def test_rows_are_copies():
    states = some_states()
    kept = [state.clone() for state in states]
    batch = StateBatch(states)
    batch[0].apply_action(0)
    states[1].apply_action(0)
    assert list(batch) == kept
    batch[2] = batch[5]
    kept[2] = kept[5]
    batch[-3] = states[0]
    kept[-3] = kept[0]
    assert list(batch) == kept


@pytest.mark.parametrize("duplicate", [StateBatch.clone, copy.copy, copy.deepcopy])
def test_copies_are_independent(duplicate):
    states = some_states()[:5]
    batch = StateBatch(states)
    other = duplicate(batch)
    assert list(other) == states
    other.step([0] * 5)
    assert list(batch) == states
    assert [state.turn for state in other] == [state.turn + 1 for state in states]


def test_repeat():
    state = start_position(1)
    batch = StateBatch.repeat(state, 1000)
    state.apply_action(0)
    assert len(batch) == 1000
    assert set(batch.legal_counts.tolist()) == {len(start_position(1).legal_actions())}
    assert batch[999] == start_position(1)
    empty = StateBatch.repeat(state, 0)
    assert (len(empty), list(empty), empty.legal_actions_mask().shape) == (0, [], (0, 145))
    empty.step([])
    assert empty.rollouts(3, 1).shape == (0, 3)


def test_equal_tables_may_be_different_objects():
    state = start_position(1)
    copied = State.from_bytes(state.to_bytes())
    assert copied.table is not state.table
    assert list(StateBatch([state, copied])) == [state, state]


@each_rules
def test_states_of_many_games_do_what_they_do_alone(rules):
    states = [start_position(seed, rules) for seed in range(20)]
    batch = StateBatch(states)
    batch[4] = states[4] = start_position(29, rules)
    for number in range(2000):
        actions = batch.sample_actions(number)
        masks = batch.legal_actions_mask()
        for row, state in enumerate(states):
            assert masks[row].tolist() == state.legal_actions_mask().tolist()
            if actions[row] >= 0:
                state.apply_action(actions[row])
        kind = (list, np.array, lambda a: np.array(a, dtype=np.int16))[number % 3]
        assert batch.step(kind(actions)) is None
        assert list(batch.clone()) == states
        if number == 60:
            won = batch.rollouts(3, 1)
            for row, state in enumerate(states):
                assert won[row].tolist() == state.rollouts(3, int(batch.row_seeds(1)[row])).tolist()
        if batch.is_terminal().all():
            break
    assert batch.is_terminal().all()
    assert set(batch.winner.tolist()) == {0, 1}


@pytest.mark.parametrize("layout", ["entities", "entities-f32", "gym-locm"])
def test_observations_are_those_of_the_states(layout):
    batch = StateBatch([start_position(seed) for seed in range(4)])
    for number in range(25):
        batch.step(batch.sample_actions(number))
    for player in (None, 0, 1):
        found = batch.observation_tensor(player, layout)
        for row, state in enumerate(batch):
            shown = state.turn & 1 if player is None else player
            assert (found[row] == state.observation_tensor(shown, layout)).all()
    out = np.empty_like(found)
    assert batch.observation_tensor(1, layout, out=out) is out
    assert (out == found).all()
    assert StateBatch.repeat(batch[0], 0).observation_tensor(0, layout).shape == (0, *out[0].shape)


# ---- step ---------------------------------------------------------------------------------------


def test_none_leaves_a_row_as_it_is():
    states = some_states()
    batch = StateBatch(states)
    batch.step(np.full(len(states), -1))
    assert list(batch) == states
    actions = np.full(len(states), -1)
    actions[4] = 0
    batch.step(actions)
    assert batch[4] == states[4].child(0)
    assert [batch[i] for i in range(len(states)) if i != 4] == states[:4] + states[5:]
    # Actions may be strided and read-only.
    states = states[:10]
    actions = np.full(20, 144)
    actions[::2] = [state.legal_actions()[-1] for state in states]
    actions.flags.writeable = False
    batch = StateBatch(states)
    batch.step(actions[::2])
    assert list(batch) == [s.child(a) for s, a in zip(states, actions[::2], strict=True)]


# ---- sampling, masks, playouts ------------------------------------------------------------------


@each_rules
def test_sampled_actions(rules):
    states = some_states(rules)
    batch = StateBatch(states)
    drawn = [batch.sample_actions(seed) for seed in range(200)]
    for row, state in enumerate(states):
        legal = {-1} if state.is_terminal() else set(state.legal_actions())
        found = {int(actions[row]) for actions in drawn}
        assert found <= legal
        assert len(found) >= min(len(legal), 8)
    assert (batch.sample_actions(7) == drawn[7]).all()
    # A row's action depends on nothing but the seed, the row and its state.
    assert (StateBatch(states[:9]).sample_actions(7) == drawn[7][:9]).all()
    batch.step(drawn[0])


@each_rules
def test_rollouts(rules):
    states = some_states(rules)
    batch = StateBatch(states)
    seeds = batch.row_seeds(9)
    assert seeds.dtype == np.uint64
    assert len(set(seeds.tolist())) == len(states)
    winners = batch.rollouts(30, 9)
    assert winners.dtype == np.int8
    expected = [s.rollouts(30, seed).tolist() for s, seed in zip(states, seeds, strict=True)]
    assert winners.tolist() == expected
    assert list(batch) == states
    for threads in (2, 3, 1000):
        assert (batch.rollouts(30, 9, threads) == winners).all()
    assert (batch.rollouts(7, 9) == winners[:, :7]).all()
    assert (StateBatch(states[:5]).rollouts(30, 9) == winners[:5]).all()
    assert (batch.rollouts(30, 10) != winners).any()


def test_equal_rows_have_different_playouts():
    winners = StateBatch.repeat(start_position(1), 20).rollouts(64, 1)
    assert len(set(map(tuple, winners.tolist()))) == 20


# ---- the compiled part --------------------------------------------------------------------------


# ---- worlds --------------------------------------------------------------------------------------


def seen_belief(rules):
    """Return the belief of a player who has seen a game so far, and the position."""
    match, belief = Match(rules, seed=5), Belief()
    agents = make_agent("rule"), make_agent("rule")
    while match.phase == "choice" or match.turn < 4:
        assert match.to_ask
        for player in match.to_ask:
            observation = match.observation(player)
            line = match.ask(agents[player], player)()
            if player == 0:
                belief.see(observation)
            match.submit(player, line)
    return belief, match


@each_rules
def test_sampled_worlds_are_those_of_the_belief(rules):
    belief, _ = seen_belief(rules)
    worlds = StateBatch.sample(belief, 40, seed=-3)
    seeds = worlds.row_seeds(-3)
    assert [*worlds] == [belief.sample(int(seed)) for seed in seeds]
    assert len({world.key() for world in worlds}) > 30
    assert len({world.observation_string() for world in worlds}) == 1
    assert [*pickle.loads(pickle.dumps(worlds))] == [*worlds]
    assert len(StateBatch.sample(belief, 0, seed=1)) == 0


@each_rules
def test_hidden_cards_are_drawn_anew(rules):
    _, match = seen_belief(rules)
    batch = StateBatch.repeat(match.state, 6)
    drawn = batch.resample_hidden([0, 1] * 3, seed=4)
    for row, seed in enumerate(batch.row_seeds(4)):
        assert drawn[row] == match.state.resample_hidden(row % 2, int(seed))
    assert [*batch] == [match.state] * 6
    assert [*batch.resample_hidden(1, seed=4)][1::2] == [*drawn][1::2]


@each_rules
def test_children_and_hashes(rules):
    _, match = seen_belief(rules)
    batch, actions = StateBatch.children(match.state)
    assert actions.tolist() == match.state.legal_actions()
    assert [*batch] == [match.state.child(action) for action in actions]
    assert batch.hash64().tolist() == [state.hash64() for state in batch]
    assert batch.hash64().dtype == np.uint64


def slot_of(state, player, instance):
    """Return a creature's slot, by the order of the creatures in each lane."""
    lanes = [[], []]
    for creature in state.players[player].board:
        lanes[creature.lane].append(creature.id)
    size = 6 if state.rules == "1.0" else 3
    lane = next(lane for lane in (0, 1) if instance in lanes[lane])
    return size * lane + lanes[lane].index(instance)


@each_rules
def test_actions_as_arrays(rules):
    """The arrays name the same cards and creatures as `State.action`."""
    states = [
        state for seed in range(3) for state, _ in random_game(start_position(seed, rules), 4)
    ]
    batch = StateBatch([*states, some_states(rules)[-1]])
    legal = batch.actions()
    assert {array.shape for array in legal} == {(batch.legal_counts.sum(),)}
    assert [array.dtype for array in legal] == [np.int64] * 2 + [np.int8] * 4
    rows = [legal.action[legal.row == row].tolist() for row in range(len(batch))]
    assert rows == [state.legal_actions() for state in batch]
    kinds = set()
    for row, number, kind, source, target, lane in zip(*legal, strict=True):
        state, action = states[row], states[row].action(number)
        me = state.current_player()
        assert kind == action.kind
        if action.kind in (ActionKind.SUMMON, ActionKind.USE):
            assert state.players[me].hand[source].id == action.source
        elif action.kind == ActionKind.ATTACK:
            assert source == slot_of(state, me, action.source)
        else:
            assert (source, target, lane) == (-1, -1, -1)
        creatures = {c.id: c for player in state.players for c in player.board}
        if action.target is None or action.target == -1:
            assert target == -1
        else:
            whose = action.target not in [c.id for c in state.players[me].board]
            assert target == 6 * whose + slot_of(state, me ^ whose, action.target)
            assert lane == creatures[action.target].lane
        if action.kind == ActionKind.SUMMON:
            assert lane == (action.lane or 0)
        elif action.kind == ActionKind.ATTACK:
            assert lane == creatures[action.source].lane
        kinds.add((action.kind, target < 0, target < 6))
    assert len(kinds) == 7


def test_rows_are_taken():
    states = some_states()[:9]
    batch = StateBatch(states)
    taken = batch.take([3, -1, 3])
    assert [*taken] == [states[3], states[8], states[3]]
    taken.step([0, -1, -1])
    assert [*batch] == states
    assert len(batch.take([])) == 0


@each_rules
def test_values_are_those_of_the_evaluation(rules):
    states = some_states(rules)
    batch = StateBatch(states)
    evaluation = Evaluation(rules=rules, network=None).replace(scale=9)
    values = batch.values(evaluation)
    assert values.dtype == np.float64
    last = states[-1].turn % 2  # whose turn it was when the game ended
    assert values[-1] == (1 if states[-1].winner == last else -1)
    for value, state in zip(values[:-1], states, strict=False):
        expected = math.tanh(evaluation(state, state.current_player()) / 9)
        assert value == pytest.approx(expected, abs=1e-6)
    evaluation = Evaluation(rules=rules)
    if evaluation.network is not None:
        odds = evaluation.network(states[5], states[5].current_player())
        assert batch.values(evaluation)[5] == pytest.approx(math.tanh(odds / 2), abs=1e-6)


def test_values_by_a_function():
    """The function is asked only about games that are not over."""
    states = some_states()
    batch = StateBatch(states)
    asked = []

    def function(given):
        asked.append([*given])
        return np.full((len(given), 1), 0.25, np.float32)  # as a network returns them

    values = batch.values(function)
    assert asked == [states[:-1]]
    assert values[:-1].tolist() == [0.25] * (len(states) - 1)
    assert abs(values[-1]) == 1
    going = batch.take(range(3))
    going.values(lambda given: given.step([0, 0, 0]) or [0.0] * 3)
    assert [*going] == states[:3], "a function gets states of its own"
    mask = going.legal_actions_mask()
    assert batch.take(range(3)).values(lambda given: ([0, 0.5, -1], mask)).tolist() == [0, 0.5, -1]


def test_a_determinized_search_in_five_lines():
    """The search finds an attack that wins in every world."""
    filler = Card(1, CardType.CREATURE, 12, 1, 1)
    runner = Card(2, CardType.CREATURE, 0, 30, 1, "-C----")
    state = State.new([runner, *[filler] * 29], [filler] * 30)
    state.apply_action(state.string_to_action("SUMMON 0 0"))
    belief = Belief()
    belief.see(state.observation(0))

    worlds = StateBatch.sample(belief, 100, seed=1)
    legal = worlds.actions()
    ends = worlds.take(legal.row)
    ends.step(legal.action)
    wins = np.bincount(legal.action, (ends.rollouts(10, seed=2) == 0).sum(axis=1))

    assert state.action_to_string(wins.argmax()) == "ATTACK 0 -1"
    assert wins.max() == 1000
    assert set(np.flatnonzero(wins)) <= set(state.legal_actions())

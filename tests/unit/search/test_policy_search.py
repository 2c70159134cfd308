"""`PolicySearch` against its slow reference: hidden cards, exact values, arguments, results."""

import copy
import zlib
from functools import cache

import numpy as np
import pytest
from amounts import amount
from helpers import each_rules, each_rules_slowly, raises
from reference_forest import ReferenceSearch, attacks_win
from reference_layouts import Past, entities
from states import rebuilt

from locmsim import Match, State, StateBatch
from locmsim._core import Determinizer
from locmsim.agents import make_agent
from locmsim.game._turn_view import TurnView
from locmsim.game.positions import random_game, start_position
from locmsim.policy import Policy
from locmsim.rules.rulesets import get_rules
from locmsim.search import (
    MCTS,
    BeamSearch,
    Belief,
    Evaluation,
    MoverEvaluation,
    OnObservations,
    PolicySearch,
    SearchPosition,
    TurnEndEvaluation,
)
from locmsim.search._engine import seed_of_turn
from locmsim.search._forest import Forest
from locmsim.search.turn_search import determinizer_at


@cache  # asked by the search and by its reference
def said_of(number: int, actions: int) -> tuple[float, np.ndarray]:
    """Return a value and priors that follow from a number, and from nothing else."""
    random = np.random.default_rng(number)
    return float(random.uniform(-1, 1)), random.random(actions).astype(np.float32) ** 3


def by_hash(batch: StateBatch):
    """Evaluate states with values and priors that look random."""
    told = [said_of(int(number), batch.num_distinct_actions()) for number in batch.hash64()]
    return [value for value, _ in told], [priors for _, priors in told]


def plain_hash(observation: np.ndarray) -> int:
    return zlib.crc32(observation.tobytes())


@cache
def starts(rules: str, games: int = 3, step: int = 3) -> tuple[Past, ...]:
    """Return starts of turns of random games, each with what has happened before."""
    found = []
    for seed in range(games):
        past = Past.of_deal(start_position(seed, rules))
        for state, action in random_game(past.state, seed):
            begins = past.actions == 0 and state.turn > 1 and state.turn % step == 0
            if begins and len(state.legal_actions()) > 1:
                found.append(copy.deepcopy(past))
            past.apply(action)
    return tuple(found)


def begun(past: Past, n: int) -> tuple[Past, TurnView, list[int]]:
    """Return the same turn after up to `n` actions: with what has happened, and the actions."""
    mover = past.state.turn & 1
    came = {c.id for c in past.state.players[1 - mover].board} - past.began[1 - mover]
    view = TurnView(past.state, past.drawn[mover], came, past.shown[1 - mover], past.shown[mover])
    past, done = copy.deepcopy(past), []
    while len(done) < n and len(past.state.legal_actions()) > 2:
        action = past.state.legal_actions()[len(done) % 2 + 1]
        if past.state.child(action).is_terminal():
            break
        past.apply(action)
        view.apply(action)
        done.append(action)
    return past, view, done


def same(result, reference: ReferenceSearch, actions: int) -> None:
    visits = np.zeros(actions, int)
    visits[list(reference.visits)] = list(reference.visits.values())
    assert result.visits.tolist() == visits.tolist()
    assert result.action == reference.action
    for found, expected in (
        (result.policy, reference.policy),
        (result.values, reference.completed),
    ):
        for action, value in expected.items():
            assert found[action] == pytest.approx(value, abs=1e-9)
    value = sum(
        reference.policy[action] * reference.completed[action] for action in reference.policy
    )
    assert result.value == pytest.approx(value, abs=1e-9)


@each_rules
@pytest.mark.parametrize(
    "options",
    [
        {"root": "gumbel", "leaves": 1},
        {"root": "gumbel", "leaves": 5, "noise": 1.0, "considered": 6, "value_scale": 0.02},
        {"root": "puct", "leaves": 1, "exploration": 0.4},
        {"root": "puct", "leaves": 6},
    ],
    ids=str,
)
def test_visit_for_visit_as_the_reference(rules, options):
    search = PolicySearch(by_hash, amount(70, 150, 400), **options)
    states = [begun(past, i % 3)[0].state for i, past in enumerate(starts(rules))]
    states = states[: amount(6, 15, 30)]
    assert len(states) > 5
    results = search.search_many(states, seed=5)
    actions = get_rules(rules).num_actions
    for number, (state, result) in enumerate(zip(states, results, strict=True)):
        worlds, _, _ = determinizer_at(state, None, (), 0)
        seed = seed_of_turn(5, number)
        noise = np.zeros(actions)
        if search.options.noise:
            noise = np.random.default_rng(seed).gumbel(size=actions)

        def evaluate(world, past):
            return said_of(world.hash64(), actions)

        same(result, ReferenceSearch(worlds, seed, noise, search.options, evaluate), actions)


@each_rules
def test_ends_of_turns_are_asked_about_as_ends_of_turns(rules):
    """After PASS it is the value of the end of that turn, for the player who ended it."""

    def at_ends(batch: StateBatch):
        return by_hash(batch)[0], np.ones((len(batch), batch.num_distinct_actions()))

    search = PolicySearch(TurnEndEvaluation(at_ends), amount(70, 150, 400))
    actions = get_rules(rules).num_actions
    for number, past in enumerate(starts(rules)[: amount(4, 12, 24)]):
        worlds = Belief.of_state(past.state, past.state.turn & 1).determinizer()
        passed = []

        def evaluate(world, past, passed=passed, turn=past.state.turn):
            passed.append(world.turn == turn)
            return said_of(world.hash64(), actions)[0], np.ones(actions)

        reference = ReferenceSearch(
            worlds, seed_of_turn(number, 0), np.zeros(actions), search.options, evaluate,
            turn_ends=True,
        )  # fmt: skip
        same(search.search(past.state, seed=number), reference, actions)
        assert any(passed)


@each_rules
def test_the_two_kinds_of_evaluation_agree(rules):
    """A function finds the same plain and in the type of its kind; policies are refused."""
    state = starts(rules)[2].state
    found = [
        PolicySearch(kind, 40).search(state, seed=1) for kind in (by_hash, MoverEvaluation(by_hash))
    ]
    assert found[0].policy.tolist() == found[1].policy.tolist()
    seen = OnObservations(lambda observations, masks: (np.zeros(len(masks)), masks))
    assert PolicySearch(MoverEvaluation(seen)).layout == seen.layout
    own = Evaluation(rules=rules)
    found = [PolicySearch(kind, 40).search(state) for kind in (own, TurnEndEvaluation(own.results))]
    assert found[0].policy.tolist() == found[1].policy.tolist()
    with pytest.raises(TypeError, match="MoverEvaluation of values to the player to move"):
        MCTS(evaluation=Policy.random(rules=rules))
    with pytest.raises(TypeError, match="a function of a StateBatch, got"):
        MoverEvaluation(Policy.random(rules=rules))
    raises(TypeError, "a function of a StateBatch, got", TurnEndEvaluation, own)


@each_rules
@pytest.mark.parametrize("search", [BeamSearch, MCTS])
def test_turns_are_found_by_a_value_of_the_player_to_move(rules, search):
    """It is asked about the opponent after each turn: what wins there is worst before."""
    asked = []

    def of_mover(batch: StateBatch):
        asked.extend((state.turn, state.players[state.turn & 1].hand) for state in batch)
        own = Evaluation(rules=rules, network=None).results(batch)
        return own, batch.legal_actions_mask()

    state = starts(rules)[3].state
    me, pool = state.current_player(), {card.base_id for card in state.table.pool}
    bound = {search.bound: 20 if search is MCTS else 200}
    result = search(evaluation=MoverEvaluation(of_mover)).search(state, seed=2, **bound)
    assert state.actions_of(result.line) == result.actions
    assert -1 <= result.value <= 1
    assert all(turn > state.turn for turn, _ in asked)
    others = [hand for turn, hand in asked if turn == state.turn + 1]
    assert all(held.card.base_id in pool for hand in others for held in hand)
    # The hidden hand is sampled: it is not one card again and again.
    assert any(len({held.card.base_id for held in hand}) > 1 for hand in others)
    batch = StateBatch([state])
    after = state.child(0)
    value = MoverEvaluation(of_mover).results(batch)[0]
    assert value == -of_mover(StateBatch([after]))[0][0]
    assert after.current_player() != me


@pytest.mark.slow
@each_rules_slowly
@pytest.mark.parametrize("root", ["gumbel", "puct"])
def test_leaves_are_shown_with_what_has_happened_in_the_game_and_in_the_tree(rules, root):
    seen = []

    def by_numbers(observations, masks):
        assert observations.dtype == np.int8
        told = [said_of(plain_hash(row), masks.shape[1]) for row in observations]
        seen.extend(observations.copy())
        return [value for value, _ in told], [priors for _, priors in told]

    search = PolicySearch(
        OnObservations(by_numbers, "entities"), amount(60, 150, 300), root=root, leaves=1
    )
    actions = get_rules(rules).num_actions
    depths = set()
    for number, start in enumerate(starts(rules)[: amount(6, 12, 24)]):
        past, view, done = begun(start, number % 3)
        seen.clear()
        result = search.search(start.state, done=done, view=view, seed=3)
        expected: list[np.ndarray] = []

        def evaluate(world, past, expected=expected):
            row = entities(world, world.turn & 1, past)
            expected.append(row)
            depths.add(world.turn)
            return said_of(plain_hash(row), actions)

        worlds, _, _ = determinizer_at(start.state, None, done, 0)
        reference = ReferenceSearch(
            worlds, seed_of_turn(3, 0), np.zeros(actions), search.options, evaluate, past
        )
        for one, other in zip(seen, expected, strict=True):
            assert one.tolist() == other.tolist()
        same(result, reference, actions)
    assert len(depths) > 2


# ------------------------------------------------------------------------------ what is hidden


def poisoned(state: State, viewer: int, cards: int) -> State:
    """Return the same position to `viewer`, with one and the same card in all hidden places."""
    players = state.players
    card = state.table.pool[cards]
    places = []
    for who, player in enumerate(players):
        hand = [(c.id, c.card if who == viewer else card) for c in player.hand]
        places.append(hand + [(c.id, card) for c in player.deck])
    return rebuilt(state, places)


@each_rules
@pytest.mark.parametrize("root", ["gumbel", "puct"])
def test_nothing_hidden_reaches_a_tree(rules, root):
    search = PolicySearch(by_hash, 60, root=root)
    for past in starts(rules)[:4]:
        state = past.state
        mover = state.current_player()
        hidden = [
            determinizer_at(other, None, (), 0)[0]
            for other in (state, *(poisoned(state, mover, cards) for cards in (0, 7)))
        ]
        visits = [tree_of(search, one) for one in hidden]
        assert visits[0] == visits[1] == visits[2]
        results = [
            search.search(other, seed=2)
            for other in (state, state.resample_hidden(mover, 5), poisoned(state, mover, 3))
        ]
        for result in results[1:]:
            assert result.policy.tolist() == results[0].policy.tolist()
            assert result.pv == results[0].pv


def tree_of(search: PolicySearch, worlds: Determinizer) -> list[int]:
    """Return the visits at the root of one tree."""
    actions = worlds.sample(0).num_distinct_actions()
    forest = Forest(
        [worlds], [None], np.array([3], np.uint64), np.zeros((1, actions)), search.options, None, 2
    )
    while (n := forest.gather(None, None)) >= 0:
        states = forest.states()
        values, priors = by_hash(StateBatch([states.get(i) for i in range(n)]))
        forest.scatter(np.array(priors).reshape(n, actions), np.array(values, float), False)
    found = np.zeros((1, actions), np.int32)
    more = np.zeros((1, actions)), np.zeros((1, actions)), found, np.zeros(1)
    forest.results(np.zeros(1, np.int32), *more)
    return found[0].tolist()


def test_the_player_to_move_is_shown_the_same_in_every_world():
    shown: dict[int, set[bytes]] = {}

    def even(observations, masks):
        for row in observations:
            if row[17] == mover and row[16] == turn:
                shown.setdefault(int(row[18]), set()).add(row.tobytes())
        return np.zeros(len(masks)), masks

    agent = make_agent("greedy")
    match, belief = Match(seed=4), agent.belief
    match.submit(0, agent.choose(match.observation(0)))
    match.submit(1, "PASS")
    observation = match.observation(0)
    belief.see(observation)
    mover, turn = 0, 0
    search = PolicySearch(OnObservations(even, "entities"), 8, leaves=1)
    for seed in range(12):
        search.search(observation, belief=belief, seed=seed)
    assert len(shown[0]) == 1
    # After one action there is one position for each action, whatever the world.
    assert 1 < len(shown[1]) <= len(match.state.legal_actions())


# ------------------------------------------------------------------------------ what is exact


@each_rules
def test_games_that_are_over_or_won_by_attacks_count_as_they_are(rules):
    def asked(batch: StateBatch):
        assert not batch.is_terminal().any()
        assert not any(attacks_win(state) for state in batch if state.turn > turn)
        return np.zeros(len(batch)), batch.legal_actions_mask()

    won = 0
    for seed in range(30):
        *_, (state, action) = random_game(start_position(seed, rules), seed)
        if action == 0:
            continue
        turn = state.turn
        result = PolicySearch(asked, 100, considered=155).search(state)
        winner = state.child(action).winner
        expected = 1.0 if winner == state.current_player() else -1.0
        assert result.values[action] == expected
        won += 1
        if won == 3:
            return
    raise AssertionError("no game ended with an action")


# ------------------------------------------------------------------------- seeds and batches


def test_a_seed_repeats_and_a_tree_depends_on_its_place_alone():
    states = [past.state for past in starts("1.5")[:4]]
    search = PolicySearch(by_hash, 48, noise=1.0)
    first, again = search.search_many(states, seed=9), search.search_many(states, seed=9)
    for one, other in zip(first, again, strict=True):
        assert one.policy.tolist() == other.policy.tolist()
        assert one.action == other.action
    alone = search.search(states[0], seed=9)
    assert alone.policy.tolist() == first[0].policy.tolist()
    swapped = search.search_many([states[1], *states[1:]], seed=9)
    assert swapped[1].policy.tolist() == first[1].policy.tolist()
    assert swapped[0].policy.tolist() != first[1].policy.tolist()
    assert search.search_many([]) == []


def test_with_the_gumbel_root_leaves_sent_together_make_no_difference():
    states = [past.state for past in starts("1.5")[:5]]
    found = [
        [
            result.visits.tolist()
            for result in PolicySearch(by_hash, 90, leaves=n).search_many(states)
        ]
        for n in (1, 3, 16)
    ]
    assert found[0] == found[1] == found[2]


def test_evaluators_of_all_kinds():
    past = starts("1.5")[4]
    legal = past.state.legal_actions()
    policy = Policy.random(seed=2)
    seen = OnObservations(lambda observations, masks: np.zeros(len(masks)))
    for evaluator in (policy, seen, by_hash, Evaluation()):
        for root in ("gumbel", "puct"):
            result = PolicySearch(evaluator, 40, root=root, mix=0.5).search(past.state)
            assert result.action in legal
            assert result.policy.sum() == pytest.approx(1)
            assert result.visits.sum() == 40
            assert set(np.flatnonzero(result.policy)) <= set(legal)
            assert -1 <= result.value <= 1
            assert result.pv[0] == past.state.action_to_string(result.action)
            assert result.nodes > 1


def test_without_simulations_to_compare_it_is_the_policy():
    policy = Policy.random(seed=5)
    for past in starts("1.5")[:4]:
        view = np.zeros((1, 440), np.float32), np.zeros((1, 145), np.int8)
        seen = begun(past, 0)[1]
        seen.observe("entities-f32", view[0][0], view[1][0])
        policy_32 = Policy(policy.arrays, {**policy.meta, "layout": "entities-f32"})
        expected = policy_32.act_batch(*view)[0]
        for root in ("gumbel", "puct"):
            search = PolicySearch(policy_32, 1, root=root)
            result = search.search(past.state, view=seen)
            assert past.state.action_to_string(result.action) == past.state.action_to_string(
                int(expected)
            )


def test_time_bounds_a_search():
    search = PolicySearch(by_hash, 10_000)
    result = search.search(starts("1.5")[3].state, time_ms=30)
    assert 1 <= result.visits.sum() < 10_000
    more = search.search(starts("1.5")[3].state, simulations=7, time_ms=60_000)
    assert more.visits.sum() == 7


def test_a_belief_and_what_was_done_in_the_turn():
    match = Match(seed=3)
    belief = Belief()
    belief.see(match.observation(0))
    match.submit(0, "PASS"), match.submit(1, "PASS")
    observation = match.observation(0)
    belief.see(observation)
    search = PolicySearch(Evaluation(), 30)
    first = search.search(observation, belief=belief)
    done = ";".join(first.pv[:1]) if first.action else ""
    result = search.search_many([SearchPosition(observation, belief, done)])[0]
    assert result.visits.sum() == 30


# -------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"root": "best"}, "root: expected one of gumbel, puct, got 'best'"),
        ({"considered": 156}, "considered: expected 1 to 155, got 156"),
        ({"root": "puct", "noise": 1.0}, 'noise: needs root="gumbel"'),
        ({"root": "puct", "considered": 8}, 'considered: needs root="gumbel"'),
    ],
)
def test_options_out_of_bounds(options, message):
    raises(ValueError, message, PolicySearch, by_hash, **options)


def test_what_cannot_be_searched():
    states = [past.state for past in starts("1.5")[:2]]
    raises(TypeError, "expected a policy or a function, got 3", PolicySearch, 3)
    search, other = PolicySearch(by_hash), starts("1.2")[0].state
    message = r"for rules 1\.5, the position for 1\.2"
    raises(ValueError, message, PolicySearch(Policy.random()).search, other)
    raises(ValueError, "the same rule set", search.search_many, [states[0], other])
    *_, (state, action) = random_game(start_position(1), 1)
    many, bonus = [states[0], state.child(action)], np.zeros(3)
    raises(ValueError, r"positions\[1\]: the game is over", search.search_many, many)
    raises(ValueError, "bonus: expected 145 finite", search.search, states[0], bonus=bonus)
    view = begun(starts("1.5")[1], 0)[1]
    raises(ValueError, "view: belongs to another position", search.search, states[0], view=view)
    twos = PolicySearch(lambda batch: np.full(len(batch), 2.0))
    raises(ValueError, "expected values from -1 to 1", twos.search, states[0])
    valueless = Policy.random("mlp", hidden=(4,))
    arrays = {name: a for name, a in valueless.arrays.items() if not name.startswith("value")}
    with pytest.raises(ValueError, match="it has no value for a position"):
        PolicySearch(Policy(arrays, valueless.meta)).search(states[0])
    with pytest.raises(ValueError, match=r"mix: the evaluation of rules 1\.0 has no network"):
        PolicySearch(by_hash, mix=0.5, evaluation=Evaluation(rules="1.0", network=None)).search(
            starts("1.0")[0].state
        )

"""The compiled searches: evaluation, wins, hidden cards, budgets, options."""

import itertools
import json
import math
import random
import threading
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
import wins_data
from amounts import amount
from helpers import begun_match, each_rules, each_rules_slowly, raises
from states import after
from wins_data import KINDS

from locmsim import ActionKind, Card, Match, State, StateBatch
from locmsim._core import Determinizer
from locmsim.decks import DECK_BUILDERS
from locmsim.game.observation import CardInPlay, Observation, PlayerLine
from locmsim.game.positions import random_game, start_position
from locmsim.rules.cards import CardType
from locmsim.rules.rulesets import RULES
from locmsim.search import (
    MCTS,
    TERMS,
    BeamOptions,
    BeamSearch,
    Belief,
    Evaluation,
    MCTSOptions,
    OnObservations,
    SearchResult,
    analyse,
    describe_options,
    win_chance,
)
from locmsim.search._engine import SearchEngine, play_game

SEARCHES = (BeamSearch, MCTS)
each_search = pytest.mark.parametrize("search", SEARCHES)


def positions(rules: str, games: int = amount(3, 6), step: int = 3) -> Iterator[State]:
    """Yield starts of turns in which there is something to decide."""
    return iter(all_positions(rules, games, step))


@cache
def all_positions(rules: str, games: int, step: int) -> list[State]:
    """Return positions that all tests share and none may change."""
    found = []
    for seed in range(games):
        turn = -1
        for state, _ in random_game(start_position(seed, rules), seed):
            new = state.turn > turn
            turn = state.turn
            if new and turn % step == 0 and len(state.legal_actions()) > 2:
                found.append(state)
    return found


def budget(search: type, share: float = 1.0) -> dict[str, int]:
    """Return a bound for the method `search`: nodes of a beam or iterations of a tree search."""
    if search is BeamSearch:
        return {"nodes": int(share * 2000)}
    return {"iterations": int(share * 60)}


# ---- evaluation ----------------------------------------------------------------------------------


def side_terms(snapshot: dict, player: int, rules: str, tables: State) -> dict[str, float]:
    """Return the terms of one player, counted from a snapshot."""
    p, other = snapshot["p"][player], snapshot["p"][1 - player]
    lost = p.get("lost", 0)
    draws = tables.players[player].next_draw
    taken = min(draws, 8 - len(p["hand"]), p["deck"])
    hand = len(p["hand"]) + taken
    health = p["hp"]
    if hand < 8:
        health -= (10 if rules == "1.5" else 5) * (draws - taken)
    shown = max(health, 0)
    size = RULES[rules].lane_size
    lanes = range(RULES[rules].lanes)
    rows = p["board"]
    guarded = {row[5] for row in other["board"] if "G" in row[4]}
    damage = sum(row[2] for row in rows if row[5] not in guarded)
    return {
        "health": shown,
        "low_health": -max(0, 12 - shown),
        "lowest_health": -max(0, 6 - shown),
        "creature": len(rows),
        "attack": sum(row[2] for row in rows),
        "defense": sum(row[3] for row in rows),
        "balance": sum(min(row[2:4]) for row in rows),
        "guard": sum("G" in row[4] for row in rows),
        "guard_defense": sum(row[3] for row in rows if "G" in row[4]),
        "lethal": sum("L" in row[4] for row in rows),
        "ward": sum("W" in row[4] for row in rows),
        "ward_attack": sum(row[2] for row in rows if "W" in row[4]),
        "drain_attack": sum(row[2] for row in rows if "D" in row[4]),
        "breakthrough_attack": sum(row[2] for row in rows if "B" in row[4]),
        "card": hand,
        "fifth_card": max(0, hand - 4),
        "low_deck": max(0, 10 - (p["deck"] - taken)),
        "near_card": lost % 5 if rules == "1.5" else 0,
        "room": sum(sum(row[5] == lane for row in rows) < size for lane in lanes),
        "open_attack": damage,
        "kill": damage >= other["hp"],
        "rune": len(p["runes"]) if rules != "1.5" else 0,
    }


def counted(state: State, player: int) -> dict[str, float]:
    snapshot = state.snapshot()
    terms = {}
    for prefix, who, sign in (("own.", player, 1), ("their.", 1 - player, -1)):
        for name, value in side_terms(snapshot, who, state.rules, state).items():
            terms[prefix + name] = sign * value
    hand = [card for _, card in state.players[player].hand]
    for card_type in CardType:
        name = f"hand.{card_type.name.lower()}"
        terms[name] = sum(card.type == card_type for card in hand)
    terms["hand.cost"] = sum(card.cost for card in hand)
    terms["hand.draw"] = sum(card.card_draw for card in hand)
    terms["hand.area"] = sum(card.area != 0 for card in hand)
    terms["bonus_mana"] = state.players[player].bonus_mana
    return terms


@each_rules
def test_the_evaluation_is_the_sum_of_its_terms(rules):
    """Each term is counted in plain Python from the snapshot."""
    rng = random.Random(1)
    checked = 0
    for state in positions(rules):
        weights = {name: rng.uniform(-3, 3) for name in TERMS} | {"scale": 1.0}
        evaluation = Evaluation(weights, rules)
        for player in (0, 1):
            terms = counted(state, player)
            assert set(terms) == set(TERMS) - {"scale"}
            expected = sum(weights[name] * value for name, value in terms.items())
            assert evaluation(state, player) == pytest.approx(expected, rel=1e-4, abs=1e-2)
            checked += 1
    assert checked > amount(30, 50)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"own.helth": 1.0}, "weights: unknown term 'own.helth'"),
        ({"own.health": "1"}, "weights: own.health: expected a number of less than 1000, got '1'"),
        ({"own.health": float("nan")}, "weights: own.health: expected a number"),
        ({"own.health": float("inf")}, "weights: own.health: expected a number"),
        ({"own.health": True}, "weights: own.health: expected a number"),
        ({"scale": 0.0}, "weights: scale: expected more than 0, got 0.0"),
    ],
)
def test_evaluation_refuses(weights, message):
    raises(ValueError, message, Evaluation, weights)


# ---- positions of a turn -------------------------------------------------------------------------


@each_rules
def test_order_makes_no_difference(rules):
    """Two actions lead to one position in either order, if both orders are legal."""
    same = different = 0
    for state in positions(rules, games=amount(2, 4)):
        key = state.turn_hash()
        actions = [a for a in state.legal_actions()[1:] if not state.child(a).is_terminal()]
        for a in actions:
            assert state.child(a).turn_hash() != key
            for b in actions:
                texts = [state.action_to_string(x) for x in (a, b)]
                ends = []
                for first, second in (texts, texts[::-1]):
                    child = state.clone()
                    if child.apply_line(f"{first};{second}")[0] == [first, second]:
                        ends.append(child)
                if len(ends) == 2 and a < b:
                    alike = equal_but_for_order(*ends)
                    assert (ends[0].turn_hash() == ends[1].turn_hash()) is alike
                    same += alike
                    different += not alike
    assert same > 50


def equal_but_for_order(a: State, b: State) -> bool:
    def content(state: State) -> list[object]:
        return [
            (
                [p.get(name) for name in ("hp", "mana", "draw", "lost", "deck")],
                sorted(state.players[i].hand),
                sorted(map(str, (row[2:] for row in p["board"]))),
            )
            for i, p in enumerate(state.snapshot()["p"])
        ]

    return content(a) == content(b)


@each_rules
def test_a_wide_beam_finds_the_best_turn(rules):
    """In small positions, the static value is that of the best of all turns."""
    evaluation = Evaluation(rules=rules, network=None)
    search = BeamSearch(BeamOptions(turns=0, width=65536), evaluation=evaluation)
    checked = 0
    for state in positions(rules, games=amount(1, 5), step=1):
        ends = all_turns(state, 300)
        if ends is None:
            continue
        player = state.current_player()
        best = max(evaluation(end, player) for end in ends)
        result = search.search(state, nodes=10**6)
        assert evaluation(after(state, result.actions), player) == pytest.approx(best, abs=1e-3)
        checked += 1
    assert checked > amount(1, 10)


def all_turns(state: State, limit: int) -> list[State] | None:
    """Return the ends of all turns, or None if there are more than `limit`."""
    ends, seen, queue = [state], {state.key()}, [state]
    while queue:
        node = queue.pop()
        for action in node.legal_actions()[1:]:
            child = node.child(action)
            if child.key() not in seen:
                seen.add(child.key())
                ends.append(child)
                queue.append(child)
        if len(ends) > limit:
            return None
    return ends


# ---- wins ----------------------------------------------------------------------------------------


def wins(state: State, result: SearchResult) -> bool:
    return after(state, result.actions).winner == state.current_player()


@cache
def most_damage(kind: str) -> int:
    return wins_data.damage(wins_data.position(kind), 10**6)[0]


@each_search
@pytest.mark.parametrize("kind", amount([*KINDS][::3], [*KINDS]))
def test_a_win_is_found_and_none_made_up(search, kind):
    state = wins_data.position(kind)
    result = search().search(state, **budget(search, 20))
    assert wins(state, result)
    assert result.value == 1
    health = state.players[1 - state.current_player()].health
    most = most_damage(kind)
    safe = wins_data.with_health(state, max(health, most + 1))
    result = search().search(safe, **budget(search))
    assert not wins(safe, result)


# ---- what is hidden ------------------------------------------------------------------------------


def references(rules: str, seed: int) -> Iterator[tuple[State, State]]:
    """Yield pairs of positions that their mover cannot tell apart."""
    for state in positions(rules, games=amount(2, 6), step=2):
        viewer = state.current_player()
        other = state.resample_hidden(viewer, seed)
        if other != state:
            assert other.observation(viewer) == state.observation(viewer)
            yield state, other


@each_rules
@each_search
def test_what_is_hidden_makes_no_difference(search, rules):
    pairs = list(references(rules, 7))[:: amount(2, 1)]
    assert len(pairs) > amount(5, 15)
    for pair in pairs:
        lines = {search().search(state, **budget(search, 0.5), seed=3).line for state in pair}
        assert len(lines) == 1


@pytest.mark.slow
@each_search
def test_a_search_that_cheats_would_be_found_out(search):
    """The test of hidden cards is able to fail: a search with worlds of the true state fails it."""

    class Peeking(Belief):
        def __init__(self, state: State) -> None:
            super().__init__()
            self.state = state

        def determinizer(self) -> Determinizer:
            groups: list[list[tuple[int, list[tuple[Card, float]]]]] = []
            viewer = self.state.current_player()
            for who, view in enumerate(self.state.players):
                hidden = [c.card for c in view.deck]
                if who != viewer:
                    hidden = [c.card for c in view.hand]  # several times, for the deck too
                    hidden *= 1 + len(view.deck) // max(1, len(hidden)) + 1
                groups.append([(1, [(card, 1.0)]) for card in hidden])
            return Determinizer(self.state, viewer, groups)

    differ = 0
    for seed in range(amount(2, 4)):
        for pair in references("1.5", seed):
            if not all(state.players[1 - state.current_player()].hand for state in pair):
                continue
            lines = set()
            for state in pair:
                belief = Peeking(state)
                observation = state.observation(state.current_player())
                belief.see(observation)
                result = search().search(observation, **budget(search, 10), seed=3, belief=belief)
                lines.add(tuple(result.actions))
            differ += len(lines) > 1
    assert differ > 0


# ---- budgets -------------------------------------------------------------------------------------


@each_search
@each_rules
def test_the_arguments_decide_the_result(search, rules):
    other = search()
    for state in list(positions(rules, games=2))[: amount(5, 8)]:
        results = [s.search(state, **budget(search, 0.5), seed=5) for s in (search(), other, other)]
        assert len({(r.line, r.value, r.visits, r.nodes, r.depth) for r in results}) == 1


def test_seeds_matter():
    values = {
        MCTS().search(next(positions("1.5")), iterations=100, seed=seed).value for seed in range(9)
    }
    assert len(values) > 4


@each_search
def test_nodes_and_iterations_are_bounded(search):
    searched = 0
    for state in [*positions("1.5")][: amount(2, 30)]:
        for most in (0, 1, 50, 500, 5000):
            bound = "nodes" if search is BeamSearch else "iterations"
            result = search().search(state, **{bound: most})
            assert getattr(result, bound) <= 1.3 * most
            wins(state, result)  # the actions are legal
            searched += result.nodes
    assert searched > 0


@cache
def most_choice() -> State:
    """Return the position with the most actions among those without a win."""
    states = [s for s in positions("1.5") if BeamSearch().search(s, nodes=100).value < 1]
    return max(states, key=lambda state: len(state.legal_actions()))


@each_search
def test_a_larger_budget_goes_deeper(search):
    state = most_choice()
    small, large = (search().search(state, **budget(search, share)) for share in (0.02, 1))
    assert small.nodes < large.nodes
    assert small.depth < large.depth


@each_search
def test_the_deadline_is_kept(search):
    """The time is checked often enough, which shows in the nodes of a search with little time.

    Counts of nodes depend less on how busy the machine is than seconds do.
    """
    searcher = search()
    made = []
    for state in positions("1.5", games=3):
        observation = state.observation(state.current_player())
        belief = Belief(deck=DECK_BUILDERS["classic"])
        belief.see(observation)
        belief.determinizer()  # computed before, so that the search's time excludes it
        for time_ms, most in ((0, 50), (2, 400_000)):
            result = searcher.search(observation, time_ms=time_ms, belief=belief)
            assert result.nodes <= most
            assert result.elapsed > 0
        made.append(result.nodes)
    assert max(made) > 50


@each_search
def test_a_search_ends_whenever_its_time_is_over(search):
    """Time can run out between two parts of a search.

    A thread runs it, since a search without end could not be stopped.
    """
    state = most_choice()
    belief = Belief()
    belief.see(state.observation(state.current_player()))
    belief.determinizer()

    def run() -> None:
        searcher = search()
        for i in range(amount(200, 2000)):
            searcher.search(belief.observation, time_ms=i / 2000, belief=belief)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=100)
    assert not thread.is_alive()


@each_rules
def test_visits_bound_the_beam_after_a_search_for_a_win(rules):
    """That has a part of its own; with one plan there is nothing to visit, only the beam."""
    search = MCTS(MCTSOptions(plans=1))
    states = sorted(positions(rules), key=lambda one: len(one.legal_actions()))[-4:]
    nodes = []
    for state, health in itertools.product(states, range(1, 40, 2)):
        position = wins_data.with_health(state, health)
        one, two = (search.search(position, iterations=visits) for visits in (1, 2))
        if one.value < 1:
            nodes.append((one.nodes, two.nodes))
    assert max(nodes)[0] > 256  # a win was looked for
    assert min(nodes)[0] == 256  # ... and was out of the question
    assert {more - few for few, more in nodes} == {256}


@each_search
@each_rules
def test_nobody_kills_themselves(search, rules):
    """The player passes if every card would kill them."""
    cards = [Card(i, CardType.CREATURE, 1, 9, 9, my_health_change=-30) for i in range(1, 13)]
    state = State.new(cards, cards, rules=rules)
    assert len(state.legal_actions()) > 1
    assert search().search(state, **budget(search, 0.2)).line == "PASS"


@each_search
def test_a_reply_that_kills_its_player_is_no_win(search):
    """The opponent would die of the item that makes their attack strong enough: no threat."""
    item = Card(1, CardType.GREEN, 0, 3, 0, my_health_change=-2)
    belief = Belief()
    line = PlayerLine(30, 0, 0, 0)
    belief.see(Observation("1.5", line, line, 0, (), (CardInPlay.offer(item),)))
    belief.chose([1] * 30)
    board = (
        CardInPlay(2, 0, 1, 0, 1, 1, 3, "------", 0, 0, 0, 0, 0),
        CardInPlay(3, 60, -1, 0, 1, 1, 3, "------", 0, 0, 0, 0, 1),
    )
    me, opponent = PlayerLine(4, 4, 20, 1), PlayerLine(3, 4, 20, 1)
    observation = Observation("1.5", me, opponent, 3, (), board)
    belief.see(observation)
    if search is BeamSearch:
        searcher = search(BeamOptions(turns=1, reply_width=3, static_worlds=0.0))
    else:
        searcher = search(MCTSOptions(reply_width=3))
    # After the attack the opponent has two health left, and each card in their hand costs them two.
    result = searcher.search(observation, belief=belief, **budget(search, 5))
    assert result.line == "ATTACK 0 -1"
    assert result.value > -0.5


@each_search
def test_a_belief_has_to_have_seen_the_observation(search):
    """Without an error, the search would answer an earlier turn."""
    match = begun_match(seed=3)
    belief, old = Belief(), match.observation(0)
    given = {"belief": belief, **budget(search)}
    message = r"^belief: its last observation is not this one"
    raises(ValueError, message, search().search, old, **given)
    belief.see(old)
    assert search().search(old, **given).line
    for _ in range(2):
        match.submit(match.to_ask[0], "PASS")
    for seen in (match.observation(0), match.state):
        raises(ValueError, message, search().search, seen, **given)
    raises(ValueError, message, analyse, seen, belief=belief, time_ms=None, nodes=100)
    belief.see(match.observation(0))
    for seen in (match.observation(0), match.state):
        assert search().search(seen, **given).line


@each_search
def test_an_evaluation_of_other_rules_is_refused(search):
    """Without an error, the network of 1.5 would evaluate positions of 1.2."""
    state = next(positions("1.2"))
    message = r"^evaluation: it is for rules 1\.5, the position for 1\.2$"
    for evaluation in (Evaluation(), {"1.2": Evaluation({"own.health": 1.0})}):
        raises(ValueError, message, search(evaluation=evaluation).search, state, **budget(search))
    evaluation = Evaluation(rules="1.2").replace(scale=20)
    assert evaluation.rules == "1.2"
    assert search(evaluation=evaluation).search(state, **budget(search)).nodes > 0


@each_rules
def test_win_chances(rules):
    """The probability is the search's static value of the turn's end, calibrated."""

    def log_odds(chance: float) -> float:
        return np.log(chance / (1 - chance))

    search, optimism = BeamSearch(BeamOptions(turns=0)), list[float]()
    for state in [*positions(rules)][:4]:
        result = search.search(state, nodes=500)
        world = after(Belief.of_state(state, state.current_player()).sample(0), result.actions)
        me = state.current_player()
        if world.is_terminal():
            assert win_chance(world, me) == 1
            continue
        hopeful = log_odds((1 + result.value) / 2) - log_odds(win_chance(world, me))
        optimism.append(hopeful)
        assert win_chance(world, 1 - me) == pytest.approx(1 - win_chance(world, me))
        assert win_chance(world) == win_chance(world, me)
    assert optimism == pytest.approx([np.mean(optimism)] * len(optimism), abs=1e-3)
    assert 0.1 < np.mean(optimism) < 0.6  # the search's value is too hopeful, by as much everywhere
    states = [state for state, _ in random_game(start_position(1, rules), 1)]
    last = states[-1].child(states[-1].legal_actions()[-1])
    batch = StateBatch([*states, last])
    for player in (0, 1):
        assert win_chance(batch, player).tolist() == [win_chance(s, player) for s in batch]
    over = [*random_game(start_position(2, rules), 5)][-1]
    end = over[0].child(over[1])
    assert [win_chance(end, player) for player in (0, 1)] == [1 - end.winner, end.winner]
    worth = Evaluation(rules=rules)
    assert (worth(end, end.winner), worth(end, 1 - end.winner)) == (1000, -1000)
    raises(ValueError, "player: expected 0 or 1, got 2", win_chance, end, 2)


@each_rules
def test_win_chances_say_who_wins(rules):
    """In the last fifth of random games, the probability mostly favours the later winner."""
    right = total = 0
    for seed in range(amount(30, 60)):
        game = [*random_game(start_position(seed, rules), seed)]
        states = [state for state, _ in game]
        winner = game[-1][0].child(game[-1][1]).winner
        for state in states[len(states) * 4 // 5 : -1]:
            right += win_chance(state, winner) > 0.5
            total += 1
    assert right > 0.6 * total


# ---- plans ---------------------------------------------------------------------------------------


@each_search
@each_rules
def test_plans_tell_what_was_compared(search, rules):
    compared = 0
    for state in list(positions(rules, games=2))[: amount(7, 10)]:
        result = search().search(state, **budget(search), seed=3)
        applied, ignored = state.clone().apply_line(result.line)
        assert (applied, len(result.actions)) == (result.pv, len(result.pv))
        assert [part for part in ignored if part != "PASS"] == []
        if not result.plans:
            assert result.visits == 0 or result.value == 1
            continue
        compared += len(result.plans) > 1
        assert [plan.visits for plan in result.plans] == sorted(
            (plan.visits for plan in result.plans), reverse=True
        )
        assert all(-1 <= plan.value <= 1 for plan in result.plans)
        (chosen,) = (plan for plan in result.plans if plan.actions == result.actions)
        assert (chosen.visits, chosen.value) == (result.visits, pytest.approx(result.value))
        if search is MCTS:
            assert sum(plan.visits for plan in result.plans) == result.iterations
            assert chosen.visits == max(plan.visits for plan in result.plans)
        ends = {after(state, plan.actions).turn_hash() for plan in result.plans}
        assert len(ends) == len(result.plans)
    assert compared > 3


def test_the_tree_goes_into_the_same_worlds_again():
    """Repeated visits of one world reach other replies, so values of plans change."""
    state = most_choice()
    few = MCTS(MCTSOptions(worlds=1, plans=2)).search(state, iterations=2)
    many = MCTS(MCTSOptions(worlds=1, plans=2)).search(state, iterations=400)
    small = MCTS(MCTSOptions(max_nodes=16)).search(state, iterations=500)
    assert (few.iterations, many.iterations, small.iterations) == (2, 400, 500)
    assert {plan.value for plan in few.plans}.isdisjoint(plan.value for plan in many.plans)


# ---- threads -------------------------------------------------------------------------------------


@each_search
@each_rules_slowly
@pytest.mark.parametrize("threads", amount([3], [2, 3]))
def test_threads_share_the_worlds(search, rules, threads):
    """The answer depends on the number of threads, which share the budget, and on nothing else."""
    searched, again, share = search(), search(), 20 if search is BeamSearch else 10
    tried, differences = 0, []
    for state in list(positions(rules, games=2))[: amount(4, 8)]:
        one, *others = (
            s.search(state, **budget(search, share), seed=4, threads=n)
            for s, n in ((searched, 1), (searched, threads), (again, threads), (again, threads))
        )
        for other in others:
            assert replace(other, elapsed=0) == replace(others[0], elapsed=0)
        found = others[0]
        visits, expected = (sum(plan.visits for plan in r.plans) for r in (found, one))
        assert visits == pytest.approx(expected, rel=0.4)
        assert found.nodes == pytest.approx(one.nodes, rel=0.35)
        if search is BeamSearch:
            assert found.nodes <= 1.3 * 40_000  # the cost of a round is known only after it
        else:
            assert found.iterations == visits <= 600
        differences.append(abs(found.value - one.value))
        applied, ignored = state.clone().apply_line(found.line)
        assert (applied, ignored) in ((found.pv, []), ([], ["PASS"]))
        tried += visits > 0
    assert tried > 2
    assert sum(differences) / len(differences) < 0.2


@each_search
def test_threads_see_different_worlds(search):
    """Threads draw different worlds, as many together as a single thread would draw.

    Otherwise the values would be those of one thread with half of the worlds.
    """
    state = next(s for s in positions("1.5") if s.turn > 6)
    share = 40 if search is BeamSearch else 20
    values = {
        threads: search(search.options_class(worlds=64)).search(
            state, **budget(search, share), seed=4, threads=threads
        )
        for threads in (1, 2, 4)
    }
    half = search(search.options_class(worlds=32)).search(state, **budget(search, share), seed=4)
    assert len({found.value for found in [*values.values(), half]}) == 4


@each_search
def test_threads_keep_the_deadline_and_end(search):
    state = most_choice()
    before = threading.active_count()
    searched = search()
    searched.search(state, time_ms=5, threads=2)
    late = min(searched.search(state, time_ms=10, threads=2).elapsed for _ in range(5))
    assert late < 0.04
    assert threading.active_count() == before
    assert searched.search(state, time_ms=0, threads=2).line


# ---- arguments -----------------------------------------------------------------------------------


@each_search
def test_a_state_is_replaced_by_what_its_mover_sees(search):
    for state in list(positions("1.2", games=2))[:5]:
        seen = state.observation(state.current_player())
        lines = {search().search(one, **budget(search), seed=2).line for one in (state, seen)}
        assert len(lines) == 1


@each_search
def test_search_refuses(search):
    state = start_position(1)
    finished = list(random_game(state, 1))[-1]
    (bound,) = budget(search)
    other = "iterations" if bound == "nodes" else "nodes"
    for arguments, message in [
        ({"observation": state}, f"one of time_ms and {bound} is needed"),
        ({"observation": state, other: 5}, f"{other}: {search.__name__} is bounded by {bound}"),
        ({"observation": finished[0].child(finished[1]), "time_ms": 1}, "the game is over"),
        ({"observation": Match(seed=1).observation(0), "time_ms": 1}, "before the battle"),
    ]:
        raises(ValueError, message, search().search, **arguments)


@pytest.mark.parametrize("options", [BeamOptions, MCTSOptions])
def test_options_are_described(options):
    text = describe_options(options)
    for option in fields(options):
        assert f"{option.name} " in text


# ---- functions of batches in place of weights ----------------------------------------------------


@pytest.mark.slow
@each_search
@each_rules
@pytest.mark.parametrize("reply_width", [1, 8])
def test_a_function_may_evaluate(search, rules, reply_width):
    """The default weights, called as a function, give the compiled values to the last bit."""
    evaluation = Evaluation(rules=rules, network=None)
    sizes = []

    def function(batch: StateBatch) -> object:
        sizes.append(len(batch))
        return evaluation.results(batch)

    options = search.options_class(reply_width=reply_width)
    by_function = search(options, evaluation=function)
    compiled = search(options, evaluation=evaluation)
    for state in list(positions(rules, games=2))[:6]:
        found, expected = (
            one.search(state, **budget(search, 3), seed=2) for one in (by_function, compiled)
        )
        assert replace(found, elapsed=0) == replace(expected, elapsed=0)
    assert max(sizes) > 100


def test_a_function_is_called_once_for_a_level():
    """A beam search evaluates its root, then all positions after each number of actions."""
    evaluation = Evaluation(network=None)
    batches = []

    def function(batch: StateBatch) -> object:
        batches.append([*batch])
        return evaluation.results(batch)

    state = most_choice()
    search = BeamSearch(BeamOptions(turns=0, width=16), evaluation=function)
    result = search.search(state, nodes=50_000)
    assert len(batches) == result.depth + 1 + (result.depth < 63 and not batches[-1])
    assert len(batches[0]) == 1
    seen = batches[0][0]
    assert seen.legal_actions() == state.legal_actions()
    player = state.current_player()
    for before, level in itertools.pairwise(batches):
        children = {s.child(a).key() for s in before for a in s.legal_actions()[1:]}
        assert {s.key() for s in level} <= children
        assert {s.current_player() for s in level} == {player}


@each_search
def test_results_are_averaged_as_the_function_says(search):
    """If the function always returns the same result, each plan has that value."""
    state = next(s for s in positions("1.5") if s.turn > 4)
    result = search(evaluation=lambda batch: [0.625] * len(batch)).search(
        state, **budget(search), seed=1
    )
    assert len(result.plans) > 1
    for plan in result.plans:  # two turns follow, the last one the player's own
        assert plan.value == pytest.approx(0.625, abs=1e-5)
    assert result.value == pytest.approx(0.625, abs=1e-5)


def test_observations_and_masks_are_those_of_the_states():
    seen = []

    def network(observations: object, masks: object) -> object:
        seen.append((observations, masks))
        return np.zeros(len(masks)), masks

    batches = []
    inner = OnObservations(network, "gym-locm")

    def function(batch: StateBatch) -> object:
        batches.append(batch)
        return inner(batch)

    state = next(positions("1.5"))
    assert MCTS(evaluation=function).search(state, iterations=20).visits
    for batch, (observations, masks) in zip(batches, seen, strict=True):
        assert (observations == batch.observation_tensor(layout="gym-locm")).all()
        assert (masks == batch.legal_actions_mask()).all()


def test_priors_guide_the_tree():
    """Priors decide which of the turns with nearly equal values are visited.

    Here the opponent is expected to summon, or to do anything else.
    """
    boards = [creatures_after_replies(weight) for weight in (0.001, 1000.0)]
    assert boards[1] > boards[0] * 1.05


def creatures_after_replies(weight: float) -> int:
    """Return how many creatures the opponent has after replies in which summons have that prior."""
    evaluation = Evaluation(network=None)
    total = 0
    for state in [s for s in positions("1.5") if s.turn > 4][:8]:
        me, turn = state.current_player(), state.turn + 2

        def function(batch: StateBatch, me: int = me, turn: int = turn) -> object:
            nonlocal total
            legal = batch.actions()
            priors = np.zeros((len(batch), 145))
            priors[legal.row, legal.action] = np.where(legal.kind == ActionKind.SUMMON, weight, 1)
            for one in batch:
                if one.turn == turn and one.players[me].mana == one.players[me].max_mana:
                    total += len(one.players[1 - me].board)
            return evaluation.results(batch) * 1e-3, priors

        options = MCTSOptions(plans=2, worlds=1, exploration=1000.0)
        for seed in range(3):
            MCTS(options, evaluation=function).search(state, iterations=8, seed=seed)
    return total


@each_search
@pytest.mark.parametrize("later", [False, True], ids=["at once", "in the opponent's turn"])
def test_a_function_that_fails(search, later):
    state = next(positions("1.5"))
    failing = state.current_player() ^ later

    def function(batch: StateBatch) -> object:
        if failing in batch.current_player():
            raise KeyError("no such position")
        return np.zeros(len(batch))

    searcher = search(evaluation=function)
    for _ in range(2):
        raises(KeyError, "no such position", searcher.search, state, **budget(search))


@each_search
def test_a_function_that_returns_something_else(search):
    state = next(positions("1.5"))
    for answer, message in (
        (lambda n: [0.0] * (n + 1), r"^evaluation: expected values of shape \(1,\), got \(2,\)"),
        (lambda n: [7.0] * n, "^evaluation: expected values from -1 to 1, got 7.0"),
        (lambda n: ([0.0] * n, [[1.0]] * n), "^evaluation: expected priors of shape"),
    ):
        searched = search(evaluation=lambda batch, a=answer: a(len(batch)))
        raises(ValueError, message, searched.search, state, **budget(search))
        message = "threads: a function that evaluates is called by one"
        raises(ValueError, message, searched.search, state, time_ms=1, threads=2)


@each_search
@each_rules
def test_turns_that_are_played_on_leave_sound_states(search, rules):
    """The function gets valid states of games that are not over, in which actions may follow."""
    checked = set()

    def function(batch: StateBatch) -> object:
        for state in batch:
            state.validate()
            assert not state.is_terminal()
            checked.add(state.turn)
        return np.zeros(len(batch))

    for state in list(positions(rules, games=3))[:6]:
        search(evaluation=function).search(state, **budget(search, 0.2))
    assert len(checked) > 3


def test_greedy_turns():
    """Replies of width 1 take the best action, one by one, while it improves the value."""
    evaluation = Evaluation(network=None)
    options = BeamOptions(turns=1, reply_width=1)
    checked = longest = 0
    for state in list(positions("1.5", games=4))[::2]:
        belief = Belief()
        belief.see(state.observation(state.current_player()))
        worlds = belief.determinizer()
        for seed in range(5):
            end = worlds.sample(seed)
            value, same = (
                BeamSearch(options, evaluation=one)
                .prepare("1.5")
                .turn_value(worlds, end, [], 1, seed)
                for one in (evaluation, evaluation.results)
            )
            assert value == same  # by the function
            end.apply_action(0)
            if end.is_terminal():
                continue
            other = end.current_player()
            best, length = evaluation(end, other), 0
            while True:
                children = [end.child(action) for action in end.legal_actions()[1:]]
                values = [evaluation(one, other) for one in children]
                if max(values, default=best) <= best:
                    break
                best, length = max(values), length + 1
                end = children[values.index(best)]
                if end.is_terminal():
                    break
            if wins_by_attacks(end, other):  # such a win is counted, not played
                continue
            assert value == pytest.approx(-math.tanh(best / evaluation["scale"]), abs=1e-4)
            checked += 1
            longest = max(longest, length)
    assert checked > 15
    assert longest > 1


def wins_by_attacks(state: State, player: int) -> bool:
    attack = sum(max(0, c.attack) for c in state.players[player].board)
    return state.is_terminal() or attack >= state.players[1 - player].health


# ---- games between engines -----------------------------------------------------------------------


def start_of_engines() -> tuple[State, list[Determinizer]]:
    start = start_position(3)
    pool = [(2, [(card, 1.0)]) for card in start.table.pool]
    return start, [Determinizer(start, who, [pool, pool]) for who in (0, 1)]


@pytest.mark.parametrize("nodes", [300, 6000])
def test_games_between_engines(nodes):
    """The same arguments give the same game, and the recorded states are those of its turns.

    With the larger budget, turns are compared in sampled worlds.
    """
    start, worlds = start_of_engines()
    options = BeamOptions(plans=4, width=8)

    def play(seed: int) -> tuple[tuple[int, int], list[State]]:
        engines = [SearchEngine(options, Evaluation().compiled) for _ in range(2)]
        ends: list[State] = []
        return play_game(start, engines, worlds, (nodes, nodes), seed, ends), ends

    (winner, turns), ends = play(1)
    assert winner in (0, 1)
    assert [end.turn for end in ends] == list(range(turns + 1))[: len(ends)]
    assert ends[-1].winner in (winner, None)
    for end in ends:
        end.validate()
    again = play(1)
    assert again[0] == (winner, turns)
    assert again[1] == ends


def test_engines_refuse():
    """Engines refuse a root in the other player's turn, and games evaluated by a function."""
    start, worlds = start_of_engines()
    engine = SearchEngine(BeamOptions(), Evaluation().compiled)
    with pytest.raises(ValueError, match="the player whose turn it is"):
        engine.search(worlds[1], start, time_ns=None, nodes=100, iterations=None, seed=0)
    other = BeamSearch(evaluation=lambda batch: [0.0] * len(batch)).prepare("1.5")
    for pair in ((engine, other), (other, engine)):
        with pytest.raises(TypeError, match="games are played by compiled evaluations"):
            play_game(start, pair, worlds, (300, 300), 1)


def test_terms_of_the_other_player_are_subtracted():
    """Whoever gives them negative weights is told, unless all weights were fitted together."""
    default = dict(Evaluation())
    assert json.loads(json.dumps(default)) == default
    assert set(default) == set(TERMS)
    position = start_position(1)
    weights = dict.fromkeys(TERMS, 0.0) | {"scale": 1.0, "own.health": 1.0, "their.health": 1.0}
    mine, theirs = (player.health for player in position.players)
    assert Evaluation(weights)(position, 0) == mine - theirs
    assert all("subtracted" in TERMS[name] for name in TERMS if name.startswith("their."))
    with pytest.warns(UserWarning, match=r"their.health is -1; .* subtracted"):
        careless = Evaluation({"own.health": 1, "their.health": -1})
    assert careless.replace(own_card=2)["their.health"] == -1
    Evaluation({**weights, "their.health": -1.0})
    Evaluation({"own.health": 1, "their.health": 1})

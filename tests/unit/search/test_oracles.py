"""The compiled searches against slow counterparts in plain Python."""

import pytest
import wins_data
from amounts import amount
from helpers import RULE_SETS, each_rules
from oracles.turnsearch import Budget, beam_search
from oracles.wins import find_win
from states import after, asked_positions, running_positions
from wins_data import CREATURE, GREEN, KINDS

from locmsim import Card, State
from locmsim.agents.greedy import HAND_SET_WEIGHTS
from locmsim.rules.cards import Area
from locmsim.search import BeamOptions, BeamSearch, Evaluation
from locmsim.search._engine import SearchEngine

VALUE = Evaluation(HAND_SET_WEIGHTS, network=None)
VALUES = {rules: Evaluation(HAND_SET_WEIGHTS, rules, network=None) for rules in RULE_SETS}


# ---------------------------------------------------------------------------------------- wins


def test_there_are_enough_positions():
    assert len(KINDS) >= 20
    assert len({wins_data.position(kind).key() for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_positions_are_what_they_are_called(kind):
    """Exhaustive search shows that the win needs all possible damage, and what the name says."""
    wins_data.check(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_finds_wins_and_makes_up_none(kind):
    """The oracle wins the position, but not with one more health of the opponent."""
    state = wins_data.position(kind)
    health = state.players[1 - state.current_player()].health
    assert find_win(wins_data.with_health(state, health + 1), Budget()) is None
    assert after(state, find_win(state, Budget())).is_terminal()


@each_rules
def test_the_searches_for_wins_miss_nothing_in_games(rules):
    """The oracle, the compiled search for wins and that with its beam agree with exhaustive search.

    The largest damage of any turn takes this health, but no more.
    """
    engine, search = SearchEngine(BeamOptions(), VALUE.compiled), BeamSearch()
    found = 0
    games = asked_positions(rules, range(amount(1, 6)), "greedy", "rule")
    for state in games + running_positions(rules, amount(1, 4))[::9]:
        try:
            most, _ = wins_data.damage(state, 2000)
        except wins_data.TooLarge:
            continue
        for health in (most, most + 1):
            if health > 0:
                position = wins_data.with_health(state, health)
                assert (find_win(position, Budget()) is not None) == (health == most)
                win = engine.find_win(position, 100_000)
                assert (win is not None) == (health == most)
                assert win is None or after(position, win).is_terminal()
                end = after(position, search.search(position, nodes=amount(8000, 20_000)).actions)
                assert (end.winner == position.current_player()) == (health == most)
        found += most > 0
    assert found > amount(4, 15)


@pytest.mark.parametrize("area", list(Area))
def test_the_searches_for_wins_summon_whatever_an_item_can_be_used_on(area):
    """A harmful green item needs a creature, even one that cannot attack in this turn."""
    creature = Card(1, CREATURE, 1, 2, 2)
    item = Card(2, GREEN, 0, 0, 0, opponent_health_change=-2, area=area)
    filler = Card(3, CREATURE, 13, 1, 1)
    state = State.new([creature, item, *[filler] * 28], [filler] * 30)
    engine = SearchEngine(BeamOptions(), VALUE.compiled)
    enough, too_few = wins_data.with_health(state, 2), wins_data.with_health(state, 3)
    assert len(engine.find_win(enough, 1000)) == len(find_win(enough, Budget())) == 2
    assert engine.find_win(too_few, 1000) is find_win(too_few, Budget()) is None


@each_rules
def test_searches_win_where_the_oracle_does(rules):
    """The positions include those that are too large for exhaustive search."""
    search = BeamSearch(evaluation=VALUES)
    wins = 0
    for state in asked_positions(rules, range(amount(1, 2)), "greedy", "rule")[:: amount(2, 1)]:
        player = state.current_player()
        for health in (3, 7, 12, 18):
            position = wins_data.with_health(state, health)
            oracle = find_win(position, Budget(nodes=3000))
            result = search.search(position, nodes=amount(6000, 20_000))
            won = after(position, result.actions).winner == player
            assert won or oracle is None
            wins += won
    assert wins > amount(1, 10)


# ---------------------------------------------------------------------------------------- beams


@each_rules
def test_the_oracle_misses_no_pair_of_actions(rules):
    """The turn found is no worse than the best one of two actions."""
    for state in asked_positions(rules, range(1), "greedy", "rule")[:: amount(3, 1)]:
        player = state.current_player()
        best = VALUE(state, player)
        for first in state.legal_actions()[1:]:
            child = state.child(first)
            values = [VALUE(child.child(a), player) for a in child.legal_actions()[1:]]
            best = max([best, VALUE(child, player), *values])
        found = after(state, beam_search(state, VALUE, Budget(), widths=(6, 100)))
        assert VALUE(found, player) >= best


@each_rules
def test_a_wide_beam_is_no_worse_than_the_oracle(rules):
    """The ends of turns are compared by their static value."""
    search = BeamSearch(BeamOptions(turns=0, width=4096), evaluation=VALUES)
    better = 0
    for state in asked_positions(rules, range(1), "greedy", "rule")[:: amount(3, 1)]:
        player = state.current_player()
        slow = VALUE(after(state, beam_search(state, VALUE, Budget(nodes=2000))), player)
        fast = VALUE(after(state, search.search(state, nodes=200_000).actions), player)
        assert fast >= slow - 1e-3
        better += fast > slow + 1e-3
    assert better < 10  # the oracle is worth comparing with


def test_the_oracle_counts_orders_once():
    """The number of positions is that of sets of actions, not of sequences."""
    state = next(s for s in asked_positions("1.5", range(1), "greedy", "rule") if s.turn == 4)
    budget = Budget(nodes=10_000)
    beam_search(state, VALUE, budget, widths=(10_000,))
    keys = {state.key()}
    left = [state]
    edges = 0
    while left:
        node = left.pop()
        for action in node.legal_actions()[1:]:
            child = node.child(action)
            edges += 1
            if child.key() not in keys:
                keys.add(child.key())
                left.append(child)
    assert 10_000 - budget.nodes <= edges

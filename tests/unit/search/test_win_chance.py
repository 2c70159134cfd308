"""`win_chance`: a probability, of the package's own evaluation."""

import math

import pytest
from helpers import RULE_SETS

from locmsim import Match, play_match
from locmsim.agents import make_agent
from locmsim.game.positions import random_game, start_position
from locmsim.search import BeamOptions, BeamSearch, Evaluation, win_chance
from locmsim.search.searching import worlds_at

each_rules = pytest.mark.parametrize("rules", RULE_SETS)


@each_rules
def test_it_is_a_probability(rules):
    *game, (last, action) = random_game(start_position(1, rules), 1)
    for state, _ in game[::5]:
        first, second = win_chance(state, 0), win_chance(state, 1)
        assert 0 < first < 1
        assert first + second == pytest.approx(1)
        # What the opponent holds does not matter to it.
        mover = state.current_player()
        assert win_chance(state.resample_hidden(mover, 3), mover) == win_chance(state, mover)
    end = last.child(action)
    assert [win_chance(end, player) for player in (0, 1)] == [
        (1 + result) / 2 for result in end.returns()
    ]


@each_rules
@pytest.mark.parametrize("network", [True, False])
def test_it_is_what_searches_predict(rules, network):
    """A search that plays on for no turn and has no action says the same of passing."""
    evaluation = Evaluation(rules=rules) if network else Evaluation(rules=rules, network=None)
    search = BeamSearch(BeamOptions(turns=0), evaluation=evaluation)
    found = 0
    for state in [s for seed in (2, 3) for s, _ in random_game(start_position(seed, rules), seed)]:
        if state.legal_actions() == [0] and state.players[state.current_player()].mana == 0:
            _, root, _ = worlds_at(state, None, (), 0)  # what the search takes the position for
            chance = evaluation.win_chance(root, root.current_player())
            value = search.search(state, nodes=10).value
            assert 2 * chance - 1 == pytest.approx(value, abs=1e-5)
            found += 1
    assert found > 2


@each_rules
def test_winners_have_had_better_chances(rules):
    chances = []
    for seed in range(20):
        match = Match(rules, seed=seed)
        positions = []

        def note(match, player, line, positions=positions):
            if match.state is not None and not match.state.is_terminal():
                end = match.state.clone()
                for action in end.actions_of(line):
                    if not end.is_terminal():
                        end.apply_action(action)
                positions.append(end)

        agents = make_agent("greedy"), make_agent("rule")
        play_match(match, agents, note)
        chances += [win_chance(state, match.winner) for state in positions]
    assert math.fsum(chances) / len(chances) > 0.55


def test_what_is_refused():
    state = start_position(1, "1.2")
    with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
        win_chance(state, 2)
    with pytest.raises(ValueError, match=r"of rules 1\.5, the state of 1\.2"):
        Evaluation().win_chance(state, 0)

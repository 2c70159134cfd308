"""Random playouts of a `State`: what they depend on, and that actions are drawn uniformly."""

import numpy as np
from amounts import amount
from helpers import RULE_SETS, each_rules
from rows_access import rollout_by_steps
from states import finished, game_positions

from locmsim import (
    Card,
    CardType,
    State,
    StateBatch,
)
from locmsim.game.positions import start_position


@each_rules
def test_a_playout_depends_on_seed_and_number_only(rules):
    for state in game_positions(rules)[5 : amount(50, 200) : 40]:
        for seed in (0, 2**63, 2**64 - 1, -1, np.int64(-7), np.uint64(2**64 - 7)):
            winners = state.rollouts(60, seed).tolist()
            for n in (0, 1, 17, 59):
                assert state.rollouts(n, seed).tolist() == winners[:n]
            for threads in (1, 2, np.int32(3), 1000):
                assert state.rollouts(60, seed=seed, threads=threads).tolist() == winners
            assert state.rollout(seed) == winners[0]
            assert type(state.rollout(seed)) is int
        assert state.rollouts(60, -1).tolist() == state.rollouts(60, 2**64 - 1).tolist()


def test_rollouts_from_a_finished_game():
    state = finished()
    assert state.rollouts(5, 1).tolist() == [state.winner] * 5
    assert state.rollout(1) == state.winner
    assert state.rollouts_counted(5, 1)[1] == 0


def test_playouts_of_a_game_without_end_are_broken_off():
    """Attack -500 heals the player who is attacked, faster than their empty deck harms them."""
    healer = Card(1, CardType.CREATURE, 0, -500, 500, "-C----", 0, 0, 0, 0)
    state = State.new([healer] * 30, [healer] * 30)
    for i, winner in enumerate(state.rollouts(4, 1).tolist()):
        assert winner in (0, 1)
        assert rollout_by_steps(state, 1, i)[0] == winner
    assert state.rollouts_counted(4, 1)[1] >= 4 * 1000


@each_rules
def test_the_fused_loop_draws_and_applies_as_single_steps_do(rules):
    """Thousands of games have the same winners and numbers of actions."""
    games = 0
    for state in [start_position(seed, rules) for seed in range(amount(6, 20))] + [
        state for state in game_positions(rules)[::9] if not state.is_terminal()
    ]:
        applied = 0
        for i, winner in enumerate(state.rollouts(40, 11).tolist()):
            total = state.rollouts_counted(i + 1, 11)[1]
            assert rollout_by_steps(state, 11, i) == (winner, total - applied)
            applied = total
            games += 1
    assert games > amount(1000, 2000)


def sampling_positions() -> list[State]:
    """Return positions of all rule sets with legal actions as different as possible."""
    chosen = []
    for rules in RULE_SETS:
        ranked = sorted(
            (state for state in game_positions(rules, 40) if not state.is_terminal()),
            key=lambda state: -len(state.legal_actions()),
        )
        seen = set()
        for state in ranked:
            actions = tuple(state.legal_actions())
            if len(actions) > 1 and actions not in seen:
                seen.add(actions)
                chosen.append(state)
        chosen = chosen[: 90 * (1 + RULE_SETS.index(rules))]
    return chosen


def has_guard(state):
    return any("G" in c.abilities for c in state.players[1 - state.current_player()].board)


def has_area_item(state):
    me = state.players[state.current_player()]
    return any(c.card.type != CardType.CREATURE and c.card.area for c in me.hand) and any(
        text.startswith("USE") for text in map(state.action_to_string, state.legal_actions())
    )


def has_full_lane(state):
    board = state.players[state.current_player()].board
    size = 6 if state.rules == "1.0" else 3
    return any(sum(c.lane == lane for c in board) == size for lane in (0, 1))


def test_sampling_is_uniform():
    from scipy import special  # slow to import

    chosen = sampling_positions()
    assert len(chosen) >= 200
    for feature in (has_guard, has_area_item, has_full_lane):
        assert sum(map(feature, chosen)) >= 10, feature.__name__
    values, freedom = [], []
    for number, state in enumerate(chosen):
        actions = state.legal_actions()
        sampled = StateBatch.repeat(state, 400 * len(actions)).sample_actions(number)
        counts = np.bincount(sampled, minlength=state.num_distinct_actions())
        assert counts.sum() == counts[actions].sum(), "an action that is not legal"
        values.append(((counts[actions] - 400) ** 2 / 400).sum())
        freedom.append(len(actions) - 1)
    p_values = np.sort(special.chdtrc(freedom, values))  # of chi-squared tests
    assert p_values.min() > 1e-3 / len(chosen)
    assert 1e-3 < special.chdtrc(sum(freedom), sum(values)) < 1 - 1e-3
    # By the Kolmogorov-Smirnov test, the p-values are uniformly distributed.
    steps = np.arange(len(chosen) + 1) / len(chosen)
    distance = max((steps[1:] - p_values).max(), (p_values - steps[:-1]).max())
    assert special.kolmogorov(distance * len(chosen) ** 0.5) > 1e-3

"""The arena shows a policy the same bytes as environments do, along whole matches."""

import numpy as np
import pytest
from env_checks import check_matches
from helpers import begun_match, each_rules, raises

from locmsim import IllegalActionError
from locmsim.policy.tracker import TurnView


@each_rules
def test_observations_give_what_environments_show(rules):
    assert check_matches(rules, range(3)) > 100


def test_nothing_but_the_own_turn_can_be_played():
    match = begun_match(seed=1)
    view = TurnView(match.state)
    for action in (0, 144, 500):
        raises(IllegalActionError, f"action {action} is not legal in this turn", view.apply, action)
    assert (view.player, view.n_actions, view.over) == (0, 145, False)
    with pytest.raises(ValueError, match="do not fit layout 'entities'"):
        view.observe("entities", np.empty(3, np.int8), np.empty(145, np.int8))
    with pytest.raises(ValueError, match="mask: expected 145 numbers"):
        view.observe("entities", np.empty(440, np.int8), np.empty(14, np.int8))

"""The arena shows a policy the same bytes as environments do, along whole matches."""

import numpy as np
import pytest
from env_checks import check_matches
from helpers import each_rules

from locmsim import IllegalActionError, Match
from locmsim.policy.tracker import TurnView


@each_rules
def test_observations_give_what_environments_show(rules):
    assert check_matches(rules, range(3)) > 100


def test_nothing_but_the_own_turn_can_be_played():
    match = Match(seed=1)
    for player in (0, 1):
        match.submit(player, "PASS")
    view = TurnView(match.state)
    for action in (0, 144, 500):
        with pytest.raises(IllegalActionError, match=f"action {action} is not legal in this turn"):
            view.apply(action)
    assert (view.player, view.n_actions, view.over) == (0, 145, False)
    with pytest.raises(ValueError, match="do not fit layout 'entities'"):
        view.observe("entities", np.empty(3, np.int8), np.empty(145, np.int8))
    with pytest.raises(ValueError, match="mask: expected 145 numbers"):
        view.observe("entities", np.empty(440, np.int8), np.empty(14, np.int8))

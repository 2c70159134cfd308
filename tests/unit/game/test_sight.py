"""What the arena feeds a policy is what environments show: byte for byte, along whole matches."""

import numpy as np
import pytest
from env_checks import check_matches
from helpers import RULE_SETS

from locmsim import IllegalActionError, Match
from locmsim.policy.sight import Sight

each_rules = pytest.mark.parametrize("rules", RULE_SETS)


@each_rules
def test_observations_give_what_environments_show(rules):
    assert check_matches(rules, range(3)) > 100


def test_nothing_but_the_own_turn_can_be_played():
    match = Match(seed=1)
    for player in (0, 1):
        match.submit(player, "PASS")
    sight = Sight(match.state)
    for action in (0, 144, 500):
        with pytest.raises(IllegalActionError, match=f"action {action} is not legal in this turn"):
            sight.apply(action)
    assert (sight.player, sight.n_actions, sight.over) == (0, 145, False)
    with pytest.raises(ValueError, match="do not fit layout 'entities'"):
        sight.observe("entities", np.empty(3, np.int8), np.empty(145, np.int8))
    with pytest.raises(ValueError, match="mask: expected 145 numbers"):
        sight.observe("entities", np.empty(440, np.int8), np.empty(14, np.int8))

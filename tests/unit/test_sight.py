"""What the arena feeds a policy is what environments show: byte for byte, along whole matches."""

import numpy as np
import pytest
from helpers import RULE_SETS

from locmsim import IllegalActionError, Match
from locmsim.envs.games import Games, Options
from locmsim.policy import get_layout
from locmsim.policy.sight import Follower, Sight
from locmsim.search.belief import Belief

each_rules = pytest.mark.parametrize("rules", RULE_SETS)


@each_rules
def test_observations_give_what_environments_show(rules):
    assert check_matches(rules, range(3)) > 100


def check_matches(rules, seeds):
    """Random matches with both players followed; the number of positions compared."""
    games = Games(1, Options(rules=rules), both=True)
    rows = games.rows
    names = ("entities",) if rules == "1.0" else ("entities", "gym-locm")
    compared = 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        match = Match(rules, seed=seed)
        beliefs, followers = [Belief(), Belief()], [Follower(), Follower()]
        while match.phase == "choice":
            for player in (0, 1):
                beliefs[player].see(match.observation(player))
            for player in (0, 1):
                offer = match.observation(player).offer if player in match.to_ask else ()
                match.submit(player, choice(rules, offer, random))
        chosen = match.chosen
        for player in (0, 1):
            beliefs[player].chose(chosen[player])
        games.begin(0, seed=1, options={"match": match.params, "decks": chosen})
        assert rows.state(0) == match.state
        while match.to_ask:
            player = match.to_ask[0]
            observation = match.observation(player)
            beliefs[player].see(observation)
            if match.state.is_terminal():
                match.submit(player, "PASS")
                break
            state, sight = followers[player].sight(observation, beliefs[player])
            texts = []
            while not sight.over:
                for name in names:
                    layout = get_layout(name, rules)
                    one, other = np.empty((2, *layout.shape), layout.dtype)
                    masks = np.empty((2, rows.n_actions), np.int8)
                    sight.observe(name, one, masks[0])
                    rows.observe(0, player, other, masks[1], name)
                    different = np.flatnonzero(one != other)
                    assert not len(different), [layout.names[i] for i in different]
                    assert (masks[0] == masks[1]).all()
                compared += 1
                action = int(random.choice(np.flatnonzero(masks[0])))
                if action == 0:
                    break
                texts.append(state.action_to_string(action))
                for follow in (state.apply_action, sight.apply):
                    follow(action)
                rows.step_row(0, action)
            if not sight.over:
                rows.step_row(0, 0)
            match.submit(player, ";".join(texts) or "PASS")
    return compared


def choice(rules, offer, random):
    if rules != "1.5":
        return f"PICK {random.integers(3)}"
    copies = [card.base_id for card in offer for _ in range(2)]
    return ";".join(f"CHOOSE {base}" for base in random.permutation(copies)[:30])


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

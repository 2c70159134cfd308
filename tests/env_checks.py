"""Checks of environments that are run over a few games in the fast tests, over many in the slow."""

import numpy as np

from locmsim import Match
from locmsim.envs.games import Games, Options
from locmsim.policy import get_layout
from locmsim.policy.sight import Follower
from locmsim.search.belief import Belief


def layouts(rules):
    return ("entities",) if rules == "1.0" else ("entities", "gym-locm")


def everything(rows, player, rules):
    """All that a player is shown of row 0."""
    return shown(rows, 0, player, rules)


def shown(rows, row, player, rules):
    parts = []
    for name in layouts(rules):
        layout = get_layout(name, rules)
        out, mask = np.empty(layout.shape, layout.dtype), np.empty(rows.n_actions, np.int8)
        rows.observe(row, player, out, mask, name)
        parts += [out.tobytes(), mask.tobytes()]
    return parts


def check_games(rules, seeds):
    """Swap each position for one that looks the same; the number of those."""
    games = Games(1, Options(rules=rules, card_sets=4), both=True)
    rows = games.rows
    random = np.random.default_rng(3)
    checked = 0
    for seed in seeds:
        games.begin(0, seed=seed)
        while rows.winner(0) < 0:
            state = rows.state(0)
            for player in (0, 1):
                before = everything(rows, player, rules)
                other = state.resample_hidden(player, int(random.integers(1 << 62)))
                rows.put_state(0, other)
                assert everything(rows, player, rules) == before
                assert rows.state(0).key() == other.key()
                rows.put_state(0, state)
                checked += 1
            assert everything(rows, player, rules) == before
            rows.step_row(0, int(random.choice(state.legal_actions())))
    return checked


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

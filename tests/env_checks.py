"""Checks of environments, which the fast tests run over a few games and the slow ones over many."""

import numpy as np
import reference_layouts
from gymnasium.vector import AutoresetMode
from rows_access import put_state

from locmsim import Match, Observation
from locmsim.envs import Games, LocmEnv, LocmVectorEnv, Options
from locmsim.policy import get_layout
from locmsim.policy.tracker import PlayerTracker
from locmsim.search import Belief

_RANDOM = {"battlers": ("random", "random")}
#: An id and options for each kind of episode, and the kinds in which the caller plays both seats.
EPISODES = {
    "battle": ("locmsim.envs:locmsim/Battle-v0", {"opponent": "osl"}),
    "draft": ("locmsim.envs:locmsim/Draft-v0", _RANDOM),
    "construct": ("locmsim.envs:locmsim/Construct-v0", _RANDOM),
    "match": ("locmsim.envs:locmsim/Match-v0", {"opponent": "osl"}),
    "battle, both seats": ("locmsim.envs:locmsim/Battle-v0", {"opponent": "caller"}),
    "match, both seats": ("locmsim.envs:locmsim/Match-v0", {"opponent": "caller"}),
}


def layouts(rules):
    return ("entities",) if rules == "1.0" else ("entities", "gym-locm")


def everything(rows, player, rules):
    """Return everything that a player is shown of row 0."""
    return shown(rows, 0, player, rules)


def shown(rows, row, player, rules):
    parts = []
    for name in layouts(rules):
        layout = get_layout(name, rules)
        out, mask = np.empty(layout.shape, layout.dtype), np.empty(rows.n_actions, np.int8)
        rows.views.observe(row, player, out, mask, name)
        parts += [out.tobytes(), mask.tobytes()]
    return parts


def check_games(rules, seeds):
    """Check that observations hide what they should.

    Replaces each position by another one that the player cannot distinguish from it, and compares
    the observations. Returns the number of checks.
    """
    games = Games(1, Options(rules=rules, card_sets=4, opponent="caller"))
    rows = games.rows
    random = np.random.default_rng(3)
    checked = 0
    for seed in seeds:
        games.begin(0, seed)
        while rows.views.winner(0) < 0:
            state = rows.views.state(0)
            for player in (0, 1):
                before = everything(rows, player, rules)
                other = state.resample_hidden(player, int(random.integers(1 << 62)))
                put_state(rows, 0, other)
                assert everything(rows, player, rules) == before
                assert rows.views.state(0).key() == other.key()
                put_state(rows, 0, state)
                checked += 1
            assert everything(rows, player, rules) == before
            rows.step_row(0, int(random.choice(state.legal_actions())))
    return checked


def check_matches(rules, seeds):
    """Check trackers of both players in random matches; return the number of positions compared."""
    games = Games(1, Options(rules=rules, opponent="caller"))
    rows = games.rows
    names = ("entities",) if rules == "1.0" else ("entities", "gym-locm")
    compared = 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        match = Match(rules, seed=seed)
        beliefs, trackers = [Belief(), Belief()], [PlayerTracker(), PlayerTracker()]
        while match.phase == "choice":
            for player in (0, 1):
                beliefs[player].see(match.observation(player))
            for player in (0, 1):
                offer = match.observation(player).offer if player in match.to_ask else ()
                match.submit(player, choice(rules, offer, random))
        chosen = match.chosen
        for player in (0, 1):
            beliefs[player].chose(chosen[player])
        games.begin(0, 1, options={"match": match.params, "decks": chosen})
        assert rows.views.state(0) == match.state
        while match.to_ask:
            player = match.to_ask[0]
            observation = match.observation(player)
            beliefs[player].see(observation)
            if match.state.is_terminal():
                match.submit(player, "PASS")
                break
            state, view = trackers[player].view(observation, beliefs[player])
            texts = []
            while not view.over:
                for name in names:
                    layout = get_layout(name, rules)
                    one, other = np.empty((2, *layout.shape), layout.dtype)
                    masks = np.empty((2, rows.n_actions), np.int8)
                    view.observe(name, one, masks[0])
                    rows.views.observe(0, player, other, masks[1], name)
                    different = np.flatnonzero(one != other)
                    assert not len(different), [layout.names[i] for i in different]
                    assert (masks[0] == masks[1]).all()
                compared += 1
                action = int(random.choice(np.flatnonzero(masks[0])))
                if action == 0:
                    break
                texts.append(state.action_to_string(action))
                for follow in (state.apply_action, view.apply):
                    follow(action)
                rows.step_row(0, action)
            if not view.over:
                rows.step_row(0, 0)
            match.submit(player, ";".join(texts) or "PASS")
    return compared


def check_picks(rules, episode, seeds):
    """Compare choice phases of rows with the referee's texts; return the number of views."""
    games = Games(1, Options(rules=rules, episode=episode, opponent="caller"))
    rows, compared = games.rows, 0
    size, dtype = games.observation_shape
    for seed in seeds:
        random = np.random.default_rng(seed)
        match = Match(rules, seed=seed)
        games.begin(0, seed, options={"match": match.params})
        chosen = [[], []]
        for _step in range(30):
            for player in (0, 1):
                seen = Observation.parse(match.input_text(player), rules)
                offer = sorted(seen.offer, key=lambda card: card.base_id)
                offer = list(seen.offer) if rules != "1.5" else offer
                out, mask = np.empty(size, dtype), np.empty(rows.n_actions, np.int8)
                rows.views.observe(0, player, out, mask)
                expected = reference_layouts.choice(rules, offer, offer, chosen[player])
                battle = len(out) - len(expected)
                assert not out[:battle].any()
                assert out[battle:].tolist() == expected
                legal = [0]
                if rows.views.mover(0) == player:
                    free = [i for i, card in enumerate(offer) if chosen[player].count(card) < 2]
                    legal = [
                        rows.battle_actions + i for i in (free if rules == "1.5" else range(3))
                    ]
                assert np.flatnonzero(mask).tolist() == legal
                compared += 1
                if rows.views.mover(0) == player:
                    action = int(random.choice(legal))
                    chosen[player].append(offer[action - rows.battle_actions])
                    rows.step_row(0, action)
                if rules != "1.5":
                    match.submit(player, f"PICK {offer.index(chosen[player][-1])}")
        if rules == "1.5":
            for player in (0, 1):
                match.submit(player, ";".join(f"CHOOSE {c.base_id}" for c in chosen[player]))
        assert match.phase == "battle"
        if episode == "match":
            assert rows.views.state(0) == match.state
    return compared


def choice(rules, offer, random):
    if rules != "1.5":
        return f"PICK {random.integers(3)}"
    copies = [card.base_id for card in offer for _ in range(2)]
    return ";".join(f"CHOOSE {base}" for base in random.permutation(copies)[:30])


def singles_step(envs, over, actions, mode):
    """Step single environments, with resets as in the given autoreset mode."""
    rows = []
    for i, (env, action) in enumerate(zip(envs, actions, strict=True)):
        if over[i]:
            assert mode is AutoresetMode.NEXT_STEP
            observation, _ = env.reset()
            rows.append((observation, 0.0, False, False))
            over[i] = False
            continue
        observation, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            if mode is AutoresetMode.SAME_STEP:
                observation, _ = env.reset()
            else:
                over[i] = True
        rows.append((observation, reward, terminated, truncated))
    return rows


def check_rows(rules, mode, threads, *, copy, steps, ends, opponent="random"):
    """Compare a vector environment of nine rows with single environments, step by step."""
    n = 9
    options = {"rules": rules, "opponent": opponent, "shaping": {"health": 0.1}, "card_sets": 4}
    venv = LocmVectorEnv(n, threads=threads, autoreset_mode=mode, copy=copy, **options)
    envs = [LocmEnv(**options) for _ in range(n)]
    observations, _ = venv.reset(seed=7)
    for i, env in enumerate(envs):
        np.testing.assert_equal(row(observations, i), env.reset(seed=7 + i)[0])
    over = [False] * n
    ended = 0
    for number in range(steps):
        actions = venv.sample(number)
        if mode is AutoresetMode.DISABLED and any(over):
            mask = np.array(over)
            observations, _ = venv.reset(options={"reset_mask": mask})
            for i in np.flatnonzero(mask):
                np.testing.assert_equal(row(observations, i), envs[i].reset()[0])
                over[i] = False
            actions = venv.sample(number)
        if number % 5 == 0:
            actions[number % n] = 144  # an action that is mostly illegal
        observations, rewards, terminated, truncated, info = venv.step(actions)
        expected = singles_step(envs, over, actions, mode)
        for i, one in enumerate(expected):
            np.testing.assert_equal(row(observations, i), one[0])
            assert (rewards[i], terminated[i], truncated[i]) == one[1:]
        done = terminated | truncated
        ended += int(done.sum())
        if done.any():
            assert (info["_winner"] == done).all()
    assert ended >= ends
    venv.close()


def seats_of(env):
    """Return the caller's seat in each row, -1 for both."""
    return np.array([env.games.rows.views.seat(row) for row in range(env.num_envs)])


def row(observations, i):
    return {key: value[i] for key, value in observations.items()}


def check_episodes(rules, episode, opponent, wanted):
    """Compare many episodes of rows with those of single environments, and with the referee.

    All that a step returns is compared. The referee is given the picks and, where the caller plays
    both seats, the actions of the battle. Returns the number of episodes.
    """
    n = min(wanted, 128)
    options = {"rules": rules, "episode": episode, "opponent": opponent, "card_sets": 4}
    if episode == "choice":
        options |= _RANDOM
    venv = LocmVectorEnv(n, **options)
    envs = [LocmEnv(**options) for _ in range(n)]
    seen, about = venv.reset(seed=1)
    for i, env in enumerate(envs):
        assert_same(seen, i, env.reset(seed=1 + i)[0])
    done = [[] for _ in range(n)]
    episodes = number = 0
    while episodes < wanted:
        actions = venv.sample(number)
        number += 1
        seen, rewards, terminated, truncated, about = venv.step(actions)
        for i, action in enumerate(actions.tolist()):
            done[i].append(action)
            one, *ends, info = envs[i].step(action)
            assert [rewards[i], terminated[i], truncated[i]] == ends
            if ends[1] or ends[2]:
                for key in info.keys() - {"match", "action_mask"}:
                    np.testing.assert_equal(about[key][i], info[key])
                assert dict(venv.match(i)) == dict(info["match"])
                if not ends[2]:
                    check_again(envs[i], info, done[i])
                episodes += 1
                done[i] = []
                one = envs[i].reset()[0]
            assert_same(seen, i, one)
    venv.close()
    return episodes


def assert_same(observations, i, one):
    for key, value in one.items():
        if observations[key][i].tobytes() != value.tobytes():
            np.testing.assert_array_equal(observations[key][i], value)


def check_again(env, info, actions):
    """Check an episode that has ended by playing it again in a match.

    `actions` are the caller's. A battle is played if the caller played both seats.
    """
    both = info["seat"] < 0
    match = info["match"].match()
    assert match.phase == "battle"
    if env.options.episode != "battle":
        seats = (0, 1) if both else (info["seat"],)
        n_picks = 30 * len(seats)
        picks, actions = [a - env.first_pick for a in actions[:n_picks]], actions[n_picks:]
        cards = match.cards
        for i, seat in enumerate(seats):
            offers = [cards] * 30 if match.rules == "1.5" else match.offers
            own = zip(picks[i :: len(seats)], offers, strict=True)
            assert match.chosen[seat] == [offer[pick].base_id for pick, offer in own]
    if env.options.episode == "choice" or not both:
        return
    assert len(actions) == info["length"]
    state, texts = match.state.clone(), []
    for action in actions:
        if action:
            texts.append(state.action_to_string(action))
            state.apply_action(action)
        if not action or state.is_terminal():
            result = match.submit(match.to_ask[0], ";".join(texts) or "PASS")
            assert (result.applied, result.error) == (texts, None)
            state, texts = match.state.clone(), []
    if match.to_ask:  # for who has died from the cards that they drew
        match.submit(match.to_ask[0], "PASS")
    assert (match.winner, match.state.turn) == (info["winner"], info["turn"])
    assert match.scores == [int(value > 0) for value in info["returns"]]
    assert [player.health for player in match.state.players] == info["health"].tolist()

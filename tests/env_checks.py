"""Checks of environments, which the fast tests run over a few games and the slow ones over many."""

import copy
import pickle
from collections import Counter
from functools import cache

import numpy as np
import reference_layouts
from gymnasium.vector import AutoresetMode
from rows_access import put_state

from locmsim import Match, Observation
from locmsim.envs import Games, LocmEnv, LocmVectorEnv, Options, aec
from locmsim.envs.options import HIDDEN_SIZE
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
    rows, compared, parse = games.rows, 0, cache(Observation.parse)
    size, dtype = games.observation_shape
    for seed in seeds:
        random = np.random.default_rng(seed)
        match = Match(rules, seed=seed)
        games.begin(0, seed, options={"match": match.params})
        chosen = [[], []]
        for _step in range(30):
            for player in (0, 1):
                seen = parse(match.input_text(player), rules)
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
                    counts = Counter(chosen[player])
                    free = [i for i, card in enumerate(offer) if counts[card] < 2]
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


class Vector:
    """A vector environment, whose steps the other faces have to repeat."""

    def __init__(self, n, mode, *, threads=1, copy=True, **options):
        how = {"threads": threads, "copy": copy, "autoreset_mode": mode, "final_obs": True}
        self.env = LocmVectorEnv(n, **how, **options)

    def reset(self, seed=None, mask=None):
        """Begin all rows, or those of a mask, and return the observations."""
        options = None if mask is None else {"reset_mask": mask}
        seen, info = self.env.reset(seed=seed, options=options)
        assert info.keys() <= {"to_move", "action_mask"}
        return seen

    def step(self, actions):
        """Return observations, rewards, ends, and what is known: by row if it has ended."""
        *result, info = self.env.step(actions)
        ended = result[2] | result[3]
        assert bool(ended.any()) == ("winner" in info)
        for name in info if ended.any() else ():
            same(info.get(f"_{name}", ended), ended)
        about = {name: info[name] for name in info.keys() & {"acted", "to_move", "rewards_both"}}
        for i in np.flatnonzero(ended):
            names = [name for name in info if f"_{name}" in info and name != "final_obs"]
            about[int(i)] = {name: info[name][i] for name in names}
            about[int(i)]["match"] = match_of(self.env.match(int(i)))
            if "final_obs" in info:
                about[int(i)]["final_obs"] = row(info["final_obs"], i)
        return *result, about


class Into(Vector):
    """A vector environment that writes into arrays of the caller."""

    def step(self, actions):
        env, n = self.env, self.env.num_envs
        size = (*env.single_observation_space["observation"].shape,)
        dtype = env.single_observation_space["observation"].dtype
        obs, final = np.zeros((2, n, *size), dtype)
        seen = {
            "observation": obs,
            "action_mask": np.zeros((n, env.single_action_space.n), np.int8),
        }
        more = {
            "to_move": np.zeros(n, np.int8),
            "acted": np.zeros(n, np.int8),
            "rewards_both": np.zeros((n, 2), np.float32),
            "winner": np.zeros(n, np.int8),
            "length": np.zeros(n, np.int32),
        }
        if env.options.privileged:
            seen["state"] = more["state"] = np.zeros((n, HIDDEN_SIZE), np.int8)
        ends = terminated, truncated = np.zeros((2, n), np.bool_)
        arrays = {"terminated": terminated, "truncated": truncated, "final_obs": final}
        arrays |= {"obs": obs, "masks": seen["action_mask"], "rewards": np.zeros(n, np.float32)}
        special = env.step_into(actions, **arrays, **more)
        ended = terminated | truncated
        assert bool(special) >= bool(ended.any())
        assert (more["winner"][~ended] == -1).all()
        assert (more["length"][~ended] == 0).all()
        same(env.to_move, more["to_move"])
        same(env.action_masks(), seen["action_mask"] == 1)
        about = {name: more[name] for name in ("to_move", "acted", "rewards_both")}
        for i in np.flatnonzero(ended).tolist():
            about[i] = {name: more[name][i] for name in ("winner", "length")}
            if env.autoreset_mode is AutoresetMode.SAME_STEP:
                about[i]["final_obs"] = {"observation": final[i]}
            if not env.options.shaping:
                about[i]["returns"] = more["rewards_both"][i]
        return seen, arrays["rewards"], *ends, about


class Copied(Vector):
    """A vector environment in whose place a copy or a pickle of it goes on, twice."""

    steps = 0

    def step(self, actions):
        self.steps += 1
        if self.steps == 13:
            self.env = copy.deepcopy(self.env)
        if self.steps == 47:
            self.env = pickle.loads(pickle.dumps(self.env))
        return super().step(actions)


class Singles:
    """An environment for each row, in whose place copies go on."""

    steps = 0

    def __init__(self, n, mode, **options):
        self.envs, self.mode = [self.make(**options) for _ in range(n)], mode
        self.seen, self.over = [None] * n, np.zeros(n, bool)

    make = LocmEnv

    def begin(self, i, seed=None):
        self.seen[i] = self.envs[i].reset(seed=seed)[0]

    def play(self, i, action):
        """Return observation, reward, ends, and the info."""
        return self.envs[i].step(action)

    def shown(self):
        if not isinstance(self.seen[0], dict):
            return np.stack(self.seen)
        return {name: np.stack([one[name] for one in self.seen]) for name in self.seen[0]}

    def reset(self, seed=None, mask=None):
        for i in range(len(self.envs)) if mask is None else np.flatnonzero(mask).tolist():
            self.begin(i, None if seed is None else seed + i)
            self.over[i] = False
        return self.shown()

    def step(self, actions):
        self.steps += 1
        if self.steps == 17:
            self.envs = [copy.deepcopy(env) for env in self.envs]
        if self.steps == 41 and self.make is LocmEnv:
            self.envs = pickle.loads(pickle.dumps(self.envs))
        n, about = len(self.envs), {}
        rewards, (terminated, truncated) = np.zeros(n, np.float32), np.zeros((2, n), np.bool_)
        for i, action in enumerate(actions.tolist()):
            if self.over[i]:
                assert self.mode is AutoresetMode.NEXT_STEP
                self.begin(i)
                self.over[i] = False
                continue
            self.seen[i], rewards[i], terminated[i], truncated[i], info = self.play(i, action)
            if terminated[i] or truncated[i]:
                about[i] = {name: info[name] for name in info.keys() - {"action_mask"}}
                about[i]["match"] = match_of(info["match"])
                assert info["match"] is None or info["match"].match().phase == "battle"
                if terminated[i] or type(self) is Singles:  # a cut cycle shows the mover's view
                    about[i]["final_obs"] = self.seen[i]
                if self.mode is AutoresetMode.SAME_STEP:
                    self.begin(i)
                else:
                    self.over[i] = True
        return self.shown(), rewards, terminated, truncated, about


class Cycles(Singles):
    """An environment of PettingZoo for each row, in which the caller plays both agents."""

    @staticmethod
    def make(episode="battle", opponent="caller", **options):
        assert opponent == "caller"
        return aec.raw_env(episode, **options)

    def begin(self, i, seed=None):
        self.envs[i].reset(seed=seed)
        self.seen[i] = self.envs[i].observe(self.envs[i].agent_selection)

    def play(self, i, action):
        env = self.envs[i]
        mover = env.agent_selection
        env.step(action)
        self.seen[i] = env.observe(env.agent_selection)
        ends = env.terminations[mover], env.truncations[mover]
        return self.seen[i], env.rewards[mover], *ends, env.infos[mover]


def match_of(match):
    return None if match is None else dict(match)


def check_faces(faces, steps, *, seed=7, mode=AutoresetMode.SAME_STEP):
    """Step several faces of the same rows alike; they must show and tell the same.

    Some actions are mostly illegal ones. Returns the number of episodes.
    """
    first = faces[0]
    n, top = first.env.num_envs, first.env.single_action_space.n - 1
    over, ended = np.zeros(n, bool), 0
    for number in range(steps):
        if number == 0 or (mode is AutoresetMode.DISABLED and over.any()):
            how = {"mask": over.copy()} if number else {"seed": seed}
            seen, *others = [face.reset(**how) for face in faces]
            for other in others:
                same(other, seen)
            over[:] = False
        actions = first.env.sample(number)
        if number % 16 == 11:
            actions[number // 16 % 2] = top
        results = [face.step(actions.copy()) for face in faces]
        over = results[0][2] | results[0][3]
        ended += int(over.sum())
        told = {}
        for *result, about in results:
            same(result, results[0][:4])
            for key, value in about.items():
                known = told.setdefault(key, value)
                if isinstance(value, dict):
                    for name in value:
                        if name == "final_obs":  # not with what `Options.privileged` adds
                            same_arrays(known.setdefault(name, value[name]), value[name])
                        else:
                            same(known.setdefault(name, value[name]), value[name])
                else:
                    same(known, value)
        for i in np.flatnonzero(over).tolist():
            winner, returns = told[i]["winner"], told[i]["returns"]
            assert results[0][3][i] or returns[winner] == 1 or 0 < len(told[i]["winners"]) > 1
    for face in faces:
        if isinstance(face, Vector):
            face.env.close()
    return ended


def same_arrays(one, other):
    if not isinstance(one, dict):
        one, other = {0: one}, {0: other}
    for name in one.keys() & other.keys():
        same(one[name], other[name])


def same(one, other):
    """Check what `assert_equal` does, in a tenth of its time where all bytes are the same."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name, value in one.items():
            same(value, other[name])
    elif isinstance(one, (list, tuple)):
        for value, expected in zip(one, other, strict=True):
            same(value, expected)
    elif isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        if not alike or one.tobytes() != other.tobytes():
            np.testing.assert_equal(one, other)
    elif isinstance(one, np.ndarray) or isinstance(other, np.ndarray) or one != other:
        np.testing.assert_equal(one, other)


def seats_of(env):
    """Return the caller's seat in each row, -1 for both."""
    return np.array([env.games.rows.views.seat(row) for row in range(env.num_envs)])


def row(observations, i):
    if not isinstance(observations, dict):
        return observations[i]
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
    mode = AutoresetMode.SAME_STEP
    one, other = Vector(n, mode, **options), Singles(n, mode, **options)
    np.testing.assert_equal(one.reset(seed=1), other.reset(seed=1))
    done = [[] for _ in range(n)]
    episodes = number = 0
    while episodes < wanted:
        actions = one.env.sample(number)
        number += 1
        for i, action in enumerate(actions.tolist()):
            done[i].append(action)
        *result, about = one.step(actions)
        *expected, infos = other.step(actions)
        same(result, expected)
        for i, info in infos.items():
            for key in info:
                same(about[i][key], info[key])
            if not result[3][i]:
                info["match"] = one.env.match(i)
                check_again(other.envs[i], info, done[i])
            episodes += 1
            done[i] = []
    one.env.close()
    return episodes


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

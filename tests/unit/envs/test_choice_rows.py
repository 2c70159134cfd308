"""The choice phase of compiled rows against one in Python, pick by pick."""

import numpy as np
import pytest
import reference_layouts
from amounts import FEW, amount
from env_checks import seats_of
from helpers import RULE_SETS, each_rules
from oracles.choice import Construct, Draft, FatalAnswer

from locmsim import Match
from locmsim.envs import LocmEnv, LocmVectorEnv, Pool
from locmsim.policy import choice_tensor, get_layout
from locmsim.rules.rulesets import get_rules

RANDOM = {"battlers": ("random", "random")}
CHOICE = {"episode": "choice", **RANDOM, **FEW}


class Reference:
    """A player's choice phase, played by the oracle."""

    def __init__(self, env, row):
        self.rules = env.games.rules
        self.cards = env.games.cards(row)
        _, seeds = env.games.rows.views.seeds(row)
        if self.rules.draft:
            self.phase = Draft(self.rules, self.cards, {"draftChoicesSeed": seeds[0]})
        else:
            self.phase = Construct(self.cards, 0)
        self.chosen = []

    @property
    def offer(self):
        if not self.rules.draft:
            return self.cards
        return self.phase.offers[len(self.chosen)] if len(self.chosen) < 30 else []

    def take(self, pick):
        """Make the pick if it is legal; return whether it is."""
        ids = [card.base_id for card in self.offer]
        if self.rules.draft:
            line = f"PICK {pick}"
        else:
            line = ";".join(
                f"CHOOSE {base}" for base in [*self.chosen, ids[pick] if pick < len(ids) else -1]
            )
        try:
            taken = [] if not self.rules.draft else self.chosen
            self.phase.apply(line, len(self.chosen), taken)
        except FatalAnswer as error:
            if "correct number" not in str(error):  # an incomplete deck is not an error here
                return False
        self.chosen = taken
        return True


@pytest.mark.slow
@each_rules
def test_picks_are_those_of_the_choice_phase(rules):
    """Masks, observations and the battles' decks follow from legal and illegal picks."""
    wanted = amount(60, 1000, 10_000)
    n = 16 if wanted < 100 else 128
    env = LocmVectorEnv(n, rules=rules, opponent="caller", privileged=True, **CHOICE)
    random = np.random.default_rng(1)
    seen, info = env.reset(seed=1)
    players = [[Reference(env, row) for _ in range(2)] for row in range(n)]
    episodes = illegal = 0
    while episodes < wanted:
        look = random.random() < 0.05
        for row in range(n) if look else ():
            who = info["to_move"][row]
            one, other = players[row][who], players[row][1 - who]
            chosen = [by_id(one, base) for base in one.chosen]
            expected = reference_layouts.choice(rules, one.cards, one.offer, chosen)
            np.testing.assert_array_equal(seen["observation"][row], expected)
            rows = seen["state"][row].reshape(76, 24)
            assert not rows[:16].any()
            for place, player in ((16, one), (46, other)):
                for i, base in enumerate(player.chosen):
                    assert rows[place + i].tolist() == reference_layouts.card_row(
                        by_id(player, base)
                    )
                assert not rows[place + len(player.chosen) : place + 30].any()
        actions = env.sample(int(random.integers(1 << 62)))
        for row in np.flatnonzero(random.random(n) < 0.002):
            actions[row] = random.choice([-1, 500, *np.flatnonzero(seen["action_mask"][row] == 0)])
        legal = []
        for row, action in enumerate(actions.tolist()):
            player = players[row][info["to_move"][row]]
            mask = seen["action_mask"][row]
            taken = 0 <= action < len(mask) and player.take(action)
            assert taken == bool(0 <= action < len(mask) and mask[action])
            if not get_rules(rules).draft and look:
                twice = [player.chosen.count(card.base_id) == 2 for card in player.cards]
                if not taken:
                    np.testing.assert_array_equal(mask == 0, twice)
            legal.append(taken)
        moved = info["to_move"].copy()
        seen, rewards, terminated, _, info = env.step(actions)
        for row in range(n):
            full = all(len(player.chosen) == 30 for player in players[row])
            assert terminated[row] == (full or not legal[row])
            if not terminated[row]:
                continue
            episodes += 1
            illegal += not legal[row]
            assert info["illegal"][row] == (not legal[row])
            if not legal[row]:
                assert rewards[row] == -1
                assert info["winner"][row] == 1 - moved[row]
                assert env.match(row) is None
            else:
                match = env.match(row).match()
                assert match.chosen == [player.chosen for player in players[row]]
                assert info["returns"][row].tolist() == info["rewards_both"][row].tolist()
            players[row] = [Reference(env, row) for _ in range(2)]
    assert illegal > 0
    env.close()


def by_id(player, base):
    return next(card for card in player.cards if card.base_id == base)


def test_the_layout_of_the_choice():
    for rules, size in (("1.5", 3017), ("1.2", 809), ("1.0", 809)):
        layout = get_layout("choice", rules)
        assert layout.shape == (size,)
        parts = layout.split(np.arange(size))
        assert sum(part.size for part in parts.values()) == size
        assert parts["step"].tolist() == [size - 1]


@each_rules
def test_choices_of_cards_are_seen_as_in_rows(rules):
    """`choice_tensor` returns what the environment shows, pick by pick, within the bounds."""
    env = LocmEnv(rules=rules, episode="choice", seat="first", **RANDOM, **FEW)
    seen, _ = env.reset(seed=4)
    layout, chosen, rng = get_layout("choice", rules), [], np.random.default_rng(1)
    assert env.layout is layout
    cards = env.games.cards(0)
    for step in range(30):
        offer = cards
        if env.games.rules.draft:
            offer = [cards[i] for i in env.games.rows.card_sets.offers(0)[step]]
        row = choice_tensor(rules, offer, chosen)
        np.testing.assert_array_equal(row, seen["observation"])
        assert (row >= layout.low).all()
        assert (row <= layout.high).all()
        assert layout.describe(row).splitlines()[-1] == f"step: chosen {step}" or step == 0
        action = int(rng.choice(np.flatnonzero(seen["action_mask"])))
        chosen.append(offer[action])
        seen = env.step(action)[0]
    other = choice_tensor("1.5", list(reversed(cards)), chosen) if rules == "1.5" else None
    if other is not None:
        np.testing.assert_array_equal(other, choice_tensor("1.5", cards, chosen))


def test_pools_with_the_caller_in_matches():
    """The opponent is drawn before the picks: where it is the caller, both seats pick."""
    opponent = Pool({"caller": 1, "random": 1})
    env = LocmVectorEnv(32, episode="match", opponent=opponent, card_sets=3)
    _, info = env.reset(seed=1)
    both = seats_of(env) < 0
    assert 6 < both.sum() < 26
    for number in range(32):
        info = env.step(env.sample(number))[4]
        if number < 29:
            assert (info["to_move"][both] == (number + 1) % 2).all()
        phases = [env.games.rows.views.phase(i) for i in range(32)]
        assert {phase for phase, two in zip(phases, both, strict=True) if two} == {"choice"}
        expected = "choice" if number < 29 else "battle"
        assert {phase for phase, two in zip(phases, both, strict=True) if not two} == {expected}


def test_searches_as_battlers_play_what_the_agents_play(tmp_path):
    """Battles have the same winners with compiled searches and with agents that Python asks."""
    spec, file = "beam:nodes=60", tmp_path / "own.py"
    file.write_text(
        "from locmsim.agents import make_agent\n"
        "def Own(): return make_agent('beam:nodes=60,time_ms=0')\n"
    )
    for rules in RULE_SETS:
        options = {"rules": rules, "episode": "choice", "battles": 3, "card_sets": 3}
        inside = LocmEnv(battlers=(spec, "greedy"), **options)
        outside = LocmEnv(battlers=(f"{file}:Own", "greedy"), **options)
        for seed in range(amount(1, 2)):
            results = []
            for env in (inside, outside):
                seen, _ = env.reset(seed=seed)
                for _ in range(30):
                    action = int(np.flatnonzero(seen["action_mask"])[seed])
                    seen, reward, over, _, info = env.step(action)
                assert over
                results.append((reward, info["winners"].tolist(), info["match"]["params"]))
            assert results[0] == results[1]


def test_the_first_battle_is_that_of_the_match():
    env = LocmEnv(episode="choice", battlers=("osl", "osl"), battles=2, seat="first", card_sets=2)
    seen, _ = env.reset(seed=1)
    for _ in range(30):
        seen, reward, _, _, info = env.step(int(np.flatnonzero(seen["action_mask"])[0]))
    match = info["match"].match()
    assert isinstance(match, Match)
    from locmsim import play_match
    from locmsim.agents import make_agent

    winner = play_match(match, (make_agent("osl"), make_agent("osl"))).winner
    assert info["winners"][0] == winner == info["winner"]
    assert reward == np.mean([1 if one == 0 else -1 for one in info["winners"]])
    assert info["returns"].tolist() == [reward, -reward]

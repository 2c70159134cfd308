"""A compiled `beam:nodes=N` plays what the agent plays, and knows no more than it is shown."""

import copy
import pickle

import numpy as np
import pytest
from amounts import amount
from env_checks import same
from helpers import each_rules

from locmsim.agents import PolicySearchAgent, make_agent
from locmsim.envs import LocmEnv, LocmVectorEnv, Pool
from locmsim.envs.asked import search_agent

BEAM = "beam:nodes=60"


def agent(spec=BEAM):
    """Return the same opponent, but one that Python asks."""
    return make_agent(spec, time_ms=0)


def play(env, seed, choose=None, **options):
    """Return all that an episode shows a learner who takes actions at random."""
    stream = np.random.default_rng(seed)
    seen = [env.reset(seed=seed, options=options)]
    while True:
        mask = seen[-1][0]["action_mask"]
        seen.append(env.step(int(stream.choice(np.flatnonzero(mask)))))
        if seen[-1][2]:
            result = {key: value for key, value in seen[-1][4].items() if key != "match"}
            return [*seen[:-1], (*seen[-1][:4], result)]


@each_rules
@pytest.mark.parametrize(
    "options",
    [{}, {"seat": "second"}, {"decks": "area"}, {"card_sets": None}, {"illegal": "pass"}],
    ids=str,
)
def test_it_plays_as_the_agent(rules, options):
    """The learner sees the same whole games against the compiled search and the agent."""
    if options.get("decks") == "area" and rules != "1.5":
        options = {"decks": ("default", "random")}
    common = {"rules": rules, "card_sets": 3, **options}
    inside = LocmEnv(opponent=BEAM, **common)
    outside = LocmEnv(opponent=agent(), **common)
    for seed in range(amount(1, 3)):
        same(play(inside, seed), play(outside, seed))


@pytest.mark.parametrize(
    "spec",
    [
        "beam:nodes=40,turns=0",
        "beam:nodes=200,width=8,plans=4,worlds=3,wins_share=0.5,time_ms=0",
        "beam:nodes=50,belief=any",
    ],
)
def test_options_of_the_search(spec):
    inside, outside = (LocmEnv(opponent=who, card_sets=3) for who in (spec, agent(spec)))
    same(play(inside, 5), play(outside, 5))


@each_rules
def test_given_matches_decks_and_positions(rules):
    inside, outside = (LocmEnv(rules=rules, opponent=who) for who in (BEAM, agent()))
    start = LocmEnv(rules=rules, opponent="pass")
    start.reset(seed=4)
    bases = sorted({card.base_id for card in start.games.cards(0)})[:15]
    for options in (
        {"match": {"seed": 99}, "seat": 1},
        {"decks": [bases * 2, bases * 2]},  # in 1.x no draft leads to such decks
        {"state": start.state, "seat": 1 - start.state.current_player()},
    ):
        same(play(inside, 3, **options), play(outside, 3, **options))


def test_neither_rows_nor_threads_nor_copies_change_a_game():
    singles = [LocmEnv(opponent=BEAM, card_sets=3) for _ in range(5)]
    vectors = [
        LocmVectorEnv(5, opponent=BEAM, card_sets=3, threads=threads) for threads in (1, 2, 7)
    ]
    expected = np.stack([env.reset(seed=3 + i)[0]["observation"] for i, env in enumerate(singles)])
    for env in vectors:
        np.testing.assert_array_equal(env.reset(seed=3)[0]["observation"], expected)
    for number in range(amount(70, 120)):
        actions = vectors[0].sample(number)
        if number == 40:  # in the middle of games
            vectors[1] = pickle.loads(pickle.dumps(vectors[1]))
            vectors[2] = copy.deepcopy(vectors[2])
        results = [env.step(actions) for env in vectors]
        for i, env in enumerate(singles):
            observation, reward, ended, _, _ = env.step(int(actions[i]))
            if ended:
                observation, _ = env.reset()
            for result in results:
                same(result[0]["observation"][i], observation["observation"])
                assert (result[1][i], result[2][i]) == (reward, ended)
    for env in vectors:
        env.close()


def test_pools_and_changes_of_opponents():
    """Running episodes keep their opponent when it is changed; new episodes have the new one."""
    env = LocmVectorEnv(6, opponent=Pool({BEAM: 0.5, "random": 0.3, "greedy": 0.2}), card_sets=3)
    env.reset(seed=1)
    slots = {env.games.rows.views.opponent(i) for i in range(6)}
    assert len(slots) > 1
    env.set_opponent("osl")
    assert {env.games.rows.views.opponent(i) for i in range(6)} == slots
    for number in range(200):
        env.step(env.sample(number))
    assert len({env.games.rows.views.opponent(i) for i in range(6)} - slots) == 1
    for opponent in ("rule", BEAM, "pass", "rule"):
        env.set_opponent(opponent)
        for number in range(7):
            env.step(env.sample(number))
    env.close()


def test_what_is_played_in_the_kernel():
    for spec in ("beam:nodes=9", "beam:nodes=9,time_ms=0", "beam:nodes=9,turns=1,belief=any"):
        assert (search_agent(spec).nodes, search_agent(spec).time_ms) == (9, 0)
    for other in ("beam", "beam:time_ms=5", "beam:nodes=9,time_ms=5", "mcts", "osl", len, agent()):
        assert search_agent(other) is None


# ------------------------------------------------------------- searches that Python is asked about


def test_a_search_guided_by_a_policy_searches(spied):
    """It is an agent with a policy, but it does not play what the policy alone says."""
    asked = spied(PolicySearchAgent, "answer", lambda _, state, __: state.turn)
    spec = "search:simulations=4"
    by_name = play(LocmEnv(opponent=spec, card_sets=2), 1)
    turns = asked.copy()
    assert len(turns) > 2
    np.testing.assert_equal(by_name, play(LocmEnv(opponent=make_agent(spec), card_sets=2), 1))
    assert asked == 2 * turns


def test_an_agent_that_adds_to_a_policy_is_asked(tmp_path):
    """A class that derives from an agent with a policy is asked if it answers otherwise."""
    (tmp_path / "passing.py").write_text(
        "from locmsim.agents import LearnedAgent\n\n\n"
        "class Passing(LearnedAgent):\n"
        "    def answer(self, state, view):\n"
        "        return 'PASS'\n"
    )
    passing = LocmEnv(opponent=f"{tmp_path / 'passing.py'}:Passing", card_sets=2)
    np.testing.assert_equal(play(passing, 1), play(LocmEnv(opponent="pass", card_sets=2), 1))

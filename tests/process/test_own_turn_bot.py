"""Tests of examples/own-turn-bot, built against the installed locmsim and found by its name."""

import importlib
import os
import sys
import time

import pytest
import wins_data
from built_examples import install
from helpers import RULE_SETS, answer_of, contest, each_rules, python, raises
from wins_data import KINDS

from locmsim import Card, CardType, Match, State
from locmsim.agents import known_agents, make_agent
from locmsim.referee import play
from locmsim.rules.rulesets import RULES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build and install the example; return the installation's folder and the source's folder."""
    target = tmp_path_factory.mktemp("own-turn") / "site"
    return target, install("own-turn-bot", target)


@pytest.fixture
def ownturn(installed, monkeypatch):
    """Return the example as a module."""
    monkeypatch.syspath_prepend(str(installed[0]))
    return importlib.import_module("ownturn")


def environment(target):
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(target), *sys.path])}


# ------------------------------------------------------------------------------------- the plug-in


def test_it_is_an_agent_by_its_name(ownturn):
    info = next(info for info in known_agents() if info.name == "own-turn")
    assert info.package == "own-turn-bot"
    assert set(info.options) == {"deck", "draft", "time_ms", "nodes"}
    assert isinstance(make_agent("own-turn:nodes=5"), ownturn.OwnTurnAgent)


def test_the_readme_plays_a_game(installed):
    target, source = installed
    code = (source / "README.md").read_text().split("```python\n")[1].split("```")[0]
    done = python("-W", "error", "-c", code, env=environment(target))
    assert done.stdout == "player 0 has won\n"


def test_the_bot_wins_a_match_against_random_actions(installed):
    target, _ = installed
    bot = f"{sys.executable} -m ownturn.bot --time-ms 20"
    other = f"{sys.executable} -m locmsim.bot --agent random"
    for rules in RULE_SETS:
        match = Match(rules, seed=2)
        result = play((bot, other), match, timeout_scale=5, env=environment(target))
        assert result.fault is None
        assert result.scores == (1, 0)


def test_another_layout_is_refused(installed):
    code = "import locmsim; locmsim.ABI_VERSION += 1; import ownturn"
    done = python("-c", code, env=environment(installed[0]), code=1)
    assert "ImportError: built for version" in done.stderr


@each_rules
def test_games_against_agents(ownturn, rules):
    """The bot wins with legal actions only, and plays the same each time."""
    games = []
    for _ in range(2):
        match = Match(rules, seed=4)
        # Against an opponent that drafts as well, the result of a single game would be mostly luck.
        greedy = "greedy" if rules == "1.5" else "greedy:draft=cheapest"
        games.append(contest(match, ("own-turn:time_ms=0,nodes=500", greedy)))
        assert match.winner == 0
    assert games[0] == games[1]


@each_rules
def test_what_is_hidden_does_not_matter(ownturn, rules):
    match = Match(rules, seed=9)
    agents = make_agent("greedy"), make_agent("greedy")
    while match.state is None or match.state.turn < 6:
        match.submit(*answer_of(match, agents))
    player = match.to_ask[0]
    lines = set()
    for seed in range(4):
        agent = make_agent("own-turn:time_ms=0,nodes=500")
        agent.reset(seed)
        lines.add(agent.act(match.state.resample_hidden(player, seed).observation(player)))
    assert len(lines) == 1
    assert lines != {"PASS"}


# ------------------------------------------------------------------------------------- the search


@pytest.mark.parametrize("kind", KINDS)
def test_it_wins_when_it_can(ownturn, kind):
    state = wins_data.position(kind)
    player = state.current_player()
    agent = ownturn.OwnTurnAgent(time_ms=0, nodes=200_000)
    _, ignored = state.apply_line(agent.act(state.observation(player)))
    assert not ignored
    assert state.winner == player


@each_rules
def test_it_stops_at_the_deadline(ownturn, rules):
    """With many possible turns, a short deadline ends the search long before a high node limit."""
    bodies = [Card(1 + i, CardType.CREATURE, 0, 2 + i, 3 + i) for i in range(6)]
    greens = [Card(10 + i, CardType.GREEN, 0, 1 + i, 2 + i) for i in range(8)]
    state = State.new([*bodies, *greens, *greens, *greens], [*bodies] * 4, rules=rules)
    for _ in range(4):
        while state.action_to_string(action := [*state.legal_actions(), 0][1])[0] == "S":
            state.apply_action(action)
        state.apply_action(0)
    assert len(state.legal_actions()) > 20
    search = ownturn.OwnTurn(ownturn.weights(rules))
    taken = []
    for bound in ({"time_ns": 100_000}, {"nodes": 1_000_000}):
        runs = []
        for _ in range(5):  # take the minimum, as other processes may interrupt
            started = time.perf_counter()
            search.search(state, **bound)
            runs.append(time.perf_counter() - started)
        taken.append(min(runs))
    assert 5 * taken[0] < taken[1]


def test_it_leaves_time(ownturn, monkeypatch):
    """The agent passes the search what is left of its time limit, less a reserve."""
    asked = []

    class Spy:
        def search(self, state, *, time_ns, nodes):
            asked.append((time_ns, nodes))
            return []

    monkeypatch.setattr("ownturn.OwnTurn", lambda weights: Spy())
    monkeypatch.setattr(ownturn.time, "perf_counter", lambda: 100.0)
    for rules, most in (("1.5", 150), ("1.2", 150), ("1.0", 50)):
        deck = Match("1.5", seed=1).cards[:30]
        state = State.new(deck, deck, rules=rules)
        ownturn.OwnTurnAgent().plan(state, 99.99)
        time_ns, nodes = asked.pop()
        assert nodes is None
        assert most - 40 < time_ns / 1e6 + 10 <= most
        ownturn.OwnTurnAgent().plan(state, 99.0)
        assert asked.pop() == (0, None)
        ownturn.OwnTurnAgent(time_ms=0, nodes=5).plan(state, 0.0)
        assert asked.pop() == (None, 5)


def test_it_finds_more_with_more_nodes(ownturn):
    """With 1000 nodes, the bot wins most games against itself with 20 nodes."""
    wins = 0
    for seed in range(6):
        for seat in range(2):
            specs = ["own-turn:time_ms=0,nodes=20", "own-turn:time_ms=0,nodes=1000"]
            match = Match("1.5", seed=seed)
            contest(match, specs[:: 1 if seat else -1])
            wins += match.winner == seat
    assert wins >= 7


def test_weights(ownturn):
    from ownturn import _search

    names = {
        *_search.OTHER_TERMS,
        *(f"{side}.{name}" for side in ("own", "their") for name in _search.SIDE_TERMS),
    }
    for rules in RULES:
        assert set(ownturn.weights(rules)) == names
    weights = dict(ownturn.weights("1.5"))
    raises(ValueError, "weights: unknown term 'luck'", ownturn.OwnTurn, {**weights, "luck": 1.0})
    del weights["their.card"]
    raises(ValueError, r"weights: their\.card is missing", ownturn.OwnTurn, weights)


def test_it_refuses(ownturn):
    deck = Match("1.5", seed=1).cards[:30]
    search = ownturn.OwnTurn(ownturn.weights("1.5"))
    with pytest.raises(ValueError, match="one of time_ns and nodes must be given"):
        search.search(State.new(deck, deck))
    finished = wins_data.position("green")
    for action in search.search(finished, nodes=200_000):
        finished.apply_action(action)
    raises(ValueError, "the game is over", search.search, finished, nodes=1)
    with pytest.raises(ValueError, match=r"agent own-turn: time_ms and nodes: .* not both 0"):
        make_agent("own-turn:time_ms=0")
    with pytest.raises(ValueError, match="agent own-turn: time_ms and nodes: expected 0 or more"):
        make_agent("own-turn:nodes=-1")

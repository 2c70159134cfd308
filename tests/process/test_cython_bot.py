"""Tests of examples/cython-bot, built against the installed locmsim."""

import importlib
import importlib.util
import os
import re
import sys

import pytest
from built_examples import install
from helpers import contest, each_rules, python, raises

from locmsim import Match
from locmsim.game.positions import random_game, start_position
from locmsim.search import Belief

#: Its module is compiled. What a user's cimport needs is also in tests/process/test_nim_game.py.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build and install the example; return the installation's folder and the source's folder."""
    target = tmp_path_factory.mktemp("cython-bot") / "site"
    return target, install("cython-bot", target)


@pytest.fixture
def flatbot(built, monkeypatch):
    """Return the example as a module."""
    monkeypatch.syspath_prepend(str(built[0]))
    return importlib.import_module("flatbot")


@each_rules
def test_it_beats_greedy(flatbot, rules):
    """With equal decks, the bot wins most games; over 100 games per rule set, it won 70 to 90."""
    wins = 0
    for seed in range(8):
        for seat, specs in enumerate([("flatbot:FlatAgent:deck=classic", "greedy")] * 2):
            match = Match(rules, seed=seed)
            contest(match, specs if seat == 0 else specs[::-1])
            wins += match.winner == seat
    assert wins >= 9


@each_rules
def test_turns_are_the_better_the_more_are_tried(flatbot, rules):
    """With more tries, turns are better by the bot's evaluation; hidden cards do not matter."""
    gains = 0.0
    for state, _ in random_game(start_position(1, rules), 1):
        player = state.current_player()
        assert flatbot.evaluate(state, 0) == pytest.approx(-flatbot.evaluate(state, 1))
        if state.turn % 4 or len(state.legal_actions()) < 5 or state.players[player].mana == 0:
            continue
        observation = state.observation(player)
        belief = Belief()
        belief.see(observation)
        if belief.root().legal_actions() != state.legal_actions():
            continue  # the root of the belief differs in the middle of a turn
        values = []
        for tries in (1, 300):
            results = [
                flatbot.best_turn(
                    belief.sample(seed), belief.determinizer(), tries=tries, samples=1, seed=3
                )
                for seed in range(2)
            ]
            assert results[0] == results[1]
            end = state.clone()
            for action in results[0]:
                end.apply_action(action)
            values.append(flatbot.evaluate(end, player))
        gains += values[1] - values[0]
    assert gains > 0


@each_rules
def test_both_kernels_play_the_same(flatbot, rules):
    """The package's kernel, called by function pointers, and the inlined header play the same."""
    pointers, inlined = (
        importlib.import_module(f"flatbot.{name}") for name in ("_pointers", "_inlined")
    )
    for state, _ in random_game(start_position(2, rules), 1):
        wins, actions = pointers.playouts(state, 20, 5)
        assert 0 <= wins <= 20
        assert actions > 0
        assert inlined.playouts(state, 20, 5) == (wins, actions)
        for player in range(2):
            assert inlined.evaluate(state, player) == pointers.evaluate(state, player)
        if state.turn % 7 == 0:
            belief = Belief()
            belief.see(state.observation(state.current_player()))
            turns = [
                module.best_turn(belief.sample(1), belief.determinizer(), tries=100, samples=2)
                for module in (pointers, inlined)
            ]
            assert turns[0] == turns[1]


def test_speeds_are_told(built):
    """In the folder of the sources, which `locmsim new` leaves people in, as anywhere else."""
    words = ["-W", "error", "-m", "flatbot", "--games", "50"]
    done = python(*words, cwd=built[1], env={**os.environ, "PYTHONPATH": str(built[0])})
    pointers, inlined, ratio = done.stdout.splitlines()
    assert re.fullmatch(r"through function pointers +[\d,]+ playouts/s", pointers)
    assert re.fullmatch(r"through locm\.h, inlined +[\d,]+ playouts/s", inlined)
    assert re.fullmatch(r"inlined over pointers +\d+\.\d\d", ratio)


def test_it_refuses(flatbot):
    state = start_position(1)
    belief = Belief()
    belief.see(state.observation(0))
    with pytest.raises(ValueError, match="tries and samples: expected 1 or more, got 0 and 8"):
        flatbot.best_turn(belief.sample(1), belief.determinizer(), tries=0)
    while not state.is_terminal():
        state.apply_action(0)
    raises(ValueError, "the game is over", flatbot.best_turn, state, belief.determinizer())


def test_the_readme_plays_a_game(built):
    target, source = built
    code = (source / "README.md").read_text().split("```python\n")[1].split("```")[0]
    done = python("-W", "error", "-c", code, cwd=target)
    assert done.stdout in ("player 0 has won\n", "player 1 has won\n")


def test_another_layout_is_refused(built):
    code = "import locmsim; locmsim.ABI_VERSION += 1; import flatbot"
    done = python("-c", code, cwd=built[0], code=1)
    assert "ImportError: built for version" in done.stderr


def test_the_example_is_not_importable_unbuilt():
    """Without the fixture, the example cannot be imported: no other build hides the tested one."""
    sys.modules.pop("flatbot", None)
    importlib.invalidate_caches()
    assert importlib.util.find_spec("flatbot") is None

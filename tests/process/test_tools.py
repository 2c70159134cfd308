"""Tests of the scripts in tools/ on small inputs."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from helpers import RULE_SETS

import locmsim
from locmsim.decks import CARD_TERMS
from locmsim.decks.value import default_value
from locmsim.networks import WeightsFile, default_weights

TOOLS = Path(__file__).parents[2] / "tools"


def tool(name, **constants):
    """Return a tool as a new module, in which constants may have other values."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(constants)
    return module


# ---- draft_values.py ----------------------------------------------------------------------------


@pytest.fixture
def draft_values():
    return tool("draft_values", ProcessPoolExecutor=Here)


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_a_game_of_the_draft(draft_values, rules):
    values = {base_id: 10.0 * (base_id % 2) for base_id in range(1, 161)}
    difference, won = draft_values.play(rules, values, 5)
    again, _ = draft_values.play(rules, values, 5)
    assert np.array_equal(again, difference)
    assert len(difference) == 160
    assert sum(difference) == 0
    assert won in (True, False)
    match = draft_values.drafted_match(rules, 5, values)
    copies = [match.chosen[0].count(i) - match.chosen[1].count(i) for i in range(1, 161)]
    assert copies == difference.tolist()
    offered = [card.base_id % 2 for triplet in match.offers for card in triplet]
    # Cards of higher value are picked more often.
    for chosen in match.chosen:
        assert np.mean([base_id % 2 for base_id in chosen]) > np.mean(offered) + 0.1


@pytest.mark.slow
def test_the_whole_draft_tool(draft_values, tmp_path, called):
    out = tmp_path / "weights.npz"
    argv = ["draft_values.py", "--rules", "1.0", "--games", "3", "--rounds", "2"]
    argv += ["--output", str(out)]
    called(draft_values.main, *argv)
    file = WeightsFile.load(out)
    assert file["1.0"].draft != default_weights("1.0").draft
    assert file["1.0"].evaluation == default_weights("1.0").evaluation
    assert file.record[0]["command"] == " ".join(argv)
    assert file.record[0]["games"] == 6


# ---- deck_network.py ----------------------------------------------------------------------------


#: What makes the games of `deck_network.py` few and short.
SHORT = {"GAMES": 6, "NODES": 50, "LAST_NODES": 50, "SHALLOW_NODES": (50, 50)}


@pytest.fixture
def deck_network():
    pytest.importorskip("torch")
    return tool("deck_network", ProcessPoolExecutor=Here, **SHORT)


@pytest.mark.parametrize("last", [False, True])
def test_games_between_decks_of_many_kinds(deck_network, last):
    for given in ([], default_value().networks):
        rows, won, players = deck_network.play(given, last, (1, 0, 5))
        again = deck_network.play(given, last, (1, 0, 5))
        assert np.array_equal(rows, again[0])
        assert np.array_equal(won, again[1])
        assert np.array_equal(players, again[2])
        assert rows.shape == (len(won), 2, 30, len(CARD_TERMS))
        cost = [i for i, name in enumerate(CARD_TERMS) if name.startswith("cost.")]
        assert (rows[..., cost].sum(axis=-1) == 1).all()
        assert players.shape == (len(won), 2)
        assert (players == 0).any(axis=1).all() if last else (players == 1).all()


def test_who_plays_the_last_games_and_where(deck_network):
    """In the last games, the agent's own search, number 0, has the reported seats and wins most."""
    opponents = (deck_network.NARROW_BEAM,)
    few = tool("deck_network", **{**SHORT, "LAST_NODES": 3000, "OPPONENTS": opponents, "GAMES": 12})
    _, won, players = few.play([], True, (1, 0, 5))
    assert {*map(tuple, players)} == {(0, 3), (3, 0)}
    assert (won == (players[:, 0] == 0)).mean() > 0.7


def test_the_whole_tool(deck_network, tmp_path, called, capsys):
    out = tmp_path / "value.npz"
    argv = ["deck_network.py", "--rounds", "1", "--games", "12"]
    argv += ["--last-rounds", "1", "--last-games", "6", "--output", str(out)]
    called(deck_network.main, *argv)
    file = WeightsFile.load(out)
    assert len(file["1.5"].deck_value) == deck_network.NETWORKS
    assert file["1.5"].network is not None
    assert file.record[0]["command"] == " ".join(argv)
    assert "18 games: loss" in capsys.readouterr().err


class Here:
    """An executor that runs the tasks in this process."""

    def __init__(self, jobs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    @staticmethod
    def map(function, *rows, chunksize=1):
        return map(function, *rows)


# ---- kernel_coverage.py -------------------------------------------------------------------------


def test_lines_that_were_reached():
    text = """\
        -:    0:Source:src/locmsim/_core.c
        1:   10:  __Pyx_TraceLine(7,0,__PYX_ERR(0, 7, __pyx_L1_error))
        -:   11:  /* a comment */
     12*:   12:  a = 1;
    #####:   13:  b = 1;
        -:   14:  __Pyx_TraceLine(8,1,__PYX_ERR(0, 8, __pyx_L1_error))
    #####:   15:  c = 1;
        -:   16:  __Pyx_TraceLine(9,1,__PYX_ERR(0, 9, __pyx_L1_error))
    #####:   17:  d = 1;
        -:   18:  __Pyx_TraceLine(9,1,__PYX_ERR(0, 9, __pyx_L1_error))
        3:   19:  d = 1;
        5:   20:  e = 1;
        -:   21:  __Pyx_TraceLine(7,1,__PYX_ERR(2, 7, __pyx_L1_error))
    #####:   22:  f = 1;
"""
    assert tool("kernel_coverage").reached(text.splitlines()) == {
        (0, 7): True, (0, 8): False, (0, 9): True, (2, 7): False,
    }  # fmt: skip


# ---- check_positions.py -------------------------------------------------------------------------


def test_recorded_positions_of_checks_are_those_of_the_tool(tmp_path):
    module = tool("check_positions", OUTPUT=tmp_path / "positions.json")
    kept = (Path(locmsim.__file__).parent / "data" / "check-positions.json").read_bytes()
    assert len(kept) < 40_000
    module.main()
    assert module.OUTPUT.read_bytes() == kept
    for found in json.loads(kept).values():
        assert sum(answer[0] == one["seat"] for one in found for answer in one["answers"]) < 500


# ---- deck_chances.py ----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULE_SETS)
def test_games_between_decks_of_all_kinds(rules):
    module = tool("deck_chances")
    games = [module.play(rules, "greedy", seed) for seed in range(4)]
    assert games == [module.play(rules, "greedy", seed) for seed in range(4)]
    assert len({difference for difference, _ in games}) == 4


def test_chances_that_were_fitted():
    module = tool("deck_chances")
    rng = np.random.default_rng(1)
    differences = rng.normal(0, 2, 50_000)
    won = (rng.random(50_000) < 1 / (1 + np.exp(0.3 - 0.7 * differences))).astype(float)
    assert module.fitted(differences, won) == pytest.approx((-0.3, 0.7), abs=0.05)
    chances = np.array([0.95, 0.05, 0.55])
    shown = module.table({"1.5": (chances, np.array([1.0, 0.0, 0.0]))})
    assert "| 90 to 100 | 100 (2) |" in shown
    assert "| 50 to 60 | 0 (1) |" in shown


@pytest.mark.slow
def test_the_whole_tool_of_chances(tmp_path, called, capsys):
    out = tmp_path / "chances.json"
    argv = ["deck_chances.py", "--games", "20", "--pilot", "greedy", "--output", str(out)]
    called(tool("deck_chances").main, *argv)
    data = json.loads(out.read_text())
    assert data["command"] == " ".join(["python", *argv])
    assert {rules: one["games"] for rules, one in data["rules"].items()} == dict.fromkeys(
        RULE_SETS, 16
    )
    assert "1.5: won, % (games)" in capsys.readouterr().out

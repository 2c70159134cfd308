"""The scripts in tools/: what they compute, on small inputs."""

import importlib.util
import json
import random
from pathlib import Path

import numpy as np
import pytest

import locmsim
from locmsim.decks.features import CARD_TERMS
from locmsim.decks.value import DeckValue, default_value
from locmsim.rules.cards import cards_1x
from locmsim.rules.generator import generate_cards

TOOLS = Path(__file__).parents[2] / "tools"


def tool(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- draft_values.py ----------------------------------------------------------------------------


@pytest.fixture
def draft_values(monkeypatch):
    module = tool("draft_values")
    monkeypatch.setattr(module, "VARIANCES", (0.004, 0.04))
    monkeypatch.setattr(module, "FOLDS", 2)
    return module


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_a_game_of_the_draft(draft_values, rules):
    values = [10.0 * (base_id % 2) for base_id in range(1, 161)]
    difference, won = draft_values.play(rules, values, 5)
    assert draft_values.play(rules, values, 5) == (difference, won)
    assert len(difference) == 160
    assert sum(difference) == 0
    assert won in (True, False)
    match = draft_values.drafted_match(rules, 5, values)
    copies = [match.chosen[0].count(i) - match.chosen[1].count(i) for i in range(1, 161)]
    assert copies == difference
    offered = [card.base_id % 2 for triplet in match.offers for card in triplet]
    # What is worth more is picked more.
    for chosen in match.chosen:
        assert np.mean([base_id % 2 for base_id in chosen]) > np.mean(offered) + 0.1


def test_values_are_found_again(draft_values):
    """In made-up games that are decided by values of cards, and nothing else but luck."""
    rng = np.random.default_rng(1)
    values = rng.normal(0, 4, 160)
    decks = rng.integers(0, 160, (2, 3000, 30))
    differences = np.zeros((3000, 160))
    for deck, sign in zip(decks, (1, -1), strict=True):
        np.add.at(differences, (np.arange(3000)[:, None], deck), sign)
    odds = 0.3 + differences @ values / draft_values.HUNDREDTHS
    wins = (rng.random(3000) < 1 / (1 + np.exp(-odds))).astype(float)
    texts = []
    found = draft_values.card_values(differences, wins, texts.append)
    assert abs(found.mean()) < 0.01
    assert np.corrcoef(found, values)[0, 1] > 0.85
    assert 0.7 < found.std() / values.std() < 1.1
    assert texts[0].startswith("3000 games: loss 0.")


def test_what_no_game_supports_stays_small(draft_values):
    rng = np.random.default_rng(1)
    differences = rng.integers(-1, 2, (1000, 160)).astype(float)
    found = draft_values.card_values(differences, rng.integers(0, 2, 1000).astype(float))
    assert found.std() < 1.5


def test_cards_differ_in_properties(draft_values):
    table = draft_values.standard_properties()
    assert table.shape[0] == 160
    assert np.allclose(table.mean(axis=0), 0)
    assert np.allclose(table.std(axis=0), 1)
    assert len(np.unique(table.round(9), axis=0)) == len(
        {tuple(card.to_row()[1:]) for card in cards_1x()}
    )


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_the_values_of_the_package(rules):
    path = Path(locmsim.__file__).parent / "data" / f"draft-{rules}.json"
    values = json.loads(path.read_text())
    assert sorted(map(int, values)) == list(range(1, 161))
    numbers = list(values.values())
    assert numbers == sorted(numbers, reverse=True)
    assert abs(np.mean(numbers)) < 0.01
    assert 1 < np.std(numbers) < 4


# ---- deck_network.py ----------------------------------------------------------------------------


@pytest.fixture
def deck_network(monkeypatch):
    module = tool("deck_network")
    monkeypatch.setattr(module, "GAMES", 6)
    for name in ("NODES", "LAST_NODES", "NARROW_NODES"):
        monkeypatch.setattr(module, name, 50)
    return module


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


def test_who_plays_the_last_games_and_where(deck_network, monkeypatch):
    """The agent's own search, number 0, beats the narrow beam, in the seat that is told."""
    monkeypatch.setattr(deck_network, "LAST_NODES", 3000)
    monkeypatch.setattr(deck_network, "OPPONENTS", (deck_network.NARROW_BEAM,))
    monkeypatch.setattr(deck_network, "GAMES", 12)
    _, won, players = deck_network.play([], True, (1, 0, 5))
    assert {*map(tuple, players)} == {(0, 2), (2, 0)}
    assert (won == (players[:, 0] == 0)).mean() > 0.7


def test_decks_to_learn_from_are_legal(deck_network):
    chance = random.Random(3)
    different = set()
    for seed in range(10):
        cards = generate_cards(seed)
        for given in ([], default_value().networks):
            deck = deck_network.random_deck(cards, given, chance)
            ids = sorted(card.base_id for card in deck)
            assert len(ids) == 30
            assert max(map(ids.count, ids)) <= 2
            different.add(tuple(ids))
    assert len(different) == 20


def test_the_whole_tool(deck_network, tmp_path, monkeypatch, capsys):
    out = tmp_path / "value.json"
    argv = ["deck_network.py", "--rounds", "1", "--games", "12"]
    argv += ["--last-rounds", "1", "--last-games", "6", "--out", str(out)]
    monkeypatch.setattr("sys.argv", argv)
    monkeypatch.setattr(deck_network, "ProcessPoolExecutor", Here)
    deck_network.main()
    content = json.loads(out.read_text())
    DeckValue(*content["networks"])
    assert content["about"][0]["command"] == " ".join(argv)
    assert "18 games: loss" in capsys.readouterr().err


class Here:
    """An executor that does it itself."""

    def __init__(self, jobs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    map = staticmethod(map)


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
"""
    assert tool("kernel_coverage").reached(text.splitlines()) == {7: True, 8: False, 9: True}

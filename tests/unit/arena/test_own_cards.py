"""Games of other cards than the rules': lists, weights of the generator, and derived classes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers import main, output_of, raises

from locmsim import generate_cards, save_cards
from locmsim.arena import Arena, make_game
from locmsim.policy import get_layout

#: Plays in a file of results; the game follows.
ARENA = ["arena", "greedy", "random", "--jobs=1", "--timeout-scale=0", "--db=a.db", "--game"]
CHEAP = """
from dataclasses import dataclass, replace

from locmsim import generate_cards
from locmsim.arena import LocmGame


@dataclass(frozen=True)
class Cheap(LocmGame):
    def own_cards(self, seed):
        return [replace(card, cost=card.cost // 2) for card in generate_cards(seed)]
"""


def costs(db):
    """Return the costs of all cards on offer, game by game."""
    with Arena.load(db) as arena:
        numbers = [outcome.number for outcome in arena.games()]
        return [{card.cost for card in arena.replay(n).match.cards} for n in numbers]


@pytest.fixture(params=["list", "short", "weights", "class"])
def game(request, tmp_path, monkeypatch):
    """The description of a game whose cards cost at most 6, with its files."""
    monkeypatch.chdir(tmp_path)
    if request.param == "weights":
        weights = json.loads(output_of("cards", "weights").out)
        weights["manaCurve"] = {str(cost): 0.2 for cost in range(5)}
        (tmp_path / "mine").write_text(json.dumps(weights))
        return "locm:weights=mine"
    if request.param == "class":
        (tmp_path / "cheap.py").write_text(CHEAP)
        monkeypatch.syspath_prepend(tmp_path)
        return "cheap:Cheap"
    cards = [card for card in generate_cards(7) if card.cost <= 6]
    if request.param == "list":
        extra = cards[: 120 - len(cards)]
        cards += [replace(card, base_id=200 + i) for i, card in enumerate(extra)]
    save_cards("mine", cards)
    return "locm:cards=mine"


def test_an_arena_plays_and_keeps_them(game, tmp_path):
    """The results say what was played, even without the file."""
    assert main([*ARENA, game, "--games", "4", "--seed", "3"]) == 0
    if (mine := tmp_path / "mine").exists():
        mine.unlink()
    assert all(max(found) <= 6 for found in costs("a.db"))
    assert len(costs("a.db")) == 4
    assert "all came out the same" in output_of("arena", "--jobs=1", "--verify", "a.db").out
    assert main(["dataset", "a.db", "-o", "a.npz"]) == 0
    with np.load("a.npz") as file:
        assert set(file["game"]) == {0, 1, 2, 3}
        assert not file["card_seed"].any()


def test_examples_and_single_matches_have_them(game):
    words = ["dataset", "greedy", "--game", game, "--games", "3", "--jobs", "1", "-o", "a.npz"]
    assert main(words) == 0
    with np.load("a.npz") as file:
        hand = get_layout("entities", "1.5").split(file["obs"])["hand"]
        assert set(file["game"]) == {0, 1, 2}
        assert json.loads(str(file["made"]))["game"] == game
        assert (file["mask"][np.arange(len(file["action"])), file["action"]] == 1).all()
    assert 0 < hand[..., 5].max() <= 6
    match = ["play", "greedy", "random", "--game", game, "--seed", "3"]
    assert main([*match, "--text"]) == 0
    assert main([*match, "-l", "a.json"]) == 0
    assert main(["play", "--replay", "a.json"]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("cards=missing", "game locm: cards: missing: No such file"),
        ("weights=missing", "game locm: weights: missing: No such file"),
        ("rules=1.2,cards=mine", "cards: rules 1.2 have a fixed card set"),
        ("cards=mine,weights=mine", "weights: does not apply with cards"),
        ("weights=mine", "mine: "),
    ],
)
def test_what_cannot_be_used_is_said(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_cards("mine", generate_cards(1))
    raises(ValueError, message, make_game, f"locm:{options}")


def test_other_cards_are_another_game(tmp_path, monkeypatch):
    """Games of changed cards are not mixed with earlier ones."""
    monkeypatch.chdir(tmp_path)
    words = [*ARENA, "locm:cards=mine"]
    save_cards("mine", generate_cards(1))
    assert main([*words, "--games", "2"]) == 0
    save_cards("mine", generate_cards(2))
    said = output_of(*words, "--games", "4", code=1).err
    assert "has the results of another tournament: cards: " in said
    assert len(said) < 250


def test_the_code_of_a_derived_game_is_part_of_what_played(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "cheap.py").write_text(CHEAP)
    words = [*ARENA, "cheap:Cheap"]
    assert main([*words, "--games", "2"]) == 0
    with Arena.load("a.db") as arena:
        assert set(arena.settings.players[0].identity) == {"locmsim", str(tmp_path / "cheap.py")}
    (tmp_path / "cheap.py").write_text(f"{CHEAP}\n# changed\n")
    assert "cheap.py has changed since game 1" in output_of(*words, "--games", "4", code=1).err

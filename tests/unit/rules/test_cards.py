"""`Card` and card list files."""

import copy
import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from helpers import REFERENCE, raises
from hypothesis import given
from hypothesis import strategies as st

from locmsim.rules.cards import (
    ABILITIES,
    BOUNDS,
    Area,
    Card,
    CardType,
    cards_1x,
    load_cards,
    save_cards,
)

ROW = [7, 2, 3, -4, -5, "B--G-W", 1, -2, 6, 2]
NAMES = ("base_id", "type", "cost", "attack", "defense", "abilities")
ALL_NAMES = (*NAMES, "my_health_change", "opponent_health_change", "card_draw", "area")

cards = st.builds(
    Card,
    type=st.sampled_from(CardType),
    area=st.sampled_from(Area),
    abilities=st.tuples(*(st.sampled_from(f"{letter}-") for letter in ABILITIES)).map("".join),
    name=st.text(st.characters(codec="utf-8", exclude_characters=";\r\n"))
    .map(str.strip)
    .filter(lambda name: "//" not in name),
    **{name: st.integers(low, high) for name, (low, high) in BOUNDS.items()},
)


def test_fields_and_rows():
    card = Card.from_row(ROW)
    assert [getattr(card, name) for name in ALL_NAMES] == ROW
    assert card.type is CardType.RED
    assert card.area is Area.LANE2
    assert card.to_row() == ROW
    assert json.loads(json.dumps(card.to_row())) == ROW
    assert {type(value) for value in card.to_row()} == {int, str}
    # Rows of nine values have no area.
    assert Card.from_row(ROW[:9]) == Card.from_row([*ROW[:9], 0])
    assert Card.from_row(tuple(ROW)) == Card.from_row(ROW)


@pytest.mark.parametrize("row", [ROW[:8], [*ROW, 0], [], "123456789", None, 5])
def test_rows_of_other_forms_are_refused(row):
    raises(ValueError, "card row: expected nine or ten values, got", Card.from_row, row)


def test_defaults():
    card = Card(1, 0, 2, 3, 4)
    assert card.to_row() == [1, 0, 2, 3, 4, "------", 0, 0, 0, 0]
    assert card.name == ""


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds(name):
    card = Card.from_row(ROW)
    low, high = BOUNDS[name]
    for inside in (low, high):
        assert getattr(dataclasses.replace(card, **{name: inside}), name) == inside
    for outside in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"^{name}: expected {low}..{high}, got {outside}$"):
            dataclasses.replace(card, **{name: outside})


@pytest.mark.parametrize("value", ["3", 1.0, None, [1]])
@pytest.mark.parametrize("name", [*BOUNDS, "type", "area"])
def test_numbers_must_be_integers(name, value):
    with pytest.raises(ValueError, match=f"^{name}: expected an integer, got "):
        dataclasses.replace(Card.from_row(ROW), **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("type", 4, "type: expected 0..3, got 4"),
        ("type", -1, "type: expected 0..3, got -1"),
        ("area", 3, "area: expected 0..2, got 3"),
        ("abilities", "BCDGL", "abilities: expected six characters"),
        ("abilities", "BCDGLW-", "abilities: expected six characters"),
        ("abilities", "CBDGLW", "abilities: expected six characters"),
        ("abilities", "b-----", "abilities: expected six characters"),
        ("abilities", "------\n", "abilities: expected six characters"),
        ("abilities", 0, "abilities: expected six characters"),
        ("name", None, "name: expected a string, got None"),
    ],
)
def test_other_bad_fields(name, value, message):
    raises(ValueError, f"^{message}", dataclasses.replace, Card.from_row(ROW), **{name: value})


def test_numpy_integers_become_plain_ones():
    card = Card.from_row([value if isinstance(value, str) else np.int16(value) for value in ROW])
    assert card.to_row() == ROW
    assert {type(value) for value in card.to_row()} == {int, str}
    raises(ValueError, "cost: expected an integer, got True", dataclasses.replace, card, cost=True)


def test_cards_are_equal_by_value_whatever_the_name():
    card = Card.from_row(ROW)
    named = dataclasses.replace(card, name="Axe")
    assert named == card
    assert hash(named) == hash(card)
    assert len({named, card, dataclasses.replace(card, cost=4)}) == 2
    copy = pickle.loads(pickle.dumps(named))
    assert (copy, copy.name) == (card, "Axe")


def test_cards_are_immutable():
    card = Card.from_row(ROW)
    assert copy.deepcopy([card])[0] is card
    with pytest.raises(dataclasses.FrozenInstanceError):
        Card.from_row(ROW).cost = 1
    with pytest.raises((AttributeError, TypeError)):
        Card.from_row(ROW).colour = "red"


# ---------------------------------------------------------------------------- card list files

LISTED = "5 ; Grime Gnasher ; creature ; 2 ; 4 ; 1 ; ------ ; 0 ; 0 ; 0 ; target ;\n"
FIVE = Card(5, CardType.CREATURE, 2, 4, 1)


@pytest.fixture
def card_file(tmp_path: Path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "cards.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_the_fixed_cards():
    fixed = cards_1x()
    assert [card.base_id for card in fixed] == list(range(1, 161))
    assert {card.area for card in fixed} == {Area.TARGET}
    counts = [sum(card.type == kind for card in fixed) for kind in CardType]
    assert counts == [116, 24, 12, 8]
    assert fixed[115].name == "Emperor Nightmare"
    assert fixed[115].to_row() == [116, 0, 12, 8, 8, "BCDGLW", 0, 0, 0, 0]
    assert fixed is cards_1x()


@pytest.mark.skipif(REFERENCE is None, reason="needs the folder LOCMSIM_REFERENCE")
def test_the_fixed_cards_are_those_of_the_referee():
    golden = json.loads((REFERENCE / "cardset160-1.2.json").read_text())
    assert [card.to_row()[:9] for card in cards_1x()] == golden["cards"]
    assert [card.name for card in cards_1x()] == golden["names"]


def test_loading_keeps_the_order_and_the_names(card_file):
    path = card_file(
        "// the first two\n"
        "\n"
        + LISTED
        + "  3;Royal Helm;itemGreen;+0;-1;007;-C---W;1;-2;3;lane2;Text; more // and a comment\n"
        "   // indented\n"
    )
    five, three = load_cards(path)
    assert (five, five.name) == (FIVE, "Grime Gnasher")
    assert three.to_row() == [3, 1, 0, -1, 7, "-C---W", 1, -2, 3, 2]
    assert three.name == "Royal Helm"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(card_file, end):
    text = LISTED.rstrip("\n") + end + LISTED.replace("5", "6", 1).rstrip("\n")
    assert [card.base_id for card in load_cards(card_file(text))] == [5, 6]


def test_lists_without_areas(card_file):
    """In lists of rules 1.x, the column after the card draw is free text."""
    path = card_file(
        "5 ; Grime Gnasher ; creature ; 2 ; 4 ; 1 ; ------ ; 0 ; 0 ; 0 ; Summon: nothing.\n"
        "6 ; Murgling ; creature ; 2 ; 3 ; 2 ; ------ ; 0 ; 0 ; 0 ;\n"
        "7 ; Sapling ; creature ; 2 ; 2 ; 2 ; -----W ; 0 ; 0 ; 0\n"
    )
    assert [card.to_row() for card in load_cards(path)] == [
        FIVE.to_row(),
        [6, 0, 2, 3, 2, "------", 0, 0, 0, 0],
        [7, 0, 2, 2, 2, "-----W", 0, 0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("6 ; M ; creature ; 2 ; 3", "expected at least 11 columns, got 5"),
        (
            "6 ; M ; creature ; 2 ; 3 ; 2 ; ------ ; 0 ; 0 ; 0",
            "expected at least 11 columns, got 10",
        ),
        ("6 ; M ; creature ; 2 ; 3 ; 2 ; ------ ; 0 ; 0 ; 0 ; lane3", "area: .* got 'lane3'"),
        ("6 ; M ; Creature ; 2 ; 3 ; 2 ; ------ ; 0 ; 0 ; 0 ; target", "type: .* got 'Creature'"),
        ("x ; M ; creature ; 2 ; 3 ; 2 ; ------ ; 0 ; 0 ; 0 ; target", "id: .* got 'x'"),
        ("6 ; M ; creature ; 2.0 ; 3 ; 2 ; ------ ; 0 ; 0 ; 0 ; target", "cost: .* got '2.0'"),
        ("6 ; M ; creature ; 200 ; 3 ; 2 ; ------ ; 0 ; 0 ; 0 ; target", "cost: .* got 200"),
        ("6 ; M ; creature ; 2 ; ; 2 ; ------ ; 0 ; 0 ; 0 ; target", "attack: .* got ''"),
        ("6 ; M ; creature ; 2 ; 3 ; 1_0 ; ------ ; 0 ; 0 ; 0 ; target", "defense: .* got '1_0'"),
        ("6 ; M ; creature ; 2 ; 3 ; 2 ; ----- ; 0 ; 0 ; 0 ; target", "abilities: .* got '-----'"),
        ("6 ; M ; creature ; 2 ; 3 ; 2 ; ------ ; y ; 0 ; 0 ; target", "my health change: .*'y'"),
        ("6 ; M ; creature ; 2 ; 3 ; 2 ; ------ ; 0 ; z ; 0 ; target", "opponent health .*'z'"),
        ("6 ; M ; creature ; 2 ; 3 ; 2 ; ------ ; 0 ; 0 ; w ; target", "card draw: .*'w'"),
        (
            "5 ; M ; creature ; 2 ; 3 ; 2 ; ------ ; 0 ; 0 ; 0 ; target",
            "base id 5 is already that of line 2",
        ),
        (b"6 ; \xff ; creature", "not UTF-8 text"),
    ],
)
def test_errors_name_the_file_and_the_line(card_file, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    path = card_file(b"// list\n" + LISTED.encode() + b"\n" + line + b"\n")
    raises(ValueError, f"cards.txt, line 4: {message}", load_cards, path)


@pytest.mark.parametrize("text", ["", "\n  \n// nothing\n"])
def test_a_list_without_cards_is_an_error(card_file, text):
    raises(ValueError, r"cards.txt: the file contains no cards", load_cards, card_file(text))


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_cards(tmp_path / "none.txt")


@given(st.lists(cards, min_size=1, max_size=6, unique_by=lambda card: card.base_id))
def test_saved_lists_load_as_they_were(tmp_path_factory, listed):
    path = tmp_path_factory.mktemp("cards") / "cards.txt"
    save_cards(path, listed)
    loaded = load_cards(path)
    assert loaded == listed
    assert [card.name for card in loaded] == [card.name for card in listed]


def test_saving_has_the_official_form(tmp_path):
    path = tmp_path / "cards.txt"
    save_cards(str(path), [dataclasses.replace(FIVE, name="Grime Gnasher")])
    assert path.read_bytes() == LISTED.encode()


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([], "no cards to save"),
        ([FIVE, FIVE], "base id 5 occurs twice"),
        ([dataclasses.replace(FIVE, name="a;b")], "card 5: .* cannot hold the name 'a;b'"),
        ([dataclasses.replace(FIVE, name="a//b")], "card 5: .* cannot hold the name"),
        ([dataclasses.replace(FIVE, name="a\nb")], "card 5: .* cannot hold the name"),
        ([dataclasses.replace(FIVE, name=" a")], "card 5: .* cannot hold the name"),
        ([dataclasses.replace(FIVE, name="a\t")], "card 5: .* cannot hold the name"),
    ],
)
def test_what_cannot_be_saved_leaves_the_old_file(card_file, listed, message):
    path = card_file(LISTED)
    raises(ValueError, message, save_cards, path, listed)
    assert load_cards(path) == [FIVE]
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(card_file, monkeypatch):
    path = card_file(LISTED)

    def fail(self: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    raises(OSError, "disk full", save_cards, path, [dataclasses.replace(FIVE, cost=9)])
    assert load_cards(path) == [FIVE]
    assert list(path.parent.iterdir()) == [path]


def test_saving_through_a_link_keeps_the_link(card_file, tmp_path):
    path = card_file(LISTED)
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    save_cards(link, [dataclasses.replace(FIVE, cost=9)])
    assert link.is_symlink()
    assert load_cards(path)[0].cost == 9

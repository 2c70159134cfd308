"""Decks of Vestrock: the generators, the file, and the decks that are refused."""

from hashlib import sha256

import pytest
from helpers import raises
from hypothesis import given
from hypothesis import strategies as st

from vestrock import (
    Card,
    extreme_deck,
    format_deck,
    generate_deck,
    load_deck,
    parse_deck,
    save_deck,
)

FIRST = "8 C 0 1 2 0 1,23 C 1 1 1 1 0,4 C 0 1 2 0 1,53 C 1 4 5 3 0,10 C 0 1 1 0 1,94 B 1 1 0 1 -1"


@pytest.mark.parametrize(
    ("seed", "size", "digest"), [(1, 1525, "4f971d0a9eef4ced"), (2, 1526, "3bab43ad4196732e")]
)
def test_standard_decks_are_fixed(seed, size, digest):
    data = format_deck(generate_deck(seed)).encode()
    assert len(data) == size
    assert sha256(data).hexdigest().startswith(digest)


def test_first_cards_of_a_standard_deck():
    assert [str(card) for card in generate_deck(1)[:6]] == FIRST.split(",")


@given(st.integers(), st.integers(1, 300))
def test_standard_decks(seed, n):
    deck = generate_deck(seed, n)
    assert sorted(card.id for card in deck) == list(range(1, n + 1))
    assert parse_deck(format_deck(deck)) == deck
    free = [card.cost == 0 and card.mana > 0 for card in deck]
    # Each of the first four pairs has free mana, unless no later card has any.
    for k in range(0, min(8, n), 2):
        assert any(free[k : k + 2]) or not any(free[k + 2 :])


def test_shares_of_a_standard_deck():
    types = "".join(card.type for card in generate_deck(3))
    counts = {kind: types.count(kind) for kind in "CHDTBI"}
    assert counts == {"C": 68, "H": 6, "D": 10, "T": 5, "B": 8, "I": 3}


@given(st.integers(), st.integers(1, 300))
def test_extreme_decks(seed, n):
    deck = extreme_deck(seed, n)
    assert len(deck) == n
    assert parse_deck(format_deck(deck)) == deck


@pytest.mark.parametrize("make", [generate_deck, extreme_deck])
@pytest.mark.parametrize("n", [0, 1001])
def test_size_out_of_bounds(make, n):
    raises(ValueError, f"n: expected 1 to 1000, got {n}", make, 1, n)


def test_file(tmp_path):
    path = tmp_path / "deck.txt"
    save_deck(path, generate_deck(1))
    assert load_deck(path) == generate_deck(1)
    path.write_text("# a comment\n\n  3 C 1 1 2 0 0  \n\t4\tI 7 -7 100 3 -1\n")
    assert load_deck(path) == [Card(3, "C", 1, 1, 2, 0, 0), Card(4, "I", 7, -7, 100, 3, -1)]
    before = path.read_text()
    with pytest.raises(ValueError, match="card 1: ID: 3 is that of card 0 too"):
        save_deck(path, [Card(3, "C", 1, 1, 2, 0, 0)] * 2)
    assert path.read_text() == before
    path.write_text("3 C 1 1 2 0 0\n3 C 1 1 1\n")
    raises(ValueError, r"deck\.txt: line 2: expected seven values", load_deck, path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 X 0 1 1 0 0", "line 3: TYPE: expected one of C, H, D, T, B, I, got 'X'"),
        ("0 C 0 1 1 0 0", "line 3: ID: expected 1..1000, got 0"),
        ("1001 C 0 1 1 0 0", "line 3: ID: expected 1..1000, got 1001"),
        ("1 C 0 0 1 0 0", "line 3: HP: expected 1..HPMAX = 1, got 0"),
        ("1 C 0 2 1 0 0", "line 3: HP: expected 1..HPMAX = 1, got 2"),
        ("1 C -1 1 1 0 0", "line 3: AT: expected at least 0, got -1"),
        ("1 C 0 1 1 -1 0", "line 3: COST: expected at least 0, got -1"),
        ("1 C 0 1 1 0 -1", "line 3: MANA: expected at least 0, got -1"),
        ("1 C 101 1 1 0 0", "line 3: AT: expected -100..100, got 101"),
        ("1 H 0 -1 0 0 -1", "line 3: HP: expected at least 0, got -1"),
        ("1 I 0 101 0 0 -1", "line 3: HP: expected -100..100, got 101"),
        ("1 D 1 0 0 0 0", "line 3: MANA: expected -1 for a spell, got 0"),
        ("1 D 1 0 0 0 1.5", "line 3: expected an integer, got '1.5'"),
        ("7 D 1 0 0 0 -1", "line 3: ID: 7 is that of line 2 too"),
    ],
)
def test_refused_cards(line, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        parse_deck(f"# deck\n7 T 1 0 0 0 -1\n{line}\n")
    assert str(error.value) == message


def test_refused_sizes():
    raises(ValueError, r"a deck has 1\.\.1000 cards, got 0", parse_deck, "# nothing\n")
    with pytest.raises(ValueError, match="card 1: expected a Card, got 5"):
        save_deck("nowhere", [Card(1, "C", 0, 1, 1, 0, 0), 5])

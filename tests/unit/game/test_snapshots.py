"""Snapshots of a `State`, and states made from any snapshot."""

import pytest
from helpers import each_rules, raises
from hypothesis import given
from hypothesis import strategies as st
from states import CREATURE, full_position
from strategies import positions

from locmsim import (
    Card,
    CardType,
    State,
)


@each_rules
@given(data=st.data())
def test_snapshots_both_ways(rules, data):
    position = data.draw(positions(rules))
    state = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    state.validate()
    assert state.snapshot() == position.snapshot


def change(path, value):
    """Return a function that sets one field of the snapshot."""

    def apply(snapshot, cards, decks):
        target = snapshot
        for step in path[:-1]:
            target = target[step]
        if value is None:
            del target[path[-1]]
        else:
            target[path[-1]] = value

    return apply


ROW = [10, 1, 2, 3, "-C-G--", 1, 1, 0]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (change(["turn"], None), "turn: missing"),
        (change(["turn"], 4.0), "turn: expected an integer, got 4.0"),
        (change(["turn"], -2), "turn: expected -1.."),
        (change(["cur"], 1), "cur: expected 0 in turn 4"),
        (change(["winner"], 2), "winner: expected -1 to 1, got 2"),
        (change(["p"], [{}]), "p: expected two players"),
        (change(["p"], 5), "p: expected a list, got 5"),
        (change(["p", 0], 5), r"p\[0\].deck: missing"),
        (change(["p", 0, "hp"], None), r"p\[0\].hp: missing"),
        (change(["p", 1, "hp"], 10**12), r"p\[1\].hp: expected -1000"),
        (change(["p", 1, "maxMana"], 14), r"p\[1\].maxMana: expected 0 to 13, got 14"),
        (change(["p", 1, "mana"], -1), r"p\[1\].mana: expected 0 to 13, got -1"),
        (change(["p", 0, "bonus"], 2), r"p\[0\].bonus: expected 0 to 1, got 2"),
        (change(["p", 0, "draw"], 0), r"p\[0\].draw: expected at least 1"),
        (change(["p", 0, "lost"], -5), r"p\[0\].lost: expected 0"),
        (change(["p", 0, "hand"], 3), r"p\[0\].hand: expected a list, got 3"),
        (change(["p", 0, "hand"], [0, "2"]), r"p\[0\].hand\[1\]: expected an integer, got '2'"),
        (change(["p", 0, "hand"], [0, 60]), r"p\[0\].hand\[1\]: card 60 is missing in"),
        (change(["p", 0, "hand"], [0, 0]), r"p\[0\].hand\[1\]: instance id 0 occurs twice"),
        (change(["p", 0, "hand"], [0] * 9), r"p\[0\].hand: 9 cards, expected at most 8"),
        (change(["p", 0, "hand"], [0, 4]), r"decks\[0\]: instance id 4 occurs twice"),
        (change(["p", 0, "deck"], 4), r"p\[0\].deck: 4 cards left, but decks\[0\] has 3"),
        (change(["p", 0, "board"], {}), r"p\[0\].board: expected a list"),
        (change(["p", 0, "board"], [ROW[:7]]), r"p\[0\].board\[0\]: expected eight or nine values"),
        (
            change(["p", 0, "board"], [[256, *ROW[1:]]]),
            r"\[0\]: expected 0 to 255, got 256",
        ),
        (
            change(["p", 0, "board"], [[10, 9, *ROW[2:]]]),
            r"\[1\]: no card with base id 9",
        ),
        (
            change(["p", 0, "board"], [[10, 2, *ROW[2:]]]),
            r"board\[0\]\[1\]: card 2 is not a creature",
        ),
        (
            change(["p", 0, "board"], [[60, *ROW[1:]]]),
            r"\[0\]: instance id 60 occurs twice",
        ),
        (change(["p", 0, "board"], [ROW, ROW]), r"board\[1\]\[0\]: instance id 10 occurs twice"),
        (
            change(["p", 0, "board"], [[10 + i, *ROW[1:]] for i in range(4)]),
            r"board\[3\]: no room in lane 1",
        ),
        (change(["p", 0, "board", 0, 2], 30_501), r"board\[0\]\[2\]: expected -30500 to 30500"),
        (change(["p", 0, "board", 0, 3], "3"), r"board\[0\]\[3\]: expected an integer"),
        (change(["p", 0, "board", 0, 4], "GC----"), r"board\[0\]\[4\]: expected abilities"),
        (change(["p", 0, "board", 0, 4], 4), r"board\[0\]\[4\]: expected abilities"),
        (change(["p", 0, "board", 0, 5], 2), r"board\[0\]\[5\]: expected 0 to 1, got 2"),
        (change(["p", 0, "board", 0, 6], 2), r"board\[0\]\[6\]: expected 0 to 1, got 2"),
        (change(["p", 0, "board", 0, 7], True + 1), r"board\[0\]\[7\]: expected 0 to 1, got 2"),
        (lambda s, c, decks: decks.pop(), r"decks\[1\]: expected a list of"),
        (
            lambda s, c, decks: decks[0].append([6]),
            r"decks\[0\]\[3\]: expected \[instance",
        ),
        (lambda s, c, decks: decks[0].append(6), r"decks\[0\]: expected a list of"),
        (lambda s, c, decks: decks[0].append([255, 2]), r"decks\[0\]\[3\]\[0\]: expected 0 to 254"),
        (
            lambda s, c, decks: decks[0].append([6, 9]),
            r"decks\[0\]\[3\]\[1\]: no card",
        ),
        (lambda s, c, decks: decks[0].append([60, 2]), "instance id 60 of player 1 occurs twice"),
        (
            lambda s, c, decks: decks[0].extend([100 + i, 2] for i in range(28)),
            r"decks\[0\]: 31 cards, expected at most 30",
        ),
        (lambda s, cards, d: cards.update({5: CREATURE}), "keys that are not the base ids"),
        (lambda s, cards, d: cards.update({5: "x"}), r"cards\[4\]: expected a Card, got 'x'"),
    ],
)
def test_from_snapshot_names_the_field(damage, message):
    snapshot, cards, decks = full_position()
    State.from_snapshot(snapshot, cards, decks).validate()
    damage(snapshot, cards, decks)
    raises(ValueError, message, State.from_snapshot, snapshot, cards, decks)


def test_from_snapshot_refuses_runes_that_are_none():
    snapshot, cards, decks = full_position()
    for player in snapshot["p"]:
        del player["lost"]
        player["runes"] = [5, 10]
    State.from_snapshot(snapshot, cards, decks, "1.2").validate()
    for wrong, message in ((7, "expected 5, 10"), (30, "expected 5 to 25"), ("5", "expected an")):
        snapshot["p"][1]["runes"] = [5, wrong]
        with pytest.raises(ValueError, match=rf"p\[1\].runes\[1\]: {message}"):
            State.from_snapshot(snapshot, cards, decks, "1.2")


def test_from_snapshot_takes_cards_in_any_form():
    snapshot, cards, decks = full_position()
    state = State.from_snapshot(snapshot, cards, decks)
    assert State.from_snapshot(snapshot, cards.values(), decks) == state
    assert State.from_snapshot(snapshot, iter(cards.values()), decks) == state
    twice = [*cards.values(), Card(1, CardType.CREATURE, 0, 0, 1)]
    with pytest.raises(ValueError, match="two different cards with base id 1"):
        State.from_snapshot(snapshot, twice, decks)


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(-1, 300), max_size=9),
    st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=3),
    st.just({}),
)


@given(data=st.data())
def test_from_snapshot_of_junk(data):
    """Any snapshot gives a valid state or a `ValueError`."""
    snapshot, cards, decks = full_position()
    for _ in range(data.draw(st.integers(1, 3))):
        target = data.draw(
            st.sampled_from(
                [
                    snapshot,
                    snapshot["p"],
                    *[p for p in snapshot["p"] if isinstance(p, dict)],
                    *[
                        place
                        for p in snapshot["p"]
                        if isinstance(p, dict)
                        for place in (p["hand"], p["board"], *p["board"])
                        if isinstance(place, list)
                    ],
                    decks,
                    *[deck for deck in decks if isinstance(deck, list)],
                ]
                if isinstance(snapshot["p"], list)
                and all(
                    isinstance(p, dict)
                    and isinstance(p.get("board"), list)
                    and isinstance(p.get("hand"), list)
                    for p in snapshot["p"]
                )
                else [decks]
            )
        )
        keys = list(target) if isinstance(target, dict) else list(range(len(target)))
        if keys:
            target[data.draw(st.sampled_from(keys))] = data.draw(junk)
    try:
        state = State.from_snapshot(snapshot, cards, decks)
    except ValueError:
        return
    state.validate()

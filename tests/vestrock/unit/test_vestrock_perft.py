"""Counts of action sequences, as computed once by a separate slow reference."""

import pytest
from vestrock_data import position

from vestrock import State, generate_deck

PERFT = {
    "t3 bl A10 B10 | A b5,20 | B b3!,4!,19! | D 7": [8, 39, 134, 616, 2680],
    "t3 ac A10 B10 m4 | A h7,8,10,11 b5 | B h19 b3 | D 20": [21, 346, 4476, 43762],
    "t59 ac A2 B10 | A h8,15 b3,1 | B h16,14 b4,6 | D 12,13": [15, 159, 1412, 10892, 74589],
}


def perft(state, depth):
    """Count sequences of exactly `depth` actions, with ends of turns; ended matches add none."""
    actions = state.legal_actions()
    if depth == 1:
        return len(actions)
    return sum(perft(state.child(action), depth - 1) for action in actions)


def test_from_the_start():
    state = State.new(generate_deck(1))
    assert [perft(state, d) for d in range(1, 8)] == [2, 5, 15, 46, 141, 407, 1096]


@pytest.mark.parametrize("text", PERFT)
def test_from_positions(text):
    state = position(text)
    assert [perft(state, d + 1) for d in range(len(PERFT[text]))] == PERFT[text]

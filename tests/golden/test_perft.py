"""Perft: the number of sequences of legal actions from fixed positions."""

import json

import pytest
from amounts import amount
from helpers import DATA, RULE_SETS, each_rules
from perft_data import DEPTH, POSITIONS, battle_of, features, state_of

#: The reference takes about 0.2 ms for a node. All of it: python tools/perft_data.py --check
REFERENCE_NODES = amount(50, 500)

all_positions = json.loads((DATA / "perft.json").read_text())
each_position = pytest.mark.parametrize(
    ("rules", "position"),
    [
        pytest.param(rules, position, id=f"{rules}-{number}")
        for rules in RULE_SETS
        for number, position in enumerate(all_positions[rules])
    ],
)


@each_position
def test_kernel(rules, position):
    state = state_of(position, rules)
    before = state.clone()
    assert [state.perft(depth) for depth in range(1, DEPTH + 1)] == position["nodes"]
    assert state == before


@each_position
def test_reference(rules, position):
    battle = battle_of(position, rules)
    for depth, nodes in enumerate(position["nodes"], 1):
        if depth > 1 and position["nodes"][depth - 2] > REFERENCE_NODES:
            break
        assert battle.perft(depth) == nodes


@each_rules
def test_positions_are_worth_counting(rules):
    positions = all_positions[rules]
    assert len(positions) >= POSITIONS
    shown = set().union(*(features(position, rules) for position in positions))
    assert shown >= {
        "attack on player",
        "attack on creature that has G",
        "attack on creature that has W",
        "attack on creature that has L",
        "attack on creature with B",
        "attack on creature with D",
        "full lane",
        "full hand",
        "empty deck",
        "turn limit",
        "the game can end now",
        "USE BLUE TARGET on player",
    }
    kinds = ["SUMMON CREATURE"] + [f"USE {kind}" for kind in ("GREEN", "RED", "BLUE")]
    areas = ("TARGET", "LANE1", "LANE2") if rules == "1.5" else ("TARGET",)
    assert shown >= {f"{kind} {area}" for kind in kinds for area in areas}


def test_perft_of_zero_and_of_a_finished_game():
    state = state_of(all_positions["1.5"][0], "1.5")
    assert state.perft(0) == 1
    while not state.is_terminal():
        state.apply_action(0)
    assert state.perft(0) == 1
    assert state.perft(1) == state.perft(2) == state.perft(2**32) == state.perft(2**62) == 0

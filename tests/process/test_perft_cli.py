"""Tests of ``locmsim perft`` and of position files."""

import json
import re
from pathlib import Path

import pytest
from helpers import DATA, Output, each_rules, output_of

from locmsim import Card, State
from locmsim.game.positions import (
    divide,
    load_positions,
    random_game,
    save_positions,
    start_position,
)

POSITIONS = json.loads((DATA / "perft.json").read_text())


def perft(*arguments: str, code: int = 0) -> Output:
    return output_of("perft", *arguments, code=code)


@each_rules
def test_position_file(rules: str, tmp_path: Path) -> None:
    path = tmp_path / "position.txt"
    for position in POSITIONS[rules][:3]:
        cards = map(Card.from_row, position["cards"])
        state = State.from_snapshot(position["snapshot"], cards, position["decks"], rules)
        save_positions(path, [state])
        for depth, nodes in enumerate(position["nodes"][:3], 1):
            words = [str(path), "--rules", rules, "--depth", str(depth)]
            assert perft(*words).out == f"nodes: {nodes}\n"
            *lines, empty, total = perft(*words, "--divide").out.splitlines()
            assert (empty, total) == ("", f"nodes: {nodes}")
            assert sum(int(line.rpartition(": ")[2]) for line in lines) == nodes


def test_seed() -> None:
    state = start_position(7, "1.2")
    shown = perft("--seed", "7", "--rules", "1.2", "--depth", "3").out
    assert shown == f"nodes: {state.perft(3)}\n"
    assert perft().out == f"nodes: {start_position(1).perft(4)}\n"


def test_divide_names_the_actions() -> None:
    state = start_position(1)
    assert [action for action, _ in divide(state, 2)] == list(
        map(state.action_to_string, state.legal_actions())
    )


@pytest.mark.slow
@each_rules
def test_saved_positions_are_loaded_again(rules: str, tmp_path: Path) -> None:
    path = tmp_path / "position.txt"
    states = [state for state, _ in random_game(start_position(3, rules), 1)]
    save_positions(path, states, ["the start", "after one action"])
    lines = path.read_text().splitlines()
    assert lines[:4] == ["# the start", states[0].to_text(), "# after one action", lines[3]]
    assert len(lines) == len(states) + 2
    path.write_text("\n" + path.read_text() + " \n# the end\n")
    loaded = load_positions(path)
    assert loaded == states
    assert [state.table.pool for state in loaded] == [state.table.pool for state in states]
    save_positions(path, states[:1])
    assert load_positions(path) == states[:1]


def test_what_cannot_be_saved_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "position.txt"
    path.write_text("before")
    with pytest.raises(AttributeError):
        save_positions(path, [start_position(1), None])  # type: ignore[list-item]
    assert path.read_text() == "before"


GOOD = start_position(1).to_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "line 1: expected 7 fields"),
        (f"# one\n\n2.0{GOOD[3:]}".encode(), "line 3: rules: expected 1.5, 1.2, 1.0, got '2.0'"),
        (GOOD.replace("30,1,1,", "30,1,x,", 1).encode(), r"line 1: players\[0\].mana: expected an"),
        (b"# nothing\n", "expected one position, got 0"),
        (f"{GOOD}\n{GOOD}".encode(), "expected one position, got 2"),
        (b"\xff", "expected the text of a position, got binary data"),
    ],
)
def test_bad_files(text: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "position.txt"
    path.write_bytes(text)
    answer = perft(str(path), code=1)
    assert answer.out == ""
    assert re.match(f"locmsim perft: {re.escape(str(path))}: {message}", answer.err), answer.err


def test_other_rules_than_the_files_and_none(tmp_path: Path) -> None:
    path = tmp_path / "position.txt"
    path.write_text(GOOD)
    assert "the position is of rules 1.5, not 1.2" in perft(str(path), "--rules", "1.2", code=1).err
    assert "none: No such file or directory" in perft(str(tmp_path / "none"), code=1).err

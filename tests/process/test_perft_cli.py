"""``locmsim perft`` and position files."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers import DATA, RULE_SETS

from locmsim import Card, State
from locmsim.cli.main import main
from locmsim.game.positions import divide, load_position, random_game, save_position, start_position

POSITIONS = json.loads((DATA / "perft.json").read_text())


def perft(*arguments: str, code: int = 0) -> None:
    assert main(["perft", *arguments]) == code


@pytest.mark.parametrize("rules", RULE_SETS)
def test_position_file(rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "position.json"
    for position in POSITIONS[rules][:3]:
        path.write_text(json.dumps(position))
        for depth, nodes in enumerate(position["nodes"][:3], 1):
            perft(str(path), "--rules", rules, "--depth", str(depth))
            assert capsys.readouterr().out == f"nodes: {nodes}\n"
            perft(str(path), "--rules", rules, "--depth", str(depth), "--divide")
            *lines, empty, total = capsys.readouterr().out.splitlines()
            assert (empty, total) == ("", f"nodes: {nodes}")
            assert sum(int(line.rpartition(": ")[2]) for line in lines) == nodes


def test_seed(capsys: pytest.CaptureFixture[str]) -> None:
    state = start_position(7, "1.2")
    perft("--seed", "7", "--rules", "1.2", "--depth", "3")
    assert capsys.readouterr().out == f"nodes: {state.perft(3)}\n"
    perft()
    assert capsys.readouterr().out == f"nodes: {start_position(1).perft(4)}\n"


def test_divide_names_the_actions() -> None:
    state = start_position(1)
    assert [action for action, _ in divide(state, 2)] == list(
        map(state.action_to_string, state.legal_actions())
    )


@pytest.mark.parametrize("rules", RULE_SETS)
def test_saved_positions_are_loaded_again(rules: str, tmp_path: Path) -> None:
    path = tmp_path / "position.json"
    for state, _ in random_game(start_position(3, rules), 1):
        save_position(path, state)
        loaded = load_position(path)
        assert loaded.rules == rules
        assert loaded.snapshot() == state.snapshot()
        assert [p.deck for p in loaded.players] == [p.deck for p in state.players]
        assert loaded.table.pool == state.table.pool
        assert load_position(path, rules) == loaded


def test_cards_outside_the_pool_are_saved_too(tmp_path: Path) -> None:
    path = tmp_path / "position.json"
    cards = [Card(number, 0, 0, 1, 1) for number in range(20)]
    state = State.new(cards[:10], cards[10:], pool=[])
    save_position(path, state)
    assert load_position(path).snapshot() == state.snapshot()


def test_ambiguous_cards_are_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "position.json"
    path.write_text("before")
    state = State.new([Card(1, 0, 0, 1, 1)], [Card(1, 0, 0, 2, 2)])
    with pytest.raises(ValueError, match="two different cards have the base id 1"):
        save_position(path, state)
    assert path.read_text() == "before"


def edited(**changes: Any) -> str:
    position = {"rules": "1.5", **POSITIONS["1.5"][0], **changes}
    return json.dumps({key: value for key, value in position.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON: .*line 1 column 2"),
        ("[" * 100_000, "no JSON: .*recursion"),
        ("[]", "expected a JSON object, got list"),
        (edited(cards=None), "cards: missing"),
        (edited(cards={}), "cards: expected a list of card rows"),
        (edited(cards=[[1, 2, 3]]), r"cards\[0\]: card row: expected nine or ten values"),
        (edited(cards=[[1, 9, 0, 0, 0, "------", 0, 0, 0]]), r"cards\[0\]: .*type"),
        (edited(snapshot={}), "p: missing"),
        (edited(decks=[]), r"decks\[0\]: expected a list"),
        (edited(rules="2.0"), "unknown rules '2.0'"),
        (edited(rules=["1.5"]), r"rules: expected a string, got \['1\.5'\]"),
    ],
)
def test_bad_files(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "position.json"
    path.write_text(text)
    perft(str(path), code=1)
    answer = capsys.readouterr()
    assert answer.out == ""
    assert re.match(f"locmsim perft: {re.escape(str(path))}: {message}", answer.err), answer.err


def test_other_rules_than_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "position.json"
    path.write_text(edited())
    perft(str(path), "--rules", "1.2", code=1)
    assert "the position is one of 1.5, not of 1.2" in capsys.readouterr().err


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    perft(str(tmp_path / "none"), code=1)
    assert "none: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--depth", "0"], "--depth: expected at least 1, got 0"),
        (["--depth", "x"], "invalid int value"),
        (["--seed", "1", "file"], "not allowed with"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        perft(*arguments)
    assert end.value.code == 2
    assert message in capsys.readouterr().err

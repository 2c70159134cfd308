"""Tests of puzzles: winning turns from an exhaustive search, and files of puzzles."""

import re
from collections import Counter
from importlib import resources
from itertools import islice
from pathlib import Path

import pytest
import wins_data
from amounts import amount
from helpers import raises

from locmsim import InvalidActionError, State
from locmsim.game.positions import random_game, start_position
from locmsim.rules.rulesets import RULES
from locmsim.search.puzzles import (
    DIFFICULTIES,
    Puzzle,
    built_in_puzzles,
    load_puzzles,
    puzzle_at,
    puzzles_of,
    save_puzzles,
    winning_turns,
)

BUILT_IN = built_in_puzzles()


def all_winning_sets(state: State) -> set[frozenset[str]]:
    """Return all sets of actions that win and of which no part wins, by trying all sequences."""
    player, found = state.current_player(), set()

    def play(node: State, done: frozenset[str]) -> None:
        for action in node.legal_actions()[1:]:
            child = node.child(action)
            turn = done | {node.action_to_string(action)}
            if not child.is_terminal():
                play(child, turn)
            elif child.winner == player:
                found.add(turn)

    play(state, frozenset())
    return {turn for turn in found if not any(other < turn for other in found)}


def sets(lines: list[str]) -> set[frozenset[str]]:
    return {frozenset(line.split(";")) for line in lines}


@pytest.mark.slow
def test_winning_turns_are_those_of_all_sequences() -> None:
    """With one, several and no winning turns, in positions small enough to try all orders."""
    checked: Counter[int] = Counter()
    for rules in RULES:
        for seed in range(30):
            game = random_game(start_position(seed, rules), seed)
            for state, _ in islice(game, 30, 400, 7):
                if state.perft(3) > 400:
                    continue
                for health in (1, 3, 6):
                    weak = wins_data.with_health(state, health)
                    if weak.perft(5) > 4000:
                        continue
                    expected = all_winning_sets(weak)
                    found = winning_turns(weak)
                    assert sets(found) == expected
                    assert len(found) == len(expected)
                    assert all(Puzzle(weak, line).solved_by(line) for line in found)
                    checked[min(len(found), 2)] += 1
    assert min(checked[0], checked[1], checked[2]) >= 10, checked


def test_a_turn_that_is_too_large_is_refused() -> None:
    game = random_game(start_position(57, "1.2"), 57)
    state, _ = next(islice(game, 86, None))
    raises(ValueError, "the turn has over 20,000 positions", winning_turns, state)


def test_the_puzzles_of_the_package() -> None:
    """They are of all rule sets and difficulties, sorted by difficulty, and all different."""
    file = resources.files("locmsim") / "data" / "puzzles.txt"
    assert len(file.read_bytes()) <= 30_000
    kinds = Counter((puzzle.state.rules, puzzle.difficulty) for puzzle in BUILT_IN)
    assert set(kinds) == {(rules, name) for rules in RULES for name in DIFFICULTIES}
    assert min(kinds.values()) >= 4
    assert len({puzzle.key for puzzle in BUILT_IN}) == len(BUILT_IN) >= 60
    places = [DIFFICULTIES.index(puzzle.difficulty) for puzzle in BUILT_IN]
    assert places == sorted(places)
    for puzzle in BUILT_IN:
        attacks = re.findall(r"ATTACK \d+ -1", puzzle.line)
        assert puzzle.line.count(";") + 1 - len(attacks) >= 2


@pytest.mark.parametrize("puzzle", BUILT_IN[:: amount(9, 1)], ids=lambda puzzle: puzzle.key)
def test_exactly_one_turn_wins(puzzle: Puzzle) -> None:
    assert sets(winning_turns(puzzle.state)) == sets([puzzle.line])
    assert puzzle_at(puzzle.state) == puzzle


def test_only_what_wins_in_this_turn_solves_a_puzzle() -> None:
    """An opponent who dies from drawing in the next turn has not been beaten by this one."""
    puzzle = BUILT_IN[0]
    assert puzzle.solved_by(puzzle.line)
    assert puzzle.solved_by(f"PASS;{puzzle.line};PASS")
    for line in ("", "PASS", puzzle.line.rpartition(";")[0]):
        assert not puzzle.solved_by(line)
    with pytest.raises(InvalidActionError):
        puzzle.solved_by("CONCEDE")
    dying = wins_data.with_health(puzzle.state, 1)
    end = dying.clone()
    end.apply_line("PASS")
    assert end.players[1 - puzzle.state.current_player()].deck_size == 0
    assert not Puzzle(dying, "").solved_by("PASS")


def test_a_file_of_puzzles(tmp_path: Path) -> None:
    path = tmp_path / "puzzles.txt"
    save_puzzles(path, BUILT_IN)
    assert load_puzzles(path) == BUILT_IN
    # Without titles a search finds turns that win.
    path.write_text("".join(f"{puzzle.state.to_text()}\n\n" for puzzle in BUILT_IN))
    for found, puzzle in zip(load_puzzles(path), BUILT_IN, strict=True):
        assert (found.state, found.difficulty) == (puzzle.state, "")
        assert found.solved_by(found.line)
        assert set(puzzle.line.split(";")) <= set(found.line.split(";"))


def test_the_positions_with_wins_are_puzzles_of_unknown_difficulty() -> None:
    puzzles = load_puzzles(wins_data.PATH)
    assert len(puzzles) == len(wins_data.KINDS)
    assert all(puzzle.solved_by(puzzle.line) and not puzzle.difficulty for puzzle in puzzles)


def over() -> State:
    puzzle = BUILT_IN[0]
    state = puzzle.state.clone()
    state.apply_line(puzzle.line)
    return state


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no position in it"),
        ("# hard: PASS\n", "there is no position in it"),
        ("\nwhat\n", "line 2: "),
        (f"# easy: PASS\n{BUILT_IN[0].state.to_text()}\n", "line 1: this turn does not win: PASS"),
        (f"# easy: JUMP\n{BUILT_IN[0].state.to_text()}\n", "line 1: JUMP: "),
        (f"{start_position(1).to_text()}\n", "line 1: no turn was found that wins at once"),
        (f"# easy: PASS\n{over().to_text()}\n", "line 2: the game is over in this position"),
    ],
    ids=["empty", "no-position", "nonsense", "no-win", "malformed", "none-found", "over"],
)
def test_what_is_wrong_with_a_file_is_said(text: str, message: str, tmp_path: Path) -> None:
    raises(ValueError, f"^{message}", puzzles_of, text)
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{path}: {message}") as caught:
        load_puzzles(path)
    assert "\n" not in str(caught.value)

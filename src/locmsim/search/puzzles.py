"""Puzzles: positions in which exactly one turn wins at once.

A puzzle file is a position file (`locmsim.game.positions`). The comment above a position may say
how difficult it is, and which turn wins: ``# hard: USE 9 7;ATTACK 3 -1``.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from locmsim._core import State
from locmsim.game.answers import answer_line, played
from locmsim.game.positions import save_positions, titled_positions
from locmsim.search.options import BeamOptions
from locmsim.search.turn_search import BeamSearch

__all__ = [
    "DIFFICULTIES",
    "Puzzle",
    "built_in_puzzles",
    "load_puzzles",
    "puzzle_at",
    "puzzles_of",
    "save_puzzles",
    "winning_turns",
]

#: A turn with at most so many undecided positions is of this difficulty; a larger one, the last.
_SIZES: Final = {"easy": 60, "medium": 400, "hard": 2000}
#: The difficulties, in order.
DIFFICULTIES: Final = (*_SIZES, "expert")
#: The most positions of a turn that is searched exhaustively, and the most winning turns that are
#: told apart on the way.
_LARGEST = 20_000
_MOST_TURNS = 200
_TITLE = re.compile(rf"({'|'.join(DIFFICULTIES)}): *(.+)")


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position in which the player to move can win at once.

    Attributes
    ----------
    state : State
        The position.
    line : str
        The turn that wins, as an answer.
    difficulty : str
        One of `DIFFICULTIES`; empty if it is not known.
    """

    state: State
    line: str
    difficulty: str = ""

    @property
    def key(self) -> str:
        """What tells the puzzle from others, the same on every machine."""
        return f"{self.state.hash64():016x}"

    def solved_by(self, line: str) -> bool:
        """Return whether an answer wins in this turn.

        Parameters
        ----------
        line : str
            The answer.

        Raises
        ------
        InvalidActionError
            The answer is malformed.
        """
        state = self.state.clone()
        for action in state.actions_of(line):
            state.apply_action(action)
        return state.winner == self.state.current_player()


# ---------------------------------------------------------------------------- exhaustive search


def winning_turns(state: State) -> list[str]:
    """Return all turns that win at once, from an exhaustive search, which needs only the rules.

    A turn is a set of actions. It counts once, however many orders of its actions win, and only if
    no part of it wins: what is done besides does not make it another turn.

    Parameters
    ----------
    state : State
        A position, at any point of a turn.

    Returns
    -------
    list of str
        An answer line for each turn, in an order in which it wins.

    Raises
    ------
    ValueError
        The turn has over 20,000 positions, or very many winning turns.
    """
    return _searched(state)[0]


def _searched(state: State) -> tuple[list[str], int]:
    """Return all winning turns, and the number of undecided positions of the turn."""
    player = state.current_player()
    known: dict[bytes, _Turns] = {}

    def search(node: State) -> _Turns:
        key = node.key()
        if key in known:
            return known[key]
        if len(known) == _LARGEST:
            raise ValueError(f"the turn has over {_LARGEST:,} positions")
        known[key] = {}  # counted from now on
        found: _Turns = {}
        for action in node.legal_actions()[1:]:  # without PASS
            text, child = node.action_to_string(action), node.child(action)
            if not child.is_terminal():
                for rest, order in search(child).items():
                    found.setdefault(rest | {text}, (text, *order))
            elif child.winner == player:
                found[frozenset([text])] = (text,)
        known[key] = {turn: found[turn] for turn in _smallest(found)}
        if len(known[key]) > _MOST_TURNS:
            raise ValueError(f"over {_MOST_TURNS} turns win")
        return known[key]

    turns = search(state)
    return [";".join(order) for order in turns.values()], len(known)


#: Winning turns as sets of actions, each with an order in which it wins.
_Turns = dict[frozenset[str], tuple[str, ...]]


def _smallest(turns: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Return the sets of which no other one is a part."""
    kept: list[frozenset[str]] = []
    for turn in sorted(turns, key=len):
        if not any(other <= turn for other in kept):
            kept.append(turn)
    return kept


def puzzle_at(state: State) -> Puzzle | None:
    """Return the puzzle that a position is, or None unless exactly one turn wins at once.

    Parameters
    ----------
    state : State
        A position, at any point of a turn.

    Raises
    ------
    ValueError
        As for `winning_turns`.
    """
    turns, size = _searched(state)
    if len(turns) != 1:
        return None
    fitting = [name for name, most in _SIZES.items() if size <= most]
    return Puzzle(state, turns[0], [*fitting, DIFFICULTIES[-1]][0])


# ----------------------------------------------------------------------------------------- files


def puzzles_of(text: str) -> list[Puzzle]:
    """Return the puzzles in the text of a puzzle file.

    Where no winning turn is written above a position, one is searched for.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list of Puzzle
        In order.

    Raises
    ------
    ValueError
        A line is malformed, a turn does not win, none is found, or there is no position; the
        message names the line and what is wrong.
    """
    puzzles = []
    for number, title, state in titled_positions(text):
        written = _TITLE.fullmatch(title)
        if state.is_terminal():
            raise ValueError(f"line {number}: the game is over in this position")
        if written is None:
            puzzles.append(Puzzle(state, _found_win(state, number)))
            continue
        puzzle = Puzzle(state, written[2], written[1])
        try:
            solved = puzzle.solved_by(puzzle.line)
        except ValueError as error:
            raise ValueError(f"line {number - 1}: {puzzle.line}: {error}") from None
        if not solved:
            raise ValueError(f"line {number - 1}: this turn does not win: {puzzle.line}")
        puzzles.append(puzzle)
    if not puzzles:
        raise ValueError("there is no position in it")
    return puzzles


def _found_win(state: State, number: int) -> str:
    """Return a winning turn; `number` is the line of the position."""
    engine = BeamSearch(BeamOptions(width=256, worlds=1, plans=1)).prepare(state.rules)
    actions = engine.find_win(state, _LARGEST)
    if actions is None:
        raise ValueError(f"line {number}: no turn was found that wins at once in this position")
    return answer_line(played(state.clone(), actions))


def load_puzzles(path: str | os.PathLike[str]) -> list[Puzzle]:
    """Return the puzzles of a file.

    Parameters
    ----------
    path : path-like
        Path of the file.

    Returns
    -------
    list of Puzzle
        In order.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        As for `puzzles_of`; the message names the file, too.
    """
    try:
        return puzzles_of(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # also of bytes that are not text
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def save_puzzles(path: str | os.PathLike[str], puzzles: Iterable[Puzzle]) -> None:
    """Write a puzzle file, for `load_puzzles`; an existing one is replaced atomically.

    Parameters
    ----------
    path : path-like
        Path of the file.
    puzzles : iterable of Puzzle
        What it is to contain, in order.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    kept = [*puzzles]
    titles = [f"{puzzle.difficulty}: {puzzle.line}" if puzzle.difficulty else "" for puzzle in kept]
    save_positions(path, [puzzle.state for puzzle in kept], titles)


def built_in_puzzles() -> list[Puzzle]:
    """Return the puzzles of the package; each has exactly one winning turn."""
    file = resources.files("locmsim") / "data" / "puzzles.txt"
    return puzzles_of(file.read_text(encoding="utf-8"))

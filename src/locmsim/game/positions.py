"""Positions for perft and benchmarks, and files of positions.

A position file has one position text (docs/rules.md, section 13) per line.
"""

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from locmsim._core import State
from locmsim.javarandom import JavaRandom
from locmsim.options.checks import whole
from locmsim.rules.cards import cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, get_rules
from locmsim.support.files import write_whole

__all__ = [
    "divide",
    "load_positions",
    "positions_of",
    "random_game",
    "save_positions",
    "start_position",
    "titled_positions",
]


def start_position(seed: int, rules: str = "1.5") -> State:
    """Return the start of a battle between two random decks.

    Each has 30 of the seed's 120 generated cards (1.x: of the fixed 160), none more than twice.

    Parameters
    ----------
    seed : int
        The seed of the cards and of the decks.
    rules : str
        The rule set.
    """
    return _start(seed, rules).clone()


@lru_cache(maxsize=64, typed=True)
def _start(seed: int, rules: str) -> State:
    """Return a start, cached because many games begin at a few of them."""
    cards = list(cards_1x()) if get_rules(rules).draft else generate_cards(seed)
    random = JavaRandom(seed)
    copies = cards * COPIES_PER_CARD
    decks = []
    for _ in range(2):
        random.shuffle(copies)
        decks.append(copies[:DECK_SIZE])
    return State.new(*decks, rules=rules, pool=cards)


def random_game(start: State, seed: int) -> Iterator[tuple[State, int]]:
    """Yield each position and action of a game of uniformly random actions from `start`.

    Every position is a separate state, which callers may keep.

    Parameters
    ----------
    start : State
        The first position; it is not changed.
    seed : int
        The seed of the actions.
    """
    random = JavaRandom(seed)
    state = start.clone()
    while actions := state.legal_actions():
        action = actions[random.next_int(len(actions))]
        yield state, action
        state = state.child(action)


def divide(state: State, depth: int) -> Iterator[tuple[str, int]]:
    """Yield each legal action's text and the number of its continuations to `depth` actions.

    ``ValueError`` if `depth` is not an integer from 1 to 100.

    Parameters
    ----------
    state : State
        The position.
    depth : int
        The number of actions, that first one included.
    """
    depth = whole("depth", depth, 1, 100)
    for action in state.legal_actions():
        yield state.action_to_string(action), state.child(action).perft(depth - 1)


def save_positions(
    path: str | os.PathLike[str], states: Iterable[State], titles: Iterable[str] = ()
) -> None:
    """Write a position file, for `load_positions`.

    Parameters
    ----------
    path : path-like
        Path of the file; an existing one is replaced atomically.
    states : iterable of State
        The positions, one per line.
    titles : iterable of str
        Comment lines above the first positions, each of one line.
    """
    lines = [
        f"# {title}\n{state.to_text()}\n" if title else f"{state.to_text()}\n"
        for state, title in zip_longest(states, titles)
    ]
    write_whole(path, "".join(lines))


def load_positions(path: str | os.PathLike[str]) -> list[State]:
    """Return the states of a position file, in order.

    Parameters
    ----------
    path : path-like
        Path of the file; empty lines and those that begin with ``#`` are skipped.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        A line is malformed; the message names the file, the line and what is wrong.
    """
    try:
        return positions_of(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # also of bytes that are not text
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def positions_of(text: str) -> list[State]:
    """Parse the text of a position file; ``ValueError`` names the line and what is wrong.

    Parameters
    ----------
    text : str
        Positions, one in each line.
    """
    return [state for _, _, state in titled_positions(text)]


def titled_positions(text: str) -> Iterator[tuple[int, str, State]]:
    """Parse the text of a position file with its comments; ``ValueError`` as for `positions_of`.

    Parameters
    ----------
    text : str
        Positions, one in each line.

    Yields
    ------
    number : int
        The number of the line.
    title : str
        The comment directly above, empty if there is none.
    state : State
        The position.
    """
    title = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            title = line.removeprefix("#").strip()
            continue
        if line.strip():
            try:
                state = State.from_text(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            yield number, title, state
        title = ""

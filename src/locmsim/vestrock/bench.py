"""What Vestrock's operations cost on this machine.

`measure` gives the rows of a table; bench/test_vestrock.py has the same for pytest-benchmark.
"""

from collections.abc import Callable
from random import Random
from statistics import median
from time import perf_counter
from typing import NamedTuple

from locmsim.vestrock._bench import StateLoops
from locmsim.vestrock._core import State
from locmsim.vestrock.bots._policy import rule_line, rule_playouts
from locmsim.vestrock.deck import generate_deck

__all__ = ["Figure", "measure", "median_positions", "positions", "signature"]

POSITIONS = 64
_DECKS = 8
_LEGAL = 20  # median number of legal actions in the action phase of such matches


class Figure(NamedTuple):
    """One measured number, the median of several measurements."""

    group: str
    name: str
    value: float
    unit: str


def _walk(seed: int) -> list[State]:
    """All positions of a match between two players by the rule of thumb, action by action."""
    state = State.new(generate_deck(seed))
    found = []
    random = Random(seed)
    while not state.is_terminal():
        for action in rule_line(state, random.getrandbits(32)):
            found.append(state.clone())
            state.apply_action(action)
    return found


def positions(seed: int = 1) -> list[State]:
    """64 positions of one match of the rule bot, spread over it.

    Parameters
    ----------
    seed
        Of the deck and of the match.

    Returns
    -------
    list of State
        64 positions, all of the same table.
    """
    return Random(seed).choices(_walk(seed), k=POSITIONS)


def median_positions(seed: int = 1) -> list[State]:
    """Those of the match's action phases with a usual number of legal actions, 15 to 25."""
    usual = [
        state
        for state in _walk(seed)
        if state.phase == "action" and abs(len(state.legal_actions()) - _LEGAL) <= 5
    ]
    return Random(seed).choices(usual, k=POSITIONS)


def measure(rounds: int = 15, loops: int = 200) -> list[Figure]:
    """Time the kernel's operations and playouts.

    Parameters
    ----------
    rounds
        How many measurements each figure is the median of.
    loops
        Passes over 64 positions in a measurement.

    Returns
    -------
    list of Figure
        Nanoseconds of copy, action, list of legal actions and turns by rule, from compiled code,
        on two sets of positions; playouts by rule and at random a second.
    """
    figures = []
    for name, find in (("median", median_positions), ("match", positions)):
        sets = [StateLoops(find(seed)) for seed in range(1, _DECKS + 1)]
        samples: dict[str, list[float]] = {"clone": [], "apply": [], "legal": [], "turn": []}
        for _ in range(rounds):
            clone = median(s.clone(loops) for s in sets)
            samples["clone"].append(clone)
            samples["apply"].append(median(s.apply(loops) for s in sets) - clone)
            samples["legal"].append(median(s.legal(loops) for s in sets))
            samples["turn"].append(median(s.turn(max(1, loops // 10)) for s in sets) - clone)
        figures += [
            Figure("vestrock", f"{operation}, {name} positions", median(values), "ns")
            for operation, values in samples.items()
        ]
    start = State.new(generate_deck(1))
    figures += [
        Figure("vestrock", "playouts by rule", _rate(lambda n: rule_playouts(start, n, 1)), "1/s"),
        Figure("vestrock", "playouts at random", _rate(lambda n: start.rollouts(n, 1)), "1/s"),
    ]
    return figures


def _rate(run: Callable[[int], object], n: int = 500, rounds: int = 5) -> float:
    """How many playouts a second."""
    times = []
    for _ in range(rounds):
        begin = perf_counter()
        run(n)
        times.append(perf_counter() - begin)
    return n / median(times)


def signature() -> int:
    """A number that changes if and only if what the kernel and the rule of thumb do changes."""
    total = 0
    for seed in range(1, 5):
        state = State.new(generate_deck(seed))
        for scores in (rule_playouts(state, 100, seed), state.rollouts(50, seed)):
            for score in scores.tolist():
                total = (total * 1_000_003 + score + 20_000) % (1 << 32)
    return total

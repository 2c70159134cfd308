"""Benchmarks of Vestrock, and a signature of its behaviour."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from locmsim.gamekit import Case, Measured
from vestrock._bench import StateLoops
from vestrock._core import State
from vestrock.bots import make_bot
from vestrock.bots._policy import rule_line, rule_playouts
from vestrock.deck import generate_deck

POSITIONS = 64
_DECKS = 8
_LEGAL = 20  # median number of legal actions in the action phase of such matches


#: By operation, the operation whose time to subtract, and the number of passes over the positions.
_OPERATIONS = {
    "clone": ("", 200),
    "apply": ("clone", 200),
    "legal": ("", 200),
    "turn": ("clone", 20),
}


def _walk(seed: int) -> list[State]:
    """Return all positions of a match between two rule bots, action by action."""
    state = State.new(generate_deck(seed))
    found = []
    random = Random(seed)
    while not state.is_terminal():
        for action in rule_line(state, random.getrandbits(32)):
            found.append(state.clone())
            state.apply_action(action)
    return found


def positions(seed: int = 1) -> list[State]:
    """Return 64 random positions of a match between two rule bots.

    Parameters
    ----------
    seed
        Seed of the deck and of the match.

    Returns
    -------
    list of State
        64 positions, all with the same table.
    """
    return Random(seed).choices(_walk(seed), k=POSITIONS)


def median_positions(seed: int = 1) -> list[State]:
    """Return 64 random positions in action phases with 15 to 25 legal actions, as is usual."""
    usual = [
        state
        for state in _walk(seed)
        if state.phase == "action" and abs(len(state.legal_actions()) - _LEGAL) <= 5
    ]
    return Random(seed).choices(usual, k=POSITIONS)


def functions() -> Iterator[Measured]:
    """Return the measured functions: kernel operations, playouts and turns of bots.

    "Usual" positions are those of `median_positions`, "match" positions those of `positions`.
    """

    def loops(find: Callable[[int], list[State]], operation: str, less: str, n: int) -> Case:
        sets = [StateLoops(find(seed)) for seed in range(1, _DECKS + 1)]

        def all_of(operation: str) -> int:
            for one in sets:
                one.run(operation, n)
            return n * POSITIONS * len(sets)

        return Case(partial(all_of, operation), less=partial(all_of, less) if less else None)

    for name, find in (("usual", median_positions), ("match", positions)):
        for operation, (less, n) in _OPERATIONS.items():
            make = partial(loops, find, operation, less, n)
            yield Measured(f"{operation}, {name} positions", "ns", make)
    yield Measured("playouts by rule", "/s", partial(_playouts, rule_playouts))
    yield Measured("playouts at random", "/s", partial(_playouts, State.rollouts))
    for bot in ("random", "rule", "search:nodes=2000"):
        yield Measured(f"a turn of {bot}", "us", partial(_turns, bot))


def _playouts(play: Callable[[State, int, int], object]) -> Case:
    start, n = State.new(generate_deck(1)), 500

    def run() -> int:
        play(start, n, 1)
        return n

    return Case(run)


def _turns(bot: str) -> Case:
    player, states = make_bot(bot), median_positions()
    return Case(lambda: len([player.turn(state) for state in states]))


def signature() -> int:
    """Return a number that changes exactly if the kernel's or rule bot's behaviour changes."""
    total = 0
    for seed in range(1, 5):
        state = State.new(generate_deck(seed))
        for scores in (rule_playouts(state, 100, seed), state.rollouts(50, seed)):
            for score in scores.tolist():
                total = (total * 1_000_003 + score + 20_000) % (1 << 32)
    return total

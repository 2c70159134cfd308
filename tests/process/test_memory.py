"""Tests that repeated work does not leak memory, by the resident size of a separate process.

`ru_maxrss` is not suitable: it is the maximum since the process began, which earlier work has set.
"""

import subprocess
import sys

import pytest
from amounts import slow_after

#: By name, a line that prepares repeated work, and a line that does the work once.
WORK = {
    "beam search": (
        "search = BeamSearch(); states = positions()",
        "for state in states: search.search(state, nodes=300)",
    ),
    "tree search": (
        "search = MCTS(); states = positions()",
        "for state in states: search.search(state, iterations=20)",
    ),
    "new searches": (
        "states = positions()",
        "for state in states: BeamSearch().search(state, nodes=100)",
    ),
    "states": (
        "states = positions()",
        "for state in states:\n"
        "        state.resample_hidden(0, 1).rollouts(9, 1)\n"
        "        State.from_text(state.to_text()).child(0).key()",
    ),
    "matches": (
        "match = Match(seed=1)",
        "for _ in range(40): match.clone().submit(0, 'PASS')",
    ),
}
LEAK = "kept.append(b'x' * 65536)"

SCRIPT = """
import gc, os
from locmsim import Match, State
from locmsim.game.positions import random_game, start_position
from locmsim.search import MCTS, BeamSearch

def positions():
    starts = {{state.turn: state for state, _ in list(random_game(start_position(3), 3))[::-1]}}
    return [starts[turn] for turn in range(4, 12)]

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

def work():
    {each}
    {leak}

kept = []
{prepare}
for _ in range(10): work()
before = resident()
for _ in range(40): work()
print(resident() - before)
"""


def growth(name: str, leak: str = "") -> int:
    """Return by how many KiB a process grows while the work is done 40 times."""
    prepare, each = WORK[name]
    script = SCRIPT.format(prepare=prepare, each=each, leak=leak)
    return int(subprocess.check_output([sys.executable, "-c", script], text=True, timeout=300))


@pytest.mark.parametrize("name", slow_after(1, WORK))
def test_memory_does_not_grow(name: str) -> None:
    assert growth(name) < 1000


@pytest.mark.slow
def test_a_leak_is_seen() -> None:
    """The measurement detects a leak of 64 KiB per repetition, which is 2560 KiB in all."""
    assert growth("states", LEAK) > 2000

"""Nothing that is done again and again keeps memory: the size of a process of its own.

`ru_maxrss` would not do: it is the most that there ever was, of all that the process did before.
"""

import subprocess
import sys

import pytest

#: What is repeated, by name: a line that prepares it, and a line that does it once.
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
    """By how many KiB a process grows while the work is done 40 times."""
    prepare, each = WORK[name]
    script = SCRIPT.format(prepare=prepare, each=each, leak=leak)
    return int(subprocess.check_output([sys.executable, "-c", script], text=True, timeout=300))


@pytest.mark.parametrize("name", WORK)
def test_memory_does_not_grow(name: str) -> None:
    assert growth(name) < 1000


def test_a_leak_is_seen() -> None:
    """64 KiB each time are 2560 in all."""
    assert growth("states", LEAK) > 2000

"""Tests of programs that play Vestrock in the arena."""

import sys
from pathlib import Path

from locmsim.arena import Arena

GAME = "vestrock:turns=30,init_hp=10"


def test_a_program_plays_in_the_arena(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "while True:\n"
        "    own, left = map(int, input().split())\n"
        "    hp, limits = input(), input()\n"
        "    for _ in range(4):\n"
        "        cards = [input() for _ in range(sum(map(int, input().split())))]\n"
        "    assert own == 1\n"
        "    print('DRAW_CARD;FINISH_BLOCK;DRAW_CARD' if left > 10 else 'NONSENSE', flush=True)\n"
    )
    command = f"{sys.executable} {program}"
    with Arena(None, [f"mine={command}", "rule"], game=GAME, games=2, seed=1) as arena:
        arena.run(jobs=1)
        for number in (1, 2):
            assert arena.record(number).outcome.fault is None
    with Arena(
        None, [f"broken={sys.executable} -c 1", "rule"], game=GAME, games=2, seed=1
    ) as arena:
        arena.run(jobs=1)
        assert sum(arena.tally.players[0].wins) == 0
        fault = arena.record(1).outcome.fault
        assert fault is not None
        assert fault.player == 0

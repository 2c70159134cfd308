"""Compares the engine in WebAssembly, under node, with the same C compiled for this machine.

    python tools/engine_speed.py 1.5 1.2 1.0

Each searches the same position of a match for a million positions, several times in turn; both must
find the same. The processor times of one run are comparable however busy the machine is. This
needs gcc, node and a compiler for WebAssembly (docs/browser.md); docs/figures.md has the results.
"""

import base64
import ctypes
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from browser_engine import Machine

from locmsim.agents import make_agent
from locmsim.export import export_engine
from locmsim.game.match import Match
from locmsim.referee import play
from locmsim.web.engine import battle_data
from locmsim.web.positions import played_turns

NODES = 1_000_000
TURNS = 8
ROUNDS = 6
TICKS = 100  # of /proc, a second


def native(rules: str, folder: Path, battle: dict[str, Any], path: list[str]) -> Callable[[], str]:
    """Return a function that searches in the compiled library."""
    source, library = folder / "engine.c", folder / "engine.so"
    source.write_text(export_engine(rules).text, encoding="utf-8")
    command = ["gcc", "-std=c17", "-O2", "-shared", "-fPIC", source, "-o", library, "-lm"]
    subprocess.run(command, check=True)
    engine = ctypes.CDLL(str(library))
    engine.locm_engine_text.restype = ctypes.c_void_p
    text = engine.locm_engine_text()

    def write(content: bytes) -> int:
        ctypes.memmove(text, content, len(content))
        return len(content)

    engine.locm_engine_start()
    for player in range(2):
        for offer in battle["choices"][player]:
            engine.locm_engine_read(player, write(offer.encode()))
            engine.locm_engine_choose(player)
        engine.locm_engine_took(player, write(" ".join(map(str, battle["taken"][player])).encode()))
    engine.locm_engine_place(write(base64.b64decode(battle["start"])))
    engine.locm_engine_show()
    for action in path:
        engine.locm_engine_do(write(action.encode()))
        if action == "PASS":
            engine.locm_engine_show()
    search = engine.locm_engine_search
    whole, real = ctypes.c_uint32, ctypes.c_double
    search.argtypes = [ctypes.c_int, whole, whole, real, real, ctypes.c_int]

    def find() -> str:
        size = search(TURNS % 2, 1, 0, 0.0, float(NODES), 0)
        return ctypes.string_at(text, size).decode()

    return find


def measure(rules: str) -> None:
    agents = [make_agent("beam:time_ms=0,nodes=500") for _ in range(2)]
    result = play(agents, Match(rules, seed=2), timeout_scale=0)
    path: list[str] = []
    for _, _, applied in list(played_turns(result))[:TURNS]:
        path += [*applied, "PASS"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        find = native(rules, folder, battle_data(result), path)
        with Machine(result, folder) as machine:
            spent = Path(f"/proc/{machine.process.pid}/stat")

            def ticks() -> float:
                return sum(map(int, spent.read_text().split()[13:15])) / TICKS

            for _ in range(ROUNDS):
                start = time.process_time()
                ours = json.loads(find())
                here = time.process_time() - start
                start = ticks()
                found = machine.ask("find", path=path, seed=1, most=NODES, plans=0)
                there = ticks() - start
                assert (found["line"], found["nodes"]) == (ours["line"], ours["nodes"])
                rate = found["nodes"] / there / 1e6
                print(f"{rules}: {rate:.1f} M positions/s, {here / there:.2f} of native")


if __name__ == "__main__":
    for one in sys.argv[1:]:
        measure(one)

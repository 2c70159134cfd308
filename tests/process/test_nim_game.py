"""Tests of examples/nim-game, installed as a package and played by all commands that play games."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from built_examples import EXAMPLES, install
from helpers import LOCMSIM, locmsim

GAME = "nim:heaps=5"
SPRT = ["--sprt", "0", "100", "--games", "400"]

#: Runs in its own process, because the cluster leaves threads and sockets open.
CLUSTER = """
    import sys
    from distributed import LocalCluster
    from helpers import main

    if __name__ == "__main__":
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            words = ["arena", "--game", "nim", "perfect", "random", "--games", "20", "--seed", "3"]
            main([*words, "--db", sys.argv[1], "--dask", cluster.scheduler_address])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example; return the folder of the installation."""
    target = tmp_path_factory.mktemp("nim") / "site"
    install("nim-game", target, compiled=False)
    return target


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Callable[..., str]:
    def run(*words: object, program: list[str] = LOCMSIM, code: int = 0) -> str:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}
        command = [*program, *map(str, words)]
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    return run


def test_it_is_small() -> None:
    files = ("nimgame.py", "pyproject.toml")
    lines = [line for f in files for line in (EXAMPLES / "nim-game" / f).read_text().splitlines()]
    assert len(lines) <= 210


@pytest.mark.slow
def test_arena_and_tables(run, tmp_path: Path) -> None:
    db = tmp_path / "nim.db"
    words = ["--games", 20, "--seed", 1, "--jobs", 2, "--db", db]
    out = run("arena", "--game", GAME, "perfect", "weak=perfect:mistakes=0.9", "random", *words)
    assert out.startswith("60 games of Nim, mirrored pairs, seed 1, ")
    assert " moves a game" in out
    header = next(line for line in out.splitlines() if line.startswith("player "))
    assert "ms/move" in header
    assert "score" not in header.split()
    rows = [line.split()[:3] for line in out.splitlines() if line.startswith(("perfect ", "ran"))]
    assert int(rows[0][2]) > int(rows[1][2])
    assert "moves" in run("arena", "show", db, "--player", "random")
    data = json.loads(run("arena", "show", db, "--json"))
    assert data["settings"]["game"] == {"game": "nim", "heaps": 5, "most": 9}
    assert len(run("arena", "show", db, "--csv", "-").splitlines()) == 61
    # Where the package is not installed, the file's error message says so.
    (line,) = locmsim("arena", "show", db, code=1).stderr.splitlines()
    assert "results of a game called 'nim': unknown game 'nim'" in line


@pytest.mark.slow
def test_sequential_test(run) -> None:
    out = run("arena", "--game", "nim", "perfect", "random", *SPRT, "--jobs", 1)
    assert "perfect is at least 100 Elo better than random: accepted" in out


@pytest.mark.slow
def test_cluster(run, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    script, db = tmp_path / "script.py", tmp_path / "cluster.db"
    script.write_text(textwrap.dedent(CLUSTER))
    assert run(script, db, program=[sys.executable]).startswith("20 games of Nim")
    assert "20 games of Nim" in run("arena", "show", db)


@pytest.mark.slow
def test_one_match_and_programs(run, tmp_path: Path) -> None:
    bot = tmp_path / "first.py"
    bot.write_text(
        "while True:\n"
        "    heaps = [*map(int, input().split())]\n"
        "    heap = next(i for i, size in enumerate(heaps) if size)\n"
        "    print(heap, heaps[heap], flush=True)\n"
    )
    program = f"{sys.executable} {bot}"
    words = ["play", "--game", "nim:heaps=4,most=1", program, "random", "--text", "-seed", 2]
    patient = ["--timeout-scale", 0]
    lines = run(*words, *patient).splitlines()
    assert lines[:3] == ["0", "1", "seed=2"]
    assert lines[3].removesuffix(", late") == "move 0, player 0: 0 1"
    assert lines[-1] == "player 1 (random) wins"
    bot.write_text("input()\nprint('9 9', flush=True)\ninput()\n")  # there is no such heap
    fault = run("play", "--game", "nim", program, "perfect", "--json", *patient)
    assert json.loads(fault)["fault"]["kind"] == "malformed answer"
    db = tmp_path / "two.db"
    run("arena", "--game", "nim", "perfect", "random", "--games", 2, "--db", db, "--seed", 1)
    seat = json.loads(run("play", "-r", f"{db}:1", "--json"))["ranks"].index(0)
    asked = run("ask", "perfect", f"{db}:1", "--turn", 2 + seat, "--json")
    assert set(json.loads(asked)) >= {"old", "new", "same"}
    again = run("replay", f"{db}:1", code=1)
    assert again.endswith("Nim has no replay\n")


@pytest.mark.slow
def test_log_of_a_club(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs that other tools of the game write are on the pages, also while they grow."""
    from web_client import Library

    monkeypatch.syspath_prepend(str(site))
    log = tmp_path / "club.jsonl"
    first = [{"nim": [1, 2], "players": ["ann", "bob"]}, {"move": "0 1"}, {"move": "1 2"}]
    second = [{"nim": [3], "players": ["bob", "carl"]}, {"move": "0 1"}]
    lines = [json.dumps(event) + "\n" for event in (*first, *second, {"move": "0 2"})]
    log.write_text("".join(lines[:-1]) + lines[-1][:5])  # the last line is being written
    library = Library([str(log)])
    running, over = library.matches()["matches"]
    assert [over[key] for key in ("game", "names", "winner", "turns")] == [
        "Nim", ["ann", "bob"], 1, 2,
    ]  # fmt: skip
    assert [running[key] for key in ("names", "winner", "turns")] == [["bob", "carl"], None, 1]
    shown = library.any_match(over["key"])
    assert (shown["title"], shown["turn"], shown["running"]) == ("Nim", "move", False)
    assert [step["answer"] for step in shown["steps"]] == [None, "0 1", "1 2"]
    assert [step["text"] for step in shown["steps"]] == ["1 2\n", "0 2\n", "0 0\n"]
    assert library.any_match(running["key"])["running"]
    log.write_text("".join(lines))
    assert library.matches()["matches"][0]["winner"] == 1
    shown = library.any_match(running["key"])
    assert (len(shown["steps"]), shown["running"]) == (3, False)
    library.close()


@pytest.mark.slow
def test_table_of_the_page(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from web_client import Client

    from locmsim.arena import Arena

    monkeypatch.syspath_prepend(str(site))
    db = str(tmp_path / "nim.db")
    with Arena(db, ["perfect", "random"], game=GAME, games=6, seed=2) as arena:
        arena.run(jobs=1)
        expected = json.loads(json.dumps(arena.to_json()))
    del expected["faults"]
    page = Client((), [db])
    found = page.get("/api/arena/results")
    assert found["results"] == expected
    assert [found[key] for key in ("title", "turn", "scored", "watched")] == [
        "Nim", "move", False, False,
    ]  # fmt: skip
    shown = page.get("/api/match", match="d0:1")
    assert (shown["title"], shown["turn"]) == ("Nim", "move")
    assert all(step["image"].startswith("data:image/svg+xml;base64,") for step in shown["steps"])
    assert shown["steps"][-1]["text"] == "0 0 0 0 0\n"

"""What is published repeats: the same command plays the same games, and files say how."""

import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from amounts import slow_after
from helpers import change, main, output_of, played, raises, run_on, tournament
from players import Moody

from locmsim.arena import Arena, Difference, StoreError

#: Small rows of the tables of docs/figures.md: players, and further options.
ROWS = [
    ("beam:nodes=60,time_ms=0 greedy --seeds 10000000..10000001", "1.5"),
    ("beam:nodes=60,time_ms=0,belief=any rule --seeds 10521000..10521001", "1.5"),
    ("search:simulations=4 learned --seeds 10000000..10000000", "1.5"),
    ("mcts:iterations=8,time_ms=0 greedy --seeds 10000000..10000001", "1.2"),
    ("mcts:iterations=8,time_ms=0 rule --seeds 10000000..10000001", "1.0"),
    ("random max-attack osl --mode gauntlet --seeds 10000000..10000003 --pairs-per-set 2", "1.5"),
]


@pytest.mark.parametrize(("row", "rules"), slow_after(1, ROWS))
def test_rows_of_tables_repeat(row: str, rules: str, tmp_path: Path) -> None:
    """No seed but those of the command is needed, whatever the process has drawn before."""
    found = []
    for name in ("one.db", "two.db"):
        db = tmp_path / name
        words = [*row.split(), "--rules", rules, "--timeout-scale", "0", "--jobs", "1"]
        assert main(["arena", *words, "--db", str(db)]) == 0
        with Arena.load(db) as arena:
            found.append(played(arena))
    assert found[0] == found[1]
    assert found[0]


def test_a_game_of_an_arena_is_that_of_play(tmp_path: Path) -> None:
    """The seed of a match, and its players, are all that `locmsim play` needs."""
    with tournament(None, ["random", "greedy"], seeds=[77], timeout_scale=0) as arena:
        expected = [answer.line for answer in arena.record(1).answers if answer.seat == 0]
    log = tmp_path / "match.json"
    words = ["-p1", "random", "-p2", "greedy", "-d", "seed=77", "-l", str(log)]
    assert main([*words, "--timeout-scale", "0"]) == 0
    outputs = json.loads(log.read_text())["outputs"]["0"]
    assert [text.removesuffix("\n") for text in outputs if text] == expected


def test_seed_and_seeds_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="seed: does not apply with seeds"):
        Arena(None, ["random", "greedy"], seed=1, seeds=[1, 2])


def test_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(monkeypatch, ThreadPoolExecutor(1), 1)
    db = tmp_path / "results.db"
    with tournament(db, ["greedy", Moody], games=4, seed=3, timeout_scale=0) as arena:
        before = played(arena)
    with Arena.load(db) as arena:
        assert arena.verify(jobs=1) == []
        monkeypatch.setenv("MOOD", "1")
        found = arena.verify(jobs=1)
        assert [one.number for one in found] == [1, 2, 3, 4]
        assert {one.player for one in found} == {"Moody"}
        again = arena.verify([2, 3], jobs=1)
        assert [one.number for one in again] == [2, 3]
        raises(StoreError, "has no game 5", arena.verify, [5], jobs=1)
        assert played(arena) == before


def test_first_difference(tmp_path: Path) -> None:
    """It names the turn, the player and both answers."""
    db = tmp_path / "results.db"
    with tournament(db, ["greedy", "random"], games=2, seed=3, timeout_scale=0) as arena:
        record = arena.record(1)
        place = len(record.answers) - 1
        seat, line, *_ = record.answers[place]
        changed = [list(answer[:3]) for answer in record.answers]
        changed[place][1] = "PASS"
    packed = zlib.compress(json.dumps(changed).encode())
    change(db, "UPDATE games SET answers = ? WHERE game = 1", [packed])
    with Arena.load(db) as arena:
        turns = record.outcome.turns
        name = arena.settings.players[record.outcome.players[seat]].name
        assert arena.verify(jobs=1) == [Difference(1, name, turns - 1, "PASS", line)]


@pytest.mark.slow
def test_verify_from_the_command_line(tmp_path: Path) -> None:
    db = str(tmp_path / "results.db")
    agent = tmp_path / "mine.py"
    agent.write_text("from locmsim.agents import RandomAgent\n\n\nclass Mine(RandomAgent): ...\n")
    words = [f"{agent}:Mine", "greedy", "--seeds", "1..4", "--timeout-scale", "0", "--jobs", "1"]
    output_of("arena", *words, "--db", db)
    verify = ["arena", "--jobs", "1", "--verify", db]
    assert output_of(*verify, "1..2", "5").out == "3 games played again: all came out the same\n"
    # Of another size: Python compiles a file of the same size again after a second only.
    agent.write_text("from locmsim.agents import GreedyAgent\n\nclass Mine(GreedyAgent): ...\n")
    assert "mine.py has changed since game 1 (of " in output_of(*verify, code=1).err
    out = output_of(*verify, "--force", code=1).out
    assert out.startswith("game 1: in the choice phase ")
    assert out.endswith("8 games played again: 8 came out differently\n")
    assert json.loads(output_of(*verify, "1", "--force", "--json", code=1).out)["games"] == 1

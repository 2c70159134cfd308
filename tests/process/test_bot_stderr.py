"""What bots write to their standard errors: kept with its turn, and harmless to terminals."""

import shlex
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import BOT, Child, main, output_of

from locmsim import Match
from locmsim.agents import RandomAgent
from locmsim.arena import Arena
from locmsim.referee import Result, play

BOTS = Path(__file__).parents[1] / "bots"
GOOD = shlex.join(BOT)
Script = Callable[[str], str]


TALK = """
    print(f"question {n}", file=sys.stderr, flush=True)
    bot.write(b"PASS\\n")
    print(f"after {n}", file=sys.stderr, flush=True)
"""


def test_by_turn(script: Script) -> None:
    """What comes after an answer belongs to it, until the next question."""
    result = play([script(TALK), GOOD], Match(seed=1), timeout_scale=0)
    mine = [call.stderr for call in result.calls if call.player == 0]
    assert len(mine) > 10
    both = [f"question {number}\nafter {number}\n" for number in range(len(mine))]
    assert "".join(both).startswith("".join(mine))  # the bot may be killed before the last line
    for number, text in enumerate(mine):
        # On a busy machine, the next question may be asked before the bot writes the rest.
        assert text.removeprefix(f"after {number - 1}\n").startswith(f"question {number}\n")
    assert {*mine} & {*both}
    assert {call.stderr for call in result.calls if call.player == 1} == {""}


def test_much_is_kept_by_its_ends(script: Script) -> None:
    """Of a turn the first and last lines are kept, and of a match a bounded amount."""
    flood = """
    sys.stderr.write(f"first {n}\\n" + "".join(f"line {i} of many\\n" for i in range(6_000)))
    sys.stderr.write(f"last {n}\\n")
    sys.stderr.flush()
    bot.write(b"PASS\\n")
"""
    result = play([script(flood), GOOD], Match(seed=1), timeout_scale=0)
    mine = [call.stderr for call in result.calls if call.player == 0]
    for number, text in enumerate(mine[:8]):
        lines = text.splitlines()
        assert (lines[0], lines[-1]) == (f"first {number}", f"last {number}")
        (note,) = (line for line in lines if line.startswith("["))
        dropped = int(note.split()[0].removeprefix("["))
        whole = len(f"first {number}\nlast {number}\n")
        whole += sum(len(f"line {i} of many\n") for i in range(6_000))
        assert dropped + len(text) - len(note) - 1 == whole
        assert len(text) < 3 << 14
    assert sum(map(len, mine)) < (1 << 19) + 100 * len(mine)
    assert result.stderr[0].endswith(f"last {len(mine) - 1}\n")


def failed(result: Result[Match]) -> str:
    assert result.fault is not None
    assert result.fault.player == 0
    return result.fault.message


def test_unflushed_answers(
    script: Script, monkeypatch: pytest.MonkeyPatch, set_clock: Callable[..., None]
) -> None:
    """An answer that stayed in the bot's buffer is told from one that never came.

    From the end of its input on time passes slowly: a busy machine makes no answer too late.
    """
    slow: list[float] = []

    def closed(child: Child) -> None:
        close_input(child)
        slow.append(time.monotonic())

    def monotonic() -> float:
        now = time.monotonic()
        return slow[0] + (now - slow[0]) / 100 if slow else now

    close_input = Child.close_input
    monkeypatch.setattr(Child, "close_input", closed)
    set_clock("locmsim.referee.process", monotonic=monotonic)
    unflushed = """
    print("PASS", flush=n < 2)
"""
    result = play([script(unflushed), GOOD], Match(seed=1))
    message = (
        "no answer within 200 ms; 'PASS\\n' came when its input ended: did it flush its output?"
    )
    assert failed(result) == message
    late = """
    import time
    time.sleep(0.5 * (n == 2))
    bot.write(b"PASS\\n")
"""
    result = play([script(late), GOOD], Match(seed=1))
    assert failed(result) == "no answer within 200 ms; 'PASS\\n' came later"


@pytest.fixture
def db(tmp_path: Path, script: Script) -> str:
    """Results of a bot that talks, uses the codes of terminals, and fails in its fourth answer."""
    bad = """
    print(f"turn {n}\\033[2J\\a", file=sys.stderr, flush=True)
    if n == 3:
        raise RuntimeError("nothing left")
    bot.write(b"SUMMON 999 0\\n" if n else b"PASS\\n")
"""
    path = str(tmp_path / "results.db")
    players = [f"bad={script(bad)}", f"good={GOOD}"]
    with Arena(path, players, games=4, seed=1, timeout_scale=0) as arena:
        arena.run(jobs=1)
    return path


def test_arena_keeps_and_shows_it(db: str) -> None:
    with Arena.load(db) as arena:
        said = [answer.stderr for answer in arena.record(1).answers if answer.seat == 0]
        assert said[:3] == [f"turn {n}\033[2J\a\n" for n in range(3)]
        assert [call.stderr for call in arena.replay(1).calls if call.player == 0] == said
        table = arena.table()
        # Of the first fault: its turn, and the last line of the traceback.
        assert "faults of bad: 4 crashed\n    first in game 1, turn 4: its process exited" in table
        assert "with code 1 (RuntimeError: nothing left)\n" in table
        # Two turns of each game were illegal before the third one crashed.
        assert "illegal actions of bad: 8 not in hand\n" in table
        assert arena.to_json()["players"][0]["illegal"] == {"not in hand": 8}
    shown = output_of("arena", "show", db, "--stderr", "1").out
    assert shown.startswith("choice phase, player 0 (bad):\n    | turn 0\\x1b[2J\\x07\n")
    assert "turn 2, player 0 (bad):\n    | turn 2\\x1b[2J\\x07\n" in shown
    assert shown.endswith("    | RuntimeError: nothing left\nplayer 1 (good): nothing\n")
    table = output_of("arena", "show", db)
    replay = output_of("play", "--replay", f"{db}:1", "--text", "--stderr")
    asked = output_of("ask", GOOD, f"{db}:1", "--turn", "2")
    assert not set("".join(table + replay + asked)) & {"\033", "\a"}
    assert "    not legal: SUMMON 999 0 (not in hand)\n    | turn 1\\x1b[2J\\x07\n" in replay.out
    assert "standard error then:\n    turn 2\\x1b[2J\\x07\n" in asked.out


def test_logs_have_it(db: str, tmp_path: Path) -> None:
    log = str(tmp_path / "match.json")
    first = output_of("play", "--replay", f"{db}:1", "-l", log, "--stderr").out
    assert output_of("play", "--replay", log, "--stderr").out == first
    assert "turn 1\\x1b[2J" in first


def test_illegal_actions_after_play(script: Script, capfd: pytest.CaptureFixture[str]) -> None:
    """The first one is named, with its turn, where no tool reads the output."""
    command = script('    bot.write(b"SUMMON 999 0\\n" if n else b"PASS\\n")\n')
    assert main(["play", command, GOOD, "-d", "seed=1", "--timeout-scale", "0"]) == 0
    out, err = capfd.readouterr()
    assert "illegal actions, first in turn 0: SUMMON 999 0 (not in hand)\n" in err
    assert err.startswith("locmsim play: player 0 played ")
    assert "illegal" not in out
    assert main(["play", "-p1", command, "-p2", GOOD, "-d", "seed=1", "--timeout-scale", "0"]) == 0
    assert capfd.readouterr() == (out, "")


def test_players_without_errors_take_no_room(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Arena(path, ["greedy", RandomAgent], games=2, seed=1, timeout_scale=0) as arena:
        arena.run(jobs=1)
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT words, illegal0, illegal1 FROM games").fetchall()
    connection.close()
    assert rows == [(None, None, None)] * 2

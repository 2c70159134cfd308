"""Tests of the command ``locmsim arena``, called as users call it."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import LOCMSIM, Output, output_of

from locmsim.arena import Arena

PLAYERS = ["new=greedy", "old=random"]


@pytest.fixture
def db(tmp_path: Path) -> str:
    return str(tmp_path / "results.db")


def arena(*arguments: str, code: int = 0) -> Output:
    return output_of("arena", *arguments, code=code)


def test_table(db: str) -> None:
    out, err = arena(*PLAYERS, "--games", "6", "--seed", "3", "--db", db, "--jobs", "1")
    assert err == "locmsim arena: 6 games to play\n"
    with Arena.load(db) as loaded:
        assert out == loaded.table()
        assert loaded.tally.games == 6
    # The word may be repeated, and the same command resumes the tournament.
    shown = arena("run", *PLAYERS, "--games", "6", "--seed", "3", "--db", db, "--jobs", "1").out
    assert shown == out
    data = json.loads(arena("--db", db, "--json").out)
    assert data["games"] == data["goal"] == 6
    assert [player["name"] for player in data["players"]] == ["new", "old"]
    assert json.loads(arena("show", db, "--json").out) == data


def test_settings(db: str) -> None:
    options = (
        "--rules 1.5 --ids old --mode gauntlet --seeds 5,7..8 --no-mirror --pairs-per-set 2"
        " --timeout-scale 3 --match-limit 60 --lenient --games 2 --jobs 1"
    )
    arena(*PLAYERS, *options.split(), "--db", db)
    with Arena.load(db) as loaded:
        settings = loaded.settings
    assert (settings.game.rules, settings.game.ids, settings.mode) == ("1.5", "old", "gauntlet")
    assert ([*settings.seeds], settings.mirror, settings.pairs_per_set) == ([5, 7, 8], False, 2)
    assert (settings.timeout_scale, settings.match_limit, settings.lenient) == (3, 60, True)
    # The file alone determines how the tournament is resumed, and how far.
    out = arena("--db", db, "--games", "3", "--jobs", "1").out
    assert out.startswith("3 games of rules 1.5, single games, given seeds")


@pytest.mark.slow
def test_sprt(db: str) -> None:
    options = ["--games", "400", "--seed", "3", "--db", db, "--jobs", "1"]
    out = arena(*PLAYERS, *options, "--sprt", "0", "60", "--alpha", "0.1").out
    assert "new is at least 60 Elo better than old: accepted after" in out
    assert "bounds -2.89 and 2.25)" in out
    assert out.splitlines()[-1] in arena("show", db).out
    # It is decided: the same command says why it plays nothing, and what would.
    again = arena("--db", db)
    assert again.out == out
    assert again.err == (
        "locmsim arena: nothing to play: its sequential test has decided; --no-sprt plays all"
        " games, --sprt ELO0 ELO1 sets another test\n"
    )
    # Another player may be the one that is judged.
    printed = arena("--db", db, "--sprt", "0", "60", "--sprt-of", "old", "--jobs", "1").out
    assert "old is not better than new: accepted after" in printed
    with Arena.load(db) as loaded:
        games = loaded.tally.games
    shown = arena("--db", db, "--no-sprt", "--games", str(games + 2 + games % 2), "--jobs", "1").out
    assert shown.startswith(f"{games + 2 + games % 2} games of rules 1.5")
    assert "SPRT" not in shown


def test_show_and_replay(db: str, tmp_path: Path) -> None:
    table = arena(*PLAYERS, "--games", "6", "--seed", "3", "--db", db, "--jobs", "1").out
    out = arena("show", db, "--player", "old").out
    assert out.startswith(
        table + f"\nlost by old\n(locmsim replay {db}:GAME -o game.html makes a page of one):\n"
    )
    rows = [line.split() for line in out.splitlines()[out.splitlines().index("") :]]
    with Arena.load(db) as loaded:
        expected = loaded.lost_table("old", 80)
        record = loaded.record(2)
        params = loaded.replay(2).match.params
    assert expected in out
    assert rows
    assert "lost by new" not in arena("show", db).out or "0" in table
    # Replay one of the games, as text and as a log.
    log = tmp_path / "game.json"
    shown = output_of("play", "--replay", f"{db}:2", "-l", str(log)).out.splitlines()
    assert shown[:2] == [str(score) for score in record.outcome.scores]
    assert shown[2:] == [f"{key}={value}" for key, value in params.items()]
    data = json.loads(log.read_text())
    assert [data["scores"]["0"], data["scores"]["1"]] == list(record.outcome.scores)
    outputs = [
        [text.removesuffix("\n") for text in data["outputs"][seat] if text] for seat in ("0", "1")
    ]
    assert outputs == [
        [answer.line for answer in record.answers if answer.seat == seat] for seat in (0, 1)
    ]
    # Write all games to a file with one row per game, and to the standard output.
    table = tmp_path / "games.csv"
    assert arena("show", db, "--csv", str(table)).out == ""
    assert len(table.read_text().splitlines()) == 7
    assert arena("show", db, "--csv", "/dev/stdout").out == table.read_text()
    # The log replays to the same match.
    assert output_of("-r", str(log)).out.splitlines() == shown


def test_other_results(db: str) -> None:
    arena(*PLAYERS, "--games", "2", "--seed", "3", "--db", db, "--jobs", "1")
    before = Path(db).read_bytes()
    err = arena(*PLAYERS, "--seed", "4", "--db", db, code=1).err
    assert "results of another tournament: seed: 3, now 4" in err
    assert Path(db).read_bytes() == before
    assert "no player is called 'fred'" in arena("show", db, "--player", "fred", code=2).err
    assert output_of("play", "-r", f"{db}:3", code=1).err.endswith("has no game 3\n")
    assert "no such file" in output_of("play", "-r", "nowhere.db:3", code=1).err


def on_terminal(*arguments: str) -> str:
    """Run ``locmsim arena`` with a terminal as standard error; return what the terminal shows."""
    terminal, error = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 40, 150, 0, 0))
    command = [*LOCMSIM, "arena", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=error) as process:
        os.close(error)
        text = b""
        try:
            while chunk := os.read(terminal, 4096):
                text += chunk
        except OSError:  # on Linux, reading at the end of a terminal is an error
            pass
    os.close(terminal)
    assert process.returncode == 0
    return text.decode()


@pytest.mark.slow
def test_progress(db: str) -> None:
    shown = on_terminal(*PLAYERS, "--games", "60", "--seed", "3", "--db", db, "--jobs", "1")
    last = shown.replace("\n", "\r").strip("\r").split("\r")[-1]
    assert "60/60" in last
    assert "game/s" in last
    assert "new " in last
    assert "[" in last.split("game/s")[1]


def test_without_the_cluster_extra(db: str, missing: Callable[..., None]) -> None:
    missing("distributed")
    for words in (["arena", *PLAYERS, "--db", db], ["tune", "--rules", "1.2", "--output", db]):
        err = output_of(*words, "--dask", "tcp://127.0.0.1:1", code=1).err
        assert "locmsim[cluster]" in err


def test_results_in_a_file_of_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arena("random", "a=random", "--games", "2", "--db", ":memory:", "--jobs", "1")
    arena("--db", ":memory:", "--games", "4", "--jobs", "1")
    assert "4 games of" in arena("show", ":memory:").out


def test_ratings_beside_an_anchor_have_no_sign(db: str) -> None:
    assert " Elo" in arena("random", "a=random", "--games", "2", "--db", db, "--jobs", "1").out
    out = arena("--db", db, "--games", "2", "--jobs", "1", "--anchor", "random=1000").out
    assert " 1000 ± 0 " in out


# ----------------------------------------------------------------------------------- faults

FAILING = "bad=/bin/sh -c 'echo no idea what to do >&2; exit 4'"


def test_a_fault_of_an_agent_is_said_once(tmp_path: Path, db: str) -> None:
    """The last line of a traceback is not repeated after the message that has the same words."""
    (tmp_path / "bad.py").write_text(
        "from locmsim.agents import RandomAgent\n"
        "class Bad(RandomAgent):\n"
        "    def act(self, observation):\n"
        "        return {}['plan']\n"
    )
    words = [f"bad={tmp_path}/bad.py:Bad", "random", "--games", "2", "--jobs", "1"]
    assert ": raised KeyError: 'plan'\n" in arena(*words, "--db", db, "--timeout-scale", "0").out
    out = arena("show", db).out
    assert "bad crashed: raised KeyError: 'plan'" in out
    assert "return {}['plan']" in out


def test_faults_are_shown(db: str) -> None:
    """The last lines of a failing program's standard error are shown with the tables and alone."""
    arena("random", FAILING, "--games", "4", "--db", db, "--jobs", "1", "--timeout-scale", "25")
    out = arena("show", db).out
    assert "game 1, bad crashed: its process exited with code 4\n    no idea what to do\n" in out
    at = "    first in game 1, the choice phase: its process exited with code 4"
    assert f"faults of bad: 4 crashed\n{at} (no idea what to do)\n" in out
    assert arena("show", db, "--stderr", "2").out == (
        "choice phase, player 0 (bad):\n    | no idea what to do\nplayer 1 (random): nothing\n"
    )
    faults = json.loads(arena("show", db, "--json").out)["faults"]
    assert [fault["game"] for fault in faults] == [1, 2, 3, 4]
    assert faults[1] == {
        "game": 2, "player": "bad", "seat": 0, "kind": "crashed",
        "message": "its process exited with code 4", "stderr": "no idea what to do\n",
    }  # fmt: skip
    assert "    no idea what to do\n" in output_of("play", "-r", f"{db}:1", "--text").out


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 4])
def test_tables_fit(players: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the output is not a terminal, tables have at most 80 columns even with long names."""
    monkeypatch.chdir(tmp_path)
    db = "r.db"
    names = [f"a-player-with-a-rather-long-name-{i}=random" for i in range(players)]
    arena(*names, "--games", "2", "--db", db, "--jobs", "1", "--timeout-scale", "0")
    out = arena("show", db).out
    for name in names:
        assert name.partition("=")[0] in out
    assert any("Elo" in line and "faults" in line for line in out.splitlines())
    with Arena.load(db) as loaded:
        assert out.startswith(loaded.table())
        narrow = loaded.table(80)
    assert max(map(len, narrow.splitlines())) <= 80
    assert "faults" in narrow
    assert "Elo" in narrow


def test_default_files_do_not_collide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arenas started within the same second write to different files."""
    monkeypatch.chdir(tmp_path)
    words = ["random", "greedy", "--games", "2", "--jobs", "1", "--timeout-scale", "0"]
    out = arena(*words).out
    (path,) = tmp_path.glob("arena-*.db")
    assert out.splitlines()[-1] == f"results: {path.name}"
    path.unlink()
    monkeypatch.setattr("time.strftime", lambda form: "arena-then")
    printed = "".join(arena(*words).out for _ in range(3))
    assert sorted(os.listdir()) == ["arena-then-2.db", "arena-then-3.db", "arena-then.db"]
    assert all(f"results: {name}\n" in printed for name in os.listdir())


def test_what_is_there_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails: an empty file stays, and a new one without games does not."""
    monkeypatch.chdir(tmp_path)
    Path("mine").touch()
    for db in (["--db", "mine"], ["--db", "new"], []):
        for wrong in (["greedy", "rule:x=1"], ["greedy", "random", "--games", "5"]):
            arena(*wrong, *db, code=2)
    assert os.listdir() == ["mine"]
    err = arena("greedy", "random", "--db", "/dev/null", code=1).err
    assert "/dev/null: a device or a pipe, not a file of results" in err
    assert Path("/dev/null").exists()


def test_folder_as_file(tmp_path: Path) -> None:
    line = f"locmsim arena{{}}: {tmp_path}: a folder, not a file of results\n"
    assert arena("random", "greedy", "--db", str(tmp_path), code=1).err == line.format("")
    assert arena("show", str(tmp_path), code=1).err == line.format(" show")


@pytest.mark.slow
def test_verbose(db: str) -> None:
    """Only with -v does the command print log messages."""
    untimed = ["--jobs", "2", "--timeout-scale", "0"]  # time limits need two cores
    command = [*LOCMSIM, "arena", *PLAYERS, "--games", "2", "--db", db, *untimed]
    done = subprocess.run([*command, "-v"], capture_output=True, text=True, timeout=60)
    assert "locmsim.processes.workers: 2 jobs on the cores " in done.stderr
    assert "locmsim.arena.store" in done.stderr
    done = subprocess.run([*command, "--games", "4"], capture_output=True, text=True, timeout=60)
    assert done.stderr == "locmsim arena: 2 games to play\n"

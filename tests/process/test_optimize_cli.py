"""The command that tunes a bot: programs, resuming, what it prints and what it refuses."""

import json
import re
import shlex
import signal
import sys
from pathlib import Path

import pytest
from helpers import Output, locmsim, main, output_of, started

from locmsim.arena import Arena
from locmsim.tuning import Optimization
from locmsim.tuning.optimization import Proof

# A program that plays one card or none: what it needs of the protocol is when a turn begins.
BOT = """
import os, sys
sys.argv, skill = ["bot"], float(sys.argv[1])
from locmsim.bot import main
if skill < 0.5:
    class Passing:
        def write(self, text): os.write(1, b"PASS\\n" * text.count("\\n")); return len(text)
        def flush(self): pass
    sys.stdout = Passing()
main(["--agent", "random"])
"""


def command(folder: Path, *words: str) -> list[str]:
    (folder / "bot.py").write_text(BOT)
    bot = f"{shlex.quote(sys.executable)} bot.py {{skill=0.4:0..1:step=0.2}}"
    return ["optimize", bot, "--games", "40", "--timeout-scale", "0", "--jobs", "2", *words]


@pytest.mark.slow
def test_a_program_is_tuned_and_resumed(tmp_path: Path) -> None:
    words = command(tmp_path, "--state", "state", "--plot", "tuned.svg", "--proof-games", "8")
    with started(*words, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert " of 40 games: skill=" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=120)[1]
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in errors
    assert re.search(r"stopped after \d+ games; the same command resumes", errors)
    shown = locmsim(*words, cwd=tmp_path).stdout
    assert re.search(r"^skill = [\d.]+$", shown, re.MULTILINE)
    assert re.search(r"(?m)^(better|probably better|not decided|nothing was gained): ", shown)
    assert (tmp_path / "tuned.svg").read_text().startswith("<svg ")


def test_the_bot_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tuning.md").read_text()
    (code,) = re.findall(r"^```python\n(from dataclasses.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (line,) = re.findall(
        r"^(locmsim optimize \"mybot.py:Mine:attack=\{attack=1.*)$", page, re.MULTILINE
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mybot.py").write_text(code)
    words = [*shlex.split(line)[1:], "--games", "20", "--jobs", "1", "--proof-games", "0"]
    assert "attack = " in output_of(*words).out


@pytest.fixture
def no_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tuning end before its first game."""
    monkeypatch.setattr(Optimization, "run", lambda *_, **__: iter(()))


@pytest.mark.parametrize(
    ("better", "score", "said"),
    [
        (True, (0.55, 0.65), "better: the tuned values win 55.0 to 65.0 % of 90 games against"),
        (None, (0.51, 0.65), "probably better: the tuned values win 51.0 to 65.0 % of 90 games; "),
        (None, (0.45, 0.65), "not decided: the tuned values win 45.0 to 65.0 % of 90 games; more"),
        (False, (0.51, 0.65), "nothing was gained: the tuned values win 51.0 to 65.0 % of 90"),
    ],
)
@pytest.mark.usefixtures("no_games")
def test_what_was_gained_is_said(
    better: bool | None,
    score: tuple[float, float],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proof = Proof(90, score, better, "the table")
    monkeypatch.setattr(Optimization, "prove", lambda *_, **__: proof)
    lines = output_of("optimize", "beam:nodes={nodes=9:int},time_ms=0").out.splitlines()
    assert lines[:2] == ["nodes = 9", "tuned: beam:nodes=9,time_ms=0"]
    assert "the table" in lines
    assert lines[-1].startswith(said)


@pytest.mark.usefixtures("no_games")
def test_the_tuned_file_of_a_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.json.in").write_text('{"depth": {depth=3:1..9:int}}\n')
    (tmp_path / "run").mkdir()
    (tmp_path / "bot").write_text("#!/bin/sh\n")
    (tmp_path / "bot").chmod(0o755)
    words = ["optimize", "./bot --settings {file}", "--template", "settings.json.in"]
    words += ["--proof-games", "0"]
    content = '{"depth": 3}\n'
    assert output_of(*words).out == f"depth = 3\nsettings.json:\n{content}"
    out = output_of(*words, "--state", "run").out
    assert (tmp_path / "run" / "tuned-settings.json").read_text() == content
    end = "tuned: './bot --settings run/tuned-settings.json'\n"
    assert out == f"depth = 3\n{end}"


def refused(*words: str) -> Output:
    return output_of(*words, code=2)


@pytest.mark.slow
def test_opponents_from_a_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name means a player of the file, and the file alone all who play."""
    monkeypatch.chdir(tmp_path)
    weights = tmp_path / "weights.json"
    weights.write_text(json.dumps({"1.5": {"own.health": 1.0}}))
    beam = "v3=beam:nodes=20,time_ms=0,weights=weights.json"
    players = ["v1=greedy", "v2=random", "old=osl", beam]
    with Arena("pool.db", players, games=2, seed=1, timeout_scale=0) as arena:
        arena.run(jobs=1)
    with Arena("pool.db") as arena:
        arena.retire(["old"])
    words = ["optimize", "beam:time_ms=0,nodes={nodes=20:10..40:int}", "--games", "20"]
    words += ["--jobs", "1", "--proof-games", "0", "--timeout-scale", "0"]
    left = [one.partition("=")[2] for one in players if "old" not in one]
    both = ["random", "osl"]
    for number, (given, expected) in enumerate(
        [(["pool.db:v2", "osl"], both), (["pool.db"], left)]
    ):
        state = tmp_path / f"state{number}"
        against = [word for one in given for word in ("--against", one)]
        assert main([*words, *against, "--state", str(state)]) == 0
        stored = json.loads((state / "run.json").read_text())
        assert stored["settings"]["against"] == given
        assert [one["spec"] for one in stored["opponents"]] == expected
    # A run has the opponents that it began with.
    with Arena("pool.db") as arena:
        arena.add(["v4=osl"], more=2)
    assert main([*words, *against, "--state", str(state)]) == 0
    Path("pool.db").rename("moved.db")
    assert main([*words, *against, "--state", str(state)]) == 0
    Path("moved.db").rename("pool.db")
    for given, rules, message in (
        ("pool.db:v9", "1.5", "--against: pool.db: no player is called 'v9'"),
        ("pool.db:v1", "1.2", "--against: pool.db: its games are of rules 1.5, not of rules 1.2"),
    ):
        assert message in refused(*words, "--against", given, "--rules", rules).err
    weights.write_text(json.dumps({"1.5": {"own.health": 2.0}}))
    error = refused(*words, "--against", "pool.db").err
    assert "pool.db: weights.json has changed since the games of 'v3'" in error


@pytest.mark.slow
def test_an_agent_is_tuned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    player = "beam:time_ms=0,nodes={nodes=20:10..40:int}"
    words = ["optimize", player, "--games", "20", "--jobs", "1", "--proof-games", "4"]
    out = output_of(*words, "--timeout-scale", "0", "--plot", "tuned.svg").out
    assert re.search(r"^nodes = \d+$", out, re.MULTILINE)
    assert re.search(r"^tuned: beam:time_ms=0,nodes=\d+$", out, re.MULTILINE)
    assert "games: nodes=" in out
    source = tmp_path / "notes.svg"
    source.write_text("mine")
    refused(*words, "--plot", "notes.svg")
    assert source.read_text() == "mine"

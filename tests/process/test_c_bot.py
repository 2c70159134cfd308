"""Tests of examples/c-bot, built with the exported header."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from exported_c import build
from helpers import each_rules_slowly, main

from locmsim import Match
from locmsim.referee import play

SOURCE = Path(__file__).parents[2] / "examples" / "c-bot" / "bot.c"
WEAK = f"{shlex.quote(sys.executable)} -m locmsim.bot --agent max-attack:draft=cheapest"


@pytest.fixture(scope="module")
def bot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c-bot")
    assert main(["export", "--kernel", "-o", str(folder / "locm.h")]) == 0
    return build(SOURCE, folder / "bot", "-O2", "-I", folder)


@pytest.mark.slow
@each_rules_slowly
def test_it_plays_a_match_without_a_fault(bot, rules):
    match = Match(rules, seed=3)
    play([str(bot), str(bot)], match, timeout_scale=0)
    assert match.error is None
    assert match.winner in (0, 1)
    again = Match(rules, params=match.params)
    ignored = []
    for player, line in match.log["answers"]:
        ignored += again.submit(player, line).ignored
    assert set(ignored) <= {"PASS"}


@pytest.mark.slow
def test_the_lines_for_cmake_build_it(tmp_path):
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("no CMake")
    page = (SOURCE.parents[2] / "docs" / "codingame.md").read_text()
    lines = page.split("```cmake\n")[1].split("```")[0]
    (tmp_path / "CMakeLists.txt").write_text(lines)
    shutil.copy(SOURCE, tmp_path)
    build = tmp_path / "build"
    python = f"-DPython3_EXECUTABLE={sys.executable}"
    for words in (["-S", tmp_path, "-B", build, python], ["--build", build]):
        done = subprocess.run([cmake, *words], capture_output=True, text=True)
        if "VERSION" in done.stderr and "or higher is required" in done.stderr:
            pytest.skip("an older CMake")
        assert done.returncode == 0, done.stdout + done.stderr
    assert play([str(build / "bot")] * 2, Match(seed=1), timeout_scale=0).fault is None


@pytest.mark.slow
def test_its_clock_ends_a_turn(tmp_path):
    """A bot that wants a million playouts per action still answers within its time limit."""
    assert main(["export", "--kernel", "-o", str(tmp_path / "locm.h")]) == 0
    bot = build(SOURCE, tmp_path / "bot", "-O2", "-I", tmp_path, "-DPLAYOUTS=1000000")
    match = Match("1.0", seed=3)
    play([str(bot), WEAK], match, timeout_scale=20)
    assert match.error is None
    assert match.winner in (0, 1)


@pytest.mark.slow
def test_it_beats_a_weak_bot(tmp_path):
    """With the same draft and time for all playouts: forty games, and a bound that it can miss."""
    assert main(["export", "--kernel", "-o", str(tmp_path / "locm.h")]) == 0
    bot = build(SOURCE, tmp_path / "bot", "-O2", "-I", tmp_path, "-DTURN_MS=60000")
    wins = 0
    for seed in range(20):
        for seat, players in enumerate([(str(bot), WEAK), (WEAK, str(bot))]):
            match = Match("1.0", seed=seed)
            play([*players], match, timeout_scale=0)
            assert match.error is None
            wins += match.winner == seat
    # A bot that wins 80 % of its games wins fewer of forty once in 700 times.
    assert wins >= 24

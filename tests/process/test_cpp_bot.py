"""Tests of examples/cpp-bot, built with an exported header of one rule set."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from exported_c import build
from helpers import each_rules, main

from locmsim import Match
from locmsim.cli.new import KINDS
from locmsim.referee import play

SOURCE = Path(__file__).parents[2] / "examples" / "cpp-bot" / "bot.cpp"
GREEDY = f"{shlex.quote(sys.executable)} -m locmsim.bot --agent greedy"
PARTS = "deck,draft,belief,evaluation"


def header(folder, rules):
    target = folder / "locm.h"
    words = ["export", "--kernel", "--rules", rules, "--with", PARTS, "--minify"]
    assert main([*words, "-o", str(target)]) == 0
    return target


def test_the_header_that_the_command_makes_is_that_of_the_tests():
    assert f"--with {PARTS} --minify" in KINDS["cpp-bot"].commands[0]
    assert len(SOURCE.read_text().splitlines()) < 300


@pytest.mark.slow
@each_rules
def test_it_beats_greedy_with_few_worlds(tmp_path, rules):
    """Over 400 games at its time limit, the bot won 89 % and more in each rule set."""
    header(tmp_path, rules)
    bot = build(SOURCE, tmp_path / "bot", "-O1", "-DWORLDS=8", "-I", tmp_path, compiler="g++")
    wins = 0
    for seed in range(4):
        for seat, players in enumerate([(str(bot), GREEDY), (GREEDY, str(bot))]):
            match = Match(rules, seed=seed)
            result = play([*players], match, timeout_scale=0)
            assert match.error is None, result
            wins += match.winner == seat
    # A bot that wins 89 % of its games wins fewer of eight once in 100 times.
    assert wins >= 5


@pytest.mark.slow
@each_rules
def test_its_answers_are_executed_whole(tmp_path, rules):
    header(tmp_path, rules)
    bot = build(SOURCE, tmp_path / "bot", "-O0", "-DWORLDS=2", "-I", tmp_path, compiler="g++")
    match = Match(rules, seed=9)
    play([str(bot), str(bot)], match, timeout_scale=0)
    assert match.error is None
    again = Match(rules, params=match.params)
    ignored = []
    for player, line in match.log["answers"]:
        ignored += again.submit(player, line).ignored
    assert set(ignored) <= {"PASS"}


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_both_files_make_one_for_the_site(tmp_path, compiler):
    header(tmp_path, "1.5")
    (tmp_path / "bot.cpp").write_text(SOURCE.read_text())
    (command,) = re.findall(r"(?m)^//     (\(cat locm\.h.*)$", SOURCE.read_text())
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    paste = tmp_path / "paste.cpp"
    assert len(paste.read_text(encoding="utf-8")) <= 90_000
    build(paste, None, "-fsyntax-only", "-pedantic", compiler=compiler)

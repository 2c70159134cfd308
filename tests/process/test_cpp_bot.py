"""Tests of examples/cpp-bot, built with an exported header of one rule set."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from exported_c import build
from helpers import each_rules, main, output_of

from locmsim import Match
from locmsim.cli.new import KINDS
from locmsim.referee import play

SOURCE = Path(__file__).parents[2] / "examples" / "cpp-bot" / "bot.cpp"
C_BOT = SOURCE.parents[1] / "c-bot" / "bot.c"
GREEDY = f"{shlex.quote(sys.executable)} -m locmsim.bot --agent greedy"
PARTS = "deck,draft,belief,evaluation,network"


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
    bot = build(SOURCE, tmp_path / "bot", "-Og", "-DWORLDS=8", "-I", tmp_path, compiler="g++")
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
    bot = build(SOURCE, tmp_path / "bot", "-Og", "-DWORLDS=2", "-I", tmp_path, compiler="g++")
    match = Match(rules, seed=9)
    play([str(bot), str(bot)], match, timeout_scale=0)
    assert match.error is None
    again = Match(rules, params=match.params)
    ignored = []
    for player, line in match.log["answers"]:
        ignored += again.submit(player, line).ignored
    assert set(ignored) <= {"PASS"}


def test_a_bot_is_pasted_compiled_and_checked(tmp_path, capsys):
    bot, one = tmp_path / "bot.c", tmp_path / "one.c"
    before = "// old.c and what it includes, by locmsim export\n"  # which may be overwritten
    one.write_text(before)
    words = ["export", "--paste", str(bot), "-o", str(one)]
    for wrong, message, *rules in [
        ("oops;", "error: "),
        ("locm_evaluate();", f"export --kernel --rules 1.5 --with evaluation -o {tmp_path}/locm.h"),
        ("return 3;", "as player 0 of rules 1.5: "),
        ("return 3;", "as player 0 of rules 1.0: ", "--rules", "1.0"),
        (f"// {'long ' * 20_000}", "but the site allows 100,000"),
    ]:
        bot.write_text(f"int main(void) {{\n  {wrong}\n}}\n")
        assert message in output_of(*words, *rules, code=1).err
        assert one.read_text() == before
    # The bot is compiled as its file asks for: here for little time, without optimisation.
    ours = "#define ANSWERED 0\n#define TURN_MS 1\n#define LOCM_NO_PRAGMA\n"
    (tmp_path / "words.h").write_text(ours)
    code = C_BOT.read_text().replace("return 0;", "return ANSWERED;")
    bot.write_text('#include "words.h"\n' * 2 + code)
    assert main(words) == 0
    text = one.read_text()
    assert f"one.c: {len(text):,} characters of 100,000" in capsys.readouterr().out
    assert len(text) < 40_000  # the header, which has nearly 100,000 characters, is minified
    assert text.count("#define ANSWERED") == 1
    assert '"words.h"' not in text


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_both_files_make_one_for_the_site(tmp_path, compiler):
    header(tmp_path, "1.5")
    (tmp_path / "bot.cpp").write_text(SOURCE.read_text())
    (words,) = re.findall(r"(?m)^//     locmsim (.* --paste .*)$", SOURCE.read_text())
    subprocess.run([sys.executable, "-m", "locmsim", *words.split()], cwd=tmp_path, check=True)
    paste = tmp_path / "paste.cpp"
    assert len(paste.read_text(encoding="utf-8")) <= 90_000
    build(paste, None, "-fsyntax-only", "-pedantic", compiler=compiler)

"""Options of the commands: what does not apply is an error, and one thing has one name."""

import argparse
import importlib.util
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from parsers import all_commands, arguments

import vestrock.cli
from locmsim import bot
from locmsim.cli._shared import SHARED
from locmsim.cli.main import COMMANDS, command_parser, main
from locmsim.options.commands import Parser

#: Options that mean something else in one of the commands, which its help says.
OWN_MEANING = {"--verbose", "--help", "--stderr", "--against", "--decks", "--engine"}

DOES_NOT_APPLY = [
    ("play --replay m.json --seed 5 --timeout-scale 7", "--seed", "--replay"),
    ("play --replay m.json --timeout-scale 7", "--timeout-scale", "--replay"),
    ("play --replay m.json greedy random", "BOT", "--replay"),
    ("play --replay m.json -d seed=1", "-d", "--replay"),
    ("play --replay m.json --isolate", "--isolate", "--replay"),
    ("play --replay m.json --decks greedy", "--decks", "--replay"),
    ("play greedy random --json --text", "--text", "--json"),
    ("play greedy random --json --stderr", "--stderr", "--json"),
    ("play greedy random --force", "--force", "--logs"),
    ("play greedy random --force --logs -", "--force", "--logs -"),
    ("ask greedy m.json --turn 2 --player x --last 9", "--player", "--lost"),
    ("ask greedy m.json --turn 2 --last 3", "--last", "--lost"),
    ("ask greedy results.db --lost --done PASS", "--done", "--lost"),
    ("ask greedy results.db --lost --rules 1.0", "--rules", "--lost"),
    ("analyse m.json --turn 3 --worlds 7 --hand 5", "--worlds", "--tree"),
    ("analyse m.json --turn 3 --hand 5", "--hand", "--tree"),
    ("analyse m.json --report --seconds 2", "--seconds", "--report"),
    ("analyse m.json --report --turn 2", "--turn", "--report"),
    ("analyse m.json --nodes 9 --seconds 2", "--seconds", "--nodes"),
    ("analyse --file m.txt --turn 3", "--turn", "--file"),
    ("arena greedy random --alpha 0.1", "--alpha", "--sprt"),
    ("arena greedy random --beta 0.05", "--beta", "--sprt"),
    ("arena greedy random --retire greedy", "--retire", "--db"),
    ("optimize ./bot --force", "--force", "--state or --plot"),
    ("arena greedy random --force", "--force", "--db or --verify"),
    ("arena --verify a.db --games 4", "--games", "--verify"),
    ("arena greedy random --sprt-of greedy", "--sprt-of", "--sprt"),
    ("arena greedy random --dask tcp://a:1 --jobs 2", "--jobs", "--dask"),
    ("arena --verify a.db --pilot greedy", "--pilot", "--verify"),
    ("arena --verify a.db --anchor greedy=1", "--anchor", "--verify"),
    ("arena greedy random --game locm:rules=1.2 --rules 1.0", "--rules", "--game locm:rules=1.2"),
    ("arena greedy random --game vestrock --ids old", "--ids", "--game vestrock"),
    ("arena show a.db --csv a.csv --json", "--json", "--csv"),
    ("arena show a.db --json --player greedy", "--player", "--json without --cards"),
    ("arena show a.db --csv a.csv --player greedy", "--player", "--csv without --cards"),
    ("arena show a.db --force", "--force", "--csv"),
    ("arena show a.db --stderr 3 --player greedy", "--player", "--stderr"),
    ("bench --signatures --rules 1.0", "--rules", "--signatures"),
    ("cards generate 5 --force", "--force", "--output"),
    ("export --kernel -o a.h --search mcts", "--search", "--kernel without --with"),
    ("export --kernel --with belief --rules 1.0 -o a.h --search mcts", "--search", "--with belief"),
    ("export --kernel --with belief --rules 1.0 -o a.h --ascii", "--ascii", "--with belief"),
    ("export --kernel -o a.h --time-ms 50", "--time-ms", "--kernel"),
    ("export --rules 1.5 -o a.c --minify", "--minify", "--kernel"),
    ("perft --turn 3", "--turn", "FILE"),
    ("replay m.json --force", "--force", "--output"),
    ("replay m.json --open --output -", "--open", "--output -"),
    ("replay m.json --force --output -", "--force", "--output -"),
    ("play greedy random --game nim --rules 1.0", "--rules", "--game nim"),
    ("play greedy random --game locm:rules=1.2 --rules 1.0", "--rules", "--game locm:rules=1.2"),
    ("check greedy --game vestrock --rules 1.0", "--rules", "--game vestrock"),
    ("optimize ./bot --game vestrock --rules 1.0", "--rules", "--game vestrock"),
]


def used() -> dict[str, list[tuple[str, argparse.Action]]]:
    """Return the commands that have an option, with its declaration, by its longest name."""
    found = defaultdict(list)
    for name in COMMANDS:
        for parser in all_commands(command_parser(name)):
            for action in arguments(parser):
                if action.option_strings and parser.prog != "locmsim":
                    found[max(action.option_strings, key=len)].append((parser.prog, action))
    return found


@pytest.mark.parametrize(("words", "option", "other"), DOES_NOT_APPLY)
def test_what_does_not_apply_is_an_error(
    words: str, option: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"error: {option}: " in error
    assert error.endswith((f"needs {other}", f"does not apply with {other}"))


@pytest.mark.parametrize(
    "command",
    ["play --text --replay", "ask greedy --turn 1", "analyse --report", "replay", "perft --turn 1"],
)
@pytest.mark.parametrize("option", ["--rules 1.5", "--ids new"])
def test_results_say_what_was_played(
    command: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rules and ids of a game of an arena's results cannot be given: they would be ignored."""
    if command == "perft --turn 1" and option == "--ids new":
        pytest.skip("has no such option")
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "a.db:7", *option.split()])
    assert ended.value.code == 2
    name = option.split()[0]
    end = f"error: {name}: does not apply to a.db:7, a game of an arena's results\n"
    assert capsys.readouterr().err.endswith(end)


def test_both_names_are_those_of_the_command_line() -> None:
    parser = Parser(prog="p")
    parser.add_argument("--init-hp")
    parser.add_argument("-s", "--turn-seconds")
    parser.add_argument("file")
    for message, shown in (
        ("init_hp: expected 2 to 9, got 1", "--init-hp: expected 2 to 9, got 1"),
        (
            "init_hp: does not apply with turn_seconds",
            "--init-hp: does not apply with --turn-seconds",
        ),
        ("init_hp: needs turn_seconds, or a", "--init-hp: needs --turn-seconds, or a"),
        ("file: needs init_hp", "file: needs --init-hp"),
        ("init_hp is wrong", "init_hp is wrong"),
    ):
        assert parser.spelt(message) == shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--agent greedy --search mcts", "--search: does not apply with --agent"),
        ("--agent greedy --time-ms 5", "--time-ms: does not apply with --agent greedy"),
        ("--agent beam:time_ms=5 --time-ms 5", "--time-ms: does not apply with --agent, which"),
        ("--time-ms -4", "--time-ms: expected 0 to 1e+09, got -4"),
    ],
)
def test_options_of_the_bot_that_do_not_apply(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        bot.main(words.split())
    assert ended.value.code == 2
    assert f"error: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("serve --log-refused", "--log-refused: needs --log"),
        ("serve --spectators open", "--spectators: needs --spectator-port"),
        ("serve --deck a --seed 5", "--seed: does not apply with --deck"),
        ("bench --signature --seconds 3", "--seconds: does not apply with --signature"),
        ("serve --init-hp 1", "--init-hp: expected 2 to 10000, got 1"),
        ("serve --players 1", "--players: expected 2 to 1000, got 1"),
    ],
)
def test_options_of_vestrock_that_do_not_apply(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        vestrock.cli.main(words.split())
    assert ended.value.code == 2
    assert f"error: {message}" in capsys.readouterr().err


def test_help_of_play_imports_little() -> None:
    """A referee starts for every game: what its parser needs is light."""
    code = (
        "import sys; from locmsim.cli.main import command_parser; command_parser('play');"
        "print(*sorted(m for m in sys.modules if m.partition('.')[0] == 'locmsim'));"
        "print(*({'hashlib', 'ssl', 'json', 'logging', 'numpy', 'random'} & {*sys.modules}))"
    )
    plain = {name: value for name, value in os.environ.items() if name[:9] != "COVERAGE_"}
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=plain
    )
    ours, slow = process.stdout.splitlines()
    assert len(ours.split()) <= 32, ours
    assert slow == ""


def test_a_default_that_is_present_counts() -> None:
    parser = Parser(prog="p")
    parser.add_argument("--sprt", action="store_true")
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--bot", action="append", default=[])
    parser.add_argument("files", nargs="*")
    parser.needs("--sprt", "--alpha")
    options = parser.parse_args([])
    assert (options.sprt, options.alpha, options.bot, options.files) == (False, 0.05, [], [])
    assert not parser.present
    options = parser.parse_args(["--sprt", "--alpha", "0.05", "--bot", "a", "--bot", "b", "f"])
    assert (options.alpha, options.bot, options.files) == (0.05, ["a", "b"], ["f"])
    assert parser.present == {"sprt", "alpha", "bot", "files"}
    with pytest.raises(SystemExit):
        parser.parse_args(["--alpha", "0.05"])


def test_options_of_several_commands_are_declared_once() -> None:
    shared = {*SHARED, *OWN_MEANING}
    for name, uses in used().items():
        if len({prog for prog, _ in uses}) > 1:
            assert name in shared, name
        for prog, action in uses:
            if name in SHARED:
                for argument, value in SHARED[name].arguments.items():
                    if argument in ("metavar", "type"):
                        assert getattr(action, argument) is value, (prog, name)


def test_the_table_of_names_is_that_of_the_commands() -> None:
    pytest.importorskip("sphinx")
    docs = Path(__file__).parents[3] / "docs"
    assert "\n.. option-names::\n" in (docs / "reference/cli.rst").read_text()
    where = importlib.util.spec_from_file_location("site_commands", docs / "_ext/commands.py")
    site = importlib.util.module_from_spec(where)
    where.loader.exec_module(site)
    table = dict(site.option_names())
    assert table == {name: shared.meaning for name, shared in SHARED.items()}


@pytest.mark.parametrize("words", [["greedy", "random"], ["greedy:deck=area", "osl"]])
def test_play_is_the_default_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--seed", "1"]) == 0
    plain = capsys.readouterr().out
    assert main(["play", *words, "--seed", "1"]) == 0
    assert capsys.readouterr().out == plain
    assert plain.count("\n") > 1


def test_a_word_that_is_no_command_and_no_bot(capsys: pytest.CaptureFixture[str]) -> None:
    for word, meant in (("aren", "arena"), ("greddy", "greedy")):
        with pytest.raises(SystemExit):
            main([word, "random"])
        assert f"unknown command '{word}'; did you mean '{meant}'?" in capsys.readouterr().err


def test_a_file_of_others_is_named_and_what_overwrites_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bot.c"
    path.write_text("int main(void) {}")
    with pytest.raises(SystemExit) as ended:
        main(["export", "--rules", "1.0", "-o", str(path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(
        f": cannot write {path}: the file exists, and this command has not written it;"
        " use --force to overwrite it\n"
    )
    assert path.read_text() == "int main(void) {}"

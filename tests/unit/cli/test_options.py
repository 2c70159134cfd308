"""Options of the commands: what does not apply is an error, and one thing has one name."""

import argparse
import importlib.util
import os
from collections import defaultdict
from pathlib import Path

import pytest
from helpers import output_of, python
from parsers import COMMANDS, all_commands, arguments, command_parser

from locmsim.cli._shared import SHARED
from locmsim.options.commands import Parser

#: Options that mean something else in one of the commands, which its help says.
OWN_MEANING = {"--verbose", "--help", "--stderr", "--against", "--decks", "--engine"}


def used() -> dict[str, list[tuple[str, argparse.Action]]]:
    """Return the commands that have an option, with its declaration, by its longest name."""
    found = defaultdict(list)
    for name in COMMANDS:
        for parser in all_commands(command_parser(name)):
            for action in arguments(parser):
                if action.option_strings and parser.prog != "locmsim":
                    found[max(action.option_strings, key=len)].append((parser.prog, action))
    return found


def test_help_of_play_imports_little() -> None:
    """A referee starts for every game: what its parser needs is light."""
    code = (
        "import sys; from locmsim.cli.main import command_parser; command_parser('play');"
        "print(*sorted(m for m in sys.modules if m.partition('.')[0] == 'locmsim'));"
        "print(*({'hashlib', 'ssl', 'json', 'logging', 'numpy', 'random'} & {*sys.modules}))"
    )
    plain = {name: value for name, value in os.environ.items() if name[:9] != "COVERAGE_"}
    ours, slow = python("-c", code, env=plain).stdout.splitlines()
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
def test_play_is_the_default_command(words: list[str]) -> None:
    plain = output_of(*words, "--seed", "1").out
    assert output_of("play", *words, "--seed", "1").out == plain
    assert plain.count("\n") > 1


def test_a_file_of_others_is_named_and_what_overwrites_it(tmp_path: Path) -> None:
    path = tmp_path / "bot.c"
    path.write_text("int main(void) {}")
    assert output_of("export", "--rules", "1.0", "-o", str(path), code=2).err.endswith(
        f": cannot write {path}: the file exists, and this command has not written it;"
        " use --force to overwrite it\n"
    )
    assert path.read_text() == "int main(void) {}"

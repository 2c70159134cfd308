"""The tables of options in the pages name what the commands have: options, values and defaults.

The reference of the command line is generated, with the sentence of each option. These pages are
read in the repository too, and explain the options in more words.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from parsers import command_parser, options_of, subcommands

from locmsim import bot
from locmsim.envs import Options
from locmsim.options.declarations import declared

DOCS = Path(__file__).parents[3] / "docs"
#: The tables of each page, in order: the command whose options they have. All tables of a command
#: in a page are one; a name in brackets stands for a table of some of its options.
TABLES = {
    "agents.md": ["bot"],
    "codingame.md": ["export", "export"],
    "compare.md": ["(arena run)"],
    "referee.md": ["play"],
    "tuning.md": ["optimize", "tune"],
    "web.md": ["web"],
}
#: Options that another page explains.
ELSEWHERE = {("export", "--engine"): "browser.md"}
#: Cells of a row: a line in code is not divided.
_CELLS = re.compile(r"(?:`[^`]*`|[^|`])+")


def rows_of_tables(page: Path) -> Iterator[list[tuple[str, str]]]:
    """Yield the rows of each table of options of a page: the options, and what is said of them."""
    found: list[tuple[str, str]] = []
    for line in [*page.read_text(encoding="utf-8").splitlines(), ""]:
        cells = [cell.strip() for cell in _CELLS.findall(line)] if line.startswith("| ") else []
        if len(cells) == 2 and cells[0].startswith("`-"):
            found.append((cells[0], cells[1]))
        elif found and not cells:
            yield found
            found = []


def actions_of(command: str) -> dict[str, argparse.Action]:
    """Return the options of a command by their names."""
    parser: argparse.ArgumentParser = bot.command_parser()
    if command != "bot":
        parser = command_parser(command.split()[0])
        for word in command.split():
            parser = subcommands(parser)[word]
    return options_of(parser)


def value_of(action: argparse.Action) -> str:
    """Return how the help writes the value of an option."""
    return "" if action.nargs == 0 else str(action.metavar or action.dest.upper())


def default_of(action: argparse.Action) -> str:
    """Return a default that the help says in one word: a number or a name."""
    words = (action.help or "") % {"default": action.default, "prog": ""}
    found = re.search(r"\(default: ([\w.]+)(?:,[^)]*)?\)", words)
    return found[1] if found else ""


def wrong(cell: str, said: str, known: dict[str, argparse.Action]) -> Iterator[str]:
    """Yield what a row says wrongly about its options."""
    shown = re.findall("`([^`]*)`", cell)
    for place, text in enumerate(shown):
        name, _, value = text.partition(" ")
        if not name.startswith("-"):
            continue
        if name not in known:
            yield f"{name}: there is no such option"
            continue
        action = known[name]
        if action.choices is None and value != value_of(action):
            yield f"{text}: the help says {value_of(action)!r}"
        if action.choices is not None:
            count = len([*action.choices])
            values = [value, *shown[place + 1 : place + count]]
            if sorted(values) != sorted(action.choices):
                yield f"{name}: not all of {', '.join(action.choices)}"
        default = default_of(action)
        if default and not re.search(rf"default[ :]+`?{re.escape(default)}\b", said):
            yield f"{name}: the default is {default}"


@pytest.mark.parametrize("name", sorted(page.name for page in DOCS.glob("*.md")))
def test_tables_of_options_are_those_of_the_commands(name: str) -> None:
    tables = [*rows_of_tables(DOCS / name)]
    commands = TABLES.get(name, [])
    assert len(tables) == len(commands), "which commands are these tables about?"
    for command in dict.fromkeys(commands):
        known = actions_of(command.strip("()"))
        rows = [
            row for one, table in zip(commands, tables, strict=True) if one == command
            for row in table
        ]  # fmt: skip
        part = command.startswith("(")
        faults = [] if part else [fault for row in rows for fault in wrong(*row, known)]
        named = {name for cell, _ in rows for name in re.findall(r"`(-[^ `]+)", cell)}
        named |= set(re.findall(r"`(--[a-z-]+)`", " ".join(said for _, said in rows)))
        assert named <= known.keys()
        for action in {id(action): action for action in known.values()}.values():
            other = ELSEWHERE.get((command, action.option_strings[-1]))
            if other is not None:
                assert f"{action.option_strings[-1]}`" in (DOCS / other).read_text("utf-8")
            elif not part and not named & {*action.option_strings}:
                faults.append(f"{action.option_strings[-1]}: it is missing")
        assert faults == []


def test_the_table_of_environments_names_their_options_and_all_their_choices() -> None:
    known = declared(Options)
    lines = (DOCS / "learning.md").read_text(encoding="utf-8").splitlines()
    start = lines.index("| option | values |")
    for line in lines[start + 2 : lines.index("", start)]:
        cells = _CELLS.findall(line)
        for name in re.findall("`([^`]*)`", cells[0] if cells[0].strip() else cells[1]):
            assert name in known
            choices = known[name].option.choices
            missing = [choice for choice in choices if f'"{choice}"' not in line]
            assert not missing, name


def test_wrong_rows_are_found() -> None:
    known = actions_of("optimize")
    assert [*wrong("`--games N`", "games, default 4000", known)] == []
    for cell, said, fault in [
        ("`--games N`", "games, default 3000", "--games: the default is 4000"),
        ("`--games X`", "games, default 4000", "--games X: the help says 'N'"),
        ("`--gmaes N`", "games", "--gmaes: there is no such option"),
        ("`--method spsa`", "default `spsa`", "--method: not all of spsa, cmaes"),
    ]:
        assert [*wrong(cell, said, known)] == [fault]

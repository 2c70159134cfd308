"""What the commands of a parser are, and their options: argparse has no public way to ask."""

import argparse
from collections.abc import Iterator

from locmsim.cli.main import COMMANDS, command_parser  # noqa: F401


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the subcommands of a parser by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def all_commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser and all its subcommands."""
    yield parser
    for inner in subcommands(parser).values():
        yield from all_commands(inner)


def arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options and positional arguments of a parser itself."""
    return [a for a in parser._actions if not isinstance(a, argparse._SubParsersAction)]


def options_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the options of a parser by each of their names, without ``--help``."""
    return {
        flag: action
        for action in arguments(parser)
        for flag in action.option_strings
        if action.dest != "help"
    }


def rules_of(parser: argparse.ArgumentParser) -> list[tuple[str, str, bool, str]]:
    """Return what applies only with another option, or without it: the other, name, which, more."""
    rules = getattr(parser, "_rules", [])
    return [(rule.other, name, rule.needed, rule.more) for rule in rules for name in rule.names]

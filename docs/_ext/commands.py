"""The directives ``commands`` and ``option-names``: the options of the tools and of the bot."""

import argparse
import os
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from locmsim import bot
from locmsim.cli import main
from locmsim.cli._shared import SHARED
from vestrock import cli


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("commands", Commands)
    app.add_directive("option-names", OptionNames)
    return {"parallel_read_safe": True}


class Commands(SphinxDirective):
    """A section for each command, as ``locmsim --help`` lists them; then the bot and Vestrock."""

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        with mock.patch.dict(os.environ, COLUMNS="88"):
            for parser in parsers():
                text = "\n".join(section(parser))
                found += self.parse_text_to_nodes(text, allow_section_headings=True)
        return found


class OptionNames(SphinxDirective):
    """The table of the options that several commands have."""

    def run(self) -> list[nodes.Node]:
        rows = [("Option", "What it is"), *((f"``{name}``", m) for name, m in option_names())]
        lines = [".. list-table::", "   :header-rows: 1", ""]
        lines += [line for name, m in rows for line in (f"   * - {name}", f"     - {m}")]
        return self.parse_text_to_nodes("\n".join(lines))


def option_names() -> list[tuple[str, str]]:
    """Names and meanings of the options that several commands have."""
    return sorted((name, escaped(shared.meaning)) for name, shared in SHARED.items())


def parsers() -> Iterator[argparse.ArgumentParser]:
    """Everything that has options of its own."""
    for name in main.COMMANDS:
        yield from leaves(actions(main.command_parser(name))[name])
    yield bot.command_parser()
    yield from leaves(cli.command_parser())


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser, or those of its subcommands."""
    if below := actions(parser):
        for inner in below.values():
            yield from leaves(inner)
    else:
        yield parser


def actions(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The subcommands of a parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def section(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The text of a section: usage and options."""
    yield from (parser.prog, "-" * len(parser.prog), "")
    if parser.description:
        yield from (sentence(escaped(parser.description)), "")
    yield from (".. code-block:: text", "")
    usage = parser.format_usage().removeprefix("usage: ")
    yield from (f"   {re.sub('^ {7}', '', line)}" for line in usage.splitlines())
    yield from ("", f".. program:: {parser.prog}", "")
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        value = argument(parser, action)
        names = ", ".join(f"{name} {value}".strip() for name in action.option_strings) or value
        text = parser._get_formatter()._expand_help(action) if action.help else ""
        yield from (f".. option:: {names}", "", f"   {sentence(escaped(text))}", "")


def argument(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """What stands for the value of an option: ``N``, ``{1.5,1.2,1.0}``."""
    if action.nargs == 0:
        return ""
    return parser._get_formatter()._format_args(action, default(parser, action))


def default(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    formatter = parser._get_formatter()
    if action.option_strings:
        return formatter._get_default_metavar_for_optional(action)
    return formatter._get_default_metavar_for_positional(action)


def sentence(text: str) -> str:
    """Help of an option as a sentence of a page."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("." if text and text[-1] not in ".?!" else "")


def escaped(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([*`|_\\])", r"\\\1", text)

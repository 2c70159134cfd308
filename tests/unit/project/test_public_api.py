"""The public interface as a file: what a change does to users shows in its diff.

`tests/data/public_api.txt` lists the names of the public modules with their signatures, and every
command with its options. After an intended change this writes it again:

    PYTHONPATH=tests python tests/unit/project/test_public_api.py
"""

import argparse
import enum
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack, get_args, get_origin

from parsers import COMMANDS, arguments, command_parser, subcommands

import vestrock.cli
from locmsim import bot

FILE = Path(__file__).parents[2] / "data" / "public_api.txt"
MODULES = (
    "locmsim",
    "locmsim.search",
    "locmsim.agents",
    "locmsim.arena",
    "locmsim.referee",
    "locmsim.policy",
    "locmsim.decks",
    "locmsim.networks",
    "locmsim.envs",
    "locmsim.envs.aec",
    "locmsim.tuning.dataset",
    "locmsim.tuning.evaluate",
    "locmsim.envs.openspiel",
    "locmsim.envs.players",
    "locmsim.tuning",
    "locmsim.export",
    "locmsim.stats",
    "vestrock",
)
#: Defaults of other types are shown as dots: they may look different elsewhere.
PLAIN = (bool, int, float, str, type(None))


def signature(value: Any) -> str:
    """Return names, kinds and plain defaults of parameters; "" for what has none."""
    fixed = inspect.isclass(value) and issubclass(value, enum.Enum | BaseException)
    if fixed or not callable(value):
        return ""
    try:
        known = inspect.signature(value)
    except (TypeError, ValueError):
        written = re.match(r"[\w.]+(\(.*\))( -> .*)?(\n|$)", inspect.getdoc(value) or "")
        return written[1] if written else "(...)"
    shown = [
        one.replace(
            annotation=passed_on(one.annotation),
            default=one.default if one.default is one.empty or type(one.default) in PLAIN else ...,
        )
        for one in known.parameters.values()
    ]
    plain = known.replace(parameters=shown, return_annotation=known.empty)
    return str(plain).replace("Ellipsis", "...")


def passed_on(hint: Any) -> Any:
    """Return the class of options in ``**options: Unpack[...]``, nothing for other annotations."""
    return get_args(hint)[0] if get_origin(hint) is Unpack else inspect.Parameter.empty


def names(module: str) -> Iterator[str]:
    """Yield a line for each name of a module, and for the members of its classes."""
    loaded = importlib.import_module(module)
    for name in sorted(loaded.__all__):
        value = getattr(loaded, name)
        yield f"{module}.{name}{signature(value) if callable(value) else ''}"
        # What is listed where it lives need not be listed again, such as names of `locmsim`.
        if not inspect.isclass(value) or not value.__module__.startswith(module):
            continue
        for member, raw in sorted(vars(value).items()):
            if not member.startswith("_"):
                inner = getattr(value, member)
                called = not isinstance(raw, property) and inspect.isroutine(inner)
                yield f"    .{member}{signature(inner) if called else ''}"


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a line for a command, and for each of its options, those of subcommands too."""
    yield parser.prog
    for action in arguments(parser):
        if action.dest != "help":
            flags = ", ".join(action.option_strings)
            value = action.metavar or ("" if action.nargs == 0 else action.dest)
            choices = "|".join(map(str, action.choices or ()))
            usual = action.default if type(action.default) in PLAIN[1:4] else ""
            words = (flags, str(value), choices, f"[{usual}]" if usual != "" else "")
            yield f"    {' '.join(filter(None, words))}"
    for inner in subcommands(parser).values():
        yield from options(inner)


def snapshot() -> str:
    """Return the text of the file."""
    lines = [line for module in MODULES for line in names(module)]
    for name in COMMANDS:
        lines += options(subcommands(command_parser(name))[name])
    lines += options(vestrock.cli.command_parser())
    lines += options(bot.command_parser())
    return "\n".join(lines) + "\n"


def test_the_promise_is_about_the_same_modules() -> None:
    text = Path(__file__).parents[3].joinpath("SUPPORT.md").read_text(encoding="utf-8")
    (named,) = re.findall(r"These modules are (.*?); everything else is internal", text)
    assert named == ", ".join(f"`{name}`" for name in MODULES)


def test_the_public_interface_is_that_of_the_file() -> None:
    before, now = FILE.read_text(encoding="utf-8").splitlines(), snapshot().splitlines()
    gone, new = [*dict.fromkeys(before)], [*dict.fromkeys(now)]
    changes = [f"- {line}" for line in gone if line not in set(now)]
    changes += [f"+ {line}" for line in new if line not in set(before)]
    assert before == now, (
        "the public interface has changed; if that is intended, run"
        " PYTHONPATH=tests python tests/unit/project/test_public_api.py\n" + "\n".join(changes)
    )


if __name__ == "__main__":
    FILE.write_text(snapshot(), encoding="utf-8")
    sys.exit()

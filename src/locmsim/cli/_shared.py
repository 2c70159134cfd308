"""The options that several commands have: one name, one kind of value and one meaning each."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from locmsim.options import common
from locmsim.options.commands import argument_of
from locmsim.options.declarations import declaration
from locmsim.rules.options import Ids, Rules
from locmsim.support.files import file_named


class _Shared(NamedTuple):
    """An option of several commands."""

    meaning: str
    #: Arguments of `argparse`, besides the help.
    arguments: dict[str, Any]
    short: str = ""


def _declared(hint: Any, **more: str) -> _Shared:
    """Return an option that is declared for classes too; `more` arguments take precedence."""
    one = declaration("", hint)
    arguments = argument_of(one)
    return _Shared(one.option.text, {k: v for k, v in arguments.items() if k in _KEPT} | more)


#: What follows from a declaration, besides default and help.
_KEPT = ("action", "choices", "metavar", "type")
_FLAG: dict[str, Any] = {"action": "store_true"}

#: By name; docs/reference/cli.rst shows the table.
SHARED = {
    "--clock": _declared(common.Clock),
    "--cores": _declared(common.Cores),
    "--dask": _declared(common.Dask, metavar="ADDRESS"),
    "--db": _Shared("an arena's file of results", {"metavar": "FILE", "type": file_named}),
    "--done": _Shared("actions that were already played in the turn", {"metavar": "LINE"}),
    "--force": _Shared("go on although a file exists or has changed", _FLAG),
    "--game": _Shared("name of the game, with its options", {"metavar": "GAME"}),
    "--games": _declared(common.Games),
    "--host": _Shared("address of a server", {"metavar": "HOST"}),
    "--ids": _declared(Ids),
    "--isolate": _declared(common.Isolate),
    "--jobs": _declared(common.Jobs),
    "--json": _Shared("print JSON", _FLAG),
    "--lost": _Shared("only games that a player lost", _FLAG),
    "--match-limit": _declared(common.MatchLimit),
    "--lenient": _declared(common.Lenient),
    "--memory-limit": _declared(common.MemoryLimit),
    "--nodes": _declared(common.SearchedNodes),
    "--open": _Shared("show the page in the browser", _FLAG),
    "--output": _Shared("the file to write", {"metavar": "FILE"}, "-o"),
    "--player": _Shared("name of a player in an arena's results", {"metavar": "NAME"}),
    "--port": _declared(common.Port),
    "--proof-games": _declared(common.ProofGames),
    "--rules": _declared(Rules),
    "--seed": _declared(common.Seed),
    "--seconds": _declared(common.Seconds),
    "--time-ms": _declared(common.TimeMs),
    "--timeout-scale": _declared(common.TimeoutScale),
    "--state": _Shared("folder of a run, which is resumed", {"metavar": "FOLDER"}),
    "--turn": _declared(common.Turn),
    "--weights": _Shared("a file of weights", {"metavar": "FILE"}),
}

#: Parses a seed.
SEED: Callable[[str], int] = SHARED["--seed"].arguments["type"]


def add_shared(
    container: argparse._ActionsContainer, name: str, *short: str, **arguments: Any
) -> None:
    """Add one of these options; `arguments` of `argparse` take precedence over its own.

    Without a help of the command's own, the option's meaning is shown, with the default.
    """
    shared = SHARED[name]
    help_text, default = shared.meaning, arguments.get("default")
    if isinstance(default, int | float):
        help_text += f" (default: {default:g})"
    flags = (*short, shared.short, name) if shared.short else (*short, name)
    container.add_argument(*flags, **{"help": help_text, **shared.arguments, **arguments})


def default_jobs(options: argparse.Namespace) -> int | None:
    """Return ``--jobs``, by default one for each core; None where ``--dask`` names a cluster."""
    from locmsim.processes.workers import available_cores

    if options.jobs is None and getattr(options, "dask", None) is None:
        return len(available_cores())
    jobs: int | None = options.jobs
    return jobs

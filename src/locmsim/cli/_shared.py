"""The options that several commands have: one name, one kind of value and one meaning each."""

import argparse
from typing import Any, NamedTuple

from locmsim._checks import MOST_THREADS, MOST_WORK
from locmsim.cli._common import number, seed, whole
from locmsim.rules.rulesets import RULES

__all__ = ["SHARED", "add_shared"]

_NUMBER = "N"


class _Shared(NamedTuple):
    """An option of several commands."""

    meaning: str
    #: Arguments of `argparse`, besides the help.
    arguments: dict[str, Any]
    short: str = ""


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"type": whole(low, high), "metavar": _NUMBER}


_FLAG: dict[str, Any] = {"action": "store_true"}

#: By name. docs/reference/cli.rst has the same table.
SHARED = {
    "--dask": _Shared(
        "address of the Dask scheduler on whose cluster the work is done", {"metavar": "ADDRESS"}
    ),
    "--db": _Shared("an arena's file of results", {"metavar": "FILE"}),
    "--done": _Shared("actions that were already played in the turn", {"metavar": "LINE"}),
    "--force": _Shared("go on although a file exists or has changed", _FLAG),
    "--game": _Shared("name of the game, with its options", {"metavar": "GAME"}),
    "--games": _Shared("number of games", _whole(1, 10**12)),
    "--host": _Shared("address of a server", {"metavar": "HOST"}),
    "--ids": _Shared(
        "instance ids, the current ones or those of 2022", {"choices": ("new", "old")}
    ),
    "--isolate": _Shared("play every agent in a process of its own", _FLAG),
    "--jobs": _Shared("number of processes on this machine", _whole(1, MOST_THREADS)),
    "--json": _Shared("print JSON", _FLAG),
    "--match-limit": _Shared(
        "total time of a bot for all its answers in a match",
        {"type": number(0, allow_low=False), "metavar": "SECONDS"},
    ),
    "--lenient": _Shared("accept output that a bot writes before it is asked", _FLAG),
    "--nodes": _Shared("number of positions that a search may visit", _whole(1, MOST_WORK)),
    "--open": _Shared("show the page in the browser", _FLAG),
    "--output": _Shared("the file to write", {"metavar": "FILE"}, "-o"),
    "--player": _Shared("name of a player in an arena's results", {"metavar": "NAME"}),
    "--port": _Shared("port of a server", _whole(0, 65535)),
    "--rules": _Shared("rule set", {"choices": tuple(RULES)}),
    "--seed": _Shared("seed of the random numbers", {"type": seed, "metavar": _NUMBER}),
    "--seconds": _Shared("duration", {"type": number(0, allow_low=False), "metavar": "S"}),
    "--timeout-scale": _Shared(
        "factor of all time limits; 0: no limits",
        {"type": number(0, allow_low=True), "metavar": "X"},
    ),
    "--state": _Shared("folder of a run, which is resumed", {"metavar": "DIR"}),
    "--turn": _Shared(
        "number of a turn, counted from 0 over both players' turns", _whole(0, 10**6)
    ),
    "--weights": _Shared("a file of weights", {"metavar": "FILE"}),
}


def add_shared(container: argparse._ActionsContainer, name: str, **arguments: Any) -> None:
    """Add one of these options; the arguments are those of `argparse`, with the help at least."""
    shared = SHARED[name]
    flags = (shared.short, name) if shared.short else (name,)
    container.add_argument(*flags, **{"help": shared.meaning, **shared.arguments, **arguments})

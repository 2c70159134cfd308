"""``locmsim bench``: measure the speed of the simulator's operations on this machine."""

import argparse
import sys
from typing import TYPE_CHECKING

from locmsim.cli._common import Parser
from locmsim.cli._shared import add_shared
from locmsim.rules.rulesets import RULES

if TYPE_CHECKING:
    from locmsim.bench import Figure


#: Keys of `locmsim.bench.GROUPS`, repeated here because that module takes long to import.
_GROUPS = (
    "playouts",
    "kernel",
    "python",
    "beliefs",
    "batch",
    "match",
    "search",
    "turns",
    "environments",
    "start",
    "network",
)


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add_shared(parser, "--rules", default="1.5", help="rule set (default: %(default)s)")
    add_shared(parser, "--json")
    add(
        "-g",
        "--group",
        dest="groups",
        choices=_GROUPS,
        action="append",
        default=[],
        metavar="GROUP",
        help=f"measure only this group (repeatable): {', '.join(_GROUPS)}",
    )
    add_shared(
        parser,
        "--seconds",
        default=12.0,
        help="approximate duration of the measurement (default: %(default)g)",
    )
    add(
        "--signatures",
        action="store_true",
        help="measure nothing; print each rule set's bench signature as JSON",
    )
    add("-v", "--verbose", action="store_true", help="show progress, even without a terminal")
    parser.rules_out("--signatures", "--rules", "--json", "--group", "--seconds", "--verbose")


def run(options: argparse.Namespace) -> None:
    import json

    from locmsim import bench

    if options.signatures:
        print(json.dumps({rules: bench.signature(rules) for rules in RULES}, indent=1))
        return
    figures, warnings = _measure(options)
    if options.json:
        print(json.dumps(bench.to_json(options.rules, figures, warnings), indent=1))
    else:
        print(bench.report(options.rules, figures), end="", flush=True)
    for warning in warnings:
        print(f"locmsim bench: warning: {warning}", file=sys.stderr)


def _measure(options: argparse.Namespace) -> "tuple[list[Figure], list[str]]":
    """Return the figures, and warnings about the machine; a progress bar is shown meanwhile."""
    from tqdm import tqdm

    from locmsim import bench

    watch = bench.Watch()
    with tqdm(
        total=100,
        bar_format="{percentage:3.0f}%|{bar}| {desc}",
        disable=False if options.verbose else None,
        file=sys.stderr,
        leave=False,
    ) as bar:

        def show(name: str, done: float) -> None:
            bar.set_description_str(name, refresh=False)
            bar.n = 100 * done
            bar.refresh()

        figures = bench.measure(
            options.rules, options.seconds, options.groups, watch=watch, on_group=show
        )
    return figures, watch.warnings

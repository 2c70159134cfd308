"""``locmsim bench``: what the simulator's operations cost on this machine."""

import argparse

from locmsim.cli._common import number
from locmsim.rules.rulesets import RULES

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rules", choices=tuple(RULES), default="1.5", help="rule set (default: %(default)s)")
    add("--json", action="store_true", help="print JSON")
    add(
        "--seconds",
        type=number(0, allow_low=False),
        default=12.0,
        metavar="S",
        help="time to measure for, about (default: %(default)g)",
    )
    add(
        "--signatures",
        action="store_true",
        help="measure nothing; print each rule set's bench signature as JSON",
    )


def run(options: argparse.Namespace) -> None:
    import json

    from locmsim import bench

    if options.signatures:
        print(json.dumps({rules: bench.signature(rules) for rules in RULES}, indent=1))
        return
    figures = bench.measure(options.rules, options.seconds)
    if options.json:
        print(json.dumps(bench.to_json(options.rules, figures), indent=1))
    else:
        print(bench.report(options.rules, figures), end="")

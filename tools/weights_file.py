"""The file that a tool writes: other weights with the new ones, and how they were made."""

import argparse
import sys
from dataclasses import replace
from typing import Any

from locmsim import __version__
from locmsim.networks import WeightsFile


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--jobs", type=int, default=1, help="number of processes")
    add("--output", required=True, help="weights file to write")
    add("--weights", help="weights file with the other weights (default: the package's)")


def save(
    args: argparse.Namespace, rules: str, part: str, games: int, loss: float, **new: Any
) -> None:
    """Write the file that the options name."""
    record = {
        "command": " ".join(sys.argv),
        "version": __version__,
        "rules": rules,
        "parts": [part],
        "games": games,
        "loss": round(loss, 4),
    }
    start = WeightsFile.load(args.weights) if args.weights else WeightsFile()
    start.replaced(rules, replace(start[rules], **new), record).save(args.output)

"""``locmsim perft``: the number of action sequences from a position."""

import argparse

from locmsim.cli._common import Failure
from locmsim.rules.rulesets import RULES

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    position = parser.add_mutually_exclusive_group()
    position.add_argument("file", nargs="?", metavar="FILE", help="position file")
    position.add_argument(
        "--seed", type=int, metavar="N", help="start of a battle between random decks (default: 1)"
    )
    add("--depth", "-n", type=int, default=4, metavar="N", help="actions (default: %(default)s)")
    add("--rules", choices=tuple(RULES), help="rule set (default: the position's, else 1.5)")
    add("--divide", action="store_true", help="list the counts of the first actions too")


def run(options: argparse.Namespace) -> None:
    from locmsim.game.positions import divide, load_position, start_position

    if options.depth < 1:
        raise Failure(f"--depth: expected at least 1, got {options.depth}", code=2)
    try:
        if options.file is None:
            seed = 1 if options.seed is None else options.seed
            state = start_position(seed, options.rules or "1.5")
        else:
            state = load_position(options.file, options.rules)
    except OSError as error:
        if error.filename is None:  # the standard output
            raise
        raise Failure(f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(error) from None
    if options.divide:
        for action, nodes in divide(state, options.depth):
            print(f"{action}: {nodes}")
        print()
    print(f"nodes: {state.perft(options.depth)}")

"""``locmsim perft``: count the sequences of actions from a position."""

import argparse
from typing import TYPE_CHECKING

from locmsim.cli._common import Failure, Parser, value_errors
from locmsim.cli._positions import POSITION_HELP, read_position
from locmsim.cli._shared import add_shared
from locmsim.options.commands import add_option
from locmsim.options.declarations import Declared, Option

if TYPE_CHECKING:
    from locmsim._core import State


def add_options(parser: Parser) -> None:
    position = parser.add_mutually_exclusive_group()
    position.add_argument("file", nargs="?", metavar="FILE", help=POSITION_HELP)
    add_shared(
        position, "--seed", help="seed of a battle between random decks, without FILE (default: 1)"
    )
    add_shared(
        parser, "--turn", help="with a log or DB:NUMBER as FILE: count from the start of this turn"
    )
    depth = Declared("depth", int, 4, Option("length of the sequences", 1, 100))
    add_option(parser, depth, "-n")
    add_shared(parser, "--rules", help="rule set (default: the position's, else 1.5)")
    parser.add_argument(
        "--divide", action="store_true", help="also list the count for each first action"
    )
    parser.needs("FILE", "--turn")


def run(options: argparse.Namespace) -> None:
    from locmsim.game.positions import divide, start_position

    with value_errors(kind=Failure):
        if options.file is None:
            seed = 1 if options.seed is None else options.seed
            state = start_position(seed, options.rules or "1.5")
        else:
            state = _state(options)
    if options.divide:
        for action, nodes in divide(state, options.depth):
            print(f"{action}: {nodes}")
        print()
    print(f"nodes: {state.perft(options.depth)}")


def _state(options: argparse.Namespace) -> "State":
    """Return the position of FILE; in a bot's input, hidden cards are replaced by random ones."""
    if options.turn is not None:
        from locmsim.cli._matches import load_result
        from locmsim.referee.knowledge import state_at

        result, _ = load_result(options.file, "FILE", options.rules)
        with value_errors("--turn"):
            return state_at(result, options.turn)
    position = read_position(options.file, "FILE", options.rules)
    from locmsim._core import State

    if isinstance(position, State):
        return position
    from locmsim.search.belief import Belief

    belief = Belief()
    belief.see(position)
    return belief.root()

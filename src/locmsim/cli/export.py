"""``locmsim export``: write a bot in one C file, or the simulator as a C header."""

import argparse
import sys
from io import TextIOWrapper

from locmsim.cli._common import (
    FORCE_HELP,
    STDOUT_PATHS,
    Failure,
    Parser,
    check_target,
    number,
    write,
)
from locmsim.cli._shared import add_shared

__all__ = ["add_options", "run"]

#: The first bytes of its files: header, readable bot, bot.
_OURS = (
    rb"// Legends of Code and Magic: the exact simulator of locmsim"
    rb"|// A bot for Legends of Code and Magic, rules "
    rb"|#ifndef _GNU_SOURCE\s+#define _GNU_SOURCE\s+#endif\s+#if defined\(__GNUC__\)&&"
    rb"!defined\(__clang__\)&&!defined\(__OPTIMIZE__\)\s+#pragma GCC optimize"
)
#: ... and weights, whose first array is their description.
_OUR_WEIGHTS = rb"PK\x03\x04.{26}meta\.npy"


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group(required=True)
    add_shared(what, "--rules", help="export the bot for this rule set")
    what.add_argument(
        "--kernel", action="store_true", help="export the simulator as a header, for your own bots"
    )
    add_shared(parser, "--output", required=True)
    add_shared(parser, "--weights", help="weights of the bot (default: the tuned weights)")
    add("--search", choices=("beam", "mcts"), help="search algorithm of the bot (default: beam)")
    add(
        "--time-ms",
        type=number(0, allow_low=False),
        metavar="MS",
        help="search time per turn, at most 0.6 of the limit (default: 120)",
    )
    add_shared(parser, "--force", help=FORCE_HELP)
    add(
        "--readable",
        action="store_true",
        help="keep names and comments; the file is too long for the site",
    )
    add(
        "--ascii",
        action="store_true",
        help="use ASCII characters only, for editors that garble others",
    )
    add(
        "--write-weights",
        metavar="FILE",
        help="also write the rounded weights of the bot, so that a Python bot plays alike",
    )
    parser.rules_out(
        "--kernel", "--weights", "--search", "--time-ms", "--readable", "--ascii", "--write-weights"
    )


def run(options: argparse.Namespace) -> None:
    from locmsim.export import LIMIT, export_bot, kernel_header
    from locmsim.networks.weights import WeightsFile

    if options.output not in STDOUT_PATHS:
        check_target(options.output, _OURS, options.force)
    if options.write_weights is not None:
        check_target(options.write_weights, _OUR_WEIGHTS, options.force)
    if options.kernel:
        write(options.output, kernel_header())
        return
    try:
        bot = export_bot(
            options.rules,
            WeightsFile.load(options.weights) if options.weights else None,
            search=options.search or "beam",
            readable=options.readable,
            ascii=options.ascii,
            **({"time_ms": options.time_ms} if options.time_ms else {}),
        )
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None
    except (ValueError, ImportError) as error:
        raise Failure(error) from None
    size = f"{options.output}: {len(bot.text):,} characters"
    if not (bot.fits or options.readable):
        raise Failure(f"{size}, but the site allows {LIMIT:,}; nothing was written")
    if options.write_weights:
        try:
            bot.weights.save(options.write_weights)
        except OSError as error:
            raise Failure(f"cannot write {options.write_weights}: {error.strerror}") from None
    report = sys.stdout
    if options.output in STDOUT_PATHS:
        report = sys.stderr
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
    write(options.output, bot.text)
    print(
        f"{size} of {LIMIT:,}" if bot.fits else f"{size}: for reading, not for submission",
        file=report,
    )

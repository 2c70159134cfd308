"""``locmsim export``: write a bot or the engine in one C file, or the simulator as a C header."""

import argparse
import gzip
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from locmsim.cli._common import (
    FORCE_HELP,
    STDOUT_PATHS,
    Failure,
    Parser,
    WrongUsage,
    check_output,
    check_target,
    value_errors,
    write,
)
from locmsim.cli._shared import add_shared
from locmsim.options.commands import add_option, argument_of
from locmsim.options.declarations import check_values, declared

if TYPE_CHECKING:
    from locmsim.networks.weights import Weights, WeightsFile

#: The first bytes of its files: module, pasted bot, engine, header, readable bot, bot.
_OURS = (
    rb"\x00asm|// [^\n]* and what it includes, by locmsim export\n"
    rb"|// The engine of locmsim for Legends of Code and Magic, rules |"
    rb"// Legends of Code and Magic: the exact simulator of locmsim"
    rb"|// A bot for Legends of Code and Magic, rules "
    rb"|#ifndef _GNU_SOURCE\s+#define _GNU_SOURCE\s+#endif\s+#if defined\(__GNUC__\)&&"
    rb"!defined\(__clang__\)&&!defined\(__OPTIMIZE__\)\s+#pragma GCC optimize"
)
#: ... and weights, whose first array is their description.
_OUR_WEIGHTS = rb"PK\x03\x04.{26}meta\.npy"


def add_options(parser: Parser) -> None:
    from locmsim.export import PARTS, export_bot, kernel_header

    known = declared(export_bot)
    add = parser.add_argument
    add_shared(
        parser, "--rules", help="export the bot for this rule set, or fix the rule set of a kernel"
    )
    add(
        "--paste",
        metavar="BOT",
        help="write a bot of yours in C or C++ and the files it includes as one file, minified if"
        " needed, compiled and checked in matches of --rules",
    )
    add("--kernel", action="store_true", help="export the simulator as a header for your own bots")
    add(
        "--engine",
        action="store_true",
        help="export the engine as a C library, or with -o FILE.wasm compiled to WebAssembly",
    )
    add(
        "--with",
        dest="parts",
        type=_parts,
        default=(),
        metavar="PARTS",
        help=f"with --kernel: parts of our bots to add, of {','.join(PARTS)}",
    )
    minified = argument_of(declared(kernel_header)["minified"])
    add("--minify", **{**minified, "help": f"with --kernel: {minified['help']}"})
    add_shared(parser, "--output", required=True)
    add_shared(parser, "--weights", help="weights of the bot (default: the tuned weights)")
    add_option(parser, known["search"], default=None)
    limit = f"at most {known['share'].default:g} of the limit"
    shown = argument_of(known["time_ms"])["help"]
    add_shared(parser, "--time-ms", help=shown.replace(" (", f"; {limit} (", 1))
    add_shared(parser, "--force", help=FORCE_HELP)
    add_option(parser, known["readable"])
    add_option(parser, known["ascii"])
    add(
        "--write-weights",
        metavar="FILE",
        help="also write the rounded weights of bot or engine, so that a Python bot plays alike",
    )
    parser.rules_out(
        *("--paste", "--kernel", "--engine", "--with", "--minify", "--weights", "--search"),
        *("--time-ms", "--readable", "--ascii", "--write-weights"),
    )
    parser.rules_out("--kernel", "--time-ms", "--readable", "--write-weights")
    parser.needs("--kernel", "--with", "--minify")
    parser.rules_out("--engine", "--kernel", "--time-ms", "--readable", "--ascii")


#: The parts of a kernel that depend on an option.
_USERS = {
    "weights": {"belief", "deck", "draft", "evaluation", "network", "search"},
    "search": {"search"},
    "ascii": {"deck", "draft", "network", "search"},
}


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def run(options: argparse.Namespace) -> None:
    """Write a bot or a kernel."""
    if not (options.rules or options.kernel or options.paste):
        raise WrongUsage(
            "--rules is needed for a bot or an engine, --kernel for the simulator alone"
        )
    # --force may be for the other file.
    force = options.force and (options.write_weights is None or options.output not in STDOUT_PATHS)
    check_output("--output", options.output, _OURS, force)
    if options.write_weights is not None:
        check_target(options.write_weights, _OUR_WEIGHTS, options.force)
    if options.paste:
        _run_paste(options)
    elif options.kernel:
        _run_kernel(options)
    elif options.engine:
        _run_engine(options)
    else:
        _run_bot(options)


def _run_paste(options: argparse.Namespace) -> None:
    from locmsim.export import LIMIT
    from locmsim.export.paste import paste

    with _named_errors():
        text = paste(Path(options.paste), options.rules)
    _write(options.output, text, f"{len(text):,} characters of {LIMIT:,}; compiled and checked")


def _run_kernel(options: argparse.Namespace) -> None:
    from locmsim.export import LIMIT, kernel_header

    for name, users in _USERS.items():
        if not users & {*options.parts}:
            alone = f"--with {','.join(options.parts)}" if options.parts else ""
            why = f"does not apply with {alone or '--kernel without --with'}"
            options.parser.refuse(why, f"--{name}")
    with _named_errors():
        text = kernel_header(
            options.rules,
            options.parts,
            _weights(options.weights),
            search=options.search or "beam",
            minified=options.minify,
            ascii=options.ascii,
        )
    left = LIMIT - len(text)
    rest = f"{left:,} are left" if left >= 0 else f"{-left:,} too many for the site"
    _write(options.output, text, f"{len(text):,} characters of {LIMIT:,}: {rest}")


def _run_engine(options: argparse.Namespace) -> None:
    from locmsim.export import compile_engine, export_engine
    from locmsim.support.files import write_whole

    with _named_errors():
        engine = export_engine(
            options.rules, _weights(options.weights), search=options.search or "beam"
        )
        if not options.output.endswith(".wasm"):
            _write_weights(options, engine.weights)
            _write(options.output, engine.text, f"{len(engine.text):,} characters")
            return
        module = compile_engine(engine.text)
    _write_weights(options, engine.weights)
    try:
        write_whole(options.output, module)
    except OSError as error:
        raise Failure(f"cannot write {options.output}: {error.strerror}") from None
    print(f"{options.output}: {len(module):,} bytes, {len(gzip.compress(module)):,} compressed")


def _run_bot(options: argparse.Namespace) -> None:
    from locmsim.export import LIMIT, export_bot

    limit = {} if options.time_ms is None else {"time_ms": options.time_ms}
    with value_errors():
        check_values(export_bot, **limit)
    with _named_errors():
        bot = export_bot(
            options.rules,
            _weights(options.weights),
            search=options.search or "beam",
            readable=options.readable,
            ascii=options.ascii,
            **limit,
        )
    size = f"{len(bot.text):,} characters"
    if not (bot.fits or options.readable):
        raise Failure(
            f"{options.output}: {size}, but the site allows {LIMIT:,}; nothing was written"
        )
    _write_weights(options, bot.weights)
    size += f" of {LIMIT:,}" if bot.fits else ": for reading, not for submission"
    _write(options.output, bot.text, size)


@contextmanager
def _named_errors() -> Iterator[None]:
    """Report what makes an export impossible."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None
    except (ValueError, ImportError) as error:
        raise Failure(error) from None


def _weights(path: str | None) -> "Mapping[str, Weights] | None":
    from locmsim.networks.weights import WeightsFile

    return WeightsFile.load(path) if path else None


def _write_weights(options: argparse.Namespace, weights: "WeightsFile") -> None:
    """Write the rounded weights if that is wanted."""
    if not options.write_weights:
        return
    try:
        weights.save(options.write_weights)
    except OSError as error:
        raise Failure(f"cannot write {options.write_weights}: {error.strerror}") from None


def _write(path: str, text: str, size: str) -> None:
    """Write the text, and print its size where it does not mix with the text."""
    report = sys.stdout
    if path in STDOUT_PATHS:
        report = sys.stderr
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
    write(path, text)
    print(f"{path}: {size}", file=report)

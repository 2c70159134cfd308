"""``locmsim cards``: print, generate, draw or check card lists."""

import argparse
import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import (
    FORCE_HELP,
    Failure,
    Parser,
    check_output,
    value_errors,
    write,
)
from locmsim.cli._shared import SEED, add_shared
from locmsim.options.commands import sentence

if TYPE_CHECKING:
    from locmsim.rules.cards import Card

#: The start of a PNG file that this command wrote, for `check_output`.
_PNG_HEAD = 33
_NOTE = b"Software\0locmsim"
_OUR_PNG = rb"\x89PNG.{33}tEXtSoftware\x00locmsim"


def add_options(parser: Parser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listing = _action(actions, "list", "print cards as a table")
    listing.add_argument(
        "file", nargs="?", metavar="FILE", help="card list file (default: the 160 cards of 1.x)"
    )
    listing.set_defaults(act=_list_cards)
    generate = _action(actions, "generate", "print or save the 120 cards of a seed (1.5)")
    generate.add_argument(
        "seed", type=SEED, metavar="SEED", help="seed of the cards: the referee's cardGenSeed"
    )
    generate.add_argument(
        "-w", "--weights", metavar="FILE", help="weights of the generator (default: the referee's)"
    )
    add_shared(generate, "--output", help="save as a card list file")
    add_shared(generate, "--force", help=FORCE_HELP)
    generate.needs("--output", "--force")
    generate.set_defaults(act=_generate_cards)
    weights = _action(actions, "weights", "print the weights of the generator (1.5) as JSON")
    weights.set_defaults(act=_print_weights)
    draw = _action(actions, "draw", "draw the 120 cards of a seed (1.5) on one page")
    draw.add_argument(
        "seed", type=SEED, metavar="SEED", help="seed of the cards: the referee's cardGenSeed"
    )
    draw.add_argument(
        "-w", "--weights", metavar="FILE", help="weights of the generator (default: the referee's)"
    )
    add_shared(draw, "--output", required=True, help="the page or picture to write")
    draw.add_argument(
        "--png",
        action="store_true",
        help="write a PNG instead of a page, as for a FILE that ends in .png",
    )
    add_shared(draw, "--force", help=FORCE_HELP)
    draw.set_defaults(act=_draw_cards)
    check = _action(actions, "check", "check card list files")
    check.add_argument("files", nargs="+", metavar="FILE", help="card list file")
    check.set_defaults(act=_check_cards)


def _action(actions: Any, name: str, summary: str) -> Parser:
    """Add a subcommand whose help begins with its summary."""
    parser: Parser = actions.add_parser(name, help=summary, description=sentence(summary))
    return parser


def run(options: argparse.Namespace) -> None:
    try:
        with value_errors(kind=Failure):
            options.act(options)
    except OSError as error:
        if error.filename is None:  # the standard output
            raise
        raise Failure(f"{error.filename}: {error.strerror}") from None


def _list_cards(options: argparse.Namespace) -> None:
    from locmsim.rules.cards import cards_1x, load_cards

    _print_cards(cards_1x() if options.file is None else load_cards(options.file))


def _generated(options: argparse.Namespace) -> "list[Card]":
    from locmsim.rules.generator import generate_cards, load_weights

    weights = None if options.weights is None else load_weights(options.weights)
    return generate_cards(options.seed, weights)


def _generate_cards(options: argparse.Namespace) -> None:
    from locmsim.rules.cards import save_cards

    check_output("--output", options.output, rb"\d+ ;", options.force)
    cards = _generated(options)
    if options.output is None:
        _print_cards(cards)
    else:
        save_cards(options.output, cards)


def _print_weights(options: argparse.Namespace) -> None:
    import json

    from locmsim.rules.generator import shipped_weights

    print(json.dumps(shipped_weights(), indent=1))


def _draw_cards(options: argparse.Namespace) -> None:
    from locmsim.art import sheet_html, sheet_svg

    png = options.png or options.output.lower().endswith(".png")
    ours = _OUR_PNG if png else rb"<!doctype html>.*<title>The cards of seed"
    check_output("--output", options.output, ours, options.force)
    cards = _generated(options)
    if png:
        _write_png(options.output, sheet_svg(cards))
    else:
        write(options.output, sheet_html(cards, f"The cards of seed {options.seed}"))


def _write_png(path: str, svg: str) -> None:
    """Write a picture as PNG; raise `Failure` if cairosvg is not installed."""
    try:
        import cairosvg
    except (ImportError, OSError):  # OSError: cairo is not installed
        raise Failure(
            "a PNG needs cairosvg and the cairo library: pip install 'locmsim[png]'"
        ) from None
    from locmsim.support.files import write_whole

    picture = cairosvg.svg2png(bytestring=svg.encode())
    note = b"tEXt" + _NOTE
    chunk = struct.pack(">I", len(_NOTE)) + note + struct.pack(">I", zlib.crc32(note))
    write_whole(path, picture[:_PNG_HEAD] + chunk + picture[_PNG_HEAD:])


def _check_cards(options: argparse.Namespace) -> None:
    from locmsim.rules.cards import load_cards
    from locmsim.support.files import counted

    for path in options.files:
        print(f"{path}: {counted(len(load_cards(path)), 'card')}")


def _print_cards(cards: Sequence["Card"]) -> None:
    from locmsim.art import card_titles

    titles = card_titles(cards)
    form = "{:>5} {:<8} {:>4} {:>6} {:>7} {:^9} {:>3} {:>3} {:>4} {:<6} {}"
    print("   id type     cost attack defense abilities  my opp draw area   name")
    for card in cards:
        base_id, _, *values, _ = card.to_row()
        row = (base_id, card.type.name.lower(), *values, card.area.name.lower(), titles[card])
        print(form.format(*row).rstrip())

"""``locmsim replay``: write a page that shows an earlier match, or one to play matches in."""

import argparse
import os
import tempfile
from pathlib import Path

from locmsim.cli._common import (
    FORCE_HELP,
    STDOUT_PATHS,
    Failure,
    Parser,
    WrongUsage,
    check_output,
    value_errors,
    write,
)
from locmsim.cli._matches import check_log
from locmsim.cli._shared import add_shared

#: The start of its pages.
_OURS = rb"<!doctype html>.*Legends of Code and Magic"


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "source",
        nargs="?",
        metavar="GAME",
        help="a log or a bot's input (FILE), or a game of an arena's results (DB:NUMBER)",
    )
    add_shared(parser, "--output", help="the page to write (default: standard output)")
    add_shared(parser, "--open")
    add(
        "--view",
        choices=("0", "1"),
        help="show only this player's hand at first (default: both hands)",
    )
    add(
        "--engine",
        action="store_true",
        help="put the engine into the page, to search positions and to play on from them",
    )
    add(
        "--play",
        action="store_true",
        help="write a page to play whole matches in, against levels of the engine",
    )
    add("--names", nargs=2, metavar="NAME", help="names of player 0 and player 1")
    add_shared(
        parser, "--rules", help="rule set of a log (default: detected), or to play (default: 1.5)"
    )
    add_shared(parser, "--ids", help="instance ids of a log (default: detected)")
    add_shared(parser, "--force", help=FORCE_HELP)
    parser.needs("--output", "--force")
    parser.rules_out("--play", "GAME", "--view", "--names", "--ids")
    parser.rules_out("--play", "--engine", more=", whose page always has the engine")


def run(options: argparse.Namespace) -> None:
    from locmsim.arena import StoreError

    if options.source is None and not options.play:
        raise WrongUsage("GAME is needed, or --play")
    check_output("--output", options.output, _OURS, options.force)
    if options.open and options.output in STDOUT_PATHS:
        raise WrongUsage(f"--open: does not apply with --output {options.output}")
    try:
        with value_errors(options.source, Failure):
            page = _page(options)
    except OSError as error:
        raise Failure(f"{options.source}: {error.strerror}") from None
    except StoreError as error:
        raise Failure(error) from None
    except ImportError as error:
        raise Failure(f"{'--play' if options.play else '--engine'}: {error}") from None
    target = options.output
    if target is None and options.open:
        # The file is kept: the browser reads it after this program ends.
        descriptor, target = tempfile.mkstemp(prefix="locmsim-", suffix=".html")
        os.close(descriptor)
    write(STDOUT_PATHS[0] if target is None else target, page)
    if options.open:
        import webbrowser

        url = Path(target).resolve().as_uri()
        if not webbrowser.open(url):
            raise Failure(f"no browser found to show {url}")


def _page(options: argparse.Namespace) -> str:
    from locmsim.web import load_replay, replay_html
    from locmsim.web.file_capture import capture_html, is_capture

    if options.play:
        from locmsim.web.file_play import play_html  # imports NumPy

        return play_html(options.rules or "1.5")
    names_shown = None if options.names is None else (options.names[0], options.names[1])
    view = None if options.view is None else int(options.view)
    if os.path.isfile(options.source):
        with open(options.source, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if is_capture(text):
            why = f"does not apply to {options.source}, a bot's input"
            options.parser.refuse(why, "--ids", "--engine")
            return capture_html(text, names_shown or ("", ""), view=view, rules=options.rules)
    check_log(options.source, options.rules, options.ids)
    result, names = load_replay(options.source, options.rules, options.ids)
    return replay_html(result, names_shown or names, view=view, engine=options.engine)

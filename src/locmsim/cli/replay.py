"""``locmsim replay``: write a page that shows an earlier match."""

import argparse
import json
import os
import tempfile
from pathlib import Path

from locmsim.cli._common import IDS, STDOUT_PATHS, Failure, add_force, check_target, write
from locmsim.rules.rulesets import RULES

__all__ = ["add_options", "run"]

#: The start of its pages.
_OURS = rb"<!doctype html>.*Legends of Code and Magic"


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "game",
        metavar="GAME",
        help="a log or a bot's input (FILE), or a game of an arena's results (DB:NUMBER)",
    )
    add("-o", "--output", metavar="FILE", help="the page to write (default: standard output)")
    add("--open", action="store_true", help="show the page in the browser")
    add(
        "--view",
        choices=("0", "1"),
        help="show only this player's hand at first (default: both hands)",
    )
    add("--names", nargs=2, metavar="NAME", help="names of player 0 and player 1")
    add("--rules", choices=tuple(RULES), help="rule set of a log (default: detected)")
    add_force(parser)
    add("--ids", choices=IDS, help="instance ids of a log, current or of 2022 (default: detected)")


def run(options: argparse.Namespace) -> None:
    from locmsim.arena import StoreError

    if options.output is not None and options.output not in STDOUT_PATHS:
        check_target(options.output, _OURS, options.force)
    try:
        page = _page(options)
    except OSError as error:
        raise Failure(f"{options.game}: {error.strerror}") from None
    except StoreError as error:
        raise Failure(error) from None
    except json.JSONDecodeError as error:
        raise Failure(f"{options.game}: not a log: {error}") from None
    except ValueError as error:
        raise Failure(f"{options.game}: {error}") from None
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
    from locmsim.web.captures import capture_html, is_capture

    names_shown = None if options.names is None else (options.names[0], options.names[1])
    view = None if options.view is None else int(options.view)
    if os.path.isfile(options.game):
        with open(options.game, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if is_capture(text):
            return capture_html(text, names_shown or ("", ""), view=view, rules=options.rules)
    result, names = load_replay(options.game, options.rules, options.ids)
    return replay_html(result, names_shown or names, view=view)

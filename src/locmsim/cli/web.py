"""``locmsim web``: pages to play on, to watch matches and to analyse positions."""

import argparse
import contextlib
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from locmsim.cli._common import Failure, ended_by_signals, number

if TYPE_CHECKING:
    from locmsim.web.site import Site

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Serve pages on this machine: play against agents and programs, watch matches, analyse"
        " positions. It prints the address and ends with Ctrl-C. Nothing is read but what is named"
        " here, and nobody else can connect."
    )
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="logs of matches to watch, and folders of them")
    add("--db", action="append", default=[], metavar="FILE", help="an arena's results; repeatable")
    add(
        "--bot",
        action="append",
        default=[],
        metavar="BOT",
        help='an opponent beside our own agents: a command, "name=command", a plug-in; repeatable',
    )
    add("--games", metavar="FOLDER", help="where games are saved (default: a temporary folder)")
    add("--port", type=_port, default=0, metavar="N", help="port (default: any free one)")
    scale = number(0, allow_low=True)
    help_text = "multiply the time limits of opponents, 0 for none (default: %(default)g)"
    add("--timeout-scale", type=scale, default=5.0, metavar="X", help=help_text)
    add("--open", action="store_true", help="show it in the browser")


def _port(text: str) -> int:
    if not text.isdecimal() or not int(text) < 65536:
        raise argparse.ArgumentTypeError(f"expected 0 to 65535, got {text!r}")
    return int(text)


def run(options: argparse.Namespace) -> None:
    try:
        from locmsim.web.server import serve
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("starlette", "uvicorn"):
            raise
        raise Failure(
            f"it needs the package {package}, which is not installed: pip install 'locmsim[web]'"
        ) from None
    from locmsim.web.library import Library
    from locmsim.web.play import opponents
    from locmsim.web.site import Site

    for path in options.files:
        if not os.path.exists(path):
            raise Failure(f"{path}: no such file", code=2)
    folder = options.games or ""
    if folder:
        _check_folder(folder)
    # What was played before is there to watch.
    saved = [folder] if folder else []
    try:
        opponents(options.bot)
    except ValueError as error:
        raise Failure(f"--bot: {error}", code=2) from None
    site = Site(
        Library([*options.files, *saved], options.db),
        options.bot,
        options.timeout_scale,
        folder,
    )

    with contextlib.ExitStack() as files:

        def ready(url: str) -> None:
            print(url, flush=True)
            if options.open:
                import webbrowser

                from locmsim.web.opening import redirect_file

                # Command lines can be read by all users of a machine, and this has the token.
                if not webbrowser.open(files.enter_context(redirect_file(url))):
                    print("locmsim web: no browser to show it", file=sys.stderr)

        _serve(serve, site, options.port, ready)


def _serve(
    serve: Callable[..., None], site: "Site", port: int, ready: Callable[[str], None]
) -> None:
    try:
        with ended_by_signals():
            serve(site, port=port, ready=ready)
    except OSError as error:
        raise Failure(f"port {port}: {error.strerror}") from None


def _check_folder(folder: str) -> None:
    """Fail now, and not when a game is over."""
    if not os.path.isdir(folder):
        raise Failure(f"--games: there is no folder {folder}", code=2)
    if not os.access(folder, os.W_OK):
        raise Failure(f"--games: cannot write to {folder}: no permission", code=2)

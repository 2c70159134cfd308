"""``locmsim web``: serve pages to play, watch matches and analyse positions."""

import argparse
import contextlib
import errno
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from locmsim.cli._common import Failure, Parser, WrongUsage, ended_by_signals, value_errors
from locmsim.cli._shared import add_shared

if TYPE_CHECKING:
    from locmsim.web.site import Site

#: The port of the pages, so that what a browser remembers of them is still there tomorrow.
_PORT = 8415


def add_options(parser: Parser) -> None:
    parser.description = (
        "Serve pages on this machine to play against agents and programs, watch matches and"
        " analyse positions. The command prints their address and runs until Ctrl-C. It reads only"
        " the files named here, and only you can connect."
    )
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="log of a match to watch, or a folder of logs")
    add_shared(
        parser,
        "--db",
        action="append",
        default=[],
        help="an arena's file of results (repeatable)",
    )
    add(
        "--bot",
        action="append",
        default=[],
        metavar="BOT",
        help="an additional opponent: a command or an agent; NAME=BOT names it (repeatable)",
    )
    add(
        "--save",
        metavar="FOLDER",
        help="folder to save games in, made if there is none (default: games are not saved)",
    )
    add_shared(
        parser,
        "--port",
        default=None,
        help=f"port of the server, 0 for any free one (default: {_PORT}, or a free one if taken)",
    )
    add_shared(
        parser,
        "--timeout-scale",
        default=5.0,
        help="factor of the opponents' time limits; 0: no limits (default: %(default)g)",
    )
    add_shared(parser, "--open", help="open the pages in the browser")


def run(options: argparse.Namespace) -> None:
    try:
        from locmsim.web.server import serve
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("starlette", "uvicorn"):
            raise
        raise Failure(
            f"the package {package} is not installed: pip install 'locmsim[web]'"
        ) from None
    from locmsim.referee.locm_agents import LocmAgents
    from locmsim.referee.players import Seat
    from locmsim.web.library import Library
    from locmsim.web.opponents import opponents
    from locmsim.web.site import Site

    for path in options.files:
        if not os.path.exists(path):
            raise WrongUsage(f"{path}: no such file")
    folder = options.save or ""
    if folder:
        _check_folder(folder)
    # Games saved earlier can be watched.
    saved = [folder] if folder else []
    with value_errors("--bot"), contextlib.redirect_stdout(sys.stderr):  # agents may print
        for bot in opponents(options.bot):
            if bot.command:
                Seat(bot.command, LocmAgents(), f"player {bot.name!r}").check_program()
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

                # All users of a machine can read command lines, and the address contains the token.
                if not webbrowser.open(files.enter_context(redirect_file(url))):
                    print("locmsim web: no browser found", file=sys.stderr)

        _serve(serve, site, options.port, ready)


def _serve(
    serve: Callable[..., None], site: "Site", port: int | None, ready: Callable[[str], None]
) -> None:
    """Serve at a port; without one at the usual one, or at another if that is taken."""
    try:
        with ended_by_signals():
            if port is None:
                try:
                    return serve(site, port=_PORT, ready=ready)
                except OSError as error:
                    if error.errno != errno.EADDRINUSE:
                        raise
                    taken = f"port {_PORT} is taken: this is another one, where the browser"
                    print(f"locmsim web: {taken} remembers nothing of it", file=sys.stderr)
            serve(site, port=port or 0, ready=ready)
    except OSError as error:
        raise Failure(f"port {_PORT if port is None else port}: {error.strerror}") from None


def _check_folder(folder: str) -> None:
    """Fail at the start, not when the first game is over."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise WrongUsage(f"--save: {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise WrongUsage(f"--save: cannot write to {folder}: no permission")

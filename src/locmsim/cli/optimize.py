"""``locmsim optimize``: tune the numbers of your bot by matches between its versions."""

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from locmsim.cli._common import (
    FORCE_HELP,
    GAME_HELP,
    Parser,
    WrongUsage,
    add_verbose,
    check_target,
    start_logging,
    write,
)
from locmsim.cli._players import game_of
from locmsim.cli._runs import (
    check_proof,
    failures,
    progress,
    resumable,
    show_proof,
)
from locmsim.cli._shared import add_shared
from locmsim.options.commands import add_option, argument_of
from locmsim.options.declarations import declared

if TYPE_CHECKING:
    from locmsim.tuning.optimization import Optimization, Progress

_EPILOG = """\
PLAYER is a command or an agent with placeholders in place of numbers:

  {name=START:LOW..HIGH:KIND:step=STEP}

KIND is float, int or log (positive numbers whose ratios count). All but START may be left out, and
START too if the agent's option has a default or the number is declared elsewhere. {{ and }} stand
for braces; in a template all other braces stand for themselves.

  locmsim optimize "./mybot {attack=1:0..5} {width=40:1..200:int}"
  locmsim optimize "mybot.py:Mine:attack={attack},health={health=2:0.1..10:log}"
  locmsim optimize "./mybot --weights {file}" --template weights.json.in
"""
#: Endings of names for pictures that are no SVG.
_OTHER_PICTURES = (".gif", ".jpeg", ".jpg", ".pdf", ".png", ".webp")
#: Lines of progress that are printed in all.
_LINES = 20


def add_options(parser: Parser) -> None:
    from locmsim.tuning import OptimizationSettings

    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("player", metavar="PLAYER", help="the bot, with placeholders")
    add(
        "--template",
        metavar="FILE",
        help="file with placeholders; {file} in PLAYER is the path of a copy with their values",
    )
    add(
        "--against",
        action="append",
        default=[],
        metavar="PLAYER",
        help="an opponent: a command, an agent, DB:NAME (a player in a file of results) or DB (all"
        " of its players who are not retired) (repeatable; default: versions of the bot play each"
        " other)",
    )
    known = declared(OptimizationSettings)
    add_shared(parser, "--games", help=argument_of(known["games"])["help"])
    add_option(parser, known["method"], default=None)
    add_shared(parser, "--rules", help="rule set of the game locm (default: 1.5)")
    add_shared(parser, "--game", help=GAME_HELP)
    add_shared(parser, "--seed", default=1, help="seed of all random numbers (default: 1)")
    add_shared(parser, "--proof-games", default=1000)
    add_shared(parser, "--state", help="folder for the results; a run that is there is resumed")
    add("--plot", metavar="FILE", help="write a picture of the parameters over the games, an SVG")
    more = "with --state: resume even if a player has changed; with --plot: "
    add_shared(parser, "--force", help=more + FORCE_HELP)
    group = parser.add_argument_group("time limits and faults")
    add_shared(group, "--timeout-scale", default=1.0)
    add_shared(group, "--match-limit")
    add_shared(group, "--lenient")
    where = parser.add_argument_group("machines").add_mutually_exclusive_group()
    add_shared(where, "--jobs", help="number of games played at once (default: one per core)")
    add_shared(where, "--dask", help="play on the cluster of this Dask scheduler")
    add_verbose(parser)
    parser.needs("--state or --plot", "--force")


def run(options: argparse.Namespace) -> None:
    start_logging(options.verbose)
    if options.plot is not None:
        if os.path.splitext(options.plot)[1].lower() in _OTHER_PICTURES:
            raise WrongUsage(f"--plot: {options.plot}: the picture is an SVG; name it .svg")
        check_target(options.plot, rb"<svg ", options.force)
    check_proof(options)
    with failures():
        run = _optimization(options)
        with resumable(options, lambda: f"{run.trials.games:,} games", lambda: "they are"):
            _tune(run, options)
            _show_result(run, options)


def _optimization(options: argparse.Namespace) -> "Optimization":
    from locmsim.tuning.optimization import Optimization, OptimizationSettings

    names = ("player", "games", "method", "seed", "timeout_scale", "match_limit", "lenient")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    template = None
    if options.template is not None:
        try:
            with open(options.template, encoding="utf-8") as file:
                template = file.read()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise WrongUsage(f"--template: {options.template}: {reason}") from None
    settings = OptimizationSettings(
        game=game_of(options), against=tuple(options.against), template=template, **given
    )
    return Optimization(settings, folder=options.state, force=options.force)


def _tune(optimization: "Optimization", options: argparse.Namespace) -> None:
    games = optimization.settings.games
    each = max(1, games // _LINES)
    shown = -each
    with progress() as (show, say):
        for now in optimization.run(jobs=options.jobs, dask=options.dask):
            show("tuning", now.games, games)
            if now.games - shown >= each:
                shown = now.games
                say(_line(now, games, bool(options.against)))
                _plot(optimization, options.plot)
    _plot(optimization, options.plot)


def _line(progress: "Progress", games: int, against: bool) -> str:
    values = " ".join(f"{name}={value}" for name, value in progress.values.items())
    line = f"{progress.games:,} of {games:,} games: {values}"
    if progress.score is not None:
        low, high = progress.score
        if against:  # one half stands for a gain of nothing
            low, high = 2 * low - 1, 2 * high - 1
            return f"{line}; wins {100 * low:+.0f} to {100 * high:+.0f} % more than the start"
        line += f"; wins {100 * low:.0f} to {100 * high:.0f} % against the start"
    return line


def _plot(optimization: "Optimization", path: str | None) -> None:
    if path is not None:
        from locmsim.tuning.parameter_plot import parameters_svg

        write(path, parameters_svg(optimization.versions.parameters, optimization.trials.history))


def _show_result(optimization: "Optimization", options: argparse.Namespace) -> None:
    for note in optimization.notes:
        print(f"note: {note}")
    for name, value in optimization.values.items():
        print(f"{name} = {value}")
    _show_command(optimization, options)
    show_proof(options, "the tuned values", optimization.prove)


def _show_command(optimization: "Optimization", options: argparse.Namespace) -> None:
    """Print the tuned command, and the file from a template or where it is."""
    best, path = optimization.best, None
    if options.template is not None:
        name = os.path.basename(options.template).removesuffix(".in")
        if options.state is None:
            print(f"{name}:\n{optimization.versions.content(best)}", end="")
            return
        path = os.path.join(options.state, f"tuned-{name}")
        write(path, optimization.versions.content(best))
    print(f"tuned: {shlex.quote(optimization.versions.command(best, path))}")

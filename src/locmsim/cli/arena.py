"""``locmsim arena``: many matches between players, and their results."""

import argparse
import contextlib
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import (
    IDS,
    IDS_HELP,
    LENIENT_HELP,
    LIMIT_HELP,
    SCALE_HELP,
    STDOUT_PATHS,
    Failure,
    check_target,
    ended_by_signals,
    number,
    write,
)
from locmsim.rules.rulesets import RULES

if TYPE_CHECKING:
    from locmsim.arena import Arena

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    summary = "play matches between players; the word may be left out"
    run = actions.add_parser("run", help=summary, description=summary, allow_abbrev=False)
    _add_arena_run(run)
    run.set_defaults(act=_run_arena)
    summary = "print the tables of a file of results and the games that a player has lost"
    show = actions.add_parser("show", help=summary, description=summary, allow_abbrev=False)
    show.add_argument("db", metavar="DB")
    show.add_argument("--lost", metavar="PLAYER", help="whose lost games (default: the first)")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.add_argument("--csv", metavar="FILE", help="write a line for each game and print nothing")
    show.set_defaults(act=_show_arena)


def _add_arena_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "players",
        nargs="*",
        metavar="PLAYER",
        help='an agent ("beam:time_ms=50"), a command ("./mybot --fast") or NAME=either',
    )
    add("--db", metavar="FILE", help="file of results; one that exists is gone on with")
    add("--games", type=int, metavar="N", help="games of each pairing (default: 200)")
    add("--rules", choices=tuple(RULES), help="rule set (default: 1.5)")
    add("--ids", choices=IDS, help=IDS_HELP)
    add(
        "--gauntlet",
        action="store_const",
        dest="mode",
        const="gauntlet",
        help="the first player against each of the others (default: all against all)",
    )
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=int, metavar="N", help="all seeds follow from it")
    seeds.add_argument("--seeds", metavar="LIST", help='seeds of the matches: "5,7,100..199"')
    add(
        "--no-mirror",
        action="store_const",
        dest="mirror",
        const=False,
        help="play each seed once (default: twice, with seats swapped)",
    )
    add("--pairs-per-set", type=int, metavar="N", help="pairs with the same cards (default: 1)")
    add(
        "--sprt",
        nargs=2,
        type=float,
        metavar=("ELO0", "ELO1"),
        help="stop as soon as it is clear which difference holds",
    )
    add("--alpha", type=float, default=0.05, help="error of accepting ELO1 (%(default)s)")
    add("--beta", type=float, default=0.05, help="error of accepting ELO0 (%(default)s)")
    add("--jobs", type=int, metavar="N", help="games at a time (default: one for each core)")
    add("--dask", metavar="ADDRESS", help="play on the cluster of that Dask scheduler")
    add("--timeout-scale", type=number(0, allow_low=True), metavar="X", help=SCALE_HELP)
    add("--match-limit", type=number(0, allow_low=False), metavar="SECONDS", help=LIMIT_HELP)
    add("--lenient", action="store_const", const=True, help=LENIENT_HELP)
    add("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> None:
    from locmsim.arena import ArenaError, StoreError

    try:
        options.act(options)
    except ValueError as error:
        raise Failure(error, code=2) from None
    except (ArenaError, StoreError, OSError, ImportError) as error:
        raise Failure(error) from None


def _run_arena(options: argparse.Namespace) -> None:
    from locmsim.arena import Arena, Sprt, parse_seeds

    given: dict[str, Any] = {
        name: getattr(options, name)
        for name in (
            "rules", "ids", "mode", "seed", "mirror", "pairs_per_set", "timeout_scale",
            "match_limit", "lenient",
        )
        if getattr(options, name) is not None
    }  # fmt: skip
    if options.seeds is not None:
        given["seeds"] = parse_seeds(options.seeds)
    sprt = None
    if options.sprt is not None:
        elo0, elo1 = options.sprt
        sprt = Sprt(elo0, elo1, options.alpha, options.beta)
    db = options.db or time.strftime("arena-%Y%m%d-%H%M%S.db")
    with (
        ended_by_signals(),
        Arena(options.players or None, db=db, games=options.games, sprt=sprt, **given) as arena,
    ):
        try:
            with _progress(arena) as on_games:
                arena.run(jobs=options.jobs, dask=options.dask, on_games=on_games)
        except BaseException:
            print(
                f"{arena.tally.games} of {arena.goal.games} games are in {db};"
                f" to go on: locmsim arena --db {shlex.quote(db)}",
                file=sys.stderr,
            )
            raise
        _print_arena(arena, options.json)
    if options.db is None and not options.json:
        print(f"\nresults: {db}")


@contextlib.contextmanager
def _progress(arena: "Arena") -> Iterator[Callable[[int], None]]:
    """A line on the terminal that shows how far the games are, if tqdm is there."""
    from locmsim.arena.report import running_score

    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda games: None
        return
    played, count = arena.tally.games, arena.goal.games
    with tqdm(total=count, initial=played, unit="game", disable=None, file=sys.stderr) as bar:

        def show(games: int) -> None:
            bar.set_postfix_str(running_score(arena.tally), refresh=False)
            bar.update(games)

        yield show


def _show_arena(options: argparse.Namespace) -> None:
    from locmsim.arena import Arena

    if options.csv is not None and options.csv not in STDOUT_PATHS:
        check_target(options.csv)
    with Arena.load(options.db) as arena:
        if options.csv is not None:
            write(options.csv, arena.to_csv())
            return
        lost = arena.lost_table(options.lost)
        _print_arena(arena, options.json)
        if lost and not options.json:
            name = options.lost or arena.settings.players[0].name
            print(f"\nlost by {name} (locmsim play --replay {shlex.quote(options.db)}:GAME):")
            print(lost)


def _print_arena(arena: "Arena", as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps(arena.to_json(), indent=1))
    else:
        print(arena.table(), end="")

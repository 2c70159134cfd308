"""``locmsim arena``: play many matches between players, and show their results."""

import argparse
import contextlib
import itertools
import os
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import (
    DECKS_HELP,
    FORCE_HELP,
    GAME_HELP,
    IDS_HELP,
    Failure,
    Parser,
    Stopped,
    WrongUsage,
    add_verbose,
    check_output,
    ended_by_signals,
    start_logging,
    width,
    write,
)
from locmsim.cli._players import check_game
from locmsim.cli._runs import failures
from locmsim.cli._shared import add_shared
from locmsim.contract import Part, turn_words
from locmsim.options.checks import OptionError
from locmsim.options.commands import add_option, sentence
from locmsim.options.declarations import Declared, Option, declared
from locmsim.support.files import counted, printable

if TYPE_CHECKING:
    from locmsim.arena import Arena


def add_options(parser: Parser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    summary = "play many matches between players (the default)"
    run = actions.add_parser(
        "run",
        prog="locmsim arena",
        help=summary,
        description="Play many matches between players, in mirrored pairs, and keep every game.",
        epilog="locmsim arena show DB prints results again (locmsim arena show --help).",
        allow_abbrev=False,
    )
    _add_arena_run(run)
    run.set_defaults(act=_run_arena, parser=run)
    summary = "print the tables of a file of results and the games that a player has lost"
    show = actions.add_parser(
        "show", help=summary, description=sentence(summary), allow_abbrev=False
    )
    show.add_argument("db", metavar="DB", help="file of results that an arena wrote")
    add_shared(
        show,
        "--player",
        help="whose lost games are listed; with --cards: whose cards count (default: the first"
        " player's)",
    )
    add_shared(show, "--json")
    number = Option("print the standard error output of both players of a game", 1, 1 << 62)
    add_option(show, Declared("stderr", int, None, number), metavar="GAME")
    show.add_argument(
        "--csv",
        metavar="FILE",
        help="write one line per game to a CSV file and print nothing; -: standard output",
    )
    show.add_argument(
        "--cards",
        action="store_true",
        help="print how often each card was chosen, drawn and played, and how often its player won"
        " (with --csv: write it)",
    )
    add_shared(show, "--force", help=FORCE_HELP)
    show.rules_out("--csv", "--json", "--stderr")
    show.rules_out("--stderr", "--player", "--json", "--cards")
    show.needs("--csv", "--force")
    show.set_defaults(act=_show_arena, parser=show)


def _add_arena_run(parser: Parser) -> None:
    from locmsim.arena import Settings, Sprt

    add = parser.add_argument
    add(
        "players",
        nargs="*",
        metavar="PLAYER",
        help='an agent ("beam:time_ms=50") or a command ("./mybot --fast"); NAME=PLAYER names it',
    )
    group = parser.add_argument_group("matches")
    add = group.add_argument
    add_shared(
        group,
        "--games",
        help="number of games per pairing of a tournament, which --db may have begun (default:"
        " 200)",
    )
    add_shared(group, "--rules", help="rule set of the game locm (default: 1.5)")
    add_shared(group, "--ids", help=IDS_HELP)
    add_shared(group, "--game", help=GAME_HELP)
    known = declared(Settings)
    add_option(group, known["mode"], default=None)
    add(
        "--no-mirror",
        action="store_const",
        dest="mirror",
        const=False,
        help="play each seed once (default: twice, with seats swapped)",
    )
    group = parser.add_argument_group("seeds")
    seeds = group.add_mutually_exclusive_group()
    add_shared(seeds, "--seed", help="seed that all other seeds are derived from")
    seeds.add_argument("--seeds", metavar="LIST", help='seeds of the matches: "5,7,100..199"')
    add_option(group, known["pairs_per_set"], default=None)
    pool = parser.add_argument_group("a pool that grows, with --db")
    add = pool.add_argument
    add(
        "--add",
        nargs="+",
        default=[],
        metavar="PLAYER",
        help="new players; each plays every other player as many games as those have played each"
        " other, or --more in all",
    )
    more = Option("further games in all, played where they tell most about the ratings", 1, 1 << 31)
    add_option(pool, Declared("more", int, None, more), metavar="N")
    add(
        "--against",
        nargs="+",
        default=[],
        metavar="NAME",
        help="with --add: the only opponents of the new players; with --more alone: players, one"
        " of whom is in each game",
    )
    add("--retire", nargs="+", default=[], metavar="NAME", help="players who play no more games")
    add(
        "--anchor",
        metavar="NAME=ELO",
        help="give a player this rating, which the others' are relative to (default: the mean of"
        " all ratings is 0)",
    )
    group = parser.add_argument_group("sequential test")
    tests = group.add_mutually_exclusive_group()
    tests.add_argument(
        "--sprt",
        nargs=2,
        type=float,
        metavar=("ELO0", "ELO1"),
        help="stop as soon as it is clear whether the first player is better by ELO1, or only by"
        " ELO0; replaces the test that --db has",
    )
    tests.add_argument("--no-sprt", action="store_true", help="drop the test that --db has")
    group.add_argument(
        "--sprt-of", metavar="NAME", help="the player who may be better (default: the first)"
    )
    for name in ("alpha", "beta"):
        add_option(group, declared(Sprt)[name])
    group = parser.add_argument_group("machines")
    add_shared(
        group,
        "--jobs",
        help="number of games played at once (default: one per core; the two bots of a game share"
        " its core, unless there are two cores for each game)",
    )
    add_shared(group, "--cores", help="cores per game, for agents with threads (default: 1)")
    add_shared(group, "--dask", help="play on the cluster of this Dask scheduler")
    add_shared(group, "--isolate")
    group = parser.add_argument_group("time limits and faults")
    add_shared(
        group, "--timeout-scale", help="factor of all time limits; 0: no limits (default: 1)"
    )
    add_shared(group, "--match-limit")
    add_shared(group, "--clock")
    add_shared(group, "--memory-limit")
    add_shared(group, "--lenient", action="store_const", const=True)
    group = parser.add_argument_group("play or decks alone")
    add = group.add_argument
    add("--decks", metavar="AGENT", help=DECKS_HELP)
    add("--pilot", metavar="AGENT", help="this agent plays with the cards of both players")
    group = parser.add_argument_group("results")
    add_shared(
        group,
        "--db",
        help="file of results; an existing one is resumed (default: a new one, arena-DATE-TIME.db)",
    )
    add_shared(group, "--force", help="with --db: resume even if players have changed")
    group.add_argument(
        "--verify",
        nargs="+",
        metavar=("FILE", "GAMES"),
        help='play games of a file again, all or such as "1..20,35", and compare every answer',
    )
    add_shared(group, "--json")
    add_verbose(group)
    parser.needs("--sprt", "--alpha", "--beta", "--sprt-of")
    parser.needs("--db", "--no-sprt", "--add", "--more", "--retire")
    parser.needs("--add or --more", "--against")
    parser.needs("--db or --verify", "--force")
    parser.rules_out(
        "--verify", "PLAYER", "--db", "--games", "--rules", "--ids", "--game", "--mode",
        "--no-mirror", "--seed", "--seeds", "--pairs-per-set", "--sprt", "--add", "--more",
        "--retire", "--timeout-scale", "--match-limit", "--clock", "--memory-limit", "--lenient",
        "--dask", "--decks", "--pilot", "--anchor",
    )  # fmt: skip
    parser.rules_out("--dask", "--jobs", "--cores")


@failures()
def run(options: argparse.Namespace) -> int | None:
    """Play a tournament or show one; return 1 if games that were played again differ."""
    status: int | None = options.act(options)
    return status


def _run_arena(options: argparse.Namespace) -> int | None:
    from locmsim.arena import parse_seeds

    start_logging(options.verbose)
    if options.verify is not None:
        return _verify_arena(options)
    check_game(options)
    chosen: dict[str, Any] = {
        name: getattr(options, name)
        for name in (
            "game", "rules", "ids", "mode", "seed", "mirror", "pairs_per_set", "timeout_scale",
            "match_limit", "clock", "memory_limit", "lenient", "decks", "pilot",
        )
    }  # fmt: skip
    if options.seeds is not None:
        chosen["seeds"] = parse_seeds(options.seeds)
    if options.db is None and not options.players:
        raise WrongUsage("expected players, or --db with results to resume")
    named = options.players or options.add
    if options.db is not None and not named and not os.path.exists(options.db):
        raise WrongUsage(f"--db: {options.db}: no such file; name players to start a new one")
    if options.db is not None:
        _play_arena(options, options.db, chosen)
        return None
    db = _new_file()
    try:
        _play_arena(options, db, chosen)
    finally:
        _remove_without_games(db)
    if not options.json:
        print(f"\nresults: {db}")
    return None


def _verify_arena(options: argparse.Namespace) -> int:
    """Play games of a file again; return 1 if an answer differs."""
    from locmsim.arena import Arena, parse_seeds

    path, *lists = options.verify
    try:
        games = parse_seeds(",".join(lists)) if lists else None
    except OptionError as error:
        raise WrongUsage(f"--verify: {error.reason.replace('seeds', 'games')}") from None
    with ended_by_signals(), Arena.load(path) as arena:
        with contextlib.redirect_stdout(sys.stderr):  # agents may print
            found = arena.verify(games, force=options.force, **_machines(options))
        count = arena.tally.games if games is None else len(games)
        word = arena.settings.game.turn_name
    if options.json:
        import json

        print(json.dumps({"games": count, "differences": [one._asdict() for one in found]}))
        return int(bool(found))
    for one in found:
        print(f"game {one.number}: in {turn_words(one.turn, word)} {one.player} answered otherwise")
        for when, line in (("then", one.before), ("now", one.now)):
            print(f"    {when}: {'no answer' if line is None else printable(line)}")
    same = "all came out the same" if not found else f"{len(found)} came out differently"
    print(f"{counted(count, 'game')} played again: {same}")
    return int(bool(found))


@ended_by_signals()
def _play_arena(options: argparse.Namespace, db: str, chosen: dict[str, Any]) -> None:
    """Play the games that are missing in a file, and print the results."""
    from locmsim.arena import Arena

    with contextlib.ExitStack() as stack:
        with contextlib.redirect_stdout(sys.stderr):  # agents may print
            arena = stack.enter_context(
                Arena(db, options.players or None, force=options.force, **chosen)
            )
            with arena.together():
                _change_arena(options, arena)
        print(f"locmsim arena: {_to_play(arena)}", file=sys.stderr)
        try:
            progress = sys.stderr.isatty() and not options.verbose
            with contextlib.redirect_stdout(sys.stderr):
                arena.run(dask=options.dask, progress=progress, **_machines(options))
        except BaseException as error:
            if arena.tally.games:
                message = (
                    f"{arena.tally.games} of {arena.settings.count} games are in {db};"
                    f" to resume: locmsim arena --db {shlex.quote(db)}"
                )
                if isinstance(error, Stopped):
                    error.message = f"stopped; {message}"
                else:
                    print(message, file=sys.stderr)
            raise
        _print_arena(arena, options.json)


def _machines(options: argparse.Namespace) -> dict[str, Any]:
    """Return how games are distributed over the cores of this machine."""
    cores = 1 if options.cores is None else options.cores
    return {"jobs": options.jobs, "cores": cores, "isolate": options.isolate}


def _change_arena(options: argparse.Namespace, arena: "Arena") -> None:
    """Change a tournament as the options say."""
    from locmsim.arena import Sprt

    if options.games is not None:
        arena.set_games(options.games)
    if options.retire:
        arena.retire(options.retire)
    if options.add:
        arena.add(options.add, against=options.against, more=options.more)
    elif options.more is not None:
        arena.more(options.more, against=options.against)
    if options.sprt is not None:
        elo0, elo1 = options.sprt
        arena.set_test(Sprt(elo0, elo1, options.alpha, options.beta), options.sprt_of)
    elif options.no_sprt:
        arena.set_test(None)
    if options.anchor is not None:
        arena.set_anchor(*_anchor(options.anchor))


def _anchor(text: str) -> tuple[str, float]:
    """Return the player and the rating of ``NAME=ELO``."""
    name, _, elo = text.rpartition("=")
    with contextlib.suppress(ValueError):
        if name:
            return name, float(elo)
    raise WrongUsage(f"--anchor: expected a name and a rating such as greedy=1000, got {text!r}")


def _to_play(arena: "Arena") -> str:
    """Say how many games are played, or why none are and what changes that."""
    settings, left = arena.settings, arena.left
    if left:
        at_most = "" if settings.sprt is None else "at most "
        return f"{at_most}{counted(left, 'game')} to play"
    if arena.tally.decided:
        return (
            "nothing to play: its sequential test has decided; --no-sprt plays all games,"
            " --sprt ELO0 ELO1 sets another test"
        )
    done = f"all {counted(settings.count, 'game')} are played"
    if settings.retired:
        done = "all games of players who are not retired are played"
    if settings.segments:
        return f"nothing to play: {done}; --add NAME=PLAYER adds a player, --more N draws games"
    return f"nothing to play: {done}; --games N asks for more"


def _new_file() -> str:
    """Create a new file of results, named after the current time."""
    base = time.strftime("arena-%Y%m%d-%H%M%S")
    for attempt in itertools.count(1):
        name = f"{base}.db" if attempt == 1 else f"{base}-{attempt}.db"
        try:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            continue
        except OSError as error:
            raise Failure(
                f"cannot write results to {name}: {error.strerror}; --db names another file"
            ) from None
        return name
    raise AssertionError("not reached")


def _remove_without_games(db: str) -> None:
    """Remove the file that `_new_file` created if no game is in it."""
    from locmsim.arena.store import NoResultsError, Store, StoreError

    games = 0
    with contextlib.suppress(StoreError, OSError):
        try:
            with Store(db) as store:
                games = len(store)
        except NoResultsError:
            pass
        if not games:
            os.unlink(db)


def _show_arena(options: argparse.Namespace) -> None:
    from locmsim.arena import Arena

    ours = rb"group,card,offered_" if options.cards else rb"game,pair,seed,"
    check_output("--csv", options.csv, ours, options.force)
    for name in ("csv", "json"):
        if options.player is not None and not options.cards and getattr(options, name):
            raise WrongUsage(f"--player: does not apply with --{name} without --cards")
    with Arena.load(options.db) as arena:
        if options.cards:
            _print_cards(options, arena)
            return
        if options.stderr is not None:
            _print_stderr(arena, options.stderr)
            return
        if options.csv is not None:
            write(options.csv, arena.to_csv())
            return
        lost = arena.lost_table(options.player, _table_width())
        _print_arena(arena, options.json)
        if options.json:
            return
        if faults := arena.faults():
            db = shlex.quote(options.db)
            print(f"\nfaults, the first of each kind (locmsim arena show {db} --stderr GAME):")
            print(faults)
        if lost:
            name = options.player or arena.settings.players[0].name
            print(f"\nlost by {name}")
            one = f"{shlex.quote(options.db)}:GAME"
            if Part.REPLAY in arena.settings.game.parts:
                print(f"(locmsim replay {one} -o game.html makes a page of one):")
            else:
                print(f"(locmsim play --replay {one} --text shows one):")
            print(lost)


def _print_cards(options: argparse.Namespace, arena: "Arena") -> None:
    """Print or write what became of the cards."""
    from locmsim.arena.cards import cards_csv, cards_table

    # Of both players, all cards that both choose alike win half their games.
    name = options.player or arena.settings.players[0].name
    rows = arena.cards(name)
    if options.csv is not None:
        write(options.csv, cards_csv(rows))
    elif options.json:
        import json

        print(json.dumps([row.to_json() for row in rows], indent=1))
    else:
        print(f"cards of {name}\n")
        print(cards_table(rows, _table_width()), end="")


def _print_stderr(arena: "Arena", number: int) -> None:
    """Print the standard error output of both players of a game, turn by turn."""
    from locmsim.referee.any_game import stderr_text

    settings = arena.settings
    names = [settings.players[index].name for index in arena.record(number).outcome.players]
    print(stderr_text(arena.replay(number), settings.game.turn_name, names), end="")


def _print_arena(arena: "Arena", as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps(arena.to_json(), indent=1))
    else:
        print(arena.table(_table_width()), end="")


def _table_width() -> int | None:
    """Return the width of tables: names are shortened for terminals only, not in files."""
    return width() if sys.stdout.isatty() else None

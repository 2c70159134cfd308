"""The command line tool ``locmsim``.

A subcommand is two functions, one for its options and one that runs it. What only one subcommand
needs is imported when it runs: a referee is started once for every game.
"""

import argparse
import contextlib
import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from locmsim import __version__
from locmsim.rules.rulesets import RULES

if TYPE_CHECKING:
    from locmsim.arena import Arena
    from locmsim.referee.play import Result
    from locmsim.rules.cards import Card

__all__ = ["main"]

#: Names of the standard output. Opened as a file it would be written from its start again.
_STDOUT_PATHS = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


_SCALE_HELP = "multiply the time limits, 0 for none (default: 1)"
_IDS = ("new", "old")
_IDS_HELP = "instance ids: those of today or of the 2022 contest (default: new)"
_LIMIT_HELP = "time a bot has for all its answers together"
_LENIENT_HELP = "take what a bot writes before it is asked for its next answer"


class _Failure(Exception):
    """Ends the tool with a message and an exit code: 2 for wrong usage, else 1."""

    def __init__(self, message: object, code: int = 1) -> None:
        super().__init__(str(message))
        self.code = code


class _Command(NamedTuple):
    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; 0, or 1 for a failure.

    ``SystemExit`` with 2 for wrong usage, with 128 + n when signal n ends it.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="locmsim",
        description="Legends of Code and Magic for search bots. Without a COMMAND: play.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"locmsim {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in _COMMANDS.items():
        subparser = commands.add_parser(
            name, help=command.summary, description=command.summary, allow_abbrev=False
        )
        command.add_options(subparser)
        subparser.set_defaults(run=command.run, parser=subparser)
    if words and words[0].startswith("-") and words[0] not in ("-h", "--help", "--version"):
        words.insert(0, "play")
    if words[:1] == ["arena"] and words[1:2] not in (["show"], ["run"], ["-h"], ["--help"]):
        words.insert(1, "run")
    options = parser.parse_args(words)
    try:
        options.run(options)
        sys.stdout.flush()
    except _Failure as failure:
        if failure.code == 2:
            options.parser.error(str(failure))
        print(f"{options.parser.prog}: {failure}", file=sys.stderr)
        return failure.code
    except BrokenPipeError:
        # Whoever read the output has enough; the interpreter must not complain when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _number(low: float, allow_low: bool) -> Callable[[str], float]:
    """The type of an option that is a number above `low`, or `low` itself."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and (value > low or (allow_low and value == low))):
            expected = f"a number {'>=' if allow_low else '>'} {low:g}"
            raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
        return value

    return parse


# ---------------------------------------------------------------------------------------- play


def _add_play(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-p1", metavar="CMD", help="command of player 0's bot")
    add("-p2", metavar="CMD", help="command of player 1's bot")
    add("bots", nargs="*", metavar="CMD", help="both commands, without -p1 and -p2 before them")
    add(
        "-d",
        default="",
        metavar="DATA",
        help='parameters of the match, e.g. "seed=1 shufflePlayer0Seed=7"; repeated: the last wins',
    )
    add("-seed", "--seed", metavar="N", help="the same as seed=N in -d")
    add("-league", "--league", metavar="N", help="the same as league=N in -d (1.0)")
    add("-l", "--logs", metavar="FILE", help="write the match's log, one line of JSON")
    add("-s", "--server", action="store_true", help="print the match as text after the scores")
    add(
        "-r",
        "--replay",
        metavar="GAME",
        help="no match but one of before: a log (FILE) or a game of an arena's results (DB:NUMBER)",
    )
    add("--json", action="store_true", help="print the result as psyleague and cgarena want it")
    add("--rules", choices=tuple(RULES), default="1.5", help="rule set (default: %(default)s)")
    add("--ids", choices=_IDS, default="new", help=_IDS_HELP)
    scale = _number(0, allow_low=True)
    add("--timeout-scale", type=scale, default=1.0, metavar="X", help=_SCALE_HELP)
    add("--match-limit", type=_number(0, allow_low=False), metavar="SECONDS", help=_LIMIT_HELP)
    add("--lenient", action="store_true", help=_LENIENT_HELP)


def _play(options: argparse.Namespace) -> None:
    if options.logs is not None:
        _check_target(options.logs)
    if options.replay is None:
        result = _new_result(options)
    else:
        result = _old_result(options.replay, options)
    _print_result(result, options)


def _new_result(options: argparse.Namespace) -> "Result":
    """Play the match."""
    from locmsim.game.match import Match
    from locmsim.referee.play import play

    if options.bots:
        if len(options.bots) != 2 or options.p1 is not None or options.p2 is not None:
            raise _Failure("expected two commands, either way: CMD CMD or -p1 CMD -p2 CMD", code=2)
        options.p1, options.p2 = options.bots
    missing = [f"-{name}" for name in ("p1", "p2") if getattr(options, name) is None]
    if missing:
        raise _Failure(f"the following arguments are required: {', '.join(missing)}", code=2)
    try:
        params = _parameters(options.d)
        params.update({k: v for k in ("seed", "league") if (v := getattr(options, k)) is not None})
        match = Match(options.rules, params=params, ids=options.ids)
    except ValueError as error:
        raise _Failure(f"-d: {error}", code=2) from None
    try:
        with _ended_by_signals():
            return play(
                (options.p1, options.p2),
                match,
                timeout_scale=options.timeout_scale,
                match_limit=options.match_limit,
                lenient=options.lenient,
            )
    except OSError as error:
        raise _Failure(f"cannot run the match: {error}") from None


def _old_result(game: str, options: argparse.Namespace) -> "Result":
    """Replay the match of a log, or of an arena's results."""
    import json

    from locmsim.referee.transcript import replay_log

    if options.p1 is not None or options.p2 is not None or options.bots:
        raise _Failure("--replay: a match of before has no use for commands", code=2)
    db, colon, number = game.rpartition(":")
    try:
        if not os.path.exists(game) and colon and number.isdecimal():
            from locmsim.arena import Arena, StoreError

            try:
                with Arena.load(db) as arena:
                    return arena.replay(int(number))
            except StoreError as error:
                raise _Failure(error) from None
        with open(game, encoding="utf-8") as file:
            return replay_log(json.load(file), options.rules, options.ids)
    except OSError as error:
        raise _Failure(f"--replay: {error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise _Failure(f"--replay: {game}: {error}") from None


def _print_result(result: "Result", options: argparse.Namespace) -> None:
    from locmsim.referee import transcript

    out, logs = sys.stdout, options.logs
    if logs in _STDOUT_PATHS:
        out.write(transcript.log_line(result) + "\n")
    if options.json:
        import json

        out.write(json.dumps(transcript.tool_result(result)) + "\n")
    else:
        out.writelines(f"{score}\n" for score in result.scores)
        out.write(transcript.params_text(result.match))
        if options.server:
            out.write(transcript.match_text(result))
        if out.isatty():
            out.write(transcript.summary_text(result))
    if logs is not None and logs not in _STDOUT_PATHS:
        _write(logs, transcript.log_line(result) + "\n")


def _parameters(text: str) -> dict[str, int | str]:
    parameters: dict[str, int | str] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise ValueError(f"expected key=value, got {word!r}")
        parameters[key] = value
    return parameters


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the tool as Ctrl-C does: past the code that ends the bots."""
    numbers = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) != signal.SIG_IGN
    ]

    def end(number: int, frame: FrameType | None) -> None:
        for other in numbers:  # nothing may interrupt the clearing up
            signal.signal(other, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# --------------------------------------------------------------------------------------- cards


def _add_cards(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="print cards as a table")
    listing.add_argument(
        "file", nargs="?", metavar="FILE", help="card list file (default: the 160 cards of 1.x)"
    )
    listing.set_defaults(act=_list_cards)
    generate = actions.add_parser("generate", help="print or save the 120 cards of a seed (1.5)")
    generate.add_argument("seed", type=int, metavar="SEED", help="the referee's cardGenSeed")
    generate.add_argument("-w", "--weights", metavar="FILE", help="weights file of the generator")
    generate.add_argument("-o", "--output", metavar="FILE", help="save as a card list file")
    generate.set_defaults(act=_generate_cards)
    check = actions.add_parser("check", help="check card list files")
    check.add_argument("files", nargs="+", metavar="FILE")
    check.set_defaults(act=_check_cards)


def _cards(options: argparse.Namespace) -> None:
    try:
        options.act(options)
    except OSError as error:
        raise _Failure(f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise _Failure(error) from None


def _list_cards(options: argparse.Namespace) -> None:
    from locmsim.rules.cards import cards_1x, load_cards

    _print_cards(cards_1x() if options.file is None else load_cards(options.file))


def _generate_cards(options: argparse.Namespace) -> None:
    from locmsim.rules.cards import save_cards
    from locmsim.rules.generator import generate_cards, load_weights

    weights = None if options.weights is None else load_weights(options.weights)
    cards = generate_cards(options.seed, weights)
    if options.output is None:
        _print_cards(cards)
    else:
        save_cards(options.output, cards)


def _check_cards(options: argparse.Namespace) -> None:
    from locmsim.rules.cards import load_cards

    for path in options.files:
        print(f"{path}: {len(load_cards(path))} cards")


def _print_cards(cards: Sequence["Card"]) -> None:
    form = "{:>5} {:<8} {:>4} {:>6} {:>7} {:^9} {:>3} {:>3} {:>4} {:<6} {}"
    print("   id type     cost attack defense abilities  my opp draw area   name")
    for card in cards:
        base_id, _, *values, _ = card.to_row()
        row = (base_id, card.type.name.lower(), *values, card.area.name.lower(), card.name)
        print(form.format(*row).rstrip())


# --------------------------------------------------------------------------------------- bench


def _add_bench(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rules", choices=tuple(RULES), default="1.5", help="rule set (default: %(default)s)")
    add("--json", action="store_true", help="print JSON")
    add(
        "--seconds",
        type=_number(0, allow_low=False),
        default=12.0,
        metavar="S",
        help="time to measure for, about (default: %(default)g)",
    )
    add(
        "--signatures",
        action="store_true",
        help="measure nothing; print each rule set's bench signature as JSON",
    )


def _bench(options: argparse.Namespace) -> None:
    import json

    from locmsim import bench

    if options.signatures:
        print(json.dumps({rules: bench.signature(rules) for rules in RULES}, indent=1))
        return
    figures = bench.measure(options.rules, options.seconds)
    if options.json:
        print(json.dumps(bench.to_json(options.rules, figures), indent=1))
    else:
        print(bench.report(options.rules, figures), end="")


# --------------------------------------------------------------------------------------- perft


def _add_perft(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    position = parser.add_mutually_exclusive_group()
    position.add_argument("file", nargs="?", metavar="FILE", help="position file")
    position.add_argument(
        "--seed", type=int, metavar="N", help="start of a battle between random decks (default: 1)"
    )
    add("--depth", "-n", type=int, default=4, metavar="N", help="actions (default: %(default)s)")
    add("--rules", choices=tuple(RULES), help="rule set (default: the position's, else 1.5)")
    add("--divide", action="store_true", help="list the counts of the first actions too")


def _perft(options: argparse.Namespace) -> None:
    from locmsim.game.positions import divide, load_position, start_position

    if options.depth < 1:
        raise _Failure(f"--depth: expected at least 1, got {options.depth}", code=2)
    try:
        if options.file is None:
            seed = 1 if options.seed is None else options.seed
            state = start_position(seed, options.rules or "1.5")
        else:
            state = load_position(options.file, options.rules)
    except OSError as error:
        raise _Failure(f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise _Failure(error) from None
    if options.divide:
        for action, nodes in divide(state, options.depth):
            print(f"{action}: {nodes}")
        print()
    print(f"nodes: {state.perft(options.depth)}")


# --------------------------------------------------------------------------------------- arena


def _add_arena(parser: argparse.ArgumentParser) -> None:
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
        help='an agent ("baseline:time_ms=50"), a command ("./mybot --fast") or NAME=either',
    )
    add("--db", metavar="FILE", help="file of results; one that exists is gone on with")
    add("--games", type=int, metavar="N", help="games of each pairing (default: 200)")
    add("--rules", choices=tuple(RULES), help="rule set (default: 1.5)")
    add("--ids", choices=_IDS, help=_IDS_HELP)
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
    add("--timeout-scale", type=_number(0, allow_low=True), metavar="X", help=_SCALE_HELP)
    add("--match-limit", type=_number(0, allow_low=False), metavar="SECONDS", help=_LIMIT_HELP)
    add("--lenient", action="store_const", const=True, help=_LENIENT_HELP)
    add("--json", action="store_true", help="print JSON")


def _arena(options: argparse.Namespace) -> None:
    from locmsim.arena import ArenaError, StoreError

    try:
        options.act(options)
    except ValueError as error:
        raise _Failure(error, code=2) from None
    except (ArenaError, StoreError, OSError, ImportError) as error:
        raise _Failure(error) from None


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
        _ended_by_signals(),
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

    if options.csv is not None and options.csv not in _STDOUT_PATHS:
        _check_target(options.csv)
    with Arena.load(options.db) as arena:
        if options.csv is not None:
            _write(options.csv, arena.to_csv())
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


# ---------------------------------------------------------------------------------------- tune


def _add_tune(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--out", metavar="FILE", required=True, help="weights file, written in each iteration")
    add("--rules", choices=tuple(RULES), help="rule set (default: 1.5)")
    add(
        "--what",
        metavar="PARTS",
        help="some of eval,deck,draft,network (default: eval, and deck in rules 1.5)",
    )
    add("--weights", metavar="FILE", help="weights file to start from (default: our own weights)")
    add("--state", metavar="DIR", help="folder that keeps all; one that exists is resumed")
    add("--iterations", type=int, default=10, metavar="N", help="in all (default: %(default)s)")
    add("--games", type=int, metavar="N", help="games of an iteration (default: 4000)")
    add("--match-games", type=int, metavar="N", help="games of a deciding match (default: 1000)")
    add("--nodes", type=int, metavar="N", help="positions searched in a turn (default: 2000)")
    add("--pools", type=int, metavar="N", help="different card sets (default: 1000)")
    add("--seed", type=int, metavar="N", help="all that is random follows from it (default: 1)")
    add("--workers", type=int, metavar="N", help="processes (default: one for each core)")
    add("-v", "--verbose", action="store_true", help="log to stderr what is done")


def _tune(options: argparse.Namespace) -> None:
    import logging

    from locmsim.arena.workers import available_cores
    from locmsim.tuning import PARTS, Tuner

    _check_target(options.out)
    if options.verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    words = ["locmsim", "tune"]
    for name, value in vars(options).items():
        if name not in ("run", "parser", "workers", "verbose") and value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    names = ("rules", "games", "match_games", "nodes", "pools", "seed")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.what is not None:
        parts = set(options.what.split(","))
        known = [part for part in PARTS if part in parts]
        given["what"] = (*known, *sorted(parts.difference(known)))
    try:
        tuner = Tuner(given, start=options.weights, folder=options.state, command=shlex.join(words))
        tuner.write(options.out)
        with _ended_by_signals(), _tuning_progress() as (on_games, say):
            workers = len(available_cores()) if options.workers is None else options.workers
            try:
                for line in tuner.run(options.iterations, workers=workers, on_games=on_games):
                    tuner.write(options.out)
                    say(line)
            except SystemExit:
                print(_how_to_resume(options, tuner.iteration), file=sys.stderr)
                raise
    except ValueError as error:
        raise _Failure(error, code=2) from None
    except ImportError as error:
        raise _Failure(f'{error}: pip install "locmsim[tune]"') from None
    except OSError as error:
        raise _Failure(f"{error.filename}: {error.strerror}") from None
    if not tuner.accepted:
        print("no new weights were accepted")
    for match in tuner.accepted:
        print("iteration {iteration}: {what} won {score:.1%} of {games} games".format(**match))


def _how_to_resume(options: argparse.Namespace, iterations: int) -> str:
    said = f"locmsim tune: stopped after {iterations} complete iterations"
    if options.state is None:
        return (
            f"{said}; the best weights are in {options.out}, what was played since is lost:"
            " give --state DIR to keep it"
        )
    words = ["--state", options.state, "--out", options.out]
    command = shlex.join(["locmsim", "tune", *words, "--iterations", str(options.iterations)])
    return f"{said}; resume with: {command}"


@contextlib.contextmanager
def _tuning_progress() -> Iterator[tuple[Callable[[str, int, int], None], Callable[[str], None]]]:
    """A bar on the terminal for the games that are played; lines go above it."""
    from tqdm import tqdm

    with tqdm(unit="game", disable=None, file=sys.stderr, leave=False) as bar:

        def show(what: str, done: int, count: int) -> None:
            if bar.disable:
                return
            if bar.desc != f"{what}: ":
                bar.reset(total=count)
                bar.set_description(what, refresh=False)
            bar.update(done - bar.n)

        def say(line: str) -> None:
            tqdm.write(line, file=sys.stdout)
            sys.stdout.flush()

        yield show, say


# --------------------------------------------------------------------------------------- files


def _check_target(path: str) -> None:
    """Fail now, and not when there is something to write."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise _Failure(f"cannot write {path}: it is a folder", code=2)
    if not os.path.isdir(folder):
        raise _Failure(f"cannot write {path}: there is no folder {folder}", code=2)
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise _Failure(f"cannot write {path}: no permission", code=2)


def _write(path: str, text: str) -> None:
    from locmsim._io import write_whole

    if path in _STDOUT_PATHS:
        sys.stdout.write(text)
        return
    try:
        write_whole(path, text)
    except OSError as error:
        raise _Failure(f"cannot write {path}: {error.strerror}") from None


_COMMANDS = {
    "play": _Command("play a match between two bots that are programs", _add_play, _play),
    "cards": _Command("print, generate or check card lists", _add_cards, _cards),
    "bench": _Command("measure the simulator on this machine", _add_bench, _bench),
    "perft": _Command("count the sequences of legal actions", _add_perft, _perft),
    "arena": _Command("play many matches between players", _add_arena, _arena),
    "tune": _Command("improve weights by self-play", _add_tune, _tune),
}

"""The command line tool ``vestrock``: the server, its bots and files, and figures.

A command is two functions, one for its options and one that runs it. What only one command needs
is imported when it runs.
"""

import argparse
import contextlib
import getpass
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from locmsim.gamekit import Declared, Option, counted, declared, derived_seed
from locmsim.options.commands import (
    Failure,
    Parser,
    add_option,
    argument_of,
    end_soon,
    parsed,
    prepare_streams,
    run,
    sentence,
    value_errors,
)
from vestrock.bots import BOTS, make_bot
from vestrock.options import Parameters


class _Command(NamedTuple):
    summary: str
    add_options: Callable[[Parser], None]
    act: Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool and return its exit status, as `locmsim.options.commands.run`."""
    prepare_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = command_parser(words[0] if words else "")

    def parse() -> argparse.Namespace | None:
        if words:
            return parsed(parser, words)
        parser.print_help()
        return None

    return run(f"vestrock {words[0]}" if words and words[0] in _COMMANDS else "vestrock", parse)


def command_parser(chosen: str | None = None) -> Parser:
    """Return the parser of the tool, with the options of the command that was called, or of all."""
    parser = Parser(
        prog="vestrock",
        description="Run a server for the card game Vestrock, its bots and tournaments. To play"
        " matches without a server, use locmsim arena --game vestrock or locmsim play --game"
        " vestrock.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in _COMMANDS.items():
        subparser = commands.add_parser(
            name, help=command.summary, description=sentence(command.summary), allow_abbrev=False
        )
        if chosen in (None, name):
            command.add_options(subparser)
        subparser.set_defaults(run=command.act, parser=subparser)
    return parser


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Turn errors of arguments and files into a `Failure`."""
    try:
        with value_errors():
            yield
    except OSError as error:
        if error.filename is None:
            raise Failure(error.strerror or error) from None
        raise Failure(f"{error.filename}: {error.strerror}") from None


# ------------------------------------------------------------------------------------------ serve


def _add_match(parser: Parser) -> None:
    """Add the options for the parameters of a match."""
    group = parser.add_argument_group("parameters of the matches")
    for one in declared(Parameters).values():
        add_option(group, one)


def _match_parameters(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name) for name in declared(Parameters)}


#: Options of ``serve`` which are those of `Server`.
_SERVER = (
    "host", "port", "spectator_port", "accounts", "turn_seconds", "early", "players",
    "break_turns", "tournaments", "seed", "standings", "log", "log_refused",
)  # fmt: skip
#: The port that servers and bots use unless another one is given.
_PORT = 4711


def _add_serve(parser: Parser) -> None:
    from vestrock.server import Server

    known = declared(Server)
    files = dict.fromkeys(("accounts", "log", "standings"), "FILE")
    for name in _SERVER:
        one = known[name]._replace(default=_PORT) if name == "port" else known[name]
        more = {"metavar": files[name]} if name in files else {}
        if name == "standings":  # in memory, which nobody sees
            more["help"] = f"{one.option.text} (default: none)"
        add_option(parser, one, **more)
    parser.add_argument(
        "--spectators",
        choices=("late", "open"),
        default="late",
        help="late: spectators get lines one turn late, with numbers for names; open: at once,"
        " unchanged (default: %(default)s)",
    )
    parser.add_argument(
        "--deck",
        action="append",
        default=[],
        metavar="FILE",
        help="play with this deck instead of generated ones (repeatable)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="report tournaments and turns")
    _add_match(parser)
    parser.needs("--spectator-port", "--spectators")
    parser.needs("--log", "--log-refused")
    parser.rules_out("--deck", "--seed")


def _serve(options: argparse.Namespace) -> None:
    import asyncio

    from vestrock.server import Server, ServerFailedError
    from vestrock.standings import StandingsError

    logging.basicConfig(
        level=logging.INFO if options.verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(message)s",
    )

    async def serve() -> None:
        server = Server(
            **{name: getattr(options, name) for name in _SERVER},
            open_spectators=options.spectators == "open",
            decks=options.deck,
            **_match_parameters(options),
        )
        await server.start()
        loop = asyncio.get_running_loop()
        ended: list[int] = []

        def end(number: int) -> None:
            """End in order; at the second signal, soon."""
            if ended:
                end_soon(number)
            ended.append(number)
            server.stop()

        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(number, end, number)
        watching = (
            "" if server.spectator_port is None else f", spectators on {server.spectator_port}"
        )
        print(f"listening on {server.host} port {server.port}{watching}", flush=True)
        await server.run()

    with _explained():
        try:
            asyncio.run(serve())
        except (StandingsError, ServerFailedError) as error:
            raise Failure(error) from None


# -------------------------------------------------------------------------------------------- bot


def _add_bot(parser: Parser) -> None:
    add = parser.add_argument
    add("bot", metavar="BOT", help=f"one of {', '.join(BOTS)}, with options after a colon")
    add(
        "--host",
        default="127.0.0.1",
        metavar="HOST",
        help="address of the server (default: %(default)s)",
    )
    port = Option("port of the server", 1, 65535)
    add_option(parser, Declared("port", int, _PORT, port))
    add("--user", metavar="NAME", help="name of the account (default: the bot's name)")
    add(
        "--password",
        metavar="WORD",
        help="password of the account (default: $VESTROCK_PASSWORD, else the account's name)",
    )
    add_option(parser, Declared("seed", int, 0, Option("seed of the bot")))
    turn = Option(
        "duration of a turn on the server (default: measured, from 0.25 s up)",
        0.01,
        3600.0,
        measured_in="seconds",
    )
    add_option(parser, Declared("turn_seconds", float, None, turn))
    reserve = Option("part of each turn reserved for the network", 0.0, measured_in="seconds")
    add_option(parser, Declared("reserve", float, 0.2, reserve))
    again = Option(
        "how long to retry after a lost connection or when the server is full",
        0.0,
        measured_in="seconds",
    )
    add_option(parser, Declared("reconnect", float, 60.0, again))


def _bot(options: argparse.Namespace) -> None:
    from vestrock.client import (
        Client,
        LoginError,
        ServerClosedError,
        ServerFullError,
    )
    from vestrock.player import Player

    with _explained():
        bot = make_bot(options.bot, options.seed)
        if options.turn_seconds is not None and options.reserve >= options.turn_seconds:
            raise ValueError(
                f"--reserve: expected less than --turn-seconds, {options.turn_seconds:g},"
                f" got {options.reserve:g}"
            )
    user = options.user or options.bot.partition(":")[0]
    password = options.password or os.environ.get("VESTROCK_PASSWORD") or user

    def connect(*, again: bool = True) -> Client:
        """Connect, retrying while the server is full or, if it was reached before, restarting."""
        deadline, delay = time.monotonic() + options.reconnect, 0.1
        while True:
            try:
                return Client(options.host, options.port, user, password)
            except OSError as error:
                stays = isinstance(error, (LoginError, ServerClosedError)) or not again
                if stays and not isinstance(error, ServerFullError):
                    raise
                if time.monotonic() + delay > deadline:
                    raise
            time.sleep(delay)
            delay = min(2 * delay, 4.0)

    try:
        with value_errors():
            client = connect(again=False)
    except OSError as error:
        raise Failure(f"{options.host} port {options.port}: {error}") from None
    player = Player(client, bot, turn_seconds=options.turn_seconds, reserve_seconds=options.reserve)
    try:
        player.run(connect)
    except (OSError, ValueError) as error:
        raise Failure(f"{options.host} port {options.port}: {error}") from None
    finally:
        player.client.close()
        figures = player.figures
        errors = {code: n for code, n in sorted(figures.replies.items()) if code}
        print(
            f"{user}: {counted(figures.turns, 'turn')}, {counted(figures.moves, 'move')},"
            f" {counted(figures.commands, 'command')}, errors {errors or 'none'},"
            f" late {figures.late},"
            f" longest turn {figures.longest:.3f} s"
        )


# ------------------------------------------------------------------------------------------ deck


def _add_deck(parser: Parser) -> None:
    from vestrock.deck import MAX_CARDS

    seed = Declared("seed", int, None, Option("any integer; the same seed gives the same deck"))
    parser.add_argument("seed", **{**argument_of(seed), "metavar": "SEED"})
    cards = Declared("n", int, 100, Option("number of cards", 1, MAX_CARDS))
    parser.add_argument("-n", **argument_of(cards))
    parser.add_argument(
        "--extreme", action="store_true", help="use the whole range of values, for tests"
    )


def _deck(options: argparse.Namespace) -> None:
    from vestrock.deck import extreme_deck, format_deck, generate_deck

    with _explained():
        deck = (extreme_deck if options.extreme else generate_deck)(options.seed, options.n)
    sys.stdout.write(format_deck(deck))


# ------------------------------------------------------------------------------------- tournament


def _add_tournament(parser: Parser) -> None:
    add = parser.add_argument
    add("bots", nargs="+", metavar="BOT", help="two or more bots; NAME=BOT gives one a name")
    number = Option("number of tournaments", 1, 10**9)
    add_option(parser, Declared("tournaments", int, 10, number))
    seed = Option("seed of the decks: tournament k has that of seed N + k")
    add_option(parser, Declared("seed", int, 0, seed))
    limit = Option("time per turn (default: that of the bot)", 0.0, 1e9, measured_in="ms")
    add_option(parser, Declared("time_ms", float, None, limit))
    add(
        "--standings",
        default=":memory:",
        metavar="FILE",
        help="file of standings, created if missing (default: none)",
    )
    _add_match(parser)


def _bot_seed(seed: int, number: int, seat: int) -> int:
    """Return a bot's seed, different for each tournament and bot."""
    return derived_seed(seed, f"{number} {seat}")


def _tournament(options: argparse.Namespace) -> None:
    from vestrock.deck import generate_deck
    from vestrock.protocol import VALID_NAME
    from vestrock.standings import Standings, StandingsError, format_standings
    from vestrock.tournament import Tournament

    specs: dict[str, str] = {}
    with _explained():
        for word in options.bots:
            name, equals, spec = word.partition("=")
            if not equals or not VALID_NAME.fullmatch(name):
                name, spec = word.partition(":")[0], word
            make_bot(spec)
            if name in specs:
                raise ValueError(f"{name}: two bots have this name, name one with NAME={spec}")
            specs[name] = spec
    try:
        with Standings(options.standings) as standings, _explained():
            first = standings.last + 1
            for number in range(first, first + options.tournaments):
                deck = generate_deck(options.seed + number)
                tournament = Tournament(number, deck, specs, _match_parameters(options))
                bots = {
                    name: make_bot(spec, _bot_seed(options.seed, number, seat))
                    for seat, (name, spec) in enumerate(specs.items())
                }
                tournament.play(bots, options.time_ms)
                standings.add(number, tournament.results.values(), tournament.awards())
                if standings.failed:
                    break
            print(format_standings(standings.table()), end="")
    except StandingsError as error:
        raise Failure(error) from None


# --------------------------------------------------------------------- standings, replay, accounts


def _add_standings(parser: Parser) -> None:
    parser.add_argument("db", metavar="DB", help="file of standings that a server wrote")


def _standings(options: argparse.Namespace) -> None:
    from vestrock.standings import Standings, StandingsError, format_standings

    try:
        with Standings(options.db, write=False) as standings:
            print(format_standings(standings.table()), end="")
    except StandingsError as error:
        raise Failure(error) from None


def _add_replay(parser: Parser) -> None:
    parser.add_argument("log", metavar="LOG", help="log that a server wrote")


def _replay(options: argparse.Namespace) -> None:
    from vestrock.eventlog import ReplayError, replay

    with _explained():
        try:
            with open(options.log, "rb") as file:
                done = replay(file)
        except ReplayError as error:
            raise Failure(f"{options.log}: {error}") from None
    print(
        f"{counted(done.tournaments, 'tournament')}, {done.matches} matches,"
        f" {counted(done.actions, 'action')}: scores, final states and awards match the log;"
        f" {counted(done.cut, 'tournament')} cut short"
    )


def _add_account(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="file of accounts, created if missing")
    parser.add_argument("name", metavar="NAME", help="name of the account")
    parser.description = (
        "Add an account or change its password, which is read from the standard input."
    )


def _account(options: argparse.Namespace) -> None:
    from vestrock.accounts import FileAccounts

    password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    with _explained():
        FileAccounts.set_password(options.file, options.name, password)


# ------------------------------------------------------------------------------------------ bench


def _add_bench(parser: Parser) -> None:
    add = parser.add_argument
    add("--json", action="store_true", help="print JSON")
    seconds = Option(
        "approximate duration of the measurement", 0.0, above=True, measured_in="seconds"
    )
    add_option(parser, Declared("seconds", float, 12.0, seconds))
    add("--signature", action="store_true", help="measure nothing; print the bench signature")
    parser.rules_out("--signature", "--json", "--seconds")


def _bench(options: argparse.Namespace) -> None:
    import json
    from dataclasses import asdict

    from locmsim.gamekit import Watch, hardware, measure, table
    from vestrock import bench

    if options.signature:
        print(bench.signature())
        return
    watch = Watch()
    watch.look()
    figures = measure("vestrock", bench.functions(), options.seconds)
    watch.look()
    known = {**hardware(), "signature": str(bench.signature())}
    if options.json:
        found = {"machine": known, "figures": [asdict(figure) for figure in figures]}
        print(json.dumps({**found, "warnings": watch.warnings}, indent=1))
    else:
        lines = [f"{key:<9} {value}" for key, value in known.items()]
        print("\n".join([*lines, *table(figures)]))
    for warning in watch.warnings:
        print(f"vestrock bench: warning: {warning}", file=sys.stderr)


_COMMANDS = {
    "serve": _Command("run a server for tournaments", _add_serve, _serve),
    "bot": _Command("play on a server with a bot of this package", _add_bot, _bot),
    "deck": _Command("print a generated deck", _add_deck, _deck),
    "tournament": _Command("let bots play tournaments for awards", _add_tournament, _tournament),
    "standings": _Command(
        "print the standings of a server's tournaments", _add_standings, _standings
    ),
    "replay": _Command("check a server's log by replaying it", _add_replay, _replay),
    "bench": _Command("measure kernel, playouts and bots on this machine", _add_bench, _bench),
    "account": _Command("add an account to a file, or change a password", _add_account, _account),
}

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
from typing import NamedTuple

from locmsim.commands import (
    Failure,
    Parser,
    end_soon,
    parsed,
    prepare_streams,
    run,
    sentence,
)
from locmsim.gamekit import counted, derived_seed
from vestrock.bots import BOTS, make_bot

__all__ = ["command_parser", "main"]


class _Command(NamedTuple):
    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    act: Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool and return its exit status, as `locmsim.commands.run`."""
    prepare_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = command_parser()

    def parse() -> argparse.Namespace | None:
        if words:
            return parsed(parser, words)
        parser.print_help()
        return None

    return run(f"vestrock {words[0]}" if words and words[0] in _COMMANDS else "vestrock", parse)


def command_parser() -> Parser:
    """Return the parser of the tool with all its commands."""
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
        command.add_options(subparser)
        subparser.set_defaults(run=command.act, parser=subparser)
    return parser


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Turn errors of arguments and files into a `Failure`."""
    try:
        yield
    except ValueError as error:
        raise Failure(error, code=2) from None
    except OSError as error:
        if error.filename is None:
            raise Failure(error.strerror or error) from None
        raise Failure(f"{error.filename}: {error.strerror}") from None


# ------------------------------------------------------------------------------------------ serve


def _add_match(parser: argparse.ArgumentParser) -> None:
    """Add the options for the parameters of a match."""
    add = parser.add_argument
    add("--init-hp", type=int, metavar="N", help="initial health (default: 20)")
    add("--turns", type=int, metavar="N", help="turns per match, over both players (default: 60)")
    add("--draws", type=int, metavar="N", help="cards that a player may draw per turn (default: 2)")
    add("--burns", type=int, metavar="N", help="cards that a player may burn per turn (default: 2)")
    add(
        "--hand-limit",
        type=int,
        metavar="N",
        help="largest number of cards in a hand (default: 10)",
    )


def _match_parameters(options: argparse.Namespace) -> dict[str, int]:
    names = ("init_hp", "turns", "draws", "burns", "hand_limit")
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def _add_serve(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--host",
        default="127.0.0.1",
        metavar="HOST",
        help="address to listen on (default: %(default)s)",
    )
    add(
        "--port",
        type=int,
        default=4711,
        metavar="N",
        help="port; 0: any free one (default: %(default)s)",
    )
    add(
        "--spectator-port",
        type=int,
        metavar="N",
        help="port that sends spectators the lines of the log; 0: any free one",
    )
    add(
        "--spectators",
        choices=("late", "open"),
        default="late",
        help="late: spectators get lines one turn late, with numbers for names; open: at once,"
        " unchanged (default: %(default)s)",
    )
    add(
        "--accounts",
        metavar="FILE",
        help="file of accounts (default: any name may play; its first login sets the password)",
    )
    add(
        "--turn-seconds",
        type=float,
        default=1.0,
        metavar="S",
        help="duration of a turn (default: %(default)s)",
    )
    add("--early", action="store_true", help="end a turn as soon as all players are in WAIT")
    add(
        "--players",
        type=int,
        default=2,
        metavar="N",
        help="number of players that a tournament waits for (default: %(default)s)",
    )
    add(
        "--break-turns",
        type=int,
        default=2,
        metavar="N",
        help="length of the break between tournaments in turns (default: %(default)s)",
    )
    add("--tournaments", type=int, metavar="N", help="stop after N tournaments")
    add(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="tournament k has the deck of seed N + k (default: %(default)s)",
    )
    add(
        "--deck",
        action="append",
        default=[],
        metavar="FILE",
        help="play with this deck instead of generated ones (repeatable)",
    )
    add(
        "--standings",
        default=":memory:",
        metavar="DB",
        help="file of standings, created if missing",
    )
    add("--log", metavar="FILE", help="append all events to FILE, one line of JSON each")
    add("--log-refused", action="store_true", help="log refused commands too")
    add("-v", "--verbose", action="store_true", help="report tournaments and turns")
    _add_match(parser)


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
            host=options.host,
            port=options.port,
            spectator_port=options.spectator_port,
            open_spectators=options.spectators == "open",
            accounts=options.accounts,
            turn_seconds=options.turn_seconds,
            early=options.early,
            players=options.players,
            break_turns=options.break_turns,
            tournaments=options.tournaments,
            seed=options.seed,
            decks=options.deck,
            standings=options.standings,
            log=options.log,
            log_refused=options.log_refused,
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


def _add_bot(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bot", metavar="BOT", help=f"one of {', '.join(BOTS)}, with options after a colon")
    add(
        "--host",
        default="127.0.0.1",
        metavar="HOST",
        help="address of the server (default: %(default)s)",
    )
    add(
        "--port",
        type=int,
        default=4711,
        metavar="N",
        help="port of the server (default: %(default)s)",
    )
    add("--user", metavar="NAME", help="name of the account (default: the bot's name)")
    add(
        "--password",
        metavar="WORD",
        help="password of the account (default: $VESTROCK_PASSWORD, else the account's name)",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of the bot (default: %(default)s)")
    add(
        "--turn-seconds",
        type=float,
        default=1.0,
        metavar="S",
        help="duration of a turn on the server (default: %(default)s)",
    )
    add(
        "--reserve",
        type=float,
        default=0.2,
        metavar="S",
        help="part of each turn reserved for the network (default: %(default)s)",
    )
    add(
        "--reconnect",
        type=float,
        default=60.0,
        metavar="S",
        help="how long to retry after a lost connection or when the server is full"
        " (default: %(default)g)",
    )


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
        if not options.turn_seconds > 0:
            raise ValueError(f"--turn-seconds: expected more than 0, got {options.turn_seconds}")
        if not 0 <= options.reserve < options.turn_seconds:
            raise ValueError(f"--reserve: expected less than a turn, got {options.reserve}")
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
        client = connect(again=False)
    except ValueError as error:
        raise Failure(error, code=2) from None
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


def _add_deck(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("seed", type=int, metavar="SEED", help="any integer; the same seed gives the same deck")
    add("-n", type=int, default=100, metavar="N", help="number of cards (default: %(default)s)")
    add("--extreme", action="store_true", help="use the whole range of values, for tests")


def _deck(options: argparse.Namespace) -> None:
    from vestrock.deck import extreme_deck, format_deck, generate_deck

    with _explained():
        deck = (extreme_deck if options.extreme else generate_deck)(options.seed, options.n)
    sys.stdout.write(format_deck(deck))


# ------------------------------------------------------------------------------------- tournament


def _add_tournament(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bots", nargs="+", metavar="BOT", help="two or more bots; NAME=BOT gives one a name")
    add(
        "--tournaments",
        type=int,
        default=10,
        metavar="N",
        help="number of tournaments (default: %(default)s)",
    )
    add(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="tournament k has the deck of seed N + k (default: %(default)s)",
    )
    add("--time-ms", type=float, metavar="X", help="time per turn (default: that of the bot)")
    add(
        "--standings",
        default=":memory:",
        metavar="DB",
        help="file of standings, created if missing",
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
        if options.tournaments < 1:
            raise ValueError(f"--tournaments: expected at least 1, got {options.tournaments}")
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


def _add_standings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("db", metavar="DB", help="file of standings that a server wrote")


def _standings(options: argparse.Namespace) -> None:
    from vestrock.standings import Standings, StandingsError, format_standings

    try:
        with Standings(options.db, write=False) as standings:
            print(format_standings(standings.table()), end="")
    except StandingsError as error:
        raise Failure(error) from None


def _add_replay(parser: argparse.ArgumentParser) -> None:
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


def _add_account(parser: argparse.ArgumentParser) -> None:
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


def _add_bench(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--json", action="store_true", help="print JSON")
    add(
        "--seconds",
        type=float,
        default=12.0,
        metavar="S",
        help="approximate duration of the measurement (default: %(default)g)",
    )
    add("--signature", action="store_true", help="measure nothing; print the bench signature")


def _bench(options: argparse.Namespace) -> None:
    import json
    from dataclasses import asdict

    from locmsim.gamekit import Watch, hardware, measure, table
    from vestrock import bench

    if options.signature:
        print(bench.signature())
        return
    if not 0 < options.seconds < float("inf"):
        raise Failure(f"--seconds: expected more than 0, got {options.seconds}", code=2)
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

"""``locmsim play``: play a match, or show an earlier one."""

import argparse
import contextlib
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import (
    DECKS_HELP,
    FORCE_HELP,
    GAME_HELP,
    IDS_HELP,
    STDOUT_PATHS,
    Failure,
    Parser,
    WrongUsage,
    check_output,
    color_wanted,
    ended_by_signals,
    value_errors,
    write,
)
from locmsim.cli._players import game_of, seat_from
from locmsim.cli._shared import SEED, add_shared
from locmsim.options.commands import add_option
from locmsim.options.declarations import Declared, Option
from locmsim.support.files import printable
from locmsim.support.seeds import agent_seed

if TYPE_CHECKING:
    from locmsim.contract import Game
    from locmsim.game.match import Match
    from locmsim.referee.live import LiveLog
    from locmsim.referee.process_match import Result

#: What the line about a fault begins with, where parameters are printed.
_FAULT = "fault="


def add_options(parser: Parser) -> None:
    """Declare the options."""
    add = parser.add_argument_group("players").add_argument
    add(
        "bots",
        nargs="*",
        metavar="BOT",
        help='a bot: a command, or an agent such as "greedy"; one for each player',
    )
    add("-p1", metavar="BOT", help="player 0, instead of the first BOT")
    add("-p2", metavar="BOT", help="player 1, instead of the second BOT")
    group = parser.add_argument_group("the match")
    add = group.add_argument
    add_shared(group, "--rules", help="rule set (default: 1.5, or that of the log)")
    add_shared(group, "--seed", "-seed", help="seed of the match, instead of that of -d")
    add(
        "-d",
        default="",
        metavar="DATA",
        help="parameters of the match as the Java referee reads them, such as"
        ' "seed=1 shufflePlayer0Seed=7"; of several -d the last one counts',
    )
    league = Option("league, 1 to 4, in rules 1.0, instead of that of -d", 1, 4)
    add_option(group, Declared("league", int, None, league), "-league")
    add_shared(group, "--ids", help=IDS_HELP)
    group.add_argument("--decks", metavar="AGENT", help=DECKS_HELP)
    add_shared(group, "--game", help=GAME_HELP)
    add(
        "-r",
        "--replay",
        metavar="GAME",
        help="show an earlier match instead: a log (FILE) or a game of an arena (DB:NUMBER)",
    )
    group = parser.add_argument_group("time limits and faults")
    add_shared(group, "--timeout-scale", default=1.0)
    add_shared(group, "--match-limit")
    add_shared(group, "--clock", default="wall")
    add_shared(group, "--memory-limit")
    add_shared(group, "--lenient")
    add_shared(group, "--isolate")
    group = parser.add_argument_group("output")
    add = group.add_argument
    add(
        "-l",
        "--logs",
        metavar="FILE",
        help="write the match's log as one line of JSON; -: print it",
    )
    add(
        "-s",
        "--server",
        action="store_true",
        help="show the match in the browser until Ctrl-C; where that is not possible, as --text;"
        " tools give it together with --json, which rules the page out",
    )
    add("--text", action="store_true", help="print the match as text after the scores")
    add(
        "--stderr",
        action="store_true",
        help="print what each bot wrote to its standard error, turn by turn",
    )
    add_shared(group, "--json", help="print the result in the format of psyleague and cgarena")
    add_shared(group, "--force", help=FORCE_HELP)
    parser.rules_out(
        "--replay", "BOT", "-p1", "-p2", "--seed", "-d", "--league", "--game", "--timeout-scale",
        "--match-limit", "--clock", "--memory-limit", "--lenient", "--isolate", "--decks",
    )  # fmt: skip
    parser.rules_out("--json", "--text", "--stderr")
    parser.needs("--logs", "--force")


@ended_by_signals()
def run(options: argparse.Namespace) -> int:
    """Play or replay the match, print and log it; return 1 if a bot could not be started,
    unless the JSON of a tool says so.
    """
    check_output("--logs", options.logs, rb'\{"(errors|game)":', options.force)
    # Tools that run a referee treat anything on its standard error as a failure of the match.
    by_a_tool = options.json or (not options.bots and not sys.stderr.isatty())
    #: None for Legends of Code and Magic, whose output shows more than other games can.
    game = _game(options)
    no_page = _no_page(options) if options.server else ""
    page = _LivePage() if options.server and not no_page and options.replay is None else None
    with page or contextlib.nullcontext():
        return _run(options, game, by_a_tool, page)


def _run(
    options: argparse.Namespace, game: "Game | None", by_a_tool: bool, page: "_LivePage | None"
) -> int:
    if options.replay is None:
        result = _new_result(options, game, page)
        names = options.p1, options.p2
    else:
        from locmsim.cli._matches import load_played

        result, names, game = load_played(options.replay, "--replay", options.rules, options.ids)
        game = None if _watched(game) else game
    no_page = _no_page(options) if options.server else ""
    # Whatever becomes of the output, the log is written; if it cannot be, the result is printed.
    unwritten = None
    if options.logs is not None and options.logs not in STDOUT_PATHS:
        try:
            write(options.logs, _log_line(result, names, game) + "\n")
        except Failure as failure:
            unwritten = failure
    options.say_fault = by_a_tool  # where nothing else does
    _print_result(result, options, names, game, text=options.text or bool(no_page))
    if no_page and not by_a_tool:
        sys.stdout.flush()
        print(f"locmsim play: -s: this is the text, as by --text; {no_page}", file=sys.stderr)
    if not by_a_tool and not sys.stdout.isatty():
        _print_problems(result, "turn" if game is None else game.turn_name)
    if unwritten is not None:
        raise unwritten
    if page is not None:
        page.stay(result, names, game)
    elif options.server and not no_page:
        _serve(result, names, options.replay if game else "")
    if options.json:  # which tells it; a league ends, for everybody, if this does not end with 0
        return 0
    not_started = result.fault is not None and result.fault.kind == "start failed"
    return int(not_started and options.replay is None)


def _print_problems(result: "Result[Any]", turn_name: str) -> None:
    """Say on the standard error what went wrong with the bots."""
    from locmsim.referee.any_game import fault_text
    from locmsim.referee.illegal import illegal_text

    sys.stdout.flush()
    for line in illegal_text(result, turn_name).splitlines():
        print(f"locmsim play: {line}", file=sys.stderr)
    if result.fault:
        print(f"locmsim play: {fault_text(result, words=True)}", file=sys.stderr)


def _watched(game: "Game | None") -> bool:
    from locmsim.contract import Part

    return game is None or Part.REPLAY in game.parts


def _game(options: argparse.Namespace) -> "Game | None":
    """Return the game that ``--game`` names; None for Legends of Code and Magic."""
    if options.game is None:
        return None
    from locmsim.arena import LocmGame

    game: Game = game_of(options)
    if not isinstance(game, LocmGame):
        return game
    options.locm, options.rules, options.ids = game, game.rules, game.ids
    return None


def _log_line(result: "Result[Any]", names: tuple[str, str], game: "Game | None") -> str:
    """Return the log of the match as one line of JSON."""
    if game is None:
        from locmsim.referee.transcript import log_line

        return log_line(result, names)
    from locmsim.arena.registry import game_to_json
    from locmsim.referee.any_game import plain_log

    return plain_log(result, game_to_json(game), names)


def _no_page(options: argparse.Namespace) -> str:
    """Why the match is not shown in the browser; empty if it can be."""
    from importlib.util import find_spec

    if options.json:
        return "--json rules out the page"
    if not sys.stdout.isatty():
        return "the page in the browser needs a terminal"
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        return "the page in the browser needs the extra web: pip install 'locmsim[web]'"
    return ""


def _serve(result: "Result[Match]", names: tuple[str, str], source: str) -> None:
    """Show the match in the browser until Ctrl-C; one of another game is read from its source."""
    from locmsim.support.database import numbered_entry
    from locmsim.web.library import Library
    from locmsim.web.server import serve
    from locmsim.web.site import Site

    def ready(url: str) -> None:
        print(f"\n{url} shows the match; Ctrl-C ends", flush=True)

    if not source:
        library = Library()
        key = library.add(result, names)
    elif (entry := numbered_entry(source)) is not None:
        db, number = entry
        library, key = Library(dbs=[db]), f"d0:{number}"
    else:
        library = Library([source])
        key = library.matches()["matches"][0]["key"]
    serve(Site(library), path=f"match/{key}", ready=ready)


class _LivePage:
    """Serve the page of a match while it is played, and afterwards until Ctrl-C."""

    def __init__(self) -> None:
        # The agents' prints go to the standard error.
        self._out = sys.stdout
        self._open = contextlib.ExitStack()

    def begin(self, match: Any, names: tuple[str, str], begun: dict[str, Any] | None) -> "LiveLog":
        """Serve it, and say where; what is given back is to be told of the answers.

        `begun` is as for `LiveLog`.
        """
        import tempfile

        from locmsim.contract import LIVE_SUFFIX
        from locmsim.referee.live import LiveLog
        from locmsim.web.library import Library
        from locmsim.web.server import serving
        from locmsim.web.site import Site

        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="locmsim-"))
        log = self._open.enter_context(
            LiveLog(os.path.join(folder, f"a{LIVE_SUFFIX}"), match, names, begun)
        )
        self._library = Library([folder])
        ((self._key, _),) = self._library.live.running()
        url = self._open.enter_context(serving(Site(self._library), path=f"match/{self._key}"))
        print(f"\n{url} shows the match; Ctrl-C ends", file=self._out, flush=True)
        return log

    def stay(self, result: "Result[Any]", names: tuple[str, str], game: "Game | None") -> None:
        """The match is over: it can be watched until Ctrl-C."""
        import threading

        if game is None:  # the view of another game stays as it is
            self._library.add(result, names, live=self._key)
        threading.Event().wait()

    def __enter__(self) -> "_LivePage":
        return self

    def __exit__(self, *exception: object) -> None:
        self._open.close()


def _new_result(
    options: argparse.Namespace, game: "Game | None", page: _LivePage | None
) -> "Result[Any]":
    """Play the match and return its result."""
    names = ("BOT", "BOT") if options.bots else ("-p1", "-p2")
    if options.bots:
        if len(options.bots) != 2 or options.p1 is not None or options.p2 is not None:
            raise WrongUsage("expected two bots: BOT BOT or -p1 BOT -p2 BOT")
        options.p1, options.p2 = options.bots
    missing = [f"-{name}" for name in ("p1", "p2") if getattr(options, name) is None]
    if missing:
        raise WrongUsage(f"the following arguments are required: {', '.join(missing)}")
    if options.isolate or any(" " in bot or os.sep in bot for bot in (options.p1, options.p2)):
        # Bots that are processes: what starts them gets ready while the match is created.
        from locmsim.processes.supervisor import prepare

        prepare()
    match = _new_match(options) if game is None else _match_of(game, options)
    with contextlib.redirect_stdout(sys.stderr):  # agents' prints are not the result
        return _played(options, match, names, game, page)


def _match_of(game: "Game", options: argparse.Namespace) -> Any:
    """Return a match of another game, whose only parameter is the seed."""
    import random

    try:
        params = _parameters(options.d)
        match_seed = SEED(str(params.pop("seed"))) if "seed" in params else None
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise WrongUsage(f"-d: {error}") from None
    if params or options.league is not None:
        name = f"-d: {next(iter(params))}" if params else "--league"
        raise WrongUsage(f"{name}: does not apply to {game.title}; its options belong to --game")
    if options.seed is not None:
        match_seed = options.seed
    return game.new_match(random.getrandbits(32) if match_seed is None else match_seed)


def _begun(game: "Game", match: Any) -> dict[str, Any]:
    """What the match of another game is made from again."""
    from locmsim.arena.registry import game_to_json

    return {"game": game_to_json(game), "seed": int(match.params["seed"]), "card_seed": None}


def _played(
    options: argparse.Namespace,
    match: Any,
    names: tuple[str, str],
    game: "Game | None",
    page: _LivePage | None,
) -> "Result[Any]":
    from locmsim.processes.usage import check_measurable
    from locmsim.referee.agent_process import IsolatedAgent, UnusableAgentError
    from locmsim.referee.locm_agents import LocmAgents
    from locmsim.referee.players import Seat
    from locmsim.referee.process_match import play

    agents = game or LocmAgents(match.rules)
    shown = (options.p1, options.p2)
    decks = _decks(options.decks, agents, shown)
    bots, choosers = [], {}
    with value_errors():
        check_measurable(options.clock, options.memory_limit)
        for player, (text, name) in enumerate(zip(shown, names, strict=True)):
            seed = agent_seed(int(match.params.get("seed", 0)), player)
            seat = seat_from(text, name, agents, decks)
            bots.append(seat.player(seed, isolate=options.isolate))
            if decks and seat.process:
                choosers[player] = Seat(decks, agents, "--decks").player(seed)
    watching: list[LiveLog] = []

    def on_call(call: Any) -> None:
        for log in watching:
            log.add(call)

    try:
        with contextlib.ExitStack() as logs:
            begun = None if game is None else _begun(game, match)
            if options.logs not in (None, *STDOUT_PATHS):
                from locmsim.contract import LIVE_SUFFIX
                from locmsim.referee import live

                # Beside the log, so that `locmsim web` on its folder shows the match while it is
                # played.
                watching.append(
                    logs.enter_context(
                        live.LiveLog(f"{options.logs}{LIVE_SUFFIX}", match, shown, begun)
                    )
                )
            if page is not None:
                watching.append(page.begin(match, shown, begun))
            result = play(
                bots,
                match,
                timeout_scale=options.timeout_scale,
                match_limit=options.match_limit,
                clock=options.clock,
                memory_limit=options.memory_limit,
                lenient=options.lenient,
                on_call=on_call,
                choosers=choosers,
            )
            result = replace(result, decks=decks)
    except OSError as error:
        raise Failure(f"cannot run the match: {error}") from None
    except UnusableAgentError as error:
        raise WrongUsage(error) from None
    # What an agent prints is shown wherever it plays. If it failed, that follows with its fault.
    for player, bot in enumerate(bots):
        if isinstance(bot, IsolatedAgent) and not (result.fault and result.fault.player == player):
            sys.stderr.write(printable(result.stderr[player]))
    return result


def _decks(text: str | None, agents: Any, bots: tuple[str, str]) -> str:
    """Return the description of the agent of ``--decks`` that chooses cards; "" without it."""
    if text is None:
        return ""
    if not hasattr(agents, "combined"):
        raise WrongUsage(f"--decks: nobody chooses cards in {agents.title}")
    from locmsim.referee.players import Seat

    with value_errors("--decks"):
        decks: str = agents.chooser(text)
    with value_errors():
        Seat(decks, agents, "--decks").check()
        for bot in filter(agents.is_agent, bots):
            agents.refuse_own_cards(bot, "decks", "which chooses the cards")
    return decks


def _new_match(options: argparse.Namespace) -> "Match":
    """Return the match; `Failure` names the option that was wrong."""
    from locmsim.game.match import Match

    options.rules, options.ids = options.rules or "1.5", options.ids or "new"
    if options.ids == "old" and options.rules != "1.5":
        raise WrongUsage(f"--ids: does not apply to rules {options.rules}, whose ids never changed")
    if options.league is not None and options.rules != "1.0":
        raise WrongUsage(f"-league: only rules 1.0 have leagues, not {options.rules}")
    with value_errors("-d"):
        params = _parameters(options.d)
        _warn_of_seeds(params, options.rules)
        params.update({k: v for k in ("seed", "league") if (v := getattr(options, k)) is not None})
        if (game := getattr(options, "locm", None)) is not None:  # it may have its own cards
            match: Match = game.match_of(params)
            return match
        return Match(options.rules, params=params, ids=options.ids)


def _warn_of_seeds(params: dict[str, int | str], rules: str) -> None:
    """Say which seeds are ignored, as by the Java referee, because they are not integers."""
    from locmsim.rules.cards import parse_integer
    from locmsim.rules.rulesets import get_rules

    for name in ("seed", *get_rules(rules).seed_names):
        if name in params and parse_integer(str(params[name]), 64) is None:
            print(
                f"locmsim play: -d: {name}: expected a signed 64-bit integer, got"
                f" {params[name]!r}: it is ignored",
                file=sys.stderr,
            )


def _print_result(
    result: "Result[Any]",
    options: argparse.Namespace,
    names: tuple[str, str],
    game: "Game | None",
    text: bool,
) -> None:
    from locmsim.referee import transcript

    out = sys.stdout
    if options.logs in STDOUT_PATHS:
        out.write(_log_line(result, names, game) + "\n")
    if options.json:
        import json

        out.write(json.dumps(transcript.tool_result(result)) + "\n")
        return
    known = _named(names)
    out.writelines(f"{score}\n" for score in result.scores)
    out.write(transcript.params_text(result.match))
    if result.fault and options.say_fault:
        fault = result.fault
        reason = " ".join(printable(fault.message).split())
        out.write(f"{_FAULT}{fault.kind}: player {fault.player}: {reason}\n")
    if text or out.isatty():
        from locmsim.referee.any_game import plain_text, summary_text
        from locmsim.referee.locm_text import match_text

        word = "turn" if game is None else game.turn_name
        if text and game is None:
            out.write(match_text(result, color=color_wanted(), names=known))
        elif text:
            out.write(plain_text(result, word, known))
        if out.isatty():
            out.write("\n" * text + summary_text(result, word, known))
    if options.stderr:
        from locmsim.referee.any_game import stderr_text

        out.write(stderr_text(result, "turn" if game is None else game.turn_name, known))


def _named(names: tuple[str, str]) -> tuple[str, str]:
    """Return the names without what is none: a command, or what referees write for the nameless."""
    first, second = (
        "" if name == f"Player {player}" or {" ", "/"} & {*name} else name
        for player, name in enumerate(names)
    )
    return first, second


def _parameters(text: str) -> dict[str, int | str]:
    """Return parameters; some tools write the line breaks between them as a backslash and an n.

    What was printed behind them about a fault is skipped.
    """
    parameters: dict[str, int | str] = {}
    words, _, _ = text.replace("\\n", "\n").partition(_FAULT)
    for word in words.split():
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise ValueError(f"expected key=value, got {word!r}")
        parameters[key] = value
    return parameters

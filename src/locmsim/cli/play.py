"""``locmsim play``: one match, or one of before."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

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
    from locmsim.game.match import Match
    from locmsim.referee.play import Result

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
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
    add("--ids", choices=IDS, default="new", help=IDS_HELP)
    scale = number(0, allow_low=True)
    add("--timeout-scale", type=scale, default=1.0, metavar="X", help=SCALE_HELP)
    add("--match-limit", type=number(0, allow_low=False), metavar="SECONDS", help=LIMIT_HELP)
    add("--lenient", action="store_true", help=LENIENT_HELP)


def run(options: argparse.Namespace) -> None:
    if options.logs is not None:
        check_target(options.logs)
    if options.replay is None:
        result = _new_result(options)
    else:
        result = _old_result(options.replay, options)
    _print_result(result, options)


def _new_result(options: argparse.Namespace) -> "Result[Match]":
    """Play the match."""
    from locmsim.game.match import Match
    from locmsim.referee.play import play

    if options.bots:
        if len(options.bots) != 2 or options.p1 is not None or options.p2 is not None:
            raise Failure("expected two commands, either way: CMD CMD or -p1 CMD -p2 CMD", code=2)
        options.p1, options.p2 = options.bots
    missing = [f"-{name}" for name in ("p1", "p2") if getattr(options, name) is None]
    if missing:
        raise Failure(f"the following arguments are required: {', '.join(missing)}", code=2)
    try:
        params = _parameters(options.d)
        params.update({k: v for k in ("seed", "league") if (v := getattr(options, k)) is not None})
        match = Match(options.rules, params=params, ids=options.ids)
    except ValueError as error:
        raise Failure(f"-d: {error}", code=2) from None
    try:
        with ended_by_signals():
            return play(
                (options.p1, options.p2),
                match,
                timeout_scale=options.timeout_scale,
                match_limit=options.match_limit,
                lenient=options.lenient,
            )
    except OSError as error:
        raise Failure(f"cannot run the match: {error}") from None


def _old_result(game: str, options: argparse.Namespace) -> "Result[Match]":
    """Replay the match of a log, or of an arena's results."""
    import json

    from locmsim.referee.transcript import replay_log

    if options.p1 is not None or options.p2 is not None or options.bots:
        raise Failure("--replay: a match of before has no use for commands", code=2)
    db, colon, number = game.rpartition(":")
    try:
        if not os.path.exists(game) and colon and number.isdecimal():
            from locmsim.arena import Arena, StoreError

            try:
                with Arena.load(db) as arena:
                    return arena.replay(int(number))
            except StoreError as error:
                raise Failure(error) from None
        with open(game, encoding="utf-8") as file:
            return replay_log(json.load(file), options.rules, options.ids)
    except OSError as error:
        raise Failure(f"--replay: {error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"--replay: {game}: {error}") from None


def _print_result(result: "Result[Match]", options: argparse.Namespace) -> None:
    from locmsim.referee import transcript

    out, logs = sys.stdout, options.logs
    if logs in STDOUT_PATHS:
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
    if logs is not None and logs not in STDOUT_PATHS:
        write(logs, transcript.log_line(result) + "\n")


def _parameters(text: str) -> dict[str, int | str]:
    parameters: dict[str, int | str] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise ValueError(f"expected key=value, got {word!r}")
        parameters[key] = value
    return parameters

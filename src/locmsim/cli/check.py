"""``locmsim check``: test whether a bot keeps the protocol, and how long it takes."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import GAME_HELP, Failure, WrongUsage, ended_by_signals, value_errors
from locmsim.cli._players import game_of, seat_from
from locmsim.cli._shared import add_shared
from locmsim.support.files import counted, printable

if TYPE_CHECKING:
    from locmsim.contract import Game
    from locmsim.referee.checks import Check, CheckResult

#: After so many checks in a row that failed alike, no more are played.
_ALIKE = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Play matches that test a bot: in both seats, with full and empty boards, hands and decks,"
        " with opponents who pass, and others. Each has a line; the exit status is 1 if one failed."
        f" After {_ALIKE} checks in a row that failed alike no more are played."
    )
    parser.add_argument("bot", metavar="BOT", help='a command, or an agent such as "greedy"')
    add_shared(parser, "--rules", help="rule set of the game locm (default: 1.5)")
    add_shared(parser, "--game", help=GAME_HELP)
    add_shared(parser, "--timeout-scale", default=1.0)
    add_shared(parser, "--json")


@ended_by_signals()
def run(options: argparse.Namespace) -> int:
    """Play the checks; return 1 if the bot failed in one."""
    game: Any = game_of(options)
    if not hasattr(game, "checks"):
        raise WrongUsage(f"--game: {game.title} has no checks")
    seat = seat_from(options.bot, "BOT", game)
    with value_errors():
        seat.known()  # what is wrong with an agent is said here
    command: Any = seat.text if seat.process else game.command_of(options.bot, 0)
    if command is None:
        raise WrongUsage(f"BOT: {options.bot} is no program, and has none in {game.title}")
    checks = game.checks()
    results = _played(checks, command, game, options)
    left_out = len(checks) - len(results)
    # The first one again, to see whether the bot repeats itself.
    again = None if left_out else _play(checks[0], command, game, options)
    alike = None if again is None else again.answers == results[0].answers
    if options.json:
        import json

        shown = [_as_json(one) for one in results]
        print(json.dumps({"checks": shown, "left_out": left_out, "repeats": alike}))
    else:
        _print_summary(results, alike, left_out)
    return int(any(one.fault for one in results))


def _played(
    checks: "Sequence[Check]", command: Any, game: "Game", options: argparse.Namespace
) -> list["CheckResult"]:
    """Play the checks, and print them if wanted, until several in a row fail alike."""
    results: list[CheckResult] = []
    for check in checks:
        results.append(_play(check, command, game, options))
        last = {one.cause for one in results[-_ALIKE:]}
        if not options.json:
            before = results[-2].stderr if len(results) > 1 else ""
            _print(results[-1], before)
        if len(results) >= _ALIKE and len(last) == 1 and results[-1].fault:
            break
    return results


def _play(check: "Check", command: Any, game: Any, options: argparse.Namespace) -> "CheckResult":
    from locmsim.referee.checks import run_check

    try:
        found = run_check(check, command, game.new_match, game.check_agent, options.timeout_scale)
    except OSError as error:
        raise Failure(f"cannot run the bot: {error}") from None
    if found.fault.startswith("start failed") or "(start failed)" in found.fault:
        raise Failure(f"BOT: {found.fault}")
    return found


def _print(found: "CheckResult", before: str) -> None:
    """Print a result; an output on the standard error that equals the one `before` is left out."""
    illegal = f", {counted(len(found.illegal), 'illegal action')}" if found.illegal else ""
    verdict = "FAILED" if found.fault else "ok"
    print(f"{verdict:8}{found.check.name}: {counted(len(found.answers), 'answer')}{illegal}")
    if found.fault:
        print(f"        {printable(found.fault)}")
        from locmsim.referee.any_game import end_of_stderr

        for line in [] if found.stderr == before else end_of_stderr(found.stderr):
            print(f"        | {line}")
    elif found.illegal:
        first = found.illegal[0]
        print(f"        first in turn {first.turn}: {first.action} ({first.reason})")
    sys.stdout.flush()


def _print_summary(results: list["CheckResult"], alike: bool | None, left_out: int) -> None:
    from locmsim.referee.checks import percentile

    choices, firsts, others = [], [], []
    for one in results:
        turns = [time for time in one.times if time[0] is not None]
        choices += one.times[: len(one.times) - len(turns)]
        firsts += turns[:1]
        others += turns[1:]
    print()
    for name, some in (("choice phase", choices), ("first turn", firsts), ("other turns", others)):
        if some:
            spent = [ms for _, ms, _ in some]
            limit = f", limit {some[-1][2]:g} ms" if some[-1][2] else ""
            print(
                f"{name}: mean {sum(spent) / len(spent):.1f} ms,"
                f" 99 % within {percentile(spent, 0.99):.1f} ms, worst {max(spent):.1f} ms{limit}"
            )
    if alike is not None:
        print(f"answers alike in equal matches: {'yes' if alike else 'no'}")
    failed = sum(bool(one.fault) for one in results)
    verdict = f"{failed} failed" if failed else "all passed"
    if illegal := sum(len(one.illegal) for one in results):
        verdict += f", with {counted(illegal, 'illegal action')}"
    print(f"{counted(len(results), 'check')}: {verdict}")
    if left_out:
        print(
            f"the last {_ALIKE} failed alike: {counted(left_out, 'further check')}"
            f" {'was' if left_out == 1 else 'were'} left out"
        )


def _as_json(found: "CheckResult") -> dict[str, Any]:
    return {
        "name": found.check.name,
        "fault": found.fault,
        "stderr": found.stderr,
        "answers": len(found.answers),
        "illegal": [one._asdict() for one in found.illegal],
        "times": [{"turn": turn, "ms": ms, "limit_ms": limit} for turn, ms, limit in found.times],
    }

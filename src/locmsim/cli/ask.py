"""``locmsim ask``: what a bot would do now in a match of before."""

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from locmsim.cli._common import IDS, Failure, ended_by_signals, number
from locmsim.cli._players import as_bot
from locmsim.contract import start_turn
from locmsim.rules.rulesets import RULES

if TYPE_CHECKING:
    from locmsim.agents.base import Agent
    from locmsim.game.match import Match
    from locmsim.referee.play import Call, Result

__all__ = ["add_options", "run"]

#: What a debugging bot may take for an answer, in the place of the rules' limits.
_SCALE = 25.0
_STDERR_LINES = 15


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Send a bot what a player was sent in a match of before, up to a turn, and show its new"
        " answer beside the old one. It sees the old match whatever it answers: cards that it"
        " would have chosen otherwise are still those of the old deck."
    )
    add = parser.add_argument
    add("bot", metavar="BOT", help='a command, or an agent such as "greedy"')
    add("game", metavar="GAME", help="a log (FILE), a game of results (DB:NUMBER); --lost: DB")
    add("--turn", type=int, metavar="N", help="turn, counted over both players from 0")
    add("--done", metavar="LINE", help="--turn: what was done in it; an agent finds the rest")
    add("--lost", action="store_true", help="the last turns of all games that a player has lost")
    add("--player", metavar="NAME", help="--lost: whose games (default: the first player's)")
    add("--last", type=int, default=3, metavar="N", help="--lost: turns of a game (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="seed of an agent (%(default)s)")
    add("--rules", choices=tuple(RULES), help="rule set of a log (default: found out)")
    add("--ids", choices=IDS, help="instance ids of a log (default: found out)")
    add(
        "--timeout-scale",
        type=number(0, allow_low=True),
        default=_SCALE,
        metavar="X",
        help="multiply the time limits, 0 for none (default: %(default)g)",
    )
    add("--json", action="store_true", help="print JSON")


class _Answer(NamedTuple):
    """A turn of before and the new answer to it."""

    call: "Call"
    line: str | None
    same: bool
    problem: str
    stderr: str


def run(options: argparse.Namespace) -> None:
    """Ask the bot, and print what it answers."""
    from locmsim.cli._replay import load_result

    if options.lost == (options.turn is not None):
        raise Failure("expected one of --turn and --lost", code=2)
    if options.done is not None and options.lost:
        raise Failure("--done is for one --turn", code=2)
    with ended_by_signals():
        if options.lost:
            _ask_lost(options)
            return
        result, names = load_result(options.game, "GAME", options.rules, options.ids)
        (answer,) = _asked(options, result, [options.turn])
    if options.json:
        print(json.dumps(_as_json(answer), indent=1))
        return
    _print_answer(answer, names)


def _ask_lost(options: argparse.Namespace) -> None:
    from locmsim.arena import Arena, StoreError

    found: list[dict[str, Any]] = []
    turns = changed = 0
    try:
        with Arena.load(options.game) as arena:
            name = options.player or arena.settings.players[0].name
            games = arena.lost(options.player)
            for game in games:
                result = arena.replay(game)
                outcome = arena.record(game).outcome
                names = [arena.settings.players[index].name for index in outcome.players]
                seat = names.index(name)
                asked = [c.turn for c in result.calls if c.player == seat and c.turn is not None]
                try:
                    answers = _asked(options, result, asked[-max(1, options.last) :])
                except Failure as failure:  # one game is no reason to leave out the others
                    print(f"locmsim ask: game {game}: {failure}", file=sys.stderr)
                    continue
                for answer in answers:
                    turns += 1
                    changed += not answer.same
                    found.append({"game": game, **_as_json(answer)})
    except StoreError as error:
        raise Failure(error) from None
    except ValueError as error:
        raise Failure(f"--lost: {error}", code=2) from None
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for entry in found:
        if not entry["same"]:
            print(f"game {entry['game']}, turn {entry['turn']}")
            print(f"    was: {entry['old']}")
            print(f"    now: {entry['new'] if entry['new'] is not None else entry['problem']}")
    print(f"{len(games)} games lost by {name}: {changed} of {turns} answers changed")


def _asked(
    options: argparse.Namespace, result: "Result[Match]", turns: Sequence[int]
) -> list[_Answer]:
    """The answers to some turns of one player."""
    calls = {call.turn: call for call in result.calls if call.turn is not None}
    for turn in turns:
        if turn not in calls:
            raise Failure(
                f"--turn: the match has turns 0 to {max(calls, default=-1)}, got {turn}", code=2
            )
    if not turns:
        return []
    player = calls[turns[0]].player
    until = max(turns)
    mine = [
        call
        for call in result.calls
        if call.player == player and (call.turn is None or call.turn <= until)
    ]
    with contextlib.redirect_stdout(sys.stderr):  # what an agent prints is not its answer
        bot = as_bot(options.bot, "BOT")
        if options.done is not None and not hasattr(bot, "go_on"):
            raise Failure(f"--done: {options.bot} cannot go on with a turn, as beam and mcts can")
        if isinstance(bot, str):
            return _ask_program(options, bot, result, mine, turns)
        return _ask_agent(options, bot, result, mine, turns)


def _ask_program(
    options: argparse.Namespace,
    command: str,
    result: "Result[Match]",
    calls: "Sequence[Call]",
    turns: Sequence[int],
) -> list[_Answer]:
    from locmsim.referee.process import BotFault, BotProcess, new_token, stop

    token = new_token()
    answers = []
    try:
        process = BotProcess(command, token)
    except BotFault as fault:
        raise Failure(f"BOT: {fault.message}") from None
    try:
        for call in calls:
            line, problem = None, ""
            limit = _limit_ms(result, call) * options.timeout_scale / 1000 or None
            try:
                line, _ = process.ask(call.text or "", limit, lenient=True)
            except BotFault as fault:
                problem = f"{fault.kind}: {fault.message}"
            if call.turn in turns:
                answers.append(_compared(result, call, line, problem, process.stderr_tail()))
            elif problem:
                at = "the choice phase" if call.turn is None else f"turn {call.turn}"
                words = process.stderr_tail().rstrip()
                raise Failure(f"BOT failed before that, in {at}: {problem}\n{words}".rstrip())
            if problem:
                break
    finally:
        stop([process], token)
    return answers


def _ask_agent(
    options: argparse.Namespace,
    agent: "Agent",
    result: "Result[Match]",
    calls: "Sequence[Call]",
    turns: Sequence[int],
) -> list[_Answer]:
    import traceback

    from locmsim.game.observation import Observation

    agent.reset(options.seed)
    answers = []
    for call in calls:
        observation = Observation.parse(call.text or "", result.match.rules)
        ask = agent.choose if observation.phase == "choice" else agent.act
        line, problem, words = None, "", ""
        try:
            start_turn(agent, _limit_ms(result, call) * options.timeout_scale or None)
            line = ask(observation)
            if options.done is not None and call.turn in turns:
                rest = agent.go_on(options.done)  # type: ignore[attr-defined]
                line = ";".join(filter(None, [options.done, rest]))
        except Exception as error:
            problem = f"raised {type(error).__name__}: {error}"
            words = traceback.format_exc()
        if call.turn in turns:
            answers.append(_compared(result, call, line, problem, words))
        elif problem:
            at = "the choice phase" if call.turn is None else f"turn {call.turn}"
            raise Failure(f"BOT failed before that, in {at}: {problem}\n{words}".rstrip())
        if problem:
            break
    return answers


def _limit_ms(result: "Result[Match]", call: "Call") -> int:
    rules = RULES[result.match.rules]
    if call.turn is None:
        return rules.choice_limits_ms[0]
    return rules.battle_limits_ms[call.turn > 1]


def _compared(
    result: "Result[Match]", call: "Call", line: str | None, problem: str, stderr: str
) -> _Answer:
    """Answers are the same if they come to the same position."""
    from locmsim.referee.text import position_after

    assert call.turn is not None
    same = False
    if line is not None and call.answer is not None:
        old = position_after(result, call.turn, call.answer)
        same = old is not None and old == position_after(result, call.turn, line)
    return _Answer(call, line, same, problem, stderr)


def _as_json(answer: _Answer) -> dict[str, Any]:
    return {
        "turn": answer.call.turn,
        "player": answer.call.player,
        "old": answer.call.answer,
        "new": answer.line,
        "same": answer.same,
        "problem": answer.problem,
        "stderr": answer.stderr,
    }


def _print_answer(answer: _Answer, names: Sequence[str]) -> None:
    call = answer.call
    name = names[call.player]
    known = f" ({name})" if name not in ("", f"Player {call.player}") else ""
    print(f"turn {call.turn}, the turn of player {call.player}{known}")
    print(f"    was: {call.answer if call.answer is not None else 'no answer'}")
    print(f"    now: {answer.line if answer.line is not None else answer.problem}")
    if answer.line is not None:
        print(f"    {'the same' if answer.same else 'changed'}")
    if words := answer.stderr.rstrip():
        print("standard error:")
        for line in words.splitlines()[-_STDERR_LINES:]:
            print(f"    {line}")
    sys.stdout.flush()

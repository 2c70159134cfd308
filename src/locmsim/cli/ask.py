"""``locmsim ask``: show what a bot would answer now in an earlier match."""

import argparse
import contextlib
import json
import sys
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from locmsim.cli._common import (
    NOTHING,
    Failure,
    Parser,
    WrongUsage,
    check_output,
    ended_by_signals,
    value_errors,
    write,
)
from locmsim.cli._players import kept_agents, seat_from
from locmsim.cli._runs import failures, finish
from locmsim.cli._shared import add_shared, default_jobs
from locmsim.contract import Part, turn_words
from locmsim.options.commands import add_option
from locmsim.options.declarations import Declared, Option
from locmsim.support.files import counted, printable

if TYPE_CHECKING:
    from locmsim.arena import Arena
    from locmsim.referee.players import Seat
    from locmsim.referee.process_match import Call
    from locmsim.web.sources import Played

#: Default of --timeout-scale: a bot that is being debugged needs more than the rules' limits.
_SCALE = 25.0
_CANNOT_CONTINUE = "cannot continue a turn; beam and mcts can"


def add_options(parser: Parser) -> None:
    """Declare the options."""
    parser.description = (
        "Send a bot the input that a player got in an earlier match, up to a turn, and show its"
        " new answer beside the old one. The input never changes with the bot's answers: even if it"
        " would choose other cards, it plays on with the deck of the earlier match."
    )
    add = parser.add_argument
    add("bot", metavar="BOT", help='a command, or an agent such as "greedy"')
    add(
        "source",
        metavar="GAME",
        help="a log (FILE) or a game of results (DB:NUMBER); with --lost: DB",
    )
    add_shared(parser, "--turn")
    add_shared(
        parser,
        "--done",
        help="with --turn: actions already played in it; the agent continues from there",
    )
    add(
        "--input",
        metavar="FILE",
        help="with --turn: write what the bot is sent up to there to a file, for a debugger",
    )
    add_shared(parser, "--force", help="with --input: overwrite the file")
    add_shared(
        parser,
        "--lost",
        help="ask about the last turns of every game that a player lost",
    )
    add_shared(parser, "--player", help="with --lost: whose games (default: the first player's)")
    last = Option("with --lost: number of turns per game", 1, 1000)
    add_option(parser, Declared("last", int, 3, last))
    add_shared(parser, "--jobs", help="with --lost: number of processes (default: all cores)")
    add_shared(parser, "--seed", default=0, help="seed of an agent (default: %(default)s)")
    add_shared(parser, "--rules", help="rule set of a log (default: detected)")
    add_shared(
        parser,
        "--ids",
        help="instance ids of a log (default: detected); answers are shown in the new ones",
    )
    add_shared(
        parser,
        "--timeout-scale",
        default=_SCALE,
        help="factor of all time limits, as a debugger needs; 0: no limits (default: %(default)g)",
    )
    add_shared(parser, "--json")
    parser.rules_out("--lost", "--turn", "--done", "--rules", "--ids")
    parser.needs("--lost", "--player", "--last", "--jobs")
    parser.needs("--turn", "--done", "--input")
    parser.needs("--input", "--force")


class _NewAnswer(NamedTuple):
    """An earlier turn and the new answer to it."""

    call: "Call"
    was: str | None
    line: str | None
    same: bool
    problem: str
    stderr: str


def run(options: argparse.Namespace) -> None:
    """Ask the bot and print its answers."""
    from locmsim.cli._matches import load_played

    if options.lost == (options.turn is not None):
        raise WrongUsage("expected one of --turn and --lost")
    if options.lost:
        _ask_lost(options)
        return
    check_output("--input", options.input, NOTHING, options.force)
    with ended_by_signals():
        played = load_played(options.source, "GAME", options.rules, options.ids)
        if options.input is not None:  # before the bot is asked, which may end or hang
            write(options.input, _input(played, options.turn))
        (answer,) = _asked(options, played, [options.turn])
    if options.json:
        print(json.dumps(_as_json(answer, played), indent=1))
        return
    _print_answer(answer, played)


def _input(played: "Played", turn: int) -> str:
    """Return all that the player of a turn was sent up to it."""
    player = _calls(played, [turn])[turn].player
    upto = [call for call in played.result.calls if call.turn is None or call.turn <= turn]
    return "".join(call.text or "" for call in upto if call.player == player)


def _calls(played: "Played", turns: Sequence[int]) -> "dict[int, Call]":
    """Return the calls of a match by turn; `Failure` if it lacks one of these turns."""
    calls = {call.turn: call for call in played.result.calls if call.turn is not None}
    for turn in turns:
        if turn not in calls:
            raise WrongUsage(
                f"--turn: the match has {played.game.turn_name}s 0 to {max(calls, default=-1)},"
                f" got {turn}"
            )
    return calls


def _ask_lost(options: argparse.Namespace) -> None:
    from locmsim.arena import Arena
    from locmsim.processes.workers import TaskRunner, local_workers
    from locmsim.web.sources import Played

    found: dict[int, list[_NewAnswer]] = {}
    with failures(), Arena.load(options.source) as arena:
        name = options.player or arena.settings.players[0].name
        with value_errors("--player"):
            games = [outcome.number for outcome in arena.games(lost_by=name)]
        seat = _seat(options, arena.settings.game)
        with value_errors():
            seat.known()
        # What a worker needs to know; the parser stays here.
        names = ("bot", "source", "last", "seed", "timeout_scale", "done")
        plain = argparse.Namespace(**{one: getattr(options, one) for one in names}, parser=None)
        plain.player = name

        def steps() -> Generator[tuple[int, int]]:
            jobs = min(default_jobs(options) or 1, max(1, len(games)))
            with local_workers(jobs, ()) as workers:
                runner = TaskRunner(
                    workers,
                    games,
                    lambda executor, game: executor.submit(_asked_in, plain, game),
                    name=lambda game: f"game {game}",
                )
                for done, (game, future) in enumerate(runner, 1):
                    try:
                        found[game] = future.result()
                    except Failure as failure:  # one bad game must not hide the others
                        print(f"locmsim ask: game {game}: {failure}", file=sys.stderr)
                    yield done, len(games)

        def show() -> None:
            shown = []
            for game in sorted(found):
                played = Played(arena.replay(game), _names(arena, game), arena.settings.game)
                shown += [(game, answer, played) for answer in found[game]]
            if options.json:
                rows = [
                    {"game": game, **_as_json(answer, played)} for game, answer, played in shown
                ]
                print(json.dumps(rows, indent=1))
                return
            for game, answer, played in shown:
                if not answer.same:
                    print(f"game {game}, turn {answer.call.turn}")
                    _print_lines(answer, played)
            changed = sum(not answer.same for _, answer, _ in shown)
            total = counted(len(shown), "answer")
            print(f"{counted(len(games), 'game')} lost by {name}: {changed} of {total} changed")

        try:
            finish(steps(), "game", show)
        finally:
            kept_agents().end()


def _names(arena: "Arena", game: int) -> tuple[str, str]:
    first, second = arena.record(game).outcome.players
    return arena.settings.players[first].name, arena.settings.players[second].name


def _asked_in(options: argparse.Namespace, game: int) -> list[_NewAnswer]:
    """Return the answers in a lost game; runs in a worker, whose agents play on in the next one."""
    from locmsim.arena import Arena
    from locmsim.web.sources import Played

    with Arena.load(options.source) as arena:
        names = _names(arena, game)
        played = Played(arena.replay(game), names, arena.settings.game)
    seat = names.index(options.player)
    turns = [c.turn for c in played.result.calls if c.player == seat and c.turn is not None]
    return _asked(options, played, turns[-options.last :], kept=True)


def _seat(options: argparse.Namespace, game: Any) -> "Seat":
    """Return who is asked; `Failure` for what does not apply to them."""
    seat = seat_from(options.bot, "BOT", game)
    if seat.process and options.parser and "seed" in options.parser.present:
        raise WrongUsage("--seed: BOT is a program, only an agent has a seed")
    return seat


def _asked(
    options: argparse.Namespace, played: "Played", turns: Sequence[int], kept: bool = False
) -> list[_NewAnswer]:
    """Return the bot's answers to some turns of one player; an agent may be one that is kept."""
    from locmsim.referee.agent_process import (
        CannotContinueError,
        IsolatedAgent,
        UnusableAgentError,
    )
    from locmsim.referee.process import BotFault

    result = played.result
    calls = _calls(played, turns)
    if not turns:
        return []
    player = calls[turns[0]].player
    with contextlib.redirect_stdout(sys.stderr):  # an agent's prints are not its answer
        seat = _seat(options, played.game)
        with value_errors():
            match = result.match.root()
            bot = (
                kept_agents().player(seat, options.seed, match)
                if kept
                else seat.player(options.seed)
            )
        # Of an agent of others, its process says so.
        continues = isinstance(bot, IsolatedAgent) or hasattr(bot, "continue_turn")
        if options.done is not None and not continues:
            raise WrongUsage(f"--done: {options.bot} {_CANNOT_CONTINUE}")
        try:
            answers = [*_answers(options, played, player, turns, bot)]
        except BotFault as fault:
            kept_agents().end()
            raise Failure(f"BOT: {fault.message}\n{fault.traceback}".rstrip()) from None
        except CannotContinueError:
            raise WrongUsage(f"--done: BOT {_CANNOT_CONTINUE}") from None
        except UnusableAgentError as error:
            raise WrongUsage(error) from None
        if any(answer.problem for answer in answers):
            kept_agents().end()
        return answers


def _answers(
    options: argparse.Namespace, played: "Played", player: int, turns: Sequence[int], bot: Any
) -> Iterator[_NewAnswer]:
    """Yield the answers to these turns; `Failure` if the bot fails before one of them.

    They are the same if they lead to the same position; the lines have today's ids.
    """
    from locmsim.referee.again import asked_again
    from locmsim.referee.any_game import position_after

    for one in asked_again(
        played.result,
        player,
        bot,
        timeout_scale=options.timeout_scale,
        lenient=True,
        done=lambda call: options.done if call.turn in turns else None,
    ):
        turn, fault = one.call.turn, one.fault
        problem = "" if fault is None else f"{fault.kind}: {fault.message}"
        if turn in turns:
            assert turn is not None
            shown: list[Any] = [one.call.answer, one.line]
            same = False
            if None not in shown:
                old, new = (position_after(played.result, turn, line) for line in shown)
                same = old is not None and old == new
            if hasattr(one.match, "decode"):  # a game with instance ids
                shown = [line if line is None else one.match.decode(line) for line in shown]
            yield _NewAnswer(one.call, shown[0], shown[1], same, problem, one.stderr)
        elif problem:
            words = printable(one.stderr.rstrip())
            at = turn_words(turn)
            raise Failure(f"BOT failed earlier, in {at}: {problem}\n{words}".rstrip())
        if turn == max(turns):
            return


def _as_json(answer: _NewAnswer, played: "Played") -> dict[str, Any]:
    # Answers of Legends of Code and Magic have today's instance ids, whichever the match had.
    ids = {"ids": "new"} if Part.REPLAY in played.game.parts else {}
    return {
        **ids,
        "turn": answer.call.turn,
        "player": answer.call.player,
        "old": answer.was,
        "new": answer.line,
        "same": answer.same,
        "problem": answer.problem,
        "old_stderr": answer.call.stderr,
        "stderr": answer.stderr,
    }


def _print_lines(answer: _NewAnswer, played: "Played") -> None:
    """Print both answers, those of Legends of Code and Magic in words too."""
    lines = answer.was, answer.line
    words: Sequence[Sequence[str] | None] = (None, None)
    if Part.REPLAY in played.game.parts:
        from locmsim.referee.locm_text import IDS_NOTE, answer_words

        if played.result.match.ids == "old":
            print(f"    ({IDS_NOTE})")
        assert answer.call.turn is not None
        names = [name or f"player {seat}" for seat, name in enumerate(played.names)]
        words = answer_words(played.result, answer.call.turn, lines, names)
    for name, line, shown, missing in zip(
        ("was", "now"), lines, words, ("no answer", answer.problem), strict=True
    ):
        if shown:
            print(f"    {name}: {'; '.join(shown)}")
            print(f"         {printable(line or '')}")
        else:
            print(f"    {name}: {missing if line is None else printable(line)}")


def _print_answer(answer: _NewAnswer, played: "Played") -> None:
    from locmsim.referee.any_game import end_of_stderr

    call = answer.call
    name, word = played.names[call.player], played.game.turn_name
    known = f" ({name})" if name not in ("", f"Player {call.player}") else ""
    print(f"{word} {call.turn}, the {word} of player {call.player}{known}")
    _print_lines(answer, played)
    if answer.line is not None:
        print(f"    {'the same' if answer.same else 'changed'}")
    for when, text in (("then", call.stderr), ("now", answer.stderr)):
        if lines := end_of_stderr(text):
            print(f"standard error {when}:", *lines, sep="\n    ")
    sys.stdout.flush()

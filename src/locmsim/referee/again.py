"""Asking a bot again what a seat was asked in an earlier match."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from locmsim.processes.supervisor import Supervisor
from locmsim.referee.agent_process import AgentProcess, asked
from locmsim.referee.process import BotFault, BotProcess
from locmsim.referee.process_match import Call, Result, answer_of, begun, created, one_line


class Again(NamedTuple):
    """A question of the earlier match, and the new answer to it.

    Attributes
    ----------
    call : Call
        The question and the answer then.
    match : Match
        The match at that point; it goes on with the old answer.
    limit_ms : float or None
        The time limit of the new answer.
    line : str or None
        The new answer; None for a fault.
    elapsed_ns : int
        The time that it took.
    fault : BotFault or None
        Why there is none.
    stderr : str
        What the bot has written to its standard error since the question before.
    """

    call: Call
    match: Any
    limit_ms: float | None
    line: str | None
    elapsed_ns: int
    fault: BotFault | None
    stderr: str


def asked_again(
    result: Result[Any],
    seat: int,
    bot: Any,
    *,
    timeout_scale: float = 1.0,
    lenient: bool = False,
    line_end: str = "\n",
    done: Callable[[Call], str | None] = lambda call: None,
) -> Iterator[Again]:
    """Ask a bot what a seat was asked in a match, whatever it answers, until its first fault.

    Parameters
    ----------
    result : Result
        The match.
    seat : int
        The seat.
    bot : str, sequence of str, agent or IsolatedAgent
        A player as for `locmsim.referee.play`.
    timeout_scale : float
        Factor of the rules' time limits; 0: no limits.
    lenient : bool
        Whether output before the question is the answer.
    line_end : str
        What ends the lines of the questions to a program.
    done : callable
        Returns the actions of a turn that are already played, None for a turn from its beginning.

    Yields
    ------
    Again
        Each question with its answer.

    Raises
    ------
    BotFault
        The bot cannot be started.
    UnusableAgentError
        Its description is wrong; `CannotContinueError` if it cannot continue a turn.
    """
    match = result.match.root()
    with Supervisor() as supervisor:
        who = begun(created(bot, match, supervisor))
        if isinstance(who, BotFault):
            raise who
        for number, call in enumerate(result.calls):
            if call.player == seat:
                before = result.calls[:number]
                limit_ms = match.time_limit_ms(seat) * timeout_scale or None
                text = match.input_text(seat).replace("\n", line_end)
                line, elapsed_ns, fault, words = None, 0, None, ""
                if isinstance(who, BotProcess):
                    who.stderr_since()
                try:
                    line, elapsed_ns = answer_of(
                        who, match, seat, before, limit_ms, text=text, lenient=lenient
                    )
                    if (played := done(call)) is not None:
                        line = _continued(who, match, played)
                except BotFault as error:
                    line, fault, words = None, error, error.traceback
                if isinstance(who, BotProcess):
                    words = who.stderr_since() + words
                yield Again(call, match, limit_ms, line, elapsed_ns, fault, words)
                if fault is not None:
                    return
            match.submit(call.player, call.answer)


def _continued(bot: Any, match: Any, done: str) -> str:
    """Return the turn that begins with the actions that were already played, and the bot ends."""
    if isinstance(bot, AgentProcess):
        rest = bot.continue_turn(done)
    else:
        rest = asked(partial(bot.continue_turn, done), bot, None)
    line = ";".join(filter(None, [done, one_line(rest)]))
    return str(match.encode(line)) if hasattr(match, "encode") else line

"""Matches between bots as processes: turns, time limits and faults.

The game itself is a `locmsim.contract.Match`; this module adds two commands, clocks and a result. A
command may be replaced by an agent, in a process of its own or in this one. There it cannot be
interrupted: its time is checked after it has answered.
"""

import math
import os
import select
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from locmsim.contract import Fault, FaultKind, Match, TurnResult
from locmsim.options.common import Clock, Lenient, MatchLimit, MemoryLimit, TimeoutScale
from locmsim.options.declarations import check_values, documented
from locmsim.processes.supervisor import Supervisor
from locmsim.processes.usage import check_measurable
from locmsim.referee.agent_process import AgentProcess, IsolatedAgent, asked
from locmsim.referee.process import MAX_LINE, STDERR_KEPT, WALL, BotFault, BotProcess
from locmsim.support.files import counted

#: The kind of match that is played.
_M = TypeVar("_M", bound=Match)
#: Number of characters of an answer that a fault quotes.
_QUOTED = 60
#: A player of `Sitting`; a bot that could not be started is replaced by its fault.
_Bot = BotProcess | BotFault | Any


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a bot and its answer.

    Parameters
    ----------
    player : int
        The player who was asked.
    turn : int or None
        The battle turn, counted over both players from 0; None in the choice phase.
    text : str or None
        The text sent; None if the bot did not run, had answered early, or is an agent.
    answer : str or None
        The line received; None for a fault that left none.
    limit_ms : float or None
        The time limit that was applied, in milliseconds; None for no limit.
    elapsed_ns : int
        The time from the last byte written to the line end read; for a fault, the time lost by it.
    result : TurnResult
        The effect of the answer; in the choice phase empty for the first answer of a step.
    late : bool
        Whether it took longer than the rules allow, whatever limit was applied.
    stderr : str
        What the bot wrote to its standard error from this question to the next one, or the
        traceback of an agent that raised an exception; of a long text the first and last lines.
    cpu_ns : int
        The processor time that it took, of the bot's process and all that it has started, or of
        this process for an agent in it; 0 where the system does not tell.
    """

    player: int
    turn: int | None
    text: str | None
    answer: str | None
    limit_ms: float | None
    elapsed_ns: int
    result: TurnResult
    late: bool = False
    stderr: str = ""
    cpu_ns: int = 0


@dataclass(frozen=True, slots=True)
class Result(Generic[_M]):
    """A finished match.

    Parameters
    ----------
    match : Match
        The match.
    scores : tuple of int
        The match's scores. In LOCM 1 for the winner, 0 for the loser, -1 for a bot at fault.
    winner : int or None
        The player who won; None for a draw.
    fault : Fault or None
        The fault that ended the match, if one did.
    calls : tuple of Call
        All questions and answers.
    stderr : tuple of str
        The last few kilobytes of each bot's standard error, or the traceback of an agent that
        raised an exception.
    elapsed_ns : int
        Wall-clock time of the match in nanoseconds, without starting and ending the processes.
    data : tuple of tuple of str
        The lines for tournament tools in each bot's standard error, such as ``[PDATA] depth = 7``.
    decks : str
        The agent who chose the cards of both players in their place; empty if they did.
    """

    match: _M
    scores: tuple[int, int]
    winner: int | None
    fault: Fault | None
    calls: tuple[Call, ...]
    stderr: tuple[str, str]
    elapsed_ns: int
    data: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    decks: str = ""

    @property
    def turns(self) -> int:
        """The number of battle turns of both players."""
        return sum(call.turn is not None for call in self.calls)


@documented()
def play(
    players: Sequence[Any],
    match: _M,
    *,
    timeout_scale: TimeoutScale = 1.0,
    match_limit: MatchLimit | None = None,
    clock: Clock = "wall",
    memory_limit: MemoryLimit | None = None,
    lenient: Lenient = False,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    started: Callable[[Sequence[BotProcess]], None] = lambda bots: None,
    on_call: Callable[[Call], object] = lambda call: None,
    expendable: bool = False,
    choosers: Mapping[int, Any] | None = None,
    cores: Sequence[Sequence[int]] = ((), ()),
) -> Result[_M]:
    """Play a match between two bots to its end.

    When this function returns or raises, no process of the bots is left, even if it hides in a
    session of its own with an empty environment; the same holds if this process is killed. (Without
    Linux 5.4 or later, what leaves its session is not found; see `locmsim.processes.supervisor`.)

    Parameters
    ----------
    players : sequence
        Two commands (a string is split as by a shell) or agents. For LOCM, an agent is an object
        with ``choose`` and ``act`` (see `locmsim.agents`). An agent that raises an exception has
        crashed; an agent that is too late loses when it returns. An `IsolatedAgent` plays in a
        process of its own, where it loses by whatever ends it, and as soon as its time is up.
    match : Match
        A match of any game (`locmsim.contract.Match`).
    options
    cwd : str or path, optional
        Working directory of the bots; by default that of this process.
    env : mapping, optional
        Environment of the bots; by default that of this process.
    started : callable, optional
        Called with the processes, which another thread may end by `BotProcess.kill`.
    on_call : callable, optional
        Called with each `Call`.
    expendable : bool
        Whether this process, a worker, ends if an agent in it goes on long after its time limit.
    cores : sequence of sequence of int
        The processors of either bot, by player; by default, both have those of this process. On
        one processor, what a bot computes in the other's turn takes the other's time.
    choosers : mapping of int to agent, optional
        By player, an agent who chooses the cards. The player is asked as usual, and in the choice
        phase the agent's answer replaces theirs; what they are shown afterwards is consistent. If
        the agent fails, the player loses.

    Returns
    -------
    Result
        The finished match; a bot's own fault is a loss, not an exception.

    Raises
    ------
    OSError
        This machine cannot run the bots (no descriptors, no processes), or `cwd` is no folder.
    ValueError
        An argument is wrong, or an `IsolatedAgent` cannot be made.
    """
    if len(players) != 2:
        raise ValueError(f"expected two commands, got {len(players)}")
    check_values(play, timeout_scale=timeout_scale, match_limit=match_limit)
    check_values(play, clock=clock, memory_limit=memory_limit)
    check_measurable(clock, memory_limit)
    if not match.to_ask:
        raise ValueError("the match is already over")

    sitting = Sitting(
        players,
        match,
        timeout_scale=timeout_scale,
        match_limit=match_limit,
        by_cpu=clock == "cpu",
        memory_limit=memory_limit,
        lenient=lenient,
        cwd=cwd,
        env=env,
        expendable=expendable,
        choosers=choosers or {},
        cores=cores,
    )
    with sitting:
        started(sitting.processes)
        while match.to_ask:
            on_call(sitting.step())
        return sitting.result()


def created(player: Any, match: Any, supervisor: Supervisor, **where: Any) -> "_Bot":
    """Return a player of `play` with its process, or the fault of one that could not start."""
    if not isinstance(player, str | Sequence | IsolatedAgent):
        return player
    if not (hasattr(select, "poll") and hasattr(os, "waitid")):
        raise OSError("bots that are processes need a POSIX system with poll and waitid")
    try:
        if isinstance(player, IsolatedAgent):
            return AgentProcess(player, match, supervisor, **where)
        return BotProcess(player, supervisor, **where)
    except BotFault as fault:
        return fault


def begun(bot: "_Bot") -> "_Bot":
    """Return a bot that is ready to be asked, or its fault."""
    if isinstance(bot, AgentProcess):
        try:
            bot.begin()
        except BotFault as fault:
            return fault
    return bot


def answer_of(
    bot: "_Bot",
    match: Match,
    player: int,
    before: Sequence[Call],
    limit_ms: float | None,
    *,
    text: str | None = None,
    lenient: bool = False,
    other: BotProcess | None = None,
    expendable: bool = False,
    by_cpu: bool = False,
) -> tuple[str, int]:
    """Return the answer of a bot to the question of a match and its time in ns, or raise its fault.

    `before` are all calls of the match, `text` is the question for a program, and with `by_cpu` the
    limit is one of processor time.
    """
    if isinstance(bot, BotFault):
        raise bot
    if isinstance(bot, AgentProcess):
        answer, elapsed_ns = bot.answer(before, player, limit_ms, other, by_cpu)
        return one_line(answer), elapsed_ns
    if isinstance(bot, BotProcess):
        limit = None if limit_ms is None else limit_ms / 1000
        return bot.ask(text or "", limit, lenient=lenient, other=other, by_cpu=by_cpu)
    ask = match.ask(bot, player)
    start, cpu_start = time.monotonic_ns(), time.process_time_ns()
    answer = asked(ask, bot, limit_ms, expendable=expendable)
    judged_ns = elapsed_ns = time.monotonic_ns() - start
    if by_cpu:
        judged_ns = max(time.process_time_ns() - cpu_start, elapsed_ns // WALL)
    if limit_ms is not None and judged_ns > limit_ms * 1e6:
        raise BotFault(
            FaultKind.TIMEOUT,
            f"answered after {judged_ns / 1e6:.1f} ms{' of processor time' * by_cpu},"
            f" for a limit of {limit_ms:g} ms",
        )
    return one_line(answer), elapsed_ns


def replay_calls(
    match: _M,
    answers: Iterable[Sequence[Any]],
    *,
    fault: Fault | None = None,
    timeout_scale: float = 1.0,
    clock: Clock = "wall",
    stderr: Sequence[str] = ("", ""),
) -> Result[_M]:
    """Return the `Result` of an earlier match from its answers.

    Parameters
    ----------
    match : Match
        A new match; it is over afterwards.
    answers : iterable
        ``(player, line, elapsed_ns)`` in the order in which they were given, or two more, what the
        bot then wrote to its standard error and the processor time; the line is None for a fault
        without one.
    fault : Fault, optional
        The fault that ended the match, if one did.
    timeout_scale : float
        Factor of the rules' time limits that was applied.
    clock : {"wall", "cpu"}
        What they are of.
    stderr : sequence of str
        The bots' standard errors, as far as they are known.

    Raises
    ------
    ValueError
        The answers do not fit the match.
    """
    calls = []
    for i, (player, line, elapsed_ns, *more) in enumerate(answers):
        try:
            rule_ms = match.time_limit_ms(player)
            text, turn = match.input_text(player), match.turn
            result = match.submit(player, line)
        except ValueError as error:
            raise ValueError(f"answer {i} does not fit the match: {error}") from None
        limit_ms = rule_ms * timeout_scale or None
        late = _late(rule_ms, more[1] if clock == "cpu" else elapsed_ns)
        calls.append(Call(player, turn, text, line, limit_ms, elapsed_ns, result, late, *more))
    if match.to_ask:
        raise ValueError(f"the match is not over after its {len(calls)} answers")
    return result_of(match, fault or _malformed(match, calls), calls, None, stderr)


class Sitting(Generic[_M]):
    """A match in progress, whose players are asked one by one, whenever the caller likes.

    A context manager, whose end ends the bots. `play` says what the parameters are, and what is
    raised.

    Attributes
    ----------
    processes : list of BotProcess
        Those of the bots, which any thread may end by `BotProcess.kill`.
    """

    def __init__(
        self,
        players: Sequence[Any],
        match: _M,
        *,
        timeout_scale: float = 1.0,
        match_limit: float | None = None,
        by_cpu: bool = False,
        memory_limit: float | None = None,
        lenient: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        expendable: bool = False,
        choosers: Mapping[int, Any] = {},
        cores: Sequence[Sequence[int]] = ((), ()),
    ) -> None:
        self._match = match
        self._expendable = expendable
        self._timeout_scale = timeout_scale
        self._by_cpu = by_cpu
        self._lenient = lenient
        self._time_left = [math.inf if match_limit is None else match_limit * 1000] * 2  # ms
        self._calls: list[Call] = []
        #: By player, the number of the last call.
        self._last: dict[int, int] = {}
        self._faults: dict[int, BotFault] = {}
        self._start = 0
        self._supervisor = Supervisor()
        try:
            self._bots: list[_Bot] = [
                created(player, match, self._supervisor, cwd=cwd, env=env, cores=own_cores)
                for player, own_cores in zip(players, cores, strict=True)
            ]
            self._choosers: dict[int, _Bot] = {
                player: AgentProcess(agent, match, self._supervisor, cwd=cwd, env=env)
                if isinstance(agent, IsolatedAgent)
                else agent
                for player, agent in choosers.items()
            }
        except BaseException:
            self.close()
            raise
        made = [*self._bots, *self._choosers.values()]
        self.processes = [bot for bot in made if isinstance(bot, BotProcess)]
        for bot in self._bots:
            if isinstance(bot, BotProcess):
                bot.memory_limit = memory_limit or math.inf

    def __enter__(self) -> "Sitting[_M]":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the bots."""
        self._supervisor.end()

    def step(self) -> Call:
        """Ask the next player, and submit the answer.

        As in the official referee, one bot is asked at a time, player 0 first, and in a choice step
        both are asked even if the first answer was fatal.
        """
        if not self._start:
            self._bots = [begun(bot) for bot in self._bots]
            self._choosers = {player: begun(agent) for player, agent in self._choosers.items()}
            self._start = time.monotonic_ns()
        player = self._match.to_ask[0]
        self._keep_stderr(player)
        self._last[player] = len(self._calls)
        self._calls.append(self._call(player))
        return self._calls[-1]

    def result(self) -> Result[_M]:
        """Return the result of the match, which is over."""
        elapsed_ns = time.monotonic_ns() - self._start
        stderr = ["", ""]
        data: list[tuple[str, ...]] = [(), ()]
        for player, bot in enumerate(self._bots):
            self._keep_stderr(player)
            if isinstance(bot, BotProcess):
                stderr[player] = bot.stderr_tail()
                data[player] = tuple(bot.data_lines())
            if player in self._faults:
                stderr[player] = (stderr[player] + self._faults[player].traceback)[-STDERR_KEPT:]
        return result_of(self._match, self._fault(), self._calls, elapsed_ns, stderr, data)

    def _keep_stderr(self, player: int) -> None:
        """Keep what a bot has written since it was last asked with that call.

        What it writes after its answer comes with the next question, or at the end.
        """
        bot = self._bots[player]
        if player not in self._last:
            return
        text = bot.stderr_since() if isinstance(bot, BotProcess) else ""
        if player in self._faults:
            text += self._faults[player].traceback
        if text:
            place = self._last[player]
            self._calls[place] = replace(self._calls[place], stderr=text)

    def _call(self, player: int) -> Call:
        match = self._match
        turn, rule_ms = match.turn, match.time_limit_ms(player)
        limit_ms = self._limit_ms(player, rule_ms)
        text, answer = None, None
        bot = self._bots[player]
        if isinstance(bot, BotProcess) and bot.speaks_protocol:
            text = match.input_text(player)
        start, cpu_start = time.monotonic_ns(), time.process_time_ns()
        try:
            answer, elapsed_ns = self._ask(player, text, limit_ms)
            if turn is None and player in self._choosers:
                answer = self._chosen(player)
        except BotFault as fault:
            answer = None
            elapsed_ns = time.monotonic_ns() - start
            self._faults[player] = fault
            if fault.kind == FaultKind.EARLY:
                text = None
        cpu_ns = time.process_time_ns() - cpu_start
        if isinstance(bot, BotProcess):
            cpu_ns = bot.cpu_ns
        judged_ns = cpu_ns if self._by_cpu else elapsed_ns
        self._time_left[player] = max(0.0, self._time_left[player] - judged_ns / 1e6)
        result = match.submit(player, answer)
        late = _late(rule_ms, judged_ns)
        return Call(player, turn, text, answer, limit_ms, elapsed_ns, result, late, cpu_ns=cpu_ns)

    def _limit_ms(self, player: int, rule_ms: float) -> float | None:
        limit_ms = min(rule_ms * self._timeout_scale or math.inf, self._time_left[player])
        return None if limit_ms == math.inf else limit_ms

    def _ask(self, player: int, text: str | None, limit_ms: float | None) -> tuple[str, int]:
        other = self._bots[1 - player]
        try:
            return answer_of(
                self._bots[player],
                self._match,
                player,
                self._calls,
                limit_ms,
                text=text,
                lenient=self._lenient,
                other=other if isinstance(other, BotProcess) else None,
                expendable=self._expendable,
                by_cpu=self._by_cpu,
            )
        except BotFault as fault:
            if fault.kind == FaultKind.TIMEOUT and limit_ms == self._time_left[player]:
                raise BotFault(
                    FaultKind.MATCH_LIMIT, "its time for the whole match is used up"
                ) from None
            if fault.kind == FaultKind.TIMEOUT and all(one.player != player for one in self._calls):
                raise BotFault(fault.kind, fault.message + _load(), fault.traceback) from None
            raise

    def _chosen(self, player: int) -> str:
        """Return the answer of the agent who chooses the cards of a player."""
        try:
            return answer_of(self._choosers[player], self._match, player, self._calls, None)[0]
        except BotFault as fault:
            message = f"who chooses its cards {fault.message}"
            raise BotFault(fault.kind, message, fault.traceback) from None

    def _fault(self) -> Fault | None:
        error = self._match.error
        if error is not None and error.player in self._faults:
            fault = self._faults[error.player]
            return Fault(error.player, fault.kind, fault.message)
        return _malformed(self._match, self._calls)


def _load() -> str:
    """Say if this machine had too much to do: most late first answers come from that."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    more = f"; the load of this machine was {load:.1f}, for {counted(cores, 'processor')}"
    return more if load > cores else ""


def one_line(answer: object) -> str:
    """Return an agent's answer as plain text; `BotFault` if it is not one line."""
    if not isinstance(answer, str) or "\n" in answer or "\r" in answer:
        shown = answer[0] if isinstance(answer, list) and len(answer) == 1 else _quoted(answer)
        raise BotFault(FaultKind.MALFORMED, f"answered {shown}, not one line")
    data = answer.encode("utf-8", "replace")
    if len(data) >= MAX_LINE:
        raise BotFault(FaultKind.LINE_TOO_LONG, f"answered {_quoted(answer)}")
    return data.decode()


def _late(rule_ms: float, elapsed_ns: int) -> bool:
    return rule_ms > 0 and elapsed_ns > rule_ms * 1e6


def _malformed(match: Match, calls: Sequence[Call]) -> Fault | None:
    """Return the match's own fault, with the wrong answer."""
    error = match.error
    if error is None:
        return None
    answer = next((call.answer for call in reversed(calls) if call.player == error.player), None)
    message = match.explain()
    if answer is not None:
        message = f"{message.rstrip('.')}; answer: {_quoted(answer)}"
    return Fault(error.player, error.kind, message)


def _quoted(answer: object) -> str:
    """Return an answer for people: escaped, and cut if it is long."""
    if not isinstance(answer, str):
        return repr(answer)[:_QUOTED]
    if len(answer) <= _QUOTED:
        return ascii(answer)
    return f"{answer[:_QUOTED]!a}... ({len(answer)} characters)"


def result_of(
    match: _M,
    fault: Fault | None,
    calls: Sequence[Call],
    elapsed_ns: int | None = None,
    stderr: Sequence[str] = ("", ""),
    data: Sequence[tuple[str, ...]] = ((), ()),
) -> Result[_M]:
    """Return the result of a match, or how it stands; it took at least as long as its answers."""
    first, second = match.scores or (0, 0)
    if elapsed_ns is None:
        elapsed_ns = sum(call.elapsed_ns for call in calls)
    return Result(
        match,
        (first, second),
        match.winner,
        fault,
        tuple(calls),
        (stderr[0], stderr[1]),
        elapsed_ns,
        (data[0], data[1]),
    )

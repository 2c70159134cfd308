"""Matches between bots that are processes: who is asked when, how long, and who loses by what.

The game itself is `Match`; here it gets two commands, clocks and a result. In place of a command
may be an agent of this process, which nothing can stop: its time is judged when it has answered.
"""

import math
import os
import select
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from locmsim.game.match import Match, TurnResult
from locmsim.game.observation import Observation
from locmsim.referee.process import BotFault, BotProcess, FaultKind, new_token, stop

__all__ = ["Call", "Fault", "FaultKind", "InProcess", "Result", "play", "retrace"]


class InProcess(Protocol):
    """A player in this process, such as the agents of `locmsim.agents`."""

    def choose(self, observation: Observation) -> str:
        """The answer line in the choice phase."""

    def act(self, observation: Observation) -> str:
        """The answer line of a battle turn."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a bot and what came of it."""

    player: int
    #: The battle turn, counted over both players from 0; None in the choice phase.
    turn: int | None
    #: The text sent; None if none was: the bot did not run, had answered early, or is an agent.
    text: str | None
    #: The line received; None for a fault that left none.
    answer: str | None
    #: The time limit in ms as it was applied, None for none.
    limit_ms: float | None
    #: From the last byte written to the line end read; for a fault the time lost by it.
    elapsed_ns: int
    #: In the choice phase empty for the first answer of a step.
    result: TurnResult


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a bot lost other than on the board."""

    player: int
    kind: FaultKind
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """A match that was played to its end."""

    match: Match
    #: 1 for the winner and 0 for the loser; after a fault -1 for the bot that is to blame.
    scores: tuple[int, int]
    winner: int
    fault: Fault | None
    calls: tuple[Call, ...]
    #: The last few kilobytes that each bot wrote to its standard error.
    stderr: tuple[str, str]
    #: Wall-clock time of the match without starting and ending the processes.
    elapsed_ns: int
    #: The lines for tournament tools in each bot's standard error, such as ``[PDATA] depth = 7``.
    data: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def turns(self) -> int:
        """The battle turns played, those of both players counted."""
        return sum(call.turn is not None for call in self.calls)


def play(
    players: Sequence[str | Sequence[str] | InProcess],
    match: Match,
    *,
    timeout_scale: float = 1.0,
    match_limit: float | None = None,
    lenient: bool = False,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Result:
    """Play `match` between two bots: commands (a string is split as by a shell) or agents.

    `timeout_scale` multiplies the time limits of the rules, 0 lifts them; `match_limit` is what a
    bot may take for all its answers of the match, in seconds. A bot that writes something before
    it is asked loses, unless `lenient` takes that for its next answer. `cwd` and `env` are the
    bots' folder and environment, default those of this process. An agent that raises an exception
    has crashed; one that is too late loses when it is back.

    When this returns or raises, no process of the bots is left. Bots lose by their own faults; an
    ``OSError`` is about this machine (no descriptors, no processes), a ``ValueError`` about the
    arguments.
    """
    if len(players) != 2:
        raise ValueError(f"expected two commands, got {len(players)}")
    if not (math.isfinite(timeout_scale) and timeout_scale >= 0):
        raise ValueError(f"timeout_scale: expected a number >= 0, got {timeout_scale!r}")
    if match_limit is not None and not match_limit > 0:
        raise ValueError(f"match_limit: expected a number > 0, got {match_limit!r}")
    if match.phase == "over":
        raise ValueError("the match is over already")

    token = new_token()
    bots: list[_Bot] = []
    try:
        for player in players:
            if not isinstance(player, str | Sequence):
                bots.append(player)
                continue
            if not (hasattr(select, "poll") and hasattr(os, "waitid")):
                raise OSError("bots that are processes need a POSIX system with poll and waitid")
            try:
                bots.append(BotProcess(player, token, cwd=cwd, env=env))
            except BotFault as fault:
                bots.append(fault)
        return _Referee(match, bots, timeout_scale, match_limit, lenient).run()
    finally:
        processes = [bot for bot in bots if isinstance(bot, BotProcess)]
        if processes:
            stop(processes, token)


def retrace(
    match: Match,
    answers: Iterable[tuple[int, str | None, int]],
    *,
    fault: Fault | None = None,
    timeout_scale: float = 1.0,
) -> Result:
    """The `Result` of a match that was played before, from its answers.

    `answers` are ``(player, line, elapsed_ns)`` in the order they were given, line None for a fault
    without one; `fault` says which, if the match ended by one. `match` is new, and over afterwards.
    ``ValueError`` if the answers do not fit it.
    """
    calls = []
    for i, (player, line, elapsed_ns) in enumerate(answers):
        try:
            limit_ms = match.time_limit_ms(player) * timeout_scale or None
            text = match.input_text(player)
            turn = None if match.state is None else match.state.turn
            result = match.submit(player, line)
        except ValueError as error:
            raise ValueError(f"answer {i} does not fit the match: {error}") from None
        calls.append(Call(player, turn, text, line, limit_ms, elapsed_ns, result))
    if match.phase != "over":
        raise ValueError(f"the match is not over after its {len(calls)} answers")
    elapsed_ns = sum(call.elapsed_ns for call in calls)
    return _result(match, fault or _malformed(match), calls, elapsed_ns)


#: A player of `_Referee`; in place of a bot that could not be started is the fault.
_Bot = BotProcess | BotFault | InProcess


class _Referee:
    """One match in progress."""

    def __init__(
        self,
        match: Match,
        bots: Sequence[_Bot],
        timeout_scale: float,
        match_limit: float | None,
        lenient: bool,
    ) -> None:
        self._match = match
        self._bots = bots
        self._timeout_scale = timeout_scale
        self._lenient = lenient
        self._time_left = [math.inf if match_limit is None else match_limit * 1000] * 2  # ms
        self._calls: list[Call] = []
        self._faults: dict[int, BotFault] = {}

    def run(self) -> Result:
        match = self._match
        start = time.monotonic_ns()
        while match.phase != "over":
            # As in the official referee one bot thinks at a time, player 0 first, and in a choice
            # step both are asked even if the first answer was fatal.
            for player in match.to_ask:
                self._calls.append(self._call(player))
        elapsed_ns = time.monotonic_ns() - start
        stderr = ["", ""]
        data: list[tuple[str, ...]] = [(), ()]
        for player, bot in enumerate(self._bots):
            if isinstance(bot, BotProcess):
                stderr[player] = bot.stderr_tail()
                data[player] = tuple(bot.data_lines())
        return _result(match, self._fault(), self._calls, elapsed_ns, stderr, data)

    def _call(self, player: int) -> Call:
        match = self._match
        turn = None if match.state is None else match.state.turn
        limit_ms = self._limit_ms(player)
        text, answer = None, None
        if isinstance(self._bots[player], BotProcess):
            text = match.input_text(player)
        start = time.monotonic_ns()
        try:
            answer, elapsed_ns = self._ask(player, text, limit_ms)
        except BotFault as fault:
            elapsed_ns = time.monotonic_ns() - start
            self._faults[player] = fault
            if fault.kind == FaultKind.EARLY:
                text = None
        self._time_left[player] = max(0.0, self._time_left[player] - elapsed_ns / 1e6)
        result = match.submit(player, answer)
        return Call(player, turn, text, answer, limit_ms, elapsed_ns, result)

    def _limit_ms(self, player: int) -> float | None:
        limit_ms = self._match.time_limit_ms(player) * self._timeout_scale or math.inf
        limit_ms = min(limit_ms, self._time_left[player])
        return None if limit_ms == math.inf else limit_ms

    def _ask(self, player: int, text: str | None, limit_ms: float | None) -> tuple[str, int]:
        bot, other = self._bots[player], self._bots[1 - player]
        if isinstance(bot, BotFault):
            raise bot
        try:
            if not isinstance(bot, BotProcess):
                return _consult(bot, self._match.observation(player), limit_ms)
            return bot.ask(
                text or "",
                None if limit_ms is None else limit_ms / 1000,
                lenient=self._lenient,
                other=other if isinstance(other, BotProcess) else None,
            )
        except BotFault as fault:
            if fault.kind == FaultKind.TIMEOUT and limit_ms == self._time_left[player]:
                raise BotFault(
                    FaultKind.MATCH_LIMIT, "match limit: its time for the whole match is used up"
                ) from None
            raise

    def _fault(self) -> Fault | None:
        error = self._match.error
        if error is not None and error.player in self._faults:
            fault = self._faults[error.player]
            return Fault(error.player, fault.kind, fault.reason)
        return _malformed(self._match)


def _consult(agent: InProcess, observation: Observation, limit_ms: float | None) -> tuple[str, int]:
    """An agent's answer and its time in ns; `BotFault` as for a process."""
    ask = agent.choose if observation.phase == "choice" else agent.act
    start = time.monotonic_ns()
    try:
        answer = ask(observation)
    except Exception as error:
        raise BotFault(FaultKind.CRASHED, f"raised {type(error).__name__}: {error}") from error
    elapsed_ns = time.monotonic_ns() - start
    if limit_ms is not None and elapsed_ns > limit_ms * 1e6:
        raise BotFault(
            FaultKind.TIMEOUT, f"timeout: {elapsed_ns / 1e6:.1f} ms for a limit of {limit_ms:g} ms"
        )
    if not isinstance(answer, str) or "\n" in answer or "\r" in answer:
        raise BotFault(FaultKind.MALFORMED, f"answered {answer!r}, which is no line")
    return answer, elapsed_ns


def _malformed(match: Match) -> Fault | None:
    """The fault that the match itself knows of."""
    error = match.error
    if error is None:
        return None
    reason = error.message.removeprefix(f"${error.player}").removeprefix(":").strip()
    return Fault(error.player, FaultKind.MALFORMED, reason)


def _result(
    match: Match,
    fault: Fault | None,
    calls: Sequence[Call],
    elapsed_ns: int,
    stderr: Sequence[str] = ("", ""),
    data: Sequence[tuple[str, ...]] = ((), ()),
) -> Result:
    assert match.scores is not None
    assert match.winner is not None
    return Result(
        match=match,
        scores=(match.scores[0], match.scores[1]),
        winner=match.winner,
        fault=fault,
        calls=tuple(calls),
        stderr=(stderr[0], stderr[1]),
        elapsed_ns=elapsed_ns,
        data=(data[0], data[1]),
    )

"""Does a bot keep the protocol of a game? Matches that test it, as data, and what they find."""

import copy
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from locmsim.contract import Match, turn_words
from locmsim.referee.again import asked_again
from locmsim.referee.any_game import fault_text
from locmsim.referee.illegal import IllegalAction, illegal_actions
from locmsim.referee.process import STDERR_KEPT, BotFault
from locmsim.referee.process_match import Call, Result, play, replay_calls


class Check(NamedTuple):
    """A match that tests a bot.

    Parameters
    ----------
    name : str
        What it tests, in a few words.
    players : tuple of str
        Descriptions of agents for both seats; an empty one is the bot that is tested.
    seed : int
        The seed of the match.
    seat : int, optional
        With two agents or a recorded match: the seat whose questions the bot gets. It is asked what
        its seat was asked there, whatever it answers, so that it comes to positions that it would
        avoid.
    line_end : str
        What ends the lines of the questions.
    answers : tuple of tuple
        The seats and lines of a recorded match, in place of agents; the last line of the seat that
        is tested is None.
    """

    name: str
    players: tuple[str, str]
    seed: int
    seat: int | None = None
    line_end: str = "\n"
    answers: tuple[tuple[int, str | None], ...] = ()


@dataclass(slots=True)
class CheckResult:
    """What a check found.

    Parameters
    ----------
    check : Check
        The check.
    fault : str
        Why the bot failed; empty if it did not.
    answers : list of str or None
        Its answers.
    times : list of tuple
        For each answer the turn (None in a choice phase), the time in ms and the limit in ms (0 for
        none).
    illegal : list of IllegalAction
        Its illegal actions; they have no effect.
    stderr : str
        The end of what it wrote to its standard error.
    """

    check: Check
    fault: str = ""
    answers: list[str | None] = field(default_factory=list)
    times: list[tuple[int | None, float, float]] = field(default_factory=list)
    illegal: list[IllegalAction] = field(default_factory=list)
    stderr: str = ""

    @property
    def cause(self) -> str:
        """What is equal if the bot failed alike elsewhere: the fault without place and numbers."""
        last_line = self.stderr.rstrip().rpartition("\n")[2] if self.fault else ""
        return re.sub(r"[0-9]+", "#", self.fault.partition(" (")[2] + last_line)


def run_check(
    check: Check,
    command: str | Sequence[str],
    new_match: Callable[[int], Match],
    make_agent: Callable[[str], Any],
    timeout_scale: float = 1.0,
) -> CheckResult:
    """Play a check.

    Parameters
    ----------
    check : Check
        The check.
    command : str or sequence of str
        The bot.
    new_match : callable
        Returns the match of a seed.
    make_agent : callable
        Returns the agent of a description.
    timeout_scale : float
        Factor of the rules' time limits; 0: no limits.
    """
    if check.answers:
        answers = [(seat, line, 0) for seat, line in check.answers]
        recorded = replay_calls(new_match(check.seed), answers)
        return _asked(check, command, recorded, timeout_scale)
    agents: list[Any] = [make_agent(spec) if spec else command for spec in check.players]
    for seat, agent in enumerate(agents):
        if check.players[seat]:
            agent.reset(seat)
    if check.seat is None:
        seat = check.players.index("")
        result = play(agents, new_match(check.seed), timeout_scale=timeout_scale)
        return _of_match(check, result, seat)
    recorded = play(agents, new_match(check.seed), timeout_scale=0)
    return _asked(check, command, recorded, timeout_scale)


def _of_match(check: Check, result: Result[Any], seat: int) -> CheckResult:
    found = CheckResult(check, stderr=result.stderr[seat])
    if result.fault is not None and result.fault.player == seat:
        found.fault = fault_text(result)
    found.illegal = [one for one in illegal_actions(result) if one.player == seat]
    for call in result.calls:
        if call.player == seat:
            found.answers.append(call.answer)
            found.times.append((call.turn, call.elapsed_ns / 1e6, call.limit_ms or 0.0))
    return found


def _asked(
    check: Check, command: str | Sequence[str], recorded: Result[Any], timeout_scale: float
) -> CheckResult:
    """Ask the bot what its seat was asked in a match."""
    assert check.seat is not None
    found = CheckResult(check)
    try:
        for one in asked_again(
            recorded, check.seat, command, timeout_scale=timeout_scale, line_end=check.line_end
        ):
            found.stderr = (found.stderr + one.stderr)[-STDERR_KEPT:]
            if one.line is None:
                assert one.fault is not None
                at = turn_words(one.call.turn)
                found.fault = f"failed in {at} ({one.fault.kind}): {one.fault.message}"
                break
            found.answers.append(one.line)
            found.times.append((one.call.turn, one.elapsed_ns / 1e6, one.limit_ms or 0.0))
            _evaluate(found, one.match, one.call, one.line, recorded)
            if found.fault:
                break
    except BotFault as fault:
        found.fault = f"{fault.kind}: {fault.message}"
    return found


def _evaluate(found: CheckResult, match: Any, call: Call, line: str, recorded: Result[Any]) -> None:
    """Submit an answer to a copy of the match."""
    if call.turn is not None and hasattr(match, "illegal_actions"):
        for action, reason in match.illegal_actions(line):
            found.illegal.append(IllegalAction(call.player, call.turn, action, reason))
    trial = copy.deepcopy(match)
    trial.submit(call.player, line)
    # In a choice phase, answers are judged when both are in.
    place = next(i for i, one in enumerate(recorded.calls) if one is call)
    for other in recorded.calls[place + 1 : place + 2]:
        if trial.to_ask == (other.player,) and other.turn is None and call.turn is None:
            trial.submit(other.player, other.answer)
    if trial.error is not None and trial.error.player == call.player:
        at = turn_words(call.turn)
        found.fault = f"failed in {at} ({trial.error.kind}): {trial.explain()}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not below this share of all values; NaN without any."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan

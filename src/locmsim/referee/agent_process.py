"""Agents in child processes: whatever an agent does there ends its own game and nothing else.

The child holds a copy of the match, in which it repeats all answers, so that an agent of any game
is asked just as in process (`locmsim.contract.Match.ask`). It is a `BotProcess` that speaks lines
of JSON in place of the game's protocol; pipes, clocks, limits and the end are those of programs.
"""

import base64
import contextlib
import json
import os
import pickle
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Protocol

from locmsim.contract import Contestant, FaultKind, Match, start_turn
from locmsim.errors import ENDINGS, shown, text_of
from locmsim.options.texts import options_of
from locmsim.processes.supervisor import (
    Supervisor,
    own_pipes,
    preparation,
    prepare_main,
    python_command,
    restore_streams,
)
from locmsim.referee.process import STDERR_KEPT, BotFault, BotProcess

#: Seconds within which an agent must be imported, created and reset, and within which its process
#: repeats the answers since it was last asked. It is no limit of the rules: it ends what hangs.
_READY_SECONDS = 120.0
#: Seconds after its time limit in which an agent in an expendable process may still return.
_STUCK_SECONDS = 2.0
#: Characters of an answer that are sent, and bytes of the line that brings it.
_MAX_ANSWER = 1 << 16
_MAX_LINE = 1 << 20
#: Number of characters of an answer or of an error that are quoted.
_QUOTED = 60
_MAX_ERROR = 1000


@dataclass(frozen=True, slots=True)
class IsolatedAgent:
    """A player for `locmsim.referee.play`: an agent that plays in a process of its own.

    Parameters
    ----------
    make : callable
        Returns the agent. It is called in the child, so it must be picklable.
    seed : int
        The seed by which the agent is reset.
    known : bool
        Whether the agent has been made elsewhere, so that its description is right: an error as
        it is made is then its own.
    """

    make: Callable[[], Contestant]
    seed: int = 0
    known: bool = False


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What is to be known of an agent that plays in other processes.

    Parameters
    ----------
    timed : bool
        Whether its play depends on the time that it takes: it has a ``time_ms``.
    only_rules : str or None
        The only rule set that it plays; None for any.
    defaults : mapping of str to int or float
        The defaults of its options that are numbers.
    """

    timed: bool = False
    only_rules: str | None = None
    defaults: Mapping[str, int | float] = field(default_factory=dict)


class UnusableAgentError(ValueError):
    """An agent cannot be made from its description, or cannot do what it is asked for."""


class CannotContinueError(UnusableAgentError):
    """An agent cannot continue a turn of which a part was played."""


class _Answer(Protocol):
    """An answer of the match that the agent plays."""

    @property
    def player(self) -> int: ...
    @property
    def answer(self) -> str | None: ...


class AgentProcess(BotProcess):
    """A running agent in a process of its own.

    Parameters
    ----------
    isolated : IsolatedAgent
        The agent.
    match : Match or None
        The match, as it stands; it must be picklable. None if the agent is only to be made.
    supervisor, cwd, env, cores
        As for `BotProcess`.

    Raises
    ------
    ValueError
        It cannot be sent to another process.
    OSError
        The machine has no processes, descriptors or memory left.
    """

    max_line = _MAX_LINE
    speaks_protocol = False

    def __init__(
        self,
        isolated: IsolatedAgent,
        match: Match | None,
        supervisor: Supervisor,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        cores: Sequence[int] = (),
    ) -> None:
        """Start the process; `begin` sends the agent to it."""
        payload = _pickled((isolated, match))
        # The main script is imported there only if something of it is sent: it may lack a guard.
        main = preparation() if b"_main__" in payload else None
        self._start = f"{_packed(_pickled(main))} {_packed(payload)}\n"
        self._repeated = 0
        command = python_command("locmsim.referee.agent_process", "main")
        super().__init__(command, supervisor, cwd=cwd, env=env, cores=cores)

    def renew(self, match: Match, seed: int) -> None:
        """Let the agent play another match, from `begin` on.

        Parameters
        ----------
        match : Match
            The match, as it stands.
        seed : int
            The seed by which the agent is reset.
        """
        self._start = _line({"match": _packed(_pickled(match)), "seed": seed})
        self._repeated = 0
        self._read_all_errors()
        self._forget_errors()

    def begin(self) -> AgentFacts:
        """Wait until the agent is ready; `BotFault` if it fails before.

        `UnusableAgentError` if its description is wrong.
        """
        facts, _ = self._question(self._start, _READY_SECONDS)
        return AgentFacts(**facts) if isinstance(facts, dict) else AgentFacts()

    def answer(
        self,
        before: Sequence[_Answer],
        player: int,
        limit_ms: float | None,
        other: BotProcess | None,
        by_cpu: bool = False,
    ) -> tuple[object, int]:
        """Return the agent's answer and its time in ns; `BotFault` if there is none.

        `before` are all answers of the match so far. The time does not include repeating them.
        """
        news = [(one.player, one.answer) for one in before[self._repeated :]]
        self._repeated = len(before)
        self._question(_line({"player": player, "news": news}), _READY_SECONDS)
        limit = None if limit_ms is None else limit_ms / 1000
        return self._question(_line({"limit_ms": limit_ms}), limit, other=other, by_cpu=by_cpu)

    def continue_turn(self, done: str) -> object:
        """Return what `continue_turn` of the agent returns; `BotFault` if it fails.

        `CannotContinueError` if it has no such method.
        """
        try:
            return self._question(_line({"done": done}), _READY_SECONDS)[0]
        except UnusableAgentError as error:
            raise CannotContinueError(str(error)) from None

    def _question(self, text: str, limit: float | None, **how: Any) -> tuple[object, int]:
        line, elapsed_ns = self.ask(text, limit, **how)
        try:
            kind, value, details = json.loads(line)
        except ValueError:  # it found the descriptor of the answers and wrote to it
            raise BotFault(FaultKind.MALFORMED, f"answered {line[:_QUOTED]!a}") from None
        if kind == "unusable":
            raise UnusableAgentError(value)
        if kind == "raised":
            raise BotFault(FaultKind.CRASHED, f"raised {value}", details)
        return value, elapsed_ns


def facts_of(agent: object) -> AgentFacts:
    """Return what is known of an agent of this process."""
    only = getattr(agent, "only_rules", None)
    try:
        options, _ = options_of(type(agent))
    except (TypeError, ValueError):  # it has no signature
        options = {}
    numbers = {
        name: option.default
        for name, option in options.items()
        if isinstance(option.default, int | float) and not isinstance(option.default, bool)
    }
    return AgentFacts(
        timed=bool(getattr(agent, "time_ms", 0)),
        only_rules=only if isinstance(only, str) else None,
        defaults=numbers,
    )


def look_at(make: Callable[[], Any]) -> AgentFacts:
    """Make an agent in a process of its own, and no more: whatever it does ends only that process.

    Raises
    ------
    UnusableAgentError
        It cannot be made; the message says why.
    OSError
        The machine has no processes, descriptors or memory left.
    """
    with Supervisor() as supervisor:
        try:
            return AgentProcess(IsolatedAgent(make), None, supervisor).begin()
        except BotFault as fault:
            raise UnusableAgentError(f"while it was made, {fault.message}") from None


def created(make: Callable[[], Contestant], *, expendable: bool = False) -> Contestant | BotFault:
    """Make an agent in this process; return it, or its fault if it raises an exception.

    With `expendable`, this process ends if that hangs.
    """
    try:
        with _ended_when_stuck(_READY_SECONDS if expendable else None):
            return make()
    except ENDINGS:
        raise
    except BaseException as error:
        return _crash(error)


def ready(agent: Contestant, seed: int, *, expendable: bool = False) -> Contestant | BotFault:
    """Reset an agent of this process; return it, or its fault if it raises an exception.

    With `expendable`, this process ends if the agent hangs.
    """
    try:
        with _ended_when_stuck(_READY_SECONDS if expendable else None):
            asked(lambda: agent.reset(seed), None, None, expendable=expendable)
    except BotFault as fault:
        return fault
    return agent


def asked(
    ask: Callable[[], object], agent: object, limit_ms: float | None, *, expendable: bool = False
) -> object:
    """Ask an agent of this process; any exception that is its own becomes a `BotFault`.

    With `expendable`, this process ends if the agent goes on long after its limit, and standard
    streams that others have closed are open.
    """
    seconds = None if limit_ms is None or not expendable else limit_ms / 1000 + _STUCK_SECONDS
    if expendable:
        restore_streams()
    try:
        with _ended_when_stuck(seconds):
            start_turn(agent, limit_ms)
            return ask()
    except ENDINGS:
        raise
    except BaseException as error:
        raise _crash(error) from error


@contextlib.contextmanager
def _ended_when_stuck(seconds: float | None) -> Iterator[None]:
    """End this process at once if the block takes longer, even if it never runs Python code."""
    if seconds is None:
        yield
        return
    import faulthandler

    # What it writes is for the author of a program that hangs, not of this one.
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def raised(error: BaseException) -> str:
    """Return the type and the text of an exception in one line that is not too long."""
    return shown(error)[:_MAX_ERROR]


def _crash(error: BaseException) -> BotFault:
    return BotFault(FaultKind.CRASHED, f"raised {raised(error)}", _trace(error))


def _trace(error: BaseException) -> str:
    """Return the end of the traceback, beginning in the agent's code."""
    trace = error.__traceback__
    below = error.with_traceback(trace.tb_next if trace and trace.tb_next else trace)
    try:
        lines = traceback.format_exception(below)
    except Exception:  # parts of it cannot be shown
        lines = [*traceback.format_tb(below.__traceback__), raised(error)]
    text = "".join(lines).encode("utf-8", "backslashreplace").decode()
    return text[-STDERR_KEPT:]


# ----------------------------------------------------------------------------------- messages


def _line(message: object) -> str:
    return json.dumps(message) + "\n"


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _pickled(thing: object) -> bytes:
    try:
        return pickle.dumps(thing)
    except Exception as error:
        raise ValueError(f"cannot be sent to another process: {raised(error)}") from error


# --------------------------------------------------------------------------------- the child


def main() -> None:
    """Play an agent that comes over the standard input; ends with the input."""
    source, target = own_pipes()
    questions = os.fdopen(source, encoding="utf-8")
    answers = os.fdopen(target, "w", encoding="utf-8")

    def reply(kind: str, value: object = None, details: str = "") -> None:
        answers.write(json.dumps([kind, value, details]) + "\n")
        answers.flush()

    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        try:
            agent, match = _received(questions.readline())
            facts = asdict(facts_of(agent)) if match is None else None
        except UnusableAgentError as error:
            reply("unusable", str(error))
            return
        except BaseException as error:
            reply("raised", raised(error), _trace(error))
            return
        reply("ready", facts)
        for line in questions:
            question = json.loads(line)
            if "news" in question:
                for player, answer in question["news"]:
                    match.submit(player, answer)
                ask = match.ask(agent, question["player"])
                reply("ready")
                continue
            limit = question.get("limit_ms")
            if "match" in question:
                match = pickle.loads(base64.b64decode(question["match"]))
                ask = partial(agent.reset, question["seed"])
            elif "done" in question:
                if not hasattr(agent, "continue_turn"):
                    reply("unusable", "cannot continue a turn")
                    continue
                ask = partial(agent.continue_turn, question["done"])
            try:
                answer = asked(ask, agent, limit)
            except BotFault as fault:
                reply("raised", fault.message.removeprefix("raised "), fault.traceback)
            else:
                reply("answer", _sendable(answer))


def _received(line: str) -> tuple[Any, Any]:
    first, payload = map(base64.b64decode, line.split())
    if (main := pickle.loads(first)) is not None:
        prepare_main(main)
    isolated, match = pickle.loads(payload)
    try:
        agent = isolated.make()
    except ValueError as error:
        if isolated.known:
            raise
        raise UnusableAgentError(text_of(error)) from error
    if match is not None:
        agent.reset(isolated.seed)
    return agent, match


def _sendable(answer: object) -> object:
    """Return an answer as it can be sent: what is not a text becomes a list with its picture."""
    if isinstance(answer, str):
        return str(answer)[:_MAX_ANSWER]  # more than the referee accepts
    return [repr(answer)[:_QUOTED]]

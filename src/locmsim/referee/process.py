"""Bots as child processes: pipes that never block, and a clock.

A bot may do anything: hang, die, flood its output, close its pipes, fork daemons. If it fails to
answer, `BotFault` gives the reason, and the bot loses the match. `locmsim.processes.supervisor`
ends it. This works on POSIX only.
"""

import errno
import math
import os
import re
import select
import shlex
import signal
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from locmsim.contract import FaultKind
from locmsim.processes.supervisor import Supervisor, end_of

#: Minimum number of bytes of a line that is too long for an answer (docs/rules.md, section 10).
MAX_LINE = 10_000

#: Number of bytes at the end of a bot's standard error that are kept.
STDERR_KEPT = 8192
#: How many bytes are kept of its lines for tournament tools, such as ``[PDATA] depth = 7``, and the
#: length from which a line cannot be one of them.
_DATA_KEPT = 1 << 16
_DATA_LINE = 1 << 10
#: How many bytes are kept of what it writes there for one answer, at the beginning and at the end,
#: and of a whole match.
_ANSWER_KEPT = 1 << 14
_MATCH_KEPT = 1 << 19
#: How many bytes of it are read while it is not the bot's turn. Reading lets a bot print freely
#: after its answer; stopping at some point keeps a flood from slowing the other bot.
_STDERR_IDLE = 1 << 20
_CHUNK = 1 << 16
#: Number of characters of a bot's output that are quoted in a reason.
_SHOWN = 30

#: Seconds in which a bot that was too late may still write its answer: as it is, and after its
#: input has ended.
_LATE, _FLUSH = 0.1, 0.2
#: Seconds of silence after which a bot whose process has ended gives no answer any more, though
#: another process has its pipes.
_SILENCE = 2.0
#: Seconds between two looks at what a bot uses, while it has a limit for that, and how many times
#: as long as a limit of processor time its answer may take.
_LOOK, WALL = 0.05, 10
#: Seconds within which a process must disappear after its pipes were closed.
_DEATH = 0.2

_LINE_END = re.compile(rb"[\r\n]")
_DATA = re.compile(rb"^\[[TP]DATA\+?\][^\r\n]*", re.MULTILINE | re.IGNORECASE)
#: Errors at the start of a process that are caused by the machine, not by the command.
_MACHINE_ERRORS = {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


class BotFault(Exception):
    """A bot gave no answer: `kind` for programs, `message` for people, `traceback` of an agent."""

    def __init__(self, kind: FaultKind, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.traceback = traceback


class _Excerpt:
    """The first and the last lines of a text."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._first = bytearray()
        self._last = bytearray()
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        left = self._size - len(self._first)
        self._first += chunk[:left]
        self._last += chunk[left:]
        if (excess := len(self._last) - self._size) > 0:
            del self._last[:excess]
            self._dropped += excess

    def text(self) -> str:
        """Return the text, or its ends in whole lines and what is missing between them."""
        if not self._dropped:
            return (self._first + self._last).decode("utf-8", "replace")
        first = self._first[: self._first.rfind(b"\n") + 1]
        last = self._last[self._last.find(b"\n") + 1 :]
        dropped = self._dropped + len(self._first) + len(self._last) - len(first) - len(last)
        note = f"[{dropped} bytes are not kept]\n"
        return first.decode("utf-8", "replace") + note + last.decode("utf-8", "replace")


class BotProcess:
    """A running bot in its own session; its supervisor ends it.

    Attributes
    ----------
    max_line : int
        Number of bytes from which a line is too long for an answer.
    speaks_protocol : bool
        Whether it is asked by the text of the game.
    memory_limit : float
        The resident memory in MB that it may use, with what it has started.
    cpu_ns : int
        The processor time that it took for the last answer; 0 where the system does not tell.

    Parameters
    ----------
    command : str or sequence of str
        The command; a string is split as by a shell.
    supervisor : Supervisor
        What starts the bot and ends it, with all that it has started.
    cwd : str or path, optional
        Working directory of the bot; by default that of this process.
    env : mapping, optional
        Environment of the bot; by default that of this process.
    cores : sequence of int, optional
        The processors of the bot; by default those of this process.

    Raises
    ------
    BotFault
        The command cannot be run.
    OSError
        The machine has no processes, descriptors or memory left, or `cwd` is no folder.
    """

    max_line: ClassVar[int] = MAX_LINE
    speaks_protocol: ClassVar[bool] = True

    def __init__(
        self,
        command: str | Sequence[str],
        supervisor: Supervisor,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        cores: Sequence[int] = (),
    ) -> None:
        """Start the command."""
        try:
            arguments = shlex.split(command) if isinstance(command, str) else list(command)
            self._child = supervisor.start(arguments, cwd=cwd, env=env, cores=cores)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and (
                error.errno in _MACHINE_ERRORS or (cwd is not None and not os.path.isdir(cwd))
            ):
                raise
            why = error.strerror if isinstance(error, OSError) else error
            if isinstance(command, str):
                why = f"{why}{quoting_hint(command)}"
            raise BotFault(FaultKind.START_FAILED, f"cannot run {command!r}: {why}") from None
        self._stdin, self._stdout, self._stderr = self._pipes()
        for pipe in self._pipes():
            os.set_blocking(pipe, False)
        self._meter = self._child.meter()
        self.memory_limit = math.inf
        self.cpu_ns = 0
        self._looked_ns = 0
        self._output = bytearray()
        self._after_cr = False
        self._output_ended = False
        self._errors_ended = False
        self._forget_errors()

    def _forget_errors(self) -> None:
        """Begin anew with what is kept of the standard error."""
        self._errors = bytearray()
        self._kept = _MATCH_KEPT
        self._excerpt = _Excerpt(_ANSWER_KEPT)
        self._error_line = b""  # the unfinished last one
        self._data: list[str] = []
        self._data_left = _DATA_KEPT

    @property
    def pid(self) -> int:
        """The process id, also that of its session and process group."""
        return self._child.pid

    # ------------------------------------------------------------------------------ asking

    def ask(
        self,
        text: str,
        limit: float | None,
        *,
        lenient: bool = False,
        other: "BotProcess | None" = None,
        by_cpu: bool = False,
    ) -> tuple[str, int]:
        """Send a text and wait for a line.

        The time is measured from the last byte written to the line end read. An answer that is in
        the pipe when the time is up is in time. The same limit applies while the bot does not read
        its input from a full pipe.

        Parameters
        ----------
        text : str
            What to send.
        limit : float or None
            Seconds; None for no limit.
        lenient : bool
            Whether output written before the question is the answer instead of a fault.
        other : BotProcess, optional
            The waiting opponent, whose standard error is read meanwhile too.
        by_cpu : bool
            Whether the limit is one of processor time; the answer may take ten times as long.

        Returns
        -------
        line : str
            The answer without its line end.
        elapsed_ns : int
            The time taken, in nanoseconds.

        Raises
        ------
        BotFault
            The bot did not answer.
        """
        self.cpu_ns, self._before_ns = 0, self._meter.cpu_ns() if self._meter else 0
        if self._child.stdin < 0:
            raise BotFault(FaultKind.TIMEOUT, "was too late before")
        if not lenient:
            self._refuse_early()
        poll = self._watched(other)
        budget = _STDERR_IDLE
        unsent = memoryview(text.encode())
        sent = False
        cpu_limit = limit if by_cpu else None
        limit = limit and limit * (WALL if by_cpu else 1)
        start = time.monotonic_ns()
        while True:
            if not sent:
                unsent = unsent[self._write(unsent) :]
                if not unsent:
                    sent = True
                    poll.unregister(self._stdin)
                    start = time.monotonic_ns()
            if sent and (line := self._take_line()) is not None:
                elapsed_ns = time.monotonic_ns() - start
                self._look(cpu_limit)
                return line.decode("utf-8", "replace"), elapsed_ns
            spent = (time.monotonic_ns() - start) / 1e9
            left = math.inf if limit is None else max(0.0, limit - spent)
            ready = self._ready(poll, min(left, _SILENCE), cpu_limit)
            if other and other._stderr in ready:
                budget -= other._read_errors()
                if other._errors_ended or budget <= 0:
                    poll.unregister(other._stderr)
            if self._progress(ready, poll):
                continue
            if left == 0.0:
                raise self._timeout(limit, len(unsent))
            if not ready and left > _SILENCE:
                self._refuse_silence()

    def _ready(self, poll: "select.poll", seconds: float, cpu_limit: float | None) -> set[int]:
        """Wait for pipes; where there is a limit, look at what the bot uses meanwhile."""
        pause = _LOOK if cpu_limit is not None or self.memory_limit < math.inf else math.inf
        end = time.monotonic_ns() + 1e9 * seconds
        while True:
            left = max(0.0, end - time.monotonic_ns()) / 1e9
            ready = {pipe for pipe, _ in poll.poll(1000 * min(left, pause))}
            if time.monotonic_ns() - self._looked_ns >= 1e9 * pause:
                self._look(cpu_limit)
            if ready or left == 0.0:
                return ready

    def _look(self, cpu_limit: float | None = None) -> None:
        """Note the processor time since the question; raise the fault of a limit in seconds."""
        self._looked_ns, meter, most = time.monotonic_ns(), self._meter, self.memory_limit
        if meter is None:
            return
        self.cpu_ns = max(0, meter.cpu_ns() - self._before_ns)
        if cpu_limit is not None and self.cpu_ns > 1e9 * cpu_limit:
            used = f"used {self.cpu_ns / 1e6:.0f} ms of processor time"
            raise BotFault(FaultKind.TIMEOUT, f"{used}, more than {1000 * cpu_limit:g} ms")
        if most < math.inf and (used_mb := meter.memory(most)) > most:
            reason = f"used {math.ceil(used_mb)} MB of memory, more than {most:g} MB"
            raise BotFault(FaultKind.MEMORY_LIMIT, reason)

    def _watched(self, other: "BotProcess | None") -> "select.poll":
        """Return what waits for the pipes that a question concerns."""
        poll = select.poll()
        poll.register(self._stdin, select.POLLOUT)
        if not self._output_ended:
            poll.register(self._stdout, select.POLLIN)
        for bot in (self, other):
            if bot and not bot._errors_ended:
                poll.register(bot._stderr, select.POLLIN)
        return poll

    def _progress(self, ready: set[int], poll: "select.poll") -> bool:
        """Read what has come; return whether question or answer made progress."""
        if self._stderr in ready:
            self._read_errors()
            if self._errors_ended:
                poll.unregister(self._stderr)
        if self._stdout in ready:
            self._read_output()
            # The question is not fully written and the bot floods its output: its first line is
            # enough.
            if self._output_ended or len(self._output) >= self.max_line:
                poll.unregister(self._stdout)
        return self._stdout in ready or self._stdin in ready

    def _refuse_early(self) -> None:
        self._read_output()
        self._drop_line_feed()
        if self._output:
            raise BotFault(
                FaultKind.EARLY,
                f"{self._shown()} was written before the input was sent",
            )

    def _refuse_silence(self) -> None:
        """Expect nothing from processes that have survived the bot's, and keep its pipes open."""
        if self._child.exit_code() is not None:
            raise self._end_fault(FaultKind.CRASHED, "")

    def _take_line(self) -> bytes | None:
        self._drop_line_feed()
        end = _LINE_END.search(self._output)
        length = end.start() if end else len(self._output)
        if length >= self.max_line:
            raise BotFault(FaultKind.LINE_TOO_LONG, f"{self.max_line} bytes or more without an end")
        if not end:
            if self._output_ended:
                raise self._end_fault(FaultKind.CLOSED_OUTPUT, "closed its output")
            return None
        line = bytes(self._output[:length])
        self._after_cr = end[0] == b"\r"
        del self._output[: length + 1]
        return line

    def _drop_line_feed(self) -> None:
        """Drop a line feed right after a carriage return, as it belongs to the same line end."""
        if self._after_cr and self._output:
            if self._output.startswith(b"\n"):
                del self._output[:1]
            self._after_cr = False

    def _timeout(self, limit: float | None, unsent: int) -> BotFault:
        self._look()
        reason = f"no answer within {(limit or 0) * 1000:g} ms"
        if unsent:
            reason += f", {unsent} bytes of the input were never read"
        elif self._output:
            reason += f", only {self._shown()} without a line end"
        if (code := self._child.exit_code()) is not None:
            reason += f"; its process {end_of(code)}"
        elif not unsent and self.speaks_protocol:
            reason += self._late_answer()
        return BotFault(FaultKind.TIMEOUT, reason)

    def _late_answer(self) -> str:
        """Return a hint for the bot's author if an answer comes after all.

        A program that has its answer in a buffer waits for more input. When that ends the program
        ends too, and the answer comes.
        """
        self._wait_for_line(_LATE)
        if not _LINE_END.search(self._output):
            self._child.close_input()
            self._wait_for_line(_FLUSH)
            if _LINE_END.search(self._output):
                return f"; {self._shown()} came when its input ended: did it flush its output?"
            return ""
        return f"; {self._shown()} came later"

    def _wait_for_line(self, seconds: float) -> None:
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        deadline = time.monotonic() + seconds
        while not self._output_ended and (left := deadline - time.monotonic()) > 0:
            if poll.poll(left * 1000):
                self._read_output()
            if _LINE_END.search(self._output) or len(self._output) >= self.max_line:
                return

    def _end_fault(self, kind: FaultKind, reason: str) -> BotFault:
        """Return the fault of a bot that closed a pipe, which is how its death shows."""
        deadline = time.monotonic() + _DEATH
        while (code := self._child.exit_code()) is None and time.monotonic() < deadline:
            time.sleep(0.001)
        if code is not None:
            kind, reason = FaultKind.CRASHED, f"its process {end_of(code)}"
        if self._output:
            ended = _LINE_END.search(self._output)
            reason += f", after {self._shown()}{'' if ended else ' without a line end'}"
        return BotFault(kind, reason)

    def _shown(self) -> str:
        text = self._output[: _SHOWN + 1].decode("utf-8", "replace")
        return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")

    # ------------------------------------------------------------------------------- pipes

    def _pipes(self) -> tuple[int, int, int]:
        return self._child.stdin, self._child.stdout, self._child.stderr

    def _write(self, data: memoryview) -> int:
        """Write as much as fits; return the number of bytes."""
        try:
            return os.write(self._stdin, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise self._end_fault(FaultKind.CLOSED_INPUT, "closed its input") from None

    def _read_output(self) -> None:
        """Read at most one chunk, so that a flood stays in the pipe."""
        chunk = _read(self._stdout)
        if chunk is not None:
            self._output += chunk
            self._output_ended = not chunk

    def _read_errors(self) -> int:
        """Read at most one chunk of the standard error; return the number of bytes."""
        chunk = _read(self._stderr)
        if chunk is None:
            return 0
        self._errors += chunk
        del self._errors[:-STDERR_KEPT]
        self._errors_ended = not chunk
        self._excerpt.add(chunk)
        self._find_data(chunk)
        return len(chunk)

    def _find_data(self, chunk: bytes) -> None:
        lines, _, rest = (self._error_line + chunk).rpartition(b"\n")
        self._error_line = rest if len(rest) <= _DATA_LINE else b"too long"
        if b"DATA]" in lines.upper() or b"DATA+]" in lines.upper():
            for line in _DATA.findall(lines):
                self._data_left -= len(line)
                if self._data_left >= 0:
                    self._data.append(line.decode("utf-8", "replace"))

    def stderr_tail(self) -> str:
        """Return the end of what the bot has written to its standard error so far."""
        self._read_all_errors()
        return self._errors.decode("utf-8", "replace")

    def stderr_since(self) -> str:
        """Return the first and last lines that it has written there since this was last called."""
        self._read_all_errors()
        text = self._excerpt.text()
        self._kept -= len(text)
        self._excerpt = _Excerpt(max(0, min(_ANSWER_KEPT, self._kept // 2)))
        return text

    def _read_all_errors(self) -> None:
        budget = _STDERR_IDLE
        while budget > 0 and (count := self._read_errors()):
            budget -= count

    def data_lines(self) -> list[str]:
        """Return the lines for tournament tools in what was read of the bot's standard error."""
        return self._data

    # --------------------------------------------------------------------------------- end

    def kill(self) -> None:
        """Kill the bot, from any thread; a caller waiting for its answer gets a crash."""
        self._child.signal(signal.SIGKILL)


def quoting_hint(command: str) -> str:
    """Say how to quote the path of a program, if that is what a whole command is; else ""."""
    if " " not in command or not os.path.isfile(command):
        return ""
    return f'; a command is split at blanks: for this file it is "{shlex.quote(command)}"'


def _read(pipe: int) -> bytes | None:
    """Return at most one chunk, empty at the end of the stream; None if there is nothing yet."""
    try:
        return os.read(pipe, _CHUNK)
    except BlockingIOError:
        return None

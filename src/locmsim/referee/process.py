"""Bots as child processes: pipes that never block, a clock, and a complete cleanup.

A bot may do anything: hang, die, flood its output, close its pipes, fork daemons. If it fails to
answer, `BotFault` gives the reason, and the bot loses the match.
This works on POSIX only; processes that moved to other sessions are found only on Linux.
"""

import contextlib
import errno
import os
import re
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import IO, ClassVar, NamedTuple

from locmsim.contract import MATCH_VARIABLE, FaultKind

__all__ = [
    "MAX_LINE",
    "STDERR_KEPT",
    "BotFault",
    "BotProcess",
    "kill_all",
    "new_token",
    "python_file_hint",
    "stop",
]

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

#: Seconds to exit between SIGTERM, with the input closed, and SIGKILL.
_GRACE = 0.2
#: Seconds in which a bot that was too late may still write its answer: as it is, and after its
#: input has ended.
_LATE, _FLUSH = 0.1, 0.2
#: Seconds within which a process must disappear after its pipes were closed.
_DEATH = 0.2
#: Seconds after which processes that survive SIGKILL (stuck in the kernel) are abandoned.
_GIVE_UP = 5.0

#: The marks of matches that are being played.
_tokens: set[str] = set()
_LINE_END = re.compile(rb"[\r\n]")
_DATA = re.compile(rb"^\[[TP]DATA\+?\][^\r\n]*", re.MULTILINE)
#: Errors at the start of a process that are caused by the machine, not by the command.
_MACHINE_ERRORS = {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


def python_file_hint(command: str) -> str:
    """Suggest a command for a Python file that cannot be run as it is; "" for anything else."""
    if not command.endswith(".py") or not os.path.isfile(command) or os.access(command, os.X_OK):
        return ""
    with open(command, encoding="utf-8", errors="replace") as file:
        classes = re.findall(r"^class (\w+)", file.read(), re.MULTILINE)
    return (
        f"{command!r} is a Python file: name its class, {command}:"
        f"{classes[0] if classes else 'CLASS'}, or the command, 'python {command}'"
    )


class BotFault(Exception):
    """A bot gave no answer: `kind` for programs, `message` for people, `traceback` of an agent."""

    def __init__(self, kind: FaultKind, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.traceback = traceback


def new_token() -> str:
    """Return a new mark for the processes of one match.

    It contains the mark of an outer match, so that a referee also finds the bots of a bot that
    is a referee itself.
    """
    outer = os.environ.get(MATCH_VARIABLE)
    own = os.urandom(8).hex()
    token = f"{outer}:{own}" if outer else own
    _tokens.add(token)
    return token


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
    """A running bot in its own session; `stop` ends it.

    Attributes
    ----------
    max_line : int
        Number of bytes from which a line is too long for an answer.
    speaks_protocol : bool
        Whether it is asked by the text of the game.

    Parameters
    ----------
    command : str or sequence of str
        The command; a string is split as by a shell.
    token : str
        The mark of the bot's processes, from `new_token`, by which `stop` finds them.
    cwd : str or path, optional
        Working directory of the bot; by default that of this process.
    env : mapping, optional
        Environment of the bot; by default that of this process.

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
        token: str,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start the command."""
        try:
            arguments = shlex.split(command) if isinstance(command, str) else list(command)
            if not arguments:
                raise ValueError("the command is empty")
            self._process = subprocess.Popen(
                arguments,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env={**(os.environ if env is None else env), MATCH_VARIABLE: token},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and (
                error.errno in _MACHINE_ERRORS or (cwd is not None and not os.path.isdir(cwd))
            ):
                raise
            why = error.strerror if isinstance(error, OSError) else error
            raise BotFault(FaultKind.START_FAILED, f"cannot run {command!r}: {why}") from None
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in self._pipes())
        for pipe in self._pipes():
            os.set_blocking(pipe.fileno(), False)
        self._output = bytearray()
        self._after_cr = False
        self._output_ended = False
        self._errors = bytearray()
        self._errors_ended = False
        self._kept = _MATCH_KEPT
        self._excerpt = _Excerpt(_ANSWER_KEPT)
        self._error_line = b""  # the unfinished last one
        self._data: list[str] = []
        self._data_left = _DATA_KEPT

    @property
    def pid(self) -> int:
        """The process id, also that of its session and process group."""
        return self._process.pid

    # ------------------------------------------------------------------------------ asking

    def ask(
        self,
        text: str,
        limit: float | None,
        *,
        lenient: bool = False,
        other: "BotProcess | None" = None,
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
        if self._pipes()[0].closed:
            raise BotFault(FaultKind.TIMEOUT, "was too late before")
        if not lenient:
            self._refuse_early()
        watch = _Watch(self, other)
        unsent = memoryview(text.encode())
        sent = False
        start = time.monotonic_ns()
        while True:
            if not sent:
                unsent = unsent[self._write(unsent) :]
                if not unsent:
                    sent = True
                    watch.forget(self._stdin)
                    start = time.monotonic_ns()
            if sent:
                line = self._take_line()
                if line is not None:
                    return line.decode("utf-8", "replace"), time.monotonic_ns() - start
                if self._output_ended:
                    raise self._end_fault(FaultKind.CLOSED_OUTPUT, "closed its output")
            left = None if limit is None else max(0.0, limit - (time.monotonic_ns() - start) / 1e9)
            if not watch.wait(left) and left == 0.0:
                raise self._timeout(limit, len(unsent))

    def _refuse_early(self) -> None:
        self._read_output()
        self._drop_line_feed()
        if self._output:
            raise BotFault(
                FaultKind.EARLY,
                f"answered early: {self._shown()} was written before the input was sent",
            )

    def _take_line(self) -> bytes | None:
        self._drop_line_feed()
        end = _LINE_END.search(self._output)
        length = end.start() if end else len(self._output)
        if length >= self.max_line:
            raise BotFault(FaultKind.LINE_TOO_LONG, f"{self.max_line} bytes or more without an end")
        if not end:
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
        reason = f"no answer within {(limit or 0) * 1000:g} ms"
        if unsent:
            reason += f", {unsent} bytes of the input were never read"
        elif self._output:
            reason += f", only {self._shown()} without a line end"
        if (code := self._exit_code()) is not None:
            reason += f"; its process {_death(code)}"
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
            self._pipes()[0].close()
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
        while (code := self._exit_code()) is None and time.monotonic() < deadline:
            time.sleep(0.001)
        if code is not None:
            kind, reason = FaultKind.CRASHED, f"its process {_death(code)}"
        if self._output:
            reason += f", after {self._shown()} without a line end"
        return BotFault(kind, reason)

    def _shown(self) -> str:
        text = self._output[: _SHOWN + 1].decode("utf-8", "replace")
        return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")

    # ------------------------------------------------------------------------------- pipes

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdin, process.stdout, process.stderr

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
        if b"DATA" in lines:
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

    def _exit_code(self) -> int | None:
        """As ``Popen.returncode``; None while the process runs.

        The process stays a zombie, so that its id, which names its session and group, cannot
        belong to another process before `stop` has finished.
        """
        try:
            status = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # SIGCHLD is ignored in this process: there is no status
            return 0
        if status is None:
            return None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status

    def kill(self) -> None:
        """Kill the bot, from any thread; a caller waiting for its answer gets a crash."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def _hang_up(self) -> None:
        self._pipes()[0].close()
        self._signal(signal.SIGTERM)

    def _release(self) -> None:
        """Close the pipes and let the system forget the process."""
        for pipe in self._pipes():
            pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GIVE_UP)


class _Watch:
    """The pipes that a question waits for, and those that are read meanwhile."""

    def __init__(self, asked: BotProcess, other: BotProcess | None) -> None:
        self._asked = asked
        self._other = other
        self._other_budget = _STDERR_IDLE
        self._poll = select.poll()
        self._poll.register(asked._stdin, select.POLLOUT)
        if not asked._output_ended:
            self._poll.register(asked._stdout, select.POLLIN)
        for bot in (asked, other):
            if bot and not bot._errors_ended:
                self._poll.register(bot._stderr, select.POLLIN)

    def forget(self, pipe: int) -> None:
        self._poll.unregister(pipe)

    def wait(self, seconds: float | None) -> bool:
        """Read what comes within this time; return whether question or answer made progress."""
        ready = {pipe for pipe, _ in self._poll.poll(seconds and seconds * 1000)}
        asked, other = self._asked, self._other
        if asked._stderr in ready:
            asked._read_errors()
            if asked._errors_ended:
                self.forget(asked._stderr)
        if other and other._stderr in ready:
            self._other_budget -= other._read_errors()
            if other._errors_ended or self._other_budget <= 0:
                self.forget(other._stderr)
        if asked._stdout in ready:
            asked._read_output()
            # The question is not fully written and the bot floods its output: its first line is
            # enough.
            if asked._output_ended or len(asked._output) >= asked.max_line:
                self.forget(asked._stdout)
        return asked._stdout in ready or asked._stdin in ready


def _read(pipe: int) -> bytes | None:
    """Return at most one chunk, empty at the end of the stream; None if there is nothing yet."""
    try:
        return os.read(pipe, _CHUNK)
    except BlockingIOError:
        return None


def _death(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


# ------------------------------------------------------------------------------ ending processes


def stop(bots: Collection[BotProcess], token: str) -> None:
    """End `bots` and all their descendants, and wait until they are gone.

    First their input is closed and SIGTERM is sent; a moment later SIGKILL, repeatedly, until no
    process is left. On Linux this includes processes known only by the token in their environment:
    those that moved to other sessions, and a bot whose start was interrupted before it was added
    to `bots`. Elsewhere it covers the bots' process groups.
    """
    try:
        _end(bots, token, _GRACE)
    except BaseException:  # interrupted: try again, without delay
        _end(bots, token, 0.0)
        raise
    finally:
        _tokens.discard(token)


def kill_all() -> None:
    """Kill all processes of the matches that are being played."""
    for token in list(_tokens):
        _kill_all((), token)


def _end(bots: Collection[BotProcess], token: str, grace: float) -> None:
    for bot in bots:
        bot._hang_up()
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and any(bot._exit_code() is None for bot in bots):
        time.sleep(0.001)
    _kill_all(bots, token)
    for bot in bots:
        bot._release()


def _kill_all(bots: Collection[BotProcess], token: str) -> None:
    leaders = {bot.pid for bot in bots}
    sessions = set(leaders)
    own = os.getsid(0)
    deadline = time.monotonic() + _GIVE_UP
    while True:
        for bot in bots:
            bot._signal(signal.SIGKILL)
        found = list(_descendants(leaders, sessions, token))
        alive = [process for process in found if not process.dead]
        for process in alive:
            # What a worker leaves behind may be in our own session, with who knows what else.
            if process.session != own:
                sessions.add(process.session)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        if not alive or time.monotonic() > deadline:
            break
        time.sleep(0.001)
    # Orphans are reaped by the first process of the system, which in a container may be this one.
    for process in found:
        if process.parent == os.getpid() and process.pid not in leaders:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


class _Process(NamedTuple):
    """The relevant part of ``/proc/PID/stat``."""

    pid: int
    dead: bool
    parent: int
    session: int
    started: int


def _process(pid: int) -> _Process | None:
    # The name of the program is in parentheses and may itself contain parentheses.
    fields = _proc_file(pid, "stat").rpartition(b")")[2].split()
    if len(fields) < 20:
        return None
    parent, session, started = (int(fields[i]) for i in (1, 3, 19))
    return _Process(pid, fields[0] in b"ZX", parent, session, started)


def _descendants(leaders: set[int], sessions: set[int], token: str) -> Iterator[_Process]:
    """Yield the processes of the sessions, including zombies, and those with the token (Linux)."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    mark = token.encode()
    # No process is older than its ancestors, which saves most of the reading.
    born = min((leader.started for pid in leaders if (leader := _process(pid))), default=0)
    for name in names:
        process = _process(int(name)) if name.isdigit() else None
        if process is None or process.started < born:
            continue
        if process.session in sessions or mark in _proc_file(process.pid, "environ"):
            yield process


def _proc_file(pid: int, name: str) -> bytes:
    """Return the content of a file in /proc; empty if the process is gone or not ours."""
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""

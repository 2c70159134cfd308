"""Child processes that end with what started them: bots, workers, agents in processes of their own.

A `Supervisor` starts processes and ends them, with all that they have started. On Linux a helper
process does both (`locmsim.processes.reaper`), so that nothing is left whatever the processes do,
and even if this one is killed: daemons in sessions of their own are found, with or without their
environment. Nothing of the calling process is changed. Elsewhere the processes lead sessions of
their own, and what leaves its session is not found; if this process is killed, they see the end of
their input.

(Libraries that were looked at: psutil finds the children of a process, but not a daemon whose
parent has ended. python-prctl makes the calling process the subreaper. A parent-death signal, by it
or by a `preexec_fn`, comes when the thread ends that started a process. bubblewrap, systemd-run and
containers must be installed, or need rights. supervisord, circus and honcho run services by a
configuration.)
"""

import atexit
import contextlib
import errno
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from locmsim.processes.usage import Meter, is_measurable

with contextlib.suppress(ImportError):  # not every system has what it needs
    from locmsim.processes import reaper

if TYPE_CHECKING:
    import socket
    import subprocess

#: Seconds in which processes may end by themselves after SIGTERM.
GRACE = 0.2
#: Seconds after which processes that survive SIGKILL (stuck in the kernel) are abandoned.
_GIVE_UP = 8.0
#: What the helper runs; its arguments are the folder of its module and the id of this process.
_HELPER = "import sys; sys.path.append(sys.argv[1]); import reaper; reaper.main(int(sys.argv[2]))"
#: Variables that may be needed to run Python. The helper has no others, so that nobody takes it for
#: one of the processes that it has started.
_NEEDED = ("LD_LIBRARY_PATH", "PATH")
#: Errors that say nothing of what a system can do: it has no descriptors or memory left.
_LACKING = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)

#: The supervisors of this process that have processes.
_open: "weakref.WeakSet[Supervisor]" = weakref.WeakSet()


def end_of(code: int) -> str:
    """Return how a process has ended, by its `Child.exit_code`: "was killed by SIGSEGV"."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


class Child:
    """A process that a `Supervisor` has started.

    Attributes
    ----------
    pid : int
        The process id, also that of its session and process group where there are such.
    stdin, stdout, stderr : int
        Our ends of its pipes; -1 where it has another descriptor.
    """

    def __init__(self, starter: "_Helped | _Sessions", pid: int, pipes: Sequence[int]) -> None:
        self._starter = starter
        self._meter: Meter | None = None
        self.pid = pid
        self.stdin, self.stdout, self.stderr = pipes

    def exit_code(self) -> int | None:
        """As ``Popen.returncode``; None while the process runs."""
        return self._starter.exit_code(self.pid)

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait until the process has ended, for a while, and return its `exit_code`.

        Parameters
        ----------
        seconds : float, optional
            How long; without a limit by default.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        pause = 0.0005
        while (code := self.exit_code()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                return None
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return code

    def meter(self) -> Meter | None:
        """Return what measures what the process uses; None where the system does not tell."""
        if self._meter is None and is_measurable():
            self._meter = Meter(self.pid)
        return self._meter

    def signal(self, number: int) -> None:
        """Send a signal to the process and its group, from any thread.

        Parameters
        ----------
        number : int
            That of the signal.
        """
        self._starter.signal(self.pid, number)

    def detach(self) -> tuple[int, int, int]:
        """Return our ends of the pipes, which the caller is to close."""
        pipes = self.stdin, self.stdout, self.stderr
        self.stdin = self.stdout = self.stderr = -1
        return pipes

    def close_input(self) -> None:
        """Close our end of its standard input."""
        self.stdin = _closed(self.stdin)

    def close(self) -> None:
        """Close our ends of all its pipes."""
        self.close_input()
        self.stdout, self.stderr = _closed(self.stdout), _closed(self.stderr)
        if self._meter is not None:
            self._meter.close()


class Supervisor:
    """Starts processes, and ends them together. A context manager, whose end is `end`."""

    def __init__(self) -> None:
        self._starter: _Helped | _Sessions | None = None
        self._children: list[Child] = []

    def start(
        self,
        command: Sequence[str | bytes],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        cores: Sequence[int] = (),
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> Child:
        """Start a process in a session of its own.

        Parameters
        ----------
        command : sequence of str
            The program and its arguments.
        cwd : str or path, optional
            Its working directory; by default that of this process.
        env : mapping, optional
            Its environment; by default that of this process.
        cores : sequence of int, optional
            The processors that it may use; by default those of this process.
        stdin, stdout, stderr : int, optional
            Descriptors for it; by default a pipe, whose other end the result has.

        Raises
        ------
        OSError
            The program cannot be run, the folder does not exist, or the machine has no processes,
            descriptors or memory left. The file name is that of the folder if it is at fault.
        ValueError
            The command is empty or contains a NUL.
        """
        words = [os.fsencode(word) for word in command]
        if not words:
            raise ValueError("the command is empty")
        if any(b"\0" in word for word in words):
            raise ValueError("embedded null byte")
        if self._starter is None:
            self._starter = _Helped() if _has_helper() else _Sessions()
            _open.add(self)
        descriptors = (stdin, stdout, stderr)
        ours, theirs = [-1, -1, -1], list[int]()
        with contextlib.ExitStack() as both:  # what is left open if this is interrupted
            for number, descriptor in enumerate(descriptors):
                if descriptor is not None:
                    theirs.append(descriptor)
                    continue
                ends = os.pipe()
                both.callback(os.close, ends[number == 0])
                ours[number] = ends[number == 0]
                theirs.append(ends[number != 0])
            try:
                pid = self._starter.start(words, cwd, env, cores, theirs)
            finally:
                for descriptor, other in zip(descriptors, theirs, strict=False):
                    if descriptor is None:
                        os.close(other)
            both.pop_all()
        child = Child(self._starter, pid, ours)
        self._children.append(child)
        return child

    def end(self, grace: float = GRACE) -> None:
        """End all processes and all that they have started, and wait until they are gone.

        First their input is closed and SIGTERM is sent to them and their groups; after the grace
        SIGKILL, repeatedly, until no process is left.

        Parameters
        ----------
        grace : float
            Seconds between SIGTERM and SIGKILL.
        """
        if self._starter is None:
            return
        for child in self._children:
            child.close_input()
        try:
            self._starter.end(grace)
        except BaseException:  # interrupted: try again, without delay
            self._starter.end(0.0)
            raise
        finally:
            _open.discard(self)
            for child in self._children:
                child.close()

    def kill(self) -> None:
        """Kill all processes and their groups, from any thread."""
        if self._starter is not None:
            for child in list(self._children):
                child.signal(signal.SIGKILL)

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()


def kill_all() -> None:
    """Kill the processes of all supervisors of this process."""
    for supervisor in list(_open):
        supervisor.kill()


def _closed(descriptor: int) -> int:
    if descriptor >= 0:
        os.close(descriptor)
    return -1


# ------------------------------------------------------------------------ processes of Python


def python_command(module: str, function: str, *words: str) -> list[str]:
    """Return the command of a process that calls a function with the search path of this one.

    The words are the arguments in its ``sys.argv``.
    """
    import json

    code = (
        "import json, sys; sys.path[:] = json.loads(sys.argv.pop());"
        f" from {module} import {function}; {function}()"
    )
    options = _interpreter_options()
    if "-P" not in options:  # a file in the working directory must not replace the library's module
        options.append("-P")
    return [sys.executable, *options, "-c", code, *words, json.dumps(sys.path)]


def _interpreter_options() -> list[str]:
    """Return the options of this interpreter that children have too, such as ``-X dev``."""
    import multiprocessing.util

    options: list[str] = multiprocessing.util._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return options


def preparation() -> dict[str, Any]:
    """Return what lets a child find the classes of the main script, as `multiprocessing` does."""
    import multiprocessing.spawn  # slow to import

    data = multiprocessing.spawn.get_preparation_data("child")
    data["authkey"] = bytes(data["authkey"])
    return data


def prepare_main(data: dict[str, Any]) -> None:
    """Import the main script in a child, with the `preparation` of its parent."""
    import multiprocessing.spawn

    process = multiprocessing.current_process()
    process._inheriting = True  # type: ignore[attr-defined]
    try:
        multiprocessing.spawn.prepare(data)
    finally:
        del process._inheriting  # type: ignore[attr-defined]


def own_pipes() -> tuple[int, int]:
    """Return descriptors of questions and answers that nothing else in this process uses.

    What it prints, also from C, goes to the standard error, and its standard input is empty.
    Printed lines are there at once, so that none is lost when the process is killed.
    """
    questions, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return questions, answers


#: By number, other descriptors of the standard streams, as they were when first looked at.
_streams: dict[int, int] = {}


def restore_streams() -> None:
    """Open the standard streams again that an agent, which shares them with others, has closed."""
    if not _streams:
        for number in range(3):
            with contextlib.suppress(OSError):
                _streams[number] = os.dup(number)
    for number, spare in _streams.items():
        try:
            unchanged = os.path.sameopenfile(number, spare)
        except OSError:
            unchanged = False
        if not unchanged:
            os.dup2(spare, number)
        name = ("stdin", "stdout", "stderr")[number]
        if getattr(getattr(sys, name), "closed", True):
            mode = "w" if number else "r"
            stream = open(number, mode, 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


# ----------------------------------------------------------------------------- with a helper


class _Helped:
    """Processes of a reaper, see `locmsim.processes.reaper`."""

    def __init__(self) -> None:
        #: Process id -> exit code, of those that have ended.
        self._codes: dict[int, int] = {}
        #: Whether the reaper has ended, and so all of them.
        self._ended = False
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._link = _new_reaper()

    def start(
        self,
        words: list[bytes],
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str] | None,
        cores: Sequence[int],
        descriptors: list[int],
    ) -> int:
        """Start a process with these standard descriptors; return its id."""
        import socket

        folder = os.getcwdb() if cwd is None else os.path.abspath(os.fsencode(cwd))
        if env is None:
            environment = dict(os.environb)
        else:
            environment = {os.fsencode(k): os.fsencode(v) for k, v in env.items()}
        cores = [*(cores or sorted(os.sched_getaffinity(0)))]
        message = ("start", words, folder, environment, cores, reaper.limits())
        with self._lock:
            try:
                reaper.send(self._link, message)
                socket.send_fds(self._link, [b"\0"], descriptors)
                while (answer := reaper.receive(self._link))[0] == "exited":
                    self._note(answer)
            except (EOFError, ConnectionError):
                raise OSError(errno.EAGAIN, "the supervising process has ended") from None
        if answer[0] == "failed":
            _, number, file = answer
            raise OSError(number, os.strerror(number), *([os.fsdecode(file)] if file else []))
        return int(answer[1])

    def _note(self, message: Any) -> None:
        _, pid, code = message
        self._codes[pid] = code

    def exit_code(self, pid: int) -> int | None:
        with self._lock:
            while pid not in self._codes and self._listen():
                pass
        return self._codes.get(pid, -signal.SIGKILL if self._ended else None)

    def _listen(self) -> bool:
        """Take the next message; return whether there was one."""
        if self._ended or not _readable(self._link, 0.0):
            return False
        try:
            self._note(reaper.receive(self._link))
        except (EOFError, OSError):
            self._ended = True
        return not self._ended

    def _wait(self, seconds: float) -> None:
        """Wait for the reaper's end, for a while; its last messages may lack their beginning."""
        if not self._ended and _readable(self._link, seconds):
            with contextlib.suppress(OSError):
                self._ended = not self._link.recv(1 << 12)

    def signal(self, pid: int, number: int) -> None:
        # It may come from the thread that ends this process at once, whatever the others do.
        if self._lock.acquire(timeout=0.5):
            try:
                with contextlib.suppress(OSError):
                    reaper.send(self._link, ("signal", pid, int(number)))
            finally:
                self._lock.release()

    def end(self, grace: float) -> None:
        if self._owner != os.getpid():  # a fork
            self._link.close()
            return
        with self._lock, contextlib.suppress(OSError):
            reaper.send(self._link, ("end", grace))
        deadline = time.monotonic() + grace + _GIVE_UP
        while not self._ended and time.monotonic() < deadline:
            with self._lock:
                self._wait(0.02)
        with self._lock:
            self._ended = True
            self._link.close()


def _readable(link: "socket.socket", seconds: float) -> bool:
    import select

    poll = select.poll()
    poll.register(link, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class _Helper:
    """The helper of this process."""

    link: "socket.socket | None" = None

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget it: it is that of another process, or has ended."""
        self.close()
        self.lock = threading.Lock()
        self.link = None

    def started(self) -> "socket.socket":
        """Return the socket of the helper, which is started if there is none."""
        with self.lock:
            if self.link is None:
                self.link = _start_helper()
            return self.link

    def close(self) -> None:
        """Let it end."""
        if self.link is not None:
            self.link.close()


_helper = _Helper()


def _start_helper() -> "socket.socket":
    import socket

    ours, theirs = socket.socketpair()
    number, folder = theirs.fileno(), os.path.dirname(__file__)
    # Nothing must end it before it ignores signals.
    ending = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    with theirs:
        try:
            os.posix_spawn(
                sys.executable,
                [
                    sys.executable,
                    "-I",
                    "-S",
                    "-c",
                    _HELPER,
                    folder,
                    str(os.getpid()),
                ],
                {name: os.environ[name] for name in _NEEDED if name in os.environ},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, number, reaper.SOCKET),
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
                    (os.POSIX_SPAWN_DUP2, 0, 1),
                    (os.POSIX_SPAWN_DUP2, 0, 2),
                ],
                setsigmask=ending,
            )
        except BaseException:
            ours.close()
            raise
    return ours


def _new_reaper() -> "socket.socket":
    """Return the socket of a new reaper."""
    import socket

    ours, theirs = socket.socketpair()
    with theirs:
        for attempt in range(2):
            try:
                socket.send_fds(_helper.started(), [b"\0"], [theirs.fileno()])
                break
            except ConnectionError:  # somebody killed it
                _helper.forget()
                if attempt:
                    ours.close()
                    raise
            except BaseException:
                ours.close()
                raise
    return ours


def prepare() -> None:
    """Start the helper of this process if it needs one, without waiting for it."""
    if _has_helper():
        with contextlib.suppress(OSError):  # it is tried again when something is started
            _helper.started()


def _has_helper() -> bool:
    """Return whether this system can run the helper."""
    if sys.platform != "linux" or not sys.executable or not os.path.exists("/proc/self/stat"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:  # an old kernel, or a container that forbids it
        return error.errno in _LACKING
    return True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helper.forget)
atexit.register(_helper.close)


# -------------------------------------------------------------------------- without a helper


class _Sessions:
    """Processes that lead sessions of their own, where there are such."""

    def __init__(self) -> None:
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(
        self,
        words: list[bytes],
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str] | None,
        cores: Sequence[int],
        descriptors: list[int],
    ) -> int:
        """As `_Helped.start`."""
        import subprocess

        stdin, stdout, stderr = descriptors
        process = subprocess.Popen(
            [os.fsdecode(word) for word in words],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            start_new_session=os.name == "posix",
        )
        self._processes[process.pid] = process
        if cores and hasattr(os, "sched_setaffinity"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(process.pid, cores)
        return process.pid

    def exit_code(self, pid: int) -> int | None:
        process = self._processes[pid]
        if not hasattr(os, "waitid") or process.returncode is not None:
            return process.poll()
        # It stays a zombie, so that its id cannot belong to another process before the end.
        try:
            status = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # SIGCHLD is ignored in this process: there is no status
            return 0
        if status is None:
            return None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status

    def signal(self, pid: int, number: int) -> None:
        process = self._processes[pid]
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.name == "posix":
                    os.killpg(pid, number)
                else:
                    process.terminate()

    def end(self, grace: float) -> None:
        import subprocess

        for pid in self._processes:
            self.signal(pid, signal.SIGTERM)
        deadline = time.monotonic() + grace
        while time.monotonic() < deadline and any(
            self.exit_code(pid) is None for pid in self._processes
        ):
            time.sleep(0.001)
        for pid in self._processes:
            self.signal(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        for process in self._processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GIVE_UP)

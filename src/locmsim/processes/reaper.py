"""The helper process of the supervisor on Linux: starts processes and ends what they leave.

It is imported alone, without the package, so that it is ready within milliseconds.
For each supervisor it forks a reaper. A reaper is a *subreaper*: whatever descends from the
processes that it starts stays its descendant, also a daemon in a session of its own and with an
empty environment. A reaper ends them all when it is told to, when its socket is closed, or when the
process that it serves is gone.

Messages are values of `marshal` with their length before them.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # of `signal`, which is slower to import
import _socket
import marshal
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

#: Seconds in which a process may end by itself after SIGTERM, when nobody says how long.
GRACE = 0.2
#: Seconds after which processes that survive SIGKILL (stuck in the kernel) are abandoned.
GIVE_UP = 5.0
#: The descriptor of the helper's socket.
SOCKET = 3
#: What must not end a helper or reaper by itself: they end when the process that they serve ends.
IGNORED = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)

#: From <sys/prctl.h> and <sys/socket.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_MSG_CMSG_CLOEXEC = 0x40000000
#: Numbers of resource limits.
_LIMITS = range(16)


class _Suppressed:
    """As ``contextlib.suppress``, which is slow to import, as is `typing`."""

    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        return kind is not None and issubclass(kind, self._kinds)


def limits() -> list[tuple[int, int, int]]:
    """Return number, soft and hard value of the resource limits of this process."""
    found = []
    for number in _LIMITS:
        with _Suppressed(ValueError, OSError):
            found.append((number, *resource.getrlimit(number)))
    return found


def send(link: Any, message: Any) -> None:
    """Send a message over a socket."""
    data = marshal.dumps(message)
    link.sendall(len(data).to_bytes(4, "little") + data)


def receive(link: Any) -> Any:
    """Return the next message of a socket; ``EOFError`` at its end."""
    return marshal.loads(_exactly(link, int.from_bytes(_exactly(link, 4), "little")))


def _exactly(link: Any, count: int) -> bytes:
    data = b""
    while len(data) < count:
        try:
            chunk = link.recv(count - len(data))
        except ConnectionError:
            chunk = b""
        if not chunk:
            raise EOFError
        data += chunk
    return data


def receive_descriptors(link: Any, count: int) -> list[int]:
    """Return descriptors that were sent with one byte; ``EOFError`` at the end of the socket."""
    data, ancillary, _, _ = link.recvmsg(1, _socket.CMSG_SPACE(4 * count), _MSG_CMSG_CLOEXEC)
    if not data or not ancillary:
        raise EOFError
    packed = ancillary[0][2]
    return [int.from_bytes(packed[i : i + 4], sys.byteorder) for i in range(0, len(packed), 4)]


def main(served: int) -> None:
    """Fork reapers for the process `served` until it is gone."""
    for number in IGNORED:
        _signal.signal(number, _signal.SIG_IGN)
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)  # reapers leave no zombies
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    os.setsid()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    os.closerange(SOCKET + 1, 1 << 16)
    os.set_inheritable(SOCKET, False)
    _become_subreaper()
    alive = os.pidfd_open(served)  # readable when the process is gone
    if os.getppid() != served:
        return
    link = _socket.socket(fileno=SOCKET)
    watch = select.poll()
    watch.register(SOCKET, select.POLLIN)
    watch.register(alive, select.POLLIN)
    while not any(descriptor == alive for descriptor, _ in watch.poll()):
        try:
            (descriptor,) = receive_descriptors(link, 1)
        except EOFError:
            break
        with _Suppressed(OSError):  # no processes left: the socket is closed, which tells
            if os.fork() == 0:
                link.close()
                _keep(descriptor, alive)
        os.close(descriptor)
    # Reapers end by themselves, and give their processes some time for that.
    deadline = time.monotonic() + 2 * GRACE
    while _reap() and time.monotonic() < deadline:
        time.sleep(0.001)
    _end({}, 0.0)


def _become_subreaper() -> None:
    import ctypes  # whoever is served by a helper needs none

    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("there are no subreapers")


def _keep(descriptor: int, alive: int) -> NoReturn:
    """Start and end processes until the socket is closed or the process that is served is gone."""
    grace, heard = GRACE, -1
    #: Process id -> pidfd.
    leaders: dict[int, int] = {}
    running: dict[int, int] = {}
    try:
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        _become_subreaper()
        link = _socket.socket(fileno=descriptor)
        watch = select.poll()
        watch.register(descriptor, select.POLLIN)
        watch.register(alive, select.POLLIN)
        while True:
            ready = {number for number, _ in watch.poll()}
            for pidfd in ready & running.keys():
                watch.unregister(pidfd)
                send(link, ("exited", *_status(running.pop(pidfd))))
            if alive in ready:
                break
            if descriptor in ready:
                kind, *values = receive(link)
                if kind == "end":
                    (grace,), heard = values, descriptor
                    break
                if kind == "signal":
                    _signal_group(*values)
                    continue
                descriptors = receive_descriptors(link, 3)
                try:
                    pid = _started(descriptors, *values)
                    pidfd = leaders[pid] = os.pidfd_open(pid)
                except OSError as error:
                    send(link, ("failed", error.errno, error.filename))
                else:
                    watch.register(pidfd, select.POLLIN)
                    running[pidfd] = pid
                    send(link, ("started", pid))
                finally:
                    for number in descriptors:
                        os.close(number)
    except (EOFError, OSError):
        pass
    finally:
        _end(leaders, grace, heard)
        os._exit(0)


def _status(pid: int) -> tuple[int, int]:
    """Return the id and the exit code, as ``Popen.returncode``, of a child that has ended.

    It stays a zombie, so that its id, which names its session and group, cannot belong to another
    process.
    """
    status = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert status is not None
    code = status.si_status
    return pid, code if status.si_code == os.CLD_EXITED else -code


def _started(
    descriptors: list[int],
    words: list[bytes],
    folder: bytes,
    environment: dict[bytes, bytes],
    cores: list[int],
    wanted: list[tuple[int, int, int]],
) -> int:
    """Start a process; ``OSError`` if that fails, with a file name if it is the folder's fault."""
    ours, theirs = os.pipe()
    try:
        pid = os.fork()
        if pid == 0:
            _become(words, folder, environment, cores, wanted, descriptors, theirs)
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    failure = os.read(ours, 1 << 10)  # empty as soon as the program runs
    os.close(ours)
    if failure:
        os.waitpid(pid, 0)
        number, file = marshal.loads(failure)
        raise OSError(number, os.strerror(number), file)
    return pid


def _become(
    words: list[bytes],
    folder: bytes,
    environment: dict[bytes, bytes],
    cores: list[int],
    wanted: list[tuple[int, int, int]],
    descriptors: list[int],
    report: int,
) -> NoReturn:
    """Make the program of this process, which was just forked."""
    file = None
    try:
        os.setsid()
        # A reaper that is killed takes its processes with it. (It has one thread: the signal comes
        # when the thread that forked ends.)
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0)
        for number in (*IGNORED, _signal.SIGPIPE):
            _signal.signal(number, _signal.SIG_DFL)
        with _Suppressed(OSError, ValueError):
            os.sched_setaffinity(0, cores)
        for limit, *values in wanted:
            with _Suppressed(OSError, ValueError):
                resource.setrlimit(limit, (values[0], values[1]))
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
        file = folder
        os.chdir(folder)
        file = None
        os.execvpe(words[0], words, environment)
    except OSError as error:
        os.write(report, marshal.dumps((error.errno, file)))
    finally:
        os._exit(127)


def _signal_group(pid: int, number: int) -> None:
    with _Suppressed(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _end(leaders: dict[int, int], grace: float, link: int = -1) -> None:
    """End all children and what descends from them: by SIGTERM, then SIGKILL until none is left.

    What arrives at the socket `link` meanwhile ends the grace.
    """
    for number, seconds in ((_signal.SIGTERM, grace), (_signal.SIGKILL, 1.0)):
        for pid in leaders:
            _signal_group(pid, number)
        _wait([*leaders.values()], seconds, link if number == _signal.SIGTERM else -1)
    deadline = time.monotonic() + GIVE_UP
    while _reap() and time.monotonic() < deadline:
        for pid in _children():
            with _Suppressed(ProcessLookupError, PermissionError):
                os.kill(pid, _signal.SIGKILL)
        time.sleep(0.0005)


def _wait(pidfds: list[int], seconds: float, link: int) -> None:
    """Wait until all these processes have ended, for a while."""
    deadline = time.monotonic() + seconds
    watch = select.poll()
    for descriptor in (*pidfds, *([link] if link >= 0 else [])):
        watch.register(descriptor, select.POLLIN)
    left = set(pidfds)
    while left and (rest := deadline - time.monotonic()) > 0:
        for descriptor, _ in watch.poll(rest * 1000):
            if descriptor == link:
                return
            watch.unregister(descriptor)
            left.discard(descriptor)


def _reap() -> bool:
    """Let the system forget children that have ended; return whether others are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    """Return the ids of the children of this process."""
    own, found = os.getpid(), []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with _Suppressed(OSError), open(f"/proc/{name}/stat", "rb", 0) as file:
                # The name of the program is in parentheses and may itself contain parentheses.
                if int(file.read().rpartition(b")")[2].split()[1]) == own:
                    found.append(int(name))
    return found

"""Processes that end with what started them, with the helper of Linux and without it."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import Supervisor, assert_gone, local_workers, running, seat_cores

from locmsim import Match
from locmsim.arena import available_cores
from locmsim.processes import supervisor
from locmsim.referee import play

if sys.platform != "linux":
    pytest.skip("processes are found in /proc", allow_module_level=True)

#: Writes the ids of a child and of a daemon without parent, session or environment.
DAEMONS = (
    "sleep 1000 & echo $!;"
    " setsid env -i sh -c 'setsid sleep 1000 & echo $!' & wait $!; echo ready; exec sleep 1000"
)


@pytest.fixture(params=[True, False], ids=["helper", "sessions"])
def helped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Use the helper, or what other systems have."""
    if not request.param:

        def refused(pid: int, flags: int = 0) -> int:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

        monkeypatch.setattr(os, "pidfd_open", refused)
    return bool(request.param)


def lines(descriptor: int, count: int) -> list[str]:
    text = b""
    while text.count(b"\n") < count:
        text += os.read(descriptor, 100)
    return text.decode().split()


def test_a_process(helped: bool, tmp_path: Path) -> None:
    with Supervisor() as own:
        command = ["sh", "-c", "read x; echo $x $Y; pwd; echo bad >&2; exit 3"]
        child = own.start(command, cwd=tmp_path, env={"Y": "z", "PATH": os.environ["PATH"]})
        assert child.exit_code() is None
        os.write(child.stdin, b"hello\n")
        assert lines(child.stdout, 2) == ["hello", "z", str(tmp_path)]
        assert lines(child.stderr, 1) == ["bad"]
        assert child.wait() == 3
        killed = own.start(["sleep", "1000"])
        killed.signal(signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL


def test_a_lack_of_descriptors_does_not_turn_the_helper_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lacking(pid: int, flags: int = 0) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "pidfd_open", lacking)
    with Supervisor() as own:
        child = own.start(["sleep", "1000"])
        parent = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[1]
        assert int(parent) != os.getpid()  # but a reaper


@pytest.mark.parametrize(
    ("command", "cwd", "error"),
    [
        (["no-such-program"], None, FileNotFoundError),
        (["true"], "/nosuch", FileNotFoundError),
        (["/"], None, PermissionError),
        ([], None, ValueError),
        (["a\0b"], None, ValueError),
    ],
)
def test_what_cannot_be_started(
    helped: bool, command: list[str], cwd: str | None, error: type[Exception]
) -> None:
    with Supervisor() as own, pytest.raises(error):
        own.start(command, cwd=cwd)


def test_daemons() -> None:
    with Supervisor() as own:
        child = own.start(["sh", "-c", DAEMONS])
        pids = [*map(int, lines(child.stdout, 3)[:2]), child.pid]
        assert running(pids) == pids
    assert running(pids) == []


def test_a_session(helped: bool) -> None:
    """What stays in its session is ended everywhere, also if it ignores SIGTERM."""
    with Supervisor() as own:
        child = own.start(["sh", "-c", "trap '' TERM; sleep 1000 & echo $!; wait"])
        pids = [int(lines(child.stdout, 1)[0]), child.pid]
    assert_gone(pids)


def test_killed_with_its_processes() -> None:
    """A process that is killed takes what it started with it, daemons too."""
    script = f"""
import os, sys
from locmsim.processes.supervisor import Supervisor
own = Supervisor()
child = own.start(["sh", "-c", {DAEMONS!r}], stdout=1)
os.write(1, b"%d\\n" % child.pid)  # at once: the child writes there too
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        words = b"".join(process.stdout.readline() for _ in range(4)).split()
        pids = [int(word) for word in words if word != b"ready"]
        assert len(running(pids)) == 3
        process.kill()
        assert_gone(pids)


def test_a_helper_that_is_killed() -> None:
    """Another one takes its place."""
    supervisor.prepare()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it may have ended
            words = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            if words[-1] == str(os.getpid()).encode() and any(
                b"import reaper" in one for one in words
            ):
                found.append(int(folder.name))
    assert found
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    assert_gone(found)
    with Supervisor() as own:
        assert own.start(["true"]).wait() == 0


def test_cores_of_bots() -> None:
    cores = available_cores()[:2]
    told = "import os, sys; print(*os.sched_getaffinity(0), file=sys.stderr)"
    bots = [[sys.executable, "-c", told]] * 2
    own = [[cores[0]], [cores[-1]]]
    result = play(bots, Match(seed=1), timeout_scale=0, cores=own)
    assert [text.split() for text in result.stderr] == [[str(core)] for (core,) in own]


@pytest.mark.parametrize("apart", [False, True])
def test_cores_of_seats(apart: bool) -> None:
    """Both players of a game have their own cores if there are enough, and else share them."""
    cores = available_cores()
    for jobs in (1, len(cores)):
        with local_workers(jobs, cores, seats=2, apart=apart) as workers:
            found = workers.executor.submit(seat_cores).result()
        enough = 2 * jobs <= len(cores)
        assert [*map(len, found)] == ([1, 1] if enough else [])
        assert len({core for some in found for core in some}) == len(found)
    assert seat_cores() == []

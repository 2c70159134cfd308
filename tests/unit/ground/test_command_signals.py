"""Signals that end a command."""

import signal
import subprocess
import sys
import time

import pytest
from helpers import python

from locmsim.options.commands import Stopped, ended_by_signals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")


class Deaf:
    """An object that loses whatever is raised in its `__del__`."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0.001)


def test_a_signal_ends_what_runs() -> None:
    before = signal.getsignal(signal.SIGTERM)

    @ended_by_signals()
    def command() -> None:
        signal.raise_signal(signal.SIGTERM)
        time.sleep(60)

    with pytest.raises(Stopped) as caught:
        command()
    assert caught.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_that_comes_where_nothing_can_be_raised_is_not_lost() -> None:
    """A signal in a destructor ends the command, though Python ignores what is raised there."""
    hook = sys.unraisablehook

    @ended_by_signals()
    def command() -> None:
        deaf = Deaf()
        del deaf
        time.sleep(60)

    started = time.monotonic()
    with pytest.raises(Stopped) as caught:
        command()
    assert time.monotonic() - started < 30
    assert caught.value.code == 128 + signal.SIGTERM
    assert sys.unraisablehook is hook


def test_other_exceptions_are_told_as_before() -> None:
    program = (
        "from locmsim.options.commands import ended_by_signals\n"
        "class Fails:\n    def __del__(self): raise ValueError('lost')\n"
        "with ended_by_signals():\n    fails = Fails()\n    del fails\n"
    )
    assert "ValueError: lost" in python("-c", program).stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc")
def test_a_second_signal_ends_what_is_stuck_in_compiled_code() -> None:
    """No Python code runs in the main thread any more: it waits for a lock that it has."""
    program = (
        "import ctypes, os, time\n"
        "from locmsim.options.commands import ended_by_signals\n"
        "with ended_by_signals():\n"
        "    c, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)\n"
        "    c.pthread_mutex_init(lock, None)\n"
        "    c.pthread_mutex_lock(lock)\n"
        "    if not os.fork():  # the child tells when its parent sleeps in the lock\n"
        "        while open(f'/proc/{os.getppid()}/stat').read().rsplit(') ')[1][0] != 'S':\n"
        "            time.sleep(0.01)\n"
        "        time.sleep(0.05)\n"
        "        print('ready', flush=True)\n"
        "        os._exit(0)\n"
        "    c.pthread_mutex_lock(lock)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            process.terminate()  # two signals at once are one
            time.sleep(0.05)
        assert process.returncode == 128 + signal.SIGTERM
        assert process.stderr.read() == b"stopped at once\n"

"""What a process and all that it has started use: processor time and memory, as Linux tells it.

(psutil reads the same files; it knows no sum over a tree, and its processor time is in steps of
10 ms.)
"""

import os
import re
import sys
import time
from contextlib import suppress
from typing import Any

from locmsim.options.checks import OptionError

#: Places in /proc/PID/stat behind the name: parent, session, times of children that were waited
#: for, and number of threads.
_PARENT, _SESSION, _CHILDREN, _THREADS = 1, 3, slice(13, 15), 17
#: How many files stay open: two of the process, and one of its parent.
_KEPT = 3


def is_measurable() -> bool:
    """Return whether this system tells what other processes use."""
    return sys.platform == "linux" and os.path.exists("/proc/thread-self/children")


def check_measurable(clock: str, memory_limit: float | None) -> None:
    """Raise ``ValueError`` for limits of what this system does not tell."""
    if (clock != "wall" or memory_limit is not None) and not is_measurable():
        name = "memory_limit" if clock == "wall" else "clock"
        raise OptionError(name, "only Linux tells what other processes use, in /proc")


class Meter:
    """Measures a process that leads a session, and all that descends from it.

    Processes whose parent has ended count if they are of the session.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        #: The files that every question reads again: opening one takes longer than reading it.
        self._files: dict[str, int] = {}
        #: Processes with the same parent in other sessions, such as another bot's.
        self._others: set[int] = set()

    def close(self) -> None:
        """Close the files."""
        while self._files:
            os.close(self._files.popitem()[1])

    def cpu_ns(self) -> int:
        """Return the processor time so far in ns; of children that have ended in 10 ms steps."""
        total = 0
        for pid, stat in self._tree().items():
            with suppress(OSError):
                total += time.clock_gettime_ns(~pid << 3 | 2)  # as of `clock_getcpuclockid`
            total += sum(map(int, stat[_CHILDREN])) * 10**9 // os.sysconf("SC_CLK_TCK")
        return total

    def memory(self, limit: float) -> float:
        """Return the resident memory in MB: of all now, or the most that one of them has had.

        If it is above the limit, pages that they share count once.
        """
        pids = [*self._tree()]
        peak = max((self._kilobytes(pid, "status", b"VmHWM") for pid in pids), default=0)
        total = sum(self._kilobytes(pid, "status", b"VmRSS") for pid in pids)
        if total > 1024 * limit:
            total = sum(self._kilobytes(pid, "smaps_rollup", b"Pss") for pid in pids)
        return max(peak, total) / 1024

    def _tree(self) -> dict[int, list[bytes]]:
        """Return the processes, with what their files ``stat`` say behind the name."""
        found: dict[int, list[bytes]] = {}
        todo, siblings = {self._pid}, set[int]()
        while todo:
            pid = todo.pop()
            stat = self._stat(pid)
            if pid in siblings and stat and int(stat[_SESSION]) != self._pid:
                self._others.add(pid)
            elif stat:
                found[pid] = stat
                todo.update(self._children(pid, stat[_THREADS] != b"1"))
            if stat and pid == self._pid:
                siblings = {*self._children(int(stat[_PARENT]))} - self._others - {pid}
                todo |= siblings
        return found

    def _stat(self, pid: int) -> list[bytes]:
        # The name of the program is in parentheses and may itself contain parentheses.
        return self._read(f"{pid}/stat").rpartition(b")")[2].split()

    def _children(self, pid: int, threads: bool = False) -> list[int]:
        tasks: list[Any] = [pid]
        if threads:
            with suppress(OSError):
                tasks = os.listdir(f"/proc/{pid}/task")
        read = [self._read(f"{pid}/task/{task}/children") for task in tasks]
        return [*map(int, b"".join(read).split())]

    def _kilobytes(self, pid: int, name: str, field: bytes) -> int:
        found = re.search(rb"^%b:\s*(\d+) kB" % field, self._read(f"{pid}/{name}"), re.MULTILINE)
        return int(found[1]) if found else 0

    def _read(self, name: str) -> bytes:
        """Return the content of a file; b"" for a process that has ended."""
        with suppress(OSError):
            file = self._files.get(name, -1)
            if file < 0:
                file = os.open(f"/proc/{name}", os.O_RDONLY)
            if len(self._files) < _KEPT:
                self._files[name] = file
            try:
                return os.pread(file, 1 << 16, 0)
            finally:
                if name not in self._files:
                    os.close(file)
        return b""

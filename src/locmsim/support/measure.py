"""Measured functions, the building blocks of benchmarks of any game.

Commands such as `locmsim bench` print tables of them, and bench/ passes each to pytest-benchmark.
"""

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from timeit import Timer
from typing import Any

from locmsim.support.files import counted

_PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3}


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number: the median of several measurements, or a count."""

    group: str
    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Case:
    """A prepared function to be timed."""

    #: Runs the function and returns the number of operations.
    run: Callable[..., int]
    #: Creates the arguments of `run` before each call, not timed.
    setup: Callable[[], tuple[Any, ...]] = tuple
    #: Does everything except the measured operations; its time is subtracted.
    less: Callable[[], object] | None = None

    def sample(self) -> float:
        """Run once; return the seconds per operation."""
        arguments = self.setup()
        start = perf_counter()
        done = self.run(*arguments)
        elapsed = perf_counter() - start
        if self.less is not None:
            elapsed -= seconds(self.less)
        # A search by time may finish nothing where the machine is busy.
        return elapsed / max(done, 1)


@dataclass(frozen=True, slots=True)
class Measured:
    """A function that is timed for a figure."""

    name: str
    #: The unit: time per operation (``"ns"``, ``"us"``, ``"ms"``) or operations per second
    #: (``"nodes/s"``).
    unit: str
    #: Prepares the function.
    make: Callable[[], Case]

    def value(self, time: float) -> float:
        """Return the median of at least five samples, measured for about `time` seconds."""
        case = self.make()
        elapsed = _median(case.sample, time)
        if self.unit in _PER_SECOND:
            return elapsed * _PER_SECOND[self.unit]
        # On a busy machine the difference of two times may be 0.
        return 1 / max(elapsed, 1e-12)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of the times of two functions, which are run alternately."""

    name: str
    over: Callable[[], Case]
    under: Callable[[], Case]
    unit: str = "x"

    def value(self, time: float) -> float:
        """Return the median of at least five ratios."""
        over, under = self.over(), self.under()
        return _median(lambda: over.sample() / max(under.sample(), 1e-12), time)


@dataclass(frozen=True, slots=True)
class Counted:
    """A number that is counted, not timed."""

    name: str
    unit: str
    count: Callable[[], float]

    def value(self, time: float) -> float:
        """Return the number."""
        return self.count()


def measure(
    group: str, functions: Iterable[Measured | Ratio | Counted], time: float
) -> list[Figure]:
    """Return the figures of a group, measured for about `time` seconds."""
    found = [*functions]
    share = time / max(1, sum(not isinstance(function, Counted) for function in found))
    return [Figure(group, one.name, one.value(share), one.unit) for one in found]


def seconds(action: Callable[[], object]) -> float:
    """Return the duration of a call."""
    start = perf_counter()
    action()
    return perf_counter() - start


def calls(statement: str, number: int, /, **names: Any) -> Case:
    """Return a Python statement that makes `number` calls, with `names` as local variables."""
    # Local variables, as in the code of a bot; timeit turns the garbage collector off.
    setup = "; ".join(f"{name} = _names[{name!r}]" for name in names) or "pass"
    timer = Timer(statement, setup, globals={"_names": names})

    def run() -> int:
        timer.timeit(4)
        return 4 * number

    return Case(run)


def _median(sample: Callable[[], float], time: float) -> float:
    """Return the median of at least five samples, taken for about `time` seconds."""
    end = perf_counter() + time
    samples: list[float] = []
    while len(samples) < 5 or perf_counter() < end:
        samples.append(sample())
    return median(samples)


class Watch:
    """Watch whether the machine is busy with other work while it is measured.

    `look` is called now and then. It times a fixed loop by the wall clock.
    """

    #: A loop that takes this many times as long as at its best, or this load per core, is reported.
    MOST = 1.1
    LOAD = 0.5
    _TIMES = 9

    def __init__(self) -> None:
        #: Average number of processes that ran or waited in the last minute; None if unknown.
        self.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        self._cores = len(usable_cores())
        self._loops: list[float] = []

    def look(self) -> None:
        """Time the loop a few times, for about 20 ms."""
        self._loops += (seconds(lambda: sum(range(100_000))) for _ in range(self._TIMES))

    @property
    def warnings(self) -> list[str]:
        """Return sentences about what makes the figures doubtful; empty on a quiet machine."""
        found = []
        if self.load is not None and self.load > self.LOAD * self._cores:
            found.append(
                f"the machine was busy at the start: a load of {self.load:.1f} on {self._cores}"
                " cores; the figures are too low"
            )
        best = min(self._loops, default=1.0)
        usual = median(self._loops or [1.0])
        if usual > self.MOST * best:
            found.append(
                "the machine was busy: a loop that always does the same took"
                f" {1e3 * best:.1f} ms at best and {1e3 * usual:.1f} ms as a rule;"
                " the figures are too low"
            )
        return found


def hardware() -> dict[str, str]:
    """Return processor, system and Python of this machine, on which figures depend."""
    return {
        "CPU": f"{_cpu()}, {counted(len(usable_cores()), 'core')}",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def usable_cores() -> set[int]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    except OSError:
        pass  # only Linux has the file
    return platform.processor() or "unknown CPU"


def table(figures: Iterable[Figure]) -> list[str]:
    """Return the lines of a table for people, a heading before each group."""
    lines: list[str] = []
    group = None
    for figure in figures:
        if figure.group != group:
            group = figure.group
            lines += ["", group]
        lines.append(f"  {figure.name:<36} {_number(figure.value):>12} {figure.unit}".rstrip())
    return lines


def _number(value: float) -> str:
    if value == int(value) or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"

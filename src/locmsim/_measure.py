"""Measured functions, the building blocks of benchmarks of any game.

`locmsim bench` prints a table of them, and bench/ passes each to pytest-benchmark.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from timeit import Timer
from typing import Any

__all__ = ["Case", "Counted", "Figure", "Measured", "Ratio", "calls", "seconds"]

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

"""The seeds of matches that a user lists, kept as ranges."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import index as whole
from typing import overload

from locmsim.options.checks import OptionError

#: The most seeds of a list. It is far more than anybody can play, and less than what counters hold.
_MOST = 1_000_000_000
_LOW, _HIGH = -(1 << 63), (1 << 63) - 1


class Seeds(Sequence[int]):
    """Different seeds in a given order. A range takes no more room than its two ends.

    Parameters
    ----------
    seeds : iterable of int or range
        Signed 64-bit integers, and ranges of them with a step of 1.

    Raises
    ------
    ValueError
        A seed is given twice or is too large, or there are too many.
    TypeError
        A seed is not an integer.
    """

    __slots__ = ("_ends", "_ranges")

    def __init__(self, seeds: Iterable[int | range]) -> None:
        ranges: Iterable[int | range] = seeds
        if isinstance(seeds, range) and seeds.step == 1:
            ranges = (seeds,)
        elif isinstance(seeds, Seeds):
            ranges = seeds._ranges
        self._ranges: tuple[range, ...] = tuple(_ranges(ranges))
        self._ends = tuple(accumulate(map(_length, self._ranges)))
        if self._ends and self._ends[-1] > _MOST:
            raise OptionError("seeds", f"expected at most {_MOST}, got {self._ends[-1]}")
        for part in self._ranges:
            for seed in (part.start, part.stop - 1):
                if not _LOW <= seed <= _HIGH:
                    raise OptionError("seeds", f"expected signed 64-bit integers, got {seed}")
        # Games with equal seeds would be copies of each other.
        ordered = sorted(self._ranges, key=lambda part: part.start)
        for before, after in pairwise(ordered):
            if after.start < before.stop:
                raise OptionError("seeds", f"{after.start} is given twice")

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there are {len(self)} seeds, got index {index}")
        part = bisect_right(self._ends, place)
        return self._ranges[part][place - self._ends[part]]

    def __iter__(self) -> Iterator[int]:
        for part in self._ranges:
            yield from part

    def __contains__(self, seed: object) -> bool:
        return any(seed in part for part in self._ranges)

    def __eq__(self, other: object) -> bool:
        return self._ranges == other._ranges if isinstance(other, Seeds) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._ranges)

    def __str__(self) -> str:
        """Return the text from which `parse_seeds` creates equal seeds."""
        return ",".join(
            str(part.start) if len(part) == 1 else f"{part.start}..{part.stop - 1}"
            for part in self._ranges
        )

    def __repr__(self) -> str:
        return f"parse_seeds({str(self)!r})"


def _length(part: range) -> int:
    return part.stop - part.start  # len() fails from 2 ** 63 on


def _ranges(seeds: Iterable[int | range]) -> Iterator[range]:
    """Yield ranges that are as long as possible."""
    open_ = range(0)
    for seed in seeds:
        part = seed if isinstance(seed, range) else range(whole(seed), whole(seed) + 1)
        if part.start == open_.stop and open_:
            open_ = range(open_.start, part.stop)
            continue
        if open_:
            yield open_
        open_ = part
    if open_:
        yield open_


def parse_seeds(text: str) -> Seeds:
    """Return the seeds that a text such as ``"5,7,100..199"`` lists.

    Parameters
    ----------
    text : str
        Comma-separated seeds and ranges, which include both ends.

    Raises
    ------
    ValueError
        A part of the text is wrong, or a seed is listed twice; the message names it.
    """
    ranges = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        try:
            low = int(first)
            high = int(last) if dots else low
        except ValueError:
            raise OptionError("seeds", f"expected some like 5,7,100..199, got {part!r}") from None
        if high < low:
            raise OptionError("seeds", f"expected a range from low to high, got {part!r}")
        ranges.append(range(low, high + 1))
    return Seeds(ranges)

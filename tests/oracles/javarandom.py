"""``java.util.Random`` and ``Collections.shuffle`` in plain Python, as an oracle.

The algorithms are those specified by the documentation of `java.util.Random` in Java SE: a linear
congruential generator of 48 bits whose upper bits are returned.
"""

from collections.abc import MutableSequence
from operator import index
from typing import TypeVar

__all__ = ["JavaRandom"]

_T = TypeVar("_T")

_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 0xB
_MASK = (1 << 48) - 1
_DOUBLE_UNIT = 1.0 / (1 << 53)


class JavaRandom:
    """The generator ``new Random(seed)`` of Java: same seed, same numbers.

    `seed` is any integer; only its lowest 48 bits count, as in Java.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (index(seed) ^ _MULTIPLIER) & _MASK

    def _bits(self, count: int) -> int:
        """Return the next `count` (1 to 32) random bits, unsigned."""
        self._state = state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return state >> (48 - count)

    def next_int(self, bound: int | None = None) -> int:
        """Return ``nextInt()``, -2**31 to 2**31-1, or ``nextInt(bound)``, 0 to bound-1.

        ``ValueError`` unless `bound` is within 1..2**31-1.
        """
        if bound is None:
            return _signed(self._bits(32), 32)
        if not 0 < bound < 1 << 31:
            raise ValueError(f"bound: expected 1..{(1 << 31) - 1}, got {bound}")
        bits = self._bits(31)
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        # Bits from the last, incomplete run of `bound` numbers are drawn again.
        while bits - bits % bound + (bound - 1) >= 1 << 31:
            bits = self._bits(31)
        return bits % bound

    def next_long(self) -> int:
        """Return ``nextLong()``, -2**63 to 2**63-1; only 2**48 values can occur."""
        high = self._bits(32)
        return _signed((high << 32) + _signed(self._bits(32), 32), 64)

    def next_double(self) -> float:
        """Return ``nextDouble()``, a multiple of 2**-53 in [0, 1)."""
        high = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        self._state = low = (high * _MULTIPLIER + _INCREMENT) & _MASK
        return ((high >> 22 << 27) + (low >> 21)) * _DOUBLE_UNIT

    def next_doubles(self, count: int) -> list[float]:
        """Return the results of `count` calls of `next_double`, in a third of the time."""
        state = self._state
        doubles = []
        for _ in range(count):
            high = (state * _MULTIPLIER + _INCREMENT) & _MASK
            state = (high * _MULTIPLIER + _INCREMENT) & _MASK
            doubles.append(((high >> 22 << 27) + (state >> 21)) * _DOUBLE_UNIT)
        self._state = state
        return doubles

    def shuffle(self, items: MutableSequence[_T]) -> None:
        """Shuffle a list in place as ``Collections.shuffle(items, this)`` does."""
        # next_int(size), written out: that halves the time.
        state = self._state
        for size in range(len(items), 1, -1):
            state = (state * _MULTIPLIER + _INCREMENT) & _MASK
            bits = state >> 17
            if size & (size - 1):
                other = bits % size
                while bits - other + (size - 1) >= 1 << 31:
                    state = (state * _MULTIPLIER + _INCREMENT) & _MASK
                    bits = state >> 17
                    other = bits % size
            else:
                other = (size * bits) >> 31
            last = size - 1
            items[last], items[other] = items[other], items[last]
        self._state = state


def _signed(value: int, bits: int) -> int:
    """Return the lowest `bits` bits of `value` as a number in two's complement."""
    half = 1 << (bits - 1)
    return ((value + half) & (2 * half - 1)) - half

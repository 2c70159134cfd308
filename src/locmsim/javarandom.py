"""``java.util.Random`` and ``Collections.shuffle``, bit for bit (docs/rules.md, section 1).

The algorithms are those that the documentation of Java SE fixes for `java.util.Random`: a linear
congruential generator of 48 bits whose upper bits are given out.
"""

from collections.abc import MutableSequence
from math import frexp, sqrt
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

    __slots__ = ("_next_gaussian", "_state")

    def __init__(self, seed: int) -> None:
        self._state = (index(seed) ^ _MULTIPLIER) & _MASK
        self._next_gaussian: float | None = None

    def _bits(self, count: int) -> int:
        """The next `count` (1 to 32) random bits, unsigned."""
        self._state = state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return state >> (48 - count)

    def next_int(self, bound: int | None = None) -> int:
        """``nextInt()``: -2**31 to 2**31-1; ``nextInt(bound)``: 0 to bound-1.

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
        """``nextLong()``: -2**63 to 2**63-1 (only 2**48 of them can occur)."""
        high = self._bits(32)
        return _signed((high << 32) + _signed(self._bits(32), 32), 64)

    def next_double(self) -> float:
        """``nextDouble()``: a multiple of 2**-53 in [0, 1)."""
        high = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        self._state = low = (high * _MULTIPLIER + _INCREMENT) & _MASK
        return ((high >> 22 << 27) + (low >> 21)) * _DOUBLE_UNIT

    def next_doubles(self, count: int) -> list[float]:
        """What `count` calls of `next_double` return, in a third of the time."""
        state = self._state
        doubles = []
        for _ in range(count):
            high = (state * _MULTIPLIER + _INCREMENT) & _MASK
            state = (high * _MULTIPLIER + _INCREMENT) & _MASK
            doubles.append(((high >> 22 << 27) + (state >> 21)) * _DOUBLE_UNIT)
        self._state = state
        return doubles

    def next_gaussian(self) -> float:
        """``nextGaussian()``: normally distributed, mean 0, deviation 1 (Marsaglia's polar method).

        Every second call returns the second number of a pair.
        """
        if self._next_gaussian is not None:
            second, self._next_gaussian = self._next_gaussian, None
            return second
        while True:
            x = 2 * self.next_double() - 1
            y = 2 * self.next_double() - 1
            square = x * x + y * y
            if 0 < square < 1:
                break
        factor = sqrt(-2 * _strict_log(square) / square)
        self._next_gaussian = y * factor
        return x * factor

    def shuffle(self, items: MutableSequence[_T]) -> None:
        """``Collections.shuffle(items, this)``, in place."""
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
    """The lowest `bits` bits of `value` as a number in two's complement."""
    half = 1 << (bits - 1)
    return ((value + half) & (2 * half - 1)) - half


# The logarithm of Java's StrictMath is that of fdlibm to the last bit; math.log differs from it in
# about 7 % of all arguments. With x = 2**k * (1+f), log(1+f) = 2*atanh(s) for s = f / (2+f), as a
# polynomial in s*s, and log(2) in two parts.
_LOG2_HIGH = 6.93147180369123816490e-01
_LOG2_LOW = 1.90821492927058770002e-10
_ODD_TERMS = (
    1.479819860511658591e-01,
    1.818357216161805012e-01,
    2.857142874366239149e-01,
    6.666666666666735130e-01,
)
_EVEN_TERMS = (1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01)
# Bounds on 1+f at which fdlibm changes its formula; it compares upper halves of doubles.
_NEAR_ONE = 2.0**-20
_SQRT_2 = 1 + 0x6A09C / 2**20
_BEND_LOW, _BEND_HIGH = 1 + 0x6147A / 2**20, 1 + 0x6B852 / 2**20


def _strict_log(x: float) -> float:
    """``StrictMath.log(x)`` of a normal positive number."""
    mantissa, k = frexp(x)
    mantissa, k = 2 * mantissa, k - 1
    if mantissa < _SQRT_2:
        f = mantissa - 1
    else:
        f, k = mantissa / 2 - 1, k + 1
    if -_NEAR_ONE <= f < _NEAR_ONE:
        return k * _LOG2_HIGH - ((f * f * (0.5 - 0.33333333333333333 * f) - k * _LOG2_LOW) - f)
    s = f / (2 + f)
    square = s * s
    fourth = square * square
    odd = even = 0.0
    for term in _ODD_TERMS:
        odd = term + fourth * odd
    for term in _EVEN_TERMS:
        even = term + fourth * even
    rest = square * odd + fourth * even
    if _BEND_LOW <= mantissa < _BEND_HIGH:
        half = 0.5 * f * f
        return k * _LOG2_HIGH - ((half - (s * (half + rest) + k * _LOG2_LOW)) - f)
    return k * _LOG2_HIGH - ((s * (f - rest) - k * _LOG2_LOW) - f)

"""Numbers as C: rounded to what the file holds, so that a Python bot can play by the same ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Array = NDArray[np.float32]

__all__ = ["Packed", "decimals", "list_of", "pack", "unpack"]

#: The 85 letters of a packed text are those from "#" on, but for two that mean something in C.
_FIRST = ord("#")
_INSTEAD = {"\\": "x", "?": "y"}
_LARGEST = 32767


class Packed:
    """Arrays as one text: each number 16 bits, a multiple of its array's scale."""

    def __init__(self, arrays: Mapping[str, "_Array"]) -> None:
        #: The numbers as they come out of the text again.
        self.arrays: dict[str, _Array] = {}
        self.texts: list[str] = []
        self.sizes: list[int] = []
        self.scales: list[float] = []
        for name, array in arrays.items():
            text, scale = pack(array)
            self.arrays[name] = unpack(text, scale, array.shape)
            self.texts.append(text)
            self.sizes.append(array.size)
            self.scales.append(scale)

    @classmethod
    def joined(cls, parts: Sequence["Packed"]) -> "Packed":
        """The arrays of several, one behind the other."""
        whole = cls({})
        for part in parts:
            whole.texts += part.texts
            whole.sizes += part.sizes
            whole.scales += part.scales
        return whole


def pack(array: "_Array") -> tuple[str, float]:
    """The numbers of an array as text, and the scale that they are multiples of, a float32."""
    most = float(np.abs(array).max()) if array.size else 0.0
    scale = np.float32(most / _LARGEST) if most else np.float32(1)
    whole = np.rint(array.ravel().astype(np.float64) / float(scale))
    words = np.clip(whole, -_LARGEST, _LARGEST).astype(np.int64) & 0xFFFF
    if words.size % 2:
        words = np.append(words, 0)
    letters: list[str] = []
    for high, low in words.reshape(-1, 2):
        number = int(high) << 16 | int(low)
        digits = []
        for _ in range(5):
            number, digit = divmod(number, 85)
            digits.append(chr(_FIRST + digit))
        letters += reversed(digits)
    return "".join(_INSTEAD.get(letter, letter) for letter in letters), float(scale)


def unpack(text: str, scale: float, shape: Sequence[int]) -> "_Array":
    """The numbers in a text, as the C code has them."""
    back = {new: old for old, new in _INSTEAD.items()}
    digits = [ord(back.get(letter, letter)) - _FIRST for letter in text]
    words = []
    for i in range(0, len(digits), 5):
        number = 0
        for digit in digits[i : i + 5]:
            number = 85 * number + digit
        words += [number >> 16 & 0xFFFF, number & 0xFFFF]
    count = int(np.prod(shape))
    whole = np.array(words[:count], np.uint16).astype(np.int16)
    return (whole.astype(np.float32) * np.float32(scale)).reshape(tuple(shape))


def decimals(values: Iterable[float]) -> tuple[list[int], int]:
    """Numbers as multiples of 1 / unit, for a unit of 1, 10, 100 ... and 16 bits."""
    numbers = [*values]
    unit = 1
    while unit < 10_000 and any(round(x * unit) / unit != x for x in numbers):
        if max(map(abs, numbers), default=0) * unit * 10 > _LARGEST:
            break
        unit *= 10
    return [max(-_LARGEST, min(_LARGEST, round(x * unit))) for x in numbers], unit


def list_of(values: Iterable[object]) -> str:
    """The values of an array in C."""
    return "{" + ", ".join(map(str, values)) + "}"

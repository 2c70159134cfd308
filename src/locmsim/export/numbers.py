"""Encoding of numbers in C text, with their rounded values for an equal Python bot."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Array = NDArray[np.float32]

#: A character has 14 bits: one of the CJK ideographs from here on, which are one UTF-16 unit and
#: three bytes of UTF-8 each, all assigned, and the same in every normal form.
_IDEOGRAPH = 0x4E00
_BITS = 14
#: Number of levels, such that three numbers fit in a character.
_LEVELS = 25
_HALF = _LEVELS // 2
#: Of the scale of a row, in the unit of its table; more than that rounding may need.
_LARGEST_SCALE = 16_000
#: The 85 letters of an ASCII text are those from "#" on, but for two that mean something in C.
_FIRST = ord("#")
_INSTEAD = {"\\": "x", "?": "y"}
_LARGEST = 32767


class Packed:
    """Arrays as one text: each number 16 bits, a multiple of its array's scale.

    Tables of `coarse` ones have 25 levels instead, as multiples of a scale for each row.
    """

    def __init__(
        self, arrays: Mapping[str, "_Array"], *, ascii: bool = False, coarse: bool = False
    ) -> None:
        #: The numbers as decoded from the text.
        self.arrays: dict[str, _Array] = {}
        self.texts: list[str] = []
        self.sizes: list[int] = []
        #: Whether each row has its own scale.
        self.has_rows: list[bool] = []
        self.scales: list[float] = []
        for name, array in arrays.items():
            has_rows = coarse and array.ndim == 2
            if has_rows:
                text, scale = pack_rows(array)
                self.arrays[name] = unpack_rows(text, scale, array.shape)
            else:
                text, scale = pack(array, ascii=ascii)
                self.arrays[name] = unpack(text, scale, array.shape)
            self.texts.append(text)
            self.sizes.append(array.size)
            self.has_rows.append(has_rows)
            self.scales.append(scale)


def pack_rows(array: "_Array") -> tuple[str, float]:
    """Encode a table as text; return it with the unit of its rows' scales, a power of two.

    The scales come first, one per character; then the numbers, three per character.
    """
    rows = np.asarray(array, np.float64)
    most = np.abs(rows).max(axis=1, keepdims=True)
    # The scale with the least error: if a row has only a few large numbers, these are clipped.
    scales, errors = np.zeros_like(most), np.full_like(most, np.inf)
    for level in range(_HALF, 2 * _HALF + 1):
        tried = most / level
        error = ((_levels(rows, tried) * tried - rows) ** 2).sum(axis=1, keepdims=True)
        scales = np.where(error < errors, tried, scales)
        errors = np.minimum(error, errors)
    largest = float(scales.max()) if scales.size else 0.0
    mantissa, exponent = math.frexp(largest / _LARGEST_SCALE)
    unit = math.ldexp(1.0, exponent - (mantissa == 0.5)) if largest else 1.0
    whole = np.rint(scales / unit)
    levels = _levels(rows, whole * unit).astype(np.int64).ravel() + _HALF
    digits = np.append(levels, [0] * (-levels.size % 3)).reshape(-1, 3)
    numbers = digits @ [1, _LEVELS, _LEVELS**2]
    return "".join(chr(_IDEOGRAPH + int(x)) for x in (*whole.ravel(), *numbers)), unit


def unpack_rows(text: str, unit: float, shape: Sequence[int]) -> "_Array":
    """Decode a text of `pack_rows` to the exact numbers that the C code gets."""
    codes = np.array([ord(character) - _IDEOGRAPH for character in text], np.int64)
    scales = codes[: shape[0]].astype(np.float32) * np.float32(unit)
    numbers = codes[shape[0] :]
    digits = np.stack([numbers // _LEVELS**place % _LEVELS for place in range(3)], axis=1)
    levels = digits.ravel()[: shape[0] * shape[1]].reshape(tuple(shape)) - _HALF
    return levels.astype(np.float32) * scales[:, None]


def _levels(rows: "NDArray[np.float64]", scales: "NDArray[np.float64]") -> "NDArray[np.float64]":
    whole = np.rint(rows / np.where(scales == 0, 1, scales))
    return np.clip(whole, -_HALF, _HALF)


def pack(array: "_Array", *, ascii: bool = False) -> tuple[str, float]:
    """Encode an array as text; return it with the scale of its numbers, a float32.

    In ASCII, two numbers take five letters; otherwise seven numbers take eight characters.
    """
    most = float(np.abs(array).max()) if array.size else 0.0
    scale = np.float32(most / _LARGEST) if most else np.float32(1)
    whole = np.rint(array.ravel().astype(np.float64) / float(scale))
    words = np.clip(whole, -_LARGEST, _LARGEST).astype(np.int64) & 0xFFFF
    return (_letters(words) if ascii else _ideographs(words)), float(scale)


def unpack(text: str, scale: float, shape: Sequence[int]) -> "_Array":
    """Decode a text to the numbers that the C code gets."""
    words = _words_of_letters(text) if text.isascii() else _words_of_ideographs(text)
    count = int(np.prod(shape))
    whole = np.array(words[:count], np.uint16).astype(np.int16)
    return (whole.astype(np.float32) * np.float32(scale)).reshape(tuple(shape))


def _ideographs(words: "NDArray[np.int64]") -> str:
    bits = "".join(f"{word:016b}" for word in words)
    bits += "0" * (-len(bits) % _BITS)
    return "".join(
        chr(_IDEOGRAPH + int(bits[at : at + _BITS], 2)) for at in range(0, len(bits), _BITS)
    )


def _words_of_ideographs(text: str) -> list[int]:
    bits = "".join(f"{ord(character) - _IDEOGRAPH:014b}" for character in text)
    return [int(bits[at : at + 16], 2) for at in range(0, len(bits) - 15, 16)]


def _letters(words: "NDArray[np.int64]") -> str:
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
    return "".join(_INSTEAD.get(letter, letter) for letter in letters)


def _words_of_letters(text: str) -> list[int]:
    back = {new: old for old, new in _INSTEAD.items()}
    digits = [ord(back.get(letter, letter)) - _FIRST for letter in text]
    words = []
    for i in range(0, len(digits), 5):
        number = 0
        for digit in digits[i : i + 5]:
            number = 85 * number + digit
        words += [number >> 16 & 0xFFFF, number & 0xFFFF]
    return words


def decimals(values: Iterable[float]) -> tuple[list[int], int]:
    """Return numbers as 16-bit multiples of 1 / unit, with a unit of 1, 10, 100 ..."""
    numbers = [*values]
    unit = 1
    while unit < 10_000 and any(round(x * unit) / unit != x for x in numbers):
        if max(map(abs, numbers), default=0) * unit * 10 > _LARGEST:
            break
        unit *= 10
    return [max(-_LARGEST, min(_LARGEST, round(x * unit))) for x in numbers], unit


def list_of(values: Iterable[object]) -> str:
    """Return the values of an array as C."""
    return "{" + ", ".join(map(str, values)) + "}"

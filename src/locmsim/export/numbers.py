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
_INSTEAD = {ord("\\"): "x", ord("?"): "y"}
_PLACES = 85 ** np.arange(4, -1, -1)
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
    whole = words[:count].astype(np.int16)
    return (whole.astype(np.float32) * np.float32(scale)).reshape(tuple(shape))


def _ideographs(words: "NDArray[np.int64]") -> str:
    bits = np.unpackbits(words.astype(">u2").view(np.uint8))
    rows = np.pad(bits, (0, -bits.size % _BITS)).reshape(-1, _BITS)
    return "".join(map(chr, _IDEOGRAPH + rows @ (1 << np.arange(_BITS)[::-1])))


def _words_of_ideographs(text: str) -> "NDArray[np.uint16]":
    codes = np.array([ord(character) - _IDEOGRAPH for character in text], ">u2")
    bits = np.unpackbits(codes.view(np.uint8)).reshape(-1, 16)[:, -_BITS:].ravel()
    return np.packbits(bits[: bits.size // 16 * 16]).view(">u2")


def _letters(words: "NDArray[np.int64]") -> str:
    numbers = np.pad(words, (0, words.size % 2)).reshape(-1, 2) @ [1 << 16, 1]
    digits = numbers[:, None] // _PLACES % 85 + _FIRST
    return digits.astype(np.uint8).tobytes().decode("ascii").translate(_INSTEAD)


def _words_of_letters(text: str) -> "NDArray[np.uint16]":
    letters = text.translate({ord(new): old for old, new in _INSTEAD.items()})
    digits = np.frombuffer(letters.encode("ascii"), np.uint8).reshape(-1, 5).astype(np.int64)
    return ((digits - _FIRST) @ _PLACES).astype(">u4").view(">u2")


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

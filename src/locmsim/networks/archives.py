"""Files of arrays with a description, the format of weights and policies.

Such a file is an .npz with float32 arrays by name and one JSON text, the array ``meta``. It
contains no code. numpy is imported only by those who use the arrays: it is slow, and bots do not.
"""

import io
import json
import os
import re
import sys
from collections.abc import Mapping
from functools import cached_property
from math import prod
from typing import IO, TYPE_CHECKING, Any

from locmsim.support.files import write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class StoredArray:
    """A float32 array as it is in a file, for those who can do without numpy.

    Parameters
    ----------
    numbers : bytes-like
        The numbers in C order.
    shape : tuple of int
    """

    def __init__(self, numbers: memoryview, shape: tuple[int, ...]) -> None:
        self.numbers, self.shape, self.ndim = numbers, shape, len(shape)

    def __getitem__(self, index: int) -> "StoredArray":
        size = 4 * prod(self.shape[1:])
        return StoredArray(self.numbers[index * size : (index + 1) * size], self.shape[1:])

    @cached_property
    def array(self) -> "NDArray[np.float32]":
        """The array for numpy, which cannot be written to."""
        import numpy as np

        return np.frombuffer(self.numbers, np.float32).reshape(self.shape)

    def tobytes(self) -> bytes:
        """Return the numbers in C order."""
        return bytes(self.numbers)


def read_archive(
    file: IO[bytes], what: str
) -> "tuple[dict[str, Any], dict[str, NDArray[np.float32] | StoredArray]]":
    """Read a file of arrays.

    Parameters
    ----------
    file
        An open, seekable binary file.
    what
        The expected kind of file, for messages.

    Returns
    -------
    meta : dict
    arrays : dict of str to float32 array or StoredArray
        The arrays in the order of the file.

    Raises
    ------
    ValueError
        The file is not valid; the message says what is wrong.
    OSError
        The file cannot be read.
    """
    import zipfile  # slow to import

    try:
        with zipfile.ZipFile(file) as archive:
            names = {name.removesuffix(".npy"): name for name in archive.namelist()}
            if "meta" not in names:
                raise ValueError(f"not a {what}: meta is missing")
            meta = meta_of(archive.read(names.pop("meta")), what)
            return meta, {name: array_of(archive.read(m), name) for name, m in names.items()}
    except (OSError, ValueError):
        raise
    except Exception as error:  # zipfile and numpy have many for broken files
        raise ValueError(f"not a {what}: {error}") from None


def write_archive(
    path: str | os.PathLike[str], meta: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a file of arrays atomically; ``OSError`` if it cannot be written."""
    import numpy as np

    content = io.BytesIO()
    numbers = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
    np.savez_compressed(content, meta=np.array(json.dumps(meta, indent=1)), **numbers)  # type: ignore[arg-type]
    write_whole(path, content.getvalue())


def json_of(content: str | bytes, what: str) -> Any:
    """Parse a JSON text; ``ValueError`` says what it is expected to be."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a {what}: not JSON: {error}") from None


def object_of(content: Any, name: str) -> dict[str, Any]:
    """Return a JSON object; ``ValueError`` names a value that is not one."""
    if not isinstance(content, dict):
        raise ValueError(f"{name}: expected an object")
    return content


def meta_of(content: bytes, what: str) -> dict[str, Any]:
    """Return the object in ``meta``, an array that is one JSON text, without numpy."""
    length = int.from_bytes(content[8:10], "little")
    header = content[10 : 10 + length]
    order = "le" if b"'<U" in header else "be" if b"'>U" in header else ""
    if content[:8] != b"\x93NUMPY\x01\x00" or not order or b"()" not in header:
        raise ValueError("meta: expected one string")
    try:
        text = content[10 + length :].decode(f"utf-32-{order}")
    except UnicodeDecodeError as error:
        raise ValueError(f"meta: {error}") from None
    return object_of(json_of(text, what), "meta")


#: How numpy begins a file with a float32 array in C order.
_PLAIN = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '<f4', 'fortran_order': False, 'shape': \(([\d, ]*)\), \} *\n",
    re.DOTALL,
)


def array_of(content: bytes, name: str) -> "NDArray[np.float32] | StoredArray":
    """Return the array in a file of numpy's format; ``ValueError`` gives its name."""
    if sys.byteorder == "little" and (plain := _PLAIN.match(content)):
        shape = tuple(map(int, filter(None, plain[1].replace(b" ", b"").split(b","))))
        if len(content) - plain.end() == 4 * prod(shape):
            return StoredArray(memoryview(content)[plain.end() :], shape)
    from numpy.lib import format as npy

    try:
        array = npy.read_array(io.BytesIO(content), allow_pickle=False)
        return array.astype("float32", casting="same_kind", copy=False)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: expected an array of numbers: {error}") from None

"""Files of arrays with a description, the format of weights and policies.

Such a file is an .npz with float32 arrays by name and one JSON text, the array ``meta``. It
contains no code. numpy is imported only if there are arrays.
"""

import json
import os
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from locmsim.support.files import write_whole

if TYPE_CHECKING:
    import zipfile

    import numpy as np
    from numpy.typing import NDArray

    _Array: TypeAlias = NDArray[np.float32]


def read_archive(
    file: IO[bytes], what: str, wanted: Callable[[str], bool] = lambda name: True
) -> tuple[dict[str, Any], "dict[str, _Array | None]"]:
    """Read a file of arrays.

    Parameters
    ----------
    file
        An open, seekable binary file.
    what
        The expected kind of file, for messages.
    wanted
        Tells by name which arrays to read; the others are None.

    Returns
    -------
    meta : dict
    arrays : dict of str to float32 array
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
            meta = object_of(json_of(_text(archive.read(names.pop("meta"))), what), "meta")
            arrays = {
                name: _array(archive, member, name) if wanted(name) else None
                for name, member in names.items()
            }
            return meta, arrays
    except (OSError, ValueError):
        raise
    except Exception as error:  # zipfile and numpy have many for broken files
        raise ValueError(f"not a {what}: {error}") from None


def write_archive(
    path: str | os.PathLike[str], meta: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a file of arrays atomically; ``OSError`` if it cannot be written."""
    import io

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


def _text(content: bytes) -> str:
    """Read an array that is one string, without numpy."""
    length = int.from_bytes(content[8:10], "little")
    header = content[10 : 10 + length]
    order = "le" if b"'<U" in header else "be" if b"'>U" in header else ""
    if content[:8] != b"\x93NUMPY\x01\x00" or not order or b"()" not in header:
        raise ValueError("meta: expected one string")
    try:
        return content[10 + length :].decode(f"utf-32-{order}")
    except UnicodeDecodeError as error:
        raise ValueError(f"meta: {error}") from None


def _array(archive: "zipfile.ZipFile", member: str, name: str) -> "_Array":
    from numpy.lib import format as npy

    with archive.open(member) as file:
        try:
            array = npy.read_array(file, allow_pickle=False)
            return array.astype("float32", casting="same_kind", copy=False)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}: expected an array of numbers: {error}") from None

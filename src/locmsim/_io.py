"""Files that are either written whole or left as they were."""

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write bytes, or text as UTF-8 with ``\\n`` line ends; if it fails, what was there stays.

    It goes to a new file beside the old one, which is then replaced. A link is followed;
    pipes and devices are written to as they are.
    """
    data = content.encode() if isinstance(content, str) else content
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)

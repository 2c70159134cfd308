"""Files that are either written whole or left as they were."""

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 with ``\\n`` line ends; if that fails, what was there before stays.

    The text goes to a new file beside the old one, which is then replaced. A link is followed;
    pipes and devices are written to as they are.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8", newline="\n")
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)

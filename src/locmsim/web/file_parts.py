"""What pages of one file are made of: scripts and styles as one text, and packed bytes."""

import base64
import gzip
import json
import re
from functools import cache
from importlib import resources

#: What a program does not need: imports, the word "export", and comments that fill whole lines.
_LEFT_OUT = re.compile(
    r"^import [^;]*;\n|^export |^ *//.*\n|^ */\*(?:(?!\*/)[\s\S])*\*/\n", re.MULTILINE
)


@cache
def program(*names: str) -> str:
    """Return modules as one program: in order, without imports, exports and comments."""
    return _LEFT_OUT.sub("", joined(*names))


def joined(*names: str) -> str:
    """Return static files as one text."""
    folder = resources.files("locmsim.web") / "static"
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)


def packed(content: bytes) -> str:
    """Return bytes as a page unpacks them: gzip, then base 64."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def packed_json(data: object) -> str:
    """Return data as a page unpacks it."""
    return packed(json.dumps(data, separators=(",", ":")).encode())

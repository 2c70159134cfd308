"""A page shown in the browser without its address on a command line."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path


@contextmanager
def redirect_file(url: str) -> Iterator[str]:
    """Return the address of a file that redirects to `url` and only its owner can read.

    What starts a browser puts the address on a command line, which all users of the machine can
    see; with a token in it they could do what the page can. The file is gone afterwards.
    """
    descriptor, name = tempfile.mkstemp(suffix=".html", prefix="locmsim-")  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(
                "<!doctype html><meta charset=utf-8><title>locmsim</title>"
                '<meta name=referrer content=no-referrer><meta http-equiv=refresh content="0;url='
                f'{escape(url)}"><a href="{escape(url)}">locmsim</a>\n'
            )
        yield Path(name).as_uri()
    finally:
        with suppress(OSError):
            os.unlink(name)

"""Signatures with `ArrayLike` by its name, and types without the declarations of options.

`ArrayLike` would be shown as the union that it stands for, and a declared option with all that its
entry among the parameters says.
"""

import re
from typing import Any

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

#: What Python makes of `ArrayLike`, as autodoc writes it.
ARRAY_LIKE = [stringify_annotation(ArrayLike, mode) for mode in ("smart", "fully-qualified")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-signature", array_like, priority=300)
    return {"parallel_read_safe": True}


def array_like(
    app: Sphinx,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    given: str | None,
    returns: str | None,
) -> tuple[str | None, str | None] | None:
    """Handler of ``autodoc-process-signature``: Sphinx takes the first that returns something."""
    texts = [plain(given or ""), returns or ""]
    for written in ARRAY_LIKE:
        texts = [text.replace(written, "numpy.typing.ArrayLike") for text in texts]
    if texts == [given or "", returns or ""]:
        return None
    return texts[0], texts[1] or None


def plain(text: str) -> str:
    """Return a signature in which ``Annotated[T, ...]`` is T."""
    while found := re.search(r"(~?(typing|types)\.)?\bAnnotated\[", text):
        first, end = "", 0
        depth, quote = 1, ""
        for i in range(found.end(), len(text)):
            character = text[i]
            if quote:
                quote = "" if character == quote and text[i - 1] != "\\" else quote
            elif character in "\"'":
                quote = character
            elif character in "[(":
                depth += 1
            elif character in "])":
                depth -= 1
            if not first and depth == 1 and character == ",":
                first = text[found.end() : i]
            if not depth:
                end = i + 1
                break
        if not end:  # not closed: Sphinx has shortened it
            break
        text = text[: found.start()] + first + text[end:]
    return text

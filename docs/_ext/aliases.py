"""Signatures with `ArrayLike` by its name, and not as the union that it stands for."""

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
    texts = [given or "", returns or ""]
    for written in ARRAY_LIKE:
        texts = [text.replace(written, "numpy.typing.ArrayLike") for text in texts]
    if texts == [given or "", returns or ""]:
        return None
    return texts[0], texts[1] or None

"""Signatures as one reads them: options one by one for ``**options``, `ArrayLike` by its name."""

import inspect
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

from locmsim import agents, envs, search
from locmsim.envs import aec

#: Classes and functions that hand ``**options`` to a dataclass -> this.
OPTIONS: dict[Any, type] = {
    aec.BattleAEC: envs.Options,
    aec.MatchAEC: envs.Options,
    aec.env: envs.Options,
    aec.raw_env: envs.Options,
    agents.BeamAgent: search.BeamOptions,
    agents.MCTSAgent: search.MCTSOptions,
    agents.SearchAgent: search.SearchOptions,
    search.PolicySearch: search.PolicyOptions,
    **dict.fromkeys((envs.LocmEnv, envs.LocmVectorEnv), envs.Options),
}

#: What Python makes of `ArrayLike`, as autodoc writes it.
ARRAY_LIKE = [stringify_annotation(ArrayLike, mode) for mode in ("smart", "fully-qualified")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-signature", readable, priority=300)
    return {"parallel_read_safe": True}


def readable(
    app: Sphinx,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    given: str | None,
    returns: str | None,
) -> tuple[str | None, str | None] | None:
    """Handler of ``autodoc-process-signature``: Sphinx takes the first that returns something."""
    texts = [spelt_out(obj, given or ""), returns or ""]
    for written in ARRAY_LIKE:
        texts = [text.replace(written, "numpy.typing.ArrayLike") for text in texts]
    if texts == [given or "", returns or ""]:
        return None
    return texts[0], texts[1] or None


def spelt_out(obj: Any, signature: str) -> str:
    """The signature with the fields of the options one by one."""
    declared = next((OPTIONS[key] for key in OPTIONS if key is obj), None)
    if "**options" not in signature or not is_dataclass(declared):
        return signature
    before, _, after = signature.partition("**options")
    _, _, rest = after.partition("Any")
    named = inspect.signature(obj).parameters
    texts = []
    for field in fields(declared):
        if field.name not in named:
            value = "..." if field.default is MISSING else repr(field.default)
            texts.append(f"{field.name}={value}")
    star = "" if "*," in before else "*, "
    return before + star + ", ".join(texts) + (rest or ")")

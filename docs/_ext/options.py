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
    app.connect("autodoc-process-signature", array_like, priority=250)
    app.connect("autodoc-process-signature", spelt_out, priority=300)
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
    """Handler of ``autodoc-process-signature``: `ArrayLike` by its name."""
    for written in ARRAY_LIKE:
        given = given and given.replace(written, "numpy.typing.ArrayLike")
        returns = returns and returns.replace(written, "numpy.typing.ArrayLike")
    return given, returns


def spelt_out(
    app: Sphinx,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    given: str | None,
    returns: str | None,
) -> tuple[str, str | None] | None:
    """Handler of ``autodoc-process-signature``: the fields of the options one by one."""
    try:
        declared = OPTIONS.get(obj)
    except TypeError:  # not hashable
        return None
    if declared is None or given is None or "**options" not in given:
        return None
    assert is_dataclass(declared)
    before, _, after = given.partition("**options")
    _, _, rest = after.partition(")") if after.startswith(")") else after.partition("Any")
    named = inspect.signature(obj).parameters
    texts = []
    for field in fields(declared):
        if field.name not in named:
            value = "..." if field.default is MISSING else repr(field.default)
            texts.append(f"{field.name}={value}")
    star = "" if "*," in before else "*, "
    return before + star + ", ".join(texts) + (rest or ")"), returns

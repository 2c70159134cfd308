"""Signatures with their options spelt out in the place of ``**options``."""

import inspect
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from sphinx.application import Sphinx

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


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-signature", spelt_out, priority=300)
    return {"parallel_read_safe": True}


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

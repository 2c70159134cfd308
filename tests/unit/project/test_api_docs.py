"""What `help` and the reference say of public names: every parameter and result, by numpydoc."""

import enum
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack, get_origin

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from classes import PACKAGES  # noqa: E402

#: The pages of the reference.
PAGES = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("**/reference/**/*.md")))
#: Modules of the reference, with the names that they export; asyncio calls those of the session.
MODULES = sorted(
    {
        *PACKAGES,
        *re.findall(r"^\.\. automodule:: ([\w.]+)", PAGES, re.M),
        "locmsim.envs.options",
        "locmsim.envs.players",
    }
    - {"vestrock.session"}
)
#: Classes and functions that the reference shows one by one.
NAMES = sorted({*re.findall(r"^\.\. auto(?:class|function):: ([\w.]+)", PAGES, re.M)})
#: Classes of which users are given objects, and create none.
GIVEN = {"locmsim.processes.supervisor.Child"}
SECTIONS = "Parameters|Attributes|Returns|Yields|Raises|Notes|Examples|See Also"
#: Functions that accept any name, since other classes decide which; their docstrings say so.
ANY_NAME = {
    "locmsim.Observation.replace",  # as `dataclasses.replace`
    "locmsim.game.observation.Observation.replace",
    "locmsim.search.Evaluation.replace",
    "locmsim.agents.make_agent",
    "locmsim.arena.make_game",
    "locmsim.arena.registry.make_game",
    "locmsim.arena.CorePool.submit",  # of `concurrent.futures`
    "locmsim.envs.LocmVectorEnv.close_extras",  # of Gymnasium
}


def sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring; the text before the first one is ""."""
    parts = re.split(rf"(?m)^({SECTIONS})\n-+\n", doc)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def names(section: str) -> set[str]:
    """Return the names that a section explains: those at the beginnings of its lines."""
    found = set()
    for line in section.splitlines():
        if line and not line[0].isspace():
            found |= {name.strip().lstrip("*") for name in line.split(" : ")[0].split(",")}
    return found


def split(value: Any) -> tuple[str, str]:
    """Return the signature that Cython writes before a docstring, or "", and the docstring."""
    doc = inspect.getdoc(value) or ""
    signature, _, rest = doc.partition("\n\n")
    if re.fullmatch(r"\w+(\.\w+)*\(.*\)( -> .*)?", signature, re.S):
        return signature, rest
    return "", doc


def parameters(value: Any) -> list[str]:
    """Return the names of the parameters that callers give; ``**name`` as it stands."""
    if inspect.isclass(value) and (
        issubclass(value, enum.Enum | BaseException) or getattr(value, "_is_protocol", False)
    ):
        return []
    signature, _ = split(value)
    if signature:
        inside = signature[signature.index("(") + 1 : signature.rindex(")")]
        inside = re.sub(r"\([^()]*\)|'[^']*'", "", inside)
        found = [part.split("=")[0].split()[-1] for part in inside.split(",") if part.strip()]
        return [name for name in found if name not in ("self", "cls", "*", "*args", "/")]
    try:
        known = list(inspect.signature(value).parameters.values())
    except ValueError:  # a class that Python code cannot create
        return []
    known = known[known[:1] != [] and known[0].name in ("self", "cls") :]
    # Names that a TypedDict has are known to type checkers and editors.
    known = [parameter for parameter in known if get_origin(parameter.annotation) is not Unpack]
    return [
        "**" * (parameter.kind is inspect.Parameter.VAR_KEYWORD) + parameter.name
        for parameter in known
    ]


def gaps(name: str, value: Any) -> Iterator[str]:
    """Yield what the docstring of a function or class leaves open."""
    _, doc = split(value)
    parts = sections(doc)
    summary = parts[""].strip().split("\n\n")[0]
    if not re.match(r"[A-Z0-9`\"\[]", summary) or not re.search(r"[.:?]$", summary):
        yield f"{name}: begins without a whole sentence: {summary!r}"
    if isinstance(value, property | cached_property) or name in GIVEN:
        return
    known = names(parts.get("Parameters", "") + parts.get("Attributes", ""))
    called = parameters(value)
    for parameter in called:
        if parameter.startswith("**"):
            if name not in ANY_NAME:
                yield f"{name}: {parameter} hides its names"
        elif parameter not in known and name not in ANY_NAME:
            yield f"{name}: the parameter {parameter} is not explained"
    if name in ANY_NAME or inspect.isclass(value):
        return
    # A type alone says something only where there is no annotation.
    annotated = "return" in getattr(value, "__annotations__", {})
    if annotated and re.fullmatch(r"[\w. ]+", parts.get("Returns", "").strip()):
        yield f"{name}: its section Returns repeats the annotation"


def public(module: str) -> Iterator[tuple[str, Any]]:
    """Yield functions and classes of a module, and the methods and properties of its classes."""
    loaded = importlib.import_module(module)
    for name in loaded.__all__:
        value = getattr(loaded, name)
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        yield from members(f"{module}.{name}", value)


def members(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a function or class, and the methods and properties of a class."""
    yield name, value
    for method, raw in vars(value).items() if inspect.isclass(value) else ():
        if method.startswith("_"):
            continue
        if isinstance(raw, property | cached_property):
            yield f"{name}.{method}", raw
        elif inspect.isroutine(getattr(value, method)):
            yield f"{name}.{method}", getattr(value, method)


def test_public_names_explain_their_parameters_and_results() -> None:
    found = [one for module in MODULES for one in public(module)]
    for name in NAMES:
        module, _, last = name.rpartition(".")
        found += members(name, getattr(importlib.import_module(module), last))
    assert len(MODULES) > 30
    assert len(NAMES) > 100
    assert [gap for name, value in found for gap in gaps(name, value)] == []


def test_gaps_are_found() -> None:
    def bad(a: int, *, b: int = 0, **options: int) -> int:
        """the value of

        Parameters
        ----------
        a : int
            A number.

        Returns
        -------
        int
        """
        return a + b + len(options)

    assert [gap.partition(": ")[2] for gap in gaps("bad", bad)] == [
        "begins without a whole sentence: 'the value of'",
        "the parameter b is not explained",
        "**options hides its names",
        "its section Returns repeats the annotation",
    ]
    compiled = type("C", (), {"__doc__": "C.f(self, int n, *, out=None)\n\nDo it."})()
    assert parameters(compiled) == ["n", "out"]

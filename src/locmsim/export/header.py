"""The header ``locm.h``, put together from the templates in ``data``.

This file and those that it imports need the standard library only, as the build uses them before
the package can be imported.
"""

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.resources.abc import Traversable

from locmsim.export.conditions import resolve
from locmsim.export.pieces import needed

#: The value of the macro RULES for a kernel that knows the rules only when it runs.
ANY_RULES = 3
#: Functions by group: names without prefix, and a sentence for each.
Groups = Mapping[str, Mapping[str, str]]

_ALL_RULES = "It plays rule sets\n// 1.5, 1.2 and 1.0."
_EXAMPLE = "// `locmsim new {}-bot` makes a bot that uses them."


def function_groups(data: Traversable, parts: Iterable[str] = ()) -> Groups:
    """Return the functions for users: of the kernel by group, and of further parts."""
    text = data.joinpath("functions.toml").read_text(encoding="utf-8")
    found: dict[str, Mapping[str, Mapping[str, str]]] = tomllib.loads(text)
    groups = dict(found["kernel"])
    listed: set[str] = set()
    for part in parts:
        names = {name: line for name, line in found["parts"][part].items() if name not in listed}
        listed |= {*names}
        if names:
            groups[part] = names
    return groups


def selected(text: str, macros: Mapping[str, int], roots: Collection[str]) -> str:
    """Return what the roots need of a template."""
    return needed(resolve(text, macros), roots, kept="LOCM_")


def header(
    kit: str,
    data: Traversable,
    *,
    macros: Mapping[str, int] | None = None,
    parts: Collection[str] = (),
    name: str | None = None,
) -> str:
    """Return a header with the functions of the kernel and of further parts.

    Parameters
    ----------
    kit : str
        The generated template, followed by the hand-written parts and their numbers.
    data : path
        The folder of the frame and of the list of functions.
    macros : mapping of str to int, optional
        Macros that decide the conditions in the template; by default a kernel of any rules.
    parts : collection of str
        The parts.
    name : str, optional
        The rule set, if it is fixed.
    """
    groups = function_groups(data, parts)
    roots = [f"locm_{function}" for group in groups.values() for function in group]
    body = selected(kit, macros or {"RULES": ANY_RULES, "IS_TREE": 0, "HAS_OFFERS": 1}, roots)
    of_rules = "" if name is None else f"#define LOCM_RULES LOCM_RULES_{name.replace('.', '')}\n\n"
    frame = data.joinpath("frame.h").read_text(encoding="utf-8")
    has_games = "game_start" in {name for group in groups.values() for name in group}
    filled = {
        "@ABOUT@": _ALL_RULES if name is None else f"It plays\n// rules {name} only.",
        "@TABLE@": "\n".join(_table(groups)),
        "@EXAMPLE@": _EXAMPLE.format("cpp" if has_games else "c"),
        "@INCLUDES@\n": "#include <math.h>\n#include <stdlib.h>\n" if "search" in parts else "",
        "@COMMON@\n": data.joinpath("common.h").read_text(encoding="utf-8"),
        "@BODY@\n": of_rules + body.strip("\n") + "\n",
    }
    for mark, value in filled.items():
        frame = frame.replace(mark, value)
    return frame


def _table(groups: Groups) -> Iterator[str]:
    """Yield the comment that lists the functions."""
    for group, names in groups.items():
        yield f"// {group}"
        for name, line in names.items():
            yield f"//   {'locm_' + name:<23}{line}"

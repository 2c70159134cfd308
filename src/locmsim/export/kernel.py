"""The simulator as a header for bots in C or C++, alone or with parts of our bots."""

from collections.abc import Collection, Mapping
from importlib.resources import files
from typing import Annotated

from locmsim.export.conditions import resolve
from locmsim.export.header import header
from locmsim.export.kit import DATA, Ascii, SearchName, check_names, check_parts, make_kit, template
from locmsim.export.minify import minify
from locmsim.networks.weights import Weights, WeightsFile
from locmsim.options.declarations import Option, check_values, documented

#: Conditions that a minified header leaves out: it is for gcc and clang, and for processors that
#: store the lowest byte first. Windows has the clock of C11, too.
_DECIDED = {
    "defined(__GNUC__)": 1,
    "defined(_WIN32)": 0,
    "defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__": 0,
}
_SHORT = """\
// Legends of Code and Magic: the exact simulator of locmsim{of_rules}; see docs/codingame.md
#ifndef LOCM_H
#define LOCM_H
"""


@documented()
def kernel_header(
    rules: str | None = None,
    parts: Collection[str] = (),
    weights: Mapping[str, Weights] | None = None,
    *,
    search: SearchName = "beam",
    minified: Annotated[
        bool,
        Option(
            "write few characters, without comments; names for users are kept",
            more="The header is then for gcc and clang, and for processors that store the lowest"
            " byte first.",
        ),
    ] = False,
    ascii: Ascii = False,
) -> str:
    """Return the header ``locm.h``: the simulator, and parts of our bots.

    Parameters
    ----------
    rules : str, optional
        The rule set, which is then fixed when the header is compiled. By default the header is that
        of `locmsim.get_include`, which plays all rule sets.
    parts : collection of str
        What is added to the simulator: some of "deck", "draft", "evaluation", "belief", "network",
        "search" and "tests", with what these need. All but "tests" need `rules`.
    weights : mapping of rule sets to Weights, optional
        The weights of the parts; by default the package's.
    options

    Returns
    -------
    str
        C11 and C++17; only with "search" there is something to link, the mathematics library.

    Raises
    ------
    ValueError
        An argument is not valid.

    >>> "locm_state_apply" in kernel_header()
    True
    """
    check_values(kernel_header, search=search)
    if rules is None:
        check_names(parts)
        for part in {*parts} - {"tests"}:
            raise ValueError(f"{part} needs the rules, whose numbers it has")
        text = (
            header(template("kit"), DATA, parts=parts)
            if parts
            else files("locmsim").joinpath("include/locm.h").read_text(encoding="utf-8")
        )
    else:
        chosen = check_parts(rules, parts)
        used_weights = (weights or WeightsFile())[rules]
        kit = make_kit(rules, chosen, used_weights, search=search, ascii=ascii)
        text = header(kit.text, DATA, macros=kit.macros, parts=sorted(chosen), name=rules)
    return short_header(text, rules) if minified else text


def short_header(text: str, rules: str | None) -> str:
    """Return a header in few characters."""
    inside = text.partition("#define LOCM_H\n")[2].rpartition("#endif")[0]
    for i, (condition, value) in enumerate(_DECIDED.items()):
        macro = f"DECIDED_{i}"
        inside = resolve(inside.replace(f"#if {condition}\n", f"#if {macro}\n"), {macro: value})
    head = _SHORT.format(of_rules="" if rules is None else f", rules {rules}")
    return f"{head}{minify(inside, prefix='locm_')}#endif\n"

"""Makes the C in the package: the kernel's header, and the template of exported bots and headers.

    python tools/export_templates.py            writes include/locm.h and export/data/kit.h
    python tools/export_templates.py --check    checks that they match the sources

Builds call `write_new`; the files are not in git, but source archives contain them. This needs
Cython, whose parser reads the sources (see the package `cython_to_c` beside this file); the
installed locmsim does not need it.
"""

import importlib
import itertools
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType

sys.path.append(str(Path(__file__).parent))

#: Values of the macros.
Choice = tuple[int, ...]
#: A line, and the choices whose text has it.
Line = tuple[str, frozenset[Choice]]

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "locmsim"
DATA = SOURCES / "export" / "data"
#: Lowest first.
MODULES = (
    "_platform",
    "_math",
    "_core",
    "javarandom",
    "game.observation",
    "game._match",
    "networks._layers",
    "networks._network",
    "networks._decks",
    "networks._drafts",
    "search._wins",
    "search._belief",
    "search._engine",
)
RULES = ("RULES_15", "RULES_12", "RULES_10", None)
#: Macros that select the code: of a rule set, or the kernel of any; of a search of a tree; of a
#: belief that knows the offers of a draft.
MACROS: Mapping[str, Sequence[int]] = {
    "RULES": (0, 1, 2, 3),
    "IS_TREE": (0, 1),
    "HAS_OFFERS": (0, 1),
}
HEADER = "include/locm.h"
KIT = "export/data/kit.h"
#: Functions that the hand-written parts in `DATA` call.
PARTS = """
    write_number card_of_row entry_with add_seen_card pool_of_seen pool_set_weights
    search._engine.evaluate eval_fill eval_use_table
    fill_card_keys engine_init engine_use engine_begin engine_run write_terms
    shown_read shown_write state_seen path_of play_on sampled_world
    match_seed match_offer match_deal state_end_turn
"""
DECK = "offer_start offer_add deck_value deck_improve"
DRAFT = "pool_offer draft_fill draft_expected"
#: Modules whose constants are for users.
PUBLIC = frozenset(["locmsim._core"])
#: The clock in the sources, in place of which the header has one that needs no POSIX.
CLOCK = re.compile(r"#include <stdint\.h>\n#if defined\(_WIN32\).*?\n}\n", re.S)


def header_module() -> ModuleType:
    """Import `locmsim.export.header`, although the package may not be built yet."""
    if "locmsim" in sys.modules:
        return importlib.import_module("locmsim.export.header")
    before = {*sys.modules}
    for name in ("locmsim", "locmsim.export"):
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(SOURCES.parent.joinpath(*name.split(".")))]
    try:
        return importlib.import_module("locmsim.export.header")
    finally:
        for name in {*sys.modules} - before:
            if name.startswith("locmsim"):
                del sys.modules[name]


def translated(fixed: dict[object, int | str], roots: Sequence[str], public: Sequence[str]) -> str:
    """Return the sources in C, with known values filled in."""
    from cython_to_c import Program, Style, translate  # with Cython, which is slow to import

    modules = {}
    for name in MODULES:
        path = SOURCES / name.replace(".", "/")
        files = [path.with_suffix(".pxd"), path.with_suffix(".pyx")]
        modules[f"locmsim.{name}"] = [file for file in files if file.exists()]
    style = Style(
        "locm_",
        "locmi_",
        static="LOCMI_FUNCTION",
        inline="LOCMI_INLINE",
        start="",
        keeps_fixed=True,
        modules=PUBLIC,
    )
    program = Program(modules, {"LOCMSIM_DEBUG": 0, **fixed})
    return translate(program, style, roots, public)


def public_functions() -> list[str]:
    """Return the functions of the kernel for users, and those for tests, but the hand-written."""
    groups = tomllib.loads((DATA / "functions.toml").read_text(encoding="utf-8"))
    names = [name for group in groups["kernel"].values() for name in group]
    return [name for name in (*names, *groups["parts"]["tests"]) if name != "now_ns"]


def specialised(choice: Choice) -> str:
    """Return the C for values of the macros."""
    rules, is_tree, has_offers = choice
    code = RULES[rules]
    fixed: dict[object, int | str] = {}
    public = public_functions()
    roots = [*public]
    if code is not None:
        fixed = {
            ("table_t", "rules"): code,
            ("shown_t", "rules"): code,
            ("belief_t", "rules"): code,
            ("match_t", "rules"): code,
            ("options_t", "is_tree"): is_tree,
            ("work_t", "watch"): 0,
            ("work_t", "steps"): 0,
            ("work_t", "knows_deck"): 0,
        }
        roots += (PARTS + (DECK if code == "RULES_15" else DRAFT)).split()
        if code == "RULES_15" or not has_offers:
            fixed["pool_t", "n_triplets"] = 0
            roots = [name for name in roots if name != "pool_offer"]
    text = translated(fixed, roots, public)
    text = CLOCK.sub("", text).replace("locmi_now_ns_", "locm_now_ns")
    return re.sub(r"(?m)^#include .*\n", "", text)


def kit() -> str:
    """Return the C of the kernel, searches and networks for all rule sets, selected by macros."""
    choices = [*itertools.product(*MACROS.values())]
    texts = {choice: specialised(choice) for choice in {*map(like, choices)}}
    return woven({choice: texts[like(choice)] for choice in choices})


def like(choice: Choice) -> Choice:
    """Return the choice that has the same text: 1.5 has no draft, and the kernel no search."""
    rules, is_tree, has_offers = choice
    return rules, is_tree * (rules != 3), has_offers * (rules in (1, 2))


def woven(texts: Mapping[Choice, str]) -> str:
    """Merge similar texts into one, with conditions that select each of them."""
    lines: list[Line] = []
    for choice, text in texts.items():
        lines = [*merged(lines, text.split("\n"), choice)]
    everything = frozenset(texts)
    parts: list[str] = []
    chain: frozenset[Choice] = frozenset()  # choices of the branches of the open #if
    for choices, group in itertools.groupby(lines, lambda line: line[1]):
        if chain and (chain & choices or choices == everything):
            parts.append("#endif")
            chain = frozenset()
        if choices != everything:
            chain |= choices
            if chain == everything:
                parts.append("#else")
            else:
                word = "if" if chain == choices else "elif"
                parts.append(f"#{word} {' || '.join(map(' && '.join, terms(choices)))}")
        parts += [line for line, _ in group]
    return "\n".join([*parts, "#endif"] if chain else parts)


def merged(lines: list[Line], new: list[str], choice: Choice) -> Iterator[Line]:
    """Merge the lines of one more choice into those of several."""
    old = [line for line, _ in lines]
    for what, i, j, k, n in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield from ((line, choices | {choice}) for line, choices in lines[i:j])
        else:
            yield from lines[i:j]
            yield from ((line, frozenset([choice])) for line in new[k:n])


def terms(choices: frozenset[Choice], first: int = 0) -> list[list[str]]:
    """Return the condition for these choices, as comparisons of the macros from `first` on.

    It holds if all comparisons of one of the lists hold.
    """
    if first == len(MACROS):
        return [[]]
    name, values = [*MACROS.items()][first]
    alike: dict[frozenset[Choice], list[int]] = {}
    for value in values:
        if below := frozenset(choice[1:] for choice in choices if choice[0] == value):
            alike.setdefault(below, []).append(value)
    return [
        [*comparison, *others]
        for below, chosen in alike.items()
        for comparison in comparisons(name, values, chosen)
        for others in terms(below, first + 1)
    ]


def comparisons(name: str, values: Sequence[int], chosen: list[int]) -> list[list[str]]:
    """Return the comparisons of a macro with one of the chosen values."""
    others = [value for value in values if value not in chosen]
    if not others:
        return [[]]
    if len(values) == 2:
        return [[name if chosen == [1] else f"!{name}"]]
    if len(others) == 1:
        return [[f"{name} != {others[0]}"]]
    return [[f"{name} == {value}"] for value in chosen]


def templates() -> dict[str, str]:
    """Return the text of each file."""
    text = kit()
    return {KIT: text, HEADER: header_module().header(text, DATA)}


def is_new() -> bool:
    """Return whether the files match the sources, or come with a source archive."""
    files = [SOURCES / HEADER, SOURCES / KIT]
    if not all(file.exists() for file in files):
        return False
    if (ROOT / "PKG-INFO").exists():
        return True
    sources = [path for pattern in ("*.pyx", "*.pxd", "*.pxi") for path in SOURCES.rglob(pattern)]
    sources += [Path(__file__), *(Path(__file__).parent / "cython_to_c").glob("*.py")]
    sources += [*(SOURCES / "export").glob("*.py")]
    sources += [DATA / name for name in ("frame.h", "common.h", "functions.toml")]
    first = min(file.stat().st_mtime_ns for file in files)
    return all(path.stat().st_mtime_ns < first for path in sources)


def write_new() -> None:
    """Make the files for a build if they are missing or older than a source."""
    if not is_new():
        for name, text in templates().items():
            write(SOURCES / name, text)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")  # an interrupted build leaves no incomplete file
    beside.write_text(text, encoding="utf-8", newline="\n")
    beside.replace(path)


def main() -> None:
    check = sys.argv[1:] == ["--check"]
    for name, text in templates().items():
        path = SOURCES / name
        same = path.exists() and path.read_text(encoding="utf-8") == text
        if check and not same:
            raise SystemExit(f"{path} does not match the sources")
        write(path, text)
        print(f"{name}: {len(text)} characters{'' if same else ', new'}")


if __name__ == "__main__":
    main()

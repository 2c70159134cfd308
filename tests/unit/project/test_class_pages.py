"""Every public class has a page or section of the reference, with an example."""

import re
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from classes import public_classes  # noqa: E402

#: Name -> text of each page that documents a class.
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in sorted((ROOT / "docs").glob("**/reference/**/*.md"))
}
PUBLIC = {name: value for value, name in public_classes().items()}


def names_of(value: type, name: str) -> set[str]:
    """Return the full names under which a page may document a class."""
    return {name, f"{value.__module__}.{value.__name__}"}


@cache
def sections(text: str) -> list[tuple[str, set[str]]]:
    """Return the sections of a page, each with the names of the classes that it documents."""
    found = re.split(r"(?m)^(?=##? )", text)
    return [(one, {*re.findall(r"^\.\. autoclass:: ([\w.]+)", one, re.M)}) for one in found]


def wrong_pages(name: str, value: type, pages: dict[str, str]) -> list[str]:
    """Return what is missing where a class is documented: on its page, or in its section of one."""
    documented = [
        (file, section)
        for file, text in pages.items()
        for section, classes in sections(text)
        if names_of(value, name) & classes
    ]
    if len(documented) != 1:
        return [f"{name}: expected one page, got {[file for file, _ in documented]}"]
    ((file, text),) = documented
    short = value.__name__
    wrong = []
    if not re.match(rf"##? {short}( \(.+\))?\n\n[A-Z`\[]", text):
        wrong.append(f"{file}: begins without the class's name and a sentence")
    if not re.search(r"^>>> ", text, re.M):
        wrong.append(f"{file}: no example")
    return wrong


def test_every_public_class_has_a_page_and_an_example() -> None:
    assert len(PUBLIC) > 100
    wrong = [one for name, value in PUBLIC.items() for one in wrong_pages(name, value, PAGES)]
    assert wrong == []


def test_missing_pages_and_examples_are_found() -> None:
    class Thing:
        pass

    name = f"{Thing.__module__}.Thing"
    page = f"# Thing\n\nA thing.\n\n>>> Thing()\n\n.. autoclass:: {name}\n"
    assert wrong_pages(name, Thing, {"a.md": page}) == []
    assert wrong_pages(name, Thing, {}) == [f"{name}: expected one page, got []"]
    assert wrong_pages(name, Thing, {"a.md": page, "b.md": page}) != []
    section = {"a.md": "# Things\n\nAll things.\n\n#" + page}
    assert wrong_pages(name, Thing, section) == []
    without = page.replace(">>> Thing()", "").replace("# Thing", "# Things")
    assert wrong_pages(name, Thing, {"a.md": without}) == [
        "a.md: begins without the class's name and a sentence",
        "a.md: no example",
    ]


def test_the_functions_of_the_kernel_are_listed() -> None:
    """Those of a state, a player and a stream, which code of others calls without the GIL."""
    page = (ROOT / "docs" / "reference" / "compiled.md").read_text()
    header = (files("locmsim") / "_core.pxd").read_text()
    listed = set(re.findall(r"`(\w+)\(", page))
    declared = set(re.findall(r"^cdef (?:inline )?[\w ]+?\*? ?(\w+)\(", header, re.MULTILINE))
    kernel = {name for name in declared if name.startswith(("state_", "stream_"))}
    assert kernel <= listed
    assert {name for name in listed if "." not in name} <= declared

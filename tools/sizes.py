"""Says how large each folder is: lines of code, tokens, words of documentation.

    python tools/sizes.py [--write | --at REVISION]

fails where a folder is larger than `.ci/sizes` allows, and prints the sums. With `--write`, today's
sizes are what it allows; with `--at`, only the sums of a revision are printed. A line that has
nothing but a comment or a docstring does not count, nor does data. Tokens are names, numbers,
strings and signs: joined lines have as many. In tests, `deep` counts imports of modules that the
reference does not document, and changes of the package by `monkeypatch`: tests that use public
names and commands only do not change when the code behind them does.
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
ALLOWED = ROOT / ".ci" / "sizes"

_PYTHON = {".py", ".pyi", ".pyx", ".pxd", ".pxi"}
_OTHERS = {".c", ".cpp", ".h", ".css", ".html", ".js", ".mjs"}
_SIGNS = r"\w+|[^\w\s]"
_QUOTED = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
#: What has no code, texts of several lines, and the other tokens of a language.
_TOKENS = {
    True: re.compile(
        r"(?P<none>#[^\n]*)|(?P<text>\w{,2}(?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}))"
        rf"|\w{{,2}}(?:{_QUOTED})|{_SIGNS}"
    ),
    False: re.compile(rf"(?P<none>//[^\n]*|/\*[\s\S]*?\*/|<!--[\s\S]*?-->)|{_QUOTED}|{_SIGNS}"),
}


def _fields(token: str) -> list[str]:
    """Return the code inside an f-string."""
    formatted = re.match(r"\w?[fF]\w?[\"']", token)
    return re.findall(r"\{([^{}]*)\}", token) if formatted else []


def size_of(name: str, text: str) -> Counter[str]:
    """Return how many lines of code and tokens, or words, a file has."""
    suffix = Path(name).suffix
    if suffix == ".md":
        return Counter(words=len(text.split()))
    if suffix not in _PYTHON | _OTHERS:
        return Counter()
    lines: set[int] = set()
    tokens = depth = line = end = 0
    for found in _TOKENS[suffix in _PYTHON].finditer(text):
        between = text[end : found.start()]
        line += between.count("\n")
        token, kind, end = found[0], found.lastgroup, found.end()
        # A docstring is a statement of its own.
        starts = not depth and (not found.start() or "\n" in between)
        if kind != "none" and not (kind == "text" and suffix in _PYTHON and starts):
            lines.update(range(line, line + token.count("\n") + 1))
            tokens += 1 + len(re.findall(_SIGNS, " ".join(_fields(token))))
            depth += (token in "([{") - (token in ")]}")
        line += token.count("\n")
    size = Counter(lines=len(lines), tokens=tokens)
    if name.startswith("tests/") and suffix == ".py":
        imported = (a or b for a, b in _IMPORT.findall(text))
        size["deep"] = sum(module not in documented() for module in imported)
        size["deep"] += len(_PATCH.findall(text))
    return size


_IMPORT = re.compile(
    r"^ *(?:from ((?:locmsim|vestrock)(?:\.[\w.]+)?) import|import ((?:locmsim|vestrock)\b[\w.]*))",
    re.M,
)
_PATCH = re.compile(r"monkeypatch\.(?:setattr|setitem|delattr|delitem)\(")


@cache
def documented() -> set[str]:
    """Return the packages and modules whose public names the reference shows."""
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    listed = re.findall(r'^    "([\w.]+)",$', (ROOT / "docs/_ext/classes.py").read_text(), re.M)
    return {*listed, *re.findall(r"automodule:: ([\w.]+)", pages)}


def files(revision: str | None) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file with code or words, as it is or was in a revision."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout

    counted = _PYTHON | _OTHERS | {".md"}
    if revision is None:
        names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").decode()
        for name in names.split("\0"):
            if Path(name).suffix in counted and (ROOT / name).exists():
                yield name, (ROOT / name).read_text(encoding="utf-8")
        return
    with tarfile.open(fileobj=io.BytesIO(git("archive", revision))) as archive:
        for member in archive:
            if Path(member.name).suffix in counted and (file := archive.extractfile(member)):
                yield member.name, file.read().decode()


def sizes(revision: str | None = None) -> dict[str, Counter[str]]:
    """Return the size of each folder, with what is deeper than three names."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name, text in files(revision):
        found["/".join(name.split("/")[:-1][:3]) or "."].update(size_of(name, text))
    return found


def sums(found: dict[str, Counter[str]]) -> list[str]:
    """Return a line for each part of the project."""
    parts: dict[str, Counter[str]] = defaultdict(Counter)
    for folder, size in found.items():
        parts[folder.partition("/")[0]].update(size)
    return [row(part, size) for part, size in sorted(parts.items())]


KINDS = ("lines", "tokens", "words", "deep")


def row(folder: str, size: Counter[str]) -> str:
    """Return a line of the table."""
    return f"{folder:25}" + "".join(f"{size[kind]:9}" for kind in KINDS)


def above(found: dict[str, Counter[str]], allowed: str) -> list[str]:
    """Return what is larger than allowed, a line each."""
    limits = {words[0]: words[1:] for words in map(str.split, allowed.splitlines()[1:])}
    return [
        f"{folder} has {size[kind]} {kind}, and .ci/sizes allows {limit}"
        for folder, size in sorted(found.items())
        for kind, limit in zip(KINDS, limits.get(folder, ["0"] * len(KINDS)), strict=True)
        if size[kind] > int(limit)
    ]


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="allow today's sizes")
    parser.add_argument("--at", metavar="REVISION", help="print the sums of a revision")
    options = parser.parse_args()
    found = sizes(options.at)
    header = f"{'folder':25}" + "".join(f"{kind:>9}" for kind in KINDS)
    if options.write:
        rows = [row(folder, size) for folder, size in sorted(found.items()) if size.total()]
        ALLOWED.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    print(header, *sums(found), sep="\n")
    larger = [] if options.at else above(found, ALLOWED.read_text(encoding="utf-8"))
    if larger:
        print(*larger, "Make it smaller; or --write, and say in the commit why.", sep="\n")
    return bool(larger)


if __name__ == "__main__":
    sys.exit(main())

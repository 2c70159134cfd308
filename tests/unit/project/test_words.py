"""One word for one idea, the field's: names in code, and phrases in what people read."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
of_the_sources = pytest.mark.skipif(not (ROOT / "src").exists(), reason="not the source tree")

#: Words that must not be in names -> what to write instead.
WORDS = {
    "consult": "ask", "crew": "thread pool", "crews": "thread pools", "follower": "tracker",
    "followers": "trackers", "heat": "temperature", "judge": "evaluate, check",
    "judged": "evaluated, checked", "judges": "evaluators", "keeper": "sink",
    "mind": "belief state", "minds": "belief states", "price": "cost",
    "prices": "costs", "retrace": "replay", "retraced": "replayed", "room": "scratch, capacity",
    "rooms": "scratch", "sight": "view", "sights": "views", "spread": "runner, deviation",
    "strangers": "unauthenticated connections", "taste": "prior",
    "tastes": "priors", "thinker": "workspace", "thinkers": "workspaces",
    "twin": "reference, copy", "twins": "references, copies",
}  # fmt: skip
#: Words that must not be in names of the package and its tools; tests and scripts may have them.
LIBRARY_WORDS = {
    "chance": "rng, probability", "outside": "external",
    "given": "what it is", "made": "what it is",
    "said": "what it is", "taken": "what it is", "told": "what it is",
    "unit": "pair, or what it is", "units": "pairs, or what they are",
}  # fmt: skip
#: Allowed names: those of other libraries, or with the word in its plain meaning.
NAMES = {
    "ChanceMode", "chance_mode", "chance_outcomes", "is_chance_node", "win_chance",  # OpenSpiel's
    "connection_made",  # asyncio's
    "COAC_UNIT", "LOCMI_DECK_UNITS", "DRAFT_UNITS", "LOCMI_SCORE_UNIT", "UNITS", "_DOUBLE_UNIT",
    "has_room",  # of a hand or a lane, in the rules
}  # fmt: skip
#: Files and the words that have their plain meaning in them.
PLAIN = {
    "src/locmsim/_measure.py": {"unit"}, "src/locmsim/bench.py": {"unit"},
    "src/locmsim/arena/tournament.py": {"unit"}, "src/locmsim/cli/dataset.py": {"unit"},
    "src/locmsim/cli/tune.py": {"unit"}, "src/locmsim/cli/optimize.py": {"unit"},  # tqdm's
    "src/locmsim/export/numbers.py": {"unit"}, "src/locmsim/export/kit.py": {"unit"},
    "src/locmsim/game/layouts.py": {"unit"}, "src/locmsim/game/layout_tables.py": {"unit"},
    "src/locmsim/tuning/parts.py": {"unit"},
    "src/locmsim/rules/generator.py": {"price"},  # cards are bought with a budget
    "src/locmsim/search/_evaluation.pxd": {"room"},  # a lane has room: the name of a weight
    "src/locmsim/search/_evaluation.pyx": {"room"},
    "src/locmsim/export/data/unpack.h": {"unit"},
    "src/locmsim/search/analysis.py": {"chance"}, "src/locmsim/cli/analyse.py": {"chance"},
    "src/locmsim/web/analyse.py": {"chance"}, "src/locmsim/web/searches.py": {"chance"},
}  # fmt: skip
#: Folders and the words that have their plain meaning in them: networks have units.
PLAIN_FOLDERS = {
    "src/locmsim/networks": {"unit", "units"}, "src/locmsim/tuning": {"units"},
    "src/locmsim/policy": {"units"}, "examples/train": {"unit", "units"},
    "tests": set(LIBRARY_WORDS), "bench": set(LIBRARY_WORDS), "docs": set(LIBRARY_WORDS),
}  # fmt: skip

#: Phrases that a native speaker would not write -> what to write instead.
PHRASES = {
    r"(?-i:\b(it|one|what|that|text) is none\b)": "name the thing, not a ...",
    r"(?<!there )(?<!where )\b(is|are) no (action|array|card|class|command|creature|error|fault)\b"
    r"|(?<!there )(?<!where )\b(is|are) no (file|game|integer|log|number|object|observation)\b"
    r"|(?<!there )(?<!where )\b(is|are) no (position|string|text|type|weights|word)\b": "not a",
    r"\bin the place of\b": "in place of",
    r"\btaken to (be|choose|draft|have|hold|last)\b": "expected to, assumed to",
    r"\bnothing (has|have) against\b|\bhas nothing against\b": "allows",
    r"\b(it|this) cannot be[;.]|\bthat cannot be[;.]": "an impossible ...",
    r"[Tt]he own (?!ones?\b)": "your, the player's",
    r"\bin the way of who\b": "as those who ... do",
    r"\bgone on with\b": "continued, resumed",
    r"(?<![-.,\d])1 (cores|games|pairs|seconds|minutes)\b": "1 core",
    r"\bby lot\b": "at random",
    r"\b(matche?s?|turn|bot|state|those|one) of before\b": "previous, earlier",
    r"\bcomes to the (left|right) lane\b": "is summoned to the left lane",
    r"\bof strangers\b": "of others, unauthenticated",
    r"\b[Tt]hinkers?\b": "workspace",
    r"\b[Tt]wins?\b": "reference, copy",
    r"\bretrace": "replay",
    r"\b[Tt]he house\b|\bits floors?\b": "package, layer",
    r"\bone behind the other\b": "concatenated, in order",
    r"\b[Mm]akes? no sense\b": "is not valid",
    r"\bfound out\b": "detected",
    r"\bwhat (came|comes) of\b": "the result, the effect",
    r"\bmade anew\b": "recreated, reopened",
    r"\bwhat judges positions\b": "the evaluation",
    r"\bone's own\b": "your own, the player's",
    r"\bif nothing is said\b|\bif nobody says\b": "by default",
    r"\b[Ss]o many (games|nodes|rows|matches|tasks)\b": "a number of ...",
    r"\b(his|her|the) deck of before\b": "previous",
    r"\bfiles to begin with\b": "starter files",
    r"\bwhat it plays by\b": "its weights",
}  # fmt: skip

CODE = ("*.py", "*.pyi", "*.pyx", "*.pxd", "*.pxi", "*.js", "*.h")
STRINGS = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`', re.S
)


@cache
def words_of(name: str) -> frozenset[str]:
    """Return the words of a name, in lower case, whichever way it joins them."""
    return frozenset(map(str.lower, re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)))


def names_in_python(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        for field in ("id", "arg", "attr", "name", "asname", "rest", "kwd_attrs", "names"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield value
            elif isinstance(value, list):
                yield from (name for name in value if isinstance(name, str))


def names_in_tokens(text: str, comments: str) -> Iterable[str]:
    """Return names in Cython, C or JavaScript, after removing strings and comments."""
    return re.findall(r"[^\W\d]\w*", re.sub(comments, "", STRINGS.sub("", text), flags=re.S))


def names_in(path: Path) -> set[str]:
    text = path.read_text()
    if path.suffix in (".py", ".pyi"):
        return set(names_in_python(text))
    c_like = path.suffix in (".js", ".h")
    return set(names_in_tokens(text, r"//[^\n]*|/\*.*?\*/" if c_like else r"#[^\n]*"))


@cache
def files(*patterns: str) -> list[str]:
    """Return the files of the project, without those generated or installed."""
    folders = ("src", "tests", "tools", "bench", "bots", "examples", "docs")
    skipped = {"node_modules", "build", "_build", "__pycache__", "minified"}
    generated = {"src/locmsim/export/data/kit.h", "src/locmsim/include/locm.h"}
    found = set()
    for folder in folders:
        for pattern in patterns:
            for path in (ROOT / folder).rglob(pattern):
                name = path.relative_to(ROOT).as_posix()
                if skipped.isdisjoint(path.parts) and name not in generated:
                    found.add(name)
    return sorted(found)


def wrong_names(file: str) -> list[str]:
    plain = set(PLAIN.get(file, ()))
    for folder, words in PLAIN_FOLDERS.items():
        if file.startswith(f"{folder}/"):
            plain |= words
    words = WORDS if file.endswith(".js") else WORDS | LIBRARY_WORDS
    banned = words.keys() - plain
    # Parsing takes long, and most files have no such word anywhere.
    tokens = re.findall(r"[^\W\d]\w*", (ROOT / file).read_text() + file)
    if banned.isdisjoint(frozenset().union(*map(words_of, set(tokens)))):
        return []
    names = names_in(ROOT / file) | {Path(file).stem}
    return sorted(
        f"{file}: {name}"
        for name in names
        if name not in NAMES and not name.startswith("test_") and words_of(name) & banned
    )


@pytest.mark.slow
def test_names_in_code_are_the_fields():
    assert {"sight", "made"} <= words_of("nSight_MADE")
    found = []
    for file in files(*CODE):
        found += wrong_names(file)
    assert found == []


def wrong_phrases(file: str) -> list[str]:
    """Return line and text of refused phrases in a page, or in a module's comments and strings."""
    text = (ROOT / file).read_text()
    return [
        f"{file}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}: {better}"
        for phrase, better in PHRASES.items()
        for match in re.finditer(phrase, text, re.I)
    ]


@pytest.mark.slow
def test_phrases_are_english():
    pages = ["README.md", "CONTRIBUTING.md", *files("*.md", "*.rst"), *files(*CODE)]
    found = []
    for file in pages:
        if file != "tests/unit/project/test_words.py":  # lists them
            found += wrong_phrases(file)
    assert found == []


def test_names_are_read_from_each_language():
    python = "def f(a, *, b=1):\n    from x import y as z\n    c.d = lambda e: 'not'\n"
    assert set(names_in_python(python)) >= {"f", "a", "b", "y", "z", "c", "d", "e"}
    assert "not" not in set(names_in_python(python))
    cython = 'cdef int a = 1  # b\ncdef class C:\n    """d"""\n    cdef char* e  # "f\n'
    assert {"a", "C", "e"} <= set(names_in_tokens(cython, r"#[^\n]*"))
    assert {"b", "d", "f"}.isdisjoint(names_in_tokens(cython, r"#[^\n]*"))


#: First words of a docstring that describes a result without saying what the function does.
FRAGMENTS = {
    "A", "All", "An", "Both", "How", "Its", "One", "The", "What", "Whether", "Which", "Who",
}  # fmt: skip


def fragments(path: Path) -> Iterator[str]:
    """Yield public functions and methods whose docstring does not begin with a verb."""

    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

    def visit(node: ast.AST, prefix: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            name = getattr(child, "name", "_")
            if name.startswith("_") or not isinstance(child, kinds):
                continue
            properties = {"property", "cached_property", "setter"}
            text = ast.get_docstring(child) or "Verb"
            if isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}{name}.")
            elif properties.isdisjoint(
                word for item in child.decorator_list for word in words_of_node(item)
            ):
                first = text.split()[0]
                if first in FRAGMENTS or not first[0].isupper():
                    yield f"{prefix}{name}: {text.splitlines()[0]}"

    return visit(ast.parse(path.read_text()), "")


def cython_fragments(text: str) -> Iterator[str]:
    """Yield functions in Cython whose docstring does not begin with a verb."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        name = re.match(r" *(?:cdef|cpdef|def) (?!class |enum )[^=(]*?(\w+)\(", line)
        if name is None or "@property" in lines[i - 1] or ".setter" in lines[i - 1]:
            continue
        body = next((k for k in range(i, len(lines)) if re.search(r":( *#.*)?$", lines[k])), i) + 1
        words = lines[body].split() if body < len(lines) else []
        first = words[0].removeprefix('"""') if words and words[0].startswith('"""') else "Verb"
        if first in FRAGMENTS or not first[:1].isupper():
            yield f"{name[1]}: {lines[body].strip()}"


def words_of_node(node: ast.AST) -> set[str]:
    """Return the names in an expression."""
    return {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}


@pytest.mark.slow
def test_docstrings_of_functions_begin_with_a_verb():
    found = []
    for file in files("*.py"):
        if file.startswith(("src/", "examples/", "tools/")):
            found += [f"{file}: {line}" for line in fragments(ROOT / file)]
    for file in files("*.pyx", "*.pxd", "*.pxi"):
        if file.startswith("src/"):
            found += [f"{file}: {line}" for line in cython_fragments((ROOT / file).read_text())]
    assert found == []
    text = 'cdef int f(\n    int a\n) noexcept nogil:\n    """The a."""\n@property\ndef p(self):\n'
    assert list(cython_fragments(f'{text}    """The p."""\n')) == ['f: """The a."""']


@of_the_sources
def test_each_struct_has_a_name_of_its_own():
    for package in ("src/locmsim/", "src/vestrock/"):
        names = [
            name
            for file in files("*.pyx", "*.pxd", "*.pxi")
            if file.startswith(package)
            for name in re.findall(r"ctypedef struct (\w+)", (ROOT / file).read_text())
        ]
        assert len(names) > 5
        assert sorted(names) == sorted({*names})


#: Classes that have one name because they are one idea, as a contract or in another interface.
SAME_IDEA = {"Game", "Match"}


@of_the_sources
def test_each_class_has_a_name_of_its_own():
    for package in ("src/locmsim/", "src/vestrock/"):
        places: dict[str, set[str]] = {}
        for file in files("*.py", "*.pyx", "*.pxd", "*.pxi"):
            if file.startswith(package):
                for name in re.findall(r"(?m)^(?:cdef )?class (\w+)", (ROOT / file).read_text()):
                    places.setdefault(name, set()).add(re.sub(r"(_hidden)?\.\w+$", "", file))
        assert len(places) > 5
        twice = {name: found for name, found in places.items() if len(found) > 1}
        assert {name: found for name, found in twice.items() if name not in SAME_IDEA} == {}


@pytest.mark.slow
@of_the_sources
def test_words_of_the_code_have_a_page():
    """The table in docs/development.md is short, and what it names exists."""
    page = (ROOT / "docs/development.md").read_text()
    rows = re.findall(
        r"(?m)^\| (.+) \| .+ \| (.+) \|$", page.split("## Words\n")[1].split("\n## ")[0]
    )
    assert len(rows[1:]) <= 40
    names = {name for _, code in rows[1:] for name in re.findall(r"`([^`]+)`", code)}
    text = "".join((ROOT / file).read_text() for file in files("*.py", "*.pxd", "*.pyx", "*.pxi"))
    words = {*re.findall(r"\w+", text), *(Path(file).name for file in files("*.py"))}
    missing = [name for name in names if name not in words and not words >= {*name.split(".")}]
    assert missing == []

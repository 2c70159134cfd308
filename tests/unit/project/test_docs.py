"""Pages of the documentation: docs/api.md is complete, and links lead somewhere."""

import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from parsers import command_parser

import locmsim
from locmsim import bot
from locmsim.rules.rulesets import RULES
from vestrock.cli import command_parser as vestrock_parser

ROOT = Path(__file__).parents[3]
API = ROOT / "docs" / "api.md"
FIGURES = ROOT / "docs" / "figures.md"
#: The page of figures, and tables of speed and of timed matches that belong to one tool.
WITH_PROCESSORS = [
    "CHANGELOG.md",
    *(f"docs/{page}.md" for page in ("codingame", "figures", "scaling")),
    *(f"docs/vestrock/{page}.md" for page in ("rules", "server")),
]
PAGES = sorted(
    path
    for folder in (".", "docs", "examples", "tests/data")
    for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md")
)


def test_every_public_name_and_method_is_in_the_api_page():
    text = API.read_text()
    for name in locmsim.__all__:
        if not name.startswith("__"):
            assert re.search(rf"`{name}\b|\.{name}\b", text), name
    for owner in (locmsim.State, locmsim.StateBatch, locmsim.Match):
        for name in dir(owner):
            if not name.startswith("_"):
                assert re.search(rf"\b{name}\b", text), f"{owner}.{name}"


@cache
def prose(path: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^(```+).*?^\1$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.+?)\s*$", prose(path), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return found.keys() | {f"{slug}-{i}" for slug, n in found.items() for i in range(1, n + 1)}


def test_links_lead_somewhere():
    lost = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^()\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
            path, _, anchor = target.partition("#")
            if "://" in path or path.startswith("mailto:"):
                continue
            there = (page.parent / path) if path else page
            if not there.exists() or (anchor and anchor not in anchors(there.resolve())):
                lost.append((page, target))
    assert lost == []


def test_anchors_are_those_of_github(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b-c`: D?\n\n```\n# none\n```\n\n## [x](y.md) 1.5, 1.2\n\n## Twice\n\n## Twice\n"
    )
    assert anchors(page) == {"a-b-c-d", "x-15-12", "twice", "twice-1"}


def listed_pages() -> list[str]:
    """Return the pages that the tables of contents of all pages list."""
    found = []
    for page in (ROOT / "docs").rglob("*.md"):
        for table in re.findall(r"^```{toctree}\n(.*?)^```$", page.read_text(), re.M | re.S):
            for entry in re.findall(r"^[\w/*-]+$", table, re.M):
                paths = [page.parent / entry]
                if "*" in entry:
                    paths = sorted(page.parent.glob(f"{entry}.md"))
                found += [str(p.relative_to(ROOT / "docs").with_suffix("")) for p in paths]
    return found


def test_every_page_is_on_the_site():
    pages = {
        str(path.relative_to(ROOT / "docs").with_suffix(""))
        for path in (ROOT / "docs").rglob("*")
        if path.suffix in (".md", ".rst")
    }
    assert sorted(listed_pages()) == sorted(pages - {"index", "reference/README"})


def test_the_folder_of_the_reference_says_how_it_is_built():
    """The pages there are empty for who reads them in the repository."""
    text = (ROOT / "docs" / "reference" / "README.md").read_text()
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    install, build = commands.splitlines()
    assert install == 'pip install "locmsim[docs]"'  # without compiling again
    assert build == "sphinx-build -q docs build/docs"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(one.lower().startswith("sphinx") for one in extras["optional-dependencies"]["docs"])
    names = re.findall(r"`help\((?:locmsim)\.([\w.]+)\)`", text)
    assert len(names) == 2
    for name in names:
        value = locmsim
        for part in name.split("."):
            value = getattr(value, part)
        assert inspect.getdoc(value)


def test_the_first_page_of_the_site_has_a_tour_of_six_pictures():
    """All of them are made by one tool, and are described for those who cannot see them."""
    page = (ROOT / "docs" / "index.md").read_text()
    shown = re.findall(r"!\[([^]]+)\]\(([\w-]+)\.png\)", page)
    tool = (ROOT / "tools" / "screenshots.py").read_text()
    assert len(shown) == 6
    assert all(len(words) > 20 for words, _ in shown)
    assert all(re.search(rf'"{name}(\.png)?"', tool) for _, name in shown)


def rows(text: str) -> list[list[str]]:
    """Return the cells of the rows of a page's tables, without their heads."""
    lines = re.findall(r"^\|(.*)\|$", re.sub(r"^\|.*\n\|-.*\n", "", text, flags=re.M), re.M)
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


def test_figures_of_the_readme_are_those_of_the_pages():
    readme = (ROOT / "README.md").read_text().partition("## Figures")[2]
    figures, export = FIGURES.read_text(), (ROOT / "docs" / "codingame.md").read_text()
    found = {row[0]: row[1:] for row in rows(figures)}
    sizes = {row[0]: row[1] for row in rows(export.partition("\n## ")[0])}
    games, actions, fair, size = (row[1:] for row in rows(readme.partition("\n## ")[0]))
    assert games == found["random playouts, games a second"]
    assert actions == found["random playouts, actions a second"]
    assert fair == found["fair playouts: in Cython"]
    assert size == [sizes[rules] for rules in ("1.5", "1.2", "1.0")]
    for opponent in ("the caller on both sides", "against `osl`"):
        steps = found[opponent][0].removesuffix(" M")
        assert f"{steps} million" in readme.replace("\n", " "), opponent
    wins = next(row for row in rows(figures) if row[:2] == ["`beam`", "`own-turn`"])
    share = round(float(wins[3].removesuffix(" %")))
    assert f"wins {share} % of its games" in readme.replace("\n", " ")


def test_tables_of_figures_name_machine_compiler_version_and_command():
    """Above each table stand all four, or that it is the same on every machine."""
    text = FIGURES.read_text().partition("\n## How exact")[2]
    tables = re.findall(r"((?:^(?![|#]).*\n)+)\n?(^\|.*\n(?:^\|.*\n)+)", text, re.M)
    measured = [(above, table) for above, table in tables if "| what is timed |" not in table]
    assert len(measured) == text.count("\n|---") - 1 > 12
    for above, table in measured:
        head = table.partition("\n")[0]
        line = " ".join(above.split())
        assert "ersion 0." in line or "at an earlier commit" in line, head
        assert re.search(
            r"`locmsim (arena|bench)|    locmsim arena|python tools/|pytest ", above + table
        ), head
        if "same on every machine" not in line:
            assert re.search(r"(gcc|clang) \d|at an earlier commit", line), head
            assert re.search(r"AMD EPYC|Intel Xeon", line), head


def test_processors_are_named_with_the_figures_only():
    """A processor in the middle of a sentence tells most readers nothing."""
    for page in PAGES:
        if page.relative_to(ROOT).as_posix() not in WITH_PROCESSORS:
            assert re.findall(r"EPYC|Xeon|Zen \d|Sapphire", page.read_text()) == [], page


def commands(page: Path) -> list[list[str]]:
    """Return the words of our commands in the page's code, without those in brackets."""
    code = re.findall(r"^```(?:sh)?\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    code += re.findall(r"^(?:    .*\n)+", prose(page), re.MULTILINE)
    found = []
    for line in "\n".join(code).replace("\\\n", " ").splitlines():
        match = re.match(
            r"\s*(?:.*&& )?(?:\.venv/bin/)?(locmsim|vestrock|python -m locmsim\.bot)( .*)?$", line
        )
        if match:
            words = shlex.split(match[2] or "", comments=True)
            end = next((i for i, word in enumerate(words) if word in ("&", ">", "<", "|")), None)
            found.append([match[1], *words[:end]])
    return found


def test_commands_have_these_options():
    parser = cache(command_parser)
    for page in PAGES:
        for program, *words in commands(page):
            print(page, program, *words)  # the last one is refused
            if program == "vestrock":
                vestrock_parser().parse_args(words)
            elif program != "locmsim":
                bot.command_parser().parse_args(words)
            elif words:
                if words[0] == "arena" and words[1:2] != ["show"]:
                    words.insert(1, "run")
                parser(words[0]).parse_args(words)


def test_commands_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Text:\n\n    locmsim play a \\\n        b # no\n\n```sh\nlocmsim web x > y\n```\n"
    )
    assert commands(page) == [["locmsim", "web", "x"], ["locmsim", "play", "a", "b"]]
    assert sum(len(commands(page)) for page in PAGES) > 50


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
def test_the_site_is_built_without_a_compiler(compiles, tmp_path):
    """It says so, has no page to play in, and shows the directive's content in its place."""
    pytest.importorskip("sphinx")
    pages, site = tmp_path / "pages", tmp_path / "site"
    pages.mkdir()
    extension = (ROOT / "docs" / "_ext" / "play_now.py").read_text()
    if compiles:
        extension += "\ndef play_html(rules, sets):\n    return f'<p>{rules}'\n"
    else:
        extension += (
            "\nimport importlib.util\nfrom locmsim.export import wasm\n"
            f"wasm.DATA = wasm.Path({str(tmp_path)!r})\n"
            "wasm.cache_folder = lambda: wasm.DATA / 'kept'\n"
            "wasm.shutil.which = importlib.util.find_spec = lambda name: None\n"
        )
    (pages / "play_now.py").write_text(extension)
    (pages / "conf.py").write_text(
        "import os\nimport sys\nsys.path.insert(0, os.path.dirname(__file__))\n"
        "extensions = ['play_now']\n"
    )
    (pages / "index.rst").write_text("Title\n=====\n\n.. play-now::\n\n   Install it.\n")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", str(pages), str(site)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    text = (site / "index.html").read_text()
    assert ("Install it." in text) != compiles
    for rules in RULES:
        page = site / f"play-{rules}.html"
        assert (f'href="{page.name}"' in text) == compiles
        assert (page.exists() and page.read_text()) == (compiles and f"<p>{rules}")
    notice = "the site has no pages to play in: the engine is compiled to WebAssembly, and there is"
    assert (notice in done.stdout) != compiles

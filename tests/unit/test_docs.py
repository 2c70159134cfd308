"""docs/api.md is complete, links lead somewhere; that examples are right, pytest itself sees."""

import re
from pathlib import Path

import pytest

import locmsim

ROOT = Path(__file__).parents[2]
API = ROOT / "docs" / "api.md"
PAGES = sorted(
    path
    for folder in (".", "docs", "examples", "tests/data")
    for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md")
)


def test_every_public_name_is_in_the_api_page():
    text = API.read_text()
    for name in locmsim.__all__:
        if not name.startswith("__"):
            assert re.search(rf"`{name}\b|\.{name}\b", text), name


@pytest.mark.parametrize("owner", ["State", "StateBatch", "Match"])
def test_every_method_is_in_the_api_page(owner):
    text = API.read_text()
    for name in dir(getattr(locmsim, owner)):
        if not name.startswith("_"):
            assert re.search(rf"\b{name}\b", text), f"{owner}.{name}"


def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^(```+).*?^\1$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.+?)\s*$", prose(path), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return found.keys() | {f"{slug}-{i}" for slug, n in found.items() for i in range(1, n + 1)}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    lost = []
    for target in re.findall(r"\]\(([^()\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
        path, _, anchor = target.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        there = (page.parent / path) if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            lost.append(target)
    assert not lost


def test_anchors_are_those_of_github(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b-c`: D?\n\n```\n# none\n```\n\n## [x](y.md) 1.5, 1.2\n\n## Twice\n\n## Twice\n"
    )
    assert anchors(page) == {"a-b-c-d", "x-15-12", "twice", "twice-1"}


def test_every_page_is_on_the_site():
    listed = re.findall(r"^([\w/-]+)$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE)
    pages = {
        str(path.relative_to(ROOT / "docs").with_suffix(""))
        for path in (ROOT / "docs").rglob("*")
        if path.suffix in (".md", ".rst")
    }
    assert sorted(listed) == sorted(pages - {"index"})

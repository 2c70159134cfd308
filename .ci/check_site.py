"""Checks a built documentation site: ``python .ci/check_site.py build/docs``.

Every link within the site must lead to an existing page and anchor. Pages must not load anything
from elsewhere, so that the site can be read offline. Every public name of the package must be in
the reference.
"""

import importlib
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))
from classes import PACKAGES

#: Elements that a browser loads by itself, and the attributes with the address.
LOADED = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "script", "source", "video"), "src"),
    "image": "href",
    "use": "href",
    "link": "href",
    "object": "data",
}
#: Kinds of links in a head that only name a page.
NAMED_ONLY = {"author", "canonical", "index", "next", "prev", "search"}
STYLES = re.compile(r'<style[^>]*>(.*?)</style>|style="([^"]*)"', re.DOTALL)
CSS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


def loaded(css: str) -> list[str]:
    return [a or b for a, b in CSS.findall(css)]


class Page(HTMLParser):
    """The links, loads and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        text = path.read_text(encoding="utf-8")
        self.feed(text)
        self.loads += loaded(" ".join(a or b for a, b in STYLES.findall(text)))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in LOADED and not NAMED_ONLY & set(given.get("rel", "").split()):
            self.loads += [given[name] for name in (LOADED[tag], "srcset") if name in given]


def undocumented(anchors: set[str]) -> list[str]:
    """Return the public names without an entry under the package's or their module's name."""
    missing = []
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            home = getattr(value, "__module__", package)
            listed = {f"{place}.{name}" for place in (package, home, "locmsim")} & anchors
            if not (name.startswith("__") or isinstance(value, ModuleType) or listed):
                missing.append(f"{package}.{name}: not in the reference")
    return missing


def main() -> None:
    site = Path(sys.argv[1])
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        raise SystemExit(f"{site}: no pages")
    wrong = undocumented(set().union(*(page.anchors for page in pages.values())))
    links = 0
    for path, page in pages.items():
        shown = path.relative_to(site.resolve())
        wrong += [f"{shown}: loads {url}" for url in page.loads if urlsplit(url).netloc]
        for link in page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                continue
            links += 1
            there = (path.parent / unquote(to.path)).resolve() if to.path else path
            anchors = pages[there].anchors if there in pages else set()
            if not there.is_file() or (to.fragment and unquote(to.fragment) not in anchors):
                wrong.append(f"{shown}: leads nowhere: {link}")
    for path in site.rglob("*.css"):
        urls = loaded(path.read_text(encoding="utf-8"))
        wrong += [f"{path.relative_to(site)}: loads {url}" for url in urls if urlsplit(url).netloc]
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"{len(pages)} pages, {links} links within; nothing is loaded from elsewhere")


if __name__ == "__main__":
    main()

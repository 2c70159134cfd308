"""The directive ``play-now``: links to pages in which a match can be played at once.

They are written into the site, one for each rule set, where there is a compiler for the engine;
elsewhere the directive's content stands in their place.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from locmsim.rules.rulesets import RULES
from locmsim.web import play_html

_LOG = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("play-now", PlayNow)
    app.connect("builder-inited", prepare)
    return {"parallel_read_safe": True}


def file_name(rules: str) -> str:
    return f"play-{rules}.html"


def write_pages(folder: Path, sets: int = 200) -> list[str]:
    """Write the pages; return the rule sets that have one: without a compiler none has."""
    try:
        pages = {rules: play_html(rules, sets=sets) for rules in RULES}
    except ImportError as error:
        _LOG.info("the site has no pages to play in: %s", error)
        return []
    folder.mkdir(parents=True, exist_ok=True)
    for rules, page in pages.items():
        folder.joinpath(file_name(rules)).write_text(page, encoding="utf-8")
    return [*pages]


def prepare(app: Sphinx) -> None:
    is_site = app.builder.format == "html"
    app.env.playable_rules = write_pages(Path(app.outdir)) if is_site else []


class PlayNow(SphinxDirective):
    """A paragraph of links, in place of the content."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # another build may have another compiler
        playable = self.env.playable_rules
        if not playable:
            return self.parse_content_to_nodes()
        up = "../" * self.env.docname.count("/")
        paragraph = nodes.paragraph(
            "", "", nodes.strong("", "Play now"), nodes.Text(" by the rules ")
        )
        for i, rules in enumerate(playable):
            if i:
                paragraph += nodes.Text(" or " if i == len(playable) - 1 else ", ")
            paragraph += nodes.reference("", rules, internal=True, refuri=up + file_name(rules))
        paragraph += nodes.Text(
            ", against ten levels of the engine, in a page that needs no other."
        )
        return [paragraph]

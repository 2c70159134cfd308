"""The directive ``layout-table``: what the numbers of an observation layout mean."""

from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from locmsim.policy import get_layout


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("layout-table", LayoutTable)
    return {"parallel_read_safe": True}


class LayoutTable(SphinxDirective):
    """The tables of a layout and, if its numbers depend on them, of a rule set."""

    required_arguments: ClassVar[int] = 1
    optional_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(get_layout(*self.arguments).table())

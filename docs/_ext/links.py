"""Names in docstrings, types of other packages, and files of the repository as links."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.roles import XRefRole
from sphinx.transforms.post_transforms import ReferencesResolver, SphinxPostTransform
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import find_pending_xref_condition, make_refnode

PYTHON = "https://docs.python.org/3/library/"
NUMPY = "https://numpy.org/doc/stable/reference/"
#: Where types of others are explained: a module, or a single name, and its page.
PAGES = {
    "abc.": PYTHON + "abc.html#{}",
    "asyncio.": PYTHON + "asyncio.html",
    "collections.": PYTHON + "collections.html#{}",
    "collections.abc.": PYTHON + "collections.abc.html#{}",
    "concurrent.futures.": PYTHON + "concurrent.futures.html#{}",
    "enum.": PYTHON + "enum.html#{}",
    "fractions.": PYTHON + "fractions.html#{}",
    "os.": PYTHON + "os.html#{}",
    "pathlib.": PYTHON + "pathlib.html#{}",
    "random.": PYTHON + "random.html#{}",
    "typing.": PYTHON + "typing.html#{}",
    "gymnasium.": "https://gymnasium.farama.org/",
    "pettingzoo.": "https://pettingzoo.farama.org/",
    "numpy.typing.": NUMPY + "typing.html#{}",
    "numpy.": NUMPY + "generated/{}.html",
    **dict.fromkeys(("bool", "float", "int", "object", "type"), PYTHON + "functions.html#{}"),
    **dict.fromkeys(("bytes", "bytearray", "memoryview", "str"), PYTHON + "stdtypes.html#{}"),
    **dict.fromkeys(("list", "range", "tuple"), PYTHON + "stdtypes.html#{}"),
    **dict.fromkeys(("dict", "frozenset", "set"), PYTHON + "stdtypes.html#{}"),
    "None": PYTHON + "constants.html#{}",
}


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("name", Name())
    app.add_role("page", Page())
    app.connect("autodoc-process-docstring", cited_pages, priority=900)  # numpydoc has been there
    app.add_post_transform(Elsewhere)
    app.connect("source-read", named_only)
    app.connect("doctree-read", no_plain_bases)
    app.connect("missing-reference", documented)
    return {"parallel_read_safe": True}


class Name(XRefRole):
    """The default role: a link to a Python name, if there is one of that name."""

    def __init__(self) -> None:
        super().__init__(innernodeclass=nodes.literal)

    def create_xref_node(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.refdomain, self.reftype = "py", "obj"
        self.classes = ["xref", "py", "py-obj"]
        found, messages = super().create_xref_node()
        for node in found:
            if isinstance(node, pending_xref):
                node["or_code"] = True
        return found, messages

    def process_link(
        self, env: BuildEnvironment, node: nodes.Element, explicit: bool, title: str, target: str
    ) -> tuple[str, str]:
        node["py:module"] = env.ref_context.get("py:module")
        node["py:class"] = env.ref_context.get("py:class")
        return title, target.rstrip("()")


_CITED = re.compile(r"docs/([\w/-]+)\.md(?:, sections? (\d+))?")


def cited_pages(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Handler of ``autodoc-process-docstring``: ``docs/rules.md, section 4`` becomes a link."""
    lines[:] = [_CITED.sub(r":page:`\g<0>`", line) for line in lines]


class Page(SphinxRole):
    """A link to a page as docstrings cite it, and to a section by its number."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        cited = _CITED.fullmatch(self.text)
        if cited is None or cited[1] not in self.env.found_docs:
            message = self.inliner.reporter.warning(f"no page {self.text!r}", line=self.lineno)
            return [nodes.Text(self.text)], [message]
        uri = self.env.app.builder.get_relative_uri(self.env.docname, cited[1])
        if cited[2]:
            source = (Path(self.env.srcdir) / f"{cited[1]}.md").read_text()
            heading = re.search(rf"^## {cited[2]}\. (.*)$", source, re.MULTILINE)
            title = f"{cited[2]} {heading[1]}" if heading else ""
            uri += "#" + re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        return [nodes.reference("", self.text, internal=True, refuri=uri)], []


class Elsewhere(SphinxPostTransform):
    """Links types of other packages, before a like name of ours is taken for them."""

    default_priority = ReferencesResolver.default_priority - 1

    def run(self, **_: Any) -> None:
        modules = self.env.domains.python_domain.modules
        for node in list(self.document.findall(pending_xref)):
            name = node.get("reftarget", "")
            if node.get("or_code") and f"{node.get('py:module')}.{name}" in modules:
                node.replace_self(node.children)  # a parameter that is called like a module
                continue
            starts = [s for s in PAGES if name == s or (s[-1] == "." and name.startswith(s))]
            if node.get("refdomain") == "py" and starts and not node.get("or_code"):
                uri = PAGES[max(starts, key=len)].format(name)
                link = nodes.reference("", "", internal=False, refuri=uri, reftitle=name)
                shown = find_pending_xref_condition(node, "resolved")
                link += shown.children if shown else node.children
                node.replace_self(link)


def documented(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.Element
) -> nodes.Node | None:
    """Handler of ``missing-reference`` for `Name`: code, if no one thing has this name.

    A lone word in small letters is more often a parameter than a function.
    """
    if not node.get("or_code"):
        return None
    name = node["reftarget"]
    if re.fullmatch("[a-z]+", name):
        return text
    found = [
        (full, entry)
        for full, entry in env.domains.python_domain.objects.items()
        if full.endswith(f".{name}") and not entry.aliased
    ]
    if len(found) != 1:
        return text
    full, entry = found[0]
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, [text], title=full
    )


def named_only(app: Sphinx, page: str, source: list[str]) -> None:
    """Handler of ``source-read``: folders and pages outside the site are named, not linked."""
    site = Path(app.srcdir)

    def name(link: re.Match[str]) -> str:
        text, path = link.groups()
        there = (site / page).parent.joinpath(path).resolve()
        outside = not there.is_relative_to(site.resolve())
        return text if outside and (there.is_dir() or there.suffix == ".md") else link[0]

    source[0] = re.sub(r"\[([^]]*)\]\((\.\./[^)#]*)[^)]*\)", name, source[0])


def no_plain_bases(app: Sphinx, tree: nodes.document) -> None:
    """Handler of ``doctree-read``: that a class has no base is not worth a line."""
    for node in list(tree.findall(nodes.paragraph)):
        if node.astext() == "Bases: object":
            node.parent.remove(node)

"""Making and querying parse trees."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from Cython.Compiler import Errors
from Cython.Compiler.Main import CompilationOptions, Context, default_options
from Cython.Compiler.Scanning import FileSourceDescriptor
from Cython.Compiler.Symtab import ModuleScope

Node = Any


class Unsupported(Exception):
    """Raised for code without a translation; the message says where it is."""


@cache
def parse(path: Path, name: str) -> Node:
    """Return the tree of a .pyx or .pxd file, which must not be changed."""
    Errors.init_thread()
    context = Context.from_options(CompilationOptions(default_options, language_level=3))
    source = FileSourceDescriptor(str(path), str(path))
    scope = ModuleScope(name, None, context)
    return context.parse(source, scope, pxd=path.suffix == ".pxd", full_module_name=name)


def kind(node: Node) -> str:
    return type(node).__name__


def fail(node: Node, what: str) -> NoReturn:
    source, line = node.pos[0], node.pos[1]
    raise Unsupported(f"{source.get_description()}:{line}: {what}")


def children(node: Node) -> Iterator[Node]:
    """Return the direct children of a node."""
    for name in node.child_attrs:
        below = getattr(node, name, None)
        for part in below if isinstance(below, list | tuple) else (below,):
            if hasattr(part, "child_attrs"):
                yield part


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all its descendants."""
    yield node
    for part in children(node):
        yield from walk(part)


def statements(body: Node) -> list[Node]:
    return body.stats if kind(body) == "StatListNode" else [body]


def function_declarator(node: Node) -> Node:
    declarator = node.declarator
    while kind(declarator) != "CFuncDeclaratorNode":
        declarator = declarator.base
    return declarator


def declared_name(declarator: Node) -> str:
    while kind(declarator) != "CNameDeclaratorNode":
        declarator = declarator.base
    name: str = declarator.name
    return name


def hits(target: Node) -> frozenset[str]:
    """Return the names that an assignment to `target` changes."""
    if kind(target) == "NameNode":
        return frozenset([target.name])
    if kind(target) == "TupleNode":
        return frozenset().union(*map(hits, target.args))
    return frozenset()


# Results are cached: they are needed again for each version of a function.


@cache
def assigned(node: Node) -> frozenset[str]:
    """Return the names that are assigned, except declarations, or whose address is taken."""
    what = kind(node)
    found: frozenset[str] = frozenset()
    if what in ("SingleAssignmentNode", "InPlaceAssignmentNode"):
        found = hits(node.lhs)
    elif what == "CascadedAssignmentNode":
        found = found.union(*map(hits, node.lhs_list))
    elif what == "ForInStatNode":
        found = hits(node.target)
    elif what == "AmpersandNode":
        found = hits(node.operand)
    return found.union(*map(assigned, children(node)))


@cache
def writes_memory(node: Node) -> bool:
    """Return whether memory behind pointers may change: a call may do anything."""
    what = kind(node)
    if what in ("SingleAssignmentNode", "InPlaceAssignmentNode") and kind(node.lhs) in (
        "AttributeNode",
        "IndexNode",
    ):
        return True
    return what == "SimpleCallNode" or any(map(writes_memory, children(node)))


@cache
def read(node: Node) -> frozenset[str]:
    """Return the variables that are read, except in loops over them."""
    what = kind(node)
    if what == "NameNode":
        return frozenset([node.name])
    if what == "SingleAssignmentNode" and kind(node.lhs) == "NameNode":
        return read(node.rhs)
    found = frozenset[str]().union(*map(read, children(node)))
    if what == "ForInStatNode":
        around = [part for part in (node.iterator, node.else_clause) if part is not None]
        found = (found - hits(node.target)).union(*map(read, around))
    return found


class Comments:
    """The comments of a source file, by line."""

    def __init__(self, path: Path) -> None:
        self.lines = path.read_text(encoding="utf-8").split("\n")

    def above(self, line: int) -> list[str]:
        """Return the comments on their own lines right above a line."""
        found: list[str] = []
        i = line - 2
        while i >= 0 and self.lines[i].lstrip().startswith("#"):
            text = self.lines[i].strip()
            if text.startswith(("# --", "#      ")):  # a headline; what belongs to the line before
                break
            found.insert(0, text[1:].strip())
            i -= 1
        return found

    def behind(self, line: int) -> list[str]:
        """Return the comment at the end of a line, with the lines that continue it."""
        text = self.lines[line - 1]
        at = text.find("  # ")
        if at < 0:
            return []
        found = [text[at + 4 :].strip()]
        for text in self.lines[line:]:
            if not re.match(r"#? {7,}#? ", text) or not text.lstrip(" ").startswith("#"):
                break
            if text.index("#") != 0 and abs(text.index("#") - at - 2) > 4:
                break
            found.append(text.strip()[1:].strip())
        return found

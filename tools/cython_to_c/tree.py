"""The parse tree: how it is made, and what is asked of it."""

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
    """Something in the sources that has no translation; says where it is."""


@cache
def parse(path: Path, name: str) -> Node:
    """The tree of a .pyx or .pxd file, which nobody changes."""
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


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    if isinstance(node, list | tuple):
        for part in node:
            yield from walk(part)
    elif hasattr(node, "child_attrs"):
        yield node
        for name in node.child_attrs:
            yield from walk(getattr(node, name, None))


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


def hits(target: Node, name: str) -> bool:
    """Whether an assignment to `target` is one to a name."""
    if kind(target) == "NameNode":
        return bool(target.name == name)
    return kind(target) == "TupleNode" and any(hits(part, name) for part in target.args)


def assigns(body: Node, name: str) -> bool:
    """Whether a name is assigned somewhere (its declaration apart), or its address taken."""
    for node in walk(body):
        what = kind(node)
        if what in ("SingleAssignmentNode", "InPlaceAssignmentNode") and hits(node.lhs, name):
            return True
        if what == "CascadedAssignmentNode" and any(hits(left, name) for left in node.lhs_list):
            return True
        if what == "ForInStatNode" and hits(node.target, name):
            return True
        if what == "AmpersandNode" and hits(node.operand, name):
            return True
    return False


def writes_memory(body: Node) -> bool:
    """Whether what pointers lead to may change: a call may do anything."""
    for node in walk(body):
        if kind(node) in ("SingleAssignmentNode", "InPlaceAssignmentNode") and kind(node.lhs) in (
            "AttributeNode",
            "IndexNode",
        ):
            return True
        if kind(node) == "SimpleCallNode":
            return True
    return False


def reads(node: Node, name: str) -> bool:
    """Whether a variable is read anywhere but in loops over it."""
    if isinstance(node, list | tuple):
        return any(reads(part, name) for part in node)
    if not hasattr(node, "child_attrs"):
        return False
    what = kind(node)
    if what == "ForInStatNode" and hits(node.target, name):
        return reads(node.iterator, name) or reads(node.else_clause, name)
    if what == "SingleAssignmentNode" and kind(node.lhs) == "NameNode" and node.lhs.name == name:
        return reads(node.rhs, name)
    if what == "NameNode" and node.name == name:
        return True
    return any(reads(getattr(node, attribute, None), name) for attribute in node.child_attrs)


class Comments:
    """The comments of a source file, by line."""

    def __init__(self, path: Path) -> None:
        self.lines = path.read_text(encoding="utf-8").split("\n")

    def above(self, line: int) -> list[str]:
        """Those on lines of their own right above a line."""
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
        """The one at the end of a line, with the lines that go on with it."""
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

"""Signatures and types of compiled modules from their stubs, as Cython keeps none."""

import ast
import inspect
import pkgutil
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import locmsim


def setup(app: Sphinx) -> dict[str, Any]:
    # Autodoc would import the stub in place of a module that is not imported yet.
    for module in pkgutil.walk_packages(locmsim.__path__, "locmsim."):
        folder = Path(module.module_finder.path)  # type: ignore[union-attr]
        if (folder / f"{module.name.rpartition('.')[2]}.pyi").exists():
            import_module(module.name)
    app.connect("autodoc-process-signature", signature, priority=100)  # numpydoc has one, too
    app.connect("autodoc-process-signature", defaults, priority=200)
    app.connect("autodoc-process-docstring", docstring, priority=100)
    return {"parallel_read_safe": True}


def signature(app: Sphinx, what: str, name: str, obj: Any, *_: Any) -> tuple[str, str] | None:
    """Handler of ``autodoc-process-signature``: the stub's text with full names."""
    found = declared(obj)
    if found is None or what in ("property", "attribute"):
        return None
    module, node = found
    if isinstance(node, ast.ClassDef):
        makers = [n for n in node.body if getattr(n, "name", "") in ("__new__", "__init__")]
        if not makers or "Never" in ast.unparse(makers[0].args):  # type: ignore[attr-defined]
            return "", ""  # functions make it
        node = makers[0]
    if not isinstance(node, ast.FunctionDef):
        return None
    node = FullNames(module).visit(ast.parse(ast.unparse(node)).body[0])
    if node.args.args and node.args.args[0].arg in ("self", "cls"):
        del node.args.args[0]
    returns = ast.unparse(node.returns) if node.name[:2] != "__" and node.returns else ""
    return f"({ast.unparse(node.args)})", returns


def defaults(
    app: Sphinx,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    given: str | None,
    returns: str | None,
) -> tuple[str, str | None] | None:
    """Handler of ``autodoc-process-signature``: a default that Python makes, in Python's grammar.

    Sphinx splits what it cannot parse at its commas, those in other defaults among them.
    """
    if given is None or "<factory>" not in given:
        return None
    return given.replace("<factory>", "..."), returns


def docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Handler of ``autodoc-process-docstring``: the type of a property."""
    found = declared(obj)
    if found is None:
        return
    module, node = found
    if what in ("property", "attribute") and isinstance(node, ast.FunctionDef) and node.returns:
        kind = ast.unparse(FullNames(module).visit(node.returns))
        lines[:0] = [f":type: {kind}", ""]


def declared(obj: Any) -> tuple[str, ast.AST] | None:
    """The module of something compiled, and what its stub has for it."""
    owner = getattr(obj, "__objclass__", None)
    module = getattr(owner or obj, "__module__", None)
    if not isinstance(module, str) or not (names := stub(module)):
        return None
    if owner is not None:
        key = f"{owner.__name__}.{obj.__name__}"
    else:
        key = getattr(obj, "__qualname__", "")
    return (module, names[key]) if key in names else None


@cache
def stub(module: str) -> dict[str, ast.AST]:
    """The classes and functions of a module's stub; none if it has no stub."""
    path = Path(inspect.getfile(sys.modules[module])) if module.startswith("locmsim.") else None
    if path is None or path.suffix not in (".so", ".pyd"):
        return {}
    tree = ast.parse((path.parent / f"{path.name.split('.')[0]}.pyi").read_text())
    names: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names[node.name] = node
        if isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}.{n.name}": n for n in node.body if isinstance(n, ast.FunctionDef)
            }
    return names


class FullNames(ast.NodeTransformer):
    """Writes names in annotations as they are imported: by these the reference finds them."""

    def __init__(self, module: str) -> None:
        file = inspect.getfile(sys.modules[module])
        tree = ast.parse(Path(file).parent.joinpath(f"{module.rpartition('.')[2]}.pyi").read_text())
        self.full = {name: f"{module}.{name}" for name in stub(module)}
        for node in tree.body:
            if isinstance(node, ast.Import):
                self.full |= {alias.asname or alias.name: alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.full[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.full.get(node.id, node.id))

"""The source modules: their constants, types, variables and functions, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cython_to_c.tree import (
    Comments,
    Node,
    Unsupported,
    declared_name,
    fail,
    function_declarator,
    kind,
    parse,
    statements,
)

# A type is a tuple: ("int",) or any other name of C; ("of", a Struct or an Alias); ("const", type);
# ("ptr", type); ("array", type, size as an expression node); ("function", type, [types], [names]).
Type = tuple[Any, ...]

PLAIN = {"int", "long", "char", "bint", "size_t", "float", "double", "void", "short"} | {
    f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
#: Result types of C library functions; results of the others are never used.
LIBRARY: Mapping[str, Type] = {
    **dict.fromkeys(("sqrtf", "fabsf"), ("float",)),
    "sqrt": ("double",),
    **dict.fromkeys(("malloc", "calloc", "realloc"), ("ptr", ("void",))),
    "memcmp": ("int",),
}


class Entity:
    """Something with a name in a module."""

    name: str
    module: "Module"

    def key(self) -> tuple[str, str]:
        return self.module.name, self.name


@dataclass(eq=False)
class Constant(Entity):
    name: str
    module: "Module"
    value: int
    block: "Enum"
    comment: tuple[list[str], list[str]]  # lines above it, and at its end


@dataclass(eq=False)
class Enum:
    """Constants that are declared together."""

    members: list[Constant]
    comment: list[str]
    order: int
    is_declared: bool  # in a .pxd file


@dataclass(eq=False)
class Struct(Entity):
    name: str
    module: "Module"
    fields: dict[str, Type]
    comments: dict[str, tuple[list[str], list[str]]]
    comment: list[str]
    order: int


@dataclass(eq=False)
class Alias(Entity):
    name: str
    module: "Module"
    type: Type
    comment: list[str]
    order: int


@dataclass(eq=False)
class Variable(Entity):
    name: str
    module: "Module"
    type: Type
    comment: list[str]
    order: int
    start: Node | None = None


@dataclass(eq=False)
class Function(Entity):
    name: str
    module: "Module"
    node: Node
    comment: list[str]
    order: int

    def arguments(self) -> list[tuple[str, Type]]:
        pairs = []
        for argument in function_declarator(self.node).args:
            name, type, _ = self.module.declared(argument.base_type, argument.declarator)
            pairs.append((name, type))
        return pairs

    def result(self) -> Type:
        type = self.module.base(self.node.base_type)
        declarator = self.node.declarator
        while kind(declarator) != "CFuncDeclaratorNode":
            if kind(declarator) == "CPtrDeclaratorNode":
                type = ("ptr", type)
            declarator = declarator.base
        return type


@dataclass(eq=False)
class External:
    """A function or value of the C library or of C in the source."""

    name: str
    type: Type


@dataclass(eq=False)
class Module:
    """The .pxd and .pyx files of one name, which share a namespace."""

    name: str
    program: "Program"
    names: dict[str, Any] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    comments: dict[str, Comments] = field(default_factory=dict)
    # Calls that the module makes when it is imported.
    starts: list[Node] = field(default_factory=list)

    def find(self, name: str) -> Any:
        """Return what a name stands for in the module; None if it is unknown."""
        if name in self.names:
            return self.names[name]
        if name in self.imports:
            where, original = self.imports[name]
            module = self.program.modules.get(where)
            return None if module is None else module.find(original)
        return None

    def comments_of(self, node: Node) -> Comments:
        source = node.pos[0].get_description()
        if source not in self.comments:  # a file that the module includes
            self.comments[source] = Comments(Path(source))
        return self.comments[source]

    # -- reading

    def collect(self, body: Node, extern: bool = False) -> None:
        for node in statements(body):
            method = getattr(self, f"read_{kind(node)}", None)
            if method is not None:
                method(node, extern)

    def read_StatListNode(self, node: Node, extern: bool) -> None:
        self.collect(node, extern)

    def read_CDefExternNode(self, node: Node, extern: bool) -> None:
        before = set(self.names)
        self.collect(node.body, True)
        if getattr(node, "verbatim_include", None):
            names = set(self.names) - before
            self.program.verbatim.append((str(node.verbatim_include), names))

    def read_CEnumDefNode(self, node: Node, extern: bool) -> None:
        comments = self.comments_of(node)
        line = node.pos[1]
        comment = comments.above(line) or comments.behind(line)
        is_declared = node.pos[0].get_description().endswith(".pxd")
        block = Enum([], comment, self.program.next_order(), is_declared)
        value = -1
        for item in node.items:
            value = value + 1 if item.value is None else self.program.constant(item.value, self)
            above = comments.above(item.pos[1]) if block.members else []
            constant = Constant(
                item.name, self, value, block, (above, comments.behind(item.pos[1]))
            )
            block.members.append(constant)
            self.names[item.name] = constant

    def read_CStructOrUnionDefNode(self, node: Node, extern: bool) -> None:
        if node.attributes is None:
            return
        comments = self.comments_of(node)
        line = node.pos[1]
        struct = Struct(node.name, self, {}, {}, [], self.program.next_order())
        struct.comment = comments.above(line) + comments.behind(line)
        self.names[node.name] = struct
        for attribute in node.attributes:
            for declarator in attribute.declarators:
                name, type, _ = self.declared(attribute.base_type, declarator)
                struct.fields[name] = type
            above = comments.above(attribute.pos[1])
            struct.comments[name] = above, comments.behind(attribute.pos[1])

    def read_CTypeDefNode(self, node: Node, extern: bool) -> None:
        name, type, _ = self.declared(node.base_type, node.declarator)
        comment = self.comments_of(node).above(node.pos[1])
        self.names[name] = Alias(name, self, type, comment, self.program.next_order())

    def read_CVarDefNode(self, node: Node, extern: bool) -> None:
        comments = self.comments_of(node)
        for declarator in node.declarators:
            try:
                name, type, default = self.declared(node.base_type, declarator)
            except (Unsupported, AttributeError):
                continue  # a Python object
            comment = comments.above(node.pos[1]) + comments.behind(node.pos[1])
            if type[0] == "function":
                if extern:
                    self.names[name] = External(name, type)
                else:
                    self.program.declarations[self.name, name] = comment
            elif extern:
                self.names[name] = External(name, type)
            elif not isinstance(self.names.get(name), Variable):
                order = self.program.next_order()
                self.names[name] = Variable(name, self, type, comment, order, default)

    def read_CFuncDefNode(self, node: Node, extern: bool) -> None:
        name = declared_name(node.declarator)
        comment = self.comments_of(node).above(node.pos[1])
        self.names[name] = Function(name, self, node, comment, self.program.next_order())

    def read_FromCImportStatNode(self, node: Node, extern: bool) -> None:
        for item in node.imported_names:
            name = item[1]
            alias = item[2] or name
            if node.module_name.startswith("libc"):
                if name not in PLAIN:
                    type = LIBRARY.get(name, ("void",))
                    self.names[alias] = External(name, ("function", type, [], []))
            else:
                self.imports[alias] = node.module_name, name

    def read_SingleAssignmentNode(self, node: Node, extern: bool) -> None:
        if kind(node.lhs) == "NameNode" and isinstance(self.names.get(node.lhs.name), Variable):
            self.names[node.lhs.name].start = node.rhs

    def read_ExprStatNode(self, node: Node, extern: bool) -> None:
        call = node.expr
        if (
            kind(call) == "SimpleCallNode"
            and kind(call.function) == "NameNode"
            and isinstance(self.names.get(call.function.name), Function)
        ):
            self.starts.append(node)

    # -- types

    def named_type(self, node: Node, name: str) -> Type:
        entity = self.find(name)
        if isinstance(entity, Struct | Alias):
            return ("of", entity)
        if name in PLAIN:
            return (name,)
        if name == "Py_ssize_t":
            return ("int64_t",)
        fail(node, f"type {name}")

    def base(self, node: Node) -> Type:
        what = kind(node)
        if what == "CSimpleBaseTypeNode":
            if node.module_path or not node.is_basic_c_type:
                return self.named_type(node, node.name)
            return self.basic(node)
        if what in ("CQualifierTypeNode", "CConstTypeNode", "CConstOrVolatileTypeNode"):
            type = self.base(node.base_type)
            return ("const", type) if node.is_const else type
        if what == "CComplexBaseTypeNode":
            return self.declared(node.base_type, node.declarator)[1]
        if what == "TemplatedTypeNode" and len(node.positional_args) == 1:  # uint64_t[4] x
            return ("array", self.base(node.base_type_node), node.positional_args[0], self)
        fail(node, f"type {what}")

    def basic(self, node: Node) -> Type:
        name = node.name
        if name in ("int", "long", "char", "short"):
            if node.signed == 0:
                name = f"unsigned {name}"
            elif node.longness == 2:
                name = "int64_t"
        if name == "Py_ssize_t":
            name = "int64_t"
        return (name,)

    def declared(self, base: Node, declarator: Node) -> tuple[str, Type, Node | None]:
        """Return the name, type and initial value of a declaration."""
        type = self.base(base)
        default = None
        while True:
            what = kind(declarator)
            if what == "CNameDeclaratorNode":
                if declarator.default is not None:
                    default = declarator.default
                return declarator.name, type, default
            if what == "CPtrDeclaratorNode":
                type = ("ptr", type)
            elif what == "CArrayDeclaratorNode":
                type = ("array", type, declarator.dimension, self)
            elif what == "CFuncDeclaratorNode":
                pairs = [self.declared(a.base_type, a.declarator)[:2] for a in declarator.args]
                type = ("function", type, [t for _, t in pairs], [n for n, _ in pairs])
            elif what != "CConstDeclaratorNode":
                fail(declarator, f"declarator {what}")
            declarator = declarator.base


class Program:
    """All source modules, lowest first, given by name and files.

    `fixed` has known values: of ``(struct, field)``, or of a C name in the sources.
    """

    def __init__(
        self,
        modules: Mapping[str, Iterable[Path]],
        fixed: Mapping[Any, int | str] | None = None,
    ) -> None:
        self.modules: dict[str, Module] = {}
        # Verbatim C in the sources, and the names that it defines.
        self.verbatim: list[tuple[str, set[str]]] = []
        self.declarations: dict[tuple[str, str], list[str]] = {}
        self.order = 0
        self.fixed: dict[Any, int] = {}
        self.fixed_values = dict(fixed or {})
        for name, paths in modules.items():
            module = self.modules[name] = Module(name, self)
            for path in paths:
                tree = parse(path, name)
                module.comments[tree.pos[0].get_description()] = Comments(path)
                module.collect(tree.body)
        for key, value in self.fixed_values.items():
            self.fixed[key] = self.named_constant(value) if isinstance(value, str) else value

    def next_order(self) -> int:
        self.order += 1
        return self.order

    def named_constant(self, name: str) -> int:
        for module in self.modules.values():
            if isinstance(module.names.get(name), Constant):
                value: int = module.names[name].value
                return value
        raise ValueError(f"unknown constant {name}")

    def constant(self, node: Node, module: Module) -> int:
        """Return the value of a constant expression."""
        from cython_to_c.expressions import Expressions

        value = Expressions(self, module, None).visit(node)
        if value.const is None:
            fail(node, "a constant is expected")
        const: int = value.const
        return const

    def function(self, name: str) -> Function:
        """Find a function by its name, or by ``module.name``."""
        where, _, what = name.rpartition(".")
        found = [
            module.names[what]
            for module in self.modules.values()
            if isinstance(module.names.get(what), Function) and module.name.endswith(where)
        ]
        if len(found) != 1:
            raise ValueError(f"{len(found)} functions are called {name}")
        return found[0]

"""The C file: what the roots reach, in an order that compilers take."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from cython_to_c.expressions import UNKNOWN, Expressions, safe
from cython_to_c.functions import Body
from cython_to_c.program import (
    Alias,
    Constant,
    Entity,
    Enum,
    Function,
    Program,
    Struct,
    Type,
    Variable,
)
from cython_to_c.tree import assigned, fail, kind

WIDTH = 100


@dataclass
class Style:
    """The names and declarations of the output.

    With a `prefix`, names of types and functions begin with it, and names of constants with its
    capitals; those that are not for users begin with `internal`. Without one, a name that two
    modules use is preceded by that of its module.
    """

    prefix: str = ""
    internal: str = ""
    static: str = "static"
    inline: str = "static inline"
    start: str = "start"
    comments: bool = True
    #: Whether fields with a known value still get it, for readers outside of the output.
    keeps_fixed: bool = False
    #: What has a name that begins with `prefix`: functions, types, and the constants that the .pxd
    #: files of these modules list.
    public: set[Entity] = field(default_factory=set)
    modules: frozenset[str] = frozenset()
    names: dict[Entity, str] = field(default_factory=dict)
    used: dict[str, Entity] = field(default_factory=dict)

    def name(self, entity: Entity) -> str:
        if entity not in self.names:
            name = entity.name
            capital = isinstance(entity, Constant) or name.isupper()
            prefix = self.prefix if self.is_public(entity) else self.internal
            name = (prefix.upper() if capital else prefix) + name
            if name in self.used or safe(name) != name:
                module = entity.module.name.rpartition(".")[2].lstrip("_")
                module = module.upper() if capital else module
                name = f"{module}_{name}"
            assert name not in self.used, name
            self.names[entity] = name
            self.used[name] = entity
        return self.names[entity]

    def is_public(self, entity: Entity) -> bool:
        """Return whether a name is for users."""
        if isinstance(entity, Constant):
            return entity.block.is_declared and entity.module.name in self.modules
        return entity in self.public

    def declare(self, type: Type, name: str) -> str:
        """Return a declaration in C."""
        text = name
        while True:
            what = type[0]
            if what == "ptr":
                text = f"*{text}"
                type = type[1]
                inner = type[1] if type[0] == "const" else type
                if inner[0] in ("array", "function"):
                    text = f"({text})"
            elif what == "array":
                text = f"{text}[{self.size(type)}]"
                type = type[1]
            elif what == "function":
                pairs = zip(type[2], type[3], strict=True)
                arguments = ", ".join(self.declare(t, safe(n)).rstrip() for t, n in pairs)
                text = f"{text}({arguments or 'void'})"
                type = type[1]
            elif what == "const":
                return "const " + self.declare(type[1], text)
            else:
                base = self.name(type[1]) if what == "of" else "int" if what == "bint" else what
                if not text:
                    return str(base)
                return f"{base} {text}"

    def size(self, type: Type) -> str:
        node, module = type[2], type[3] if len(type) > 3 else None
        if kind(node) == "NameNode" and module is not None:
            entity = module.find(node.name)
            if isinstance(entity, Constant):
                return self.name(entity)
        number = Expressions(module.program, module, None).visit(node).const
        if number is None:
            fail(node, "a size that is not a constant")
        return str(number)


def parts_of(type: Type) -> Iterable[Entity]:
    """Return the types and constants that a type consists of."""
    if type[0] == "of":
        yield type[1]
    elif type[0] in ("ptr", "const", "array"):
        yield from parts_of(type[1])
        if type[0] == "array" and kind(type[2]) == "NameNode":
            entity = type[3].find(type[2].name)
            if isinstance(entity, Constant):
                yield entity
    elif type[0] == "function":
        yield from parts_of(type[1])
        for part in type[2]:
            yield from parts_of(part)


class Writer:
    """One translation: the functions that roots reach, with the constants of all their callers."""

    def __init__(self, program: Program, style: Style, roots: Iterable[Function]) -> None:
        self.program, self.style, self.roots = program, style, list(roots)
        self.params: dict[Function, dict[str, object]] = {}
        #: Parameters that functions do not read.
        self.unread: dict[Function, set[str]] = {}
        self.pointed: set[Function] = set()

    def bodies(self) -> dict[Function, Body]:
        # A new constant may turn arguments of further calls into constants, and so on.
        done: dict[Function, Body] = {}
        for _ in range(20):
            last, done = done, {}
            todo = list(self.roots)
            while todo:
                function = todo.pop()
                if function not in done:
                    body = last.get(function) or Body(self, function).write()
                    done[function] = body
                    todo += sorted(done[function].functions, key=lambda f: f.order)
                    todo += self.started(sorted(done[function].variables, key=lambda v: v.order))
            params: dict[Function, dict[str, object]] = {}
            arguments: dict[tuple[Function, str], set[object]] = {}
            effects: set[tuple[Function, str]] = set()
            for body in done.values():
                for function, name, const, pure in body.passed:
                    arguments.setdefault((function, name), set()).add(const)
                    if not pure:
                        effects.add((function, name))
            for (function, name), values in arguments.items():
                (first, *others) = values
                known = not others and function not in self.roots and function not in self.pointed
                if known and isinstance(first, int) and name in assigned(function.node.body):
                    known = False
                params.setdefault(function, {})[name] = first if known else UNKNOWN
            unread = {
                function: {
                    name
                    for name in self.unread.get(function, set()) | body.unread()
                    if (function, name) not in effects
                }
                for function, body in done.items()
                if function not in self.roots and function not in self.pointed
            }
            if params == self.params and unread == self.unread:
                return done
            # Functions that have changed are translated again, and those that call them.
            changed = {
                function
                for function in done
                if params.get(function, {}) != self.params.get(function, {})
                or unread.get(function, set()) != self.unread.get(function, set())
            }
            done = {
                function: body
                for function, body in done.items()
                if changed.isdisjoint(body.functions) and function not in changed
            }
            self.params, self.unread = params, unread
        raise RuntimeError("the constants of the functions do not settle")

    def started(self, variables: Iterable[Variable]) -> list[Function]:
        """Return the functions named by the initial values of variables."""
        found = []
        for variable in variables:
            if kind(variable.start) in ("ListNode", "TupleNode"):
                for item in variable.start.args:  # type: ignore[union-attr]
                    entity = variable.module.find(getattr(item, "name", ""))
                    if isinstance(entity, Function):
                        found.append(entity)
        self.pointed.update(found)
        return found

    # -- the output

    def text(self) -> str:
        bodies = self.bodies()
        ordered = self.in_order(bodies)
        variables = sorted(
            {v for body in bodies.values() for v in body.variables}, key=lambda v: v.order
        )
        constants = {c for body in bodies.values() for c in body.constants}
        types = self.types_of(bodies, variables, constants)
        enums = sorted({c.block.order: c.block for c in constants}.values(), key=lambda e: e.order)
        place = {function: i for i, function in enumerate(ordered)}
        ahead = {
            g for f in ordered for g in bodies[f].functions if place[g] >= place[f] and g is not f
        }
        ahead |= {f for f in self.pointed if f in bodies}
        parts = [self.enum(block) for block in enums]
        structs = [t for t in types if isinstance(t, Struct)]
        parts.append(
            "\n".join(f"typedef struct {self.style.name(s)} {self.style.name(s)};" for s in structs)
            + "\n"
        )
        parts += [self.type(t) for t in types]
        extremes = {name: text for body in bodies.values() for name, text in body.extremes.items()}
        parts += [extremes[name] for name in sorted(extremes)]
        heads = [bodies[f].head + ";" for f in ordered if f in ahead]
        if heads:
            parts.append("\n".join(heads) + "\n")
        if variables:
            parts.append("".join(self.variable(v) for v in variables))
        parts += [bodies[f].text for f in ordered]
        starts = self.starts(bodies)
        if starts and self.style.start:
            parts.append(
                "// Fills the tables: to be called once, before anything else.\n"
                f"{self.style.static} void {self.style.prefix}{self.style.start}(void) {{\n"
                + "".join(f"  {line}\n" for line in starts)
                + "}\n"
            )
        text = "\n".join(part for part in parts if part.strip())
        if not self.style.comments:
            text = re.sub(r"(?m)^ *//.*\n|  // .*$", "", text)
        return text

    def starts(self, bodies: dict[Function, Body]) -> list[str]:
        lines = []
        for module in self.program.modules.values():
            for node in module.starts:
                function = module.names[node.expr.function.name]
                if function in bodies:
                    lines.append(f"{self.style.name(function)}();")
        return lines

    def in_order(self, bodies: dict[Function, Body]) -> list[Function]:
        """Return the functions in an order in which each follows those that it calls."""
        ordered: list[Function] = []
        seen: set[Function] = set()

        def visit(function: Function) -> None:
            if function not in seen:
                seen.add(function)
                for called in sorted(bodies[function].functions, key=lambda f: f.order):
                    visit(called)
                ordered.append(function)

        for function in sorted(bodies, key=lambda f: f.order):
            visit(function)
        return ordered

    def types_of(
        self, bodies: dict[Function, Body], variables: list[Variable], constants: set[Constant]
    ) -> list[Struct | Alias]:
        """Return the named types, each after those that it contains; adds to the constants."""
        ordered: list[Struct | Alias] = []
        seen: set[Entity] = set()

        def visit(entity: Entity) -> None:
            if isinstance(entity, Constant):
                constants.add(entity)
            if entity in seen or not isinstance(entity, Struct | Alias):
                return
            seen.add(entity)
            types = entity.fields.values() if isinstance(entity, Struct) else [entity.type]
            later = []
            for type in types:
                for part in parts_of(type):
                    # For a pointer, the name of a struct is enough.
                    named = isinstance(entity, Alias) or type[0] in ("ptr", "const")
                    if isinstance(part, Struct) and named:
                        later.append(part)
                    else:
                        visit(part)
            ordered.append(entity)
            for part in later:
                visit(part)

        named = [part for v in variables for part in parts_of(v.type)]
        for body in bodies.values():
            for type in [*body.types.values(), body.function.result()]:
                named += parts_of(type)
            words = set(re.findall(r"\w+", body.text))
            named += [e for n, e in self.style.used.items() if n in words]
        for entity in sorted(set(named), key=lambda e: getattr(e, "order", 0)):
            visit(entity)
        return ordered

    def enum(self, block: Enum) -> str:
        lines = [*(f"// {text}" for text in block.comment), "enum {"]
        for constant in block.members:
            lines += self.commented(
                f"  {self.style.name(constant)} = {constant.value},", *constant.comment
            )
        return "\n".join([*lines, "};"]) + "\n"

    def type(self, entity: Struct | Alias) -> str:
        lines = [f"// {text}" for text in entity.comment]
        name = self.style.name(entity)
        if isinstance(entity, Alias):
            lines.append(f"typedef {self.style.declare(entity.type, name)};")
            return "\n".join(lines) + "\n"
        lines.append(f"struct {name} {{")
        for field_name, type in entity.fields.items():
            text = f"  {self.style.declare(type, safe(field_name))};"
            lines += self.commented(text, *entity.comments.get(field_name, ([], [])))
        return "\n".join([*lines, "};"]) + "\n"

    def commented(self, line: str, above: list[str], behind: list[str]) -> list[str]:
        text = "  ".join([line, *(f"// {text}" for text in behind)])
        lines = [f"  // {text}" for text in above]
        if len(behind) < 2 and len(text) <= WIDTH:
            return [*lines, text]
        return [*lines, *(f"  // {text}" for text in behind), line]

    def variable(self, variable: Variable) -> str:
        text = f"static {self.style.declare(variable.type, self.style.name(variable))}"
        start = variable.start
        if kind(start) in ("ListNode", "TupleNode"):
            items = []
            for item in start.args:  # type: ignore[union-attr]
                entity = variable.module.find(getattr(item, "name", ""))
                if not isinstance(entity, Function):
                    fail(item, "a first value that is not a function")
                items.append(self.style.name(entity))
            text += " = {" + ", ".join(items) + "}"
        elif start is not None:
            value = Expressions(self.program, variable.module, None).visit(start)
            text = text.replace("static ", "static const ", 1) + f" = {value.text}"
        comment = "".join(f"// {line}\n" for line in variable.comment)
        return f"{comment}{text};\n"


def publish(style: Style, functions: Iterable[Function]) -> None:
    """Give functions, and the types in their declarations, names for users."""
    todo: list[Entity] = [*functions]
    while todo:
        entity = todo.pop()
        if entity in style.public:
            continue
        style.public.add(entity)
        types: list[Type] = []
        if isinstance(entity, Function):
            types = [entity.result(), *(type for _, type in entity.arguments())]
        elif isinstance(entity, Struct):
            types = [*entity.fields.values()]
        for type in types:
            todo += [part for part in parts_of(type) if isinstance(part, Struct | Alias)]


def translate(
    program: Program, style: Style, roots: Iterable[str], public: Iterable[str] = ()
) -> str:
    """Return the C of everything that `roots` reach, after the C in the sources.

    The functions in `public` get names for users.

    Raises
    ------
    Unsupported
        For what has no translation.
    """
    publish(style, map(program.function, public))
    text = Writer(program, style, [program.function(name) for name in roots]).text()
    words = set(re.findall(r"\w+", text))
    verbatim = [
        "\n".join(line.strip() for line in block.strip().split("\n")) + "\n"
        for block, names in program.verbatim
        if names & words
    ]
    text = "\n".join([*verbatim, wrapped(text)])
    if style.internal:
        macros = {name for _, names in program.verbatim for name in names}
        macros |= {
            x for block, _ in program.verbatim for x in re.findall(r"define (\w+_)\b", block)
        }
        text = re.sub(r"\w+", lambda word: _macro(style, word[0], macros), text)
    return text


def _macro(style: Style, word: str, macros: set[str]) -> str:
    """Return a word, with the prefix of internal names if it is defined by C in the sources."""
    if word not in macros:
        return word
    return (style.internal.upper() if word.isupper() else style.internal) + word


def wrapped(text: str) -> str:
    """Break lines at blanks so that they have at most WIDTH characters where possible."""
    lines: list[str] = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        while len(line) > WIDTH and '"' not in line and "//" not in line:
            at = line.rfind(", ", len(indent), WIDTH) + 1
            if at <= WIDTH // 2:
                at = line.rfind(" ", len(indent), WIDTH + 1)
            if at < 0:
                break
            lines.append(line[:at])
            line = indent + line[at + 1 :]
        lines.append(line)
    return "\n".join(lines)

"""Functions: their statements in C."""

import re
from typing import TYPE_CHECKING

from cython_to_c.expressions import UNKNOWN, Expressions, Value, bare, is_float, literal, safe
from cython_to_c.program import Constant, Function, Struct, Type, Variable
from cython_to_c.tree import Node, assigned, fail, kind, read, walk, writes_memory

if TYPE_CHECKING:
    from cython_to_c.emit import Style, Writer

_CONTROL = ("if", "for", "while", "else", "//", "{", "}")


class Body:
    """One function: its head, its lines, and the names that it uses."""

    def __init__(self, writer: "Writer", function: Function) -> None:
        self.writer, self.function = writer, function
        self.style: Style = writer.style
        self.program, self.module = writer.program, function.module
        self.functions: set[Function] = set()
        self.variables: set[Variable] = set()
        self.constants: set[Constant] = set()
        #: Arguments of calls: function, parameter, constant, whether it has no effects.
        self.passed: list[tuple[Function, str, object, bool]] = []
        self.extremes: dict[str, str] = {}
        self.types: dict[str, Type] = {}
        self.consts: dict[str, int] = {}
        self.expressions = Expressions(self.program, self.module, self)
        self.comments = self.module.comments_of(function.node)
        self.commented: set[int] = set()
        self.lines: list[str] = []
        self.droppable: dict[str, str] = {}  # declaration -> name
        self.depth = 1
        self.serial = 0
        self.flags: list[str | None] = []

    def write(self) -> "Body":
        known = self.writer.params.get(self.function, {})
        unread = self.writer.unread.get(self.function, set())
        arguments, self.arguments = [], []
        for name, type in self.function.arguments():
            const = known.get(name, UNKNOWN)
            self.types[name] = type
            if isinstance(const, int):
                self.consts[name] = const
            elif name not in unread:
                arguments.append(self.style.declare(type, safe(name)))
                self.arguments.append(name)
        self.result = self.function.result()
        name = self.style.name(self.function)
        text = self.style.declare(self.result, f"{name}({', '.join(arguments) or 'void'})")
        inline = "inline" in (self.function.node.modifiers or [])
        self.head = f"{self.style.inline if inline else self.style.static} {text}"
        self.statement(self.function.node.body)
        self.drop_unused()
        return self

    def extreme(self, name: str, type: str) -> str:
        """Return the name of a helper for ``min`` or ``max`` of a type."""
        helper = f"{self.style.internal}{name}_{type.removesuffix('_t')}"
        sign = "<" if name == "min" else ">"
        self.extremes[helper] = (
            f"{self.style.inline} {type} {helper}({type} a, {type} b) {{\n"
            f"  return b {sign} a ? b : a;\n}}\n"
        )
        return helper

    @property
    def text(self) -> str:
        unread = [f"  (void){safe(name)};" for name in sorted(self.unread())]
        return "\n".join([*self.heading(), self.head + " {", *unread, *self.lines, "}"]) + "\n"

    def unread(self) -> set[str]:
        """Return the parameters that the function never reads."""
        code = "\n".join(line.partition("//")[0] for line in self.lines)
        words = set(re.findall(r"(?<![.>\w])\w+", code))
        return {name for name in self.arguments if safe(name) not in words}

    def heading(self) -> list[str]:
        """Return the function's docstring as comment lines."""
        texts = self.program.declarations.get(self.function.key()) or self.function.comment
        lines = [f"// {line}" for line in texts]
        doc = self.function.node.doc
        if doc:
            lines += [f"// {line.strip()}".strip() for line in str(doc).strip().split("\n")]
        return lines

    def drop_unused(self) -> None:
        """Leave out variables that are unused because a branch was left out."""
        while True:
            for i, line in enumerate(self.lines):
                name = self.droppable.get(line.strip())
                if name and not any(
                    re.search(rf"(?<![.>\w]){name}\b", other.partition("//")[0])
                    for j, other in enumerate(self.lines)
                    if i != j
                ):
                    del self.lines[i]
                    break
            else:
                return

    # -- lines

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def note(self, node: Node) -> None:
        """Return the comments of a statement."""
        line = node.pos[1]
        if line in self.commented:
            return
        self.commented.add(line)
        for text in [*self.comments.above(line), *self.comments.behind(line)]:
            self.line(f"// {text}")

    def block(self, node: Node) -> tuple[list[str], bool]:
        """Return the indented lines of a block, and whether nothing can follow it."""
        outer, self.lines = self.lines, []
        self.depth += 1
        ended = self.statement(node)
        self.depth -= 1
        inner, self.lines = self.lines, outer
        return inner, ended

    def put(self, head: str, inner: list[str]) -> None:
        only = inner[0].strip() if len(inner) == 1 else ""
        fits = 2 * self.depth + len(head) + len(only) < 100
        if fits and only.endswith(";") and not only.startswith(_CONTROL):
            self.line(f"{head} {only}")
        else:
            self.line(head + " {")
            self.lines += inner
            self.line("}")

    def fresh(self, stem: str) -> str:
        self.serial += 1
        return f"{stem}{self.serial}_"

    # -- statements; each method returns whether the code after it is dead

    def statement(self, node: Node) -> bool:
        method = getattr(self, kind(node), None)
        if method is None:
            fail(node, f"statement {kind(node)}")
        if kind(node) not in ("StatListNode", "CVarDefNode"):
            self.note(node)
        return bool(method(node))

    def StatListNode(self, node: Node) -> bool:
        return any(self.statement(part) for part in node.stats)

    def PassStatNode(self, node: Node) -> None:
        pass

    def CVarDefNode(self, node: Node) -> None:
        self.note(node)
        for declarator in node.declarators:
            name, type, start = self.module.declared(node.base_type, declarator)
            value = None if start is None else self.expressions.value(start, type)
            self.types[name] = type
            number = bare(type)[0] not in ("ptr", "of", "array", "float", "double")
            kept = number and name not in assigned(self.function.node.body)
            if kept and value is not None and value.const is not None:
                self.consts[name] = value.const
                continue
            first = f" = {value.text}" if value is not None else ""
            self.line(self.style.declare(type, safe(name)) + first + ";")
            if value is None or value.pure:
                self.droppable[self.lines[-1].strip()] = safe(name)

    def ExprStatNode(self, node: Node) -> None:
        if kind(node.expr) not in ("UnicodeNode", "BytesNode", "StringNode"):
            self.line(self.expressions.visit(node.expr).text + ";")

    def is_fixed(self, target: Node) -> bool:
        """Return whether the value of a place is known, so that it is never read."""
        if kind(target) != "AttributeNode":
            return False
        owner = bare(self.expressions.visit(target.obj).type)
        struct = bare(owner[1])[1] if owner[0] == "ptr" else owner[1]
        return isinstance(struct, Struct) and (struct.name, target.attribute) in self.program.fixed

    def SingleAssignmentNode(self, node: Node) -> None:
        if kind(node.lhs) == "TupleNode":
            self.assign_together(node)
            return
        if self.is_fixed(node.lhs):
            self.assign_fixed(node.lhs)
            return
        target = self.expressions.visit(node.lhs)
        value = self.expressions.value(node.rhs, target.type)
        self.line(f"{target.text} = {value.text};")

    def assign_fixed(self, target: Node) -> None:
        """Write the known value of a place, if the style asks for it."""
        if self.style.keeps_fixed:
            owner = self.expressions.visit(target.obj)
            arrow = "->" if bare(owner.type)[0] == "ptr" else "."
            value = self.expressions.visit(target)
            self.line(f"{owner.at(19)}{arrow}{target.attribute} = {value.text};")

    def assign_together(self, node: Node) -> None:
        pairs = []
        for left, right in zip(node.lhs.args, node.rhs.args, strict=True):
            target = self.expressions.visit(left)
            type = target.type
            while type and type[0] == "const":
                type = type[1]
            value = self.expressions.value(right, type)
            name = self.fresh("x")
            self.line(f"{self.style.declare(type or ('int',), name)} = {value.text};")
            pairs.append((target.text, name))
        for place, name in pairs:
            self.line(f"{place} = {name};")

    def CascadedAssignmentNode(self, node: Node) -> None:
        value = self.expressions.value(node.rhs)
        if not value.pure:
            fail(node, "a value with effects for several places")
        for left in node.lhs_list:
            if not self.is_fixed(left):
                self.line(f"{self.expressions.visit(left).text} = {value.text};")

    def InPlaceAssignmentNode(self, node: Node) -> None:
        target = self.expressions.visit(node.lhs)
        value = self.expressions.value(node.rhs, target.type)
        operator = node.operator
        if operator == "/" and not (is_float(target) or is_float(value)):
            fail(node, "true division of whole numbers")
        operator = "/" if operator == "//" else operator
        if value.const == 0 and operator in "+-|^" and not is_float(target):
            return
        if value.const == 1 and operator in "+-":
            place = target.text if target.level >= 19 else f"({target.text})"
            self.line(f"{place}{operator * 2};")
        else:
            self.line(f"{target.text} {operator}= {value.text};")

    def IfStatNode(self, node: Node) -> bool:
        first, all_ended = True, True
        for clause in node.if_clauses:
            test = self.expressions.condition(clause.condition)
            if test.const is not None and not test.const:
                continue
            inner, ended = self.block(clause.body)
            if test.const is not None:
                return self.otherwise(inner, ended, first, all_ended)
            self.put(f"{'' if first else 'else '}if ({test.text})", inner)
            all_ended = all_ended and ended
            first = False
        if node.else_clause is None:
            return False
        inner, ended = self.block(node.else_clause)
        return self.otherwise(inner, ended, first, all_ended)

    def otherwise(self, inner: list[str], ended: bool, only: bool, all_ended: bool) -> bool:
        """Translate the last branch of a chain; it may be the only one left."""
        if only:
            self.lines += [line[2:] for line in inner]
            return ended
        if inner:
            self.put("else", inner)
        return all_ended and ended

    def WhileStatNode(self, node: Node) -> None:
        if node.else_clause is not None:
            fail(node, "while ... else")
        test = self.expressions.condition(node.condition)
        if test.const is not None and not test.const:
            return
        self.flags.append(None)
        inner, _ = self.block(node.body)
        self.flags.pop()
        self.put("for (;;)" if test.const else f"while ({test.text})", inner)

    def ForInStatNode(self, node: Node) -> None:
        call = node.iterator.sequence
        if kind(node.target) != "NameNode" or kind(call) != "SimpleCallNode":
            fail(node, "a loop over something else than a range")
        if kind(call.function) != "NameNode" or call.function.name != "range":
            fail(node, "a loop over something else than a range")
        values = [self.expressions.value(argument) for argument in call.args]
        start, stop = (literal(0), values[0]) if len(values) == 1 else values[:2]
        step = values[2].const if len(values) == 3 else 1
        if not step:
            fail(node, "a step that is not a constant")
        if step < 0 and bare(self.types.get(node.target.name, ("int",)))[0].startswith("u"):
            fail(node, "an unsigned number that counts down")
        flag = None
        if node.else_clause is not None:
            flag = self.fresh("all")
            self.line(f"int {flag} = 1;")
        head, counter = self.loop_head(node, start, stop, step)
        self.flags.append(flag)
        name = node.target.name
        inner, _ = self.block(node.body)
        self.flags.pop()
        if counter != safe(name):
            inner.insert(0, "  " * (self.depth + 1) + f"{safe(name)} = {counter};")
        self.put(head, inner)
        if self.scoped:
            del self.types[name]
        if flag:
            inner, _ = self.block(node.else_clause)
            self.put(f"if ({flag})", inner)

    def loop_head(self, node: Node, start: Value, stop: Value, step: int) -> tuple[str, str]:
        """Return the head of a loop, and its counter.

        Cython computes the bound once, and the loop variable keeps its last value after the loop. C
        does the same only if the loop changes neither and the variable is not read later.
        """
        name, body = node.target.name, node.body
        arguments = node.iterator.sequence.args
        self.scoped = name not in self.types
        if self.scoped:
            self.types[name] = ("int",)
        bounds = arguments[(len(arguments) > 1) : 2]
        inside = [part for argument in bounds for part in walk(argument)]
        names = {p.name for p in inside if kind(p) == "NameNode" and p.name in self.types}
        memory = any(
            kind(p) in ("AttributeNode", "IndexNode", "SimpleCallNode")
            and not (kind(p) == "SimpleCallNode" and getattr(p.function, "name", "") in _EXTREMES)
            for p in inside
        )
        changes = not assigned(body).isdisjoint(names) or (memory and writes_memory(body))
        later = not self.scoped and name in read(self.function.node.body)
        counter = safe(name)
        declared = "int " if self.scoped else ""
        if name in assigned(body) or later:
            counter, declared = self.fresh("i"), "int "
        # Unsigned bounds are compared as signed numbers, because a loop may go below 0.
        wide = bare(stop.type)[0] in ("int64_t", "uint64_t", "long")
        size = "int64_t" if wide else "int"
        bound = stop.at(11)
        if bare(self.types[node.target.name])[0] == "uint64_t":
            size = "uint64_t"
        elif bare(stop.type)[0].startswith("uint") and stop.const is None:
            bound = f"({size}){stop.at(15)}"
        if changes and stop.const is None:
            bound = self.fresh("n")
            if declared and size == "int":
                declared += f"{bound} = {stop.text}, "
            else:
                self.line(f"{size} {bound} = {stop.text};")
        move = f"{counter}++" if step == 1 else f"{counter}--" if step == -1 else ""
        move = move or f"{counter} += {step}"
        compare = "<" if step > 0 else ">"
        head = f"for ({declared}{counter} = {start.text}; {counter} {compare} {bound}; {move})"
        return head, counter

    def ReturnStatNode(self, node: Node) -> bool:
        if node.value is None or kind(node.value) == "NoneNode":
            self.line("return;")
        else:
            self.line(f"return {self.expressions.value(node.value, self.result).text};")
        return True

    def BreakStatNode(self, node: Node) -> bool:
        if self.flags[-1]:
            self.line(f"{self.flags[-1]} = 0;")
        self.line("break;")
        return True

    def ContinueStatNode(self, node: Node) -> bool:
        self.line("continue;")
        return True


_EXTREMES = ("min", "max", "sizeof")

"""Expressions: their translation to C, and their constant values."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cython_to_c.program import Alias, Constant, External, Function, Module, Struct, Type, Variable
from cython_to_c.tree import Node, fail, kind

if TYPE_CHECKING:
    from cython_to_c.emit import Style
    from cython_to_c.functions import Body
    from cython_to_c.program import Program

#: The value of an expression that is not a known constant.
UNKNOWN = object()

_WORDS = """auto register short signed unsigned switch case default do goto union enum struct
    typedef     static extern volatile restrict inline class new this template public private"""
_KEYWORDS = frozenset(_WORDS.split())
_ATOM, _POSTFIX, _UNARY, _TERNARY = 20, 19, 15, 3
_LEVELS = {
    **dict.fromkeys(("*", "/", "%"), 13),
    **dict.fromkeys(("+", "-"), 12),
    **dict.fromkeys(("<<", ">>"), 11),
    **dict.fromkeys(("<", "<=", ">", ">="), 10),
    **dict.fromkeys(("==", "!="), 9),
    "&": 8,
    "^": 7,
    "|": 6,
    "&&": 5,
    "||": 4,
}
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "*": lambda x, y: x * y,
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
    "<<": lambda x, y: x << y,
    ">>": lambda x, y: x >> y,
    "/": lambda x, y: int(x / y),
    "%": lambda x, y: x - y * int(x / y),
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}
_RANKS = ["int", "uint32_t", "long", "int64_t", "uint64_t"]
_HINTS = ("likely_", "unlikely_")
_PURE = (*_HINTS, "low_first_", "lowest_bit_", "count_bits_", "sqrtf")


@dataclass(frozen=True, slots=True)
class Value:
    """An expression in C: text, precedence, type, constant value if known, and two flags.

    `pure`: it has no effects. `truth`: it is 0 or 1 (None: C and Python give it different values,
    of which only the truth is the same).
    """

    text: str
    level: int = _ATOM
    type: Type | None = None
    const: int | None = None
    pure: bool = True
    truth: bool | None = False
    string: bytes | None = None

    def at(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"

    def inside(self, operator: str, right: bool) -> str:
        """Return the value as an operand, in parentheses where compilers warn without."""
        level = _LEVELS[operator]
        wanted = level + 1 if right and operator not in ("&&", "||") else level
        if operator in ("<<", ">>"):
            wanted = max(wanted, 13 if self.level == 12 else wanted)
        elif operator in ("&", "^", "|"):
            if 5 < self.level <= 12 and self.level != level:
                wanted = 13
        elif operator in ("==", "!=", "<", "<=", ">", ">="):
            if 5 < self.level <= 10:
                wanted = 11
        elif operator == "||" and self.level == 5:
            wanted = 6
        return self.at(wanted)


BIT: Type = ("bint",)
INT: Type = ("int",)


def safe(name: str) -> str:
    """Return a name that is not a keyword of C."""
    return name + "_" if name in _KEYWORDS else name


def literal(number: int, truth: bool = False) -> Value:
    level = _ATOM if number >= 0 else _UNARY
    return Value(str(number), level, INT, number, truth=truth)


def bare(type: Type | None) -> Type:
    """Return a type without const, with names of types resolved."""
    while type and (type[0] == "const" or (type[0] == "of" and isinstance(type[1], Alias))):
        type = type[1] if type[0] == "const" else type[1].type
    return type or ("",)


def is_float(value: Value) -> bool:
    return bare(value.type)[0] in ("float", "double")


def as_numbers(a: Value, b: Value) -> tuple[Value, Value]:
    """Return operands of a comparison with a float, where C++20 deprecates names of constants."""
    first, second = (v if v.const is None or is_float(v) else literal(v.const) for v in (a, b))
    return first, second


def beside_float(node: Node, value: Value) -> Value:
    """Return an operand of an operation on floats as Cython writes it, if it is a constant.

    Cython makes whole numbers in the source doubles, so that what is computed with them is rounded
    to a float only where it is assigned: ``e / (e + 2)`` has two roundings in C, one in Cython.
    Names of constants stay whole numbers there; here they are their numbers, because C++20
    deprecates arithmetic of enum constants and floats.
    """
    if value.const is None or is_float(value):
        return value
    if is_number(node):
        return replace(value, text=f"{value.const}.0", type=("double",))
    return literal(value.const)


def is_number(node: Node) -> bool:
    """Return whether an expression consists of whole numbers, without names."""
    if kind(node) == "UnaryMinusNode":
        return is_number(node.operand)
    if hasattr(node, "operand1"):
        return is_number(node.operand1) and is_number(node.operand2)
    return kind(node) == "IntNode"


def is_bit(type: Type | None) -> bool:
    return bare(type) == BIT


def pointed(type: Type) -> Type:
    """Return the type that a pointer type points to."""
    inner: Type = bare(type)[1]
    return inner


def wider(a: Type | None, b: Type | None) -> Type:
    """Return the type of a sum of two integers, as far as it matters."""
    names = [bare(a)[0], bare(b)[0]]
    return (_RANKS[max(_RANKS.index(name) if name in _RANKS else 0 for name in names)],)


class Expressions:
    """The expressions of a function, or of a module's constants."""

    def __init__(self, program: "Program", module: Module, body: "Body | None") -> None:
        self.program, self.module, self.body = program, module, body

    @property
    def style(self) -> "Style":
        assert self.body is not None
        return self.body.style

    def visit(self, node: Node) -> Value:
        method = getattr(self, kind(node), None)
        if method is None:
            fail(node, f"expression {kind(node)}")
        value: Value = method(node)
        return value

    def value(self, node: Node, type: Type | None = None) -> Value:
        """Translate an expression whose value is used."""
        value = self.visit(node)
        if value.truth is None and not is_bit(type):
            fail(node, "the value of and/or is another one in C")
        if value.string is not None and type is not None and bare(type)[0] != "ptr":
            return self.character(node, value)
        return value

    def condition(self, node: Node) -> Value:
        """Translate an expression of which only the truth is used."""
        value = self.visit(node)
        return replace(value, truth=True) if value.truth is None else value

    # -- atoms

    def IntNode(self, node: Node) -> Value:
        text = node.value.replace("_", "")
        number = int(text, 0)
        suffix = (node.unsigned or "") + (node.longness or "")
        if not suffix and number <= 0x7FFFFFFF:
            return literal(number)
        short = f"0x{number:X}" if number > 0xFFFF else str(number)
        if not suffix:
            return Value(short, _ATOM, ("long",), number)
        return Value(short + suffix, _ATOM, ("uint64_t",) if "U" in suffix else ("int64_t",))

    def FloatNode(self, node: Node) -> Value:
        return Value(node.value, _ATOM, ("double",))

    def BoolNode(self, node: Node) -> Value:
        return literal(int(node.value), True)

    def NullNode(self, node: Node) -> Value:
        return Value("NULL", _ATOM, ("ptr", ("void",)), 0)

    def BytesNode(self, node: Node) -> Value:
        raw = node.value
        data = raw.encode() if isinstance(raw, str) else bytes(raw)
        text = data.decode("ascii")
        for a, b in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
            text = text.replace(a, b)
        return Value(f'"{text}"', _ATOM, ("ptr", ("const", ("char",))), string=data)

    UnicodeNode = StringNode = BytesNode

    def CharNode(self, node: Node) -> Value:
        return self.character(node, self.BytesNode(node))

    def character(self, node: Node, value: Value) -> Value:
        if value.string is None or len(value.string) != 1:
            fail(node, "a text in place of a character")
        text = value.text[1:-1].replace('\\"', '"').replace("'", "\\'")
        return Value(f"'{text}'", _ATOM, ("char",))

    def NameNode(self, node: Node) -> Value:
        name = node.name
        if self.body is not None:
            if name in self.body.consts:
                return literal(self.body.consts[name])
            if name in self.body.types:
                type = self.body.types[name]
                return Value(safe(name), _ATOM, type, truth=is_bit(type))
        if name == "NULL":
            return self.NullNode(node)
        entity = self.module.find(name)
        if isinstance(entity, Constant):
            return self.constant(entity)
        if name in self.program.fixed:
            return literal(self.program.fixed[name])
        if isinstance(entity, Function):
            assert self.body is not None
            self.body.functions.add(entity)
            return Value(self.style.name(entity), _ATOM, ("function", entity.result(), [], []))
        if isinstance(entity, Variable):
            assert self.body is not None
            self.body.variables.add(entity)
            return Value(self.style.name(entity), _ATOM, entity.type)
        if isinstance(entity, External):
            return Value(entity.name, _ATOM, entity.type)
        fail(node, f"unknown name {name}")

    def constant(self, entity: Constant) -> Value:
        if self.body is None:
            return literal(entity.value)
        self.body.constants.add(entity)
        return Value(self.style.name(entity), _ATOM, INT, entity.value)

    # -- places

    def AttributeNode(self, node: Node) -> Value:
        owner = self.visit(node.obj)
        of = bare(owner.type)
        behind = bare(pointed(of)) if of[0] == "ptr" else of
        if behind[0] != "of" or not isinstance(behind[1], Struct):
            fail(node, f"{owner.text} is not a struct")
        struct: Struct = behind[1]
        if node.attribute not in struct.fields:
            fail(node, f"{struct.name} has no field {node.attribute}")
        key = struct.name, node.attribute
        type = struct.fields[node.attribute]
        if key in self.program.fixed:
            if bare(type)[0] == "ptr":
                return Value("NULL", _ATOM, type, 0)
            return literal(self.program.fixed[key])
        name = safe(node.attribute)
        if of[0] == "ptr" and not (owner.text.startswith("&") and owner.level == _UNARY):
            text = f"{owner.at(_POSTFIX)}->{name}"
        elif of[0] == "ptr":
            text = f"{owner.text[1:]}.{name}"
        else:
            text = f"{owner.at(_POSTFIX)}.{name}"
        return Value(text, _POSTFIX, type, pure=owner.pure, truth=is_bit(type))

    def IndexNode(self, node: Node) -> Value:
        base, index = self.visit(node.base), self.value(node.index)
        type = bare(base.type)
        if type[0] not in ("ptr", "array"):
            fail(node, f"{base.text} has no parts")
        inner: Type = type[1]
        if index.const == 0 and type[0] == "ptr":
            return Value(f"*{base.at(_UNARY)}", _UNARY, inner, pure=base.pure, truth=is_bit(inner))
        pure = base.pure and index.pure
        text = f"{base.at(_POSTFIX)}[{index.text}]"
        return Value(text, _POSTFIX, inner, pure=pure, truth=is_bit(inner))

    def AmpersandNode(self, node: Node) -> Value:
        value = self.visit(node.operand)
        if value.text.startswith("*") and value.level == _UNARY:
            return Value(value.text[1:], _POSTFIX, ("ptr", value.type), pure=value.pure)
        return Value(f"&{value.at(_UNARY)}", _UNARY, ("ptr", value.type), pure=value.pure)

    def TypecastNode(self, node: Node) -> Value:
        _, type, _ = self.module.declared(node.base_type, node.declarator)
        value = self.value(node.operand, type)
        if bare(type)[0] == "of":
            fail(node, "a cast to a struct")
        if value.const is not None and bare(type)[0] in ("int", "int32_t", "int64_t", "long"):
            return replace(value, type=type)
        if value.const == 0 and bare(type)[0] == "ptr":
            return Value("NULL", _ATOM, type, 0)
        text = f"({self.style.declare(type, '')}){value.at(_UNARY)}"
        return Value(text, _UNARY, type, pure=value.pure)

    def SizeofVarNode(self, node: Node) -> Value:
        operand = node.operand
        if kind(operand) == "NameNode" and not (self.body and operand.name in self.body.types):
            entity = self.module.find(operand.name)
            if isinstance(entity, Struct | Alias):
                return self.size_of(self.style.declare(("of", entity), ""))
            if not isinstance(entity, Variable):
                return self.size_of(self.style.declare((operand.name,), ""))
        return self.size_of(self.visit(operand).text)

    def SizeofTypeNode(self, node: Node) -> Value:
        _, type, _ = self.module.declared(node.base_type, node.declarator)
        return self.size_of(self.style.declare(type, ""))

    def size_of(self, text: str) -> Value:
        return Value(f"sizeof({text})", _ATOM, ("uint64_t",))

    # -- operators

    def UnaryMinusNode(self, node: Node) -> Value:
        value = self.value(node.operand)
        if value.const is not None and not is_float(value):
            return literal(-value.const)
        return self.unary("-", value)

    def TildeNode(self, node: Node) -> Value:
        return self.unary("~", self.value(node.operand))

    def unary(self, operator: str, value: Value) -> Value:
        text = f"({value.text})" if value.text.startswith(operator) else value.at(_UNARY)
        return Value(operator + text, _UNARY, value.type, pure=value.pure)

    def NotNode(self, node: Node) -> Value:
        value = self.condition(node.operand)
        if value.const is not None:
            return literal(int(not value.const), True)
        return Value(f"!{value.at(_UNARY)}", _UNARY, BIT, pure=value.pure, truth=True)

    def binary(self, node: Node) -> Value:
        operator = node.operator
        a, b = self.value(node.operand1), self.value(node.operand2)
        if a.string is not None or b.string is not None:
            a, b = self.characters(node, a, b)
        floats = is_float(a) or is_float(b)
        if operator == "/" and not floats:
            fail(node, "true division of whole numbers")
        if operator == "//" and floats:
            fail(node, "floor division of floats")
        if operator == "**":
            fail(node, "a power")
        operator = "/" if operator == "//" else operator
        type = self.type_of(a, b)
        if not floats:
            simple = self.simplified(operator, a, b)
            if simple is not None:
                return simple
        else:
            a, b = beside_float(node.operand1, a), beside_float(node.operand2, b)
        text = f"{a.inside(operator, False)} {operator} {b.inside(operator, True)}"
        return Value(text, _LEVELS[operator], type, pure=a.pure and b.pure)

    AddNode = SubNode = MulNode = DivNode = ModNode = IntBinopNode = BitwiseOrNode = binary
    PowNode = binary

    def simplified(self, operator: str, a: Value, b: Value) -> Value | None:
        """Return the value of an operation on integers, computed here."""
        if a.const is not None and b.const is not None:
            result = _OPERATIONS[operator](a.const, b.const)
            if abs(result) < 2**31:
                return literal(result)
        if operator in ("+", "|", "^") and a.const == 0 and bare(b.type)[0] != "":
            return b
        if operator in ("+", "-", "|", "^", "<<", ">>") and b.const == 0:
            return a
        if operator == "*" and 1 in (a.const, b.const):
            return a if b.const == 1 else b
        if operator in ("*", "&") and 0 in (a.const, b.const) and a.pure and b.pure:
            return literal(0)
        return None

    def type_of(self, a: Value, b: Value) -> Type:
        for value in (a, b):
            if bare(value.type)[0] == "ptr":
                return value.type or INT
            if bare(value.type)[0] == "array":
                return ("ptr", bare(value.type)[1])
        names = {bare(a.type)[0], bare(b.type)[0]}
        if "double" in names:
            return ("double",)
        return ("float",) if "float" in names else wider(a.type, b.type)

    def characters(self, node: Node, a: Value, b: Value) -> tuple[Value, Value]:
        """Turn a one-letter text beside a number into a character."""
        if a.string is not None and bare(b.type)[0] != "ptr":
            a = self.character(node, a)
        if b.string is not None and bare(a.type)[0] != "ptr":
            b = self.character(node, b)
        return a, b

    def PrimaryCmpNode(self, node: Node) -> Value:
        a, b = self.value(node.operand1), self.value(node.operand2)
        result = self.compare(node, node.operator, a, b)
        more = node.cascade
        while more is not None:
            if not b.pure:
                fail(node, "a chain of comparisons with a call in its middle")
            c = self.value(more.operand2)
            result = self.both("&&", result, self.compare(node, more.operator, b, c))
            b, more = c, more.cascade
        return result

    def compare(self, node: Node, operator: str, a: Value, b: Value) -> Value:
        operator = {"is": "==", "is_not": "!="}.get(operator, operator)
        if operator not in _COMPARISONS:
            fail(node, f"comparison {operator}")
        a, b = self.characters(node, a, b)
        if a.const is not None and b.const is not None:
            return literal(int(_COMPARISONS[operator](a.const, b.const)), True)
        if is_float(a) or is_float(b):
            a, b = as_numbers(a, b)
        pure = a.pure and b.pure
        if b.text == "NULL" and operator == "==":
            return Value(f"!{a.at(_UNARY)}", _UNARY, BIT, pure=pure, truth=True)
        text = f"{a.inside(operator, False)} {operator} {b.inside(operator, True)}"
        return Value(text, _LEVELS[operator], BIT, pure=pure, truth=True)

    def BoolBinopNode(self, node: Node) -> Value:
        a, b = self.visit(node.operand1), self.visit(node.operand2)
        value = self.both("&&" if node.operator == "and" else "||", a, b)
        if not value.truth and value.const is None:
            return replace(value, truth=None)
        return value

    def both(self, operator: str, a: Value, b: Value) -> Value:
        for known, other in ((a, b), (b, a)):
            if known.const is not None:
                if (operator == "&&") == bool(known.const):
                    return other
                if known is a or other.pure:
                    return literal(int(operator == "||"), True)
        text = f"{a.inside(operator, False)} {operator} {b.inside(operator, True)}"
        truth = bool(a.truth and b.truth)
        return Value(text, _LEVELS[operator], BIT, pure=a.pure and b.pure, truth=truth)

    def CondExprNode(self, node: Node) -> Value:
        test = self.condition(node.condition if hasattr(node, "condition") else node.test)
        if test.const is not None:
            return self.visit(node.true_val if test.const else node.false_val)
        a, b = self.value(node.true_val), self.value(node.false_val)
        if "ptr" in (bare(a.type)[0], bare(b.type)[0]):
            type = b.type if a.text == "NULL" else a.type
        else:
            type = self.type_of(a, b)
        text = f"{test.at(_TERNARY + 1)} ? {a.at(_TERNARY)} : {b.at(_TERNARY)}"
        pure = a.pure and b.pure and test.pure
        return Value(text, _TERNARY, type, pure=pure, truth=bool(a.truth and b.truth))

    # -- calls

    def SimpleCallNode(self, node: Node) -> Value:
        function = self.listed(node.function)
        if kind(function) == "NameNode" and not (self.body and function.name in self.body.types):
            if function.name in ("min", "max"):
                return self.extreme(function.name, [self.value(arg) for arg in node.args])
            entity = self.module.find(function.name)
            if isinstance(entity, Function):
                return self.call(node, entity)
            if isinstance(entity, External):
                return self.library(node, entity)
        target = self.visit(function)
        type = bare(target.type)
        if type[0] == "ptr":
            type = bare(pointed(type))
        if type[0] != "function":
            fail(node, f"{target.text} is not a function")
        arguments = [self.value(arg, t) for arg, t in zip(node.args, type[2], strict=True)]
        text = ", ".join(argument.text for argument in arguments)
        return Value(f"{target.at(_POSTFIX)}({text})", _POSTFIX, type[1], pure=False)

    def listed(self, function: Node) -> Node:
        """Return the name of a function that is at a known index of a list, or the node itself."""
        if kind(function) != "IndexNode" or kind(function.base) != "NameNode":
            return function
        variable = self.module.find(function.base.name)
        index = self.value(function.index).const
        if index is None or not isinstance(variable, Variable):
            return function
        if kind(variable.start) not in ("ListNode", "TupleNode"):
            return function
        return variable.start.args[index]  # type: ignore[union-attr]

    def call(self, node: Node, function: Function) -> Value:
        assert self.body is not None
        self.body.functions.add(function)
        known = self.body.writer.params.get(function, {})
        unread = self.body.writer.unread.get(function, set())
        texts = []
        for argument, (name, type) in zip(node.args, function.arguments(), strict=True):
            value = self.value(argument, type)
            scalar = bare(type)[0] not in ("ptr", "of")
            const = value.const if value.const is not None and scalar else UNKNOWN
            self.body.passed.append((function, name, const, value.pure))
            if known.get(name, UNKNOWN) is UNKNOWN and name not in unread:
                texts.append(value.text)
        result = function.result()
        text = f"{self.style.name(function)}({', '.join(texts)})"
        return Value(text, _POSTFIX, result, pure=False, truth=is_bit(result))

    def library(self, node: Node, function: External) -> Value:
        type = bare(function.type)
        result: Type = type[1]
        if function.name in _HINTS:
            arguments = [self.condition(arg) for arg in node.args]
            if arguments[0].const is not None:
                return arguments[0]
        else:
            arguments = [self.value(arg) for arg in node.args]
        pure = function.name in _PURE and all(argument.pure for argument in arguments)
        text = f"{function.name}({', '.join(argument.text for argument in arguments)})"
        return Value(text, _POSTFIX, result, pure=pure, truth=is_bit(result))

    def extreme(self, name: str, values: list[Value]) -> Value:
        """Translate ``min`` or ``max``: the first of equal values, as in Python."""
        if all(value.const is not None for value in values):
            return literal({"min": min, "max": max}[name](v.const for v in values))  # type: ignore
        result = values[0]
        for value in values[1:]:
            names = {bare(result.type)[0], bare(value.type)[0]}
            if "double" in names or "float" in names:
                type: Type = ("double",) if "double" in names else ("float",)
            else:
                type = ("int64_t",) if wider(result.type, value.type)[0] in _RANKS[2:] else INT
                if "uint32_t" in names:
                    type = ("int64_t",)
            assert self.body is not None
            helper = self.body.extreme(name, type[0])
            pure = result.pure and value.pure
            result = Value(f"{helper}({result.text}, {value.text})", _POSTFIX, type, pure=pure)
        return result

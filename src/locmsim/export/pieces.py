"""C text as a list of declarations, of which those that are needed can be chosen.

The text is that of the templates: a declaration begins and ends with a line. This file needs the
standard library only, as the build uses it before the package can be imported.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
_WORD = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)")


@dataclass(frozen=True)
class Piece:
    """A declaration with the comments above it, or a preprocessor condition with what is in it.

    Attributes
    ----------
    text
        Its lines.
    names
        The names that it declares. A piece without any stays in every selection.
    words
        All names in it.
    """

    text: str
    names: frozenset[str]
    words: frozenset[str]


def pieces(text: str) -> list[Piece]:
    """Split C text; the pieces' texts add up to it."""
    found: list[Piece] = []
    lines: list[str] = []
    depth = conditions = 0
    for line in text.splitlines(keepends=True):
        lines.append(line)
        code = _NOISE.sub("", line).strip()
        if code.startswith("#"):
            conditions += bool(re.match(r"#\s*if", code)) - bool(re.match(r"#\s*endif", code))
            ended = depth == 0 and conditions == 0 and not line.rstrip().endswith("\\")
        else:
            depth += code.count("{") + code.count("(") - code.count("}") - code.count(")")
            ended = depth == 0 and conditions == 0 and code.endswith((";", "}"))
        if ended:
            found.append(_piece("".join(lines)))
            lines = []
    if lines:
        found.append(_piece("".join(lines)))
    return found


def _piece(text: str) -> Piece:
    code = _NOISE.sub(" ", text)
    names = set(re.findall(r"#\s*define\s+(\w+)", code))
    plain = re.sub(r"(?m)^\s*#.*$", "", code)
    if not names or "(" in plain:
        names |= set(_declared(plain))
    return Piece(text, frozenset(names), frozenset(_WORD.findall(code)))


def _declared(code: str) -> Iterable[str]:
    """Return the names that one declaration declares."""
    code = _ATTRIBUTE.sub("", code).strip()
    if code.startswith("enum"):
        return re.findall(r"(\w+)\s*(?:=[^,}]*)?[,}]", code.partition("{")[2])
    if code.startswith("struct"):
        return _WORD.findall(code)[1:2]
    head = re.split(r"[={;]", code)[0]
    pointer = re.search(r"\(\s*\*\s*(?:const\s+)?(\w+)", head)
    if pointer is not None and head.index("(") == pointer.start():
        return [pointer[1]]
    head = re.split(r"[(\[]", head)[0]
    return _WORD.findall(head)[-1:]


def needed(text: str, roots: Collection[str], kept: str = "") -> str:
    """Return the pieces of a text that the roots need, in their order.

    Parameters
    ----------
    text : str
        C text.
    roots : collection of str
        Names that are wanted.
    kept : str
        Enums with a name that begins like this are kept in any case.
    """
    parts = pieces(text)
    by_name: dict[str, list[int]] = {}
    todo = [*roots]
    chosen: set[int] = set()
    for i, part in enumerate(parts):
        for name in part.names:
            by_name.setdefault(name, []).append(i)
        constants = "enum {" in part.text and any(name.startswith(kept) for name in part.names)
        if not part.names or (kept and constants):
            chosen.add(i)
            todo += part.words
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for i in by_name.get(name, ()):
            if i not in chosen:
                chosen.add(i)
                todo += parts[i].words
    return "".join(part.text for i, part in enumerate(parts) if i in chosen)


def public_fields(text: str, prefix: str) -> set[str]:
    """Return the names of the fields of structs whose names begin with `prefix`."""
    fields: set[str] = set()
    for part in pieces(text):
        code = _NOISE.sub(" ", part.text).strip()
        if code.startswith(f"struct {prefix}"):
            body = code[code.index("{") + 1 : code.rindex("}")]
            for declaration in body.split(";"):
                for item in declaration.split(","):
                    fields.update(re.findall(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", item))
    return fields

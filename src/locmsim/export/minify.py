"""Minification of C: no comments and blanks, short names, numbers instead of constants.

>>> minify("enum { MANY = 5 };\\nstatic int twice(int number) { return MANY * number; }\\n")
'static int a(int b){return 5*b;}\\n'
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from locmsim.export.pieces import Piece, pieces, public_fields

_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t NULL
memcpy memset memmove memcmp strlen malloc calloc free exit printf fprintf sprintf fgets fflush atoi
atol atoll putchar puts stdin stdout stderr FILE exp expf sqrt sqrtf tanhf fabsf main argc argv
fputs timespec timespec_get clock_gettime CLOCK_MONOTONIC TIME_UTC tv_sec tv_nsec j0 j1 jn y0 y1 yn
WIN32_LEAN_AND_MEAN LARGE_INTEGER QuadPart QueryPerformanceFrequency QueryPerformanceCounter
defined define if ifdef ifndef elif else endif include pragma
__builtin_expect __builtin_bswap64 __builtin_ctz __builtin_popcount __asm__ __attribute__
always_inline unused __GNUC__ __clang__ __OPTIMIZE__ __BYTE_ORDER__ __ORDER_BIG_ENDIAN__ _WIN32
_GNU_SOURCE __cplusplus
"""
#: Names of C, its library and compilers, which are kept.
_KEPT = frozenset(_WORDS.split())
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|'
    r"<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|[^\s\w]"
)
_SYMBOLS = "<<= >>= ... -> ++ -- << >> <= >= == != && || -= += *= /= %= &= |= ^= // /* ##"
_OPERATORS = frozenset(_SYMBOLS.split())
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.S)
_CONSTANTS = re.compile(r"\benum \{([^}]*)\};")
#: A line ends after the declaration that makes it this long: editors are slow with long lines.
_WIDTH = 600


def minify(text: str, keep: Collection[str] = (), *, prefix: str = "") -> str:
    """Return the same program in fewer characters.

    Parameters
    ----------
    text : str
        The text of one file, in which each name has one meaning: names are replaced one by one, so
        that they cannot collide.
    keep : collection of str
        Further names to keep, in addition to those of C and the library functions of exported bots.
    prefix : str
        For a header: the beginning, in small letters, of the names for its users. These stay, as do
        the fields of such structs. Other names outside of functions begin with J, K or L, and none
        of the macros that stand for frequent words is left at the end.
    """
    text = _COMMENT.sub(lambda found: found[1] or " ", text).replace("\\\n", " ")
    for_users = _names_for_users(text, prefix) if prefix else set()
    text, constants, enums = _without_constants(text, for_users)
    parts = [_Part(piece) for piece in _with_types(pieces(text))]
    names = _Names(parts, {*keep} | for_users, constants, prefix)
    begin = _begin(parts)
    texts = [part.short(names) for part in parts]
    head, rest = _lines_of(texts[:begin]), _lines_of(texts[begin:])
    text = f"{head}\n{names.definitions()}{enums}{rest}\n{names.ends() if prefix else ''}"
    return re.sub(r"\n+", "\n", text).strip("\n") + "\n"


def _with_types(found: Sequence[Piece]) -> Iterator[Piece]:
    """Yield declarations, with the types of structs declared in the structs where possible."""
    once = {}
    for at, piece in enumerate(found):
        (name,) = piece.names if len(piece.names) == 1 else ("",)
        if re.fullmatch(rf"\s*typedef struct {name} {name};\s*", piece.text) and name:
            uses = (i for i in range(at + 1, len(found)) if name in found[i].words)
            end = next(uses, at)
            if found[end].text.lstrip().startswith(f"struct {name} {{"):
                once[name] = end
    for at, piece in enumerate(found):
        (name,) = piece.names if len(piece.names) == 1 else ("",)
        if once.get(name) == at:
            text = piece.text.strip()
            yield Piece(f"typedef {text[:-1]}{name};\n", piece.names, piece.words)
        elif name not in once:
            yield piece


def _lines_of(texts: Iterable[str]) -> str:
    """Join declarations in lines of a certain length."""
    column = 0
    parts: list[str] = []
    for text in texts:
        if column > _WIDTH:
            parts.append("\n")
            column = 0
        parts.append(text)
        column = len(text) - text.rfind("\n") - 1 if "\n" in text else column + len(text)
    return "".join(parts)


class _Part:
    """A declaration as tokens: lines of the preprocessor, and the code between them."""

    def __init__(self, piece: Piece) -> None:
        self.lines: list[tuple[str, list[str]]] = []
        for is_directive, line in _lines(piece.text):
            tokens = _TOKEN.findall(line)
            if not is_directive:
                tokens = _joined(_TOKEN.findall(_without_signs(_squeezed(tokens))))
            self.lines.append((line if is_directive else "", tokens))
        self.has_code = any(tokens and not line for line, tokens in self.lines)
        self.declared = piece.names
        self.is_struct = re.match(r"\s*(typedef )?struct \w+\s*\{", piece.text) is not None

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield each name, with "field", "directive" or "code"."""
        for line, tokens in self.lines:
            if _is_verbatim(line):
                continue
            for at, token in enumerate(tokens):
                if token[0].isalpha() or token[0] == "_" or _is_long_number(token):
                    is_field = at > 0 and tokens[at - 1] in (".", "->")
                    is_field |= self.is_struct and token not in self.declared
                    yield token, "directive" if line else "field" if is_field else "code"

    def short(self, names: "_Names") -> str:
        """Return the text with short names."""
        local = names.local(self)
        text = ""
        for line, tokens in self.lines:
            if _is_verbatim(line):
                text += f"\n{line}\n"
            elif line:
                text += f"\n{_directive(line, [names.in_directive(token) for token in tokens])}\n"
            else:
                new = [
                    names.field(token)
                    if at > 0 and tokens[at - 1] in (".", "->")
                    else local.get(token, token)
                    for at, token in enumerate(tokens)
                ]
                text += _squeezed(new, tokens)
        return text


class _Names:
    """The short names of a text: file scope, fields and the inside of functions are separate."""

    def __init__(
        self,
        parts: Sequence[_Part],
        keep: set[str],
        constants: Mapping[str, str],
        prefix: str,
    ) -> None:
        self.kept = _KEPT | keep
        self.constants = constants
        counts = {place: Counter[str]() for place in ("field", "directive", "code")}
        for part in parts:
            for name, place in part.names():
                counts[place][name] += 1
        external = {name for part in parts for name in part.declared}
        self.unchanged = {*constants, *self.kept}
        in_code = counts["code"] + counts["field"]
        spare = len("#define xxx \n#undef xxx\n" if prefix else "#define xx \n")
        many = 3 if prefix else 2
        #: Frequent words become macros, which saves far more than their definitions take.
        self.aliases = [
            word
            for word in sorted({*_WORDS.split(), *keep, *filter(_is_long_number, in_code)})
            if in_code[word] * (len(word) - many) > spare + len(word)
            and word not in constants
            and (prefix or word not in keep)
        ]
        total = in_code + counts["directive"]
        wanted = {name for name in total if name in external or counts["directive"][name]}
        wanted = {name for name in wanted - self.unchanged if not name[0].isdigit()}
        ranked = sorted(wanted | {*self.aliases}, key=lambda name: (-total[name], name))
        short = (
            name
            for name in _names()
            if name not in self.kept and (not prefix or (name[0] in "JKL" and len(name) > 1))
        )
        self.outer = {name: next(short) for name in ranked}
        macros = {self.outer[name] for name in self.aliases}
        macros |= {self.outer[name] for name in counts["directive"] if name in self.outer}
        self.reserved = self.kept | macros
        fields = [name for name, _ in counts["field"].most_common() if name not in self.unchanged]
        # In C++ a field must not be called like a type in its struct.
        structs = [part for part in parts if part.is_struct]
        types = {self.outer.get(name) for part in structs for name, _ in part.names()}
        free = (name for name in _names() if name not in self.reserved and name not in types)
        self.fields = {name: next(free) for name in fields}
        self.fields |= {name: self.outer[name] for name in self.aliases}

    def local(self, part: _Part) -> Mapping[str, str]:
        """Return the names in one declaration, except fields behind a point or an arrow."""
        if part.is_struct:
            return {**self.fields, **self.outer, **self.constants}
        used = Counter(name for name, place in part.names() if place == "code")
        own = [name for name, _ in used.most_common() if self.is_local(name)]
        reserved = self.reserved | {self.outer.get(name, name) for name in used if name not in own}
        free = (name for name in _names() if name not in reserved)
        return {**self.outer, **self.constants, **{name: next(free) for name in own}}

    def is_local(self, name: str) -> bool:
        known = name in self.outer or name in self.unchanged
        return not known and not name[0].isdigit()

    def field(self, name: str) -> str:
        return self.fields.get(name, name)

    def in_directive(self, name: str) -> str:
        if name in self.aliases:
            return name
        return self.constants.get(name) or self.outer.get(name, name)

    def definitions(self) -> str:
        return "".join(f"#define {self.outer[word]} {word}\n" for word in self.aliases)

    def ends(self) -> str:
        return "".join(f"#undef {self.outer[word]}\n" for word in self.aliases)


def _is_verbatim(line: str) -> bool:
    return re.match(r"#\s*(include|pragma)", line) is not None


def _names_for_users(text: str, prefix: str) -> set[str]:
    words = {word for word in re.findall(r"\w+", text) if word.lower().startswith(prefix)}
    return words | {name for name in public_fields(text, prefix) if not name.startswith("_")}


def _without_constants(text: str, for_users: set[str]) -> tuple[str, dict[str, str], str]:
    """Return the text without declarations of constants, their values, and those for users."""
    constants: dict[str, str] = {}
    kept: list[str] = []
    following = "0"
    for block in _CONSTANTS.findall(text):
        for item in filter(None, map(str.strip, block.split(","))):
            name, _, value = map(str.strip, item.partition("="))
            constants[name] = f"({value})" if value.startswith("-") else value
            if name in for_users:
                kept.append(name if value == following else f"{name}={value}")
                following = str(int(value) + 1)
    enums = f"enum{{{','.join(kept)}}};\n" if kept else ""
    return _CONSTANTS.sub("", text), constants, enums


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Split a text into preprocessor directives and the code between them."""
    run: list[str] = []
    for line in text.split("\n"):
        if line.lstrip().startswith("#"):
            yield False, "\n".join(run)
            run = []
            yield True, line.strip()
        else:
            run.append(line)
    yield False, "\n".join(run)


def _begin(parts: Sequence[_Part]) -> int:
    """Return the index of the first declaration after the includes."""
    return next((at for at, part in enumerate(parts) if part.has_code), len(parts))


def _names() -> Iterator[str]:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for length in itertools.count():
        for first in letters:
            for rest in itertools.product(letters + "0123456789_", repeat=length):
                yield first + "".join(rest)


def _is_long_number(token: str) -> bool:
    return token[0].isdigit() and len(token) > 5


_WORDS_BEFORE = """return goto else case typedef struct enum static extern const"""
_NO_TYPE = frozenset(_WORDS_BEFORE.split())


_PARENTHESES = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
_HEAD = rf"(?:if|for|while){_PARENTHESES}"
#: A statement that declares nothing and does not lose its braces to an ``else`` behind them.
_SINGLE = (
    r"\{\s*((?!(?!return|goto|else)\w+[ *]+\w+)(?![^{}]*\bif\([^{}]*\}\s*else)"
    rf"(?:{_HEAD}\s*)*(?:[^{{}};]+;|(?<=\))\{{[^{{}}]*\}}))\s*\}}"
)
#: Parentheses around shifts, `const` before parameters that are int, comparisons with 0, and braces
#: around single statements, each with what stays.
_SIGNS = (
    (
        r"(?:(?<=[(,=[&|^?:])|(?<=return))\(([\w.>-]+(?:(?:<<|>>)[\w.>*-]+)+)\)(?=[),;\]&|^?:])",
        r" \1",
    ),
    (r"(?<=[(,])const (int \w+)(?=[,)])", r"\1"),
    (r"(?<=[(&|])([A-Za-z_][\w.>-]*)==0(?=[),;\]&|^?:])", r"!\1"),
    *[(rf"\b({_HEAD}|else)\s*{_SINGLE}", r"\1 \2")] * 3,
)


def _without_signs(code: str) -> str:
    """Return code of few blanks without signs that change nothing."""
    for pattern, kept in _SIGNS:
        code = re.sub(pattern, kept, code)
    return code


def _joined(tokens: list[str]) -> list[str]:
    """Return code in which adjacent declarations of one type are one."""
    kept: list[str] = []
    begin = 0
    before: list[str] = []  # the type of the statement before, if it is a declaration
    for at, token in enumerate(tokens):
        if token not in (";", "{", "}"):
            continue
        statement = tokens[begin : at + 1]
        type = _type_declared(statement)
        if type and type == before:
            kept[-1] = ","
            statement = statement[len(type) :]
        kept += statement
        begin, before = at + 1, type
    return kept + tokens[begin:]


def _type_declared(statement: list[str]) -> list[str]:
    """Return the type of a declaration of variables; [] for any other statement."""
    size = 2 if statement[0] == "const" else 1
    type = statement[:size]
    rest = statement[size:]
    while rest and rest[0] == "*":
        rest = rest[1:]
    is_one = (
        len(rest) > 1
        and statement[-1] == ";"
        and _is_wordlike(type[-1][0])
        and type[-1] not in _NO_TYPE
        and _is_wordlike(rest[0][0])
        and rest[1] in ("=", ";", "[", ",")
    )
    return type if is_one else []


#: A line does not begin with these in a function: gcc would look at the indentation behind them.
_GUARDS = frozenset(["if", "for", "while", "else", "do", "switch"])


def _squeezed(tokens: list[str], words: Sequence[str] = ()) -> str:
    """Return tokens as text; `words` are the same ones before they were shortened."""
    parts: list[str] = []
    last, column, blocks, parentheses = "", 0, 0, 0
    for at, token in enumerate(tokens):
        gap = _gap(last, token)
        column += len(gap) + len(token)
        blocks += (token == "{") - (token == "}")
        parentheses += (token == "(") - (token == ")")
        parts += [gap, token]
        is_end = token in ";}" and parentheses == 0
        if column > _WIDTH and is_end and (blocks == 0 or not _GUARDS & {*words[at + 1 : at + 2]}):
            parts.append("\n")
            column = 0
        last = token
    return "".join(parts)


@cache
def _gap(last: str, token: str) -> str:
    """Return the blank between two tokens that would mean something else without it."""
    joins = _is_wordlike(last[-1:]) and _is_wordlike(token[0])
    joined = last + token in _OPERATORS or last[-1:] + token[0] in _OPERATORS
    return " " if joins or joined or (last[-1:] == "." and token[0].isdigit()) else ""


def _is_wordlike(letter: str) -> bool:
    """Return whether a letter would join its neighbour: a name after a quote becomes its suffix."""
    return letter != "" and (letter.isalnum() or letter in "_\"'")


def _directive(line: str, tokens: list[str]) -> str:
    if tokens[1] == "define":
        # The blank behind the name tells a value in parentheses from parameters.
        found = re.match(r"#\s*define\s+\w+(\(?)", line)
        gap = "" if found and found[1] else " "
        return f"#define {tokens[2]}{gap}{_flat(tokens[3:])}".rstrip()
    return f"#{tokens[1]} {_flat(tokens[2:])}".rstrip()


def _flat(tokens: list[str]) -> str:
    return _squeezed(tokens).replace("\n", " ")

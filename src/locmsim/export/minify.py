"""Minification of C: no comments and blanks, short names, numbers instead of constants.

>>> minify("enum { MANY = 5 };\\nstatic int twice(int number) { return MANY * number; }\\n")
'static int b(int a){return 5*a;}\\n'
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator

__all__ = ["minify"]

_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t NULL
memcpy memset memmove memcmp strlen malloc calloc free exit printf fprintf sprintf fgets fflush atoi
atol atoll putchar puts stdin stdout stderr FILE exp expf sqrt sqrtf tanhf fabsf main argc argv
timespec timespec_get clock_gettime CLOCK_MONOTONIC TIME_UTC tv_sec tv_nsec j0 j1 jn y0 y1 yn
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
_WIDTH = 500


def minify(text: str, keep: Collection[str] = ()) -> str:
    """Return the same program in fewer characters.

    Parameters
    ----------
    text : str
        The text of one file, in which each name has one meaning: names are replaced one by one, so
        that they cannot collide.
    keep : collection of str
        Further names to keep, in addition to those of C and the library functions of exported bots.

    Returns
    -------
    str
    """
    text = _COMMENT.sub(lambda found: found[1] or " ", text).replace("\\\n", " ")
    text, constants = _without_constants(text)
    kept = _KEPT | set(keep)
    lines = [*_lines(text)]
    counts: Counter[str] = Counter()
    in_code: Counter[str] = Counter()
    for is_directive, line in lines:
        if not (is_directive and re.match(r"#\s*(include|pragma)", line)):
            words = [t for t in _TOKEN.findall(line) if t[0].isalpha() or t[0] == "_"]
            counts.update(words)
            in_code.update([] if is_directive else words)
    # Frequent words of C become macros, which saves far more than their definitions take.
    abbreviated = {
        word
        for word in _WORDS.split()
        if in_code[word] * (len(word) - 2) > len(f"#define xx {word}\n") and word not in keep
    }
    short = (name for name in _names() if name not in kept)
    names = {
        name: next(short)
        for name in sorted(counts, key=lambda name: (-counts[name], name))
        if name in abbreviated or (name not in kept and name not in constants)
    }
    names |= constants
    macros = "".join(f"#define {names[word]} {word}\n" for word in sorted(abbreviated))
    begin = _begin(lines)
    parts = []
    for at, (is_directive, line) in enumerate(lines):
        if at == begin:
            parts.append(f"\n{macros}")
        if is_directive and re.match(r"#\s*(include|pragma)", line):
            parts.append(f"\n{line}\n")
            continue
        tokens = [
            token if is_directive and token in abbreviated else names.get(token, token)
            for token in _TOKEN.findall(line)
        ]
        parts.append(f"\n{_directive(line, tokens)}\n" if is_directive else _squeezed(tokens))
    return re.sub(r"\n+", "\n", "".join(parts)).strip("\n") + "\n"


def _without_constants(text: str) -> tuple[str, dict[str, str]]:
    """Return the text without declarations of constants, and their values."""
    constants: dict[str, str] = {}
    for block in _CONSTANTS.findall(text):
        for item in filter(None, map(str.strip, block.split(","))):
            name, _, value = map(str.strip, item.partition("="))
            constants[name] = f"({value})" if value.startswith("-") else value
    return _CONSTANTS.sub("", text), constants


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


def _begin(lines: list[tuple[bool, str]]) -> int:
    """Return the index of the first code after the includes, with its conditions."""
    begin = depth = 0
    for at, (is_directive, line) in enumerate(lines):
        begin = at if depth == 0 else begin
        if not is_directive and line.strip():
            break
        depth += bool(re.match(r"#\s*if", line)) - bool(re.match(r"#\s*endif", line))
    return begin


def _names() -> Iterator[str]:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for length in itertools.count():
        for first in letters:
            for rest in itertools.product(letters + "0123456789_", repeat=length):
                yield first + "".join(rest)


def _squeezed(tokens: list[str]) -> str:
    parts: list[str] = []
    last, column, depth = "", 0, 0
    for token in tokens:
        words = _is_wordlike(last[-1:]) and _is_wordlike(token[0])
        joined = last + token in _OPERATORS or last[-1:] + token[0] in _OPERATORS
        gap = " " if words or joined or (last[-1:] == "." and token[0].isdigit()) else ""
        column += len(gap) + len(token)
        depth += (token in "{(") - (token in "})")
        parts += [gap, token]
        if column > _WIDTH and depth == 0 and token in ";}":
            parts.append("\n")
            column = 0
        last = token
    return "".join(parts)


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

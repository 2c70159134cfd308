"""Evaluation of preprocessor conditions with known macros."""

import re
from collections.abc import Mapping

_DIRECTIVE = re.compile(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)")
_COMPARISON = re.compile(r"(?P<no>!?)(?P<name>[A-Za-z_]\w*)(?: (?P<sign>==|!=) (?P<number>\d+))?")


def resolve(text: str, macros: Mapping[str, int]) -> str:
    """Return the text without the preprocessor conditions that the macros decide.

    Parameters
    ----------
    text : str
        C whose conditions are ``NAME``, ``!NAME``, ``NAME == 1`` and ``NAME != 1``, joined by
        ``&&`` and ``||`` without parentheses.
    macros : mapping of str to int
        Values of macros. A condition that contains anything else is kept with all its branches.

    Returns
    -------
    str

    >>> resolve("#if A == 1\\nint one;\\n#else\\nint other;\\n#endif\\n", {"A": 2})
    'int other;\\n'

    Raises
    ------
    ValueError
        An ``#if`` is not closed, or another directive has no ``#if``.
    """
    kept: list[str] = []
    # For each open condition: whether it is kept, whether its present lines are kept, and whether
    # one of its branches was already taken.
    opened: list[tuple[bool, bool, bool]] = []
    for number, line in enumerate(text.split("\n"), 1):
        found = _DIRECTIVE.match(line)
        wanted = all(now for _, now, _ in opened)
        if found is None:
            if wanted:
                kept.append(line)
            continue
        what, condition = found[1], found[2]
        if what.startswith("if"):
            value = _value(condition, macros) if what == "if" else None
            stays, now, done = value is None, value is not False, bool(value)
        else:
            if not opened:
                raise ValueError(f"line {number}: #{what} without #if")
            stays, _, done = opened.pop()
            wanted = all(now for _, now, _ in opened)
            now = stays
            if not stays and what != "endif":
                value = what == "else" or _value(condition, macros)
                if value is None:
                    raise ValueError(f"line {number}: the branches before this one are decided")
                now = not done and value
                done = done or now
        if what != "endif":
            opened.append((stays, now, done))
        if stays and wanted:
            kept.append(line)
    if opened:
        raise ValueError("an #if has no #endif")
    return "\n".join(kept)


def _value(condition: str, macros: Mapping[str, int]) -> bool | None:
    """Return whether a condition holds; None if it contains something unknown."""
    holds = False
    for part in condition.split("||"):
        both = True
        for comparison in part.split("&&"):
            found = _COMPARISON.fullmatch(comparison.strip())
            if found is None or found["name"] not in macros:
                return None
            value = macros[found["name"]]
            if found["number"]:
                is_true = (value == int(found["number"])) == (found["sign"] == "==")
            else:
                is_true = bool(value) != bool(found["no"])
            both = both and is_true
        holds = holds or both
    return holds

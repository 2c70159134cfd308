"""Options, each declared once: a field of a dataclass, with meaning and bounds in its type.

    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass
    ... class Options:
    ...     nodes: Annotated[int, Option("number of positions per turn", 0, 1 << 31)] = 500
    >>> check(Options(nodes=-4))
    Traceback (most recent call last):
    ...
    ValueError: nodes: expected 0 to 2^31, got -4
    >>> print(entries(Options))
    nodes : int, default 500
        Number of positions per turn; from 0 to 2^31.
    <BLANKLINE>

What checks the values (`check`), documents them (`documented`) or lists them (`declared`) reads
these declarations. Type checkers and editors see an ordinary dataclass.
"""

import inspect
import textwrap
import typing
from dataclasses import dataclass, fields
from typing import Annotated, Any, NamedTuple, TypeVar

from locmsim._checks import bound_text, number, whole

__all__ = ["Declared", "Option", "check", "declared", "documented", "entries"]

_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True, slots=True)
class Option:
    """What the type of a number does not say.

    Parameters
    ----------
    text : str
        The meaning, which begins in lower case and has no full stop at its end.
    low, high : float
        The bounds.
    """

    text: str
    low: float
    high: float


class Declared(NamedTuple):
    """An option with what its field says."""

    name: str
    type: type
    default: Any
    option: Option

    def check(self, value: Any) -> None:
        """Raise ``ValueError`` for a value that cannot be given."""
        option = self.option
        if self.type is int:
            whole(self.name, value, int(option.low), int(option.high))
        else:
            number(self.name, value, option.low, option.high)

    def entry(self) -> str:
        """Return the entry in the section Parameters of a docstring."""
        text, low, high = self.option.text, self.option.low, self.option.high
        wrapped = textwrap.fill(
            f"{text[:1].upper()}{text[1:]}; from {bound_text(low)} to {bound_text(high)}.",
            96,
            initial_indent="    ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        return f"{self.name} : {self.type.__name__}, default {self.default:g}\n{wrapped}\n"


#: What `declared` found, by class.
_FOUND: dict[type, dict[str, Declared]] = {}


def declared(cls: type) -> dict[str, Declared]:
    """Return the declared options of a dataclass by name, those of its base classes first."""
    if cls not in _FOUND:
        _FOUND[cls] = _read(cls)
    return _FOUND[cls]


def _read(cls: type) -> dict[str, Declared]:
    hints = typing.get_type_hints(cls, include_extras=True)
    found = {}
    for field in fields(cls):
        hint = hints[field.name]
        if typing.get_origin(hint) is Annotated:
            kind, *notes = typing.get_args(hint)
            for option in notes:
                if isinstance(option, Option):
                    found[field.name] = Declared(field.name, kind, field.default, option)
    return found


def check(options: Any) -> None:
    """Check all declared options of an object; ``ValueError`` names the first that is wrong."""
    for one in declared(type(options)).values():
        one.check(getattr(options, one.name))


def entries(cls: type) -> str:
    """Return the entries of the section Parameters for the options of a class."""
    return "".join(one.entry() for one in declared(cls).values())


def documented(cls: _Class) -> _Class:
    """Put the entries of the options in place of the line ``options`` of the docstring."""
    if cls.__doc__:  # not with -OO
        text = inspect.cleandoc(cls.__doc__)
        cls.__doc__ = f"{text}\n".replace("\noptions\n", f"\n{entries(cls)}").rstrip("\n")
    return cls

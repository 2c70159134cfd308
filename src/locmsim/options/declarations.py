"""Options, each declared once: a type with meaning and bounds, wherever a value is given.

    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass
    ... class Options:
    ...     nodes: Annotated[int, Option("number of positions per turn", 0, 1 << 31)] = 500
    >>> check(Options(nodes=-4))
    Traceback (most recent call last):
    ...
    locmsim.options.checks.OptionError: nodes: expected 0 to 2^31, got -4
    >>> print(entries(Options))
    nodes : int, default 500
        Number of positions per turn; from 0 to 2^31.
    <BLANKLINE>

What checks the values (`check`, `check_values`), documents them (`documented`), reads them from a
command line (`locmsim.options.commands.add_option`) or lists them (`declared`) reads these
declarations, of the fields of a dataclass and of the parameters of a function. Type checkers and
editors see ordinary ones.
"""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import MISSING, dataclass
from typing import Annotated, Any, NamedTuple, TypeVar

from locmsim.options.checks import OptionError, integer, number, range_text, whole

_Object = TypeVar("_Object", bound=Callable[..., Any])
#: The columns of a docstring.
_WIDTH = 96


@dataclass(frozen=True, slots=True)
class Option:
    """What the type of an option does not say.

    Parameters
    ----------
    text : str
        The meaning, which begins in lower case and has no full stop at its end.
    low, high : float, optional
        The bounds of a number.
    above : bool
        Whether a number has to be above `low`.
    choices : tuple of str
        The values of a text; () for any text.
    measured_in : str
        What a number is measured in, such as "seconds".
    more : str
        Further sentences, for docstrings.
    kind : str
        The type in docstrings, for values that a command line cannot give.
    needs : tuple of str, optional
        Another option and its value, without which this one does not apply.
    """

    text: str
    low: float | None = None
    high: float | None = None
    above: bool = False
    choices: tuple[str, ...] = ()
    measured_in: str = ""
    more: str = ""
    kind: str = ""
    needs: tuple[str, str] | None = None

    def bounds(self) -> str:
        """Return the bounds in words, "" without any."""
        if self.low is None:
            return ""
        words = range_text(self.low, self.high, self.above)
        return f"from {words}" if " to " in words else words


class Declared(NamedTuple):
    """An option with what its field or parameter says."""

    name: str
    type: Any
    default: Any
    option: Option
    #: Whether None is a value as well.
    optional: bool = False

    def check(self, value: Any) -> Any:
        """Return the value, of NumPy as one of Python.

        ``ValueError`` for a value that cannot be given.
        """
        option = self.option
        if value is None and self.optional:
            return None
        if option.choices:
            if value not in option.choices:
                from locmsim.options.texts import did_you_mean

                raise OptionError(
                    self.name,
                    f"expected one of {', '.join(option.choices)}, got {value!r}"
                    f"{did_you_mean(str(value), option.choices)}",
                )
        elif self.type is bool:
            if value not in (False, True):
                raise OptionError(self.name, f"expected True or False, got {value!r}")
            return bool(value)
        elif self.type is int:
            if option.low is None:
                return integer(self.name, value)
            return whole(self.name, value, option.low, option.high)
        elif option.low is not None:
            found = number(self.name, value, option.low, option.high, above=option.above)
            return value if type(value) in (int, float) else found
        return value

    def parse(self, text: str) -> Any:
        """Return the value of a text; ``ValueError`` says what was expected, without the name."""
        value: Any = text
        if self.type in (int, float):
            with suppress(ValueError):
                value = self.type(text.rstrip("MB") if self.option.measured_in == "MB" else text)
        try:
            self.check(value)
        except OptionError as error:
            raise ValueError(error.reason) from None
        return value

    def entry(self) -> str:
        """Return the entry in the section Parameters of a docstring."""
        import textwrap

        option = self.option
        what = option.kind or getattr(self.type, "__name__", str(self.type))
        if option.choices:
            what = "{" + ", ".join(f'"{choice}"' for choice in option.choices) + "}"
        if self.default is None or self.default in ((), {}):
            what += ", optional"
        elif self.default is not MISSING:
            what += f", default {_shown(self.default)}"
        text = f"{option.text[:1].upper()}{option.text[1:]}"
        if option.measured_in:
            head, semicolon, rest = text.partition(";")
            text = f"{head}, in {option.measured_in}{semicolon}{rest}"
        text = "; ".join(filter(None, (text, option.bounds()))) + "."
        needs = "" if option.needs is None else 'Needs ``{}="{}"``.'.format(*option.needs)
        wrapped = textwrap.fill(
            " ".join(filter(None, (text, option.more, needs))),
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        return f"{self.name} : {what}\n{wrapped}\n"


def _shown(default: Any) -> str:
    """Return a default as docstrings write it."""
    if isinstance(default, str):
        return f'"{default}"'
    if isinstance(default, tuple):
        return f"({', '.join(map(_shown, default))})"
    if type(default) in (int, float):
        return f"{default:g}" if abs(default) < 10**6 else str(default)
    return str(getattr(default, "name", default))  # of an enumeration, a bool


#: What `declared` found, by class or function.
_FOUND: dict[Any, dict[str, Declared]] = {}


def declared(owner: Callable[..., Any]) -> dict[str, Declared]:
    """Return the declared options of a class or function by name.

    They are its parameters, of a dataclass its fields.
    """
    if owner not in _FOUND:
        _FOUND[owner] = _read(owner)
    return _FOUND[owner]


def declaration(name: str, hint: Any, default: Any = MISSING) -> Declared:
    """Return an option by its type, which has an `Option`."""
    found = _declaration(name, hint, default)
    assert found is not None, hint
    return found


def _declaration(name: str, hint: Any, default: Any) -> Declared | None:
    members = typing.get_args(hint) if _is_union(hint) else (hint,)
    for member in members:
        if typing.get_origin(member) is Annotated:
            kind, *notes = typing.get_args(member)
            inner = typing.get_args(kind) if _is_union(kind) else (kind,)
            optional = type(None) in (*members, *inner)
            (kind, *others) = [one for one in inner if one is not type(None)]
            for option in notes:
                if isinstance(option, Option):
                    return Declared(name, Any if others else kind, default, option, optional)
    return None


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _read(owner: Callable[..., Any]) -> dict[str, Declared]:
    function = owner.__init__ if isinstance(owner, type) else owner  # type: ignore[misc]
    hints = typing.get_type_hints(function, include_extras=True)
    own = getattr(owner, "__dataclass_fields__", {})
    found = {}
    for name, parameter in inspect.signature(owner).parameters.items():
        default = _default(parameter)
        if name in own and own[name].default_factory is not MISSING:
            default = own[name].default_factory()
        one = _declaration(name, hints.get(name), default)
        if one is not None:
            found[name] = one
    return found


def check(options: Any) -> None:
    """Check all declared options of an object; ``ValueError`` names the first that is wrong.

    Values of NumPy become those of Python, which can be written as JSON.
    """
    for one in declared(type(options)).values():
        before = getattr(options, one.name)
        value = one.check(before)
        if value is not before:
            object.__setattr__(options, one.name, value)
        if one.option.needs is not None and value != one.default:
            other, needed = one.option.needs
            if getattr(options, other) != needed:
                raise OptionError(one.name, "needs ", other, f'="{needed}"')


def check_values(owner: Callable[..., Any], **values: Any) -> None:
    """Check values by the declarations of a class or function, as `check` does."""
    known = declared(owner)
    for name, value in values.items():
        known[name].check(value)


def entries(
    owner: Callable[..., Any],
    *others: Callable[..., Any],
    without: Collection[str] = (),
) -> str:
    """Return the entries of the section Parameters for the options of a class or function.

    Those of its parameters that it does not declare itself are declared by the `others`, all but
    their defaults. With ``**options`` it has all those of the `others`. Some may be left out.
    """
    known = {name: one for other in others for name, one in declared(other).items()}
    known |= declared(owner)
    if others:
        own = inspect.signature(owner).parameters
        first = [name for name in own if name in known]
        known |= {name: known[name]._replace(default=_default(own[name])) for name in first}
        any_name = any(one.kind is one.VAR_KEYWORD for one in own.values())
        rest = [name for name in known if name not in own] if any_name else []
        known = {name: known[name] for name in (*first, *rest)}
    return "".join(one.entry() for name, one in known.items() if name not in without)


def _default(parameter: inspect.Parameter) -> Any:
    return MISSING if parameter.default is parameter.empty else parameter.default


def taking(options: type) -> Callable[[_Object], _Object]:
    """Return a decorator that shows the fields of a class of options in a function's signature.

    They stand in place of its ``**options``, without those that the function has itself.
    """

    def complete(function: _Object) -> _Object:
        def call(*words: Any, **given: Any) -> Any:
            return function(*words, **given)

        *own, _ = inspect.signature(function).parameters.values()
        names = {parameter.name for parameter in own}
        fields = inspect.signature(options).parameters
        more = [parameter for name, parameter in fields.items() if name not in names]
        # Not as `__wrapped__`: whoever reads the defaults in the source reads those of `call`.
        functools.update_wrapper(call, function)
        call.__annotations__ = typing.get_type_hints(function, include_extras=True)
        del call.__wrapped__  # type: ignore[attr-defined]
        call.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return complete


def documented(
    *others: Callable[..., Any],
    without: Collection[str] = (),
) -> Callable[[_Object], _Object]:
    """Return a decorator that puts entries in place of the line ``options`` of a docstring.

    They are those of `entries` with these arguments.
    """

    def complete(owner: _Object) -> _Object:
        if owner.__doc__:  # not with -OO
            text = inspect.cleandoc(owner.__doc__)
            shown = entries(owner, *others, without=without)
            owner.__doc__ = f"{text}\n".replace("\noptions\n", f"\n{shown}").rstrip("\n")
        return owner

    return complete

"""Parsing of descriptions such as ``name:option=value,option=value``."""

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from locmsim.errors import ENDINGS, text_of

#: Types that the text of an option may be converted to, in the order in which they are tried.
_PLAIN: tuple[type, ...] = (bool, int, float, str)
_BOOLS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
#: An option with its value, up to the next comma or the end.
_PART = re.compile(r'[^,="]*(=("(?:[^"]|"")*"|[^",][^,]*|))?(?=,|$)', re.DOTALL)
_EXPECTED = {bool: "true or false", int: "an integer", float: "a number"}
#: The default of a required option.
MISSING = inspect.Parameter.empty


class TextOption(NamedTuple):
    """An option that can be given as text."""

    #: `MISSING` for an option without a default.
    default: Any
    #: Types that a text may be converted to.
    kinds: tuple[type, ...]

    def value(self, where: str, text: str) -> Any:
        """Parse the value of an option; ``ValueError`` says what was expected."""
        for kind in self.kinds:
            try:
                return _BOOLS[text.lower()] if kind is bool else kind(text)
            except (KeyError, ValueError):
                pass
        expected = " or ".join(_EXPECTED[kind] for kind in self.kinds)
        raise ValueError(f"{where}: expected {expected}, got {text!r}")


def read_options(where: str, text: str) -> dict[str, str]:
    """Split ``option=value,option=value``; ``ValueError`` names the malformed part.

    A value in double quotes may contain commas; two double quotes in it stand for one.

        >>> read_options("agent beam", 'weights="a,b.npz",nodes=500')
        {'weights': 'a,b.npz', 'nodes': '500'}
    """
    options = {}
    while text:
        part = _PART.match(text)
        option, equals, value = part[0].partition("=") if part else (text, "", "")
        if not part or not equals:
            malformed = text.partition(",")[0]
            what = "a closing double quote" if '="' in malformed else "option=value"
            raise ValueError(f"{where}: expected {what}, got {malformed!r}")
        if value.startswith('"'):
            value = value[1:-1].replace('""', '"')
        options[option] = value
        text = text[part.end() + 1 :].lstrip(",")
    return options


def written(options: Mapping[str, Any]) -> str:
    """Return the text that `read_options` splits into these options.

    >>> written({"weights": "a,b.npz", "nodes": 500})
    'weights="a,b.npz",nodes=500'
    """
    texts = {name: str(value) for name, value in options.items()}
    quoted = {
        name: '"' + text.replace('"', '""') + '"'
        for name, text in texts.items()
        if "," in text or text.startswith('"')
    }
    return ",".join(f"{name}={text}" for name, text in (texts | quoted).items())


def options_of(factory: Callable[..., Any]) -> tuple[dict[str, TextOption], bool]:
    """Return the options that a class or function accepts as text, and if it takes others.

    They are its arguments; with ``**options`` it accepts any others too.
    """
    known, any_name = {}, False
    hints = _hints(factory.__init__ if isinstance(factory, type) else factory)  # type: ignore[misc]
    for name, parameter in inspect.signature(factory).parameters.items():
        if parameter.kind == inspect.Parameter.VAR_KEYWORD:
            any_name = True
        elif parameter.kind not in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.POSITIONAL_ONLY,
        ):
            kinds = _kinds(hints.get(name, MISSING), parameter.default)
            if kinds:
                known[name] = TextOption(parameter.default, kinds)
    return known, any_name


def make(
    where: str, factory: Callable[..., Any], texts: Mapping[str, str], /, **values: Any
) -> Any:
    """Call a class or function with options.

    Parameters
    ----------
    where : str
        Prefix of each message.
    factory : callable
        The class or function.
    texts : mapping
        Option -> text, from a description.
    **values
        Further options, which take precedence over texts.

    Raises
    ------
    ValueError
        An option is unknown, missing or has a wrong value, or the factory raised any exception.
    """
    known, any_name = options_of(factory)
    parameters = inspect.signature(factory).parameters
    for name in [*texts, *values]:
        if not (name in known or any_name or (name in values and name in parameters)):
            raise ValueError(f"{where}: {_unknown(name, known, factory)}")
    values = {
        name: known[name].value(f"{where}: {name}", text) if name in known else guess(text)
        for name, text in texts.items()
    } | {**values}
    for name, option in known.items():
        if name not in values and option.default is MISSING:
            raise ValueError(f"{where}: the option {name!r} is missing")
    try:
        return factory(**values)
    except ENDINGS:
        raise
    except ValueError as error:
        raise ValueError(f"{where}: {text_of(error)}") from error
    except BaseException as error:
        arguments = ", ".join(f"{name}={value!r}" for name, value in values.items())
        raise ValueError(
            f"{where}: creating it with ({arguments}) raised {describe_error(error)}"
        ) from error


def _unknown(name: str, known: Mapping[str, TextOption], factory: Callable[..., Any]) -> str:
    hint = did_you_mean(name, known)
    if name in getattr(factory, "__annotations__", {}) and "__init__" not in vars(factory):
        hint = f"; it is a field of the class: put @dataclass before `class {factory.__name__}`"
    return f"unknown option {name!r}, expected {', '.join(known) or 'none'}{hint}"


def describe_error(error: BaseException) -> str:
    """Describe an exception in one line, with the line of the file that raised it."""
    text = f"{type(error).__name__}: {text_of(error)}".removesuffix(": ")
    frames, place = error.__traceback__, ""
    ours = (__name__, "locmsim.support.plugins")
    while frames is not None:
        file = frames.tb_frame.f_code.co_filename
        module = frames.tb_frame.f_globals.get("__name__")
        if "importlib" not in file and file[:7] != "<frozen" and module not in ours:
            place = f" ({file}, line {frames.tb_lineno})"
        frames = frames.tb_next
    return text.partition("\n")[0] + place


def guess(text: str) -> int | float | str:
    """Return the value of a text whose type is unknown."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name, ``"; did you mean 'greedy'?"``, or nothing."""
    from difflib import get_close_matches

    found = get_close_matches(name, [*known], n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except NameError:  # postponed, and a name exists for type checkers only
        return dict(getattr(function, "__annotations__", {}))
    except TypeError:
        return {}


def _kinds(annotation: Any, default: Any) -> tuple[type, ...]:
    """Return the types that an option's text may be converted to, () if it cannot be text."""
    if isinstance(annotation, str):
        words = {word.strip() for word in annotation.split("|")}
        named = tuple(kind for kind in _PLAIN if kind.__name__ in words)
    else:
        union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
        members = typing.get_args(annotation) if union else (annotation,)
        named = tuple(kind for kind in _PLAIN if kind in members)
    if type(default) in _PLAIN and len(named) != 1:
        return (type(default),)
    if annotation is MISSING and default in (None, MISSING):
        return (int, float, str)
    return named

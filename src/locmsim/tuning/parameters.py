"""Parameters of a bot, as placeholders in its command, its options or a file.

A placeholder is ``{name=start:low..high:kind:step=number}``; everything after the name may be left
out where another place says it, and everything after the start has a default.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from locmsim.options.checks import OptionError

ParameterKind = Literal["float", "int", "log"]
_KINDS: tuple[ParameterKind, ...] = ("float", "int", "log")

#: Doubled braces stand for themselves, as in `str.format`.
_PARTS = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"[^\W\d]\w*")
#: What is no placeholder in a file: each brace that is not around a name, or a name and a start.
_LONE = re.compile(
    rf"\{{\{{{_NAME.pattern}(?:=[^{{}}\n]*)?\}}\}}|\{{{_NAME.pattern}(?:=[^{{}}\n]*)?\}}|([{{}}])"
)
#: Digits of a value in a command: more cost space and say nothing.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a bot that is tuned.

    Parameters
    ----------
    name : str
        The name, an identifier.
    start : float
        The value at the beginning.
    low, high : float
        The bounds; by default there are none.
    kind : str
        "float"; "int" for whole numbers; "log" for positive numbers whose ratios count.
    step : float, optional
        The difference between two values that are compared, for "log" a factor above 1. By default
        a tenth of the range, or a quarter of the start, and at least 1 for whole numbers.

    Raises
    ------
    ValueError
        A field is wrong; the message names the parameter.
    """

    name: str
    start: float
    low: float = -math.inf
    high: float = math.inf
    kind: ParameterKind = "float"
    step: float = 0.0

    def __post_init__(self) -> None:
        def wrong(message: str) -> ValueError:
            return ValueError(f"parameter {self.name}: {message}")

        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not a name of a parameter")
        if self.kind not in _KINDS:
            raise wrong(f"kind: expected one of {', '.join(_KINDS)}, got {self.kind!r}")
        if not self.low < self.high:
            raise wrong(f"expected two different bounds, got {self.low:g}..{self.high:g}")
        if not (math.isfinite(self.start) and self.low <= self.start <= self.high):
            raise wrong(
                f"the start is outside its bounds: expected {self.low:g} to {self.high:g},"
                f" got {self.start:g}"
            )
        if self.kind == "int" and self.start != int(self.start):
            raise wrong(f"expected an integer as start, got {self.start:g}")
        if self.kind == "log" and (self.start <= 0 or -math.inf < self.low <= 0):
            raise wrong("the kind log needs a start and bounds above 0")
        least = 1.0 if self.kind == "log" else 0.0
        if self.step == 0:
            object.__setattr__(self, "step", self._usual_step())
        elif not (math.isfinite(self.step) and self.step > least):
            raise wrong(f"step: expected more than {least:g}, got {self.step:g}")

    def _usual_step(self) -> float:
        bounded = math.isfinite(self.high - self.low)
        if self.kind == "log":
            wide = bounded and self.low > 0
            return (self.high / self.low) ** 0.1 if wide else 1.25
        step = (self.high - self.low) / 10 if bounded else abs(self.start) / 4 or 1.0
        return max(step, 1.0) if self.kind == "int" else step

    def value(self, steps: float) -> float:
        """Return the value that is so many steps from the start, kept within the bounds."""
        if self.kind == "log":
            # Far from any bound of a float, where powers overflow.
            value = self.start * math.exp(min(max(math.log(self.step) * steps, -500), 500))
        else:
            value = self.start + self.step * steps
        value = min(max(value, self.low), self.high)
        return float(round(value)) if self.kind == "int" else value

    @property
    def reach(self) -> tuple[float, float]:
        """The bounds in steps from the start."""
        return self._steps(self.low), self._steps(self.high)

    def _steps(self, value: float) -> float:
        if not math.isfinite(value):
            return value
        if self.kind == "log":
            return math.log(value / self.start) / math.log(self.step)
        return (value - self.start) / self.step

    def text(self, value: float) -> str:
        """Return a value as a bot gets it."""
        return str(int(value)) if self.kind == "int" else f"{value:.{_DIGITS}g}"


class Placeholder(NamedTuple):
    """A place for a number in a text."""

    name: str
    #: What is declared behind the name, with the sign "=".
    text: str = ""
    #: Where it is, for messages.
    where: str = ""


class Template:
    """A text with placeholders.

    Parameters
    ----------
    text : str
        The text. Doubled braces stand for single ones.
    where : str
        What the text is, for messages.
    file : bool
        Whether it is the content of a file, where all braces stand for themselves but those of a
        placeholder, or two around what would be one.

    Raises
    ------
    ValueError
        A placeholder cannot be read.
    """

    def __init__(self, text: str, where: str, file: bool = False) -> None:
        if file:
            text = _LONE.sub(lambda match: match[0] * (2 if match[1] else 1), text)
        #: Texts between placeholders, and the placeholders.
        self._pieces: list[str] = [""]
        self.placeholders: list[Placeholder] = []
        end = 0
        for match in _PARTS.finditer(text):
            self._pieces[-1] += text[end : match.start()]
            end = match.end()
            if match[0] in ("{{", "}}"):
                self._pieces[-1] += match[0][0]
            elif match[1] is None:
                raise OptionError(where, f"a single {match[0]!r}; write it twice for the sign")
            else:
                name, equals, rest = match[1].partition("=")
                if not _NAME.fullmatch(name):
                    raise OptionError(
                        where,
                        f"{match[0]} is no placeholder: expected {{name}} or"
                        " {name=start:low..high}; for the signs write {{ and }}",
                    )
                line = f"{where}, line {text.count(chr(10), 0, end) + 1}: " if file else ""
                self.placeholders.append(Placeholder(name, equals + rest, line))
                self._pieces.append("")
        self._pieces[-1] += text[end:]

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with its placeholders replaced by values."""
        filled = self._pieces[0]
        for one, piece in zip(self.placeholders, self._pieces[1:], strict=True):
            filled += values[one.name] + piece
        return filled


def read_parameters(
    placeholders: Iterable[Placeholder],
    default: Callable[[str], int | float | None] = lambda name: None,
) -> tuple[Parameter, ...]:
    """Return the parameters that placeholders declare, in their order.

    Parameters
    ----------
    placeholders : iterable of Placeholder
        As in `Template.placeholders`.
    default : callable
        Returns the start of a parameter that none is declared for, or None.

    Raises
    ------
    ValueError
        There is no placeholder, or one has no start or is declared twice in different ways.
    """
    declared: dict[str, Placeholder] = {}
    for one in placeholders:
        name, text, where = one
        known = declared.setdefault(name, one)
        if text and known.text not in ("", text):
            raise ValueError(
                f"{where}parameter {name}: declared twice, as {known.text[1:]} and as {text[1:]}"
            )
        declared[name] = one if text else known
    if not declared:
        raise ValueError("there is no placeholder, such as {width=40:1..200:int}")
    found = []
    for name, text, where in declared.values():
        try:
            found.append(_read(name, text[1:] if text else _default_text(name, default(name))))
        except ValueError as error:
            raise ValueError(f"{where}{error}") from None
    return tuple(found)


def _default_text(name: str, start: int | float | None) -> str:
    if start is None:
        raise ValueError(f"parameter {name}: it has no start; write {{{name}=START}}")
    return f"{start}:{'int' if isinstance(start, int) else 'float'}"


def _read(name: str, text: str) -> Parameter:
    """Return the parameter that a text such as ``40:1..200:int:step=5`` declares."""
    start, *rest = text.split(":")
    fields: dict[str, float] = {"start": _number(name, "start", start)}
    kind: str = "float"
    for part in rest:
        low, dots, high = part.partition("..")
        if dots:
            fields["low"], fields["high"] = _bounds(name, low, high)
        elif part.startswith("step="):
            fields["step"] = _number(name, "step", part.removeprefix("step="))
            if fields["step"] == 0:
                raise ValueError(f"parameter {name}: step: expected more than 0, got 0")
        elif part in _KINDS:
            kind = part
        else:
            raise ValueError(
                f"parameter {name}: {part!r}: expected bounds such as 0..5, step=NUMBER or one of"
                f" {', '.join(_KINDS)}"
            )
    return Parameter(name, kind=kind, **fields)  # type: ignore[arg-type]


def _bounds(name: str, low: str, high: str) -> tuple[float, float]:
    return (
        _number(name, "the lower bound", low) if low else -math.inf,
        _number(name, "the upper bound", high) if high else math.inf,
    )


def _number(name: str, what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"parameter {name}: {what}: expected a number, got {text!r}")
    return value


def texts(parameters: Sequence[Parameter], steps: Iterable[float]) -> dict[str, str]:
    """Return the values, so many steps from the start each, as a bot gets them."""
    return {
        one.name: one.text(one.value(step)) for one, step in zip(parameters, steps, strict=True)
    }

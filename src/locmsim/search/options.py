"""The options of the searches, each declared once with default, bounds and meaning.

Compiled searches, the options of agents and help texts are all derived from these classes.

    >>> BeamOptions(plans=8).plans
    8
    >>> BeamOptions(plans=0)
    Traceback (most recent call last):
    ...
    ValueError: plans: expected 1 to 256, got 0
"""

from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar

__all__ = ["BeamOptions", "MCTSOptions", "SearchOptions", "describe_options"]

_Class = TypeVar("_Class", bound=type)


def _option(default: Any, least: float, most: float, text: str) -> Any:
    """Declare a field with its bounds and meaning."""
    return field(default=default, metadata={"least": least, "most": most, "text": text})


def _kind(option: Field[Any]) -> str:
    return "int" if isinstance(option.default, int) else "float"


def _documented(cls: _Class) -> _Class:
    """Add the options to the docstring as parameters."""
    lines = [cls.__doc__ or "", "", "    Parameters", "    ----------"]
    for option in fields(cls):
        least, most = option.metadata["least"], option.metadata["most"]
        lines.append(f"    {option.name} : {_kind(option)}, default {option.default}")
        lines.append(f"        {option.metadata['text']}; from {least:g} to {most:g}.")
    lines += ["", "    Raises", "    ------", "    ValueError"]
    lines.append("        An option has the wrong type or is out of bounds.")
    cls.__doc__ = "\n".join(lines) + "\n    "
    return cls


@_documented
@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Options of both searches."""

    turns: int = _option(
        2, 0, 20, "turns played out after the player's, the first one by the opponent"
    )
    reply_width: int = _option(8, 1, 16, "width of the beam that finds these turns; 1: greedy")
    worlds: int = _option(512, 1, 4096, "maximum number of sampled worlds")
    wins_share: float = _option(
        0.2, 0.0, 1.0, "share of the budget for the search for a win in this turn"
    )
    width: int = _option(
        1024,
        1,
        65536,
        "maximum number of positions kept after each action; the search is repeated with more "
        "while there is time",
    )
    plans: int = _option(64, 1, 256, "number of whole turns that are compared by playouts")
    static_worlds: float = _option(
        2.0, 0.0, 1e6, "weight of a turn's static value, in sampled worlds"
    )
    plan_share: float = _option(
        0.4, 0.0, 1.0, "share of the budget for finding whole turns, after the search for a win"
    )

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            least, most = option.metadata["least"], option.metadata["most"]
            whole = isinstance(option.default, int)
            if not isinstance(value, int if whole else int | float):
                kind = "an integer" if whole else "a number"
                raise ValueError(f"{option.name}: expected {kind}, got {value!r}")
            if not (least <= value <= most):
                raise ValueError(f"{option.name}: expected {least} to {most}, got {value}")


@_documented
@dataclass(frozen=True, slots=True, kw_only=True)
class BeamOptions(SearchOptions):
    """Options of `BeamSearch`; the defaults are tuned. With `turns` 0, static values decide."""


@_documented
@dataclass(frozen=True, slots=True, kw_only=True)
class MCTSOptions(SearchOptions):
    """Options of `MCTS`; the defaults are tuned. The visits of a plan cycle through the sampled
    worlds and go deeper into the tree of each."""

    turns: int = _option(
        2, 1, 20, "minimum number of turns followed by a visit, the first one by the opponent"
    )
    worlds: int = _option(48, 1, 4096, "maximum number of sampled worlds")
    exploration: float = _option(
        0.1, 0.0, 1000.0, "weight of the prior against the mean result (PUCT)"
    )
    temperature: float = _option(
        0.2, 0.001, 1e6, "temperature of the priors, in units of expected results"
    )
    max_nodes: int = _option(
        65536, 16, 1 << 22, "maximum number of turns in the tree; each takes about 0.3 KB"
    )


def describe_options(options: type[SearchOptions]) -> str:
    """Return the options of a search as text for a help page.

    Parameters
    ----------
    options : type
        `BeamOptions` or `MCTSOptions`.

    Returns
    -------
    str
        A line for each option: its name, its default and what it means.
    """
    width = max(len(option.name) for option in fields(options))
    return "\n".join(
        f"{option.name:{width}}  {option.default:<6g}  {option.metadata['text']}"
        for option in fields(options)
    )

"""The options of the searches, each declared once: default, bounds and meaning.

Compiled searches, the options of agents and help texts all come from these classes.

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
    """A field whose bounds and meaning are kept with it."""
    return field(default=default, metadata={"least": least, "most": most, "text": text})


def _kind(option: Field[Any]) -> str:
    return "int" if isinstance(option.default, int) else "float"


def _documented(cls: _Class) -> _Class:
    """Add the options to the docstring, as its parameters."""
    lines = [cls.__doc__ or "", "", "    Parameters", "    ----------"]
    for option in fields(cls):
        least, most = option.metadata["least"], option.metadata["most"]
        lines.append(f"    {option.name} : {_kind(option)}, default {option.default}")
        lines.append(f"        {option.metadata['text']}; from {least:g} to {most:g}.")
    lines += ["", "    Raises", "    ------", "    ValueError"]
    lines.append("        An option is of another type, or beyond its bounds.")
    cls.__doc__ = "\n".join(lines) + "\n    "
    return cls


@_documented
@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What both searches have in common."""

    turns: int = _option(
        2, 0, 20, "turns played on greedily after the player's, the first one the opponent's"
    )
    reply_width: int = _option(
        8, 1, 16, "positions of the beam that finds these turns; 1: the best action, one by one"
    )
    worlds: int = _option(512, 1, 4096, "sampled worlds, at most")
    wins_share: float = _option(
        0.2, 0.0, 1.0, "part of the budget for the search for a win in this turn"
    )
    width: int = _option(
        1024,
        1,
        65536,
        "positions followed after each number of actions, at most; the search is repeated with "
        "more as long as there is time",
    )
    plans: int = _option(64, 1, 256, "whole turns whose ends are played on from")
    static_worlds: float = _option(
        2.0, 0.0, 1e6, "how many sampled worlds the static value of a whole turn counts for"
    )
    plan_share: float = _option(
        0.4, 0.0, 1.0, "part of the budget for finding whole turns, after the search for a win"
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
    """Options of `BeamSearch`; the defaults are the tuned ones. With no `turns` to play on, static
    values decide."""


@_documented
@dataclass(frozen=True, slots=True, kw_only=True)
class MCTSOptions(SearchOptions):
    """Options of `MCTS`; the defaults are the tuned ones. Visits of a plan go through the sampled
    worlds in turn, and in each further into the tree."""

    turns: int = _option(
        2, 1, 20, "turns that a visit of a plan follows at least, the first one the opponent's"
    )
    worlds: int = _option(48, 1, 4096, "sampled worlds, at most")
    exploration: float = _option(
        0.1, 0.0, 1000.0, "weight of the prior against the mean result (PUCT)"
    )
    temperature: float = _option(
        0.2, 0.001, 1e6, "differences of expected results are divided by it for the priors"
    )
    max_nodes: int = _option(
        65536, 16, 1 << 22, "turns in the tree, at most; each takes about 0.3 KB"
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

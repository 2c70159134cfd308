"""The agent "learned": the trained networks that come with the library."""

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated

from locmsim.agents.policy import PolicyAgent
from locmsim.options.declarations import Option, documented

if TYPE_CHECKING:
    from locmsim.policy import Policy


#: The file of the network for each rule set that has one.
_FILES = {"1.5": "learned.npz", "1.2": "learned-1.2.npz"}


@cache
def shipped_policy(rules: str = "1.5") -> "Policy":
    """Return the trained network of the library for a rule set.

    Parameters
    ----------
    rules : {"1.5", "1.2"}

    Raises
    ------
    ValueError
        There is no network for this rule set.
    """
    from importlib.resources import as_file

    from locmsim.policy import Policy

    if rules not in _FILES:
        raise ValueError(f"rules: expected one of {', '.join(_FILES)}, got {rules!r}")
    with as_file(files("locmsim").joinpath("data", _FILES[rules])) as path:
        return Policy.load(path)


@documented()
@dataclass
class LearnedAgent(PolicyAgent):
    """The trained network of the library for a rule set: a policy without a search.

    docs/training.md describes its training and its strength.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        There is no network for the rule set, or the game has another one.
    """

    path: str = field(default="", init=False)
    rules: Annotated[str, Option("rule set that it plays", choices=tuple(_FILES))] = field(
        default="1.5", kw_only=True
    )
    layout: str = field(default="", init=False)

    def load(self) -> "Policy":
        return shipped_policy(self.rules)

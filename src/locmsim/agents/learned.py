"""The agent "learned": the trained network that comes with the library."""

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from locmsim.agents.policy import PolicyAgent

if TYPE_CHECKING:
    from locmsim.policy import Policy

__all__ = ["LearnedAgent", "shipped_policy"]


@cache
def shipped_policy() -> "Policy":
    """Return the trained network of the library."""
    from importlib.resources import as_file

    from locmsim.policy import Policy

    with as_file(files("locmsim").joinpath("data/learned.npz")) as path:
        return Policy.load(path)


@dataclass
class LearnedAgent(PolicyAgent):
    """The trained network of the library, for rules 1.5: a policy without a search.

    docs/learning.md describes its training and its strength.

    Parameters
    ----------
    deck, draft : str or function
        How the cards are chosen, as for `BaseAgent`.
    temperature : float
        As for `PolicyAgent`.

    Raises
    ------
    ValueError
        The game has another rule set.
    """

    path: str = field(default="", init=False)
    rules: str = field(default="", init=False)
    layout: str = field(default="", init=False)

    def load(self) -> "Policy":
        return shipped_policy()

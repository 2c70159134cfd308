"""The parameters of a match, each declared once (docs/vestrock/rules.md, section 1)."""

from dataclasses import dataclass
from typing import Annotated, TypedDict

from locmsim.gamekit import Option, documented


class ParameterValues(TypedDict, total=False):
    """The types of `Parameters`, for keyword arguments."""

    init_hp: int
    turns: int
    draws: int
    burns: int
    hand_limit: int


@documented()
@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a match, with their defaults; a `Table` checks them.

    Parameters
    ----------
    options
    """

    init_hp: Annotated[int, Option("health of each player at the start, even", 2, 10000)] = 20
    turns: Annotated[int, Option("turns of both players together, even", 2, 10000)] = 60
    draws: Annotated[int, Option("cards that a player may draw per turn", 0, 1000)] = 2
    burns: Annotated[int, Option("cards that a player may burn per turn", 0, 1000)] = 2
    hand_limit: Annotated[int, Option("largest number of cards in a hand", 1, 1000)] = 10

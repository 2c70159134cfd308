"""Actions by instance ids, which stay meaningful without their position."""

from enum import IntEnum
from typing import NamedTuple

from locmsim.rules.cards import Card


class ActionKind(IntEnum):
    """The kinds of action; the names are the protocol's words."""

    PASS = 0
    SUMMON = 1
    USE = 2
    ATTACK = 3


class Action(NamedTuple):
    """An action by the instance ids it names; ``str(action)`` is its canonical text.

    Attributes
    ----------
    kind : ActionKind
        The kind of action.
    card : Card or None
        The card that is summoned or used, or the attacker's card; None for PASS.
    source : int or None
        Instance id of the card or of the attacker; None for PASS.
    target : int or None
        Instance id of the target of an item or an attack, -1 for a player; None for PASS and
        SUMMON.
    lane : int or None
        The lane of a summoned creature; None for other kinds, and in 1.0, which has one lane.
    """

    kind: ActionKind
    card: Card | None = None
    source: int | None = None
    target: int | None = None
    lane: int | None = None

    def __str__(self) -> str:
        numbers = [self.source, self.lane if self.kind == ActionKind.SUMMON else self.target]
        return " ".join([ActionKind(self.kind).name, *[str(n) for n in numbers if n is not None]])

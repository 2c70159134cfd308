"""The rule sets "1.5", "1.2" and "1.0" as frozen data: every difference between them, named once.

Section numbers in comments are those of docs/rules.md. Compiled code has the same constants in
_core.pxd and in the files of the kernel; a test compares them.
"""

from dataclasses import dataclass

__all__ = ["RULES", "RULES_NAMES", "RuleSet", "get_rules"]

DECK_SIZE = 30
COPIES_PER_CARD = 2  # 1.5 only
OFFER_SIZE = 120  # cards of the offer in 1.5 at most; a generated list has as many
DRAFT_OFFER = 3  # cards of an offer in 1.x
START_HEALTH = 30
HAND_LIMIT = 8
MAX_MANA = 12
TURN_LIMIT = 50  # turns of one player; the 51st is the first one that hurts
OPENING_HAND = 4  # cards of player 0; player 1 has one more
DEFAULT_RUNES = (5, 10, 15, 20, 25)
MAX_BOARD = 6

# What a position may hold (section 13).
MAX_CARDS = 256  # different cards and instances, those that may be hidden included
MAX_INSTANCE_ID = 254
MAX_STAT = 30_500  # |attack| and |defense| of a creature: 500 printed, and 60 items of 500
MAX_HEALTH = 1_000_000_000
MAX_LOST = MAX_HEALTH // 10
MAX_DRAW = MAX_HEALTH // 20  # cards to draw, those for lost health included
MAX_TURN = 1 << 30


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Everything in which one rule set differs from another.

    Attributes
    ----------
    name : str
        "1.5", "1.2" or "1.0".
    lanes, lane_size : int
        The number of lanes, and of creatures that a player may have in each (section 0).
    draft : bool
        Whether the choice phase is thirty turns of three cards, not one turn over the whole offer
        (section 3).
    runes : bool
        Whether runes, lost at 25, 20, ... health, give cards and punish empty decks. Otherwise
        every five health lost give a card, and an empty deck costs ten health a draw (section 5).
    areas : bool
        Whether cards carry an area, which is a column of the protocol too (sections 7 and 9).
    choice_limits_ms, battle_limits_ms : pair of int
        Time limits in ms for the first call and for later ones (section 10).
    seed_names : tuple of str
        The names of the seeds, in the order in which they are derived from ``seed`` (section 1).
    """

    name: str
    lanes: int
    lane_size: int
    draft: bool
    runes: bool
    areas: bool
    choice_limits_ms: tuple[int, int]
    battle_limits_ms: tuple[int, int]
    seed_names: tuple[str, ...]

    @property
    def offer_size(self) -> int:
        """The most cards of an offer."""
        return DRAFT_OFFER if self.draft else OFFER_SIZE

    @property
    def num_actions(self) -> int:
        """Size of the action numbering (PASS included)."""
        return 155 if self.lanes == 1 else 145


_SHUFFLES = ("shufflePlayer0Seed", "shufflePlayer1Seed")


def _one_x(name: str, lanes: int, last_limit_ms: int) -> RuleSet:
    return RuleSet(
        name=name,
        lanes=lanes,
        lane_size=MAX_BOARD // lanes,
        draft=True,
        runes=True,
        areas=False,
        choice_limits_ms=(1000, 100),
        battle_limits_ms=(1000, last_limit_ms),
        seed_names=("draftChoicesSeed", *_SHUFFLES),
    )


#: The rule sets by name.
RULES: dict[str, RuleSet] = {
    "1.5": RuleSet(
        name="1.5",
        lanes=2,
        lane_size=3,
        draft=False,
        runes=False,
        areas=True,
        choice_limits_ms=(4000, 4000),
        battle_limits_ms=(1000, 200),
        seed_names=("cardGenSeed", "constructedChoicesSeed", *_SHUFFLES),
    ),
    "1.2": _one_x("1.2", lanes=2, last_limit_ms=200),
    "1.0": _one_x("1.0", lanes=1, last_limit_ms=100),
}


#: Their names; the place of one is its number in compiled code.
RULES_NAMES = tuple(RULES)
#: The size of the largest action numbering.
MAX_ACTIONS = max(rules.num_actions for rules in RULES.values())


def get_rules(name: str) -> RuleSet:
    """Return the rule set called `name`; ``ValueError`` for any other name.

    Parameters
    ----------
    name : str
        "1.5", "1.2" or "1.0".
    """
    try:
        return RULES[name]
    except (KeyError, TypeError):
        known = ", ".join(map(repr, RULES))
        raise ValueError(f"unknown rules {name!r}: expected one of {known}") from None

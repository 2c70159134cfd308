__all__ = [
    "BATTLES",
    "CARD_SET",
    "DECKS",
    "IN_BATTLE",
    "IN_CHOICE",
    "NOTHING",
    "OPPONENT",
    "SEARCH",
]

NOTHING: int
CARD_SET: int
DECKS: int
OPPONENT: int
SEARCH: int
BATTLES: int
IN_BATTLE: int
IN_CHOICE: int

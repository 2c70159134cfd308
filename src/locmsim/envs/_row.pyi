__all__ = [
    "BATTLES",
    "BY_CALLER",
    "BY_PYTHON",
    "BY_SEARCH",
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
BY_PYTHON: int
BY_SEARCH: int
BY_CALLER: int
IN_BATTLE: int
IN_CHOICE: int

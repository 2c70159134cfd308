__all__: list[str]

NOTHING: int
CARD_SET: int
DECKS: int
OPPONENT: int
SEARCH: int
BATTLES: int
IN_BATTLE: int
IN_CHOICE: int

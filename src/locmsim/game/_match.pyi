from collections.abc import Iterable, Sequence
from typing import Any, final

from locmsim._core import State
from locmsim.game.observation import Observation
from locmsim.rules.cards import Card

NO_FAULT: int
NO_ANSWER: int
MALFORMED: int
UNKNOWN_WORD: int
NO_NUMBER: int
NOT_OFFERED: int
NO_PLACE: int
THIRD_COPY: int
NOTHING_LEFT: int
WRONG_COUNT: int
ILLEGAL: int

@final
class CompiledCards:
    offer: tuple[Card, ...]
    seen: Observation
    def __init__(self, rules: str, cards: Sequence[Card]) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class MatchCore:
    cards: CompiledCards
    def __init__(
        self,
        rules: str,
        cards: CompiledCards,
        seeds: Sequence[int],
        allowed: bytes = b"",
        triplets: Sequence[Sequence[int]] | None = None,
    ) -> None: ...
    def clone(self) -> MatchCore: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def offers(self) -> list[list[Card]]: ...
    def observation(self, player: int, step: int) -> Observation: ...
    def legal_picks(self, picks: Sequence[int]) -> list[int]: ...
    def answer(self, player: int, line: str, chosen: list[int]) -> int: ...
    def end(
        self, state: State | None, player: int = -1, fault: int = ...
    ) -> tuple[int, list[int]]: ...
    def deal(self) -> State: ...
    def decks(self) -> list[list[list[int]]]: ...

def derived_seeds(rules: str, seed: int) -> list[int]: ...
def base_ids(rules: str, cards: Iterable[Sequence[int]]) -> dict[str, int]: ...

"""Nim for locmsim: players take turns removing objects from a heap; taking the last one wins."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import xor
from random import Random
from typing import Any, ClassVar

from locmsim.contract import (
    BaseGame,
    Fault,
    FaultKind,
    LoggedMatch,
    LoggedTurn,
    TurnResult,
    View,
)

Heaps = list[int]


class NimMatch:
    """A match: a program reads the heap sizes, ``3 0 5``, and answers with a heap and a count."""

    def __init__(self, start: Heaps, seed: int) -> None:
        self.start, self.seed = start, seed
        self.heaps = start.copy()
        self.turn = 0
        self.answers: list[str | None] = []
        self.winner: int | None = None
        self.error: Fault | None = None

    @property
    def to_ask(self) -> tuple[int, ...]:
        return (self.turn % 2,) if self.winner is None else ()

    def input_text(self, player: int) -> str:
        return " ".join(map(str, self.heaps)) + "\n"

    def ask(self, agent: Any, player: int) -> Callable[[], str]:
        heaps = self.heaps.copy()
        return lambda: "{} {}".format(*agent.move(heaps))

    def time_limit_ms(self, player: int) -> float:
        return 100

    def submit(self, player: int, line: str | None) -> TurnResult:
        if player not in self.to_ask:
            raise ValueError(f"player {player} is not asked now")
        self.answers.append(line)
        try:
            heap, count = map(int, (line or "").split())
            legal = 0 <= heap < len(self.heaps) and 0 < count <= self.heaps[heap]
        except ValueError:
            legal = False
        if not legal:
            kind = FaultKind.TIMEOUT if line is None else FaultKind.MALFORMED
            self.winner, self.error = 1 - player, Fault(player, kind, "expected a heap and a count")
            return TurnResult([], [], self.error)
        self.heaps[heap] -= count
        self.turn += 1
        if not any(self.heaps):
            self.winner = player
        return TurnResult([f"{heap} {count}"], [])

    @property
    def scores(self) -> list[int] | None:
        return None if self.winner is None else [int(self.winner == seat) for seat in (0, 1)]

    def explain(self) -> str:
        return self.error.message if self.error else ""

    @property
    def params(self) -> dict[str, int | str]:
        return {"seed": self.seed}

    def root(self) -> "NimMatch":
        return NimMatch(self.start, self.seed)

    def state_key(self) -> object:
        return self.heaps.copy(), self.turn % 2, self.winner

    @property
    def log(self) -> dict[str, Any]:
        return {"heaps": self.start, "answers": self.answers}


class RandomAgent:
    """Takes any number of objects from any heap."""

    def reset(self, seed: int = 0) -> None:
        self.random = Random(seed)

    def move(self, heaps: Heaps) -> tuple[int, int]:
        heap = self.random.choice([i for i, size in enumerate(heaps) if size])
        return heap, self.random.randint(1, heaps[heap])


class PerfectAgent(RandomAgent):
    """Leaves heaps whose exclusive or is 0, except in a share of its moves."""

    def __init__(self, mistakes: float = 0.0) -> None:
        if not 0 <= mistakes <= 1:
            raise ValueError(f"mistakes: expected 0 to 1, got {mistakes}")
        self.mistakes = mistakes

    def move(self, heaps: Heaps) -> tuple[int, int]:
        total = reduce(xor, heaps)
        if total and self.random.random() >= self.mistakes:
            for heap, size in enumerate(heaps):
                if size ^ total < size:
                    return heap, size - (size ^ total)
        return super().move(heaps)


class ClubMatch:
    """A match in the log of a club: a line with its heaps and players, then one for each move."""

    def __init__(self, game: "NimGame", event: Mapping[str, Any]) -> None:
        first, second = event["players"]
        self.game, self.names, self.over = game, (str(first), str(second)), False
        self.match = NimMatch(event["nim"], 0)

    def take(self, event: Mapping[str, Any]) -> bool:
        if "nim" in event:  # the next match
            return False
        self.match.submit(self.match.turn % 2, event["move"])
        self.over = not self.match.to_ask
        return True

    def matches(self) -> list[LoggedMatch]:
        return [LoggedMatch(1, self.names, self.match.turn, self.match.winner, self.over)]

    def steps(self, lines: Iterable[bytes], number: int) -> Iterator[LoggedTurn]:
        match = self.match.root()
        yield LoggedTurn(self.game.view(match))
        for move in [event["move"] for event in map(json.loads, lines) if "move" in event]:
            turn = match.turn
            match.submit(turn % 2, move)
            yield LoggedTurn(self.game.view(match), turn, turn % 2, move)


@dataclass(frozen=True)
class NimGame(BaseGame):
    """Nim with `heaps` heaps of 1 to `most` objects."""

    heaps: int = 4
    most: int = 9

    title = "Nim"
    turn_name = "move"
    agents: ClassVar = {"random": RandomAgent, "perfect": PerfectAgent}
    methods = ("reset", "move")

    def __post_init__(self) -> None:
        if self.heaps < 1 or self.most < 1:
            raise ValueError(f"heaps and most: expected 1 or more, got {self.heaps}, {self.most}")

    def new_match(self, seed: int, card_seed: int | None = None) -> NimMatch:
        if card_seed is not None:
            raise ValueError("there are no cards in Nim")
        random = Random(seed)
        return NimMatch([random.randint(1, self.most) for _ in range(self.heaps)], seed)

    @classmethod
    def log_part(cls, event: Mapping[str, Any]) -> ClubMatch | None:
        return ClubMatch(cls(), event) if "nim" in event else None

    def view(self, match: NimMatch) -> View:
        dots = "".join(
            f'<circle cx="{20 * x + 12}" cy="{20 * y + 12}" r="8"/>'
            for y, size in enumerate(match.heaps)
            for x in range(size)
        )
        box = f"0 0 {20 * self.most + 4} {20 * self.heaps + 4}"
        drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">{dots}</svg>'
        removed = f"taken: {match.answers[-1]}" if match.answers else ""
        return View(match.input_text(0), removed, drawing=drawing)

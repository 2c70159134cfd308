"""A person's side of a match: what they were asked, and what they have done of their answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from locmsim._core import State
from locmsim.decks import deck_line
from locmsim.game.observation import Observation
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES
from locmsim.web.hints import Question
from locmsim.web.views import Cards

__all__ = ["Person"]


class Person:
    """A person who plays. One thread at a time uses an object.

    Parameters
    ----------
    rules : str
        The rule set.
    cards : Cards
        Those of the page.
    by_id : mapping
        The cards on offer by base id.
    """

    def __init__(self, rules: str, cards: Cards, by_id: Mapping[int, Card]) -> None:
        self._draft = RULES[rules].draft
        self._cards, self._by_id = cards, by_id
        self._seen: list[Observation] = []
        self._picked: list[int] = []
        #: What they are asked now; None if they are not.
        self.asked: Observation | None = None
        #: The state at the start of their turn, and the one after the actions of it so far.
        self._start: State | None = None
        self.now: State | None = None
        self.done: list[str] = []

    def ask(self, observation: Observation, state: State | None) -> None:
        """Ask for an answer; the state is that of the battle."""
        self._seen.append(observation)
        self.asked = observation
        if state is not None:
            self._start = state.clone()
            self.now = state.clone()
            self.done = []

    def question(self) -> Question | None:
        """Return what they are asked; None if they are not."""
        if self.asked is None:
            return None
        start = None if self._start is None else self._start.clone()
        return Question(self._seen[:], self._picked[:], start)

    # ------------------------------------------------------------------------------ the choice

    def choice(self) -> dict[str, Any]:
        """Return what the page shows of the choice phase."""
        offer = () if self.asked is None else self.asked.offer
        return {
            "draft": self._draft,
            "offer": self._keys([card.base_id for card in offer]),
            "chosen": self._keys(self._picked),
            "size": DECK_SIZE,
            "copies": COPIES_PER_CARD,
        }

    def _keys(self, base_ids: Sequence[int]) -> list[str]:
        return [self._cards.key(self._by_id[base_id]) for base_id in base_ids]

    def choose(self, keys: Sequence[str]) -> str:
        """Take a deck, or one card of a draft; return the answer, or raise ``ValueError``."""
        if self.asked is None or self.asked.phase != "choice":
            raise ValueError("the cards are chosen already")
        offer = [card.base_id for card in self.asked.offer]
        base_ids = dict(zip(self._keys(offer), offer, strict=True))
        for key in keys:
            if key not in base_ids:
                raise ValueError(f"card {key!r} is not offered")
        chosen = [base_ids[key] for key in keys]
        if self._draft:
            if len(chosen) != 1:
                raise ValueError(f"expected one card, got {len(chosen)}")
            line = f"PICK {offer.index(chosen[0])}"
        else:
            if len(chosen) != DECK_SIZE:
                raise ValueError(f"a deck has {DECK_SIZE} cards, got {len(chosen)}")
            if max(map(chosen.count, chosen)) > COPIES_PER_CARD:
                raise ValueError(f"a deck has at most {COPIES_PER_CARD} of a card")
            line = deck_line(chosen)
        self._picked += chosen
        return line

    # -------------------------------------------------------------------------------- the turn

    def undo(self) -> None:
        """Take the last action back, which is only sent with the turn, or raise ``ValueError``."""
        if not self.done or self._start is None:
            raise ValueError("there is nothing to take back")
        self.done.pop()
        self.now = self._start.clone()
        for text in self.done:
            self.now.apply_action(self.now.string_to_action(text))

    @property
    def line(self) -> str:
        """The answer of the turn so far."""
        return ";".join(self.done) or "PASS"

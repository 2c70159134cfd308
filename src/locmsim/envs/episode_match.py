"""How an episode came about, so that it can be played again."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from locmsim.game.match import Match
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import get_rules

__all__ = ["EpisodeMatch"]


class EpisodeMatch(Mapping[str, Any]):
    """How an episode came about, so that the referee can play it again: a mapping.

    ``rules``; ``params``: the referee's own parameters; ``choices``: for each player the answer
    lines of the choice phase; ``cards``: rows of the card list if it follows from no seed. None is
    known of an episode that began with a given position. Texts are made when they are asked for.

    Parameters
    ----------
    rules : str
    result : tuple
        Seed, derived seeds, both decks as indices into the cards, and the offers.
    cards : list of Card
        The cards of the episode.
    fixed : bool
        Whether the cards follow from no seed.
    """

    def __init__(self, rules: str, result: tuple[Any, ...], cards: list[Card], fixed: bool) -> None:
        self._rules = rules
        self._result = result
        self._cards = cards
        self._fixed_cards = fixed
        self._log: dict[str, Any] | None = None

    def _all(self) -> dict[str, Any]:
        if self._log is None:
            seed, seeds, decks, triplets = self._result
            if isinstance(decks, bytes):  # most matches are never looked at
                decks = np.frombuffer(decks, np.uint8).reshape(2, -1).tolist()
                triplets = np.frombuffer(triplets, np.uint8).reshape(-1, 3).tolist()
            rules = get_rules(self._rules)
            params: dict[str, Any] = {
                "seed": seed,
                **dict(zip(rules.seed_names, seeds, strict=True)),
            }
            bases = [card.base_id for card in self._cards]
            if rules.draft:
                if any(card not in triplet for deck in decks
                       for card, triplet in zip(deck, triplets, strict=True)):  # fmt: skip
                    # Decks that no draft gave: one that offers their cards does.
                    triplets = [[a, b, a] for a, b in zip(*decks, strict=True)]
                    params["predefinedDraftIds"] = ",".join(
                        "_".join(str(bases[card]) for card in triplet) for triplet in triplets
                    )
                choices = [
                    [f"PICK {t.index(card)}" for card, t in zip(deck, triplets, strict=True)]
                    for deck in decks
                ]
            else:
                choices = [[";".join(f"CHOOSE {bases[card]}" for card in deck)] for deck in decks]
            self._log = {"rules": self._rules, "params": params, "choices": choices}
            if self._fixed_cards:
                self._log["cards"] = [card.to_row() for card in self._cards]
        return self._log

    def __getitem__(self, key: str) -> Any:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def match(self) -> Match:
        """Return the match at the start of its battle."""
        cards = [Card.from_row(row) for row in self["cards"]] if "cards" in self else None
        match = Match(self["rules"], params=self["params"], cards=cards)
        for lines in zip(*self["choices"], strict=True):
            for player, line in enumerate(lines):
                match.submit(player, line)
        return match

    def __repr__(self) -> str:
        return f"EpisodeMatch({self._all()!r})"

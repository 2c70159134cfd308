"""A policy of the choice phase as a deck builder (1.5) and a draft picker (1.x)."""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from locmsim.decks import HistoryPicker
from locmsim.game.layouts import CHOICE, choice_tensor, get_layout
from locmsim.policy.contract import PolicyCaller
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, get_rules


class PolicyChooser:
    """Chooses cards as a policy of the layout "choice" rates them highest.

    Its method `build` is a `locmsim.decks.DeckBuilder`, its `picker` a `locmsim.decks.DraftPicker`.
    The seeds that the policy is given follow from what it sees, so that the same cards are always
    chosen alike.

    Parameters
    ----------
    policy : BatchPolicy
        A policy whose layout is "choice". In a draft, one with a memory (`state_shape`) is shown
        all offers so far in each turn.

    Attributes
    ----------
    picker : HistoryPicker
        Chooses the cards of a draft.

    Raises
    ------
    ValueError
        The policy has another layout, or lacks something.

    Examples
    --------
    >>> from locmsim import generate_cards
    >>> from locmsim.policy import Policy
    >>> chooser = PolicyChooser(Policy.random("cards", seed=1))
    >>> len(chooser.build(generate_cards(1)))
    30
    """

    def __init__(self, policy: Any) -> None:
        self._caller = PolicyCaller(policy, choice=True)
        self.picker: HistoryPicker = _Picker(self)

    @property
    def rules(self) -> str:
        """The rule set that the policy was trained on."""
        return self._caller.rules

    def build(self, cards: Sequence[Card]) -> list[int]:
        """Return a deck of 1.5 as base ids, in the order of choice.

        Parameters
        ----------
        cards : sequence of Card
            The offer.

        Raises
        ------
        ValueError
            The policy was trained for a draft.
        """
        self._check_rules("1.5")
        offer = sorted({card.base_id: card for card in cards}.values(), key=lambda c: c.base_id)
        masks = np.zeros((1, get_layout(CHOICE, "1.5").actions), np.int8)
        left = np.zeros(masks.shape[1], np.int64)
        left[: len(offer)] = COPIES_PER_CARD
        chosen: list[Card] = []
        memory = self._caller.start(1)
        while len(chosen) < DECK_SIZE:
            masks[0] = left > 0
            card = self._best("1.5", offer, chosen, masks, memory)
            left[card] -= 1
            chosen.append(offer[card])
        return [card.base_id for card in chosen]

    def pick(self, offer: Sequence[Card], picked: Sequence[Card], rules: str) -> int:
        """Return the index of the card to take in a draft.

        Parameters
        ----------
        offer : sequence of Card
            Three cards.
        picked : sequence of Card
            The cards taken before.
        rules : str
            The rule set.

        Raises
        ------
        ValueError
            The policy was trained on other rules.
        """
        return self.picker(offer, picked, rules)

    def _pick(self, offers: Sequence[Sequence[Card]], picked: Sequence[Card], rules: str) -> int:
        self._check_rules(rules)
        memory = self._caller.start(1)
        first = len(picked) if memory is None else 0  # what a policy without memory needs
        choice = -1
        for number in range(first, len(offers)):
            masks = np.ones((1, len(offers[number])), np.int8)
            choice = self._best(rules, offers[number], picked[:number], masks, memory)
        return choice

    def _best(
        self, rules: str, offer: Sequence[Card], chosen: Sequence[Card], masks: Any, memory: Any
    ) -> int:
        seen = choice_tensor(rules, offer, chosen)
        seeds = np.array([zlib.crc32(seen.tobytes())], np.uint64)
        return int(self._caller.act(seen[None], masks, seeds, memory)[0])

    def _check_rules(self, rules: str) -> None:
        if get_rules(self.rules).name != rules:
            raise ValueError(f"the policy chooses cards of rules {self.rules}, not of {rules}")


class _Picker(HistoryPicker):
    """The picks of a `PolicyChooser`."""

    def __init__(self, chooser: PolicyChooser) -> None:
        self._chooser = chooser

    def choose(self, offers: Sequence[Sequence[Card]], picked: Sequence[Card], rules: str) -> int:
        return self._chooser._pick(offers, picked, rules)

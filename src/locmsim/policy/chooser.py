"""A policy of the choice phase as a deck builder (1.5) and a draft picker (1.x)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from locmsim.game.layouts import CHOICE, choice_tensor, get_layout
from locmsim.policy.contract import PolicyCaller
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, get_rules

__all__ = ["PolicyChooser"]


class PolicyChooser:
    """Chooses cards as a policy of the layout "choice" rates them highest.

    Its methods are a `locmsim.decks.DeckBuilder` and a `locmsim.decks.DraftPicker`.

    Parameters
    ----------
    policy : BatchPolicy
        A policy whose layout is "choice".

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
        offer = sorted({card.base_id: card for card in cards}.values(), key=_base_id)
        masks = np.zeros((1, get_layout(CHOICE, "1.5").actions), np.int8)
        left = np.zeros(masks.shape[1], np.int64)
        left[: len(offer)] = COPIES_PER_CARD
        chosen: list[Card] = []
        while len(chosen) < DECK_SIZE:
            masks[0] = left > 0
            card = self._best("1.5", offer, chosen, masks)
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
        self._check_rules(rules)
        return self._best(rules, offer, picked, np.ones((1, len(offer)), np.int8))

    def _best(self, rules: str, offer: Sequence[Card], chosen: Sequence[Card], masks: Any) -> int:
        seen = choice_tensor(rules, offer, chosen)
        return int(self._caller.act(seen[None], masks, np.zeros(1, np.uint64))[0])

    def _check_rules(self, rules: str) -> None:
        if get_rules(self.rules).name != rules:
            raise ValueError(f"the policy chooses cards of rules {self.rules}, not of {rules}")


def _base_id(card: Card) -> int:
    return card.base_id

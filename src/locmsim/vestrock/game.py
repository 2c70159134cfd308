"""Vestrock as a game of the arena: what it needs beside `locmsim.vestrock.Match`."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from locmsim.contract import BaseGame, View
from locmsim.vestrock.bots import BOTS
from locmsim.vestrock.deck import generate_deck
from locmsim.vestrock.match import Match
from locmsim.vestrock.pictures import match_view

__all__ = ["VestrockGame"]


@dataclass(frozen=True)
class VestrockGame(BaseGame):
    """Matches with decks of the generator and these parameters.

    A player's answer is all commands of a turn without the match, joined by ``;``; one that is
    refused is left out.

    Parameters
    ----------
    cards : int
        Number of cards of a deck.
    init_hp, turns, draws, burns, hand_limit : int
        As for `locmsim.vestrock.Match`.

    Raises
    ------
    ValueError
        Naming the parameter that is out of bounds.
    """

    cards: int = 100
    init_hp: int = 20
    turns: int = 60
    draws: int = 2
    burns: int = 2
    hand_limit: int = 10
    title: ClassVar[str] = "Vestrock"
    scored: ClassVar[bool] = True
    agents: ClassVar[Mapping[str, Callable[..., Any]]] = BOTS
    methods = ("reset", "turn")

    def __post_init__(self) -> None:
        self.new_match(0)

    def view(self, match: Match) -> View:
        """Return position and health as text and picture, and the scores at the end."""
        return match_view(match)

    def new_match(self, seed: int, card_seed: int | None = None) -> Match:
        """Return the match with the deck of `seed`, before its first answer.

        ``ValueError`` for a `card_seed`: nothing but the deck depends on a seed, so matches with
        the same one would be the same.
        """
        if card_seed is not None:
            raise ValueError("matches of Vestrock with the same deck are the same")
        parameters = asdict(self)
        deck = generate_deck(seed, parameters.pop("cards"))
        return Match(deck, seed=seed, **parameters)

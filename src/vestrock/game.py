"""The adapter that makes Vestrock, with `vestrock.Match`, a game of the arena."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

from locmsim.contract import BaseGame, LogPart, View
from locmsim.gamekit import Option, check_values, documented
from vestrock.bots import BOTS
from vestrock.deck import MAX_CARDS, generate_deck
from vestrock.match import Match
from vestrock.options import Parameters
from vestrock.pictures import match_view

__all__ = ["VestrockGame"]


@documented()
@dataclass(frozen=True)
class VestrockGame(Parameters, BaseGame):
    """Vestrock with generated decks and the given parameters.

    A player's answer contains all commands of a turn, joined by ``;`` and without the match id. A
    command that is refused is skipped.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        A parameter is out of bounds; the message names it.
    """

    cards: Annotated[int, Option("number of cards in a deck", 1, MAX_CARDS)] = 100
    title: ClassVar[str] = "Vestrock"
    scored: ClassVar[bool] = True
    agents: ClassVar[Mapping[str, Callable[..., Any]]] = BOTS
    methods = ("reset", "turn")

    def __post_init__(self) -> None:
        check_values(VestrockGame, cards=self.cards)
        self.new_match(0)

    def view(self, match: Match) -> View:
        """Return the position as text and picture, with the healths or the final scores.

        Parameters
        ----------
        match : Match
            A match of this game.
        """
        return match_view(match)

    @classmethod
    def log_part(cls, event: Mapping[str, Any]) -> LogPart | None:
        """Return the tournament of a server's log that begins with this event.

        Parameters
        ----------
        event : mapping
            The JSON object of a line.
        """
        if event.get("event") not in ("server", "tournament") or (
            event.get("game", "vestrock") != "vestrock"
        ):
            return None
        from vestrock.logparts import LoggedTournament

        return LoggedTournament(cls(), event)

    def new_match(self, seed: int, card_seed: int | None = None) -> Match:
        """Return a match with the deck of `seed`, before its first answer.

        A `card_seed` raises ``ValueError``: only the deck depends on a seed, so all matches with
        the same deck would be identical.

        Parameters
        ----------
        seed : int
            The seed of the deck.
        card_seed : int, optional
            None: it has no cards of its own.
        """
        if card_seed is not None:
            raise ValueError("matches of Vestrock with the same deck are the same")
        parameters = asdict(self)
        deck = generate_deck(seed, parameters.pop("cards"))
        return Match(deck, seed=seed, **parameters)

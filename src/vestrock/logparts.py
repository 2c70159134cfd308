"""Tournaments in the log of a server, as pages list and show them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from locmsim.contract import Game, LoggedMatch, LoggedTurn
from vestrock.eventlog import match_steps


class LoggedTournament:
    """The `locmsim.contract.LogPart` of a tournament.

    Parameters
    ----------
    game : Game
        The game.
    event : mapping
        The event that starts the tournament, or a server, which has no matches yet.
    """

    def __init__(self, game: Game, event: Mapping[str, Any]) -> None:
        self.game = game
        self.over = event["event"] == "server"
        self._matches = {
            number: LoggedMatch(number, (str(first), str(second)))
            for number, first, second in event.get("matches", ())
        }

    def take(self, event: Mapping[str, Any]) -> bool:
        """Take the next event; return False if a tournament or a server starts with it."""
        kind = event["event"]
        if kind in ("tournament", "server"):
            return False
        if kind in ("awards", "cut"):
            self.over = True
        elif kind == "end_turn":
            for number, match in self._matches.items():
                if not match.over:
                    self._matches[number] = replace(match, turns=match.turns + 1)
        elif kind == "result":
            first, second = event["scores"]
            winner = None if first == second else int(second > first)
            match = self._matches[event["match"]]
            self._matches[match.number] = replace(match, winner=winner, over=True)
        return True

    def matches(self) -> Sequence[LoggedMatch]:
        """Return the matches, in the order of their numbers."""
        return [*self._matches.values()]

    def steps(self, lines: Iterable[bytes], number: int) -> Iterator[LoggedTurn]:
        """Yield a match turn by turn, see `vestrock.eventlog.match_steps`."""
        return match_steps(lines, number)

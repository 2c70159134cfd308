"""A tournament: pairings, simultaneous matches, ranks and awards.

Nothing here uses a clock, connections or files, so that results depend only on the calls. The rules
are in docs/vestrock/rules.md, "Tournament".
"""

import hashlib
import itertools
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vestrock._core import Table
from vestrock.deck import Card
from vestrock.match import Match

if TYPE_CHECKING:
    from vestrock.bots import Bot

#: The exponent of a score's rank in its award.
_EXPONENT = 1.5


class Result(NamedTuple):
    """The result of a finished match."""

    match: int
    #: The players; the first moved in turn 1.
    players: tuple[str, str]
    #: Their scores.
    scores: tuple[int, int]


class Standing(NamedTuple):
    """A line of the standings."""

    #: The place, from 1; players with equal sums share a place.
    place: int
    player: str
    #: The sum of the player's awards.
    total: float
    #: Number of tournaments of the player.
    tournaments: int


def pairs(players: Iterable[str]) -> list[tuple[str, str]]:
    """Return the matches of a tournament as (first, second), by match id.

    Any two players meet twice, and each of them moves first once.
    """
    return [
        seats
        for one, other in itertools.combinations(sorted(players), 2)
        for seats in ((one, other), (other, one))
    ]


def ranks(scores: Sequence[int]) -> dict[int, int]:
    """Return the rank R(S) of each score S: the number of scores that are strictly smaller."""
    ordered = sorted(scores)
    return {score: bisect_left(ordered, score) for score in set(ordered)}


def awards(results: Iterable[Result]) -> dict[str, float]:
    """Return the award of each player: the sum of R(S)^1.5 over their scores S.

    Parameters
    ----------
    results : iterable of Result
        All matches of the tournament.

    Returns
    -------
    dict of str to float
        The awards by name, sorted by name.
    """
    scores: dict[str, list[int]] = {}
    for result in results:
        for player, score in zip(result.players, result.scores, strict=True):
            scores.setdefault(player, []).append(score)
    rank = ranks(list(itertools.chain.from_iterable(scores.values())))
    return {
        player: math.fsum(rank[score] ** _EXPONENT for score in scores[player])
        for player in sorted(scores)
    }


def standings(tournaments: Iterable[Mapping[str, float]]) -> list[Standing]:
    """Return the standings after some tournaments, best first.

    Parameters
    ----------
    tournaments : iterable of mapping
        The awards of each tournament, as returned by `awards`.

    Returns
    -------
    list of Standing
        The standings, sorted by place, then by name. Sums are compared without rounding.
    """
    received: dict[str, list[float]] = {}
    for tournament in tournaments:
        for player, award in tournament.items():
            received.setdefault(player, []).append(award)
    totals = sorted((-math.fsum(received[player]), player) for player in received)
    sums = [total for total, _ in totals]
    return [
        Standing(1 + bisect_left(sums, total), player, -total, len(received[player]))
        for total, player in totals
    ]


def state_hash(match: Match) -> str:
    """Return 16 hexadecimal digits that identify the state of a match."""
    return hashlib.sha256(match.state.key()).hexdigest()[:16]


class Tournament:
    """All matches between some players, all with the same deck.

    Parameters
    ----------
    number : int
        Number of the tournament.
    deck : sequence of Card
        The deck of all matches, top first.
    players : iterable of str
        The names of the players, at least two.
    parameters : mapping
        Parameters of the matches, as for `vestrock.Match`.
    first_id : int
        Id of the first match; the other ids follow.

    Raises
    ------
    ValueError
        There are fewer than two players, a name occurs twice, or a parameter is not valid.
    """

    def __init__(
        self,
        number: int,
        deck: Sequence[Card],
        players: Iterable[str],
        parameters: Mapping[str, Any] | None = None,
        *,
        first_id: int = 1,
    ) -> None:
        self.number = number
        self.players = sorted(players)
        if len(self.players) < 2:
            raise ValueError(f"players: expected at least two, got {len(self.players)}")
        if len(set(self.players)) < len(self.players):
            raise ValueError("players: a name occurs twice")
        #: The table of all matches: deck and parameters.
        self.table = Table(deck, **(parameters or {}))
        #: The matches by id, ascending.
        self.matches: dict[int, Match] = {
            id_: Match(self.table, players=seats, match_id=id_)
            for id_, seats in enumerate(pairs(self.players), first_id)
        }
        #: The turn that all matches are in, from 1.
        self.turn = 1
        self.results: dict[int, Result] = {}
        #: The running matches of each player, ascending.
        self._running: dict[str, list[int]] = {player: [] for player in self.players}
        for id_, match in self.matches.items():
            for player in match.players:
                self._running[player].append(id_)

    def running(self, player: str) -> list[int]:
        """Return the ids of a player's unfinished matches, ascending; [] for unknown names."""
        ids = self._running.get(player)
        if ids is None:
            return []
        # Matches that ended in this turn are removed here, the others by `end_turn`.
        return [id_ for id_ in ids if not self.matches[id_].is_over]

    def end_turn(self) -> list[Result]:
        """End the turn in all running matches.

        Returns
        -------
        list of Result
            The results of the matches that have ended since the last call, by id.
        """
        ended = []
        for id_, match in self.matches.items():
            if id_ in self.results:
                continue
            match.end_turn()
            if match.scores is not None:
                one, other = match.scores
                self.results[id_] = Result(id_, match.players, (one, other))
                ended.append(self.results[id_])
        self.turn += 1
        if ended:
            over = {result.match for result in ended}
            for player, ids in self._running.items():
                self._running[player] = [id_ for id_ in ids if id_ not in over]
        return ended

    def play(self, bots: "Mapping[str, Bot]", time_ms: float | None = None) -> None:
        """Play the whole tournament between bots in this process, without sockets or a clock.

        Parameters
        ----------
        bots : mapping of str to bot
            The bot of each player.
        time_ms : float, optional
            Time of each bot per turn of a match; None for its own default.

        Raises
        ------
        ValueError
            A bot's command is refused.
        """
        for match in self.matches.values():
            while match.to_ask:
                (player,) = match.to_ask
                name = match.players[player]
                result = match.submit(player, bots[name].turn(match.state, time_ms))
                if result.ignored:
                    raise ValueError(f"{name}: refused: {', '.join(result.ignored)}")
        while not self.over:
            self.end_turn()

    @property
    def over(self) -> bool:
        """Whether all matches are finished."""
        return len(self.results) == len(self.matches)

    def awards(self) -> dict[str, float]:
        """Return the awards by name; ``ValueError`` before the end."""
        if not self.over:
            raise ValueError(f"tournament {self.number} is not over")
        return awards(self.results.values())

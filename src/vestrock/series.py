"""A series of tournaments, driven by the players' commands and the ticks of the clock.

A `Series` does everything that the server does between reading a command and writing its reply. It
has no clock and no sockets, so that its behaviour depends only on the calls. It emits events, which
`vestrock.eventlog` writes and replays.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from vestrock.deck import Card
from vestrock.match import CommandError, Match
from vestrock.protocol import COMMANDS, Command, error_line
from vestrock.tournament import Result, Tournament, state_hash

_log = logging.getLogger(__name__)

#: Maximum number of commands of a player in a turn; ``WAIT`` is free.
COMMAND_LIMIT: Final = 5_000
#: Maximum number of lines of replies to a player in a turn.
LINE_LIMIT: Final = 200_000

#: An event as plain dicts, lists, numbers and strings, with the key ``event``.
Event = dict[str, Any]


#: What receives the number of a finished tournament, its results and its awards.
ResultSink = Callable[[int, Iterable[Result], Mapping[str, float]], object]


class Series:
    """A series of tournaments.

    Parameters
    ----------
    deck : callable
        Returns the deck of a tournament by its number.
    sink : callable
        Receives the number of a finished tournament, its results and its awards.
    record : callable
        Receives the events, in order.
    number : int
        Number of the first tournament.
    parameters : mapping
        Parameters of the matches, as for `vestrock.Match`.
    players : int
        Number of players that a tournament needs, at least 2.
    break_turns : int
        Number of whole turns between tournaments, and before the first one.
    tournaments : int, optional
        Maximum number of tournaments.
    refused : bool
        Whether to record refused commands too.
    """

    def __init__(
        self,
        deck: Callable[[int], Sequence[Card]],
        sink: ResultSink,
        record: Callable[[Event], object],
        *,
        number: int = 1,
        parameters: Mapping[str, Any] | None = None,
        players: int = 2,
        break_turns: int = 2,
        tournaments: int | None = None,
        refused: bool = False,
    ) -> None:
        self._deck = deck
        self._sink = sink
        self._record = record
        self._parameters = dict(parameters or {})
        #: Number of players that a tournament needs.
        self.players = players
        self._break_turns = break_turns
        self._refused = refused
        self._tournaments = tournaments
        self._pause = break_turns
        self._next_number = number
        self._next_id = 1
        #: The running tournament.
        self.tournament: Tournament | None = None
        #: Number of finished tournaments.
        self.finished = 0
        #: Matches of the running and of the previous tournament by id.
        self._matches: dict[int, Match] = {}
        self._previous: Tournament | None = None
        #: By player, the commands and reply lines of this turn.
        self._spent: dict[str, list[int]] = {}

    # ---------------------------------------------------------------------------- commands

    def execute(self, player: str, command: Command | int) -> list[str]:
        """Execute a command other than ``WAIT``.

        Parameters
        ----------
        player : str
            The player.
        command : Command or int
            The result of `vestrock.protocol.parse`; an error code counts as a command too.

        Returns
        -------
        list of str
            The lines of the reply.
        """
        spent = self.count(player)
        if spent[0] > COMMAND_LIMIT or spent[1] >= LINE_LIMIT:
            return [error_line(6)]
        try:
            reply = self._reply(player, command)
        except Exception:
            _log.exception("%s by %s failed", command, player)
            reply = [error_line(5)]
        spent[1] += len(reply)
        return reply

    def count(self, player: str) -> list[int]:
        """Count a line of a player as a command.

        Returns
        -------
        list of int
            The player's numbers of commands and of reply lines in this turn.
        """
        spent = self._spent.get(player)
        if spent is None:
            spent = self._spent[player] = [0, 0]
        spent[0] += 1
        return spent

    def _reply(self, player: str, command: Command | int) -> list[str]:
        if isinstance(command, int):
            return [error_line(command)]
        word = command.word
        if word == "GET_MY_MATCHES":
            ids = self.tournament.running(player) if self.tournament else []
            return ["OK", str(len(ids)), " ".join(map(str, ids))]
        match = self._matches.get(command.arguments[0])
        if match is None or player not in match.players:
            return [error_line(930)]
        was_over = match.is_over
        try:
            reply = match.execute(player, command)
        except CommandError as error:
            # An action ends the blocking phase. If the attackers then end the match, the action
            # itself is refused, but it has changed the match and must be recorded.
            if match.is_over and not was_over:
                self._act("action", player, command)
            elif self._refused and self.tournament and match.match_id in self.tournament.matches:
                self._act("refused", player, command, error=error.code)
            return [str(error)]
        if COMMANDS[word].action:
            self._act("action", player, command)
        return reply

    def _act(self, event: str, player: str, command: Command, **more: int) -> None:
        turn = self.tournament.turn if self.tournament else 0
        arguments = " ".join(map(str, command.arguments[1:]))
        self._record(
            {
                "event": event,
                "turn": turn,
                "match": command.arguments[0],
                "player": player,
                "command": f"{command.word} {arguments}" if arguments else command.word,
                **more,
            }
        )

    # ------------------------------------------------------------------------------- ticks

    def tick(self, present: Iterable[str]) -> None:
        """End the turn, then start the next turn, a break or a tournament.

        Parameters
        ----------
        present : iterable of str
            The players who would take part in a tournament that starts now.
        """
        self._spent.clear()
        if self.tournament is not None:
            self._end_turn(self.tournament)
        elif self._pause:
            self._pause -= 1
        if self.finished == self._tournaments:
            return
        if self.tournament is None and not self._pause:
            players = sorted(set(present))
            if len(players) >= self.players:
                self._start(players)

    def _end_turn(self, tournament: Tournament) -> None:
        self._record(
            {"event": "end_turn", "tournament": tournament.number, "turn": tournament.turn}
        )
        for result in tournament.end_turn():
            self._record(
                {
                    "event": "result",
                    "match": result.match,
                    "players": list(result.players),
                    "scores": list(result.scores),
                    "state": state_hash(tournament.matches[result.match]),
                }
            )
        if tournament.over:
            self._finish(tournament)

    def _finish(self, tournament: Tournament) -> None:
        awards = tournament.awards()
        self._record({"event": "awards", "tournament": tournament.number, "awards": awards})
        self._sink(tournament.number, tournament.results.values(), awards)
        self.finished += 1
        self._previous, self.tournament = tournament, None
        self._next_number += 1
        self._pause = self._break_turns

    def _start(self, players: Sequence[str]) -> None:
        try:
            tournament = Tournament(
                self._next_number,
                self._deck(self._next_number),
                players,
                self._parameters,
                first_id=self._next_id,
            )
        except (OSError, ValueError) as error:  # a deck file that has become unreadable
            _log.error("tournament %d cannot start: %s", self._next_number, error)
            return
        self.tournament = tournament
        self._next_id += len(tournament.matches)
        self._matches = dict(tournament.matches)
        if self._previous is not None:
            self._matches.update(self._previous.matches)
        self._record(described(tournament))

    def close(self) -> None:
        """Abandon the running tournament, which then does not count."""
        if self.tournament is not None:
            self._record({"event": "cut", "tournament": self.tournament.number})
            self.tournament = None


def described(tournament: Tournament) -> Event:
    """Return the event that starts a tournament."""
    return {
        "event": "tournament",
        "tournament": tournament.number,
        "parameters": tournament.table.parameters,
        "deck": [str(card) for card in tournament.table.cards],
        "players": tournament.players,
        "matches": [[id_, *match.players] for id_, match in tournament.matches.items()],
    }

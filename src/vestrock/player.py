"""A player on a server: lets a bot play all of its matches within each turn."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from vestrock._core import State
from vestrock.bots import Bot, share_of_time
from vestrock.client import Client, ServerClosedError
from vestrock.match import split_line
from vestrock.views import Views

__all__ = ["Figures", "Player"]

#: Commands that are sent within this fraction of a turn should reach the server before its end.
_IN_TIME = 0.8
#: Time for which commands are collected, to be sent together.
_TOGETHER_SECONDS = 0.01


@dataclass
class Figures:
    """Statistics of a player."""

    #: Turns of the server in which the player was on the move in some match.
    turns: int = 0
    #: Turns that the player has played, counted in each match.
    moves: int = 0
    commands: int = 0
    #: Number of replies to actions by error code, 0 for ``OK``.
    replies: Counter[int] = field(default_factory=Counter)
    #: Commands that were sent in the first 80 % of a turn but still arrived after its end.
    late: int = 0
    #: The longest time from the start of a turn to the last reply, in seconds.
    longest: float = 0.0
    #: Number of reconnections.
    reconnects: int = 0


class Player:
    """Plays all matches of a client with a bot.

    Parameters
    ----------
    client : Client
        The connection.
    bot : Bot
        The bot.
    turn_seconds : float
        Duration of a turn on the server.
    reserve_seconds : float
        The part of a turn that is reserved for the network.
    """

    def __init__(
        self,
        client: Client,
        bot: Bot,
        *,
        turn_seconds: float = 1.0,
        reserve_seconds: float = 0.2,
    ) -> None:
        self.client = client
        self.bot = bot
        self.turn_seconds = turn_seconds
        self.reserve_seconds = reserve_seconds
        self.figures = Figures()
        self._views = Views()
        #: By match, whether the next turn is this player's.
        self._next: dict[int, bool] = {}

    def run(self, reconnect: Callable[[], Client] | None = None) -> Figures:
        """Play until the server closes.

        Parameters
        ----------
        reconnect : function, optional
            A function that returns a new client after the connection was lost, so that the player
            can continue the matches.

        Returns
        -------
        Figures
            The statistics.

        Raises
        ------
        OSError
            The connection was lost and could not be restored.
        """
        while True:
            try:
                self.turn(self.client.wait())
            except ServerClosedError:
                return self.figures
            except OSError:
                if reconnect is None:
                    raise
                self.client.close()
                try:
                    self.client = reconnect()
                except ServerClosedError:
                    return self.figures
                self._views, self._next = Views(), {}
                self.figures.reconnects += 1

    def turn(self, started: float) -> None:
        """Play the turn of the server that started at `started`, a ``time.monotonic`` time."""
        states = self._states()
        if not states:
            return
        figures = self.figures
        end = started + self.turn_seconds
        sent: list[float] = []
        waiting: list[str] = []
        since = time.monotonic()
        for done, (match, state) in enumerate(states.items()):
            now = time.monotonic()
            if now >= end:
                break
            left = end - now
            share = share_of_time(1000 * left, len(states) - done, 1000 * self.reserve_seconds)
            commands = [
                " ".join([word, str(match), *arguments])
                for word, *arguments in map(str.split, split_line(self.bot.turn(state, share)))
            ]
            figures.moves += 1
            waiting += commands
            # Commands that are ready within a short time are sent together, since a packet costs
            # both sides more time than a command.
            if (now := time.monotonic()) - since >= _TOGETHER_SECONDS:
                sent += [now] * len(waiting)
                self.client.send(waiting)
                waiting, since = [], now
        sent += [time.monotonic()] * len(waiting)
        self.client.send(waiting)
        in_time = started + _IN_TIME * self.turn_seconds
        for moment, reply in zip(sent, self.client.receive(self.client.pending), strict=True):
            figures.replies[reply.error] += 1
            figures.late += reply.error == 913 and moment <= in_time
        figures.turns += 1
        figures.commands += len(sent)
        figures.longest = max(figures.longest, time.monotonic() - started)

    def _states(self) -> dict[int, State]:
        """Return the positions of the matches in which the player is on the move."""
        ids = self.client.my_matches()
        if not any(match in self._next for match in ids):
            self._views = Views()  # a new tournament, perhaps with another deck
        # If the player seems to be on the move nowhere, a missed turn would go unnoticed.
        if not any(self._next.get(match) for match in ids) or not self._next.keys() >= set(ids):
            self._ask_whose_turn(ids)
        states = self._read(ids)
        if states is None:  # a turn was missed
            self._ask_whose_turn(ids)
            states = self._read(ids)
        self._next = {match: not self._next[match] for match in ids}
        return states or {}

    def _ask_whose_turn(self, ids: list[int]) -> None:
        replies = self.client.request([f"GET_TURN_INFO {match}" for match in ids])
        self._next = {
            match: not reply.error and reply.lines[0].startswith("1")
            for match, reply in zip(ids, replies, strict=True)
        }

    def _read(self, ids: list[int]) -> dict[int, State] | None:
        """Return the positions where the player should be on the move; None if wrong about one."""
        moving = [match for match in ids if self._next[match]]
        questions = [command for match in moving for command in self._views.questions(match)]
        replies = self.client.request(questions)
        each = len(self._views.questions(0))
        of_match = [replies[i : i + each] for i in range(0, len(replies), each)]
        states = {}
        for answers in of_match:
            self._views.learn(answers)
        for match, answers in zip(moving, of_match, strict=True):
            if not answers[0].error and answers[0].lines[0].startswith("0"):
                return None
            state = self._views.state(answers)
            if state is not None:
                states[match] = state
        return states

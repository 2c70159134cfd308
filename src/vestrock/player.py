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

#: Commands that are sent within this fraction of a turn should reach the server before its end.
_IN_TIME = 0.8
#: The assumed duration of a turn until it is measured, in seconds.
_AT_FIRST = 0.25
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
    turn_seconds : float, optional
        Duration of a turn on the server. By default it is measured: the first turns are played as
        if they took 0.25 s, and so are those of a server that ends its turns early.
    reserve_seconds : float
        The part of a turn that is reserved for the network, at most half of a measured one.
    """

    def __init__(
        self,
        client: Client,
        bot: Bot,
        *,
        turn_seconds: float | None = None,
        reserve_seconds: float = 0.2,
    ) -> None:
        self.client = client
        self.bot = bot
        self._measuring = turn_seconds is None
        self.turn_seconds = _AT_FIRST if turn_seconds is None else turn_seconds
        self.reserve_seconds = reserve_seconds
        self.figures = Figures()
        self._views = Views()
        #: By match, whether the next turn is this player's.
        self._next: dict[int, bool] = {}
        #: By match, the number of turns left and when they began, as they were last read.
        self._read_at: dict[int, tuple[int, float]] = {}
        #: Whether commands were late since the duration of a turn was last measured.
        self._was_late = False

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
        states = self._states(started)
        if not states:
            return
        figures = self.figures
        end = started + self.turn_seconds
        reserve = self.reserve_seconds
        if self._measuring:
            reserve = min(reserve, self.turn_seconds / 2)
        sent: list[float] = []
        waiting: list[str] = []
        since = time.monotonic()
        for done, (match, state) in enumerate(states.items()):
            now = time.monotonic()
            if now >= end and not self._measuring:  # which may be a guess
                break
            share = share_of_time(1000 * (end - now), len(states) - done, 1000 * reserve)
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
            self._was_late |= reply.error == 913
            figures.late += reply.error == 913 and moment <= in_time
        figures.turns += 1
        figures.commands += len(sent)
        figures.longest = max(figures.longest, time.monotonic() - started)

    def _states(self, started: float) -> dict[int, State]:
        """Return the positions of the matches in which the player is on the move."""
        ids = self.client.my_matches()
        if not any(match in self._next for match in ids):
            self._views, self._read_at = Views(), {}  # a new tournament, perhaps another deck
        # If the player seems to be on the move nowhere, a missed turn would go unnoticed.
        if not any(self._next.get(match) for match in ids) or not self._next.keys() >= set(ids):
            self._ask_whose_turn(ids)
        states = self._read(ids, started)
        if states is None:  # a turn was missed
            self._ask_whose_turn(ids)
            states = self._read(ids, started)
        self._next = {match: not self._next[match] for match in ids}
        return states or {}

    def _ask_whose_turn(self, ids: list[int]) -> None:
        replies = self.client.request([f"GET_TURN_INFO {match}" for match in ids])
        self._next = {
            match: not reply.error and reply.lines[0].startswith("1")
            for match, reply in zip(ids, replies, strict=True)
        }

    def _measure(self, match: int, left: int, started: float) -> None:
        """Measure a turn by the time since the number of turns left was last read."""
        before, self._read_at[match] = self._read_at.get(match), (left, started)
        if before is not None and before[0] > left:
            mean = (started - before[1]) / (before[0] - left)
            # Turns that a server ended early are shorter than a player may take.
            self.turn_seconds = mean if self._was_late else max(mean, self.turn_seconds)
            self._was_late = False

    def _read(self, ids: list[int], started: float) -> dict[int, State] | None:
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
                if self._measuring:
                    self._measure(match, state.turns_left, started)
        return states

"""A client for Vestrock servers that sends commands and returns typed replies.

This example prints the health of both players in each match where it is this player's turn::

    with Client("127.0.0.1", 4711, "ann", "secret") as client:
        client.wait()
        for match in client.my_matches():
            if client.turn_info(match).own:
                print(client.hp(match))

`Client.request` sends many commands at once, which is much faster than sending each one after the
reply to the previous one.
"""

import selectors
import socket
import time
from collections import deque
from collections.abc import Iterable
from typing import Self

from vestrock import replies as read
from vestrock.deck import Card
from vestrock.match import CommandError
from vestrock.protocol import Reply, ReplyReader
from vestrock.replies import BoardCard, Health, Limits, TurnInfo

__all__ = [
    "BoardCard",
    "Client",
    "Health",
    "Limits",
    "LoginError",
    "ServerClosedError",
    "ServerFullError",
    "TurnInfo",
]

_CHUNK = 256 * 1024


class LoginError(ConnectionError):
    """The server refuses the login."""


class ServerFullError(LoginError):
    """The server has no free connections; a later attempt may succeed."""


class ServerClosedError(ConnectionError):
    """The server has announced that it is closing."""


class Client:
    """A connection to a server on which a player is logged in.

    Parameters
    ----------
    host, port : str, int
        Address of the server.
    user, password : str
        An account. A server without an accounts file accepts any name with any password; the first
        login sets the password of that name.
    timeout : float, optional
        Seconds to wait for a reply; None for no limit. There is never a limit for the second reply
        to ``WAIT``, which arrives when the next turn starts.

    Raises
    ------
    LoginError
        The server refuses the login.
    ServerClosedError
        The server is closing.
    OSError
        The server cannot be reached, the connection ends, or a reply is late (``TimeoutError``).
    """

    def __init__(
        self, host: str, port: int, user: str, password: str, *, timeout: float | None = 30.0
    ) -> None:
        self._timeout = timeout
        self._reader = ReplyReader()
        self._replies: deque[Reply] = deque()
        self._out = bytearray()
        self._watching_out = False
        self._socket = socket.create_connection((host, port), timeout)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._log_in(user, password)
            self._socket.setblocking(False)
            self._selector = selectors.DefaultSelector()
            self._selector.register(self._socket, selectors.EVENT_READ)
        except BaseException:
            self._socket.close()
            raise

    def _log_in(self, user: str, password: str) -> None:
        for word in (user, password):
            if not word or "\n" in word or not word.isascii():
                raise ValueError("user and password: expected ASCII text in one line")
        received = b""
        for expected, answer in (("LOGIN", user), ("PASS", password), ("OK", None)):
            while b"\n" not in received:
                if len(received) > 1000:
                    raise LoginError(f"expected {expected}, the server sent no line")
                data = self._socket.recv(1000)
                if not data:
                    raise ConnectionResetError("the connection has ended")
                received += data
            line, _, received = received.partition(b"\n")
            self._expect(line.decode("ascii", "replace").rstrip(), expected)
            if answer is not None:
                self._socket.sendall(f"{answer}\n".encode())
        self._read(received)

    @staticmethod
    def _expect(line: str, expected: str) -> None:
        if line.startswith("ERR 8"):
            raise ServerClosedError("the server closes")
        if line.startswith("ERR 7"):
            raise ServerFullError("the server accepts no more connections at present")
        if line != expected:
            raise LoginError(f"expected {expected}, the server said {line!r}")

    # --------------------------------------------------------------- many commands at once

    def send(self, commands: Iterable[str]) -> None:
        """Send commands without waiting for their replies, which `receive` returns later.

        Parameters
        ----------
        commands : iterable of str
            The commands.
        """
        for command in commands:
            self._reader.expect(command)
            self._out += command.encode("ascii") + b"\n"
        self._move(0)

    def receive(self, count: int) -> list[Reply]:
        """Return the next replies, in the order of the commands.

        Parameters
        ----------
        count : int
            The number of replies; a ``WAIT`` command has two.

        Returns
        -------
        list of Reply
            `count` replies.

        Raises
        ------
        ServerClosedError
            The server is closing.
        ConnectionResetError
            The connection has ended.
        TimeoutError
            The replies did not arrive in time.
        ValueError
            `count` is more than the number of pending replies, or the server sent something that
            is not a reply.
        """
        if count > len(self._replies) + self._reader.pending:
            raise ValueError(
                f"expected at most {self._reader.pending} replies, got a request for {count}"
            )
        while len(self._replies) < count:
            self._move(self._timeout)
        return [self._replies.popleft() for _ in range(count)]

    def request(self, commands: Iterable[str]) -> list[Reply]:
        """Send commands together and return their replies; see `send` and `receive`.

        Parameters
        ----------
        commands : iterable of str
            The commands.
        """
        words = list(commands)
        self.send(words)
        return self.receive(len(words) + words.count("WAIT"))

    @property
    def pending(self) -> int:
        """The number of pending replies."""
        return len(self._replies) + self._reader.pending

    def _move(self, timeout: float | None) -> None:
        """Wait until something can be sent or received, then send or receive it."""
        # Wait for both: a server that cannot send its replies stops reading, so a client that only
        # sent would wait forever.
        if bool(self._out) != self._watching_out:
            self._watching_out = bool(self._out)
            both = selectors.EVENT_READ | selectors.EVENT_WRITE
            self._selector.modify(
                self._socket, both if self._watching_out else selectors.EVENT_READ
            )
        events = sum(mask for _, mask in self._selector.select(timeout))
        readable, writable = events & selectors.EVENT_READ, events & selectors.EVENT_WRITE
        if writable:
            try:
                sent = self._socket.send(self._out)
            except ConnectionError as error:
                if not readable:
                    raise ConnectionResetError(f"the connection has ended: {error}") from None
            else:
                del self._out[:sent]
        if readable:
            try:
                data = self._socket.recv(_CHUNK)
            except ConnectionError as error:
                raise ConnectionResetError(f"the connection has ended: {error}") from None
            if not data:
                raise ConnectionResetError("the connection has ended")
            self._read(data)
        elif not writable and timeout != 0:
            raise TimeoutError(f"no reply within {timeout} s")

    def _read(self, data: bytes) -> None:
        for reply in self._reader.feed(data):
            if reply.error == 8:
                raise ServerClosedError("the server closes")
            self._replies.append(reply)

    # ---------------------------------------------------------------------------- commands

    def call(self, command: str) -> list[str]:
        """Send a command and return the lines after ``OK`` of its reply.

        Parameters
        ----------
        command : str
            The command.

        Raises
        ------
        CommandError
            The server answered with an error; `code` is its number.
        ServerClosedError, ConnectionResetError, TimeoutError
            As for `receive`.
        """
        (reply,) = self.request([command])
        if reply.error:
            raise CommandError(reply.error)
        return reply.lines

    def wait(self) -> float:
        """Wait until the next turn starts.

        Returns
        -------
        float
            The time of the notification, on the clock of ``time.monotonic``.
        """
        self.send(["WAIT"])
        (first,) = self.receive(1)
        if first.error:
            raise CommandError(first.error)
        while not self._replies:
            self._move(None)
        self.receive(1)
        return time.monotonic()

    def my_matches(self) -> list[int]:
        """Return the ids of this player's running matches."""
        return [int(word) for word in self.call("GET_MY_MATCHES")[1].split()]

    def final_score(self, match: int) -> tuple[int, int]:
        """Return the player's and the opponent's score.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        own, opponent = read.numbers(self.call(f"GET_FINAL_SCORE {match}")[0], 2)
        return own, opponent

    def turn_info(self, match: int) -> TurnInfo:
        """Return whose turn it is, and how many turns are left.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.turn_info(self.call(f"GET_TURN_INFO {match}"))

    def hp(self, match: int) -> Health:
        """Return the initial health of the match, the player's health and the opponent's.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.health(self.call(f"GET_HP {match}"))

    def card_limits(self, match: int) -> Limits:
        """Return how many draws and burns are left, and the maximum size of a hand.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.limits(self.call(f"GET_CARD_LIMITS {match}"))

    def current_mana(self, match: int) -> int:
        """Return the mana that can be spent.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.number(self.call(f"GET_CURRENT_MANA {match}"))

    def deck(self, match: int) -> list[Card]:
        """Return the cards left in the deck, top first.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.cards(self.call(f"GET_DECK {match}"))

    def hands(self, match: int) -> tuple[list[Card], list[Card]]:
        """Return the player's hand and the opponent's hand, each sorted by ID.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.hands(self.call(f"GET_HANDS {match}"))

    def board(self, match: int) -> tuple[list[BoardCard], list[BoardCard]]:
        """Return the player's creatures and the opponent's creatures, each sorted by ID.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.boards(self.call(f"GET_BOARD {match}"))

    def attackers(self, match: int) -> list[Card]:
        """Return the creatures that attack.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.cards(self.call(f"GET_ATTACKERS {match}"))

    def draw_card(self, match: int) -> Card:
        """Draw the top card of the deck and return it.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        return read.card(self.call(f"DRAW_CARD {match}")[0])

    def burn_card(self, match: int) -> None:
        """Remove the top card of the deck from the match.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        self.call(f"BURN_CARD {match}")

    def discard_card(self, match: int, card: int) -> None:
        """Remove a card of the hand from the match.

        Parameters
        ----------
        match : int
            The id of a match.
        card : int
            The ID of a card.
        """
        self.call(f"DISCARD_CARD {match} {card}")

    def add_mana(self, match: int, card: int) -> None:
        """Tap a creature for its mana.

        Parameters
        ----------
        match : int
            The id of a match.
        card : int
            The ID of a card.
        """
        self.call(f"ADD_MANA {match} {card}")

    def play_card(self, match: int, card: int, target: int = -1) -> None:
        """Play a card.

        Parameters
        ----------
        match : int
            The id of a match.
        card : int
            The ID of a card.
        target : int
            The target: -1 if the card is a creature; for a spell, -5 for the player, -6 for the
            opponent, or the ID of a creature.
        """
        self.call(f"PLAY_CARD {match} {card} {target}")

    def attack(self, match: int, card: int) -> None:
        """Attack the opponent with a creature.

        Parameters
        ----------
        match : int
            The id of a match.
        card : int
            The ID of a card.
        """
        self.call(f"ATTACK {match} {card}")

    def block(self, match: int, attacker: int, blocker: int) -> None:
        """Block an attacker with a creature.

        Parameters
        ----------
        match : int
            The id of a match.
        attacker : int
            The ID of the attacker.
        blocker : int
            The ID of the blocker.
        """
        self.call(f"BLOCK {match} {attacker} {blocker}")

    def finish_block(self, match: int) -> None:
        """End the blocking phase.

        Parameters
        ----------
        match : int
            The id of a match.
        """
        self.call(f"FINISH_BLOCK {match}")

    # ------------------------------------------------------------------------------- the end

    def close(self) -> None:
        """Close the connection."""
        self._selector.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

"""Matches that execute the protocol's commands (docs/vestrock/rules.md, section 6).

A match knows nothing of sockets or clocks, or of its players' other matches.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Unpack

from locmsim.contract import Fault, FaultKind, TurnResult
from locmsim.errors import GameOverError
from locmsim.gamekit import documented, whole
from vestrock._core import ACTION_WORDS, State, Table
from vestrock.deck import Card
from vestrock.options import Parameters, ParameterValues
from vestrock.protocol import COMMANDS, Command, error_line, parse
from vestrock.views import Views

#: Duration of a turn on a server, in ms.
_TURN_MS = 1000.0
#: The kernel's number of each action.
_KINDS = {word: kind for kind, word in enumerate(ACTION_WORDS) if word in COMMANDS}


class CommandError(ValueError):
    """A command is refused; `code` is the number of the error, one of `protocol.ERRORS`."""

    def __init__(self, code: int) -> None:
        super().__init__(error_line(code))
        self.code = code


@documented(Parameters)
class Match:
    """A match: a `State`, the names of the two players, and the log of their actions.

    Parameters of the match have the defaults of `Table`. They may not be given if `deck` is a
    `Table`, which already has them.

    Parameters
    ----------
    deck
        A sequence of `Card`, top first, or a `Table`.
    players
        Names of the first and the second player.
    match_id
        Number of the match in the commands.
    seed
        The seed with which `generate_deck` made the deck, if it did; kept for `params`.
    options

    Attributes
    ----------
    state : State
        The position; clone it before you change it.
    players : tuple of str
        Names of the first and the second player.
    match_id : int
        Number of the match.
    actions : list of tuple
        ``(turn, action)`` for every action that was done, as text without the match id. An action
        ends the blocking phase, which may end the match: such an action is refused with error 932
        and logged as ``FINISH_BLOCK``. `replay` recreates the match from this log.

    Raises
    ------
    ValueError
        A card, a parameter or a name is wrong; the message names it.
    """

    def __init__(
        self,
        deck: Sequence[Card] | Table,
        *,
        players: Sequence[str] = ("A", "B"),
        match_id: int = 1,
        seed: int | None = None,
        **parameters: Unpack[ParameterValues],
    ) -> None:
        if len(players) != 2 or players[0] == players[1]:
            raise ValueError(f"players: expected two different names, got {players!r}")
        self.state = State.new(deck, **parameters)
        self.players = (players[0], players[1])
        self.match_id = match_id
        self.seed = seed
        self.actions: list[tuple[int, str]] = []
        #: The missing answer that has ended the match, if one has.
        self.error: Fault | None = None
        #: The first position, if it is not the usual one.
        self._began: State | None = None

    @classmethod
    def from_state(
        cls, state: State, *, players: Sequence[str] = ("A", "B"), match_id: int = 1
    ) -> "Match":
        """Return a match that continues from a position; its log begins there.

        Parameters
        ----------
        state : State
            The position, which belongs to the match from now on.
        players : sequence of str
            Names of the first and the second player.
        match_id : int
            The number of the match in commands.
        """
        match = cls(state.table, players=players, match_id=match_id)
        match.state = state
        match._began = state.clone()
        return match

    # -- the protocol

    def command(self, player: str, line: str) -> list[str]:
        """Return the reply to a player's command line as if this were their only match.

        Parameters
        ----------
        player
            Name of the player; a name that does not take part gets error 930.
        line
            The command with the number of the match.

        Returns
        -------
        list of str
            The lines of the reply.
        """
        command = parse(line.encode("utf-8", "replace"))
        if isinstance(command, int):
            return [error_line(command)]
        if command.word == "WAIT":
            return ["OK"]
        if command.word == "GET_MY_MATCHES":
            ids = [self.match_id] if player in self.players and not self.is_over else []
            return ["OK", str(len(ids)), " ".join(map(str, ids))]
        try:
            return self.execute(player, command)
        except CommandError as error:
            return [str(error)]

    def execute(self, player: str, command: Command) -> list[str]:
        """Execute a parsed command that names a match, and return the reply.

        Parameters
        ----------
        player
            Name of the player.
        command
            A command as `protocol.parse` returns it.

        Returns
        -------
        list of str
            The lines of the reply, the first of them ``OK``.

        Raises
        ------
        CommandError
            The command is refused; `code` is the number of the error.
        """
        word, (match_id, *arguments) = command
        if match_id != self.match_id or player not in self.players:
            raise CommandError(930)
        state = self.state
        seat = self.players.index(player)
        if word == "GET_FINAL_SCORE":
            scores = state.scores
            if scores is None:
                raise CommandError(933)
            return ["OK", f"{scores[seat]} {scores[1 - seat]}"]
        if state.is_terminal():
            raise CommandError(932)
        if word == "GET_TURN_INFO":
            return ["OK", f"{int(state.mover == seat)} {state.turns_left}"]
        if state.mover != seat:
            raise CommandError(913)
        if word in _KINDS:
            return self._act(seat, word, arguments)
        return ["OK", *_ANSWERS[word](state, seat)]

    def _act(self, seat: int, word: str, arguments: Sequence[int]) -> list[str]:
        """Return the reply to a command that changes the position."""
        state = self.state
        deck_size = state.deck_size
        code = state.command(seat, _KINDS[word], *arguments)
        if code == 932:  # the action ended the blocking phase, which ended the match
            self.actions.append((state.turn, "FINISH_BLOCK"))
        if code:
            raise CommandError(code)
        self.actions.append((state.turn, " ".join([word, *map(str, arguments)])))
        if word == "DRAW_CARD":
            cards = state.table.cards
            return ["OK", str(cards[len(cards) - deck_size])]
        return ["OK"]

    def end_turn(self) -> None:
        """End the running turn, as the clock does; do nothing if the match is over."""
        if not self.state.is_terminal():
            self.state.end_turn()

    # -- whole turns: the match as referee and arena see it (`locmsim.contract.Match`)

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return self.error is not None or self.state.is_terminal()

    @property
    def to_ask(self) -> tuple[int, ...]:
        """The players who must answer next: ``(0,)``, ``(1,)``, or ``()`` after the end."""
        return () if self.is_over else (self.state.mover,)

    @property
    def turn(self) -> int:
        """The number of the turn, from 0; the turns of both players are counted."""
        return int(self.state.turn) - 1

    @property
    def scores(self) -> list[int] | None:
        """The scores of the first and the second player; None before the end of the match.

        A player who gave no answer is scored as if killed.
        """
        if self.error is None:
            return self.state.scores
        state, loser = self.state, self.error.player
        health = int(state.health[1 - loser])
        scores = [3 * int(state.table.parameters["init_hp"]) + health] * 2
        scores[loser] = -health
        return scores

    @property
    def winner(self) -> int | None:
        """The winner, 0 or 1; None before the end and for equal scores."""
        return self.state.winner if self.error is None else 1 - self.error.player

    def input_text(self, player: int) -> str:
        """Return the position as the text that a bot program reads from its standard input.

        The text consists of a server's replies to ``GET_TURN_INFO``, ``GET_HP``,
        ``GET_CARD_LIMITS``, ``GET_DECK``, ``GET_HANDS``, ``GET_BOARD`` and ``GET_ATTACKERS``,
        without their first lines.

        Parameters
        ----------
        player : int
            0 or 1.
        """
        lines: list[str] = []
        for question in Views.questions(self.match_id):
            lines += self.command(self.players[player], question)[1:]
        return "".join(f"{line}\n" for line in lines)

    def ask(self, agent: Any, player: int) -> Callable[[], str]:
        """Return a function that asks a bot for its answer.

        Parameters
        ----------
        agent : Bot
            The bot, as described by `vestrock.bots.Bot`.
        player : int
            The seat, 0 or 1.

        Returns
        -------
        callable
            A function without arguments that returns the answer.
        """
        return partial(agent.turn, self.state.clone())

    def time_limit_ms(self, player: int) -> float:
        """Return the time for an answer in milliseconds.

        Parameters
        ----------
        player : int
            0 or 1; the limit is the same for both.
        """
        return _TURN_MS

    def explain(self) -> str:
        """Return a sentence on the fault that ended the match; "" if it ended by the rules."""
        return self.error.message if self.error else ""

    @property
    def params(self) -> dict[str, int | str]:
        """The parameters, and the seed of the deck if it is known."""
        seed = {} if self.seed is None else {"seed": self.seed}
        return {**seed, **self.state.table.parameters}

    @property
    def log(self) -> Mapping[str, Any]:
        """The whole match so far as plain dicts, lists, numbers and strings."""
        return {
            "params": self.params,
            "deck": [str(card) for card in self.state.table.cards],
            "actions": [list(entry) for entry in self.actions],
            "scores": self.scores,
        }

    def root(self) -> "Match":
        """Return a new match like this one, before its first answer."""
        names: dict[str, Any] = {"players": self.players, "match_id": self.match_id}
        if self._began is not None:
            return Match.from_state(self._began.clone(), **names)
        return Match(self.state.table, **names, seed=self.seed)

    def state_key(self) -> bytes:
        """Return a key that two matches share if they can continue in the same ways."""
        return self.state.key()

    def submit(self, player: int, line: str | None) -> TurnResult:
        """Execute all commands of a turn, then end the turn.

        Parameters
        ----------
        player
            The player whose answer this is, 0 or 1; must be in `to_ask`.
        line
            The commands without the match id, joined by ``;``. None means that the player gave no
            answer: a server's clock would only end the turn, but here the bot has crashed or is
            too slow, and loses the match.

        Returns
        -------
        TurnResult
            The executed commands, and the refused ones, each with its error: ``"ATTACK 5: 905
            InactiveCard"``. Commands after the end of the match are refused with 932.

        Raises
        ------
        GameOverError
            The match is over.
        ValueError
            It is not this player's turn; nothing has changed.
        """
        if self.is_over:
            raise GameOverError("submit: the match is over")
        player = whole("player", player, 0, 1)
        if player not in self.to_ask:
            raise ValueError(f"player: it is the turn of player {self.state.mover}, got {player}")
        if line is None:
            self.error = Fault(player, FaultKind.TIMEOUT, "No answer.")
            return TurnResult([], [], self.error)
        result = TurnResult([], [])
        for command in split_line(line):
            word, *rest = command.split()
            try:
                self._act_on(self.players[player], word, rest)
            except CommandError as error:
                result.ignored.append(f"{command}: {str(error).removeprefix('ERR ')}")
            else:
                result.applied.append(command)
        self.end_turn()
        return result

    def _act_on(self, player: str, word: str, arguments: Sequence[str]) -> None:
        """Execute an action given as words without the match id."""
        command = parse(" ".join([word, str(self.match_id), *arguments]).encode())
        if isinstance(command, int):
            raise CommandError(command)
        if command.word not in _KINDS:
            raise CommandError(2)
        self.execute(player, command)

    @staticmethod
    def replay(
        deck: Sequence[Card] | Table,
        log: Iterable[tuple[int, str]],
        **parameters: Unpack[ParameterValues],
    ) -> State:
        """Replay a match from its log and return the last position.

        Parameters
        ----------
        deck
            The deck of the match.
        log
            The actions, in the form of `Match.actions`.
        **parameters
            The parameters of the match.

        Returns
        -------
        State
            The position after the last action. The log does not contain later turns without
            actions; call `State.end_turn` for each of them.

        Raises
        ------
        ValueError
            An action is refused; the message names it.
        """
        match = Match(deck, **parameters)
        for turn, text in log:
            while not match.is_over and match.state.turn < turn:
                match.state.end_turn()
            word, *rest = text.split()
            try:
                match._act_on(match.players[match.state.mover], word, rest)
            except CommandError as error:
                raise ValueError(f"log: turn {turn}: {text}: {error}") from None
        return match.state


def split_line(line: str) -> list[str]:
    """Split a turn's answer at semicolons into commands without surrounding blanks."""
    return [command.strip() for command in line.split(";") if command.strip()]


# ---- answers to questions ------------------------------------------------------------------------


#: The text of a card, cached: a server sends the same hundred cards about ten thousand times a
#: second.
_card_line = lru_cache(maxsize=4096)(str)


def _hp(state: State, seat: int) -> list[str]:
    health = state.health
    return [f"{state.table.parameters['init_hp']} {health[seat]} {health[1 - seat]}"]


def _limits(state: State, seat: int) -> list[str]:
    hand_limit = state.table.parameters["hand_limit"]
    return [f"{state.draws_left} {state.burns_left} {hand_limit}"]


def _mana(state: State, seat: int) -> list[str]:
    return [str(state.mana)]


def _deck(state: State, seat: int) -> list[str]:
    deck = state.deck
    return [str(len(deck)), *map(_card_line, deck)]


def _hands(state: State, seat: int) -> list[str]:
    own, other = state.hand(seat), state.hand(1 - seat)
    return [f"{len(own)} {len(other)}", *map(_card_line, own), *map(_card_line, other)]


def _board(state: State, seat: int) -> list[str]:
    own, other = state.creature_lines(seat), state.creature_lines(1 - seat)
    return [f"{len(own)} {len(other)}", *own, *other]


def _attackers(state: State, seat: int) -> list[str]:
    attacking = seat if state.phase == "action" else 1 - seat
    lines = state.creature_lines(attacking, attackers=True)
    return [str(len(lines)), *lines]


_ANSWERS = {
    "GET_HP": _hp,
    "GET_CARD_LIMITS": _limits,
    "GET_CURRENT_MANA": _mana,
    "GET_DECK": _deck,
    "GET_HANDS": _hands,
    "GET_BOARD": _board,
    "GET_ATTACKERS": _attackers,
}

"""The text protocol as functions of bytes and state, without sockets.

For the server, `LineReader` splits bytes into lines, `PendingInput` keeps them until they are
executed, `Login` is the dialogue before the first
command, and `parse` checks a command line. For the client, `ReplyReader` turns bytes into replies.
The protocol is described in docs/vestrock/rules.md, "Commands" and "Server".
"""

import re
from collections import deque
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = [
    "COMMANDS",
    "ERRORS",
    "MAX_LINE",
    "MAX_REPLY",
    "POSITION_QUESTIONS",
    "VALID_NAME",
    "Command",
    "CommandSpec",
    "LineReader",
    "Login",
    "PendingInput",
    "Reply",
    "ReplyReader",
    "Shape",
    "error_line",
    "parse",
]

#: The longest line in bytes, without its end.
MAX_LINE: Final = 256
#: The largest reply in bytes that a client accepts; the largest ones of a server have about 90 kB.
MAX_REPLY: Final = 2**20

#: The names of the error codes.
ERRORS: Final[dict[int, str]] = {
    1: "BadLoginOrPassword",
    2: "UnknownCommand",
    3: "BadFormat",
    5: "InternalError",
    6: "CommandLimitReached",
    7: "TooManyConnections",
    8: "ServerClosing",
    900: "NoCardWithSuchId",
    901: "NotEnoughMana",
    903: "NotYourCard",
    905: "InactiveCard",
    906: "CardNotInHand",
    907: "DrawLimitExceeded",
    908: "BurnLimitExceeded",
    910: "NoSuchAttacker",
    911: "BlockingAlreadyFinished",
    912: "CardNotOnBoard",
    913: "NotYourTurn",
    915: "WrongTarget",
    916: "SpellTargetNotOnBoard",
    918: "DeckIsEmpty",
    919: "HandLimitExceeded",
    930: "NotYourMatch",
    932: "GameHasEnded",
    933: "GameHasNotEndedYet",
}


class Shape(Enum):
    """The shape of a reply, which determines the number of lines after ``OK``."""

    NONE = 0
    #: One line.
    LINE = 1
    #: Two lines.
    TWO = 2
    #: A line with a number, and that number of further lines.
    COUNTED = -1
    #: A line with two numbers, and further lines, as many as their sum.
    BOTH = -2


class CommandSpec(NamedTuple):
    """The specification of a command, used by parser, client, match and documentation.

    Attributes
    ----------
    word : str
        Its first word.
    arguments : tuple of str
        The names of the arguments; ``m`` is the match.
    shape : Shape
        The lines after ``OK``.
    mover : bool
        Whether only the player whose turn it is may send it.
    action : bool
        Whether it changes the match.
    text : str
        A description of the lines after ``OK``, or of the arguments.
    """

    word: str
    arguments: tuple[str, ...]
    shape: Shape
    mover: bool
    action: bool
    text: str


def _question(
    word: str, shape: Shape, text: str, arguments: str = "m", *, mover: bool = True
) -> CommandSpec:
    return CommandSpec(word, tuple(arguments.split()), shape, mover, False, text)


def _action(word: str, arguments: str, text: str = "", shape: Shape = Shape.NONE) -> CommandSpec:
    return CommandSpec(word, tuple(arguments.split()), shape, True, True, text)


_TARGETS = (
    "target t: creature -1, take -5; heal, damage: a creature, -5 (the mover), -6 (the opponent);"
    " buff, deactivate: a creature"
)
_MATCHES = "how many matches of the caller run; their numbers (perhaps an empty line)"
_SECOND = "a second `OK` later, when the next turn starts"
_WHOSE = "`1 n` if it is the caller's turn, else `0 n`; n turns are left with this one"
_HANDS = "`own opponent` (numbers of cards); own cards, then the opponent's, by ID"
_BOARDS = "the same for the boards; each line is `card flag`, 1 active, 0 inactive"
_ATTACKERS = "number; creatures that attack the mover, in the action phase the mover's own **[+]**"

#: The commands by their words.
COMMANDS: Final[dict[str, CommandSpec]] = {
    spec.word: spec
    for spec in (
        _question("WAIT", Shape.NONE, _SECOND, "", mover=False),
        _question("GET_MY_MATCHES", Shape.TWO, _MATCHES, "", mover=False),
        _question(
            "GET_FINAL_SCORE", Shape.LINE, "after the end: `own_score opponent_score`", mover=False
        ),
        _question("GET_TURN_INFO", Shape.LINE, _WHOSE, mover=False),
        _question("GET_HP", Shape.LINE, "`init_hp own_health opponent_health`"),
        _question("GET_CARD_LIMITS", Shape.LINE, "`draws_left burns_left hand_limit`"),
        _question("GET_CURRENT_MANA", Shape.LINE, "`mana`"),
        _question("GET_DECK", Shape.COUNTED, "number of cards; the cards, top first"),
        _question("GET_HANDS", Shape.BOTH, _HANDS),
        _question("GET_BOARD", Shape.BOTH, _BOARDS),
        _question("GET_ATTACKERS", Shape.COUNTED, _ATTACKERS),
        _action("DRAW_CARD", "m", "the card drawn", Shape.LINE),
        _action("BURN_CARD", "m"),
        _action("DISCARD_CARD", "m c"),
        _action("ADD_MANA", "m c"),
        _action("PLAY_CARD", "m c t", _TARGETS),
        _action("ATTACK", "m c"),
        _action("BLOCK", "m a b", "attacker a, blocker b"),
        _action("FINISH_BLOCK", "m"),
    )
}
#: The questions whose answers together describe a position.
POSITION_QUESTIONS: Final = (
    "GET_TURN_INFO",
    *(spec.word for spec in COMMANDS.values() if spec.mover and not spec.action),
)

#: The valid names of players.
VALID_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,32}")

_INTEGER: Final = re.compile(r"-?[0-9]{1,9}")


def error_line(code: int) -> str:
    """Return the reply for an error, such as ``"ERR 913 NotYourTurn"``.

    Parameters
    ----------
    code : int
        A key of `ERRORS`.
    """
    return f"ERR {code} {ERRORS[code]}"


# --------------------------------------------------------------------------- the server's side


class LineReader:
    """Splits the bytes of a connection into lines.

    A line ends with LF; one CR before it is dropped. A line of more than `MAX_LINE` bytes becomes
    None and is never stored completely. An empty line becomes ``b""``.
    """

    def __init__(self) -> None:
        self._partial = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """Return the lines that `data` completes.

        Parameters
        ----------
        data : bytes
            The next bytes.

        Returns
        -------
        list of bytes or None
            One entry per line, without its end; None for a line that is too long.
        """
        first, *rest = data.split(b"\n")
        if self._skipping:
            self._partial = b""
        else:
            first = self._partial + first
        if not rest:
            self._keep(first)
            return []
        lines: list[bytes | None] = [None if self._skipping else _checked(first)]
        self._skipping = False
        last = rest.pop()
        lines.extend(map(_checked, rest))
        self._keep(last)
        return lines

    def _keep(self, start: bytes) -> None:
        """Store the start of a line, or only the fact that it is too long."""
        # One byte more than a line may have: the CR that is dropped.
        if self._skipping or len(start) > MAX_LINE + 1:
            self._skipping, self._partial = True, b""
        else:
            self._partial = start


def _checked(line: bytes) -> bytes | None:
    if line.endswith(b"\r"):
        line = line[:-1]
    return line if len(line) <= MAX_LINE else None


class PendingInput:
    """The input of a connection that is still to be executed: lines, and bytes not yet split.

    Bytes are split only when all earlier lines are taken, so that a chunk full of line ends does
    not become thousands of objects before its turn comes.
    """

    def __init__(self) -> None:
        self._reader = LineReader()
        self._chunks: deque[bytes] = deque()
        #: The lines of the chunk that was split last; without any, no line is complete.
        self.lines: deque[bytes | None] = deque()
        #: The size of that chunk.
        self._split = 0
        self._size = 0

    def __bool__(self) -> bool:
        """Return whether there is a complete line."""
        return bool(self.lines)

    @property
    def size(self) -> int:
        """Number of bytes of all chunks from which lines may still come."""
        return self._size

    def feed(self, data: bytes) -> None:
        """Add the next bytes.

        Parameters
        ----------
        data : bytes
            The next bytes.
        """
        self._chunks.append(data)
        self._size += len(data)
        self._find_lines()

    def pop(self) -> bytes | None:
        """Remove and return the first line, as from `LineReader.feed`."""
        line = self.lines.popleft()
        if not self.lines:
            self._find_lines()
        return line

    def clear(self) -> None:
        """Forget all input, but not where in a line it stopped."""
        self.lines.clear()
        self._chunks.clear()
        self._split = self._size = 0

    def _find_lines(self) -> None:
        """Split the next chunks, unless there are lines, until there are."""
        while not self.lines:
            self._size -= self._split
            self._split = 0
            if not self._chunks:
                return
            chunk = self._chunks.popleft()
            self.lines.extend(self._reader.feed(chunk))
            self._split = len(chunk)


class Login:
    """The dialogue before the first command.

    The server sends ``LOGIN``, the client a name, the server ``PASS``, the client a password.
    `feed` takes the client's lines and returns the lines to send; when `name` and `password` are
    set, the caller must check them. An invalid name is handled like a wrong password.
    """

    #: The first line of the server.
    GREETING: Final = "LOGIN"

    def __init__(self) -> None:
        self.name: str | None = None
        self.password: str | None = None

    def feed(self, line: bytes | None) -> str | None:
        """Return the line to send after a line of the client; None for nothing yet.

        Parameters
        ----------
        line : bytes or None
            As from `LineReader.feed`.
        """
        text = "" if line is None else line.decode("latin-1").strip(" \t")
        if line is not None and not text:
            return None
        if self.name is None:
            self.name = text
            return "PASS"
        self.password = text
        return None

    @property
    def done(self) -> bool:
        """Whether both answers have arrived."""
        return self.password is not None

    @property
    def possible(self) -> bool:
        """Whether the name is valid and a password was given."""
        return bool(self.password) and VALID_NAME.fullmatch(self.name or "") is not None


class Command(NamedTuple):
    """A well-formed command.

    Attributes
    ----------
    word : str
        Its first word.
    arguments : tuple of int
        The match id, if the command has one, then the other arguments.
    """

    word: str
    arguments: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join([self.word, *map(str, self.arguments)])


# Cached, since a server gets the same questions about the same matches again and again.
@lru_cache(maxsize=16384)
def parse(line: bytes | None) -> Command | int:
    """Parse a line that is not empty into a command or an error code.

    Parameters
    ----------
    line : bytes or None
        As from `LineReader.feed`.

    Returns
    -------
    Command or int
        The command; or 2 if the first word is not a command; or 3 if the line is too long, the
        number of arguments is wrong, or an argument does not match ``-?[0-9]{1,9}``.
    """
    if line is None:
        return 3
    words = line.decode("latin-1").replace("\t", " ").split(" ")
    if "" in words:
        words = [word for word in words if word]
    spec = COMMANDS.get(words[0]) if words else None
    if spec is None:
        return 2
    if len(words) != len(spec.arguments) + 1:
        return 3
    for word in words[1:]:
        if not _INTEGER.fullmatch(word):
            return 3
    return Command(words[0], tuple(map(int, words[1:])))


# --------------------------------------------------------------------------- the client's side


class Reply(NamedTuple):
    """The server's answer to a command.

    Attributes
    ----------
    command : str
        The word of the command.
    error : int
        0 for ``OK``, else the code of the error.
    lines : list of str
        The lines after ``OK``.
    """

    command: str
    error: int
    lines: list[str]


#: The shapes by command word as plain integers: a lookup for every reply must be fast.
_LINES: Final = {word: spec.shape.value for word, spec in COMMANDS.items()}


class ReplyReader:
    """Turns the bytes of the server into replies.

    Replies come in the order of the commands, which must be passed to `expect`. The second ``OK``
    of ``WAIT`` is a separate reply to the command ``""``, like the ``ERR 8`` that the server sends
    at any time when it closes.
    """

    def __init__(self) -> None:
        self._expected: deque[str] = deque()
        #: Complete lines, of which those before `_next_line` are consumed; `_partial` is the start
        #: of the line after them, in pieces.
        self._lines: list[str] = []
        self._next_line = 0
        self._partial: list[str] = []
        #: Number of bytes that belong to no reply yet.
        self._unfinished = 0

    @property
    def pending(self) -> int:
        """The number of pending replies."""
        return len(self._expected)

    def expect(self, command: str) -> None:
        """Note that a command was sent, so that its reply is expected.

        Parameters
        ----------
        command : str
            The word of the command.
        """
        self._expected.append(command)
        if command == "WAIT":
            self._expected.append("")

    def feed(self, data: bytes) -> list[Reply]:
        """Return the replies that `data` completes.

        Parameters
        ----------
        data : bytes
            The next bytes.

        Raises
        ------
        ValueError
            The server sent something that is not a reply to the command, or is unexpected, or a
            reply of more than `MAX_REPLY` bytes.
        """
        lines = data.decode("ascii", "replace").split("\n")
        self._unfinished += len(data)
        if len(lines) > 1 and self._partial:
            self._partial.append(lines[0])
            lines[0] = "".join(self._partial)
            self._partial.clear()
        if last := lines.pop():
            self._partial.append(last)
        self._lines += lines
        replies = []
        while self._next_line < len(self._lines) and (reply := self._next()) is not None:
            replies.append(reply)
        if replies:
            del self._lines[: self._next_line]
            self._next_line = 0
            self._unfinished = sum(map(len, self._lines)) + len(self._lines) + len(last)
        if self._unfinished > MAX_REPLY:
            raise ValueError(f"the server sent a reply of more than {MAX_REPLY} bytes")
        return replies

    def _next(self) -> Reply | None:
        """Return the next reply if it is complete."""
        lines, i = self._lines, self._next_line
        if lines[i].startswith("ERR 8 "):
            self._next_line = len(lines)
            self._expected.clear()
            return Reply("", 8, [])
        if not self._expected:
            raise ValueError(f"the server sent a line that is not a reply: {_start(lines[i])}")
        command = self._expected[0]
        if lines[i] != "OK":
            return self._error(command)
        count = _LINES.get(command.partition(" ")[0], 0)
        if count < 0:
            if len(lines) < i + 2:
                return None
            numbers = lines[i + 1].split(" ")
            if len(numbers) != -count or not all(map(_is_count, numbers)):
                raise ValueError(f"no reply to {command!r}: {_start(lines[i + 1])}")
            count = 1 + sum(map(int, numbers))
        end = i + 1 + count
        if len(lines) < end:
            return None
        self._expected.popleft()
        self._next_line = end
        return Reply(command, 0, lines[i + 1 : end])

    def _error(self, command: str) -> Reply:
        line = self._lines[self._next_line]
        words = line.split(" ")
        if len(words) < 2 or words[0] != "ERR" or not _is_count(words[1]):
            raise ValueError(f"no reply to {command!r}: {_start(line)}")
        self._next_line += 1
        self._expected.popleft()
        if command == "WAIT":  # there is no second OK after an error
            self._expected.popleft()
        return Reply(command, int(words[1]), [])


def _is_count(word: str) -> bool:
    return word.isdecimal() and len(word) <= 9


def _start(line: str) -> str:
    """Return the start of a line for a message."""
    return repr(line if len(line) <= 80 else line[:80] + "...")

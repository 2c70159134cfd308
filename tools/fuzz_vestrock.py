"""Feed random bytes to the readers of Vestrock's protocol, of the server and of the client.

    python tools/fuzz_vestrock.py --seconds 60

Each round makes a stream of bytes, partly damaged, and cuts it into chunks at random. What a reader
returns must not depend on the cuts, it may hold only little, and it may raise nothing but
``ValueError``. A finding names its round, which ``--seed ROUND`` repeats.
"""

import itertools
import random
from collections import Counter
from collections.abc import Callable

from fuzzing import run_rounds

from vestrock.protocol import (
    COMMANDS,
    MAX_LINE,
    MAX_REPLY,
    Command,
    LineReader,
    Login,
    PendingInput,
    Reply,
    ReplyReader,
    Shape,
    error_line,
    parse,
)

#: Pieces of input that a random choice of bytes would hardly ever contain.
WORDS = (
    *(word.encode() for word in COMMANDS),
    *(
        b"OK\n",
        b"ERR 8 ServerClosing\n",
        b"ERR 913 NotYourTurn\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"\t",
        b" ",
    ),
    *(b"\0", b"\xff", b"-5", b" 1", b"999999999", b"9" * 5000, b"x" * MAX_LINE, b"x" * 300),
)
CARD = "1 C 2 3 3 0 0"


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with a few changes."""
    changed = bytearray(data)
    for _ in range(rng.choice((0, 0, 1, 1, 5))):
        at = rng.randrange(len(changed) + 1)
        changed[at : at + rng.choice((0, 1, 20))] = rng.choice(
            (rng.choice(WORDS), rng.randbytes(2))
        )
    return bytes(changed)


def cut(data: bytes, rng: random.Random) -> list[bytes]:
    """Cut the bytes into chunks of random sizes."""
    count = rng.choice((0, 1, 10, len(data)))
    points = sorted({0, len(data), *(rng.randrange(len(data) + 1) for _ in range(count))})
    return [data[i:j] for i, j in itertools.pairwise(points)]


def check_lines(rng: random.Random) -> str:
    """Check the server's readers with lines of any kind."""
    data = b"".join(
        rng.choice((rng.choice(WORDS), rng.randbytes(3))) for _ in range(rng.choice((5, 60)))
    )
    whole = LineReader().feed(data)
    expected = [line.removesuffix(b"\r") for line in data.split(b"\n")[:-1]]
    assert whole == [line if len(line) <= MAX_LINE else None for line in expected]
    pending, lines = PendingInput(), []
    for chunk in cut(data, rng):
        pending.feed(chunk)
        assert len(pending._reader._partial) <= MAX_LINE + 1
        while pending and rng.random() < 0.7:
            lines.append(pending.pop())
    while pending:
        lines.append(pending.pop())
    assert lines == whole
    assert pending.size == 0
    login = Login()
    for line in lines:
        assert parse(line) in (2, 3) or isinstance(parse(line), Command)
        if not login.done:
            assert login.feed(line) in (None, "PASS")
    return "lines"


def reply_to(command: str, rng: random.Random) -> str:
    """Return a reply that a server might send."""
    if rng.random() < 0.2:
        return error_line(rng.choice((6, 913, 930))) + "\n"
    shape = COMMANDS[command.split()[0]].shape
    lines = ["OK"]
    if shape is Shape.COUNTED:
        count = rng.choice((0, 1, 100))
        lines += [str(count), *[CARD] * count]
    elif shape is Shape.BOTH:
        own, other = rng.choice((0, 1, 9)), rng.choice((0, 1, 9))
        lines += [f"{own} {other}", *[CARD] * (own + other)]
    else:
        lines += ["1 2 3"] * shape.value
    return "".join(f"{line}\n" for line in lines)


def read(commands: list[str], chunks: list[bytes]) -> list[Reply] | str:
    """Return the replies in the chunks up to the server's end, or "error"."""
    reader = ReplyReader()
    for command in commands:
        reader.expect(command)
    replies: list[Reply] = []
    for chunk in chunks:
        try:
            replies += reader.feed(chunk)
        except ValueError:
            return "error"
        if replies and replies[-1].error == 8:
            break
        assert sum(map(len, [*reader._partial, *reader._lines])) <= MAX_REPLY
    return replies


def check_replies(rng: random.Random) -> str:
    """Check the client's reader with replies, most of them damaged."""
    words = [word for word in COMMANDS if word != "WAIT"]
    commands = [f"{rng.choice(words)} 1" for _ in range(rng.choice((1, 5, 30)))]
    data = damaged("".join(reply_to(command, rng) for command in commands).encode(), rng)
    found = read(commands, cut(data, rng))
    # A stream that ends in the middle of a chunk is read as far as without the cut.
    assert found == read(commands, [data]) == read(commands, cut(data, rng))
    return "damaged replies" if found == "error" else "replies"


def check_endless(rng: random.Random) -> str:
    """Check that the client's reader gives up a reply that never ends."""
    chunk = rng.choice((b"x", b"x\n", b"\n", b"1 C 2 3 3 0 0\n")) * rng.choice((1000, 100_000))
    size = 2 * MAX_REPLY // len(chunk) + 2
    assert read(["GET_DECK 1"], [b"OK\n999999999\n", *[chunk] * size]) == "error"
    return "endless replies"


CHECKS: tuple[Callable[[random.Random], str], ...] = (
    *(check_lines, check_replies) * 200,
    check_endless,
)


def play_round(number: int) -> str:
    """Check one stream; return what it was."""
    return CHECKS[number % len(CHECKS)](random.Random(number))


def main() -> None:
    done: Counter[str] = Counter()
    run_rounds(__doc__, lambda number: done.update([play_round(number)]), done)


if __name__ == "__main__":
    main()

"""Vestrock's protocol without sockets: lines, login, commands, replies."""

import inspect
import itertools
import pickle
import re
from pathlib import Path

import pytest
from helpers import raises
from hypothesis import given
from hypothesis import strategies as st

from vestrock import Match, generate_deck
from vestrock._core import ACTION_WORDS
from vestrock.client import Client
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
    error_line,
    parse,
)

# ------------------------------------------------------------------------------------------ lines


def lines_of(*pieces: bytes) -> list[bytes | None]:
    reader = LineReader()
    return [line for piece in pieces for line in reader.feed(piece)]


def test_lines_end_with_lf_and_one_cr_before_it_is_dropped() -> None:
    assert lines_of(b"a\r\nb\n\nc\r\r\n d\te \nrest") == [b"a", b"b", b"", b"c\r", b" d\te "]


def test_a_line_of_256_bytes_is_the_longest() -> None:
    longest = b"x" * MAX_LINE
    assert lines_of(longest + b"\n", longest + b"\r\n") == [longest, longest]
    assert lines_of(longest + b"y\nGET\n", longest + b"y\r\n") == [None, b"GET", None]


def test_a_line_that_never_ends_is_not_kept() -> None:
    reader = LineReader()
    for _ in range(64):
        assert reader.feed(b"x" * 16384) == []
        assert len(pickle.dumps(reader)) < MAX_LINE + 256  # all that it keeps
    assert reader.feed(b"x\nGET_MY_MATCHES\n") == [None, b"GET_MY_MATCHES"]


@given(
    st.lists(st.sampled_from([b"a", b" ", b"\r", b"\n", b"\0", b"\xc3\xa9", b"x" * 200])).map(
        b"".join
    ),
    st.lists(st.integers(0, 400)),
)
def test_how_bytes_are_cut_does_not_matter(data: bytes, cuts: list[int]) -> None:
    points = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    pieces = [data[i:j] for i, j in itertools.pairwise(points)]
    single = [data[i : i + 1] for i in range(len(data))]
    assert lines_of(*pieces) == lines_of(data) == lines_of(*single)


# ------------------------------------------------------------------------------------------ input


def test_pending_input_counts_a_chunk_until_its_last_line_is_taken() -> None:
    pending = PendingInput()
    assert not pending
    pending.feed(b"a\nb\nc")
    pending.feed(b"d\n")
    assert (bool(pending), pending.size) == (True, 7)
    assert pending.pop() == b"a"
    assert pending.size == 7
    assert pending.pop() == b"b"
    assert (bool(pending), pending.size) == (True, 2)
    assert pending.pop() == b"cd"
    assert (bool(pending), pending.size) == (False, 0)


def test_pending_input_keeps_no_start_of_a_line_that_is_too_long() -> None:
    pending = PendingInput()
    for _ in range(64):
        pending.feed(b"x" * 16384)
        assert (bool(pending), pending.size) == (False, 0)
    pending.feed(b"\nGET_MY_MATCHES\n")
    assert [pending.pop(), pending.pop()] == [None, b"GET_MY_MATCHES"]


def test_pending_input_splits_one_chunk_at_a_time() -> None:
    pending = PendingInput()
    for _ in range(3):
        pending.feed(b"\n" * 1000)
    assert len(pending.lines) == 1000
    assert pending.size == 3000
    pending.clear()
    assert (bool(pending), pending.size) == (False, 0)


@given(st.lists(st.binary(max_size=8).map(lambda data: data.replace(b"x", b"\n"))))
def test_pending_input_is_what_a_line_reader_returns(chunks: list[bytes]) -> None:
    pending = PendingInput()
    lines = []
    for i, chunk in enumerate(chunks):
        pending.feed(chunk)
        if i % 3 == 0 and pending:
            lines.append(pending.pop())
    assert pending.size <= sum(map(len, chunks))
    while pending:
        lines.append(pending.pop())
    assert lines == lines_of(*chunks)
    assert pending.size == 0


# --------------------------------------------------------------------------------------- commands


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"GET_HP 3", Command("GET_HP", (3,))),
        (b"  GET_HP\t \t3\t", Command("GET_HP", (3,))),
        (b"PLAY_CARD 1 13 -1", Command("PLAY_CARD", (1, 13, -1))),
        (b"BLOCK 007 -0 999999999", Command("BLOCK", (7, 0, 999999999))),
        (b"WAIT", Command("WAIT", ())),
        (None, 3),
        (b"FOO", 2),
        (b"FOO 1 2 3", 2),
        (b"get_hp 3", 2),
        (b"GET_HP\x0b3", 2),
        (b"GET_HP\x003", 2),
        (b"\xff\xfe", 2),
        ("GÉT_HP 3".encode(), 2),
        (b"GET_HP", 3),
        (b"GET_HP 3 4", 3),
        (b"GET_HP x", 3),
        (b"GET_HP +1", 3),
        (b"GET_HP 1.0", 3),
        (b"GET_HP 1\r", 3),
        (b"GET_HP 1_0", 3),
        (b"GET_HP 1234567890", 3),
        (b"GET_HP -", 3),
        ("GET_HP ٣".encode(), 3),
        (b"WAIT 1", 3),
        (b"GET_MY_MATCHES 1", 3),
    ],
)
def test_parse(line: bytes | None, expected: Command | int) -> None:
    assert parse(line) == expected


@given(st.binary(max_size=40))
def test_any_line_is_a_command_or_an_error(line: bytes) -> None:
    result = parse(line)
    assert result in (2, 3) or isinstance(result, Command)


def test_errors_have_their_names() -> None:
    assert error_line(913) == "ERR 913 NotYourTurn"
    assert error_line(6) == "ERR 6 CommandLimitReached"


# ------------------------------------------------------------------------------------------ login


def test_login() -> None:
    login = Login()
    assert login.feed(b"") is None
    assert not login.done
    assert login.feed(b" ann\t") == "PASS"
    assert not login.done
    assert login.feed(b"se cret ") is None
    assert login.done
    assert login.possible
    assert (login.name, login.password) == ("ann", "se cret")


@pytest.mark.parametrize("name", [b"an n", b"x" * 33, "é".encode(), b"a\0", None, b"a/b"])
def test_a_name_that_cannot_be_one_is_refused_after_the_password(name: bytes | None) -> None:
    login = Login()
    assert login.feed(name) == "PASS"
    login.feed(b"secret")
    assert login.done
    assert not login.possible


# ---------------------------------------------------------------------------------------- replies


def test_replies_of_all_shapes() -> None:
    reader = ReplyReader()
    expected = []
    for command, text in [
        ("GET_MY_MATCHES", "OK\n0\n\n"),
        ("GET_MY_MATCHES", "OK\n2\n3 5\n"),
        ("GET_HP 3", "OK\n10 4 8\n"),
        ("GET_HP 5", "ERR 913 NotYourTurn\n"),
        ("GET_DECK 3", "OK\n2\n1 C 0 1 1 0 1\n2 C 0 1 1 0 1\n"),
        ("GET_DECK 3", "OK\n0\n"),
        ("GET_BOARD 3", "OK\n1 1\n1 C 0 1 1 0 1 1\n2 C 0 1 1 0 1 0\n"),
        ("DRAW_CARD 3", "OK\n3 C 1 2 2 5 0\n"),
        ("ATTACK 3 5", "OK\n"),
        ("WAIT", "OK\n"),
        ("", "OK\n"),
    ]:
        if command:
            reader.expect(command)
        lines = text.split("\n")[:-1]
        error = 0 if lines[0] == "OK" else int(lines[0].split()[1])
        expected.append((text.encode(), Reply(command, error, lines[1:])))
    data = b"".join(text for text, _ in expected)
    replies = [reply for i in range(len(data)) for reply in reader.feed(data[i : i + 1])]
    assert replies == [reply for _, reply in expected]
    assert reader.pending == 0


def test_a_refused_wait_has_no_second_ok() -> None:
    reader = ReplyReader()
    reader.expect("WAIT")
    reader.expect("GET_HP 1")
    assert reader.feed(b"ERR 6 CommandLimitReached\nOK\n1 2 3\n") == [
        Reply("WAIT", 6, []),
        Reply("GET_HP 1", 0, ["1 2 3"]),
    ]


def test_the_end_of_the_server_comes_at_any_time() -> None:
    reader = ReplyReader()
    reader.expect("GET_DECK 1")
    reader.expect("WAIT")
    assert reader.feed(b"ERR 8 ServerClosing\n") == [Reply("", 8, [])]
    assert reader.pending == 0


@pytest.mark.parametrize(
    ("command", "data"),
    [
        ("", b"OK\n"),
        ("GET_HP 1", b"HELLO\n"),
        ("GET_HP 1", b"ERR x\n"),
        ("GET_DECK 1", b"OK\nx\n"),
        ("GET_BOARD 1", b"OK\n1\n"),
        ("GET_BOARD 1", b"OK\n-1 2\n"),
        ("GET_DECK 1", b"OK\n" + b"9" * 5000 + b"\n"),
        ("GET_HP 1", b"ERR " + b"9" * 5000 + b" X\n"),
    ],
)
def test_what_is_no_reply(command: str, data: bytes) -> None:
    reader = ReplyReader()
    if command:
        reader.expect(command)
    with pytest.raises(ValueError, match="repl") as caught:
        reader.feed(data)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("start", [b"", b"OK\n", b"OK\n999999999\n1 C 0 1 1 0 1\n"])
@pytest.mark.parametrize("piece", [b"x" * 65536, b"x\n" * 32768, b"x" * 64], ids=len)
def test_a_reply_that_never_ends_is_refused(start: bytes, piece: bytes) -> None:
    reader = ReplyReader()
    reader.expect("GET_DECK 1")
    reader.feed(b"OK\n1\n1 C 0 1 1 0 1\n")
    reader.expect("GET_DECK 1")
    reader.feed(start)

    fed = 0

    def feed_forever() -> None:
        nonlocal fed
        while fed < 2 * MAX_REPLY:
            fed += len(piece)
            reader.feed(piece)

    raises(ValueError, "repl", feed_forever)
    assert fed <= MAX_REPLY + len(piece)


def test_many_replies_may_be_larger_than_the_largest_one() -> None:
    reader = ReplyReader()
    deck = b"OK\n1000\n" + b"1000 C 100 100 100 100 100\n" * 1000
    count = 2 * MAX_REPLY // len(deck)
    for _ in range(count):
        reader.expect("GET_DECK 1")
    assert len(reader.feed(deck * count)) == count


def test_the_commands_are_those_of_the_kernel_the_match_and_the_page() -> None:
    actions = {word for word, spec in COMMANDS.items() if spec.action}
    assert actions == {*ACTION_WORDS} - {"END_TURN"}
    match = Match(generate_deck(1))
    for word, spec in COMMANDS.items():
        if spec.mover and not spec.action:
            line = " ".join([word, *("1" for _ in spec.arguments)])
            assert match.command("A", line)[0] == "OK"
            assert match.command("B", line) == [error_line(913)]
    page = (Path(__file__).parents[3] / "docs" / "vestrock" / "rules.md").read_text()
    for spec in COMMANDS.values():
        who = "mover" if spec.mover else "anybody"
        command = " ".join([spec.word, *spec.arguments])
        row = f"| `{command}` | {who} | {spec.text} |".replace("|  |", "| |")
        assert row in page
    assert len(re.findall(r"^\| `[A-Z_ a-z]+` \| (?:mover|anybody) \|", page, re.M)) == len(
        COMMANDS
    )


def test_each_command_has_a_method_of_the_client() -> None:
    for word, spec in COMMANDS.items():
        method = getattr(Client, word.removeprefix("GET_").lower())
        given = list(inspect.signature(method).parameters)[1:]
        assert len(given) == len(spec.arguments)

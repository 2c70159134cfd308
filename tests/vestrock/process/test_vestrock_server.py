"""Tests of the Vestrock server over real connections, with many kinds of misbehaving clients."""

import asyncio
import contextlib
import json
import os
import queue
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import full_disk, opened_databases, raises
from vestrock_help import (
    COMMAND_LIMIT,
    PATIENCE,
    Event,
    Player,
    Raw,
    Served,
    Standings,
    encode,
    idlers,
    replay,
    served,
    until,
    write_accounts,
)

from vestrock import Server
from vestrock.bots import make_bot
from vestrock.client import Client, LoginError, ServerClosedError
from vestrock.match import CommandError
from vestrock.sockets import StallDetector
from vestrock.spectators import numbered


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Served]:
    """Yield a server whose turns end when all players wait; its log is replayed after the test."""
    log = tmp_path / "log"
    with served(log=log) as server:
        yield server
    replay(log.read_bytes().splitlines(keepends=True))


def start(*raws: Raw) -> None:
    """Send ``WAIT`` from all connections, and wait until the next turn starts."""
    for raw in raws:
        raw.send(b"WAIT\n")
    for raw in raws:
        assert raw.lines(2) == ["OK", "OK"]


def two(table: Served) -> tuple[Raw, Raw]:
    """Return the connections of two players in turn 1 of a tournament; ann is first in match 1."""
    ann, bob = table.raw("ann"), table.raw("bob")
    start(ann, bob)
    return ann, bob


# ------------------------------------------------------------------------------------------ framing


def test_bytes_one_at_a_time(table: Served) -> None:
    """Of a login, and of commands."""
    raw = table.raw()
    raw.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in b"ann\r\nsecret\nGET_MY_MATCHES\r\n\n\t\nGET_MY_MATCHES\t\n":
        raw.send(bytes([byte]))
    assert raw.lines(9) == ["LOGIN", "PASS", "OK", *["OK", "0", ""] * 2]


def test_a_hundred_commands_in_a_packet_across_a_tick(table: Served) -> None:
    ann, bob = two(table)
    first = b"GET_TURN_INFO 1\n" * 50
    ann.send(first + b"WAIT\n" + b"GET_TURN_INFO 1\n" * 50)
    assert ann.lines(101) == ["OK", "1 6"] * 50 + ["OK"]
    assert ann.silent()
    bob.send(b"WAIT\n")
    assert ann.lines(101) == ["OK"] + ["OK", "0 5"] * 50
    assert bob.lines(2) == ["OK", "OK"]


def test_crlf_tabs_nul_utf8_and_half_commands(table: Served) -> None:
    ann, _ = two(table)
    for sent, reply in [
        (b"GET_TURN_INFO 1\r\n", ["OK", "1 6"]),
        (b"\r\n \n\t\r\nGET_TURN_INFO 1\n", ["OK", "1 6"]),
        (b"GET_TURN_INFO\x001\n", ["ERR 2 UnknownCommand"]),
        ("GET_TURN_INFO \uff11\n".encode(), ["ERR 3 BadFormat"]),
        (b"\xff\xfe\xfd\n", ["ERR 2 UnknownCommand"]),
        (b"x" * 257 + b"\n", ["ERR 3 BadFormat"]),
        (b"GET_TURN_INFO" + b" " * 242 + b"1\n", ["OK", "1 6"]),
    ]:
        ann.send(sent)
        assert ann.lines(len(reply)) == reply, sent


def test_a_megabyte_without_lf(table: Served) -> None:
    ann, bob = two(table)
    for _ in range(16):
        ann.send(b"x" * 65536)
    assert bob.ask("GET_TURN_INFO 1", 2) == ["OK", "0 6"]
    assert ann.silent()
    ann.send(b"\nGET_TURN_INFO 1\n")
    assert ann.lines(3) == ["ERR 3 BadFormat", "OK", "1 6"]


def test_random_bytes_stop_nobody(table: Served) -> None:
    ann, bob = two(table)
    rng = random.Random(1)
    words = b"GET_HP|ATTACK|WAIT 1|PLAY_CARD| 1| -5|\n|\r|\t|\0".split(b"|")
    for _ in range(50):
        junk = b"".join(rng.choice([*words, rng.randbytes(3)]) for _ in range(100))
        ann.send(junk.replace(b"WAIT\n", b"WAIT 1\n") + b"\n")
    ann.send(b"GET_FINAL_SCORE 77\n")
    while (line := ann.line()) != "ERR 930 NotYourMatch":
        assert line is not None
    assert bob.ask("GET_TURN_INFO 2", 2) == ["OK", "1 6"]


# -------------------------------------------------------------------------------------------- login


def test_a_wrong_login_is_refused_and_closed(table: Served) -> None:
    table.raw("ann").close()
    many = b"x" * 300
    for words in (b"an n\nx", b"\xff\nx", many + b"\nx", b"ann\n" + many, b"ann\nwrong"):
        with table.raw() as raw:
            raw.send(words + b"\nGET_MY_MATCHES\n")
            assert raw.rest() == ["LOGIN", "PASS", "ERR 1 BadLoginOrPassword"], words
    with table.raw("ann") as raw:  # nor can who is logged in log in again
        raw.send(b"bob\nx\nLOGIN bob\n")
        assert raw.lines(3) == ["ERR 2 UnknownCommand"] * 3
        assert [one.player for one in table.server.connections] == ["ann"]


def test_no_login_and_half_a_login_end(table: Served) -> None:
    table.server.login_seconds = 0.3
    ann, nothing, half = table.raw("ann"), table.raw(), table.raw()
    half.send(b"ann\n")
    assert nothing.rest() == ["LOGIN", "ERR 1 BadLoginOrPassword"]
    assert half.rest() == ["LOGIN", "PASS", "ERR 1 BadLoginOrPassword"]
    assert ann.ask("GET_MY_MATCHES", 3) == ["OK", "0", ""]  # who is in stays


def test_a_fifth_connection_ends_the_oldest(table: Served) -> None:
    """A player's fifth connection closes the oldest one, so that dead connections do no harm."""
    raws = [table.raw("ann") for _ in range(5)]
    assert raws[0].rest() == ["ERR 7 TooManyConnections"]
    table.raw("bob").close()
    for raw in raws[1:]:
        assert raw.ask("GET_MY_MATCHES", 3) == ["OK", "0", ""]
        raw.close()


FULL = ["LOGIN", "ERR 7 TooManyConnections"]
several = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="127.0.0.2 is no address there"
)


@several
def test_silent_connections_of_an_address_lose_their_places(table: Served) -> None:
    """At most 16 connections of an address may be silent before the login: the oldest goes."""
    ann = table.raw("ann")
    silent = [table.raw(address="127.0.0.2") for _ in range(40)]
    assert [raw.rest() for raw in silent[:24]] == [FULL] * 24
    assert [raw.line() for raw in silent[24:]] == ["LOGIN"] * 16
    table.raw(address="127.0.0.2").log_in("carl")
    assert silent[24].rest() == ["ERR 7 TooManyConnections"]
    assert all(raw.silent(0.001) for raw in silent[25:])
    assert ann.ask("GET_MY_MATCHES", 3) == ["OK", "0", ""]


@several
def test_silent_connections_of_many_addresses_lock_out_nobody(table: Served) -> None:
    silent = [table.raw(address=f"127.0.1.{i}") for i in range(1, 17) for _ in range(16)]
    assert [raw.line() for raw in silent] == ["LOGIN"] * 256
    assert len(table.server.admission.logins) == 256
    for name in ("ann", "bob", "carl"):
        table.raw(address="127.0.0.2").log_in(name)
    assert silent[0].rest() == ["ERR 7 TooManyConnections"]
    assert len(table.server.admission.logins) == 255


def test_addresses_of_ipv6_count_by_their_network() -> None:
    try:
        with served(host="::1") as table, socket.create_connection(("::1", table.port)) as raw:
            raw.settimeout(PATIENCE)
            assert raw.recv(100) == b"LOGIN\n"
            (session,) = table.server.connections
            assert session.prefix == "::/64"
    except OSError:
        pytest.skip("there is no ::1")


def charge(table: Served, what: str, name: str, seconds: float) -> None:
    """Charge somebody, in the server's thread."""
    table.call(lambda: getattr(table.server.admission, what).charge(name, seconds))


@several
def test_who_is_in_debt_gets_no_new_connection(table: Served) -> None:
    """The connections that an address in debt already has still log in; a player may return."""
    ann, early = table.raw("ann"), table.raw()
    assert early.line() == "LOGIN"
    charge(table, "newcomers", "127.0.0.1", 1e6)
    charge(table, "returning", "127.0.0.1", 1e6)
    for _ in range(100):
        assert table.raw().rest() in (["ERR 7 TooManyConnections"], [])
    assert len(table.server.connections) == 2
    early.send(b"carl\nx\n")
    assert early.lines(2) == ["PASS", "OK"]
    assert ann.ask("GET_MY_MATCHES", 3) == ["OK", "0", ""]
    table.raw(address="127.0.0.2").log_in("bob")
    charge(table, "newcomers", "127.0.0.3", 1e6)
    assert table.raw(address="127.0.0.3").rest() in (["ERR 7 TooManyConnections"], [])
    table.call(lambda: table.server.admission.logged_in("127.0.0.3", "ann"))
    table.raw(address="127.0.0.3").log_in("ann")


@pytest.mark.parametrize("junk", [b"\n" * 17, b"x" * 200_000], ids=["lines", "bytes"])
def test_a_connection_that_sends_much_before_its_login_is_closed(
    table: Served, junk: bytes
) -> None:
    raw = table.raw()
    with contextlib.suppress(ConnectionError):
        raw.send(junk)
    assert raw.rest() == ["LOGIN", "ERR 1 BadLoginOrPassword"]
    raw = table.raw()
    raw.send(b"\n" * 10 + b"ann\nx\n" + b"GET_MY_MATCHES\n" * 20_000)  # much, but afterwards
    assert raw.lines(3) == ["LOGIN", "PASS", "OK"]


def test_a_player_in_debt_is_not_read(table: Served) -> None:
    ann, bob = two(table)
    charge(table, "players", "ann", 5.5)
    ann.send(b"\n" + b"GET_TURN_INFO 1\n" * 3)
    assert ann.silent(0.1)
    assert bob.ask("GET_TURN_INFO 2", 2) == ["OK", "1 6"]
    assert ann.lines(6) == ["OK", "1 6"] * 3


def test_accounts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    write_accounts(path, "ann", "bob", "carl")
    with served(accounts=path, turn_seconds=0.05, early=False) as table:
        for words in (("dora", "x"), ("ann", "y")):
            raises(LoginError, "ERR 1 BadLoginOrPassword", Client, "127.0.0.1", table.port, *words)
        with table.client("ann") as ann:
            # All accounts take part, even if they are not logged in.
            while not ann.my_matches():
                ann.wait()
            assert len(ann.my_matches()) == 4


# ---------------------------------------------------------------------------- disconnect, reconnect


def test_what_was_sent_before_the_end_is_done(table: Served) -> None:
    """Whole lines are, also after a reconnect in the same turn; the part of a line is not."""
    ann, _ = two(table)
    ann.send(b"DRAW_CARD 1")
    ann.close()
    until(lambda: not table.connections("ann"))
    ann = table.raw("ann")
    assert ann.ask("GET_HANDS 1", 2) == ["OK", "0 0"]
    assert ann.ask("DRAW_CARD 1", 2)[0] == "OK"
    ann.close()
    ann = table.raw("ann")
    assert ann.ask("GET_CARD_LIMITS 1", 2) == ["OK", "1 2 10"]
    assert ann.ask("FINISH_BLOCK 1") == ["ERR 911 BlockingAlreadyFinished"]
    ann.send(b"DRAW_CARD 1\nBURN_CARD 1\nDRAW")
    ann.socket.shutdown(socket.SHUT_WR)
    assert [line for line in ann.rest() if line == "OK"] == ["OK"] * 2
    ann = table.raw("ann")
    assert ann.ask("GET_CARD_LIMITS 1", 2) == ["OK", "0 1 10"]


def reset(raw: Raw) -> None:
    """End a connection by a reset."""
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()


def test_a_connection_that_ends_inside_a_reply(table: Served) -> None:
    ann, bob = two(table)
    for end in (Raw.close, reset):
        other = table.raw("ann")
        other.send(b"GET_DECK 1\n" * 400)
        assert other.line() == "OK"
        end(other)
    until(lambda: len(table.connections("ann")) == 1)
    assert ann.ask("GET_TURN_INFO 1", 2) == ["OK", "1 6"]
    start(ann, bob)


def test_a_connection_that_ends_in_wait(table: Served) -> None:
    ann, bob = two(table)
    for end in (Raw.close, reset) * 3:  # more often than a player may have connections
        other = table.raw("bob")
        assert other.ask("WAIT") == ["OK"]
        end(other)
        until(lambda: len(table.connections("bob")) == 1)
    start(ann, bob)
    assert bob.ask("GET_TURN_INFO 1", 2) == ["OK", "1 5"]


def test_a_bot_whose_connection_breaks_goes_on(table: Served) -> None:
    """A player whose connection breaks reconnects and continues its matches."""
    player = Player(table.client("ann"), make_bot("random", 1), turn_seconds=5.0)
    playing = threading.Thread(target=lambda: player.run(lambda: table.client("ann")), daemon=True)
    playing.start()
    bob = table.raw("bob")
    for turns in range(1, 6):
        start(bob)
        if turns in (2, 4):
            table.call(table.connections("ann")[0].abort)
    until(lambda: player.figures.reconnects == 2)
    bob.close()
    table.stop()
    playing.join(PATIENCE)
    assert not playing.is_alive()
    player.client.close()
    assert player.figures.turns > 0
    # Without a function that reconnects, the player fails.
    with served() as other:
        client = other.client("ann")
        until(lambda: bool(other.connections("ann")))
        other.call(other.connections("ann")[0].abort)
        raises(ConnectionResetError, "connection", Player(client, make_bot("random", 1)).run)
        client.close()


def test_a_bot_measures_how_long_a_turn_lasts() -> None:
    """A server with short turns, of which the player knows nothing."""
    with served(turn_seconds=0.4, early=False) as table, table.client("bob"):
        player = Player(table.client("ann"), make_bot("search", 1))
        playing = threading.Thread(target=player.run, daemon=True)
        playing.start()
        until(lambda: player.figures.turns >= 5)
        table.stop()
        playing.join(PATIENCE)
        player.client.close()
    assert set(player.figures.replies) == {0}
    assert player.figures.late == 0
    assert player.turn_seconds == pytest.approx(0.4, abs=0.1)


ATTACKERS = "1 C 2 3 3 0 0\n2 C 1 3 3 0 0\n3 C 1 9 9 0 0\n4 C 1 9 9 0 0\n"


def test_a_reconnect_between_two_blocks(tmp_path: Path) -> None:
    deck = tmp_path / "deck"
    deck.write_text(ATTACKERS)
    with served(decks=[deck], turns=20) as table:
        ann, bob = two(table)
        for command in ("DRAW_CARD 1", "DRAW_CARD 1"):
            assert ann.ask(command, 2)[0] == "OK"
        assert ann.ask("PLAY_CARD 1 1 -1") + ann.ask("PLAY_CARD 1 2 -1") == ["OK", "OK"]
        start(ann, bob)
        for command in ("DRAW_CARD 1", "DRAW_CARD 1"):
            assert bob.ask(command, 2)[0] == "OK"
        assert bob.ask("PLAY_CARD 1 3 -1") + bob.ask("PLAY_CARD 1 4 -1") == ["OK", "OK"]
        for _ in range(2):  # a creature can block from its player's second turn after it was played
            start(ann, bob)
        assert bob.ask("FINISH_BLOCK 1") == ["OK"]
        start(ann, bob)
        assert ann.ask("ATTACK 1 1") + ann.ask("ATTACK 1 2") == ["OK", "OK"]
        start(ann, bob)
        assert bob.ask("BLOCK 1 1 3") == ["OK"]
        bob.close()
        until(lambda: not table.connections("bob"))
        bob = table.raw("bob")
        assert bob.ask("BLOCK 1 1 3") == ["ERR 905 InactiveCard"]
        assert bob.ask("BLOCK 1 2 4") == ["OK"]
        assert bob.ask("FINISH_BLOCK 1") == ["OK"]
        assert bob.ask("GET_HP 1", 2) == ["OK", "20 20 20"]


# -------------------------------------------------------------------------- slow clients and floods


def transports(table: Served, name: str) -> list[asyncio.Transport]:
    """Return those of a player's connections."""
    return [one.transport for one in table.connections(name) if one.transport is not None]


def test_a_client_that_never_reads_loses_its_own_time_only(table: Served) -> None:
    ann, bob = two(table)
    deaf = table.raw("ann")
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.socket.settimeout(0.5)
    with contextlib.suppress(TimeoutError):
        for _ in range(1000):
            deaf.send(b"GET_DECK 1\n" * 100)
    # The server stops reading from the connection, and buffers little for it.
    full = 64 * 1024
    until(lambda: any(t.get_write_buffer_size() > full for t in transports(table, "ann")))
    transport = max(transports(table, "ann"), key=lambda one: one.get_write_buffer_size())
    assert not transport.is_reading()
    assert transport.get_write_buffer_size() < 2 * full
    assert bob.ask("GET_DECK 2", 102)[:2] == ["OK", "100"]
    # The player's other connection still works until the player's commands are used up.
    assert ann.ask("GET_TURN_INFO 1")[0] in ("OK", "ERR 6 CommandLimitReached")


def test_a_connection_that_takes_no_bytes_is_closed(
    table: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time passes faster: connections are looked at more often, and seem to be stuck for longer.
    stuck, call_later = StallDetector.stuck, asyncio.BaseEventLoop.call_later
    monkeypatch.setattr(
        StallDetector, "stuck", lambda one, unsent, now: stuck(one, unsent, 20 * now)
    )
    monkeypatch.setattr(
        asyncio.BaseEventLoop,
        "call_later",
        lambda loop, delay, *call, **more: call_later(loop, delay / 10, *call, **more),
    )
    ann, _ = two(table)
    deaf = table.raw("bob")
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.socket.settimeout(0.2)
    with contextlib.suppress(TimeoutError, ConnectionError):
        for _ in range(1000):
            deaf.send(b"GET_DECK 2\n" * 100)
    until(lambda: len(table.connections("bob")) == 1)
    # A connection with nothing to receive is not closed, however long it is idle.
    assert ann.ask("GET_TURN_INFO 1", 2) == ["OK", "1 6"]


def test_5001_commands(table: Served) -> None:
    """Blank lines are commands, too."""
    ann, bob = two(table)
    asked = b"GET_TURN_INFO 1\n"
    ann.send(asked * (COMMAND_LIMIT - 100) + b"\n" * 100 + asked + b"WAIT\n" + asked)
    assert ann.lines(2 * (COMMAND_LIMIT - 100)) == ["OK", "1 6"] * (COMMAND_LIMIT - 100)
    assert ann.lines(2) == ["ERR 6 CommandLimitReached", "OK"]
    assert bob.ask("GET_TURN_INFO 1", 2) == ["OK", "0 6"]
    bob.send(b"WAIT\n")
    assert bob.lines(2) == ["OK", "OK"]
    assert ann.lines(3) == ["OK", "OK", "0 5"]


@pytest.mark.parametrize("flood", [b"FOO\n", b"\n"])
def test_a_flood_does_not_hold_up_others(table: Served, flood: bytes) -> None:
    ann, bob = two(table)
    ending = threading.Event()

    def send() -> None:
        with contextlib.suppress(OSError):
            while not ending.is_set():
                ann.send(flood * 10_000)

    sender = threading.Thread(target=send)
    reader = threading.Thread(target=ann.rest, daemon=True)
    reader.start()
    sender.start()
    until(lambda: table.server.series.count("ann")[0] > 100)
    for _ in range(50):
        assert bob.ask("GET_TURN_INFO 2", 2) == ["OK", "1 6"]
    (transport,) = transports(table, "ann")
    until(lambda: not transport.is_reading())  # the flood has not ended
    ending.set()
    ann.socket.shutdown(socket.SHUT_RDWR)
    sender.join(PATIENCE)
    reader.join(PATIENCE)


# ------------------------------------------------------------------------ several connections, WAIT


def test_two_connections_act_on_one_match_at_once(table: Served) -> None:
    ann, _ = two(table)
    other = table.raw("ann")
    ann.send(b"DRAW_CARD 1\n" * 20)
    other.send(b"DRAW_CARD 1\n" * 20)
    replies = []
    for raw in (ann, other):
        for _ in range(20):
            line = raw.line()
            replies.append(line)
            if line == "OK":
                raw.line()
    assert replies.count("OK") == 2
    assert replies.count("ERR 907 DrawLimitExceeded") == 38


def test_wait_concerns_one_connection(table: Served) -> None:
    ann, bob = two(table)
    other = table.raw("ann")
    assert ann.ask("WAIT") == ["OK"]
    assert other.ask("GET_TURN_INFO 1", 2) == ["OK", "1 6"]
    bob.send(b"WAIT\n")
    assert bob.line() == "OK"
    assert bob.silent()  # ann's other connection may still act
    ann.send(b"GET_TURN_INFO 1\n")
    assert ann.silent()
    other.send(b"WAIT\n")
    assert other.lines(2) == ["OK", "OK"]
    assert ann.lines(3) == ["OK", "OK", "0 5"]
    assert bob.line() == "OK"


def test_wait_over_the_end_of_a_tournament() -> None:
    with served(break_turns=2, turns=2) as table:
        ann, bob = table.raw("ann"), table.raw("bob")
        seen = []
        for _ in range(10):
            start(ann, bob)
            ann.send(b"GET_MY_MATCHES\n")
            seen.append(ann.lines(3)[2])
        assert seen == ["", "1 2", "1 2", "", "", "3 4", "3 4", "", "", "5 6"]


def test_an_early_turn_needs_every_player(table: Served) -> None:
    ann, bob = two(table)
    bob.close()
    until(lambda: not table.connections("bob"))
    assert ann.ask("WAIT") == ["OK"]
    assert ann.silent(0.2)
    bob = table.raw("bob")
    assert ann.silent(0.05)
    assert bob.ask("WAIT", 2) == ["OK", "OK"]
    assert ann.line() == "OK"


def test_an_absent_player_idles_and_all_scores_count(tmp_path: Path) -> None:
    accounts, standings, log = (tmp_path / name for name in ("accounts", "standings.db", "log"))
    write_accounts(accounts, "ann", "bob")
    with served(
        accounts=accounts,
        turn_seconds=0.02,
        early=False,
        turns=4,
        tournaments=3,
        standings=standings,
        log=log,
    ) as table:
        # On a busy machine all may be over before ann logs in: then she is absent too.
        with contextlib.suppress(ServerClosedError), table.client("ann") as ann:
            while True:
                ann.wait()
        table.wait()
    with Standings(standings, write=False) as file:
        assert file.last == 3
        for number in (1, 2, 3):
            assert [result.scores for result in file.results(number)] == [(30, 30), (30, 30)]
    assert replay(log.read_bytes().splitlines(keepends=True)).tournaments == 3


def test_a_tick_while_a_reply_is_being_sent(table: Served) -> None:
    ann, bob = two(table)
    slow = table.raw("bob")
    slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.send(b"GET_DECK 2\n" * 50 + b"WAIT\nGET_TURN_INFO 2\n")
    time.sleep(0.05)
    ann.send(b"WAIT\n")
    bob.send(b"WAIT\n")
    lines = slow.lines(50 * 102 + 4)
    assert lines[:102] * 50 == lines[: 50 * 102]  # every reply is complete
    assert lines[50 * 102 :] == ["OK", "OK", "OK", "0 5"]


# -------------------------------------------------------------------------------- clock, spectators


def test_ticks_of_50_ms_are_neither_left_out_nor_made_up_for() -> None:
    with served(turn_seconds=0.05, early=False) as table, table.client("ann") as ann:

        def state() -> tuple[int, float]:
            return table.server.ticks, asyncio.get_running_loop().time()

        ticks, time = table.call(state)
        for _ in range(20):
            ann.wait()
        more_ticks, later = table.call(state)
        # On a busy machine ticks may be late, but none comes before its time.
        assert 20 <= more_ticks - ticks <= (later - time) / 0.05 + 1.001


def test_open_spectators_get_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served(log=log, spectator_port=0, open_spectators=True, tournaments=1) as table:
        early = table.spectator()
        ann, bob = two(table)
        assert ann.ask("DRAW_CARD 1", 2)[0] == "OK"
        late = table.spectator()
        late.send(b"WAIT\nGET_MY_MATCHES\n")  # the input of spectators is ignored
        until(lambda: len(table.server.feed.spectators) == 2)
        while table.call(lambda: table.server.series.finished) == 0:
            ann.send(b"WAIT\n")
            bob.send(b"WAIT\n")
            ann.lines(2), bob.lines(2)
        table.wait()
        seen, seen_late = early.rest(), late.rest()
    lines = log.read_text().splitlines()
    assert seen == lines[1:]
    assert seen_late[0] == lines[1]
    assert [line.split(",")[0] for line in seen_late[1:3]] == ['{"event":"position"'] * 2
    assert seen_late[3:] == lines[2:]  # all lines since the start of the turn
    assert replay(f"{line}\n".encode() for line in seen).matches == 2
    assert replay(f"{line}\n".encode() for line in seen_late).matches == 2


def test_a_slow_spectator_is_dropped() -> None:
    """A spectator with more than 1000 unread lines is dropped; one that keeps reading is not."""
    with served(spectator_port=0) as table:
        watcher = table.spectator()
        table.spectator(receive_buffer=4096)  # reads nothing
        feed = table.server.feed
        until(lambda: len(feed.spectators) == 2)

        def shout() -> None:
            for _ in range(500):
                table.server.events.add({"event": "refused", "text": "x" * 1000})
            feed.turn_started(None)

        seen = 0
        for _ in range(1000):
            table.call(shout)
            seen += sum(line is not None for line in watcher.lines(500))
            if len(feed.spectators) == 1:
                break
        assert len(feed.spectators) == 1
        # The spectator that is left is the one that reads.
        table.call(shout)
        assert seen + sum(line is not None for line in watcher.lines(500)) == seen + 500
        assert seen % 500 == 0
        assert seen > 1000


def test_spectators_of_an_address_lose_their_places_and_debtors_get_none() -> None:
    with served(spectator_port=0) as table:
        server = table.server
        charge(table, "watching", "127.0.0.1", 1e6)
        assert table.spectator().rest() == []
        watchers = []
        for _ in range(18):
            table.call(lambda: server.admission.watching.refund("127.0.0.1", 1e6))
            before = {*server.feed.spectators}
            watchers.append(table.spectator())
            until(lambda before=before: table.call(lambda: server.feed.spectators - before))
        assert [raw.rest() for raw in watchers[:2]] == [[], []]
        assert len(server.feed.spectators) == len(server.admission.spectators) == 16
        table.raw("ann").close()  # the port for players has its own allowance
        table.call(lambda: server.feed.expire(asyncio.get_running_loop().time() + 3000))
        assert watchers[-1].silent()
        table.call(lambda: server.feed.expire(asyncio.get_running_loop().time() + 3601))
        assert watchers[-1].rest() == []
        until(lambda: len(server.admission.spectators) == 0)


def test_spectators_are_a_turn_late_and_see_numbers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served(log=log, spectator_port=0, tournaments=1) as table:
        early = table.spectator()
        until(lambda: len(table.server.feed.spectators) == 1)
        ann, bob = two(table)
        assert ann.ask("DRAW_CARD 1", 2)[0] == "OK"
        late = table.spectator()
        until(lambda: len(table.server.feed.spectators) == 2)
        seen = early.lines(1)
        assert early.silent()  # nothing of the running turn
        start(ann, bob)
        seen += early.lines(2)
        assert '"command":"DRAW_CARD"' in (seen[1] or "")
        while table.call(lambda: table.server.series.finished) == 0:
            start(ann, bob)
        table.wait()
        seen += early.rest()
        seen_late = late.rest()
    numbers = {"ann": "1", "bob": "2"}
    lines = [numbered(json.loads(line), numbers) for line in log.read_text().splitlines()]
    assert [json.loads(line or "") for line in seen] == lines[1:]
    assert "ann" not in "".join(map(str, seen + seen_late))
    events = [json.loads(line)["event"] for line in seen_late[:3]]
    assert events == ["tournament", "position", "position"]
    assert [json.loads(line) for line in seen_late[3:]] == lines[2:]
    for shown in (seen, seen_late):
        assert replay(f"{line}\n".encode() for line in shown).matches == 2


def test_positions_are_encoded_once_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []

    def noted(event: Event) -> bytes:
        if event["event"] == "position":
            made.append((event["turn"], event["match"]))
        return encode(event)

    monkeypatch.setattr("vestrock.spectators.encode", noted)
    with served(spectator_port=0) as table:
        ann, _ = two(table)
        turn = table.server.series.tournament.turn
        for watcher in [table.spectator() for _ in range(8)]:
            assert [str(line).split('"')[3] for line in watcher.lines(3)] == [
                *("tournament", "position", "position")
            ]
        assert made == [(turn, 1), (turn, 2)]
        assert ann.ask("GET_TURN_INFO 1", 2) == ["OK", "1 6"]


# --------------------------------------------------------------------------------------- passwords


class Slow:
    """Accounts whose password checks last until the test provides the result."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: queue.Queue[bool] = queue.Queue()
        self.known: set[str] = set()

    def check_quickly(self, name: str, password: str) -> bool | None:
        return True if name in self.known else None

    def check(self, name: str, password: str) -> bool:
        self.asked.append(name)
        return self.answers.get(timeout=PATIENCE)

    def names(self) -> list[str]:
        return ["ann", "bob"]


def test_passwords_are_checked_one_at_a_time(table: Served) -> None:
    """Passwords are checked one at a time, in order, but other addresses come first.

    Closed connections are skipped, and known passwords are accepted at once.
    """
    table.server.accounts = accounts = Slow()
    first, gone, second = (table.raw() for _ in range(3))
    for raw, name in ((first, "a"), (gone, "b"), (second, "c")):
        raw.send(f"{name}\nx\n".encode())
        assert raw.lines(2) == ["LOGIN", "PASS"]

    until(lambda: len(table.server.passwords) == 2)
    gone.close()
    until(lambda: len(table.server.passwords) == 1)
    other = table.raw(address="127.0.0.2")
    other.send(b"d\nx\n")
    until(lambda: len(table.server.passwords) == 2)
    accounts.known.add("ann")
    assert table.raw("ann").ask("GET_MY_MATCHES", 3) == ["OK", "0", ""]
    assert accounts.asked == ["a"]
    for right in (False, True, True):
        accounts.answers.put(right)
    assert first.rest() == ["ERR 1 BadLoginOrPassword"]
    assert other.lines(3)[2] == second.line() == "OK"
    assert accounts.asked == ["a", "d", "c"]


@several
def test_an_honest_password_is_checked_soon_beside_attempts_from_64_addresses(
    table: Served,
) -> None:
    """All places are taken by connections that wait for a check, four of each address."""
    table.server.accounts = accounts = Slow()
    pests = [table.raw(address=f"127.0.1.{i}") for _ in range(4) for i in range(1, 65)]
    for raw in pests:
        raw.send(b"pest\nx\n")
    until(lambda: len(table.server.passwords) == 255)  # and one is being checked
    ann = table.raw(address="127.0.0.2")
    ann.send(b"ann\nx\n")
    assert ann.lines(2) == ["LOGIN", "PASS"]
    until(lambda: len(table.server.passwords) == 255)  # one of the others had to go
    for _ in range(400):
        accounts.answers.put(False)
    until(lambda: "ann" in accounts.asked)
    assert accounts.asked.index("ann") <= 64


def test_too_many_wrong_passwords_are_refused_unchecked(table: Served) -> None:
    """A password that was right before is accepted all the same."""
    table.server.accounts = accounts = Slow()
    accounts.known.add("ann")
    charge(table, "passwords", "127.0.0.1", 1e6)
    with table.raw() as raw:
        raw.send(b"bob\nx\n")
        assert raw.rest() == ["LOGIN", "PASS", "ERR 7 TooManyConnections"]
    assert accounts.asked == []
    table.raw("ann").close()


def test_what_a_half_closed_connection_sent_is_executed(table: Served) -> None:
    """What a client sends before it closes its output is executed, even after a password check."""
    table.server.accounts = accounts = Slow()
    raw = table.raw()
    raw.send(b"ann\nx\nGET_MY_MATCHES\n")
    raw.socket.shutdown(socket.SHUT_WR)
    until(lambda: accounts.asked == ["ann"])
    accounts.answers.put(True)
    assert raw.rest() == ["LOGIN", "PASS", "OK", "OK", "0", ""]


def test_the_end_does_not_wait_for_passwords(table: Served) -> None:
    """Nor does a connection: a password that is not checked in time is no wrong one."""
    table.server.accounts = accounts = Slow()
    table.server.login_seconds = 0.2
    with table.raw() as raw:
        raw.send(b"bob\nx\n")
        assert raw.rest() == ["LOGIN", "PASS", "ERR 7 TooManyConnections"]
    table.server.login_seconds = PATIENCE
    accounts.answers.put(True)
    accounts.asked.clear()
    raw = table.raw()
    raw.send(b"ann\nx\n")
    until(lambda: accounts.asked == ["ann"])
    table.stop()  # this waits for the server's end
    assert raw.rest() == ["LOGIN", "PASS", "ERR 8 ServerClosing"]
    accounts.answers.put(False)


# --------------------------------------------------------------------------------- the server's end


def test_shutdown_tells_everybody_and_the_cut_tournament_counts_for_nothing(tmp_path: Path) -> None:
    log, standings = tmp_path / "log", tmp_path / "standings.db"
    with served(log=log, standings=standings, spectator_port=0) as table:
        ann, bob = two(table)
        stranger = table.raw()
        watcher = table.spectator()
        assert bob.ask("WAIT") == ["OK"]
        assert stranger.line() == "LOGIN"
        table.stop()
        for raw in (ann, bob, stranger):
            assert raw.rest() == ["ERR 8 ServerClosing"]
        assert watcher.rest()[-1] == '{"event":"cut","tournament":1}'
    assert replay(log.read_bytes().splitlines(keepends=True)).cut == 1
    with Standings(standings, write=False) as file:
        assert (file.last, file.table()) == (0, [])
    raises(OSError, "refused", Raw, table.port)


def test_an_address_that_is_taken_or_open(table: Served) -> None:
    raises(OSError, "address", asyncio.run, Server(port=table.port).run())
    raises(ValueError, r"accounts: .*0\.0\.0\.0", Server, host="0.0.0.0")


@pytest.mark.slow
def test_standings_and_numbers_go_on_after_a_restart(tmp_path: Path) -> None:
    log, standings = tmp_path / "log", tmp_path / "standings.db"
    for _ in range(2):
        with (
            served(log=log, standings=standings, turns=2, tournaments=2) as table,
            idlers(table, "ann", "bob"),
        ):
            table.wait()
    with Standings(standings, write=False) as file:
        assert file.last == 4
        assert [row.tournaments for row in file.table()] == [4, 4]
    assert replay(log.read_bytes().splitlines(keepends=True)).tournaments == 4


def test_a_full_disk_of_the_standings_ends_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "standings.db"
    databases = opened_databases(monkeypatch)
    with (
        served(turns=2, standings=path, log=tmp_path / "log") as table,
        full_disk(*databases),  # the results of a few tournaments need more pages
    ):
        raws = [table.raw(f"player{i}") for i in range(15)]
        while table.failure is None:
            for raw in raws:
                with contextlib.suppress(OSError):
                    raw.send(b"WAIT\n")
            if [raw.line() for raw in raws] != ["OK"] * 15:
                break
            for raw in raws:
                raw.line()
        table.wait()
        number = table.server.series.finished
        assert f"{path}: tournament" in str(table.failure)
        assert str(number) in str(table.failure)
        assert "not written: database or disk is full" in str(table.failure)
    with Standings(path, write=False) as file:
        assert file.last < number
    assert replay((tmp_path / "log").read_bytes().splitlines(keepends=True)).tournaments == number


def test_a_full_disk_of_the_log_ends_the_server() -> None:
    with served(log="/dev/full") as table:
        ann, bob = table.raw("ann"), table.raw("bob")
        for raw in (ann, bob):
            raw.send(b"WAIT\n")
        assert ann.rest()[-1] == bob.rest()[-1] == "ERR 8 ServerClosing"
        table.wait()
        message = "/dev/full: No space left on device: tournament 1 is not written whole"
        assert table.failure == message


@pytest.mark.parametrize(
    "options",
    [
        *({"turn_seconds": seconds} for seconds in (0.001, float("nan"))),
        *({"port": 70000}, {"init_hp": 3}, {"players": 1}, {"break_turns": -1}),
        {"tournaments": 0},
    ],
    ids=str,
)
def test_wrong_arguments(options: dict[str, Any], tmp_path: Path) -> None:
    raises(ValueError, next(iter(options)), Server, **options, log=tmp_path / "log")
    assert not (tmp_path / "log").exists()


# ------------------------------------------------------------------------------------------- client


def test_a_client_reads_what_is_there(table: Served) -> None:
    with table.client("ann") as ann, table.client("bob") as bob:
        bob.send(["WAIT"])
        ann.wait()
        bob.receive(2)
        assert ann.my_matches() == [1, 2]
        assert ann.turn_info(1) == (True, 6)
        assert ann.hp(1) == (20, 20, 20)
        assert ann.card_limits(1) == (2, 2, 10)
        assert ann.current_mana(1) == 0
        deck = ann.deck(1)
        assert len(deck) == 100
        assert ann.draw_card(1) == deck[0]
        ann.burn_card(1)
        assert ann.hands(1) == ([deck[0]], [])
        ann.play_card(1, deck[0].id)
        own, other = ann.board(1)
        assert ([creature.card for creature in own], other) == ([deck[0]], [])
        assert not own[0].active
        assert ann.attackers(1) == []
        raises(CommandError, "ERR 913 NotYourTurn", ann.hp, 2)
        raises(CommandError, "ERR 905 InactiveCard", ann.attack, 1, deck[0].id)
        raises(CommandError, "ERR 933", ann.final_score, 1)


def test_a_client_pipelines_more_than_any_buffer_holds(table: Served) -> None:
    """And it is told that the server ends."""
    with table.client("ann") as ann, table.client("bob") as bob:
        bob.send(["WAIT"])
        ann.wait()
        replies = ann.request(["GET_DECK 1"] * 1500)
        assert {len(reply.lines) for reply in replies} == {101}
        ann.send(["WAIT"])
        table.stop()
        raises(ServerClosedError, "the server closes", ann.receive, 2)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"LOGIN\nPASS\nOK\nERR 8 ServerClosing\n", ServerClosedError),  # at once
        (b"x" * 5000, LoginError),
        (b"HELLO\n", LoginError),
    ],
)
def test_a_client_is_told_what_is_no_server_or_ends(text: bytes, error: type[Exception]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with listening.accept()[0] as guest:
                guest.sendall(text)
                with contextlib.suppress(ConnectionError):
                    guest.recv(100)

        server = threading.Thread(target=answer, daemon=True)
        server.start()
        with pytest.raises(error) as caught:
            Client("127.0.0.1", listening.getsockname()[1], "ann", "x", timeout=PATIENCE)
        assert error is ServerClosedError or "expected LOGIN" in str(caught.value)
        server.join(PATIENCE)


# ------------------------------------------------------------------------------------------- growth


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_connections_that_come_and_go_leave_nothing(table: Served) -> None:
    two(table)
    before = descriptors()
    for i in range(60):
        with table.raw("ann" if i % 2 else "bob") as raw:
            raw.send(b"GET_DECK 1\nWAIT\nGET" if i % 3 else b"GET_DECK")
        time.sleep(0.005)
    until(lambda: len(table.server.connections) == 2)
    assert descriptors() == before
    assert len(table.server.admission.newcomers) <= 1
    assert len(table.server.admission.logins) == 0
    assert sorted(one.player for one in table.server.connections) == ["ann", "bob"]

"""Tests of the commands of ``vestrock``: serve, bot, standings, replay and account."""

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from vestrock_help import PATIENCE, FileAccounts, Standings, Tournament, replay, tool

from vestrock import generate_deck
from vestrock.bots import make_bot
from vestrock.client import Client

VESTROCK = [sys.executable, "-m", "vestrock"]


class Serving:
    """A server as a process."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [*VESTROCK, "serve", "--port=0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on 127\.0\.0\.1 port (\d+).*\n", line)
        assert found, line + self.process.communicate()[1]
        self.port = int(found[1])

    def bot(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*VESTROCK, "bot", *words, f"--port={self.port}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, number: int = signal.SIGTERM) -> str:
        """Stop the server by a signal, and return what it wrote to its standard error."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.communicate(timeout=PATIENCE)[1]


@pytest.fixture
def serving() -> Iterator[Callable[..., Serving]]:
    """Yield a function that starts servers, which are killed at the end of the test."""
    servers: list[Serving] = []

    def serve(*options: str) -> Serving:
        servers.append(Serving(*options))
        return servers[-1]

    yield serve
    for server in servers:
        server.process.kill()
        server.process.communicate()


@pytest.mark.slow
def test_bots_play_tournaments_and_the_log_is_replayed(
    serving: Callable[..., Serving], tmp_path: Path
) -> None:
    log, standings = tmp_path / "log", tmp_path / "standings.db"
    options = ["--early", "--turns=20", "--players=3", "--tournaments=2", "--break-turns=0"]
    server = serving(*options, f"--log={log}", f"--standings={standings}")
    bots = [
        server.bot("rule"),
        server.bot("random", "--user=other"),
        server.bot("search:nodes=50", "--user=third"),
    ]
    for bot in bots:
        out, err = bot.communicate(timeout=2 * PATIENCE)
        assert (bot.returncode, err) == (0, "")
        assert "errors none, late 0" in out
    _, err = server.process.communicate(timeout=PATIENCE)
    assert (server.process.returncode, err) == (0, "")
    table = tool("standings", str(standings)).out.splitlines()
    assert [line.split()[1] for line in table] in (
        ["player", "third", "rule", "other"],
        ["player", "rule", "third", "other"],
    )
    assert tool("replay", str(log)).out.startswith("2 tournaments, 12 matches, ")
    log.write_bytes(log.read_bytes().replace(b'"state":"', b'"state":"x'))
    assert "state: " in tool("replay", str(log), code=1).err


@pytest.mark.slow
def test_a_server_and_this_process_play_the_same_tournament(
    serving: Callable[..., Serving], tmp_path: Path
) -> None:
    standings = tmp_path / "standings.db"
    specs = {"ann": "rule", "bob": "search:nodes=10", "carl": "rule"}
    server = serving(
        "--early", "--turns=16", "--players=3", "--tournaments=2", "--seed=5",
        f"--standings={standings}", "-v",
    )  # fmt: skip
    bots = [server.bot(spec, f"--user={name}") for name, spec in specs.items()]
    for bot in bots:
        assert bot.communicate(timeout=2 * PATIENCE)[1] == ""
    said = server.process.communicate(timeout=PATIENCE)[1]
    assert re.search(r"finished 1 tournament: \d+ commands in \d+ turns, which began at most", said)
    assert "finished 2 tournaments: " in said
    with Standings(standings, write=False) as file:
        for number in (1, 2):
            tournament = Tournament(number, generate_deck(5 + number), specs, {"turns": 16})
            tournament.play({name: make_bot(spec) for name, spec in specs.items()})
            scores = [result.scores for result in file.results(number)]
            assert scores == [result.scores for result in tournament.results.values()]
            assert set(scores) != {(30, 30)}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_in_order(
    serving: Callable[..., Serving], tmp_path: Path, number: int
) -> None:
    log = tmp_path / "log"
    # With so much health the tournament does not end before the signal, however late that comes.
    server = serving("--early", "--turns=10000", "--init-hp=10000", f"--log={log}")
    bots = [server.bot("rule", f"--user=b{i}") for i in range(2)]
    while b"end_turn" not in log.read_bytes():
        time.sleep(0.01)
    assert server.end(number) == ""
    assert server.process.returncode == 0
    for bot in bots:
        out, _ = bot.communicate(timeout=PATIENCE)
        assert bot.returncode == 0
        assert "errors none" in out
    assert replay(log.read_bytes().splitlines(keepends=True)).cut == 1


@pytest.mark.slow
def test_a_second_signal_ends_a_server_that_does_not_end() -> None:
    program = (
        "import asyncio\n"
        "from vestrock import cli, server\n"
        "server.Server.run = lambda self: asyncio.sleep(1000)\n"
        "cli.main(['serve', '--port=0'])\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"listening on ")
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            process.terminate()  # two signals at once are one
            time.sleep(0.05)
        assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.slow
def test_a_server_that_was_killed_leaves_a_log_as_far_as_it_came(
    serving: Callable[..., Serving], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        server = serving("--early", "--turns=10000", f"--log={log}")
        before = log.stat().st_size
        bots = [server.bot("rule", f"--user=b{i}", "--reconnect=0") for i in range(2)]
        while log.stat().st_size == before or not log.read_bytes()[before:].count(b"end_turn") > 4:
            time.sleep(0.01)
        server.end(signal.SIGKILL)
        for bot in bots:
            _, err = bot.communicate(timeout=PATIENCE)
            assert bot.returncode == 1
            assert f"127.0.0.1 port {server.port}: " in err
    done = replay(log.read_bytes().splitlines(keepends=True))
    assert done.tournaments + done.cut >= 1


def test_a_bot_tries_again_while_a_server_is_full() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            """Refuse two connections, then let a player in and end."""
            for _ in range(2):
                with listening.accept()[0] as guest:
                    guest.sendall(b"ERR 7 TooManyConnections\n")
            with listening.accept()[0] as guest:
                for line in (b"LOGIN\n", b"PASS\n", b"OK\n", b"OK\nERR 8 ServerClosing\n"):
                    guest.sendall(line)
                    guest.recv(100)

        server = threading.Thread(target=answer, daemon=True)
        server.start()
        words = ["bot", "rule", f"--port={listening.getsockname()[1]}"]
        assert "accepts no more connections" in tool(*words, "--reconnect=0", code=1).err
        assert tool(*words).out.startswith("rule: 0 turns")
        server.join(PATIENCE)


def test_a_log_that_cannot_be_written_ends_the_server(serving: Callable[..., Serving]) -> None:
    server = serving("--log=/dev/full", "--turn-seconds=0.05")
    error = server.process.communicate(timeout=PATIENCE)[1].splitlines()[-1]
    assert error.endswith("/dev/full: No space left on device")
    assert error.startswith("vestrock serve: ")
    assert server.process.returncode == 1


def test_two_servers_do_not_write_to_one_log(
    serving: Callable[..., Serving], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    serving(f"--log={log}")
    err = tool("serve", "--port=0", f"--log={log}", code=1).err
    assert f"{log}: another server writes to it" in err


@pytest.mark.slow
def test_a_stall_of_some_turns_moves_the_clock_and_skips_no_turn(
    serving: Callable[..., Serving],
) -> None:
    server = serving("--turn-seconds=0.2", "--turns=1000", "--break-turns=0", "-v")
    clients = [Client("127.0.0.1", server.port, name, "x") for name in ("ann", "bob")]
    with clients[0] as ann, clients[1] as bob:
        while not ann.my_matches():
            ann.wait()
        bob.wait()
        awake = -time.monotonic()
        left = ann.turn_info(1).left
        server.process.send_signal(signal.SIGSTOP)
        awake += time.monotonic()
        time.sleep(6 * 0.2)
        began = time.monotonic()
        server.process.send_signal(signal.SIGCONT)
        ann.send(["WAIT", "GET_TURN_INFO 1"])
        replies = ann.receive(3)
        # The six missed ticks count as one, because no turn is made up for. There may be more only
        # if this process has been delayed too.
        awake += time.monotonic() - began
        turns = left - int(replies[2].lines[0].split()[1])
        assert 1 <= turns <= 2 + awake / 0.2
        for _ in range(5):
            ann.wait()
        # Later turns have their full length.
        assert time.monotonic() - began >= 4 * 0.2
        assert left - turns - ann.turn_info(1).left >= 5
    err = server.end()
    assert re.search(r"a tick was \d\.\d+ s late: the schedule is moved", err)


@pytest.mark.slow
def test_accounts_are_made_and_used(serving: Callable[..., Serving], tmp_path: Path) -> None:
    accounts = tmp_path / "accounts"
    for name, word in [("ann", "a1\n"), ("bob", "b1\n"), ("ann", "a2\n")]:
        subprocess.run([*VESTROCK, "account", accounts, name], input=word, text=True, check=True)
    assert FileAccounts(accounts).names() == ["ann", "bob"]
    server = serving(f"--accounts={accounts}", "--turns=2")
    wrong = server.bot("rule", "--user=ann", "--password=a1")
    _, err = wrong.communicate(timeout=PATIENCE)
    assert wrong.returncode == 1
    assert "ERR 1 BadLoginOrPassword" in err
    with Client("127.0.0.1", server.port, "ann", "a2") as ann:
        assert ann.my_matches() == []


def test_bots_of_a_tournament_have_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from vestrock import cli

    seeds: list[int] = []
    make = cli.make_bot

    def seen(spec: str, seed: int = 0) -> object:
        if seed:
            seeds.append(seed)
        return make(spec, seed)

    monkeypatch.setattr(cli, "make_bot", seen)
    assert cli.main(["tournament", "a=random", "b=random", "--tournaments", "2"]) == 0
    assert len(seeds) == len(set(seeds)) == 4

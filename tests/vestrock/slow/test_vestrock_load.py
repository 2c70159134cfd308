"""A whole server under load: bots as processes, each playing all of its matches at once.

By default small tournaments. The size that the server is made for takes two processors of its own;
with so much health no match ends before its last turn:

    pytest tests/vestrock/slow/test_vestrock_load.py --most -s
"""

import contextlib
import itertools
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import vestrock_nuisance
from amounts import amount
from vestrock_help import FileAccounts, Standings, replay

VESTROCK = [sys.executable, "-m", "vestrock"]
PLAYERS, TURNS, SECONDS, HEALTH = amount((6, 6, 0.5, 20), most=(30, 12, 1.0, 1000))
NUISANCES = [*vestrock_nuisance.KINDS]
#: The first and the last of the addresses 127.0.0.N of a nuisance; players come from 127.0.0.1.
ADDRESSES = {"one-address": (1, 1), "several": (2, 9)}
#: Maximum memory of the server in kB.
MEMORY = 400_000
#: Maximum duration of a login from an address of its own.
LOGIN_SECONDS = 2.0


@contextlib.contextmanager
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    """Yield a list of processes, which are killed at the end of the block."""
    started: list[subprocess.Popen[str]] = []
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def serve(tmp_path: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *VESTROCK, "serve", "--port=0", "--spectator-port=0", f"--turns={TURNS}",
            f"--turn-seconds={SECONDS}", f"--init-hp={HEALTH}", f"--log={tmp_path / 'log'}",
            f"--standings={tmp_path / 'standings.db'}", "--verbose", *words,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def ports(server: subprocess.Popen[str]) -> tuple[str, str]:
    """Return the port for players and the port for spectators."""
    assert server.stdout is not None
    found = re.search(r"port (\d+), spectators on (\d+)", server.stdout.readline())
    assert found
    return found[1], found[2]


def bot(number: int, port: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *VESTROCK, "bot", "rule", f"--port={port}", f"--user=bot{number}", "--password=x",
            f"--turn-seconds={SECONDS}",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def check(
    tmp_path: Path,
    server: subprocess.Popen[str],
    bots: list[subprocess.Popen[str]],
    players: int,
    tournaments: int,
) -> None:
    """Wait for the end; check that all matches were played and no command in time was refused."""
    reports = [bot.communicate(timeout=60 + 4 * TURNS * SECONDS)[0] for bot in bots]
    held = server.communicate(timeout=60)[1]
    print(held, *reports, sep="\n")
    assert [bot.returncode for bot in bots] == [0] * len(bots)
    assert server.returncode == 0
    for report in reports:
        found = re.search(r"(\d+) moves, (\d+) commands, errors (.+), late (\d+)", report)
        assert found, report
        assert int(found[2]) > 0
        # Commands that are sent in the first 80 % of a turn are executed within the turn.
        assert found[4] == "0", report
        assert found[3] == "none" or set(re.findall(r"(\d+):", found[3])) == {"913"}, report
    with (tmp_path / "log").open("rb") as lines:
        done = replay(lines)
    assert done.tournaments == tournaments
    assert done.matches == tournaments * players * (players - 1)
    with Standings(tmp_path / "standings.db", write=False) as file:
        assert len(file.table()) == players


def test_all_bots_keep_the_time(tmp_path: Path) -> None:
    with processes() as started:
        server = serve(tmp_path, f"--players={PLAYERS}", "--tournaments=2")
        started.append(server)
        port, _ = ports(server)
        bots = [bot(i, port) for i in range(PLAYERS)]
        started += bots
        check(tmp_path, server, bots, PLAYERS, 2)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="127.0.0.2 is no address there")
@pytest.mark.parametrize(
    ("kind", "addresses"),
    amount(
        [("logins", "several"), *itertools.product(NUISANCES[::3], ["one-address"])],
        most=[*itertools.product(NUISANCES, ADDRESSES)],
    ),
)
def test_nobody_is_late_beside_a_nuisance(kind: str, addresses: str, tmp_path: Path) -> None:
    """A misbehaving client does not delay the players, even from the same address as theirs."""
    accounts = tmp_path / "accounts"
    names = [f"bot{i}" for i in range(PLAYERS)] + ["guest"] + ["pest"] * (kind == "newlines")
    for name in names:
        FileAccounts.set_password(accounts, name, "x")
    with processes() as started:
        # All accounts take part, so there is a break for the bots to log in.
        server = serve(
            tmp_path, f"--accounts={accounts}", "--tournaments=1",
            f"--break-turns={round((2 + PLAYERS / 5) / SECONDS)}",
        )  # fmt: skip
        started.append(server)
        port, spectators = ports(server)
        words = [kind, port, spectators, *map(str, ADDRESSES[addresses])]
        command = [sys.executable, vestrock_nuisance.__file__, *words]
        bots = []
        if kind != "gone":  # its connections must exist before the bots log in
            bots = [bot(i, port) for i in range(PLAYERS)]
            started += bots
            while b'"event":"tournament"' not in (tmp_path / "log").read_bytes():
                time.sleep(0.05)
        nuisance = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(nuisance)
        if kind == "gone":
            assert nuisance.stdout is not None
            assert nuisance.stdout.readline() == "there\n"
            bots = [bot(i, port) for i in range(PLAYERS)]
            started += bots
        most, longest, logins = 0, 0.0, 0
        while server.poll() is None and any(process.poll() is None for process in bots):
            most = max(most, memory(server.pid))
            # A new password each time, since one that was right before is not hashed again.
            logins += 1
            FileAccounts.set_password(accounts, "guest", f"word{logins}")
            longest = max(longest, log_in(int(port), f"word{logins}"))
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(0.5)
        print(f"{kind}: {most} kB; of {logins} logins the longest took {longest:.3f} s")
        assert nuisance.poll() is None
        assert longest < LOGIN_SECONDS
        check(tmp_path, server, bots, len(names), 1)
        assert most < MEMORY


def log_in(port: int, password: str) -> float:
    """Log in from an address that nobody else has, and return how many seconds it took."""
    started, reply = time.monotonic(), b""
    with socket.socket() as sock, contextlib.suppress(ConnectionError):
        sock.bind(("127.0.0.200", 0))
        sock.settimeout(60.0)
        sock.connect(("127.0.0.1", port))
        sock.sendall(f"guest\n{password}\n".encode())
        while not reply.endswith(b"OK\n") and (data := sock.recv(100)):
            reply += data
    # A server that ends, and only that, may let nobody in.
    assert reply in (b"LOGIN\nPASS\nOK\n", b"") or b"ERR 8" in reply
    return time.monotonic() - started


def memory(pid: int) -> int:
    """Return the memory of a process in kB."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) if found else 0
    return 0

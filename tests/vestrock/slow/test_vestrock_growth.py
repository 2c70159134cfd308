"""Tests that a server's memory and descriptors do not grow over many tournaments."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from vestrock_help import replay

from vestrock.client import Client, ServerClosedError, ServerFullError

CLIENTS = 30
TURNS = 4
TOURNAMENTS = 10

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")


def held(pid: int) -> tuple[int, int]:
    """Return the memory of a process in KiB and the number of its descriptors."""
    found = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]), len(os.listdir(f"/proc/{pid}/fd"))


def idle(port: int, name: str) -> None:
    """Wait, ask, and reconnect after a few turns, again and again until the server closes."""
    turns = 0
    while True:
        try:
            client = Client("127.0.0.1", port, name, "x")
        except ServerFullError:  # the address has too many connections before their login
            time.sleep(0.02)
            continue
        try:
            for _ in range(7):
                client.wait()
                turns += 1
                matches = client.my_matches()
                client.request([f"GET_DECK {match}" for match in matches[:3]])
                client.request([f"DRAW_CARD {match}" for match in matches])
        except ServerClosedError:
            return
        finally:
            client.close()


def test_thirty_clients_and_ten_tournaments(tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = subprocess.Popen(
        [
            sys.executable, "-m", "vestrock", "serve", "--port=0", "--early",
            f"--players={CLIENTS}", f"--turns={TURNS}", f"--tournaments={TOURNAMENTS}",
            "--break-turns=1", f"--log={log}",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        port = re.search(r"port (\d+)", server.stdout.readline())
        assert port
        clients = [
            threading.Thread(target=idle, args=(int(port[1]), f"c{i}"), daemon=True)
            for i in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        figures: dict[int, tuple[int, int]] = {}
        line = b""
        with log.open("rb") as file:
            end = time.monotonic() + 300
            while server.poll() is None:
                assert time.monotonic() < end, figures
                line += file.readline()
                if not line.endswith(b"\n"):
                    time.sleep(0.01)  # the line is being written
                    continue
                if line.startswith(b'{"event":"awards"'):
                    figures[json.loads(line)["tournament"]] = held(server.pid)
                line = b""
        for client in clients:
            client.join(30)
            assert not client.is_alive()
    finally:
        server.kill()
        server.communicate()
    print(figures)
    # The server keeps two tournaments, so that nothing should be added from the third one on.
    early = max(memory for number, (memory, _) in figures.items() if number <= 4)
    late = max(memory for number, (memory, _) in figures.items() if number >= TOURNAMENTS - 2)
    assert late < early * 1.05 + 2000
    assert max(descriptors for _, descriptors in figures.values()) < CLIENTS + 40
    with log.open("rb") as file:
        assert replay(file).tournaments == TOURNAMENTS

"""A whole server under load: bots as processes, each playing all of its matches at once.

By default small tournaments. The size that the server is made for takes about two and a half
minutes and two processors of its own: players, turns, seconds a turn, health at the start, which
is so much here that no match ends before its last turn.

    VESTROCK_LOAD=30,60,1.0,1000 pytest tests/slow/test_vestrock_load.py -s
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from locmsim.vestrock.record import replay
from locmsim.vestrock.standings import Standings

LOCMSIM = [sys.executable, "-m", "locmsim", "vestrock"]
TOURNAMENTS = 2


def test_all_bots_keep_the_time(tmp_path: Path) -> None:
    words = os.environ.get("VESTROCK_LOAD", "6,10,0.5,20").split(",")
    players, turns, seconds = int(words[0]), int(words[1]), float(words[2])
    log, standings = tmp_path / "log", tmp_path / "standings.db"
    server = subprocess.Popen(
        [
            *LOCMSIM,
            "serve",
            "--port=0",
            f"--players={players}",
            f"--turns={turns}",
            f"--turn-seconds={seconds}",
            f"--init-hp={words[3]}",
            f"--tournaments={TOURNAMENTS}",
            f"--log={log}",
            f"--standings={standings}",
            "--verbose",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    bots = []
    try:
        assert server.stdout is not None
        port = re.search(r"port (\d+)", server.stdout.readline())
        assert port
        bots = [
            subprocess.Popen(
                [
                    *LOCMSIM,
                    "bot",
                    "rule",
                    f"--port={port[1]}",
                    f"--user=bot{i}",
                    f"--turn-seconds={seconds}",
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for i in range(players)
        ]
        reports = [bot.communicate(timeout=60 + 4 * turns * seconds)[0] for bot in bots]
        held = server.communicate(timeout=60)[1]
    finally:
        for process in [*bots, server]:
            process.kill()
            process.wait()
    print(held, *reports, sep="\n")
    assert [bot.returncode for bot in bots] == [0] * players
    assert server.returncode == 0
    matches = players * (players - 1)
    for report in reports:
        found = re.search(r"(\d+) moves, (\d+) commands, errors (.+), late (\d+)", report)
        assert found, report
        assert int(found[2]) > 0
        # What is sent in the first 0.8 of a turn is done in it.
        assert found[4] == "0", report
        assert found[3] == "none" or set(re.findall(r"(\d+):", found[3])) == {"913"}, report
    with log.open("rb") as lines:
        done = replay(lines)
    assert (done.tournaments, done.matches) == (TOURNAMENTS, TOURNAMENTS * matches)
    with Standings(standings, write=False) as file:
        assert len(file.table()) == players

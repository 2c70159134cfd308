"""Tests of limits of processor time and memory, which count all that a bot has started."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from helpers import BOT, output_of

from locmsim.arena import Arena

CPU = ["--clock", "cpu", "--timeout-scale", "1"]
MEMORY = ["--memory-limit", "64M", "--timeout-scale", "25"]


#: On a busy machine a bot may have a tenth of a processor: the wall clock's limit comes first.
LATE = "timeout: player 0: .*(processor time, more than 200|no answer within 2000) ms"


@pytest.mark.parametrize(
    ("limits", "kind", "argument", "fault"),
    [
        (CPU, "slow", "0.4", ""),
        (CPU, "burn", "thread", LATE),
        (CPU, "burn", "child", LATE),
        (
            MEMORY,
            "eat",
            "80 touched",
            "memory limit: player 0: used [0-9]+ MB of memory, more than 64 MB",
        ),
        (MEMORY, "eat", "1000 reserved", ""),
    ],
)
def test_limits(limits: list[str], kind: str, argument: str, fault: str) -> None:
    bot = shlex.join([*BOT, kind, "3", argument])
    out = output_of("play", "-p1", bot, "-p2", "random", "-d", "seed=1", *limits).out
    found = [line for line in out.splitlines() if line.startswith("fault=")]
    assert re.fullmatch(fault, "".join(found).removeprefix("fault=")), found


def test_arena_notes_processor_time(tmp_path: Path) -> None:
    slow, db = shlex.join([*BOT, "slow", "3", "0.4"]), str(tmp_path / "a.db")
    words = [f"slow={slow}", "random", "--games", "2", "--jobs", "1", "--json", "--db", db]
    out = output_of("arena", *words, *CPU, "--memory-limit", "768M").out
    player, other = json.loads(out)["players"]
    assert (player["faults"], player["late_turns"]) == ({}, 0)
    assert 0 < player["mean_turn_cpu_ms"] <= player["worst_turn_cpu_ms"] < 200
    assert player["worst_turn_ms"] > 400
    assert other["worst_turn_cpu_ms"] > 0
    with Arena.load(db) as arena:
        assert all(answer.cpu_ns for answer in arena.record(1).answers)
        assert not any(call.late for call in arena.replay(1).calls)


@pytest.mark.parametrize("option", ["--clock=cpu", "--memory-limit=768"])
@pytest.mark.parametrize("command", ["play", "arena"])
def test_refused_where_the_system_cannot_tell(
    command: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    reason = f"{option.partition('=')[0]}: only Linux tells what other processes use, in /proc"
    assert reason in output_of(command, "greedy", "random", option, code=2).err

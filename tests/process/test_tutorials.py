"""Tests that follow the tutorials exactly, with smaller numbers where commands take long."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from page_commands import DOCS, Desk

from locmsim.arena import Arena
from locmsim.policy import Policy

_STEP = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(desk: Desk, page: str, **less: str) -> list[str]:
    """Run the commands of a page, and return what each of them prints.

    A block of Python is written to the file that the page named last; doctest runs the examples
    elsewhere. `less` replaces the values of options: ``games="4"``.
    """
    text = (DOCS / "tutorials" / page).read_text()
    printed = []
    for step in _STEP.finditer(text):
        language, block = step.groups()
        if language == "sh":
            for option, value in less.items():
                block = re.sub(rf"(--{option.replace('_', '-')}) \S+", rf"\1 {value}", block)
            printed.append(block if block.startswith("locmsim web") else desk.run(block))
        elif not block.startswith(">>>"):
            name = re.findall(r"`(\w+\.py)`", text[: step.start()])[-1]
            (desk.folder / name).write_text(block)
    return printed


def played(path: Path) -> dict[str, float]:
    """Check that nobody failed in a tournament, and return each player's share of won games."""
    with Arena.load(path) as arena:
        assert arena.faults() == ""
        return {p["name"]: p["wins"] / p["games"] for p in arena.to_json()["players"]}


@pytest.mark.slow
def test_first_bot(desk: Desk) -> None:
    nothing, text, first, table, second, program = follow(desk, "first-bot.md", games="20")
    assert nothing.startswith("0\n1\n")  # the agent does nothing, so it loses
    assert text.startswith(nothing)
    assert first.startswith("1\n0\n")
    assert program.startswith("1\n0\n")
    assert "% against" in table
    shares = played(desk.folder / "first.db")
    assert shares["mybot.py:Mine"] > shares["random"]
    assert shares["greedy"] > shares["random"]
    assert played(desk.folder / "second.db") == {"new": 0.5, "old": 0.5}
    assert "95 % interval" in second


def test_train(desk: Desk) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    less = {"games": "20", "total_timesteps": "65536", "evaluate_every": "2"}
    training, own, table = follow(desk, "train.md", **less)
    assert re.search(r"update 2 .*\n  won against random: [0-9.]+ % of ", training)
    assert {"policy.npz", "checkpoint.pt", "log.csv"} <= {
        path.name for path in (desk.folder / "first").iterdir()
    }
    assert "won against random" in own
    policy = Policy.load(desk.folder / "second" / "policy.npz")
    assert "with random classic decks (65536 steps), PPO" in policy.meta["training"]
    assert policy.arrays["trunk1.b"].shape == (96,)
    assert "random" in table
    assert "policy:path=second/policy.npz" in played(desk.folder / "learned.db")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_tuning_to_codingame(desk: Desk) -> None:
    less = {"games": "8", "match_games": "4", "nodes": "50", "seeds": "10000000..10000001"}
    printed = follow(desk, "tuning-to-codingame.md", **less)
    tuned, proof, exported, games = printed
    assert re.match(r"1: .*\n2: .*\n", tuned)
    assert proof.startswith("4 games of rules 1.0")
    assert len((desk.folder / "bot.c").read_text(encoding="utf-8")) < 100_000
    assert re.search(r"\d characters", exported)
    assert sorted(games.splitlines()[:2]) == ["0", "1"]
    assert "\n8 games of rules 1.0" in games


@pytest.mark.slow
def test_watch_and_analyse(desk: Desk) -> None:
    match, page, text, found, asked, web = follow(desk, "watch-and-analyse.md", seconds="0.5")
    assert page == ""
    assert sorted(match.splitlines()[:2]) == ["0", "1"]
    assert "scores" in json.loads((desk.folder / "match.json").read_text())
    assert (desk.folder / "match.html").read_text().startswith("<!doctype html>")
    assert text.startswith(match)
    assert "%" in found
    assert "turn 6" in asked
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    with subprocess.Popen(
        ["bash", "-c", "exec " + web.replace(" --open", "")],
        cwd=desk.folder,
        env=desk.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert "http://127.0.0.1:" in server.stdout.readline()
        finally:
            server.terminate()

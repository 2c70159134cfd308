"""Tests of the command line tool as other programs call it."""

import contextlib
import json
import os
import platform
import pty
import re
import shlex
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amounts import slow_after
from helpers import (
    BOT,
    LOCMSIM,
    Output,
    Store,
    default_signals,
    few_descriptors,
    locmsim,
    main,
    output_of,
    python,
    running,
    wait_for,
)

from locmsim import ABI_VERSION, Match, __version__, _bench
from locmsim.art import card_titles
from locmsim.rules.cards import cards_1x, load_cards, save_cards
from locmsim.rules.generator import generate_cards

GOOD = shlex.join(BOT)
#: What plays where programs are not what is tested.
AGENTS = ["-p1", "random", "-p2", "random"]
NO_LIMITS = ["--timeout-scale", "0"]


def bot(*arguments: str) -> str:
    return shlex.join([*BOT, *arguments])


def play(*arguments: str, code: int = 0) -> Output:
    """Play a match without time limits in this process, which saves starting the tool."""
    return output_of("play", *NO_LIMITS, *arguments, code=code)


# ---------------------------------------------------------------------------------------- play


@pytest.mark.slow
@pytest.mark.parametrize("words", [["play"], []])
def test_scores_and_parameters(words: list[str]) -> None:
    done = locmsim(*words, "-p1", GOOD, "-p2", GOOD, "-d", "seed=7", "--timeout-scale", "25")
    assert done.stderr == ""
    params = [f"{key}={value}" for key, value in Match(seed=7).params.items()]
    assert done.stdout.splitlines() == ["0", "1", *params]
    assert params[0] == "seed=7"


def test_command_that_does_not_exist() -> None:
    assert "start failed" in play(GOOD, "no-such-program-anywhere", code=1).err
    out, err = play("-p1", GOOD, "-p2", "no-such-program-anywhere", code=1)
    assert out.splitlines()[:2] == ["0", "-1"]
    assert err == ""
    # As JSON it is a result: a league would end for everybody if the command failed.
    data = json.loads(play("--json", "-p1", "./no-such-bot", "-p2", GOOD).out)
    assert (data["errors"], data["fault"]["kind"]) == ([1, 0], "start failed")


@pytest.mark.slow
def test_files_of_two_folders_have_helpers_of_their_own(tmp_path: Path) -> None:
    """The current folder's file of that name, which `python -m` would find, is nobody's helper."""
    (tmp_path / "cards.py").write_text("WORD = 'neither'\n")
    bots = []
    for word in ("v1", "v2"):
        (tmp_path / word).mkdir()
        (tmp_path / word / "cards.py").write_text(f"WORD = {word!r}\n")
        (tmp_path / word / "bot.py").write_text(
            "from cards import WORD\nfrom locmsim.agents import RandomAgent\n\n\n"
            f"class Mine(RandomAgent):\n    assert WORD == {word!r}, WORD\n"
        )
        bots.append(f"{word}/bot.py:Mine")
    words = ["play", "-p1", bots[0], "-p2", bots[1], "-d", "seed=1", *NO_LIMITS]
    assert locmsim(*words, cwd=tmp_path).stdout.splitlines()[:2] in (["0", "1"], ["1", "0"])
    arena = ["arena", *bots, "--games", "2"]
    for jobs in ("1", "2"):
        assert "v2/bot.py:Mine" in locmsim(*arena, "--jobs", jobs, cwd=tmp_path).stdout
    code = (
        "from locmsim.envs import LocmVectorEnv, Pool\n"
        f"LocmVectorEnv(4, opponent=Pool({{{bots[0]!r}: 1, {bots[1]!r}: 1}}))\n"
    )
    done = python("-c", code, cwd=tmp_path, code=1)
    # Environments play in one process, which has one module of a name.
    assert done.stdout == ""
    assert "ValueError: " in done.stderr.splitlines()[-1]
    assert "bot.py" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "rules", "params"),
    [
        # Only the last -d counts, any blanks separate values, and what is no number is ignored.
        (
            ["-d", "seed=1 cardGenSeed=9", "-d", "seed=2\n shufflePlayer0Seed=-5  cardGenSeed=x"],
            "1.5",
            {"seed": 2, "shufflePlayer0Seed": -5},
        ),
        # A tool may have escaped line breaks.
        (["-d", "seed=7\\nshufflePlayer0Seed=5"], "1.5", {"seed": 7, "shufflePlayer0Seed": 5}),
        (["-d", "seed=7\\n shufflePlayer0Seed=5\\n"], "1.5", {"seed": 7, "shufflePlayer0Seed": 5}),
        # The options -seed and -league, named as in cgarena, take precedence over values in -d.
        (
            ["-d", "seed=7 shufflePlayer0Seed=1", "-seed", "8", "-league", "3"],
            "1.0",
            {"seed": 8, "shufflePlayer0Seed": 1, "league": 3},
        ),
    ],
)
def test_parameters(words: list[str], rules: str, params: dict[str, int]) -> None:
    out = play(*AGENTS, "--rules", rules, *words).out
    shown = dict(line.split("=") for line in out.splitlines()[2:])
    expected = Match(rules, params=params).params
    assert shown == {key: str(value) for key, value in expected.items()}


@pytest.mark.parametrize("name", ["seed", "cardGenSeed", "shufflePlayer1Seed"])
def test_a_seed_that_is_ignored_is_told(name: str) -> None:
    out, err = play(*AGENTS, "-d", f"seed=1 {name}=abc")
    assert err == (
        f"locmsim play: -d: {name}: expected a signed 64-bit integer, got 'abc': it is ignored\n"
    )
    assert len(out.splitlines()) == 2 + len(Match().params)


@pytest.mark.parametrize("closed", slow_after(1, [">&-", "<&-", ">&- 2>&-", ">&- <&- 2>&-"]))
def test_closed_standard_streams(closed: str, tmp_path: Path) -> None:
    """The log is written to its file and nowhere else, and there is no traceback."""
    log = tmp_path / "log.json"
    match = [*LOCMSIM, "play", "greedy", GOOD, "-d", "seed=3", *NO_LIMITS, "-l", str(log)]
    for words in (
        match,
        [*LOCMSIM, "cards", "list"],
        [*LOCMSIM, "play", "random", "random", "--json"],
    ):
        done = subprocess.run(
            f"{shlex.join(words)} {closed}", shell=True, capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert main(["play", "-r", str(log)]) == 0


def test_what_is_printed_repeats_the_match(tmp_path: Path) -> None:
    """The lines after the scores, passed to -d as tournament tools do, reproduce the match."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    out = play("-p1", GOOD, "-p2", "random", "-l", str(first)).out
    data = " ".join(out.splitlines()[2:])
    again = ["-p1", GOOD, "-p2", "random", "-d", "seed=1", "-l", str(second), "-s", "-d", data]
    play(*again)
    logs = [json.loads(path.read_text()) for path in (first, second)]
    for key in ("outputs", "scores", "gameParameters"):
        assert logs[0][key] == logs[1][key]
    assert logs[0]["locmsim"]["sent"] == logs[1]["locmsim"]["sent"]


@pytest.mark.parametrize("rules", ["1.5", "1.0"])
def test_log(tmp_path: Path, rules: str) -> None:
    path = tmp_path / "game1.json"
    path.write_text('{"errors":"what was there before"}')
    options = ["--rules", rules, "-d", "seed=3", "-l", str(path)]
    out = play("-p1", GOOD, "-p2", "random", *options).out.splitlines()
    text = path.read_text()
    assert text.count("\n") == 1
    log = json.loads(text)
    assert out[:2] == [str(log["scores"]["0"]), str(log["scores"]["1"])]
    assert log["gameParameters"] == ["".join(f"{line}\n" for line in out[2:])]
    sent = log["locmsim"]["sent"]["0"]
    assert sent[0].startswith("30 0 0 0\n" if rules == "1.5" else "30 0 0 25 0\n")
    assert list(tmp_path.iterdir()) == [path]


def test_log_on_standard_output(tmp_path: Path) -> None:
    """With ``-l /dev/stdout``, the log is appended to the output file, before the scores."""
    path = tmp_path / "out.txt"
    with path.open("w") as file:
        file.write("before\n")
        file.flush()
        command = [*LOCMSIM, "-p1", GOOD, "-p2", GOOD, *NO_LIMITS, "-l", "/dev/stdout"]
        subprocess.run(command, stdout=file, check=True, timeout=120)
    lines = path.read_text().splitlines()
    assert lines[0] == "before"
    log = json.loads(lines[1])
    assert lines[2:4] == [str(log["scores"]["0"]), str(log["scores"]["1"])]
    assert lines[4].startswith("seed=")


def test_log_to_a_pipe(tmp_path: Path) -> None:
    """A log target that is not a regular file is written to and not replaced."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    # Opening one end of a pipe blocks until the other end is opened, so the test holds both. Once
    # it closes them, the reader reaches the end of its input even if the match failed.
    both_ends = os.open(path, os.O_RDWR)
    with subprocess.Popen(["/bin/cat", str(path)], stdout=subprocess.PIPE) as reader:
        try:
            scores = play(*AGENTS, "-l", str(path)).out.splitlines()[:2]
        finally:
            os.close(both_ends)
        assert path.is_fifo()
        assert reader.stdout is not None
        log = json.loads(reader.stdout.read())
    assert [str(log["scores"][player]) for player in ("0", "1")] == scores


def test_log_without_permission(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    err = output_of("-p1", "true", "-p2", "true", "-l", str(tmp_path / "game.json"), code=2).err
    assert "no permission" in err


def test_log_that_cannot_be_written_after_the_match(tmp_path: Path) -> None:
    """If the log cannot be written after the match, the scores are still printed."""
    folder = tmp_path / "logs"
    folder.mkdir()
    away = tmp_path / "away"
    mover = shlex.join(["/bin/sh", "-c", f"mv {folder} {away}; exec {bot('leave', '0', '1')}"])
    out, err = play("-p1", mover, "-p2", GOOD, "-l", str(folder / "game.json"), code=1)
    assert out.splitlines()[:2] == ["-1", "0"]
    assert err == f"locmsim play: cannot write {folder / 'game.json'}: No such file or directory\n"


HINT = "locmsim play: -s: this is the text, as by --text; the page in the browser "


def test_page_without_a_terminal() -> None:
    """Without a terminal, -s prints the text and, unless called as by tools, a hint."""
    for words, hint in (
        (["random", "random", "--text"], ""),
        (["random", "random", "-s"], f"{HINT}needs a terminal\n"),
        ([*AGENTS, "-s"], ""),
    ):
        out, err = play("-seed", "7", *words)
        lines = out.splitlines()
        assert lines[:3] == ["0", "1", "seed=7"]
        assert lines[7] == "player 0 (random) chose 30 cards:"
        assert lines[-1] == "player 1 (random) wins"
        assert err == hint
    out, err = play("--json", "random", "random", "-seed", "7", "-s")
    assert json.loads(out)["test_data"]["seed"] == 7
    assert err == ""


class OnTerminal:
    """A process of the tool whose standard output is a terminal."""

    def __init__(self, *command: str) -> None:
        self.terminal, output = pty.openpty()
        self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True)
        os.close(output)
        self.shown = ""

    def read_until(self, word: str) -> str:
        """Read until a word is shown or the output ends; return all that was shown."""
        # On Linux, reading at the end of a terminal is an error.
        with contextlib.suppress(OSError):
            while word not in self.shown and (chunk := os.read(self.terminal, 4096)):
                self.shown += chunk.decode().replace("\r\n", "\n")
        return self.shown

    def end(self) -> tuple[int, str]:
        """Return the exit code and the standard error."""
        try:
            _, err = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
            os.close(self.terminal)
        return self.process.returncode, err


@contextlib.contextmanager
def page_of(*words: str) -> Iterator[tuple[OnTerminal, urllib.parse.SplitResult]]:
    """Yield a command that shows a page until Ctrl-C, and the address of the page."""
    pytest.importorskip("uvicorn", reason="the extra web is not installed")
    pytest.importorskip("starlette", reason="the extra web is not installed")
    tool = OnTerminal(*LOCMSIM, "play", *words, "-s")
    try:
        found = re.search(r"\n(http://127\.0\.0\.1:[0-9]+/\S*) ", tool.read_until("Ctrl-C"))
        assert found, tool.shown
        yield tool, urllib.parse.urlsplit(found[1])
        tool.process.send_signal(signal.SIGINT)
        tool.read_until("never")
    finally:
        code, err = tool.end()
    assert (code, err) == (130, "locmsim play: stopped\n")


def view_of(url: urllib.parse.SplitResult, key: str = "", **query: object) -> Any:
    """Return a match as a page has it, by default the one of the page's address."""
    words = urllib.parse.urlencode({"match": key or url.path.rpartition("/")[2], **query})
    at = url._replace(path="/api/match", query=f"{url.query}&{words}").geturl()
    with urllib.request.urlopen(at, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_page_on_a_terminal() -> None:
    """On a terminal, -s serves a page that shows the match while it is played, until Ctrl-C."""
    with page_of(GOOD, GOOD, "-seed", "7", *NO_LIMITS) as (tool, url):
        with urllib.request.urlopen(url.geturl(), timeout=60) as answer:
            assert answer.read().startswith(b"<!doctype html>")
        data = view_of(url)
        news = view_of(url, have=len(data["steps"]))
        steps = data["steps"] + news["steps"]
        while news["live"]:
            news = view_of(url, have=len(steps))
            steps += news["steps"]
        tool.read_until("player 1 wins after")
        while (following := view_of(url, have=0)["next_key"]) is None:
            pass
        whole = view_of(url, following)
        # Simulate DNS rebinding: a foreign name that resolves to this machine must be refused.
        headers = {"Host": f"evil.example:{url.port}"}
        stranger = urllib.request.Request(url.geturl(), headers=headers)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(stranger, timeout=60)
        refused.value.close()  # it holds the connection open
    assert "player 0 chose" not in tool.shown
    match = Match(seed=7)
    while match.phase != "over":
        match.submit(match.to_ask[0], "PASS")
    assert whole["names"] == [f"{GOOD} (first)", f"{GOOD} (second)"]
    assert whole["scores"] == [0, 1]
    assert match.state is not None
    healths = [side["health"] for side in whole["steps"][-1]["board"]["sides"]]
    assert healths == [player.health for player in match.state.players]
    assert [step["board"] for step in steps] == [step["board"] for step in whole["steps"]]


@pytest.mark.slow
def test_page_of_another_game(tmp_path: Path) -> None:
    """With -s, matches of other games are shown too: played, from an arena or from a log."""
    db = str(tmp_path / "results.db")
    game = ["--game", "vestrock:turns=8", "rule", "random"]
    assert main(["arena", *game, "--games", "2", "--db", db]) == 0
    with Store(db) as store:
        scores = store.game(1).outcome.scores
    seen = []
    log = str(tmp_path / "log.json")
    assert main(["play", *game, "-seed", "3", "-l", log]) == 0
    for words in ([*game, "-seed", "3"], ["-r", f"{db}:1"], ["-r", log]):
        with page_of(*words) as (tool, url):
            tool.read_until(" turns and ")
            seen.append(view_of(url))
    for view in seen:
        assert (view["title"], view["names"]) == ("Vestrock", ["rule", "random"])
        assert (view["running"], len(view["steps"])) == (False, 9)
        assert [step["player"] for step in view["steps"][1:]] == [0, 1] * 4
    assert tuple(seen[1]["scores"]) == scores
    assert {**seen[2], "key": ""} == {**seen[0], "key": ""}


def test_page_without_the_extra() -> None:
    """On a terminal, -s without the extra "web" prints the text and how to install the extra."""
    code = (
        "import sys; sys.modules['uvicorn'] = None;"
        " from locmsim.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    words = [*LOCMSIM[:1], "-c", code, "play", GOOD, GOOD, "-s", *NO_LIMITS]
    tool = OnTerminal(*words)
    tool.read_until("never")
    assert tool.end() == (0, f"{HINT}needs the extra web: pip install 'locmsim[web]'\n")
    assert "player 0\x1b[0m chose 30 cards:" in tool.shown


def test_replay_of_a_log(tmp_path: Path) -> None:
    """The replay of a log prints and logs the match as it was played; unknown parameters fail."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    options = ["--rules", "1.0", "-d", "seed=5 league=2", "--text"]
    loser = bot("say", "33", r"SUMMON x\n")
    played = play("-p1", GOOD, "-p2", loser, "-l", str(first), *options).out
    assert output_of("-r", str(first), "--text", "--logs", str(second)).out == played
    assert json.loads(second.read_text()) == json.loads(first.read_text())
    out, err = output_of("play", "--replay", str(first), "--rules", "1.2", code=1)
    assert out == ""
    assert err.startswith(f"locmsim play: --replay: {first}: unknown parameter 'league'")
    first.write_text("{}")
    assert "not a referee's log" in output_of("-r", str(first), code=1).err
    first.write_text("{")
    assert str(first) in output_of("-r", str(first), code=1).err


def test_old_ids(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    options = ["-d", "seed=5", "--ids", "old", "-l", str(path)]
    played = play("-p1", GOOD, "-p2", "random", *options).out
    match = Match(seed=5, ids="old")
    for player in (0, 1):
        match.submit(player, "PASS")
    log = json.loads(path.read_text())
    assert match.input_text(0) in log["locmsim"]["sent"]["0"]
    assert output_of("-r", str(path), "--ids", "old").out == played


def test_result_as_json(tmp_path: Path) -> None:
    talking = bot("say_error", "2", r"[TDATA] kind = odd\n[PDATA] depth = 7\n")
    path = tmp_path / "log.json"
    options = ["--json", "-s", "-seed", "5", "-l", str(path)]
    data = json.loads(play("-p1", talking, "-p2", "random", *options).out)
    assert sorted(data["ranks"]) == [0, 1]
    assert data["errors"] == [0, 0]
    assert data["test_data"]["seed"] == 5
    assert data["test_data"]["kind"] == "odd"
    assert data["player_data"][0]["depth"] == 7
    assert [entry["name"] for entry in data["attributes"]] == ["kind", "depth"]
    assert list(json.loads(path.read_text())["scores"].values()) == data["scores"]


def test_the_form_for_tools_says_the_fault() -> None:
    """On the standard output, since anything on the standard error is a failure of the referee."""
    out, err = play("-p1", "random", "-p2", bot("leave", "1", "3"), "-seed", "5")
    *_, last = lines = out.splitlines()
    assert (err, last) == ("", "fault=crashed: player 1: its process exited with code 3")
    for apart in (" ", "\n", "\\n"):
        again = apart.join(lines[2:])
        shown = play(*AGENTS, "-d", again).out
        assert shown.splitlines()[2:] == lines[2:-1]


@pytest.mark.parametrize("command", ["play", "arena"])
def test_a_program_whose_path_has_a_blank(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "my bot"
    program.write_text(f"#!/bin/sh\nexec {GOOD}\n")
    program.chmod(0o755)
    more = ["--games=2", "--jobs=1"] if command == "arena" else []
    said = "a command is split at blanks: for this file it is \"'./my bot'\""
    code = 2 if command == "arena" else 1
    assert said in output_of(command, "./my bot", "random", *more, code=code).err
    assert "cannot run" not in output_of(command, "'./my bot'", "random", *more).err


def test_lenient() -> None:
    twice = ["-p1", bot("say", "1", r"PASS\nPASS\n"), "-p2", "random"]
    assert play(*twice).out.splitlines()[:2] == ["-1", "0"]
    assert sorted(play(*twice, "--lenient").out.splitlines()[:2]) == ["0", "1"]


@pytest.mark.slow
def test_limits() -> None:
    hanging = ["-p1", GOOD, "-p2", bot("hang", "0")]
    assert output_of(*hanging, "--timeout-scale", "0.1").out.splitlines()[:2] == ["0", "-1"]
    assert play(*hanging, "--match-limit", "0.4").out.splitlines()[:2] == ["0", "-1"]


def test_summary_for_a_terminal() -> None:
    """On a terminal, the result says who won, why, and what the bot wrote last."""
    tool = OnTerminal(*LOCMSIM, "-p1", bot("crash", "1"), "-p2", GOOD, "--timeout-scale", "25")
    shown = tool.read_until("never")
    assert tool.end() == (0, "")
    assert shown.startswith("-1\n0\nseed=")
    assert "player 1 wins after 1 turns" in shown
    assert "player 0 failed in turn 0 (crashed): its process exited with code 1\n" in shown
    assert "player 0, end of standard error:\n    Traceback (most recent call last):\n" in shown
    assert shown.endswith("    RuntimeError: no idea what to play\n")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["-h"], "COMMAND"),
        (["--help"], "cards"),
        (["play", "-h"], "--timeout-scale"),
        (["-p1", "true", "-h"], "--timeout-scale"),
        (["cards", "--help"], "generate"),
        (["arena", "--help"], "--pairs-per-set"),
        (["arena", "show", "--help"], "--stderr GAME"),
        (["--version"], f"locmsim {__version__}, ABI {ABI_VERSION}\nbuilt by Cython 3."),
        (["--version"], f" {_bench.COMPILER} for {_bench.TARGET}:\n  {_bench.COMPILER_COMMAND}\n"),
        (["--version"], f"\nCPython {platform.python_version()} with"),
    ],
)
def test_help(arguments: list[str], part: str) -> None:
    out, err = output_of(*arguments)
    assert part in out
    assert err == ""


def test_alone_it_helps() -> None:
    out, err = output_of()
    assert out.startswith("usage: locmsim ")
    assert "analyse" in out
    assert err == ""


# ------------------------------------------------------------------------------------ agents


@pytest.mark.slow
def test_agents_and_programs(tmp_path: Path) -> None:
    """Agents and programs can play on either side, and the same seed gives the same match."""
    (tmp_path / "mine.py").write_text(
        "from locmsim.agents import RandomAgent\nclass Mine(RandomAgent):\n    pass\n"
    )
    mine = f"{tmp_path}/mine.py:Mine"
    logs = []
    for bots in ([mine, "greedy"], ["greedy", GOOD], ["-p1", GOOD, "-p2", mine]):
        for name in ("first.json", "second.json"):
            path = tmp_path / name
            out, err = play(*bots, "-seed", "5", "-l", str(path))
            assert (sorted(out.splitlines()[:2]), err) == (["0", "1"], "")
            logs.append(json.loads(path.read_text())["outputs"])
        assert logs[-1] == logs[-2]


def test_plain_commands_import_no_agents() -> None:
    """A match of programs does not import the agents: tools start a referee for every game."""
    code = (
        "import sys; from locmsim.cli.main import main;"
        f" main(['-p1', {GOOD!r}, '-p2', {GOOD!r}, '--timeout-scale', '25']);"
        " sys.exit('locmsim.agents' in sys.modules or 'locmsim.search' in sys.modules)"
    )
    python("-c", code)


# ---------------------------------------------------------------------------- error messages


def test_why_a_bot_failed() -> None:
    """The reason of a fault goes to the standard error, except in the forms that tools call."""
    broken = bot("crash", "1")
    out, err = play(broken, "random")
    assert out.splitlines()[:2] == ["-1", "0"]
    assert err.startswith(
        "locmsim play: player 0 failed in turn 0 (crashed): its process exited with code 1\n"
        "player 0, end of standard error:\n    Traceback"
    )
    for arguments in (["--json", broken, "random"], ["-p1", broken, *AGENTS[2:]]):
        assert play(*arguments).err == ""


def test_traceback_of_an_agent(tmp_path: Path) -> None:
    """The traceback of an agent is in the text, the log, its replay and the JSON."""
    (tmp_path / "bad.py").write_text(
        "from locmsim.agents import RandomAgent\n"
        "class Bad(RandomAgent):\n"
        "    def act(self, observation):\n"
        "        return {}['plan']\n"
    )
    bad, log = f"{tmp_path}/bad.py:Bad", tmp_path / "log.json"
    out, err = play(bad, "random", "--text", "-l", str(log))
    assert "raised KeyError: 'plan'" in err
    for text in (out, err, json.loads(log.read_text())["locmsim"]["stderr"]["0"]):
        assert "return {}['plan']" in text
        assert "referee" not in text
    assert "return {}['plan']" in output_of("play", "-r", str(log), "--text").out
    fault = json.loads(play("--json", bad, "random").out)["fault"]
    assert (fault["player"], fault["kind"]) == (0, "crashed")
    assert "return {}['plan']" in fault["stderr"]


def test_offending_answer() -> None:
    """The message quotes a wrong answer, escaped and shortened, and says what is wrong with it."""
    err = play(bot("say", "0", "HELP" * 40 + r"\n"), "random").err
    assert "(malformed answer): Invalid action. Expected " in err
    assert "HELPHELP'... (160 characters)" in err


# ------------------------------------------------------------------------------- broken outputs


def test_full_output() -> None:
    with open("/dev/full", "w") as full:
        done = locmsim(
            *("cards", "generate", "1"),
            code=1, capture_output=False, stdout=full, stderr=subprocess.PIPE,
        )  # fmt: skip
    assert done.stderr == "locmsim: cannot write to the standard output: No space left on device\n"


@pytest.mark.slow
def test_reader_that_has_enough(tmp_path: Path) -> None:
    """If the reader of the output stops early, there is no error, and the log is still written."""
    log = tmp_path / "log.json"
    locm = shlex.join(LOCMSIM)
    for command in (
        f"{locm} cards generate 1 | head -1",
        f"{locm} play random random --timeout-scale 0 -s -l {log} | true",
    ):
        done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, timeout=60)
        assert done.stderr == b""
    assert json.loads(log.read_text())["scores"]


@pytest.mark.slow
def test_terminal_of_ascii(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    arguments = ["greedy", "random", "rule", "--games", "2", "--jobs", "1", "--db", "r.db"]
    done = locmsim("arena", *arguments, "--timeout-scale", "0", env=environment, cwd=tmp_path)
    assert " +- " in done.stdout


# ------------------------------------------------------------------------------------ signals


@pytest.mark.parametrize(
    ("sent", "ignored"),
    slow_after(
        2,
        [
            # The second one comes within the time that the stubborn bot is given to exit.
            ([signal.SIGTERM, signal.SIGINT], None),
            ([signal.SIGHUP, signal.SIGTERM], signal.SIGHUP),  # as with nohup
            ([signal.SIGINT], None),
            ([signal.SIGHUP], None),
        ],
    ),
)
def test_signals_end_the_bots_too(
    sent: list[signal.Signals], ignored: signal.Signals | None, tmp_path: Path
) -> None:
    """The first signal counts that is not ignored; a second one does not disturb the end."""

    def set_signals() -> None:
        default_signals()
        if ignored:
            signal.signal(ignored, signal.SIG_IGN)

    def in_the_middle() -> bool:
        """Return whether the first bot has answered and the second one ignores signals."""
        texts = [file.read_text() for file in tmp_path.iterdir()]
        return len(texts) == 5 and "stubborn" in texts

    process = subprocess.Popen(
        [*LOCMSIM, *NO_LIMITS, "-p1", bot("children", "0"), "-p2", bot("stubborn", "0")],
        env={**os.environ, "LOCMSIM_TEST_PIDS": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=set_signals,
    )
    wait_for(in_the_middle)
    for number in sent:
        process.send_signal(number)
        time.sleep(0.2 if number == ignored else 0.05)
    assert process.communicate(timeout=60) == (b"", b"locmsim play: stopped\n")
    assert process.returncode == 128 + next(one for one in sent if one != ignored)
    pids = [int(file.name) for file in tmp_path.iterdir()]
    assert len(pids) == 5
    assert running(pids) == []


def test_handlers_are_restored() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    play("-p1", bot("leave", "0", "1"), "-p2", "random")
    assert [signal.getsignal(number) for number in numbers] == before


def test_machine_without_descriptors() -> None:
    """A lack of file descriptors is reported as an error, not as a fault of a bot."""
    with few_descriptors(4):
        out, err = play("-p1", GOOD, "-p2", GOOD, code=1)
    assert out == ""
    assert err.startswith("locmsim play: cannot run the match: ")
    assert "Too many open files" in err


# --------------------------------------------------------------------------------------- cards


def test_list_cards(tmp_path: Path) -> None:
    lines = output_of("cards", "list").out.splitlines()
    assert len(lines) == 161
    assert " ".join(lines[1].split()) == "1 creature 1 2 1 ------ 1 0 0 target Slimer"
    path = tmp_path / "cards.txt"
    save_cards(path, cards_1x()[150:])
    assert output_of("cards", "list", str(path)).out.splitlines()[1:] == lines[151:]


def test_generate_cards(tmp_path: Path) -> None:
    lines = output_of("cards", "generate", "-7").out.splitlines()
    cards = generate_cards(-7)
    assert [line.split()[:5] for line in lines[1:]] == [
        [str(v) for v in (c.base_id, c.type.name.lower(), c.cost, c.attack, c.defense)]
        for c in cards
    ]
    titles = card_titles(cards).values()
    assert all(line.endswith(f" {title}") for line, title in zip(lines[1:], titles, strict=True))
    path = tmp_path / "cards.txt"
    assert main(["cards", "generate", "-7", "-o", str(path)]) == 0
    assert load_cards(path) == cards
    assert output_of("cards", "check", str(path), str(path)).out == f"{path}: 120 cards\n" * 2


def test_cards_that_cannot_be_read(tmp_path: Path) -> None:
    path, none = tmp_path / "cards.txt", tmp_path / "none"
    path.write_text("1 ; Slimer ; creature ; one ; 2 ; 1 ; ------ ; 1 ; 0 ; 0 ; target ;\n")
    for words, message in (
        (["check", str(path)], f"{path}, line 1: cost: expected an integer, got 'one'\n"),
        (["check", str(none)], str(none)),
        (["generate", "1", "--weights", str(path)], str(path)),
    ):
        error = output_of("cards", *words, code=1).err
        assert error.startswith("locmsim cards: ")
        assert message in error

"""Tests of what users meet in the commands: Ctrl-C, positions, files, names and messages."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from amounts import slow_after
from helpers import Output, cpu_seconds, main, output_of, python, raises, started, wait_for

from locmsim import Match, StateBatch
from locmsim.agents import GreedyAgent, make_agent
from locmsim.arena import Arena, StoreError
from locmsim.arena.report import grid
from locmsim.game.positions import save_positions, start_position
from locmsim.processes.threads import in_threads
from locmsim.referee import play
from locmsim.search import MCTS, BeamOptions, BeamSearch

AGENT = """\
from locmsim.agents import BaseAgent

class Opt(BaseAgent):
    depth: int = 3

    def plan(self, state, started):
        print("thinking")
        return []
"""


def refused(*words: str) -> Output:
    return output_of(*words, code=2)


def stopped(tmp_path: Path, number: int, *words: str) -> tuple[int, str, float]:
    """Run a command and signal it while it works; return exit code, standard error and delay."""
    with started(*words, cwd=tmp_path) as process:
        while cpu_seconds(process.pid) < 0.5:  # to start takes a fraction of this
            assert process.poll() is None
            time.sleep(0.05)
        begun = time.monotonic()
        process.send_signal(number)
        try:
            _, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, err, time.monotonic() - begun


@pytest.mark.parametrize(
    "words",
    slow_after(
        1,
        [
            ["perft", "--depth", "40"],
            ["analyse", str(start_position(1).to_text()), "--nodes", "2000000000"],
            ["bench", "--seconds", "100"],
            ["arena", "--game=vestrock", "random", "search:nodes=300", "--games=20000", "--jobs=1"],
            ["arena", "greedy", "greedy", "--games=100000", "--jobs=1", "--timeout-scale=0"],
        ],
    ),
)
def test_ctrl_c_ends_a_command_with_one_line(words: list[str], tmp_path: Path) -> None:
    code, err, seconds = stopped(tmp_path, signal.SIGINT, *words)
    assert code == 130
    (line,) = [one for one in err.splitlines() if not one.endswith(" games to play")]
    assert line.startswith("locmsim ")
    assert "stopped" in line
    assert seconds < 30  # perft and analyse once did not stop at all


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_signals_leave_no_bot_of_a_page_behind(number: int, tmp_path: Path) -> None:
    """Signals end the bots of games on a page, and of a match that is played to be shown on one."""
    pytest.importorskip("starlette")
    bot = f"sh -c 'echo $$ >> {tmp_path}/pids; exec sleep 300'"
    for words in (
        ["web", "--timeout-scale", "0", "--bot", f"mine={bot}"],
        ["play", bot, "random", "-s", "--timeout-scale", "0"],
    ):
        pids = tmp_path / "pids"
        pids.unlink(missing_ok=True)
        with started(*words, stderr=None) as process:
            try:
                if words[0] == "web":
                    assert process.stdout is not None
                    start_game(process.stdout.readline().strip(), "bot0")
                wait_for(lambda pids=pids: pids.exists() and pids.read_text().endswith("\n"))
            except (AssertionError, OSError):
                process.kill()
                raise
            process.send_signal(number)
            assert process.wait(60) == 128 + number
        for pid in map(int, pids.read_text().split()):
            assert not Path(f"/proc/{pid}").exists()


def start_game(address: str, opponent: str) -> None:
    """Start a game on a page, and choose a deck: the opponent is asked, and does not answer."""
    url = urlsplit(address)
    site = f"{url.scheme}://{url.netloc}"

    def send(place: str, **data: Any) -> Any:
        headers = {"Content-Type": "application/json", "Origin": site}
        asked = Request(f"{site}/api/{place}?{url.query}", json.dumps(data).encode(), headers)
        with build_opener(ProxyHandler({})).open(asked, timeout=60) as answer:
            return json.load(answer)

    match = send("play/new", players=[None, opponent], rules="1.5")["match"]
    offer = send("machine/offers", match=match, known=0)["offers"][-1]

    def choose() -> None:
        with contextlib.suppress(OSError, HTTPException):  # the server ends
            send("play/choose", match=match, version=0, cards=offer[:30])

    threading.Thread(target=choose).start()


def interrupted(work: Callable[[], object]) -> None:
    """Do some work, and press Ctrl-C a little later."""
    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    work()


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_playouts_are_interrupted(threads: int) -> None:
    """Ctrl-C in the main thread interrupts playouts in all threads."""
    state = start_position(1)
    batch = StateBatch([state])
    for work in (
        lambda: state.rollouts(300_000_000, 1, threads=threads),
        lambda: batch.rollouts(300_000_000, 1, threads=threads),
    ):
        with pytest.raises(KeyboardInterrupt):
            interrupted(work)
    assert list(state.rollouts(10_000, 3, threads=3)) == list(state.rollouts(10_000, 3))
    rows = batch.rollouts(10_000, 3, threads=2)
    assert list(rows[0]) == list(state.rollouts(10_000, int(batch.row_seeds(3)[0])))


@pytest.mark.parametrize(
    ("searching", "bound"),
    slow_after(
        1,
        [
            (BeamSearch(BeamOptions(worlds=4096, turns=8, reply_width=16)), "nodes"),
            (MCTS(), "iterations"),
        ],
    ),
    ids=["beam", "mcts"],
)
def test_searches_are_interrupted(searching: BeamSearch | MCTS, bound: str) -> None:
    """Ctrl-C ends a search long before its bound, and later searches are not affected."""
    state = start_position(1)
    bounds: dict[str, Any] = {bound: 2000}
    before = searching.search(state, seed=1, **bounds)
    for long in ({"time_ms": 600_000.0}, {bound: 10**12}):
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            interrupted(lambda more=long: searching.search(state, seed=1, **more))
        assert time.monotonic() - started < 60  # the bound would take ten minutes, or years
    assert searching.search(state, seed=1, **bounds).line == before.line
    # A search in another thread continues: only the main thread is interrupted.
    found: list[str] = []
    thread = threading.Thread(
        target=lambda: found.append(searching.search(state, seed=1, time_ms=75.0).line)
    )
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    thread.join()
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("threads", [0, 1, 2])
def test_searching_opponents_are_interrupted(threads: int) -> None:
    """Ctrl-C interrupts opponents that search; after a reset, the environment works again."""
    envs = pytest.importorskip("locmsim.envs")
    from gymnasium.error import ResetNeeded

    opponent = "beam:nodes=1000000000,worlds=4096,turns=8,reply_width=16"
    options: dict[str, Any] = {"opponent": opponent, "card_sets": 1, "seat": "first"}
    if threads:
        env = envs.LocmVectorEnv(8, threads=threads, **options)
        passes: Any = [0] * 8
    else:
        env = envs.LocmEnv(**options)
        passes = 0
    env.reset(seed=1)
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        env.step(passes)
    assert time.monotonic() - started < 60  # the searches would take hours
    raises(ResetNeeded, "broken off", env.step, passes)
    env.reset(seed=1)
    env.close()


def test_shares_are_cut_into_chunks() -> None:
    assert in_threads(lambda a, b: (a, b), 10, 2, 3) == [(0, 3), (3, 5), (5, 8), (8, 10)]
    assert in_threads(lambda a, b: (a, b), 0, 2, 3) == [(0, 0)]


def test_every_way_to_name_a_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = start_position(3)
    text, file, sent = (tmp_path / name for name in ("pos.txt", "pos.json", "sent.txt"))
    text.write_text(state.to_text() + "\n")
    save_positions(file, [state])
    sent.write_text(state.observation(0).format())
    for name in (str(text), str(file), state.to_text()):
        assert output_of("perft", name, "--depth", "2").out == f"nodes: {state.perft(2)}\n"
    assert output_of("perft", str(sent), "--depth", "1").out == f"nodes: {state.perft(1)}\n"
    for ways in (
        [[str(text)], [str(file)], [state.to_text()], ["--file", str(text)], ["--file", str(file)]],
        [[str(sent)], ["--file", str(sent)]],  # does not say which cards there are at all
    ):
        shown = []
        for words in ways:
            out = output_of("analyse", *words, "--nodes", "200", "--json").out
            shown.append(json.loads(out)["lines"])
        assert all(lines == shown[0] for lines in shown)
    assert "Is a directory" in output_of("perft", str(tmp_path), code=1).err


def test_a_log_without_its_rules(tmp_path: Path) -> None:
    """Logs of the Java referee do not name their rules: all commands detect them like `replay`."""
    log = tmp_path / "a.log"
    words = ["greedy", "max-attack", "--rules", "1.2", "--seed", "3", "-l", str(log)]
    assert main(["play", *words, "--timeout-scale", "0"]) == 0
    content = json.loads(log.read_text())
    assert [agent["name"] for agent in content["agents"]] == ["greedy", "max-attack"]
    del content["locmsim"]
    log.write_text(json.dumps(content))
    shown = output_of("ask", "greedy", str(log), "--turn", "4").out
    assert "turn 4, the turn of player 0 (greedy)\n" in shown
    out = output_of("analyse", str(log), "--turn", "4", "--nodes", "200").out
    assert "played then: " in out
    assert "played on in worlds it is worth " in out
    assert "cards in these lines:" in out
    assert main(["perft", str(log), "--turn", "4", "--depth", "2"]) == 0


@pytest.mark.slow
def test_a_changed_agent_is_not_mixed_with_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = tmp_path / "mine.py"
    agent.write_text(AGENT)
    quick = ["--timeout-scale", "0", "--jobs", "1"]
    assert main(["arena", "mine.py:Opt", "greedy", "--games", "2", "--db", "a.db", *quick]) == 0
    agent.write_text(AGENT + "# better\n")
    err = output_of("arena", "--db", "a.db", "--games", "4", "--jobs", "1", code=1).err
    assert "a.db: mine.py has changed since game 1 (of mine.py:Opt); --force" in err
    note = "note: mine.py has changed since game 1 (mine.py:Opt); continued after 2 games"
    assert note in output_of("arena", "--db", "a.db", "--games", "4", "--jobs=1", "--force").out
    assert main(["arena", "--db", "a.db", "--games", "6", "--jobs", "1"]) == 0  # as it is now
    agent.rename(tmp_path / "moved.py")
    error = output_of("arena", "--db", "a.db", "--games", "8", "--jobs", "1", code=1).err
    assert "mine.py is not in this folder (of mine.py:Opt)" in error
    program = tmp_path / "bot.py"
    program.write_text("print('PASS')\n")
    players = [f"a={sys.executable} bot.py", "b=greedy"]
    with Arena("b.db", players, games=2, timeout_scale=0) as arena:
        stored = json.dumps(arena.settings.to_json())
        assert "bot.py" in stored
        arena.run(jobs=1)
    program.write_text("print('CHOOSE')\n")
    raises(StoreError, r"bot\.py", Arena, "b.db", games=2)


@pytest.mark.slow
def test_what_agents_print_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "speaking.py").write_text("print('imported')\n" + AGENT)
    out, err = output_of("play", "speaking.py:Opt", "greedy", "--json", "--timeout-scale", "0")
    assert json.loads(out)["fault"] is None
    assert "imported" in err
    assert "thinking" in err
    words = ["--games", "2", "--timeout-scale", "0", "--json", "--jobs", "1", "--db", "a.db"]
    assert json.loads(output_of("arena", "speaking.py:Opt", "greedy", *words).out)
    words = ["-m", "locmsim.bot", "--agent", "speaking.py:Opt"]
    done = python(*words, input=Match(seed=1).input_text(0))
    assert done.stdout.startswith("CHOOSE")
    assert "imported" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("behind", ["", "30 1 25"])
@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_analysis_of_the_end_of_a_whole_input(rules: str, behind: str, tmp_path: Path) -> None:
    """The input of a bot in a match is a file of many questions, the last of which may be cut."""
    match = Match(rules, seed=3)
    asked = []
    while len(asked) < 34:
        (player, *_) = match.to_ask
        if player == 0:
            asked.append(match.input_text(0))
        match.submit(player, "PASS")
    path = tmp_path / "input.txt"
    path.write_text("".join(asked) + behind)
    words = ["analyse", "--nodes", "50", "--seed", "1", "--rules", rules, "--file"]
    out, err = output_of(*words, str(path))
    assert err == "the input has 34 questions; this is the last one\n"
    path.write_text(asked[-1])
    assert output_of(*words, str(path)) == (out, "")


def test_files_that_a_command_has_not_written_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "bot.py"
    for words, name, content in (
        (["-o"], "own.c", b"#ifndef _GNU_SOURCE\nint mine;"),
        (["-o", "b.c", "--write-weights"], "own.npz", b"PK\x03\x04 of another program"),
    ):
        (tmp_path / name).write_bytes(content)
        assert "--force" in refused("export", "--rules", "1.0", *words, name).err
    play = ["play", "greedy", "greedy", "--timeout-scale", "0", "-l"]
    assert main([*play, "a.log"]) == 0
    assert main([*play, "a.log"]) == 0  # as brutaltester calls it
    assert main([*play, os.devnull]) == 0
    assert main(["arena", "random", "random", "--games=2", "--jobs=1", "--db", "a.db"]) == 0
    for words, name in (
        (play, "log"),
        (["cards", "generate", "1", "-o"], "txt"),
        (["cards", "draw", "1", "-o"], "html"),
        (["export", "--kernel", "-o"], "h"),
        (["export", "--rules", "1.0", "-o"], "c"),
        (["export", "--rules=1.0", "--readable", "-o", "b.c", "--write-weights"], "w.npz"),
        (["replay", "a.log", "-o"], "replay.html"),
        (["dataset", "random", "--games", "1", "-o"], "npz"),
        (["arena", "show", "a.db", "--csv"], "csv"),
    ):
        source.write_text("precious = True\n")
        assert "--force" in refused(*words, str(source)).err
        assert source.read_text() == "precious = True\n"
        assert main([*words, str(source), "--force"]) == 0, words
        target = tmp_path / f"again.{name}"
        shutil.copy(source, target)
        if name == "npz":  # games that may have taken hours
            assert "the file exists; use --force" in refused(*words, str(target)).err
        else:
            assert main([*words, str(target)]) == 0, words
        assert b"precious" not in source.read_bytes()


def test_messages_say_what_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(AGENT)
    monkeypatch.setattr("locmsim.arena.tournament.available_cores", lambda: [0])
    for words, message in (
        (["play", "mine.py", "greedy"], "mine.py:Opt, or the command, 'python mine.py'"),
        (["play", "./mine.py", "greedy"], "./mine.py:Opt, or the command, 'python ./mine.py'"),
        (["arena", "mine.py", "greedy"], "mine.py:Opt, or the command, 'python mine.py'"),
        (["arena", "mine.py:Opt:depth=4", "greedy"], "put @dataclass before `class Opt`"),
        (["arena", "--db", "missing.db"], "missing.db: no such file"),
        (["dataset", "greedy", "--games", "x", "-o", "d.npz"], "expected an integer, got 'x'"),
        (["arena", "greedy", "random", "--jobs", "2", "--db", "j.db"], "--timeout-scale 0"),
        (["perft", "--dept=3"], "locmsim perft: error: unrecognized arguments: --dept=3"),
        (["perft", "--dept=3"], "did you mean '--depth'?"),
        (["perft", "--depth", "0"], "-n/--depth: expected 1 to 100, got 0"),
        (["perft", "--depth", "x"], "-n/--depth: expected an integer, got 'x'"),
        (["perft", "--seed", "1", "file"], "not allowed with"),
        (["arena", "greedy", "random", "--gmaes", "10"], "did you mean '--games'?"),
        (["new", "agnet", "folder"], "did you mean 'agent'?"),
        (["play", "greedy", "random", "-d", "sead=1"], "did you mean 'seed'?"),
        (["play", "policy:path=no.npz", "random"], "path: no.npz: No such file or directory"),
    ):
        usage, error = refused(*words).err.splitlines()[-2:]
        assert message in error
        assert usage.startswith(f"usage: locmsim {words[0]} ")
    assert not Path("missing.db").exists()


def test_a_tuning_that_cannot_begin_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    missing: Callable[..., None],
) -> None:
    monkeypatch.chdir(tmp_path)
    refused("tune", "--output", "tuned.npz", "--state", "state", "--jobs", "0")
    missing("scipy.optimize")
    err = output_of("tune", "--output", "tuned.npz", "--state", "state", code=1).err
    assert "pip install 'locmsim[tune]'" in err
    assert os.listdir(tmp_path) == []


def test_cut_names_differ() -> None:
    names = [
        "beam:nodes=300,time_ms=0,plans=4", "beam:nodes=300,time_ms=0,plans=8", "greedy",
        "x" * 40 + "a", "x" * 40 + "b",
    ]  # fmt: skip
    lines = grid(["player", "wins"], [[name, "1"] for name in names], 80).splitlines()
    short = [line.split()[0] for line in lines[1:]]
    assert short[0] == "beam:nod...plans=4"
    assert short[2] == "greedy"
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= 24


class Told(GreedyAgent):
    """An agent that records the time it has for each turn."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[float] = []

    def start_turn(self, deadline: float) -> None:
        super().start_turn(deadline)
        self.left.append(self.time_left())


def test_agents_get_the_time_they_have() -> None:
    agent = Told()
    result = play([agent, make_agent("greedy")], Match(seed=1), timeout_scale=2)
    limits = [call.limit_ms for call in result.calls if call.player == 0]
    assert len(limits) == len(agent.left)
    for limit, left in zip(limits, agent.left, strict=True):
        assert limit is not None
        assert 0 <= limit / 1000 - left < 1
    free = Told()
    play([free, make_agent("greedy")], Match(seed=1), timeout_scale=0)
    assert set(free.left) == {float("inf")}

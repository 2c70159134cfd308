"""Tests of the command ``locmsim tune``: resuming, output files, and the commands of its page."""

import contextlib
import json
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers import Workers, locmsim, output_of, started

from locmsim import __version__
from locmsim.arena import Arena
from locmsim.networks import WeightsFile, default_weights
from locmsim.tuning import PROOF_SEEDS, self_play

PAGE = Path(__file__).parents[2] / "docs" / "tuning.md"


QUICK = ["--games", "20", "--match-games", "6", "--nodes", "20", "--pools", "1"]
QUICK += ["--proof-games", "2"]


@contextlib.contextmanager
def tuning(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a command that has done one iteration of very many, and wait for its end."""
    with started(*words, "--iterations", "100000", cwd=folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("1: ")
        yield process


def errors_of(process: subprocess.Popen[str]) -> str:
    """Wait for a process that should end soon, and return its standard error."""
    try:
        return process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_command_is_resumed(number: signal.Signals, tmp_path: Path) -> None:
    words = ["tune", "--rules", "1.2", *QUICK, "--jobs", "1"]
    locmsim(*words, "--iterations", "2", "--output", "whole.npz", cwd=tmp_path)
    more = ["--state", "state", "--output", "b.npz"]
    with tuning(tmp_path, *words, *more) as process:
        time.sleep(0.1)
        process.send_signal(number)
        errors = errors_of(process)
    if number == signal.SIGINT:
        assert process.returncode == 128 + number
        assert "Traceback" not in errors
        assert re.search(r"stopped after \d+ complete iterations; the same command resumes", errors)
    done = json.loads((tmp_path / "state" / "run.json").read_text())["iteration"]
    locmsim(
        "tune", "--state", "state", "--iterations", str(max(done, 2)), "--output", "b.npz",
        "--jobs", "1", cwd=tmp_path,
    )  # fmt: skip
    if done <= 2:
        # Also if it was killed after the second iteration, before it wrote the file.
        whole, resumed = (WeightsFile.load(tmp_path / name) for name in ("whole.npz", "b.npz"))
        assert whole["1.2"] == resumed["1.2"]
        assert len(resumed.record[-1].pop("commands")) == 2
        assert len(whole.record[-1].pop("commands")) == 1
        assert whole.record == resumed.record


@pytest.mark.slow
def test_it_says_what_is_lost_without_a_folder(tmp_path: Path) -> None:
    words = ["tune", "--rules", "1.2", *QUICK, "--jobs", "1", "--output", "a.npz", "-v"]
    with tuning(tmp_path, *words) as process:
        process.send_signal(signal.SIGTERM)
        errors = errors_of(process)
    assert "the best weights are in a.npz, games played since then are lost" in errors
    assert " eval: loss 0." in errors  # shown because of -v
    before = (tmp_path / "a.npz").read_bytes()
    assert (
        "resume that one or write to another file" in locmsim(*words, cwd=tmp_path, code=2).stderr
    )
    assert (tmp_path / "a.npz").read_bytes() == before


def test_a_file_of_something_else(tmp_path: Path) -> None:
    bad = tmp_path / "bad.npz"
    bad.write_text("{")
    for words, message in (
        (["--output", str(tmp_path / "tuned.npz"), "--weights", str(bad)], "not a weights file"),
        (["--output", str(bad)], "exists, and is not a weights file"),
    ):
        assert f"bad.npz: {message}" in output_of("tune", *words, code=2).err
    assert bad.read_text() == "{"


@pytest.mark.parametrize(
    ("rules", "what", "package", "extra"),
    [
        ("1.5", "eval", "scipy.optimize", "tune"),
        ("1.5", "deck", "scipy.optimize", "tune"),
        ("1.5", "eval,deck", "torch", "train"),
        ("1.2", "draft", "torch", "train"),
        ("1.0", "network", "torch", "train"),
    ],
)
def test_a_package_that_is_missing(
    rules: str,
    what: str,
    package: str,
    extra: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    missing: Callable[..., None],
) -> None:
    """A missing package is reported before any game is played."""
    missing(package, forgotten=("locmsim.tuning.training",))
    monkeypatch.setattr(self_play, "play_game", None)
    monkeypatch.chdir(tmp_path)
    words = ["--rules", rules, "--parts", what, "--jobs", "1", "--output", "tuned.npz"]
    error = output_of("tune", *words, "--state", "state", code=1).err
    assert error.startswith("locmsim tune: ")
    assert error.endswith(f"which is not installed: pip install 'locmsim[{extra}]'\n")
    assert not [*tmp_path.iterdir()]


def test_workers_that_are_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If workers are lost, the message says so and shows how to resume."""

    class Broken(Executor):
        def submit(self, *task: Any, **options: Any) -> Future[Any]:
            future = Future[Any]()
            future.set_exception(BrokenExecutor())
            return future

    workers = contextlib.nullcontext(Workers(Broken(), lambda: 1))
    monkeypatch.setattr(Arena, "workers", lambda arena, **how: workers)
    monkeypatch.chdir(tmp_path)
    words = ["tune", "--rules", "1.2", "--output", "tuned.npz", "--state", "state"]
    err = output_of(*words, code=1).err
    assert "locmsim tune: stopped after 0 complete iterations; the same command resumes" in err
    assert "locmsim tune: games 1 to 20 of self-play: the worker process ended, 3 times in" in err


def test_what_was_tuned_is_compared_with_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On cards that the tuning did not see, in one match for each number of iterations."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'a "b", c').mkdir()
    usual = replace(default_weights("1.2"), network=None)
    bad = {**usual.evaluation, "own.attack": -1.0, "their.attack": -1.0, "own.health": -0.5}
    WeightsFile({"1.2": replace(usual, evaluation=bad)}).save("bad.npz")
    words = ["tune", "--weights", "bad.npz", "--rules", "1.2", "--games", "20", "--nodes", "20"]
    words += ["--match-games", "10", "--pools", "2", "--iterations", "1", "--jobs", "1"]
    words += ["--state", 'a "b", c', "--output", "tuned.npz", "--proof-games"]
    for games in ("4", "10"):
        said = output_of(*words, games).out
        assert "the match against the start, on other cards:\n" in said
        assert f"{games} games of rules 1.2, mirrored pairs, given seeds" in said
        assert re.search(rf"the tuned weights win \S+ to \S+ % of {games} games", said)
    with Arena.load('a "b", c/proof-1.db') as arena:
        assert {arena.settings.fixture(number).seed for number in (1, 10)} < {*PROOF_SEEDS}
        assert arena.tally.player_pairs(0).score > 0.5
    err = output_of(*words, "3", code=2).err
    assert "--proof-games: mirrored pairs need an even number, got 3" in err


@pytest.mark.slow
def test_the_record_reproduces_the_weights(tmp_path: Path) -> None:
    """The record has the version, the number of games, and a command that reproduces the file."""
    words = ["tune", "--rules", "1.2", *QUICK, "--seed", "3", "--iterations", "1"]
    said = locmsim(*words, "--output", "tuned.npz", "--jobs", "1", cwd=tmp_path).stdout
    (record,) = WeightsFile.load(tmp_path / "tuned.npz").record
    assert record["version"] == __version__
    assert record["games_in_all"] == 20 + 6 * (1 + said.count("test of eval"))
    (command,) = record["commands"]
    assert command.startswith("locmsim tune ")
    again = tmp_path / "again"
    again.mkdir()
    locmsim(*shlex.split(command)[1:], cwd=again)
    assert (again / "tuned.npz").read_bytes() == (tmp_path / "tuned.npz").read_bytes()


@pytest.mark.slow
def test_commands_of_the_page(tmp_path: Path) -> None:
    """The commands of the page work, here with fewer games."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    commands = [command for block in blocks for command in block.replace("\\\n", "").splitlines()]
    *commands, arena = commands
    assert len(commands) >= 3
    assert "--games 400" in arena
    first, last = arena.split()[-1].split("..")
    assert int(first) in PROOF_SEEDS
    assert int(last) in PROOF_SEEDS
    table = locmsim(*shlex.split(arena.replace("400", "2"))[1:], cwd=tmp_path).stdout
    assert table.startswith("2 games of rules 1.5")
    pytest.importorskip("torch")
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        for option in ("--iterations", "--games"):
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
        if not (tmp_path / words[words.index("--state") + 1]).exists():
            words += QUICK  # a resumed tuning keeps its own settings
        locmsim(*words, "--iterations", "1", "--jobs", "1", cwd=tmp_path)
    assert WeightsFile.load(tmp_path / "tuned.npz").record

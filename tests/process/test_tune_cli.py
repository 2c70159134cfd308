"""The command ``locmsim tune``: stopping and resuming, its files, the commands of its page."""

import contextlib
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from locmsim.cli.main import main
from locmsim.tuning import PROOF_SEEDS

PAGE = Path(__file__).parents[2] / "docs" / "tuning.md"


def locmsim(*words: str, cwd: Path, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "locmsim", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


QUICK = ["--games", "20", "--match-games", "6", "--nodes", "20", "--pools", "1"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_command_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    words = ["tune", *QUICK, "--workers", "1"]
    expected = locmsim(*words, "--iterations", "2", "--out", "whole.json", cwd=tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "locmsim", *words, "--iterations", "50", "--state", "state"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with contextlib.closing(process.stdout):
        assert process.stdout.readline().startswith("1: ")
        time.sleep(0.1)
        process.send_signal(number)
        process.wait(60)
    done = json.loads((tmp_path / "state" / "state.json").read_text())["iteration"]
    out = locmsim(
        "tune", "--state", "state", "--iterations", str(max(done, 2)), "--out", "b.json",
        "--workers", "1", cwd=tmp_path,
    )  # fmt: skip
    assert "2: " in out or done >= 2
    if done <= 2:
        contents = [json.loads((tmp_path / name).read_text()) for name in ("whole.json", "b.json")]
        assert contents[0]["about"][0].pop("commands") != contents[1]["about"][0].pop("commands")
        assert contents[0] == contents[1]
        assert (
            expected.splitlines()[2:]
            == out.splitlines()[len(out.splitlines()) - len(expected.splitlines()[2:]) :]
        )


def test_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    for words, message in (
        (["--weights", "bad.json"], "bad.json: no JSON"),
        (["--weights", "nowhere.json"], "nowhere.json: No such file"),
        (["--what", "luck"], "what: expected some of"),
        (["--workers", "0", "--iterations", "1"], "workers: expected at least 1, got 0"),
        (["--out", "nowhere/x.json"], "cannot write nowhere/x.json"),
    ):
        code = 1 if "No such" in message else 2
        assert message in locmsim("tune", *words, cwd=tmp_path, code=code)


@pytest.mark.parametrize(("method", "module"), [("fit", "scipy.optimize"), ("cmaes", "cmaes")])
def test_a_package_that_is_missing(
    method: str,
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is said before any game is played."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(tune, "_play", None)
    out = str(tmp_path / "tuned.json")
    assert main(["tune", "--method", method, "--workers", "1", "--out", out]) == 1
    assert "install locmsim[tune]" in capsys.readouterr().err


def test_commands_of_the_page(tmp_path: Path) -> None:
    """With fewer games than there."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    commands = [command for block in blocks for command in block.replace("\\\n", "").splitlines()]
    *commands, arena = commands
    assert len(commands) >= 3
    assert "--games 400" in arena
    first, last = arena.split()[-1].split("..")
    assert int(first) in PROOF_SEEDS
    assert int(last) in PROOF_SEEDS
    table = locmsim(*shlex.split(arena.replace("400", "2"))[1:], cwd=tmp_path)
    assert table.startswith("2 games of rules 1.5")
    for command in commands:
        words = shlex.split(command)[1:]
        for option in ("--iterations", "--games"):
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
        if "tuning" not in {path.name for path in tmp_path.iterdir()} or "--state" not in words:
            words += QUICK
        locmsim(*words, "--iterations", "1", "--workers", "1", cwd=tmp_path)
    content = json.loads((tmp_path / "tuned.json").read_text())
    assert content["about"]

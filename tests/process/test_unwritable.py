"""Tests of output files that cannot be written: a message names the place, and nothing is left."""

import os
import sys
from pathlib import Path

import pytest
from helpers import main

#: Arguments of each tool that writes a file; TARGET, LOG and DB are filled in.
TOOLS = {
    "play": "play random random --logs TARGET",
    "arena": "arena random random --games 2 --db TARGET",
    "arena show": "arena show DB --csv TARGET",
    "cards generate": "cards generate 1 -o TARGET",
    "cards draw": "cards draw 1 -o TARGET",
    "dataset": "dataset random --games 1 -o TARGET",
    "export": "export --rules 1.5 -o TARGET",
    "export --kernel": "export --kernel -o TARGET",
    "replay": "replay LOG -o TARGET",
    "tune": "tune --output TARGET",
    "web": "web --save TARGET",
    "arena --game": "arena --game vestrock search:nodes=1 random --games 2 --db TARGET",
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Play a match and a tournament; return the paths of their log and their file of results."""
    folder = tmp_path_factory.mktemp("played")
    found = {"LOG": str(folder / "match.log"), "DB": str(folder / "results.db")}
    assert main(["play", "random", "random", "--logs", found["LOG"]]) == 0
    assert main(["arena", "random", "random", "--games", "2", "--db", found["DB"]]) == 0
    return found


@pytest.mark.slow
@pytest.mark.parametrize("place", ["file/x", "folder", "none/x", "/proc/x"])
@pytest.mark.parametrize("tool", TOOLS)
def test_place_that_cannot_be_written(
    tool: str,
    place: str,
    played: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if place == "/proc/x" and not sys.platform.startswith("linux"):
        pytest.skip("there is no /proc")
    if tool == "web" and place in ("folder", "none/x"):
        pytest.skip("games are saved in a folder, which is made")
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    words = [played.get(word, word) for word in TOOLS[tool].split()]
    words = [place if word == "TARGET" else word for word in words]
    try:
        code: object = main(words)
    except SystemExit as error:
        code = error.code
    assert code in (1, 2)
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("locmsim")
    assert f"{place}: " in message or message.endswith(place)
    assert "tmp" not in message.replace(str(tmp_path), "")
    assert sorted(os.listdir()) == ["file", "folder"]
    assert os.listdir("folder") == []
    assert Path("file").read_bytes() == b""

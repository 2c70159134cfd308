"""The identity of players: what belongs to it, what does not, and how two of them differ."""

import sys
from pathlib import Path

import pytest

from locmsim.support.identity import difference, identity, library


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with files of bots the current one."""
    monkeypatch.chdir(tmp_path)
    for name in ("greedy", "w.npz", "v.npz", "out.json", "game.log", "run", "python3"):
        (tmp_path / name).write_text(name)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "mine.py").write_text(
        "import os, helpers, numpy\nfrom parts import one\nclass Mine: ...\n"
    )
    (tmp_path / "helpers.py").write_text("import far.away, mine\n")
    (tmp_path / "numpy.py").write_text("never imported")
    (tmp_path / "other.py").write_text("import locmsim.agents\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    (tmp_path / "parts" / "one.py").write_text("")
    (tmp_path / "parts" / "__main__.py").write_text("")
    return tmp_path


MINE = ["mine.py", "helpers.py", "parts/__init__.py", "parts/one.py"]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("greedy", ["locmsim"]),  # an agent, whatever file is called like it
        ("beam:weights=w.npz,nodes=5", ["w.npz", "locmsim"]),
        ("greedy:deck=mine.py:build", [*MINE, "locmsim"]),
        ('greedy:deck="policy:path=w.npz,rules=1.5"', ["w.npz", "locmsim"]),
        ("mine.py:Mine:depth=3,weights=w.npz,log=out.json", [*MINE, "w.npz"]),
        ("other.py:Mine", ["other.py", "locmsim"]),
    ],
)
def test_what_an_agent_is(folder: Path, spec: str, found: list[str]) -> None:
    assert sorted(identity(spec, False)) == sorted(found)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("./run --weights=w.npz,v.npz --log out.json", ["./run", "v.npz", "w.npz"]),
        ("./run -w w.npz --trace-file=out.json game.log", ["./run", "w.npz"]),
        ("./python3 mine.py", MINE),
        (f"{sys.executable} -u mine.py", MINE),
        ("nice -n 5 python3 mine.py", MINE),
        ("python3 -m parts", ["parts/__main__.py"]),
        ("python3 parts", ["parts/__main__.py"]),
        ("python3 other.py", ["other.py", "locmsim"]),
        ("python3 -P -m locmsim.bot --agent mine.py:Mine", [*MINE, "locmsim"]),
        ("./run 'open", []),
    ],
)
def test_what_a_command_is(folder: Path, command: str, found: list[str]) -> None:
    assert sorted(identity(command, True)) == sorted(found)


def test_a_class_of_a_module_or_an_installed_package(folder: Path) -> None:
    found = sorted(str(folder / name) for name in MINE)
    assert sorted(identity("mine:Mine", False)) == found
    info = folder / "bots-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[locmsim.agents]\npatient = mine:Mine\n")
    assert sorted(identity("patient:depth=3", False)) == found


def test_differences(folder: Path) -> None:
    specs = ("mine.py:Mine:weights=w.npz", "greedy")
    then = {key: value for one in specs for key, value in identity(one, False).items()}
    assert difference(then, then) == ""
    assert difference(then, {**then, "new.py": "1"}) == ""
    (folder / "w.npz").write_text("others")
    now = {**then, **identity(specs[0], False)}
    assert difference(then, now) == "w.npz has changed since game 1"
    now["locmsim"] = "0.2.0 abc"
    del now["mine.py"]
    assert difference(then, now, "trial 3") == (
        "w.npz and locmsim have changed since trial 3; mine.py is not in this folder"
    )


def test_the_library_has_a_version_and_a_digest() -> None:
    version, digest = library("locmsim").split()
    assert version[0].isdecimal()
    assert len(digest) == 32

"""The tool ``vestrock``: decks, figures, its help."""

import json
from pathlib import Path

import pytest
from vestrock_help import tool

import locmsim
from vestrock import bench, extreme_deck, format_deck, generate_deck


def test_deck():
    assert tool("deck", "5").out == format_deck(generate_deck(5))
    assert tool("deck", "5", "-n", "7", "--extreme").out == format_deck(extreme_deck(5, 7))


def test_help_without_a_command():
    assert tool().out.startswith("usage: vestrock ")


@pytest.mark.slow
def test_figures():
    assert tool("bench", "--signature").out == f"{bench.signature()}\n"
    found = json.loads(tool("bench", "--seconds", "0.01", "--json").out)
    names = [function.name for function in bench.functions()]
    assert [figure["name"] for figure in found["figures"]] == names
    lines = tool("bench", "--seconds", "0.01").out.splitlines()
    assert lines[lines.index("vestrock") + 1].split()[:2] == ["clone,", "usual"]


def test_no_file_of_locmsim_names_it():
    package = Path(locmsim.__file__).parent
    suffixes = {".py", ".pyi", ".pyx", ".pxd", ".js", ".html", ".css"}
    naming = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.suffix in suffixes and "vestrock" in path.read_text(encoding="utf-8").lower()
    ]
    assert naming == []

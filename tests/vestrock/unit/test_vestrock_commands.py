"""The tool ``vestrock``: decks, figures, its help."""

import json
from pathlib import Path

import pytest
from vestrock_help import main

import locmsim
from vestrock import bench, extreme_deck, format_deck, generate_deck


def test_deck(capsys):
    assert main(["deck", "5"]) == 0
    assert capsys.readouterr().out == format_deck(generate_deck(5))
    assert main(["deck", "5", "-n", "7", "--extreme"]) == 0
    assert capsys.readouterr().out == format_deck(extreme_deck(5, 7))


def test_help_without_a_command(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("usage: vestrock ")


@pytest.mark.slow
def test_figures(capsys):
    assert main(["bench", "--signature"]) == 0
    assert capsys.readouterr().out == f"{bench.signature()}\n"
    assert main(["bench", "--seconds", "0.01", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = [function.name for function in bench.functions()]
    assert [figure["name"] for figure in found["figures"]] == names
    assert main(["bench", "--seconds", "0.01"]) == 0
    lines = capsys.readouterr().out.splitlines()
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

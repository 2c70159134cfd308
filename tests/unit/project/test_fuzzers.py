"""The command lines of the tools that fuzz; other tests play their first rounds."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

each_tool = pytest.mark.parametrize("name", ["fuzz_kernel", "fuzz_envs", "fuzz_vestrock"])


def tool(name: str) -> Any:
    if name == "fuzz_envs":
        pytest.importorskip("gymnasium")
    return import_module(name)


@each_tool
def test_command_line(
    name: str, called: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    called(tool(name).main, name, "--seconds", "0.01", "--seed", "1000")
    assert capsys.readouterr().out.endswith("; no finding\n")


@each_tool
def test_findings_name_their_round(
    name: str,
    called: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool(name), "play_round", lambda _: [].pop())
    with pytest.raises(IndexError):
        called(tool(name).main, name, "--seed", "7")
    assert capsys.readouterr().err == "finding in round 7\n"

"""Fixtures for tests that start processes."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import BOT
from page_commands import Desk, new_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return new_desk(tmp_path)


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Write a bot that runs these lines for its question number `n`, and return its command."""

    def write(lines: str) -> str:
        path, bots = tmp_path / "bot.py", str(Path(__file__).parents[1] / "bots")
        path.write_text(
            f"import os, sys\nsys.path.insert(0, {bots!r})\nimport bot\nn = 0\nwhile True:\n"
            f"    bot.read_question()\n{lines}    n += 1\n"
        )
        return shlex.join([*BOT[:-1], str(path)])

    return write


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients of a cluster wait for its scheduler for a shorter time."""
    distributed = pytest.importorskip("distributed")
    client = distributed.Client

    def connect(address: str, *, timeout: float) -> Any:
        return client(address, timeout=timeout / 75)

    monkeypatch.setattr(distributed, "Client", connect)

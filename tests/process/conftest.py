"""Fixtures for tests that start processes."""

from pathlib import Path
from typing import Any

import pytest
from page_commands import Desk, new_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return new_desk(tmp_path)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients of a cluster wait for its scheduler for a shorter time."""
    distributed = pytest.importorskip("distributed")
    client = distributed.Client

    def connect(address: str, *, timeout: float) -> Any:
        return client(address, timeout=timeout / 75)

    monkeypatch.setattr(distributed, "Client", connect)

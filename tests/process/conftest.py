"""Fixtures for tests that start processes."""

from pathlib import Path

import pytest
from page_commands import Desk, new_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return new_desk(tmp_path)

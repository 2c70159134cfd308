"""The package of Vestrock: the cost of importing it, its public names."""

from pathlib import Path

import pytest
from helpers import python

import vestrock

PACKAGE = Path(vestrock.__file__).parent


@pytest.mark.process
def test_importing_it_is_cheap():
    code = "import locmsim, sys; old = set(sys.modules); import vestrock; " + (
        "print(*set(sys.modules) - old)"
    )
    new = set(python("-c", code).stdout.split())
    assert not {"numpy", "asyncio", "socket", "sqlite3", "vestrock.match"} & new


def test_public_names():
    assert vestrock.__all__ == sorted(vestrock.__all__)
    for name in vestrock.__all__:
        assert getattr(vestrock, name) is not None
        assert name in dir(vestrock)
    with pytest.raises(AttributeError, match="has no attribute 'Game'"):
        vestrock.Game  # noqa: B018
    assert f"ABI_VERSION = {vestrock.ABI_VERSION}\n" in (PACKAGE / "_core.pxd").read_text()

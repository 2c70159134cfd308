"""The package of Vestrock: what it needs of locmsim, the cost of importing it, its public names."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import locmsim.vestrock as vestrock

PACKAGE = Path(vestrock.__file__).parent
#: Modules that are independent of games.
GROUND = {
    "_checks",
    "_database",
    "_io",
    "_locks",
    "_measure",
    "_platform",
    "_plugins",
    "_specs",
    "contract",
    "errors",
    "files",
    "javarandom",
    "parallel",
    "stats",
    "threads",
}


def test_nothing_of_the_other_game_is_imported():
    sources = [path for path in PACKAGE.rglob("*.p[yx]*") if path.suffix in (".py", ".pyx", ".pxd")]
    assert len(sources) > 20
    for path in sources:
        pattern = r"^\s*(?:from|c?import) locmsim\.(\w+)"
        for name in re.findall(pattern, path.read_text(), re.M):
            assert name == "vestrock" or name in GROUND, f"{path.name} imports locmsim.{name}"


@pytest.mark.process
def test_importing_it_is_cheap():
    code = "import locmsim, sys; old = set(sys.modules); import locmsim.vestrock; " + (
        "print(*set(sys.modules) - old)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    new = set(done.stdout.split())
    assert not {"numpy", "asyncio", "socket", "sqlite3", "locmsim.vestrock.match"} & new


def test_public_names():
    assert vestrock.__all__ == sorted(vestrock.__all__)
    for name in vestrock.__all__:
        assert getattr(vestrock, name) is not None
        assert name in dir(vestrock)
    with pytest.raises(AttributeError, match="has no attribute 'Game'"):
        vestrock.Game  # noqa: B018
    assert f"ABI_VERSION = {vestrock.ABI_VERSION}\n" in (PACKAGE / "_core.pxd").read_text()

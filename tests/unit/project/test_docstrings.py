"""The examples in the docstrings of all modules."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import locmsim
import vestrock

MODULES = [
    module.name
    for package in (locmsim, vestrock)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
]
#: Modules that train networks with PyTorch.
TRAINING = {
    f"locmsim.tuning.{name}" for name in ("decks", "distilling", "drafts", "positions", "training")
}
#: What modules need that is not in the extra `test`.
NEEDS = {
    "locmsim.envs.openspiel": "pyspiel",
    "locmsim.envs.sb3": "stable_baselines3",
    **dict.fromkeys(sorted(TRAINING), "torch"),
}


def fails(name: str) -> bool:
    """Return whether an example of a module fails, which is then printed."""
    module = importlib.import_module(name)
    file = Path(module.__file__ or "")
    if file.suffix == ".py" and ">>>" not in file.read_text(encoding="utf-8"):
        return False  # a finder takes longer
    found = doctest.DocTestFinder().find(module)
    runner = doctest.DocTestRunner()
    return any(runner.run(one).failed for one in found if one.examples)


@pytest.mark.parametrize("name", NEEDS)
def test_examples_with_further_packages(name: str) -> None:
    pytest.importorskip(NEEDS[name])
    assert not fails(name)


def test_examples() -> None:
    assert [name for name in MODULES if name not in NEEDS and fails(name)] == []


def test_all_modules_are_found() -> None:
    assert {"locmsim._core", "locmsim.agents", "locmsim.arena.store", "vestrock.bots"} <= set(
        MODULES
    )
    assert set(MODULES) >= TRAINING

"""The examples in the docstrings of all modules."""

import doctest
import importlib
import pkgutil

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


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    if name == "locmsim.envs.openspiel":
        pytest.importorskip("pyspiel")
    if name == "locmsim.envs.sb3":
        pytest.importorskip("stable_baselines3")
    if name in TRAINING:
        pytest.importorskip("torch")
    found = doctest.DocTestFinder().find(importlib.import_module(name))
    runner = doctest.DocTestRunner()
    assert not any(runner.run(one).failed for one in found if one.examples)


def test_all_modules_are_found() -> None:
    assert {"locmsim._core", "locmsim.agents", "locmsim.arena.store", "vestrock.bots"} <= set(
        MODULES
    )
    assert set(MODULES) >= TRAINING

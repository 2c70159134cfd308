"""The examples in the docstrings of all modules."""

import doctest
import importlib
import pkgutil

import pytest

import locmsim

MODULES = [
    module.name
    for module in pkgutil.walk_packages(locmsim.__path__, "locmsim.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    if name == "locmsim.envs.openspiel":
        pytest.importorskip("pyspiel")
    if name == "locmsim.envs.sb3":
        pytest.importorskip("stable_baselines3")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_all_modules_are_found() -> None:
    assert {"locmsim._core", "locmsim.agents", "locmsim.arena.store"} <= set(MODULES)

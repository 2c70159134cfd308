"""Settings of the whole suite: a test has the marker of the folder that it is in."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent

# Before numpy is imported: where other processes use the cores, too, threads of BLAS that wait for
# each other take several times as long as one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No deadline: a shared machine may stall any example, and none of the tests is about time. The same
# examples in every run: whoever installs the project sees what its authors saw.
settings.register_profile(
    "locmsim", max_examples=80, deadline=None, print_blob=True, derandomize=True
)
# For a long search by hand, other examples each time: pytest --hypothesis-profile=thorough
settings.register_profile(
    "thorough", settings.get_profile("locmsim"), max_examples=5000, derandomize=False
)
settings.load_profile("locmsim")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if TESTS in item.path.parents:
            folder = item.path.relative_to(TESTS).parts[0]
            if folder != "unit":
                item.add_marker(folder)

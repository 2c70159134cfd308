"""How much a test does: little by default, so that the suite is quick, and all of it in CI.

``pytest --more`` takes the larger amounts everywhere: examples, games, positions.
"""

from typing import TypeVar

#: Set by conftest.py before any test is collected.
MORE = False

_T = TypeVar("_T")


def amount(few: _T, more: _T) -> _T:
    """`few`, or with ``--more`` what CI does."""
    return more if MORE else few

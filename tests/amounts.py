"""The amount of work of a test: little by default, so that the suite is quick, and more in CI.

``pytest --more`` takes the larger amounts everywhere: examples, games, positions.
"""

from typing import TypeVar

#: Whether larger amounts were asked for; set by conftest.py before tests are collected.
MORE = False

#: Few card sets for an environment, since generating one takes a millisecond.
FEW = {"card_sets": 4}

_T = TypeVar("_T")


def amount(few: _T, more: _T) -> _T:
    """Return `few`, or with ``--more`` the number for CI."""
    return more if MORE else few

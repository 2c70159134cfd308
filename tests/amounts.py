"""The amount of work of a test: little by default, so that the suite is quick, and more in CI.

``pytest --more`` takes the larger amounts everywhere: examples, games, positions. Some comparisons
have a third amount for ``pytest --most``, which .ci/nightly runs.
"""

from typing import TypeVar

#: Whether larger amounts were asked for; set by conftest.py before tests are collected.
MORE = False

#: Whether the largest ones were.
MOST = False

#: Few card sets for an environment, since generating one takes a millisecond.
FEW = {"card_sets": 4}

_T = TypeVar("_T")


def amount(few: _T, more: _T | None = None, most: _T | None = None) -> _T:
    """Return `few`, with ``--more`` the number for CI, with ``--most`` that for the nightly run.

    An amount that is None is the one before.
    """
    if MOST and most is not None:
        return most
    return more if MORE and more is not None else few

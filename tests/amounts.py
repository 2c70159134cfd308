"""The amount of work of a test: little by default, so that the suite is quick, and more in CI.

``pytest --more`` takes the larger amounts everywhere: examples, games, positions. Some comparisons
have a third amount for ``pytest --most``, which .ci/nightly runs.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

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


def slow_after(count: int, parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test; all but the first `count` are marked as slow."""
    found = [*parameters]
    return found[:count] + [_slow(one) for one in found[count:]]


def _slow(one: Any) -> Any:
    if hasattr(one, "marks"):  # of `pytest.param`
        return pytest.param(*one.values, marks=[*one.marks, pytest.mark.slow], id=one.id)
    return pytest.param(*(one if isinstance(one, tuple) else [one]), marks=pytest.mark.slow)

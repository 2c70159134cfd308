"""Integers, numbers, players, seeds and budgets are checked in one place, with one wording."""

from typing import Any

import numpy as np
import pytest
from helpers import raises

from locmsim._core import whole_number
from locmsim.options.checks import budget, integer, number, player_number, seed_bits, whole

#: What looks like the integer 1 and is not one.
NO_INTEGERS = [True, 1.0, "1", np.True_, np.float32(1), None, [1]]


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integers(value: Any) -> None:
    assert whole("n", value, 0, 3) == integer("n", value) == 3
    assert whole_number(value, "n", 0, 3) == 3


@pytest.mark.parametrize("value", NO_INTEGERS)
def test_no_integers(value: Any) -> None:
    for check in (
        lambda: whole("n", value, 0, 3),
        lambda: whole_number(value, "n", 0, 3),
        lambda: seed_bits(value, "n"),
    ):
        raises(ValueError, r"^n: expected an integer, got ", check)
    raises(TypeError, r"^n: expected an integer, got ", integer, "n", value, TypeError)
    raises(ValueError, r"^player: expected 0 or 1, got ", player_number, value)


@pytest.mark.parametrize("value", [-1, 4, 10**30, -(10**30), np.uint64(2**64 - 1)])
def test_bounds(value: Any) -> None:
    for check in (
        lambda: whole("n", value, 0, 3),
        lambda: whole_number(value, "n", 0, 3),
    ):
        raises(ValueError, f"^n: expected 0 to 3, got {value}$", check)


def test_players() -> None:
    assert [player_number(player) for player in (0, 1, np.int64(1))] == [0, 1, 1]
    raises(ValueError, r"^seat: expected 0 or 1, got 2$", player_number, 2, "seat")


def test_seeds() -> None:
    assert [seed_bits(seed) for seed in (-1, 2**64 + 5, np.int32(7))] == [2**64 - 1, 5, 7]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 2, "x", None, True, 10**400])
def test_numbers(value: Any) -> None:
    assert number("x", 0.5, 0, 1) == 0.5
    raises(ValueError, r"^x: expected 0 to 1, got ", number, "x", value, 0, 1)


def test_budgets() -> None:
    budget(None, nodes=None)
    budget(1.5, nodes=0)
    for wrong, message in (
        ({"time_ms": 1e14}, r"time_ms: expected 0 to 1e\+09, got 1"),
        ({"time_ms": float("nan")}, "time_ms: expected 0 to"),
        ({"nodes": -4}, "nodes: expected 0 to 2\\^60, got -4"),
        ({"nodes": 10**30}, "nodes: expected 0 to"),
        ({"nodes": 1.5}, "nodes: expected an integer, got 1.5"),
        ({"simulations": 0, "least": 1}, "simulations: expected 1 to"),
    ):
        raises(ValueError, f"^{message}", budget, **wrong)

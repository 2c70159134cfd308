"""The schedule of ticks."""

import pytest

from vestrock.clock import Schedule


def test_ticks_do_not_drift() -> None:
    schedule = Schedule(100.0, 0.1)
    for k in range(1, 10_001):
        assert schedule.due == 100.0 + k * 0.1
        # Each tick is late, but by less than half a turn.
        assert schedule.tick(schedule.due + 0.04) == 0.0


def test_a_stall_moves_the_schedule_once_and_no_tick_is_made_up_for() -> None:
    schedule = Schedule(0.0, 1.0)
    assert schedule.tick(1.0) == 0.0
    assert schedule.tick(5.2) == pytest.approx(3.2)
    assert schedule.due == pytest.approx(6.2)
    assert schedule.tick(6.2) == pytest.approx(0.0)
    assert schedule.due == pytest.approx(7.2)


def test_half_a_turn_is_the_bound() -> None:
    schedule = Schedule(0.0, 1.0)
    assert schedule.tick(1.5) == 0.0
    assert schedule.due == 2.0
    assert schedule.tick(2.625) == 0.625
    assert schedule.due == 3.625


def test_a_turn_may_end_early() -> None:
    schedule = Schedule(0.0, 1.0)
    schedule.restart(0.25)
    assert schedule.due == 1.25
    assert schedule.tick(1.25) == 0.0
    assert schedule.due == 2.25

"""The schedule of ticks."""

from vestrock.clock import Schedule


def test_ticks_do_not_drift() -> None:
    schedule = Schedule(100.0, 0.1)
    for k in range(1, 10_001):
        assert schedule.due == 100.0 + k * 0.1
        # Each tick is late, but by less than half a turn.
        assert schedule.tick(schedule.due + 0.04) == 0.0


def test_a_stall_moves_the_schedule_once_and_no_tick_is_made_up_for() -> None:
    """Half a turn is the bound; a turn may end early."""
    schedule = Schedule(0.0, 1.0)
    for now, late, due in (
        *((1.0, 0.0, 2.0), (5.25, 3.25, 6.25), (6.25, 0.0, 7.25)),
        *((7.75, 0.0, 8.25), (8.875, 0.625, 9.875)),
    ):
        assert schedule.tick(now) == late
        assert schedule.due == due
    schedule.restart(9.25)
    assert schedule.due == 10.25
    assert schedule.tick(10.25) == 0.0
    assert schedule.due == 11.25

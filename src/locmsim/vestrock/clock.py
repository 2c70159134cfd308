"""The schedule of turns, without drift, as a function of the times passed to it."""

__all__ = ["Schedule"]


class Schedule:
    """Tick k is due at start + k * period (docs/vestrock.md, "Clock").

    Ticks are never skipped and never caught up: after one that is late by more than half a period,
    all later ones are delayed by the same amount.

    Parameters
    ----------
    start : float
        Start of the first period, in seconds of any clock that does not jump.
    period : float
        Length of a turn in seconds, more than 0.

    Raises
    ------
    ValueError
        `period` is not positive.
    """

    def __init__(self, start: float, period: float) -> None:
        if not period > 0:
            raise ValueError(f"period: expected more than 0 seconds, got {period}")
        self.period = period
        self._origin = start
        self._ticks = 1

    @property
    def due(self) -> float:
        """The time of the next tick."""
        # A product and not a sum of periods: rounding errors do not add up.
        return self._origin + self._ticks * self.period

    def tick(self, now: float) -> float:
        """Handle a tick of the clock.

        Parameters
        ----------
        now : float
            The time.

        Returns
        -------
        float
            By how much the schedule was moved, usually 0.
        """
        late = now - self.due
        self._ticks += 1
        if late <= self.period / 2:
            return 0.0
        self._origin += late
        return late

    def restart(self, now: float) -> None:
        """Start a new period now, before the tick is due."""
        self._origin, self._ticks = now, 1

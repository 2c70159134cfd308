"""A schedule of turns that does not drift; it reads no clock but is given all times."""


class Schedule:
    """Tick k is due at start + k * period (docs/vestrock/rules.md, "Clock").

    Ticks are never skipped. If a tick is late by more than half a period, all later ticks are
    delayed by the same amount, so that no turn becomes shorter than half a period.

    Parameters
    ----------
    start : float
        Start of the first period, in seconds of any clock that does not jump.
    period : float
        Length of a turn in seconds, more than 0.
    """

    def __init__(self, start: float, period: float) -> None:
        self.period = period
        self._origin = start
        self._ticks = 1

    @property
    def due(self) -> float:
        """The time of the next tick."""
        # A product, not a running sum, so that rounding errors do not accumulate.
        return self._origin + self._ticks * self.period

    def tick(self, now: float) -> float:
        """Note that a tick has happened, and delay the schedule if the tick was too late.

        Parameters
        ----------
        now : float
            The time of the tick.

        Returns
        -------
        float
            The number of seconds by which the schedule was delayed, usually 0.
        """
        late = now - self.due
        self._ticks += 1
        if late <= self.period / 2:
            return 0.0
        self._origin += late
        return late

    def restart(self, now: float) -> None:
        """Start a new period now, without waiting for the next tick."""
        self._origin, self._ticks = now, 1

"""Rate limits of connections: what input costs, and the allowances that it is charged to."""

from collections.abc import Callable
from typing import Final

__all__ = ["BEFORE_LOGIN", "LOGGED_IN", "Allowance", "Allowances", "Costs"]


class Costs:
    """Costs of what a connection does, in seconds of its allowance.

    Parameters
    ----------
    line, byte : float
        The costs of a line and of a byte of input.
    connection, password, spectator : float
        The costs of connecting, of a password check, and of sending a new spectator the running
        tournament.
    """

    def __init__(
        self,
        *,
        line: float,
        byte: float,
        connection: float = 0.0,
        password: float = 0.0,
        spectator: float = 0.0,
    ) -> None:
        self.line = line
        self.byte = byte
        self.connection = connection
        self.password = password
        self.spectator = spectator


#: Limits of an address before a login: 100 connections, 20 passwords, two spectators, 1,000 lines
#: or 100 kB per second, with bursts of up to five times as much.
BEFORE_LOGIN: Final = Costs(line=1e-3, byte=1e-5, connection=0.01, password=0.05, spectator=0.5)
#: Limits of a player, more than an honest one can need: 20,000 lines or 5 MB per second.
LOGGED_IN: Final = Costs(line=5e-5, byte=2e-7)


class Allowance:
    """A token bucket in seconds: it gains one per second up to a maximum.

    It may be overdrawn: nothing is refused, but the debtor must wait until the debt is paid.
    """

    #: The maximum balance.
    SAVED: Final = 5.0

    __slots__ = ("_paid_until",)

    def __init__(self) -> None:
        self._paid_until = 0.0

    def charge(self, cost: float, now: float) -> float:
        """Subtract a cost; return the time until the debt is paid, 0 without one."""
        self._paid_until = max(self._paid_until, now - self.SAVED) + cost
        return self.debt(now)

    def debt(self, now: float) -> float:
        """Return the time until the debt is paid, 0 without one."""
        return max(0.0, self._paid_until - now)

    def is_whole(self, now: float) -> bool:
        """Return whether the allowance is unused."""
        return self._paid_until <= now - self.SAVED


class Allowances:
    """The allowances of recently active names.

    Parameters
    ----------
    clock : function
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._by_name: dict[str, Allowance] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    def charge(self, name: str, cost: float) -> float:
        """Subtract a cost; return the time until the debt is paid, 0 without one."""
        allowance = self._by_name.get(name)
        if allowance is None:
            allowance = self._by_name[name] = Allowance()
        return allowance.charge(cost, self._clock())

    def tidy(self) -> None:
        """Forget names whose allowance is full again."""
        now = self._clock()
        self._by_name = {n: a for n, a in self._by_name.items() if not a.is_whole(now)}

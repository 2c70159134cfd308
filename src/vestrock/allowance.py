"""Rate limits of connections: what input costs, and the allowances that it is charged to."""

from collections.abc import Callable
from typing import Final, NamedTuple


class Costs(NamedTuple):
    """Costs of what a connection does, in seconds of its allowance."""

    #: The cost of connecting.
    connection: float
    #: The costs of a line and of a byte of input.
    line: float
    byte: float


#: Limits of a prefix of addresses before a login: 100 connections, 1,000 lines or 100 kB per
#: second, with bursts of up to five times as much.
BEFORE_LOGIN: Final = Costs(connection=0.01, line=1e-3, byte=1e-5)
#: Limits of a player, more than an honest one can need: 20,000 lines or 5 MB per second.
LOGGED_IN: Final = Costs(connection=0.01, line=5e-5, byte=2e-7)

#: The usual maximum balance.
_SAVED: Final = 5.0


class Allowance:
    """A token bucket in seconds: it gains one per second up to a maximum.

    It may be overdrawn, since a cost is often known only when it has arisen; the owner of the
    bucket decides what a debtor may not do until the debt is paid. (aiolimiter has buckets too, but
    its callers wait before they act: there are no debts, refunds or costs above the maximum, and
    nobody is told how long to wait.)

    Parameters
    ----------
    saved : float
        The maximum balance.
    """

    __slots__ = ("_paid_until", "_saved")

    def __init__(self, saved: float = _SAVED) -> None:
        self._paid_until = 0.0
        self._saved = saved

    def charge(self, cost: float, now: float) -> float:
        """Subtract a cost; return the time until the debt is paid, 0 without one."""
        self._paid_until = max(self._paid_until, now - self._saved) + cost
        return self.debt(now)

    def refund(self, cost: float) -> None:
        """Add a cost that was charged before."""
        self._paid_until -= cost

    def debt(self, now: float) -> float:
        """Return the time until the debt is paid, 0 without one."""
        return max(0.0, self._paid_until - now)

    def spent(self, now: float) -> float:
        """Return how much is missing to the maximum balance."""
        return max(0.0, self._paid_until - now + self._saved)


class Allowances:
    """The allowances of recently active names.

    Parameters
    ----------
    clock : function
        Returns the time in seconds.
    saved : float
        The maximum balance of each.
    """

    def __init__(self, clock: Callable[[], float], saved: float = _SAVED) -> None:
        self._clock = clock
        self._saved = saved
        self._by_name: dict[str, Allowance] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    def charge(self, name: str, cost: float) -> float:
        """Subtract a cost; return the time until the debt is paid, 0 without one."""
        allowance = self._by_name.get(name)
        if allowance is None:
            allowance = self._by_name[name] = Allowance(self._saved)
        return allowance.charge(cost, self._clock())

    def refund(self, name: str, cost: float) -> None:
        """Add a cost that was charged before."""
        if name in self._by_name:
            self._by_name[name].refund(cost)

    def debt(self, name: str) -> float:
        """Return the time until the debt is paid, 0 without one."""
        return self._by_name[name].debt(self._clock()) if name in self._by_name else 0.0

    def spent(self, name: str) -> float:
        """Return how much is missing to the maximum balance."""
        return self._by_name[name].spent(self._clock()) if name in self._by_name else 0.0

    def tidy(self) -> None:
        """Forget names whose allowance is full again."""
        now = self._clock()
        self._by_name = {n: a for n, a in self._by_name.items() if a.spent(now)}

"""Which connections a server accepts, and which of their passwords it checks.

Addresses are counted by prefixes, since one person can have all addresses of an IPv6 network. There
are no sockets here and no clock but the one that is passed.
"""

import ipaddress
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from vestrock.allowance import BEFORE_LOGIN, LOGGED_IN, Allowances

if TYPE_CHECKING:
    from vestrock.session import Session
    from vestrock.sockets import Connection
    from vestrock.spectators import Spectator

#: Maximum number of connections without a login, in total and per prefix.
_LOGINS: Final = 256
_LOGINS_OF_ONE: Final = 16
#: Maximum number of spectators, in total and per prefix.
_SPECTATORS: Final = 64
_SPECTATORS_OF_ONE: Final = 16
#: Cost of a spectator in seconds: two per second.
_SPECTATOR_COST: Final = 0.5
#: Cost of a connection from where a player has logged in, after too many from there.
_RETURNING_COST: Final = 0.2
#: Cost of a wrong password, and what a prefix can save: five at once, then 20 per minute. A check
#: takes about 20 ms, so that 64 prefixes together take less than half a processor for it.
_PASSWORD_COST: Final = 3.0
_PASSWORDS_SAVED: Final = 15.0
#: Maximum number of prefixes of which a server remembers that a player has logged in.
_KNOWN: Final = 4096


def prefix_of(address: str) -> str:
    """Return what an address counts as: an IPv4 address itself, an IPv6 address its /64."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))


OccupantT = TypeVar("OccupantT", bound="Connection")


class Places(Generic[OccupantT]):
    """A limited number of places for connections, of which no prefix can take too many.

    Parameters
    ----------
    total, of_one : int
        Number of places, and how many of them one prefix can take.
    """

    def __init__(self, total: int, of_one: int) -> None:
        self._total = total
        self._of_one = of_one
        self._prefixes: dict[OccupantT, str] = {}
        #: The connections of each prefix, the oldest first.
        self._by_prefix: dict[str, dict[OccupantT, None]] = {}

    def __len__(self) -> int:
        return len(self._prefixes)

    def take(self, newcomer: OccupantT, prefix: str) -> OccupantT | None:
        """Give a connection a place.

        If there is none left, the oldest idle connection of the prefix that has most of them loses
        its place; without an idle one, its newest. A prefix that has as many as it can take gets a
        place only from an idle connection of its own.

        Returns
        -------
        connection or None
            The connection that has lost its place, or the newcomer if it gets none.
        """
        own = self._by_prefix.get(prefix, {})
        loser: OccupantT | None = None
        if len(own) >= self._of_one:
            loser = _oldest_idle(own) or newcomer
        elif len(self) >= self._total:
            most = max(self._by_prefix.values(), key=len)
            if len(own) == len(most):
                loser = _oldest_idle(own) or newcomer
            else:
                loser = _oldest_idle(most) or next(reversed(most))
        if loser is newcomer:
            return loser
        if loser is not None:
            self.leave(loser)
        self._prefixes[newcomer] = prefix
        self._by_prefix.setdefault(prefix, {})[newcomer] = None
        return loser

    def leave(self, connection: OccupantT) -> None:
        """Free the place of a connection, if it has one."""
        prefix = self._prefixes.pop(connection, None)
        if prefix is None:
            return
        del self._by_prefix[prefix][connection]
        if not self._by_prefix[prefix]:
            del self._by_prefix[prefix]


def _oldest_idle(connections: dict[OccupantT, None]) -> OccupantT | None:
    return next((connection for connection in connections if connection.idle), None)


class Admission:
    """The places and allowances of a server.

    Parameters
    ----------
    clock : function
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.logins: Places[Session] = Places(_LOGINS, _LOGINS_OF_ONE)
        self.spectators: Places[Spectator] = Places(_SPECTATORS, _SPECTATORS_OF_ONE)
        #: What connections to the port for players are charged to, by prefix: usually, and after
        #: too many of them if a player has logged in from there before.
        self.newcomers = Allowances(clock)
        self.returning = Allowances(clock)
        #: What spectators and wrong passwords are charged to, by prefix.
        self.watching = Allowances(clock)
        self.passwords = Allowances(clock, _PASSWORDS_SAVED)
        #: Wrong passwords of each player, from anywhere; they only delay further checks.
        self.guessed = Allowances(clock, _PASSWORDS_SAVED)
        #: What players are charged for after their login.
        self.players = Allowances(clock)
        #: Prefixes from which players have logged in, the latest last.
        self._known: dict[str, None] = {}

    def knows(self, prefix: str) -> bool:
        """Return whether a player has logged in from there before."""
        return prefix in self._known

    def enter(self, prefix: str) -> bool:
        """Charge a new connection to the port for players; False if it must not come in."""
        if not self.newcomers.debt(prefix):
            self.newcomers.charge(prefix, BEFORE_LOGIN.connection)
            return True
        if self.knows(prefix) and not self.returning.debt(prefix):
            self.returning.charge(prefix, _RETURNING_COST)
            return True
        return False

    def watch(self, prefix: str) -> bool:
        """Charge a new spectator; False if it must not come in."""
        if self.watching.debt(prefix):
            return False
        self.watching.charge(prefix, _SPECTATOR_COST)
        return True

    def logged_in(self, prefix: str, player: str) -> None:
        """Charge the player instead of the prefix for a connection that has logged in."""
        if not self.players.charge(player, LOGGED_IN.connection):
            self.newcomers.refund(prefix, BEFORE_LOGIN.connection)
        self._known.pop(prefix, None)
        self._known[prefix] = None
        if len(self._known) > _KNOWN:
            del self._known[next(iter(self._known))]

    def tidy(self) -> None:
        """Forget allowances that are full again."""
        for allowances in (
            self.newcomers,
            self.returning,
            self.watching,
            self.passwords,
            self.guessed,
            self.players,
        ):
            allowances.tidy()


class PasswordQueue:
    """Passwords that wait for their check, which takes a while.

    One is checked at a time, first those of the prefixes that have sent the fewest wrong ones,
    among these those from where a player has logged in before, then those of the players of whom
    the fewest wrong ones were sent. A prefix that has sent too many is refused without a check.

    Parameters
    ----------
    check : function
        Starts to check name and password, and later calls its last argument with the result.
    admission : Admission
        What wrong passwords are charged to.
    """

    def __init__(
        self,
        check: Callable[[str, str, Callable[[bool], None]], object],
        admission: Admission,
    ) -> None:
        self._check = check
        self._admission = admission
        self._waiting: list[tuple[Session, str, str]] = []
        self._is_checking = False

    def __len__(self) -> int:
        return sum(login.checking for login, _, _ in self._waiting)

    def add(self, login: "Session", name: str, password: str) -> None:
        """Check a password when its turn comes, and tell the connection the result.

        Parameters
        ----------
        login : Session
            The connection.
        name, password : str
            Name and password that it sent.
        """
        self._waiting.append((login, name, password))
        self._next()

    def _next(self) -> None:
        self._waiting = [entry for entry in self._waiting if entry[0].checking]
        for entry in [*self._waiting]:
            if self._admission.passwords.debt(entry[0].prefix):
                self._waiting.remove(entry)
                entry[0].refuse(7)
        if self._is_checking or not self._waiting:
            return
        login, name, password = entry = min(self._waiting, key=self._rank)
        self._waiting.remove(entry)
        self._admission.passwords.charge(login.prefix, _PASSWORD_COST)
        self._admission.guessed.charge(name, _PASSWORD_COST)
        self._is_checking = True
        self._check(name, password, lambda right: self._checked(login, name, right))

    def _rank(self, entry: "tuple[Session, str, str]") -> tuple[float, bool, float]:
        """Return what is least for the password to be checked next; of equal ones, the first."""
        login, name, _ = entry
        admission = self._admission
        return (
            admission.passwords.spent(login.prefix),
            not admission.knows(login.prefix),
            admission.guessed.spent(name),
        )

    def _checked(self, login: "Session", name: str, right: bool) -> None:
        self._is_checking = False
        if right:
            self._admission.passwords.refund(login.prefix, _PASSWORD_COST)
            self._admission.guessed.refund(name, _PASSWORD_COST)
        login.checked(right)
        self._next()

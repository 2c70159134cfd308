"""Who gets in to Vestrock's server, with a clock and connections of the tests."""

import heapq
import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vestrock.admission import Admission, PasswordQueue, Places, prefix_of
from vestrock.allowance import Allowances


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Guest:
    """A connection that notes what happens to it."""

    def __init__(self, prefix: str, *, idle: bool = True) -> None:
        self.prefix = prefix
        self.idle = idle
        self.checking = True
        self.result: bool | int | None = None

    def checked(self, right: bool) -> None:
        self.checking, self.result = False, right

    def refuse(self, code: int) -> None:
        self.checking, self.result = False, code

    def abort(self) -> None:
        self.result = 0


# --------------------------------------------------------------------------------------- prefixes


@pytest.mark.parametrize(
    ("address", "prefix"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
        ("/socket", "/socket"),
    ],
)
def test_addresses_count_by_their_prefix(address: str, prefix: str) -> None:
    assert prefix_of(address) == prefix


# ----------------------------------------------------------------------------------------- places


def test_the_prefix_with_most_places_loses_its_oldest_idle_one() -> None:
    places: Places[Guest] = Places(6, 4)
    busy, *many = [Guest("a", idle=i > 0) for i in range(4)]
    few = [Guest("b"), Guest("c")]
    for guest in (busy, *many, *few):
        assert places.take(guest, guest.prefix) is None
    assert places.take(Guest("d"), "d") is many[0]
    assert places.take(Guest("e"), "e") is many[1]
    assert len(places) == 6
    places.leave(many[0])  # without a place already
    places.leave(busy)
    assert len(places) == 5
    assert places.take(Guest("f"), "f") is None


def test_a_prefix_with_all_its_places_gets_one_from_an_idle_connection_of_its_own() -> None:
    places: Places[Guest] = Places(6, 2)
    first, second = Guest("a", idle=False), Guest("a")
    for guest in (first, second):
        places.take(guest, "a")
    third = Guest("a", idle=False)
    assert places.take(third, "a") is second
    refused = Guest("a")
    assert places.take(refused, "a") is refused
    assert len(places) == 2


def test_without_an_idle_connection_the_newest_loses_its_place() -> None:
    """The older ones have waited longest for their password check."""
    places: Places[Guest] = Places(3, 3)
    guests = [Guest("a", idle=False) for _ in range(3)]
    for guest in guests:
        places.take(guest, "a")
    assert places.take(Guest("b"), "b") is guests[2]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), max_size=60))
def test_places_are_never_too_many_and_a_new_prefix_gets_one(
    steps: list[tuple[int, bool, bool]],
) -> None:
    places: Places[Guest] = Places(7, 3)
    inside: list[Guest] = []
    for prefix, idle, leaves in steps:
        if leaves and inside:
            places.leave(inside.pop(0))
            continue
        guest = Guest(str(prefix), idle=idle)
        others = [other.prefix for other in inside]
        loser = places.take(guest, guest.prefix)
        if loser is guest:
            assert guest.prefix in others
        else:
            inside.append(guest)
            if loser is not None:
                inside.remove(loser)
        counts = [[other.prefix for other in inside].count(str(prefix)) for prefix in range(6)]
        assert len(places) == len(inside) <= 7
        assert max(counts) <= 3
        if guest.prefix not in others:
            assert guest in inside


# ------------------------------------------------------------------------------------- allowances


def test_an_allowance_is_saved_overdrawn_refunded_and_forgotten() -> None:
    clock = Clock()
    allowances = Allowances(clock, saved=5.0)
    assert allowances.charge("a", 5.0) == 0.0
    assert allowances.charge("a", 2.0) == pytest.approx(2.0)
    assert allowances.debt("b") == allowances.spent("b") == 0.0
    assert allowances.spent("a") == pytest.approx(7.0)
    allowances.refund("a", 2.0)
    allowances.refund("b", 2.0)
    assert allowances.debt("a") == 0.0
    clock.now += 4.0
    allowances.tidy()
    assert len(allowances) == 1
    clock.now += 1.5
    allowances.tidy()
    assert len(allowances) == 0


def test_a_debtor_does_not_enter_until_the_debt_is_paid() -> None:
    clock = Clock()
    admission = Admission(clock)
    assert sum(admission.enter("a") for _ in range(4025)) == 501
    assert admission.enter("b")
    clock.now += 0.5
    assert sum(admission.enter("a") for _ in range(1000)) == pytest.approx(50, abs=1)


def test_spectators_use_up_no_allowance_of_players() -> None:
    clock = Clock()
    admission = Admission(clock)
    for _ in range(330):
        admission.watch("a")
        clock.now += 0.03
    assert not admission.watch("a")
    assert admission.enter("a")


def test_where_a_player_has_logged_in_others_cannot_use_up_all() -> None:
    clock = Clock()
    admission = Admission(clock)
    admission.logged_in("a", "ann")
    for prefix in ("a", "b"):
        admission.newcomers.charge(prefix, 1000.0)
    assert admission.enter("a")
    assert not admission.enter("b")
    for i in range(5000):  # a server remembers only so many prefixes
        admission.logged_in(f"other{i}", "ann")
    assert not admission.enter("a")


def test_a_connection_that_has_logged_in_is_charged_to_its_player() -> None:
    admission = Admission(Clock())
    for _ in range(500):
        assert admission.enter("a")
        admission.logged_in("a", "ann")
    assert admission.newcomers.spent("a") == pytest.approx(0.0, abs=1e-6)
    for _ in range(1002):  # as many as the player has saved, then as many as the prefix has
        if admission.enter("a"):
            admission.logged_in("a", "ann")
    assert admission.newcomers.debt("a") > 0.0


# -------------------------------------------------------------------------------------- passwords


class Checks:
    """Password checks that last until the test ends them; the password "right" is right."""

    def __init__(self) -> None:
        self.running: tuple[str, str, Callable[[bool], None]] | None = None
        self.names: list[str] = []

    def __call__(self, name: str, password: str, done: Callable[[bool], None]) -> None:
        assert self.running is None
        self.names.append(name)
        self.running = (name, password, done)

    def end(self) -> None:
        assert self.running is not None
        _, password, done = self.running
        self.running = None
        done(password == "right")


def test_who_has_sent_the_fewest_wrong_passwords_is_checked_first() -> None:
    checks = Checks()
    queue = PasswordQueue(checks, Admission(Clock()))
    for name, prefix in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("c1", "c")):
        queue.add(Guest(prefix), name, "wrong")
    gone = Guest("d")
    queue.add(gone, "d1", "wrong")
    assert len(queue) == 5
    gone.checking = False
    assert len(queue) == 4
    while checks.running:
        checks.end()
    assert checks.names == ["a1", "b1", "c1", "a2", "b2"]


def test_players_of_whom_no_wrong_password_was_sent_come_first_and_known_places_before() -> None:
    checks, admission = Checks(), Admission(Clock())
    admission.logged_in("known", "ann")
    queue = PasswordQueue(checks, admission)
    guests = {
        (prefix, name): Guest(prefix)
        for prefix, name in (("a", "ann"), ("b", "ann"), ("c", "bob"), ("known", "ann"), ("a", "x"))
    }
    for (_, name), guest in guests.items():
        queue.add(guest, name, "wrong")
    order = []
    while checks.running:
        checks.end()
        order += [
            who for who, guest in guests.items() if guest.result is False and who not in order
        ]
    assert order == [("a", "ann"), ("known", "ann"), ("c", "bob"), ("b", "ann"), ("a", "x")]


def test_wrong_passwords_use_up_an_allowance_and_right_ones_do_not() -> None:
    checks, clock = Checks(), Clock()
    admission = Admission(clock)
    queue = PasswordQueue(checks, admission)
    players = [Guest("a") for _ in range(30)]
    for player in players:
        queue.add(player, "ann", "right")
    while checks.running:
        checks.end()
    assert [player.result for player in players] == [True] * 30
    assert admission.passwords.spent("a") == admission.guessed.spent("ann") == 0.0
    guesses = [Guest("a") for _ in range(30)]
    for guess in guesses:
        queue.add(guess, "bob", "wrong")
    while checks.running:
        checks.end()
    assert [guess.result for guess in guesses] == [False] * 6 + [7] * 24
    assert len(checks.names) == 36
    late = Guest("a")
    queue.add(late, "ann", "right")
    assert late.result == 7
    clock.now += 3.0
    again = Guest("a")
    queue.add(again, "ann", "right")
    checks.end()
    assert again.result is True


@pytest.mark.slow
def test_an_honest_login_takes_less_than_two_seconds_beside_ten_thousand_attempts_a_minute() -> (
    None
):
    """A minute of 64 prefixes that guess everybody's passwords, where a check takes 20 ms.

    Once a second somebody logs in from a prefix of their own.
    """
    clock, checks = Clock(), Checks()
    admission = Admission(clock)
    queue = PasswordQueue(checks, admission)
    start = clock.now
    arrivals = [(start + i * 0.006, i, f"pest{i % 64}") for i in range(10_000)]
    arrivals += [(start + i + 0.001, -i, f"honest{i}") for i in range(60)]
    waits = []
    honest: dict[Guest, float] = {}
    placed: set[Guest] = set()
    end_of_check = float("inf")
    for moment, _, prefix in itertools.chain(
        heapq.merge(sorted(arrivals)), [(start + 100.0, 0, "last")]
    ):
        while end_of_check <= moment:
            clock.now = end_of_check
            checks.end()
            end_of_check = clock.now + 0.02 if checks.running else float("inf")
            for guest in [guest for guest in honest if guest.result is not None]:
                assert guest.result is True
                waits.append(clock.now - honest.pop(guest))
        clock.now = moment
        assert admission.enter(prefix)
        guest = Guest(prefix, idle=False)
        loser = admission.logins.take(guest, prefix)
        placed.add(guest)
        if loser is not None:
            loser.refuse(7)
            placed.remove(loser)
        assert len(admission.logins) == len(placed)
        if prefix.startswith("honest"):
            honest[guest] = moment
        if loser is not guest:
            idle = checks.running is None
            if guest in honest:
                queue.add(guest, prefix, "right")
            else:
                queue.add(guest, f"honest{len(checks.names) % 60}", "wrong")
            if idle and checks.running:
                end_of_check = clock.now + 0.02
        for guest in [guest for guest in placed if not guest.checking]:
            admission.logins.leave(guest)
            placed.remove(guest)
    assert len(waits) == 60
    assert max(waits) < 2.0
    print(f"longest wait {max(waits):.2f} s, {len(checks.names)} checks")

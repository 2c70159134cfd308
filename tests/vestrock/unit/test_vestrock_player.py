"""A bot that plays all matches of a client, against a server without sockets."""

import time
from collections.abc import Iterable

import pytest
from vestrock_help import Player, Series

from vestrock import State, generate_deck
from vestrock.bots import make_bot
from vestrock.client import ServerClosedError
from vestrock.protocol import Reply, parse


class Wire:
    """A connection with what `Player` needs of a client; turns pass when `ann` waits."""

    def __init__(self, players: Iterable[str], ticks: int, **parameters: int) -> None:
        self.players = list(players)
        self.ticks = ticks
        self.series = Series(
            generate_deck,
            lambda *results: None,
            lambda event: None,
            break_turns=0,
            parameters=parameters,
        )
        self.replies: list[Reply] = []
        #: Turns that pass at once, as if a bot had been too slow for them.
        self.missed = 0

    def wait(self) -> float:
        for _ in range(1 + self.missed):
            if not self.ticks:
                raise ServerClosedError
            self.ticks -= 1
            self.series.tick(self.players)
        self.missed = 0
        return time.monotonic()

    def request(self, commands: Iterable[str]) -> list[Reply]:
        replies = []
        for command in commands:
            status, *lines = self.series.execute("ann", parse(command.encode()))
            replies.append(Reply(command, 0 if status == "OK" else int(status.split()[1]), lines))
        return replies

    def my_matches(self) -> list[int]:
        return [int(word) for word in self.request(["GET_MY_MATCHES"])[0].lines[1].split()]

    def send(self, commands: Iterable[str]) -> None:
        self.replies += self.request(commands)

    @property
    def pending(self) -> int:
        return len(self.replies)

    def receive(self, count: int) -> list[Reply]:
        replies, self.replies = self.replies[:count], self.replies[count:]
        return replies


def test_every_turn_of_every_match_is_played() -> None:
    wire = Wire(["ann", "bob", "carl"], 33, turns=10, init_hp=1000)
    player = Player(wire, make_bot("rule"), turn_seconds=60)  # type: ignore[arg-type]
    figures = player.run()
    # Three tournaments of four matches, in each of which half of the turns are hers; then three
    # turns of the fourth.
    assert figures.turns == 33
    assert figures.moves == 3 * 4 * 5 + 3 * 2
    assert set(figures.replies) == {0}
    assert figures.late == 0
    assert figures.commands == sum(figures.replies.values()) > figures.moves


@pytest.mark.parametrize("players", [["ann", "bob"], ["ann", "bob", "carl"]])
def test_a_missed_turn_is_noticed(players: list[str]) -> None:
    wire = Wire(players, 40, turns=40, init_hp=1000)

    class Slow:
        """A bot that sleeps through a turn now and then."""

        moves = 0

        def turn(self, state: State, time_ms: float | None = None) -> str:
            self.moves += 1
            if self.moves % 7 == 0:
                wire.missed = 1
            return "FINISH_BLOCK"

    figures = Player(wire, Slow(), turn_seconds=60).run()  # type: ignore[arg-type]
    assert set(figures.replies) == {0}
    # In each turn that was not missed, the player moves in one match against each opponent.
    assert figures.moves == figures.turns * (len(players) - 1)
    assert figures.turns + figures.moves // 7 >= 39


def test_only_one_match_is_left() -> None:
    wire = Wire(["ann", "bob"], 20, turns=20, init_hp=2)
    player = Player(wire, make_bot("rule"), turn_seconds=60)  # type: ignore[arg-type]
    moves = []
    while wire.ticks:
        if wire.ticks in (12, 9, 8, 3):
            wire.missed = 1
        before = player.figures.moves
        tournament = wire.series.tournament
        player.turn(wire.wait())
        tournament = wire.series.tournament
        if tournament is not None:
            ids = tournament.running("ann")
            replies = wire.request([f"GET_TURN_INFO {match}" for match in ids])
            assert player.figures.moves - before >= sum(r.lines[0][0] == "1" for r in replies)
        moves.append(player.figures.moves)
    assert set(player.figures.replies) == {0}
    assert moves[-1] > 5

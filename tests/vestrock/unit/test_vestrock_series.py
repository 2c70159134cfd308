"""Tournaments one after another, and the replay of their log."""

import contextlib
import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from helpers import raises
from vestrock_help import (
    COMMAND_LIMIT,
    LINE_LIMIT,
    Event,
    EventLog,
    ReplayError,
    Result,
    Series,
    encode,
    replay,
)

from vestrock import Card, generate_deck
from vestrock.protocol import parse

#: A creature that costs nothing and attacks for 5, and spells that hurt for 10.
DECK = [Card.parse(line) for line in ("1 C 5 1 1 0 0", "2 D 10 0 0 0 -1", "3 D 10 0 0 0 -1")]


class Kept:
    """A list of the results of tournaments, in memory."""

    def __init__(self) -> None:
        self.tournaments: list[tuple[int, list[Result], dict[str, float]]] = []

    def add(self, tournament: int, results: Iterable[Result], awards: Mapping[str, float]) -> None:
        self.tournaments.append((tournament, list(results), dict(awards)))


class Table:
    """A series with the results and events that it produces."""

    def __init__(self, deck: list[Card] | None = None, **options: Any) -> None:
        self.kept = Kept()
        self.events: list[Event] = []
        options = {"break_turns": 0, "parameters": {"turns": 4, "init_hp": 10}, **options}
        self.series = Series(
            lambda number: deck or generate_deck(number),
            self.kept.add,
            self.events.append,
            **options,
        )

    def tick(self, *present: str) -> None:
        self.series.tick(present or ("A", "B"))

    def do(self, player: str, line: str) -> str:
        return " / ".join(self.series.execute(player, parse(line.encode())))

    def log(self) -> list[bytes]:
        return [encode({"event": "server", "format": 1, "version": "x"})] + [
            encode(event) for event in self.events
        ]


def test_two_tournaments_with_a_break() -> None:
    table = Table(break_turns=2, number=5)
    assert table.do("A", "GET_MY_MATCHES") == "OK / 0 / "
    table.tick()
    assert table.do("A", "GET_MY_MATCHES") == "OK / 0 / "
    table.tick()
    assert table.do("A", "GET_MY_MATCHES") == "OK / 2 / 1 2"
    assert table.do("A", "GET_TURN_INFO 1") == "OK / 1 4"
    assert table.do("A", "GET_TURN_INFO 2") == "OK / 0 4"
    for _ in range(3):
        table.tick()
    assert table.do("B", "GET_TURN_INFO 1") == "OK / 1 1"
    assert table.do("A", "GET_FINAL_SCORE 1") == "ERR 933 GameHasNotEndedYet"
    table.tick()
    assert table.do("A", "GET_FINAL_SCORE 1") == "OK / 15 15"
    assert table.do("A", "GET_HP 1") == "ERR 932 GameHasEnded"
    assert table.do("A", "GET_MY_MATCHES") == "OK / 0 / "
    assert [number for number, _, _ in table.kept.tournaments] == [5]
    table.tick()
    assert table.series.tournament is None
    table.tick()
    # Ids continue, and the results of the previous tournament stay.
    assert table.do("A", "GET_MY_MATCHES") == "OK / 2 / 3 4"
    assert table.do("A", "GET_FINAL_SCORE 1") == "OK / 15 15"
    for _ in range(4 + 2):
        table.tick()
    assert table.do("A", "GET_MY_MATCHES") == "OK / 2 / 5 6"
    assert table.do("A", "GET_FINAL_SCORE 1") == "ERR 930 NotYourMatch"
    assert table.do("A", "GET_FINAL_SCORE 3") == "OK / 15 15"
    assert [number for number, _, _ in table.kept.tournaments] == [5, 6]
    decks = [event["deck"] for event in table.events if event["event"] == "tournament"]
    assert [deck[0] for deck in decks] == [str(generate_deck(number)[0]) for number in (5, 6, 7)]


def test_who_is_there_at_the_start_plays() -> None:
    table = Table(players=3)
    table.tick("A", "B")
    assert table.series.tournament is None
    table.tick("C", "A", "B")
    assert table.do("C", "GET_MY_MATCHES") == "OK / 4 / 3 4 5 6"
    assert table.do("D", "GET_MY_MATCHES") == "OK / 0 / "
    assert table.do("D", "GET_HP 1") == "ERR 930 NotYourMatch"
    assert table.do("C", "GET_HP 1") == "ERR 930 NotYourMatch"
    table.tick("A")  # players who leave stay in the tournament
    assert table.do("C", "GET_MY_MATCHES") == "OK / 4 / 3 4 5 6"


def test_no_more_tournaments_than_wanted() -> None:
    table = Table(tournaments=1)
    for _ in range(20):
        table.tick()
    assert len(table.kept.tournaments) == 1
    assert [event["event"] for event in table.events].count("tournament") == 1


def test_a_match_that_ends_in_mid_turn_leaves_the_list_at_once() -> None:
    table = Table([Card.parse("2 D 10 0 0 0 -1")])
    table.tick()
    assert table.do("A", "DRAW_CARD 1") == "OK / 2 D 10 0 0 0 -1"
    assert table.do("A", "PLAY_CARD 1 2 -6") == "OK"
    assert table.do("A", "GET_MY_MATCHES") == "OK / 1 / 2"
    assert table.do("B", "GET_MY_MATCHES") == "OK / 1 / 2"
    assert table.do("B", "GET_FINAL_SCORE 1") == "OK / -10 40"
    table.tick()
    assert [event["match"] for event in table.events if event["event"] == "result"] == [1]


def test_errors_change_nothing_and_are_answered_in_order() -> None:
    table = Table()
    table.tick()
    events = len(table.events)
    for line, reply in [
        ("FOO", "ERR 2 UnknownCommand"),
        ("GET_HP", "ERR 3 BadFormat"),
        ("GET_HP x", "ERR 3 BadFormat"),
        ("GET_HP 9", "ERR 930 NotYourMatch"),
        ("GET_HP -1", "ERR 930 NotYourMatch"),
        ("GET_HP 2", "ERR 913 NotYourTurn"),
        ("GET_FINAL_SCORE 1", "ERR 933 GameHasNotEndedYet"),
        ("BLOCK 1 5000 5000", "ERR 900 NoCardWithSuchId"),
    ]:
        assert table.do("A", line) == reply
    assert len(table.events) == events
    assert table.series.execute("A", 3) == ["ERR 3 BadFormat"]


def test_too_many_commands_until_the_next_turn() -> None:
    table = Table()
    table.tick()
    for _ in range(COMMAND_LIMIT):
        assert table.do("A", "GET_MY_MATCHES").startswith("OK")
    assert table.do("A", "GET_MY_MATCHES") == "ERR 6 CommandLimitReached"
    assert table.do("A", "DRAW_CARD 1") == "ERR 6 CommandLimitReached"
    assert table.do("A", "FOO") == "ERR 6 CommandLimitReached"
    assert table.do("B", "GET_TURN_INFO 1") == "OK / 0 4"
    table.tick()
    assert table.do("A", "GET_TURN_INFO 1") == "OK / 0 3"


def test_too_many_reply_lines_until_the_next_turn() -> None:
    table = Table(parameters={"turns": 4})
    table.tick()
    lines = commands = 0
    while lines < LINE_LIMIT:
        lines += len(table.series.execute("A", parse(b"GET_DECK 1")))
        commands += 1
    assert commands < COMMAND_LIMIT
    assert table.do("A", "GET_MY_MATCHES") == "ERR 6 CommandLimitReached"
    assert table.do("B", "GET_MY_MATCHES") == "OK / 2 / 1 2"
    table.tick()
    assert table.do("A", "GET_MY_MATCHES") == "OK / 2 / 1 2"


def test_a_fault_of_our_own_is_answered_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = Table()
    table.tick()

    def broken(*arguments: object) -> list[str]:
        raise ZeroDivisionError

    assert table.series.tournament is not None
    monkeypatch.setattr(table.series.tournament.matches[1], "execute", broken)
    assert table.do("A", "GET_HP 1") == "ERR 5 InternalError"
    assert "ZeroDivisionError" in caplog.text
    assert table.do("B", "GET_HP 2") == "OK / 10 10 10"


def test_a_deck_that_cannot_be_had_is_no_end(caplog: pytest.LogCaptureFixture) -> None:
    decks = [generate_deck(1)]

    def deck(number: int) -> list[Card]:
        if not decks:
            raise ValueError("no more decks")
        return decks.pop()

    kept = Kept()
    series = Series(deck, kept.add, lambda event: None, break_turns=0, parameters={"turns": 2})
    for _ in range(5):
        series.tick(["A", "B"])
    assert len(kept.tournaments) == 1
    assert "tournament 2 cannot start: no more decks" in caplog.text


# ----------------------------------------------------------------------------------------- replay


def random_game(table: Table, players: list[str], ticks: int, seed: int) -> None:
    """Play random commands, most of them legal ones."""
    rng = random.Random(seed)
    for _ in range(ticks):
        table.tick(*players)
        tournament = table.series.tournament
        if tournament is None:
            continue
        for id_, match in tournament.matches.items():
            for _ in range(rng.randrange(12)):
                if match.is_over:
                    break
                state = match.state
                action = rng.choice(state.legal_actions())
                text = state.action_to_string(action)
                if text.startswith("END"):
                    break
                word, *rest = text.split()
                table.do(match.players[state.mover], " ".join([word, str(id_), *rest]))
            table.do(rng.choice(players), f"DRAW_CARD {id_}")
            table.do(rng.choice(players), f"ATTACK {id_} {rng.randrange(1, 101)}")


@pytest.mark.parametrize("refused", [False, True])
def test_every_match_is_replayed_exactly(refused: bool) -> None:
    table = Table(parameters={"turns": 30, "init_hp": 6}, refused=refused)
    random_game(table, ["A", "B", "C"], 65, seed=1)
    table.series.close()
    done = replay(table.log())
    assert (done.tournaments, done.cut) == (2, 1)
    assert done.matches >= 12
    assert done.actions > 500
    assert refused == any(event["event"] == "refused" for event in table.events)


def test_an_action_that_ends_the_match_before_it_is_done_is_replayed() -> None:
    table = Table(DECK, parameters={"turns": 6, "init_hp": 4})
    table.tick()
    assert table.do("A", "DRAW_CARD 1") == "OK / 1 C 5 1 1 0 0"
    assert table.do("A", "PLAY_CARD 1 1 -1") == "OK"
    table.tick()
    table.tick()
    assert table.do("A", "ATTACK 1 1") == "OK"
    table.tick()
    # The attack kills B when the blocking phase ends, so no card is drawn.
    assert table.do("B", "DRAW_CARD 1") == "ERR 932 GameHasEnded"
    assert table.do("B", "DRAW_CARD 1") == "ERR 932 GameHasEnded"
    assert table.do("B", "GET_FINAL_SCORE 1") == "OK / -4 16"
    for _ in range(3):
        table.tick()
    assert len(table.kept.tournaments) == 1
    assert replay(table.log()).tournaments == 1


def changed(log: list[bytes], event: str, values: dict[str, Any]) -> list[bytes]:
    """Return the log with the first event of a kind changed."""
    lines = list(log)
    for i, line in enumerate(lines):
        data = json.loads(line)
        if data["event"] == event:
            lines[i] = encode({**data, **values})
            return lines
    raise AssertionError(f"no {event}")


@pytest.mark.parametrize(
    ("event", "values", "message"),
    [
        ("server", {"format": 2}, "line 1: format 2"),
        ("action", {"command": "DISCARD_CARD 1"}, "was accepted, now ERR"),
        ("action", {"match": 77}, "damaged event: KeyError"),
        ("action", {"turn": 9}, "turn: "),
        ("end_turn", {"turn": 9}, "turn: "),
        ("result", {"scores": [1, 2]}, "scores: "),
        ("result", {"state": "0"}, "state: "),
        ("result", {"players": ["A", "C"]}, "players: "),
        ("awards", {"awards": {"A": 0.5}}, "awards: "),
        ("awards", {"event": "prizes"}, "unknown event 'prizes'"),
        ("tournament", {"deck": ["1 C"]}, "damaged event: ValueError"),
        ("tournament", {"matches": [[1, "A", "C"]]}, "matches: "),
    ],
)
def test_a_changed_log_is_noticed(event: str, values: dict[str, Any], message: str) -> None:
    table = Table(parameters={"turns": 6})
    random_game(table, ["A", "B"], 14, seed=2)
    log = table.log()
    assert replay(log).tournaments == 2
    raises(ReplayError, message, replay, changed(log, event, values))


def test_a_missing_action_is_noticed() -> None:
    table = Table(parameters={"turns": 6})
    random_game(table, ["A", "B"], 8, seed=3)
    log = table.log()
    draws = [i for i, line in enumerate(log) if b'"DRAW_CARD"' in line]
    raises(ReplayError, "line ", replay, log[: draws[0]] + log[draws[0] + 1 :])


def test_a_log_without_its_end_counts_as_far_as_it_goes() -> None:
    table = Table()
    random_game(table, ["A", "B"], 7, seed=4)
    log = table.log()
    killed = [*log, b'{"event":"act']
    restarted = [*log, log[0]]
    gone_on = [*log, b'{"event":"act\n', log[0]]
    for lines in (killed, restarted, gone_on):
        assert replay(lines).tournaments == 1
    for damaged in ([*log, b'{"event":"act\n'], [*log, b'{"event":"act\n', log[1]]):
        raises(ReplayError, f"line {len(log) + 1}: no event", replay, damaged)
    raises(ReplayError, f"line {len(log) + 1}: no event", replay, [*log, b"{}\n"])


def test_the_log_is_appended_to_and_given_up_when_the_disk_is_full(tmp_path: Any) -> None:
    path, line = tmp_path / "log", '{"event":"server","format":1}'
    for _ in range(2):
        log = EventLog(path)
        log.add({"event": "server", "format": 1})
        with pytest.raises(OSError, match="another server writes to it") as caught:
            EventLog(path)
        assert caught.value.filename == path
        log.close()
        with path.open("ab") as file:
            file.write(b'{"event":"act')  # as a killed server leaves it
    assert path.read_text().splitlines() == [line, '{"event":"act', line, '{"event":"act']
    with contextlib.closing(EventLog("/dev/null")), contextlib.closing(EventLog("/dev/null")):
        pass  # a device may have any number of writers
    full = EventLog("/dev/full")
    heard: list[Event] = []
    full.listeners.append(heard.append)
    full.add({"event": "x"})
    full.flush()
    assert full.failure == "/dev/full: No space left on device"
    full.add({"event": "y"})
    full.close()
    assert heard == [{"event": "x"}, {"event": "y"}]

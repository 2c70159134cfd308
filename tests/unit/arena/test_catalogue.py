"""The catalogue of games in logs: what is taken, kept, listed and found again."""

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from helpers import log_line, match_of

from locmsim.arena.catalogue import Catalogue, LogPlace
from locmsim.arena.game_store import GameQuery, GameRow
from locmsim.arena.log_rows import FoundLog, LogScan


def row_of(first: str = "ann", second: str = "bob", **more: Any) -> GameRow:
    return GameRow((first, second), **{"winner": 0, "turns": 20, "rules": "1.5", **more})


def logs_of(*names: str, start: int = 0) -> list[FoundLog]:
    """Return logs of 10 bytes each, one a line, known by the name of the player."""
    return [
        FoundLog(10 * line, 10, line + 1, row_of(name), f"m{name}")
        for line, name in enumerate(names, start)
    ]


def listed(games: Catalogue, **query: Any) -> str:
    return "".join(game.names[0] for game in games.listed(GameQuery(**query)))


def test_logs_keep_their_place_in_the_list() -> None:
    """They do when their file is read again, from the beginning or from a place in it."""
    games = Catalogue()
    games.take("a.jsonl", logs_of("a", "b", "c"))
    games.take("b.jsonl", logs_of("d"))
    assert listed(games) == "dcba"
    games.take("a.jsonl", logs_of("x", "e", start=2), 20)
    assert listed(games) == "exdba"
    games.take("a.jsonl", logs_of("a", "b", "x"))
    assert listed(games) == "xdba"
    assert len(games) == 4
    assert games.places("mc") == []
    # One log under two names is one game as long as one of them has it.
    games.take("c.jsonl", logs_of("d", "a"))
    assert listed(games) == "xdba"
    assert games.places("ma") == [LogPlace("a.jsonl", 0, 10), LogPlace("c.jsonl", 10, 10)]
    games.take("a.jsonl", [])
    assert listed(games) == "da"
    games.take("c.jsonl", [])
    assert listed(games) == "d"


def test_the_parts_of_a_listed_game() -> None:
    games = Catalogue()
    fault = {"player": 1, "kind": "timeout", "message": "no answer"}
    other = row_of("dee", fault=fault, winner=None, rules=None, game="Nim")
    games.take("a.jsonl", [logs_of("ann")[0], FoundLog(10, 30, 7, other, "mn", "nim")])
    kept = [row_of("ann", number=1, key="mann"), other._replace(number=7, key="mn")]
    assert games.listed()[::-1] == [
        one._replace(source="a.jsonl", place=place) for place, one in enumerate(kept)
    ]
    assert (games.fault_kinds(), games.rule_sets()) == ({"timeout"}, {"1.5"})
    assert games.names() == ["ann", "bob", "dee"]
    assert listed(games, fault="any") == listed(games, players=["dee"]) == "dee"
    assert listed(games, lost_by="bob", rules="1.5") == "ann"
    assert listed(games, players=["bob", "dee"]) == "dee"
    assert games.places("mann") == [LogPlace("a.jsonl", 0, 10)]
    assert games.places("mn") == [LogPlace("a.jsonl", 10, 30, "nim", 7)]
    assert games.places("mx") == []


def test_games_that_were_played_come_before_those_in_files() -> None:
    games = Catalogue()
    for source, name in ("xa", "xb", "yc"):
        games.add(f"m{name}", row_of(name, source=source))
    games.take("a.jsonl", logs_of("d", "b"))
    assert [game.source for game in games.listed()] == ["y", "x", "x", "a.jsonl"]
    assert [game.number for game in games.listed()] == [None, None, None, 1]
    assert listed(games) == "cbad"
    # One of a file that was played as well stays without it.
    games.add("md", row_of("d", source="z"))
    games.take("a.jsonl", [])
    assert listed(games) == "dcba"


def test_games_that_are_running_come_first_and_go() -> None:
    games = Catalogue()
    games.add("ma", row_of("a"))
    running = [row_of(key[0], key=key, live="live") for key in ("l0", "g1")]
    for _ in range(2):
        games.run(running)
        assert listed(games) == "gla"
        assert [(game.key, game.live) for game in games.listed()] == [
            ("g1", "live"),
            ("l0", "live"),
            ("ma", ""),
        ]
    games.run([])
    assert listed(games) == "a"


def test_a_log_that_is_alone() -> None:
    games = Catalogue()
    alone = [FoundLog(0, 10, None, row_of(), "m1")]
    games.take("a.json", alone)
    assert (games.alone("a.json"), games.alone("b.json")) == ("m1", None)
    games.take("a.json", logs_of("a", "b"))
    assert games.alone("a.json") is None
    assert listed(games) == "ba"
    games.take("a.json", alone)
    assert (games.alone("a.json"), listed(games)) == ("m1", "ann")


def test_a_match_of_a_part_has_another_key_while_it_runs() -> None:
    games = Catalogue()
    part = [FoundLog(5, 90, n, row_of(f"{n}"), server="nim") for n in (1, 2)]
    games.take("a.jsonl", part)
    assert listed(games) == "21"
    keys = [game.key for game in games.listed()]
    more = [one._replace(size=95, row=one.row._replace(turns=21, winner=1)) for one in part]
    games.take("a.jsonl", more, 5)
    assert [(game.key, game.turns, game.winner) for game in games.listed()] == [
        (key, 21, 1) for key in keys
    ]
    games.take("a.jsonl", [one._replace(key=f"m{one.line}") for one in more], 5)
    assert [game.key for game in games.listed()] == ["m2", "m1"]
    for now, earlier in zip(("m2", "m1"), keys, strict=True):
        assert games.places(now) == games.places(earlier) != []


def test_a_damaged_row_changes_nothing() -> None:
    games = Catalogue()
    games.take("a.jsonl", logs_of("a"))
    with pytest.raises(KeyError):
        games.take("a.jsonl", [*logs_of("b"), FoundLog(10, 10, 2, row_of(fault={"kind": 1}), "m")])
    assert listed(games) == "a"
    assert games.places("mb") == []


def scan(text: str, *place: int) -> LogScan:
    file = io.BytesIO(text.encode())
    file.seek(place[0] if place else 0)
    return LogScan(file, *place)


def test_scans_of_files() -> None:
    lines = [log_line(match_of(seed=seed), (f"a{seed}", "b")) + "\n" for seed in range(3)]

    def names(found: Sequence[FoundLog]) -> list[tuple[int, int | None, str]]:
        return [(one.start, one.line, one.row.names[0]) for one in found]

    ends = [0, len(lines[0]), len(lines[0] + lines[1]), len("".join(lines))]
    many = scan("".join(lines))
    assert names(many.found) == [(ends[i], i + 1, f"a{i}") for i in range(3)]
    assert (many.end, many.error, many.bytes_read) == ((ends[3], 3), None, ends[3])
    rest = scan("".join(lines), ends[1], 1)
    assert names(rest.found) == [(ends[i], i + 1, f"a{i}") for i in (1, 2)]
    assert (rest.end, rest.bytes_read) == ((ends[3], 3), ends[3] - ends[1])
    for text in (lines[1], json.dumps(json.loads(lines[1]), indent=1), lines[1] + "1 0\n"):
        alone = scan(text)
        assert names(alone.found) == [(0, None, "a1")]
        assert (alone.end, alone.error) == (None, None)
    broken = scan(lines[0] + lines[1] + '{"outputs": 3}\n' + lines[2])
    assert names(broken.found) == [(0, 1, "a0"), (ends[1], 2, "a1")]
    assert isinstance(broken.error, ValueError)
    assert broken.end is not None
    assert broken.end[0] == ends[2]


def test_the_key_of_a_log() -> None:
    """It is that of its bytes, whatever stands beside it."""
    lines = [log_line(match_of(seed=seed)) for seed in range(2)]
    (alone,) = scan(lines[0]).found
    assert [one.key for one in scan("\n".join(lines)).found][:1] == [alone.key]
    assert scan(f"  {lines[0]}\n\n").found[0].key == alone.key
    assert scan(lines[1]).found[0].key != alone.key
    assert len(alone.key) == 17

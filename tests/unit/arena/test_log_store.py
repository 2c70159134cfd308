"""A store of games in logs: what is taken, kept, listed and found again."""

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from helpers import match_of

from locmsim.arena.game_store import Ending, GameQuery
from locmsim.arena.log_rows import FoundLog, LogScan
from locmsim.arena.log_store import LogFile, LogPlace, LogStore
from locmsim.referee.transcript import log_line


def row_of(first: str = "ann", second: str = "bob", **more: Any) -> dict[str, Any]:
    row = {"winner": 0, "turns": 20, "rules": "1.5", "game": "", "fault": None}
    return {"names": [first, second], **row, **more}


def logs_of(*names: str, start: int = 0) -> list[FoundLog]:
    """Return logs of 10 bytes each, one a line."""
    return [
        FoundLog(10 * line, 10, line + 1, row_of(name)) for line, name in enumerate(names, start)
    ]


def listed(store: LogStore, **query: Any) -> list[tuple[int, str]]:
    return [(game.number, game.names[0]) for game in store.listed(GameQuery(**query))]


def file_of(count: int, path: str = "a.jsonl") -> LogFile:
    return LogFile(path, count, 10 * count, (10 * count, count))


def test_logs_keep_their_numbers() -> None:
    """They do when their file is read again, from the beginning or from a place in it."""
    store = LogStore()
    store.take(file_of(3), logs_of("a", "b", "c"))
    store.take(file_of(1, "b.jsonl"), logs_of("d"))
    assert listed(store) == [(3, "d"), (2, "c"), (1, "b"), (0, "a")]
    store.take(file_of(4), logs_of("x", "e", start=2), 20)
    assert listed(store) == [(4, "e"), (3, "d"), (2, "x"), (1, "b"), (0, "a")]
    store.take(file_of(2), logs_of("a", "b"))
    assert listed(store) == [(3, "d"), (1, "b"), (0, "a")]
    store.take(file_of(3), logs_of("a", "b", "c"))
    # The number of one that was gone is not given again.
    assert listed(store) == [(5, "c"), (3, "d"), (1, "b"), (0, "a")]
    assert (store.count, len(store), store.last()) == (6, 4, 5)
    assert store.file("a.jsonl") == file_of(3)
    assert store.file("none") is None


def test_the_parts_of_a_listed_game() -> None:
    store = LogStore()
    fault = {"player": 1, "kind": "timeout", "message": "no answer"}
    other = row_of("dee", fault=fault, winner=None, rules=None, game="Nim", server="nim")
    store.take(file_of(2), [logs_of("ann")[0], FoundLog(10, 30, 7, other)])
    second, first = store.listed()
    assert first == (0, ("ann", "bob"), 0, 20, None, "1.5", "", "a.jsonl", 1)
    assert second == (
        *(1, ("dee", "bob"), None, 20, (1, "timeout", "no answer"), None, "Nim", "a.jsonl", 7),
    )
    assert store.endings() == [
        Ending(1, (3, 2), None, 20, (1, "timeout")),
        Ending(0, (1, 2), 0, 20, None),
    ]
    assert (store.fault_kinds(), store.rule_sets()) == ({"timeout"}, {"1.5"})
    assert store.names() == ["ann", "bob", "dee"]
    assert listed(store, fault="any") == listed(store, players=[3]) == [(1, "dee")]
    assert listed(store, lost_by=2, rules="1.5") == [(0, "ann")]
    assert store.place(0) == (LogPlace("a.jsonl", 0, 10, 2), file_of(2))
    assert store.place(1) == (LogPlace("a.jsonl", 10, 30, 2, "nim", 7), file_of(2))
    with pytest.raises(LookupError, match="number 2"):
        store.place(2)


def test_games_without_a_file() -> None:
    store = LogStore()
    assert [store.add(source, row_of(name)) for source, name in ("xa", "xb", "yc")] == [0, 1, 2]
    assert [game.source for game in store.listed()] == ["y", "x", "x"]
    assert [game.place for game in store.listed()] == [None] * 3


def test_a_log_that_is_alone() -> None:
    store = LogStore()
    alone = [FoundLog(0, 10, None, row_of())]
    store.take(LogFile("a.json", 1, 10, None), alone)
    assert (store.alone("a.json"), store.alone("b.json")) == (0, None)
    store.take(LogFile("a.json", 2, 20, (20, 2)), logs_of("a", "b"))
    assert store.alone("a.json") is None
    assert listed(store) == [(1, "b"), (0, "a")]
    store.take(LogFile("a.json", 3, 10, None), alone)
    assert (store.alone("a.json"), listed(store)) == (0, [(0, "ann")])


def test_games_of_a_part_keep_their_numbers() -> None:
    store = LogStore()
    part = [FoundLog(5, 90, number, row_of(f"m{number}", server="nim")) for number in (1, 2)]
    store.take(file_of(9), part[:1])
    store.take(LogFile("a.jsonl", 10, 95, (5, 1)), part[::-1], 5)
    assert listed(store) == [(1, "m2"), (0, "m1")]


def test_a_damaged_row_changes_nothing() -> None:
    store = LogStore()
    store.take(file_of(1), logs_of("a"))
    with pytest.raises(KeyError):
        store.take(file_of(2), [*logs_of("b"), FoundLog(10, 10, 2, {"names": ["c", "d"]})])
    assert listed(store) == [(0, "a")]
    assert store.file("a.jsonl") == file_of(1)


def scan(text: str, *place: int) -> LogScan:
    file = io.BytesIO(text.encode())
    file.seek(place[0] if place else 0)
    return LogScan(file, *place)


def test_scans_of_files() -> None:
    lines = [log_line(match_of(seed=seed), (f"a{seed}", "b")) + "\n" for seed in range(3)]

    def names(found: Sequence[FoundLog]) -> list[tuple[int, int | None, str]]:
        return [(one.start, one.line, one.row["names"][0]) for one in found]

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

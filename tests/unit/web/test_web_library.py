"""The list of games: its filters, and that neither they nor reading slow down with more games."""

import itertools
import json
import os
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers import (
    GameQuery,
    Store,
    each_rules,
    golden_games,
    golden_result,
    log_line,
    main,
    match_of,
    opened_databases,
    raises,
    wait_for,
    write_log,
)
from web_client import Client, Library

import locmsim
from locmsim.arena import Arena
from locmsim.arena.catalogue import Catalogue
from locmsim.arena.follow import ResultsReader
from locmsim.arena.log_rows import log_row
from locmsim.contract import Fault, FaultKind
from locmsim.web.log_files import LogFiles


def results_of(path: Path, games: int) -> Path:
    """Create a file of results: two games repeated with other turns, winners and faults."""
    with Arena(path, ["one=greedy", "two=random"], games=2, seed=4) as arena:
        arena.run(jobs=1)
        records = [arena.record(number) for number in (2, 1)]
    with Store(path, write=True) as store:
        store.add_all([variant(records[number & 1], number) for number in range(3, games + 1)])
    return path


def variant(record: Any, number: int) -> Any:
    """Return a copy of a game with another number and another end."""
    rng = random.Random(number)
    winner = rng.randrange(2)
    fault = None
    if rng.random() < 0.01:
        fault = Fault(1 - winner, rng.choice([*FaultKind]), "")
    outcome = record.outcome._replace(
        number=number,
        winner=winner,
        scores=(int(winner == 0), int(winner == 1)),
        turns=min(max(6, round(rng.gauss(35, 12))), 100),
        fault=fault,
    )
    return record._replace(fixture=record.fixture._replace(number=number), outcome=outcome)


def make_logs(path: Path, games: int) -> None:
    """Create a file of logs, one per line."""
    line = json.loads(log_line(match_of(), ("one", "two")))
    with path.open("w", encoding="utf-8") as file:
        for number in range(games):
            rng = random.Random(number)
            # A list reads who played, the scores and how many answers there were.
            times = "".join(
                f"$0 1ns at turn {i}\n" for i in range(max(8, round(rng.gauss(37, 12))))
            )
            log = {
                **line,
                "number": number,
                "summaries": [times],
                "scores": {"0": number & 1, "1": 1 - (number & 1)},
                "errors": {},
                "outputs": {},
                "views": [],
            }
            file.write(json.dumps(log) + "\n")


def test_two_players_of_one_name_are_told_apart_by_seat() -> None:
    library = Library()
    library.add(match_of(), ("ann", "ann"))
    library.add(match_of(), ("ann", "bob"))
    rows = library.matches(GameQuery(players=["ann"]))["matches"]
    assert [row["names"] for row in rows] == [["ann", "bob"], ["ann (first)", "ann (second)"]]
    assert library.choices()["players"] == ["ann", "bob"]


# ------------------------------------------------------------------------------ what is read


def bytes_of(work: Callable[..., object], *words: Any) -> int:
    """Return how many bytes this process reads from files to do something."""

    def read() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    cost = read()
    cost = read() - cost  # without the cost of `read` itself
    before = read()
    work(*words)
    return read() - before - cost


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="needs /proc")
def test_a_list_and_a_click_cost_the_same_in_a_large_file(tmp_path: Path) -> None:
    small = Library(dbs=[str(results_of(tmp_path / "small.db", 100))])
    large = Library(dbs=[str(results_of(tmp_path / "large.db", 20_000))])
    assert os.path.getsize(large.dbs[0]) > 50 * os.path.getsize(small.dbs[0])

    def more(work: Callable[[Any], object], of: Sequence[Any] = (small, large)) -> int:
        """Return how many bytes more are read of the large one."""
        few, many = (bytes_of(work, one) for one in of)
        return many - few

    filters = [
        GameQuery(),
        GameQuery(players=["one"]),
        GameQuery(lost_by="two"),
        GameQuery(fault="any"),
        GameQuery(least=500),
        GameQuery(players=["two"], least=500),
        GameQuery(least=10, most=80),
        GameQuery(players=["one"], lost_by="two", least=60),
    ]
    for wanted in filters:
        cost = more(lambda library: library.matches(wanted))  # noqa: B023
        # 100 rows of 100 games and of 20,000. Those with so many turns take all of the index, and
        # the message of each fault is in a page of its own in the table.
        found = large.matches(wanted)["matches"]
        faults = sum(row["fault"] is not None for row in found)
        index = 40 * 20_000 if len(found) < 100 else 0
        assert cost < 300_000 + index + 4096 * faults, wanted
    for click in ("d0:1", "d0:2"):
        assert more(lambda library: library.load(click)) < 50_000  # noqa: B023
    assert more(Library.choices) < 50_000
    # The tables of the page Arena: sums at 64 places in the file, each on a page of its own, and
    # the games behind them.
    readers = [ResultsReader(lib.dbs[0]) for lib in (small, large)]
    assert more(ResultsReader.update, readers) < 400_000
    assert [reader.games_read for reader in readers] == [100, 20_000 % 16]
    assert more(ResultsReader.update, readers) < 50_000


QUERIES = [
    {**who, **what}
    for who in (
        {},
        {"players": ["one"]},
        {"lost_by": "two"},
        {"players": ["one", "two"]},
        {"players": ["one"], "lost_by": "two"},
    )
    for what in (
        {},
        {"fault": "any"},
        {"fault": "none"},
        {"fault": "timeout"},
        {"least": 20, "most": 60},
        {"fault": "crashed", "most": 30},
    )
]


def test_questions_to_results_use_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query reads an index that has all columns of a list, in its order."""
    path = results_of(tmp_path / "results.db", 500)
    asked: list[str] = []
    databases = opened_databases(monkeypatch)
    with Store(path) as store:
        (database,) = databases
        database.set_trace_callback(asked.append)
        for number, query in enumerate(QUERIES, 1):
            store.listed(GameQuery(**query), count=101)
            assert len(asked) == number, query  # one question, whatever a filter leaves open
        for query in QUERIES:
            store.listed(GameQuery(**query), 5)
        assert store.fault_kinds()
        store.game(3)
        database.set_trace_callback(None)
        plans = {
            query: [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {query}")]
            for query in asked
            if query.startswith(("SELECT", "WITH")) and " games " in query
        }
    assert len(plans) >= 60
    for query, steps in plans.items():
        for step in steps:
            assert of_an_index(step), (query, step)
            if "INDEXED BY" in query and "games" in step:
                assert "USING COVERING INDEX" in step, (query, step)


def of_an_index(step: str) -> bool:
    """Return whether a step of a plan reads one range of an index, in its order."""
    # Looking for the least value reads one entry, and scans of subqueries read no table.
    return "TEMP B-TREE" not in step and not (
        step.startswith(("SCAN games", "SCAN places", "SCAN players")) and "INDEX" not in step
    )


def test_questions_to_logs_use_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "many.jsonl"
    make_logs(path, 300)
    databases = opened_databases(monkeypatch)
    library = Library([str(path)])
    library.matches()
    store, asked = library.catalogue, list[str]()
    (database,) = databases
    database.set_trace_callback(asked.append)
    for query in QUERIES:
        for rules in ("", "1.5"):
            found = store.listed(GameQuery(**query, rules=rules), count=101)
            assert len(found) <= 101
    assert (store.names(), store.rule_sets(), store.fault_kinds()) == (
        ["one", "two"],
        {"1.5"},
        set(),
    )
    (first,) = store.listed(count=1)
    assert [place.path for place in store.places(first.key)] == [str(path)]
    assert store.alone(str(path)) is None
    database.set_trace_callback(None)
    assert len({*asked}) >= 64
    for query in {*asked}:
        for *_, step in database.execute(f"EXPLAIN QUERY PLAN {query}"):
            assert of_an_index(step), (query, step)


def test_the_pages_have_no_database_of_their_own() -> None:
    """All games that are over are listed and found by the stores of the arena."""
    for path in Path(locmsim.__file__).parent.joinpath("web").glob("*.py"):
        assert not re.search("sqlite3|SELECT |CREATE TABLE", path.read_text()), path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["results", "logs"])
def test_filters_take_what_fits(kind: str, tmp_path: Path) -> None:
    """Every filter selects the games that a plain check of all games does, in pages of any size."""
    if kind == "results":
        library = Library(dbs=[str(results_of(tmp_path / "results.db", 400))])
    else:
        path = tmp_path / "many.jsonl"
        make_logs(path, 400)
        library = Library([str(path)])
    everything = library.matches(count=1000)["matches"]
    assert len(everything) == 400
    combinations = itertools.product(
        ["", "one", "two"],
        ["", "one", "nobody"],
        ["", "any", "none", "timeout"],
        [(None, None), (30, None), (None, 20), (33, 33), (90, 10)],
        ["", "1.5"],
    )
    taken = set()
    for number, (player, lost_by, fault, turns, rules) in enumerate(combinations):
        wanted = GameQuery([*filter(None, [player])], lost_by, fault, *turns, rules)
        found: list[Any] = []
        after = ""
        while after is not None:
            part = library.matches(wanted, after, [100, 7, 1000][number % 3])
            found += part["matches"]
            after = part["next"]
        assert found == [row for row in everything if takes(wanted, row)], wanted
        taken.add(len(found))
    assert len(taken) > 5


def takes(wanted: GameQuery, row: dict[str, Any]) -> bool:
    """Return whether a row is wanted, as a plain check of each condition."""
    names, winner, turns = row["names"], row["winner"], row["turns"]
    kind = row["fault"]["kind"] if row["fault"] else None
    return (
        all(name in names for name in wanted.players)
        and wanted.lost_by in ("", *([] if winner is None else [names[1 - winner]]))
        and wanted.fault in ("", *(["any", kind] if kind else ["none"]))
        and (wanted.least is None or turns >= wanted.least)
        and (wanted.most is None or turns <= wanted.most)
        and wanted.rules in ("", row["rules"])
    )


def test_a_game_between_two_of_one_name_is_listed_once(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = json.loads(log_line(match_of(), ("same", "same")))
    path.write_text("".join(json.dumps({**log, "number": i}) + "\n" for i in range(150)))
    library = Library([str(path)])
    for wanted in (
        GameQuery(players=["same"]),
        GameQuery(players=["same"], lost_by="same"),
        GameQuery(fault="none"),
    ):
        part = library.matches(wanted)
        rest = library.matches(wanted, part["next"], 50)
        rows = part["matches"] + rest["matches"]
        assert (len(part["matches"]), rest["next"]) == (100, None)
        assert [row["number"] for row in rows] == [*range(150, 0, -1)], wanted
        assert len({row["key"] for row in rows}) == 150


def test_places_that_no_list_had(tmp_path: Path) -> None:
    library = Library(dbs=[str(results_of(tmp_path / "results.db", 2))])
    for after in ("x", "d0", "d1:3", "d0:x", "d0:-1", "f0"):
        raises(ValueError, "there is no place", library.matches, after=after)


# ------------------------------------------------------------------------------------- logs


@each_rules
def test_rows_of_logs_are_those_of_their_matches(rules: str) -> None:
    for game in golden_games(rules, slice(None, None, 7)):
        result = golden_result(game)
        for known in (True, False):
            log = json.loads(log_line(result, ("ann", "bob")))
            if not known:  # as in logs of the Java referee
                del log["locmsim"]
            row = log_row(log)
            assert row.names == ["ann", "bob"]
            assert row.winner == result.winner
            assert (row.fault and row.fault["player"]) == (result.fault and result.fault.player)
            if result.fault:
                assert row.fault["kind"] == str(result.fault.kind)
            if known or rules == "1.5":
                assert row.rules == rules
            assert row.turns == result.turns


def test_files_and_folders_are_read_once(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for seed in range(3):
        write_log(folder / f"{seed}.json", match_of(seed=seed), (f"a{seed}", "b"))
    (folder / "notes.txt").write_text("no log")
    (folder / "bad.json").write_text("{")
    many = tmp_path / "many.jsonl"
    lines = [log_line(match_of(seed=seed), ("many", f"b{seed}")) + "\n" for seed in range(8)]
    many.write_text("".join(lines))
    pretty = tmp_path / "pretty.json"
    pretty.write_text(json.dumps(json.loads(lines[3]), indent=1))
    library = Library([str(folder), str(many), str(pretty)])
    found = library.matches()
    assert len(found["matches"]) == 12
    assert "bad.json" in found["errors"][0]
    read = library.logs.files_read, library.logs.bytes_read
    assert library.matches() == found
    for game in found["matches"]:
        result, names = library.load(game["key"])
        assert [*names] == game["names"]
        assert (result.winner, result.turns) == (game["winner"], game["turns"])
    # The index was not read again, and only the requested log of a file with many.
    assert (library.logs.files_read, library.logs.bytes_read) == read
    (place,) = library.catalogue.places(found["matches"][1]["key"])
    assert place.size in map(len, lines)
    # A new file is found, and old ones are not read again.
    write_log(folder / "new.json", match_of(seed=9), ("new", "b"))
    found = library.matches(GameQuery(players=["new"]))
    assert (len(found["matches"]), library.logs.files_read) == (1, read[0] + 1)
    assert len(library.matches(GameQuery(lost_by="many"))["matches"]) == sum(
        match_of(seed=seed).winner == 1 for seed in range(8)
    )
    assert "a1" in library.choices()["players"]


def test_many_files_are_read_beside(tmp_path: Path) -> None:
    log = json.loads(log_line(match_of()))
    for number in range(250):
        (tmp_path / f"{number}.json").write_text(json.dumps({**log, "number": number}))
    changes: list[int] = []
    games = Catalogue()
    logs = LogFiles([str(tmp_path)], games, lambda: changes.append(len(games)))
    logs.refresh()
    assert len(games) >= 100
    wait_for(lambda: not logs.reading)
    assert (len(games), logs.files_read) == (250, 250)
    assert changes[-1] == 250


def test_names_that_are_no_text_are_listed(tmp_path: Path) -> None:
    """Lone surrogates, in the name of a player or of a file, hide no log."""
    log = json.loads(log_line(match_of(), ("ann", "bob")))
    log["agents"][0]["name"] = "x\ud800"
    (tmp_path / "odd.json").write_text(json.dumps(log))
    with open(os.fsencode(tmp_path) + b"/\xff.json", "w") as file:
        file.write(log_line(match_of(), ("cid", "dan")))
    library = Library([str(tmp_path)])
    found = library.matches()
    assert found["errors"] == []
    assert sorted(row["names"] for row in found["matches"]) == [["cid", "dan"], ["x\ud800", "bob"]]
    for row in found["matches"]:
        assert library.load(row["key"])[0].turns == row["turns"]
    assert len(library.matches(GameQuery(players=["x\ud800"]))["matches"]) == 1


def test_a_log_gets_company_and_loses_it(tmp_path: Path) -> None:
    """A file is read as it is each time: with one log, with a second one, with a shorter one."""
    path = tmp_path / "all.jsonl"
    lines = [log_line(match_of(seed=seed), (f"a{seed}", "b")) + "\n" for seed in range(4)]
    library = Library([str(path)])
    texts = [lines[0], lines[0] + lines[1], json.dumps(json.loads(lines[2]), indent=1)]
    texts += [lines[3], lines[3] + lines[0] + lines[1] + lines[2]]
    for text, names in zip(texts, ["0", "10", "2", "3", "2103"], strict=True):
        path.write_text(text)
        rows = library.matches()["matches"]
        assert sorted(row["names"][0] for row in rows) == sorted(f"a{name}" for name in names)
        assert (library.catalogue.alone(str(path)) is None) == (len(names) > 1)
        for row in rows:
            assert [*library.load(row["key"])[1]] == row["names"]


def test_games_are_known_by_their_content(tmp_path: Path) -> None:
    """Two logs of one name are two games, and one log under two names is one."""
    folder, other = tmp_path / "a", tmp_path / "b"
    lines = [log_line(match_of(seed=seed), (f"a{seed}", "b")) for seed in range(3)]
    for place, line in ((folder, lines[0]), (other, lines[1])):
        place.mkdir()
        (place / "log.json").write_text(line)
    (folder / "copy.json").write_text(lines[0] + "\n")
    (other / "many.jsonl").write_text("\n".join(lines))
    library = Library([str(folder), str(other)])
    keys = {row["names"][0]: row["key"] for row in library.matches()["matches"]}
    assert len(library.matches()["matches"]) == len({*keys.values()}) == len(keys) == 3
    assert Library([str(other)]).load(keys["a0"])[1] == ("a0", "b")  # in another process, too
    # It is there as long as one of the files is.
    for path in (folder / "log.json", folder / "copy.json"):
        assert library.load(keys["a0"])[1] == ("a0", "b")
        path.unlink()
    assert library.any_match(keys["a0"])["names"] == ["a0", "b"]
    # What was opened here and is in a file is one game, and stays when the file has another one.
    result = match_of(seed=1)
    key = library.add(result, ("a1", "b"), log=lines[1], path=str(other / "log.json"))
    assert key == keys["a1"]
    assert library.load(key)[0] is not result  # it is read from its file
    (other / "many.jsonl").write_text(lines[2])
    (other / "log.json").write_text(lines[2])
    rows = library.matches()["matches"]
    assert [row["names"][0] for row in rows if row["key"] != keys["a0"]] == ["a1", "a2"]
    raises(ValueError, "there is no match", Library([str(other)]).any_match, keys["a0"])


def test_a_file_in_a_folder_that_changes_is_read_at_the_next_list(tmp_path: Path) -> None:
    """Also if the folder itself is as before."""
    path = tmp_path / "a.json"
    write_log(path, match_of(seed=1), ("a", "b"))
    library = Library([str(tmp_path)])
    (row,) = library.matches()["matches"]
    assert library.load(row["key"])[0] is library.load(row["key"])[0]
    before = os.stat(tmp_path).st_mtime_ns
    write_log(path, match_of(seed=2), ("c", "d"))
    assert os.stat(tmp_path).st_mtime_ns == before
    (now,) = library.matches()["matches"]
    assert (now["names"], library.logs.files_read) == (["c", "d"], 2)
    assert library.load(now["key"])[0].match.params["seed"] == 2
    # Two logs of one name are two games; the first one is in no file any more.
    raises(ValueError, "there is no match", library.any_match, row["key"])


# ------------------------------------------------------------------------------------- pages


def test_the_list_tells_when_it_grows(tmp_path: Path) -> None:
    db = results_of(tmp_path / "results.db", 4)
    with Client((), [db]) as page:
        get, library = page.get, page.library
        found = get("/api/matches", count=3)
        assert (len(found["matches"]), found["next"]) == (3, "d0:2")
        assert [game["key"] for game in get("/api/matches", after="d0:2")["matches"]] == ["d0:1"]
        assert get("/api/matches", 400, count=0)["error"] == "count: expected 1 to 500, got 0"
        assert get("/api/matches/choices")["players"] == ["one", "two"]
        known = get("/api/news", topics="matches")
        library.add(match_of(), ("a", "b"))
        wait_for(lambda: get("/api/news", topics="matches") != known)
        # The stamp changes when another process writes to the file.
        stamp = library.stamp()
        assert stamp == library.stamp()
        with Store(db, write=True) as store:
            record = store.game(1)
            again = record._replace(
                fixture=record.fixture._replace(number=5),
                outcome=record.outcome._replace(number=5),
            )
            store.add_all([again])
        assert library.stamp() != stamp


DAMAGED: list[Any] = [
    {"rules": {"a": 1}},
    {"rules": [1]},
    {"rules": "3.0"},
    {"winner": {}},
    {"fault": {"player": 7, "kind": [], "message": 3}},
]


def test_a_malformed_log_is_an_error_of_its_own(tmp_path: Path) -> None:
    """Whatever a file holds, the list has the others, before and after the file has gone."""
    good = tmp_path / "good.json"
    write_log(good, match_of(), ("ann", "bob"))
    log = json.loads(log_line(match_of()))
    (tmp_path / "vestrock.json").write_text("")
    words = ["--game", "vestrock:turns=4", "rule", "random", "--seed", "1"]
    assert main(["play", *words, "-l", str(tmp_path / "vestrock.json")]) == 0
    other = json.loads((tmp_path / "vestrock.json").read_text())
    texts = ['{"event": "tournament"}', '{"event": "tournament", "matches": 3}']
    texts += ['{"event": "tournament", "matches": [[{}, [], 1]]}', "{}", "[]", "[" * 5000]
    for damage in DAMAGED:
        texts.append(json.dumps({**other, **damage}))
        texts.append(json.dumps({**log, "locmsim": {**log["locmsim"], **damage}}))
        texts.append(json.dumps({**log, **damage}))
    for number, text in enumerate(texts):
        (tmp_path / f"bad{number:02}.json").write_text(text)
    with Client([tmp_path]) as page:
        for again in range(2):
            listed = page.get("/api/matches")
            assert ["ann", "bob"] in [row["names"] for row in listed["matches"]]
            bad = [error for error in listed["errors"] if "bad" in error]
            assert again or any("bad01.json: line 1: a damaged event" in error for error in bad)
            assert again or any("unknown rules {'a': 1}" in error for error in bad)
            for path in tmp_path.glob("bad*"):
                path.unlink()


def test_a_dropped_log_has_a_name_and_no_file(tmp_path: Path) -> None:
    """One named like a file of the server is the match that was dropped, and hides no other."""
    here, there = match_of(seed=1), match_of(seed=2)
    path = tmp_path / "a.json"
    write_log(path, here, ("here", "b"))
    with Client([path]) as page:
        data = {"text": log_line(there, ("dropped", "b")), "name": str(path)}
        key = page.post("/api/match/open", **data)["match"]
        assert page.get("/api/match", match=key)["names"][0] == "dropped"
        rows = page.get("/api/matches")["matches"]
    assert sorted(row["names"][0] for row in rows) == ["dropped", "here"]

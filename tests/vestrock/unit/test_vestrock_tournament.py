"""Pairs, ranks, awards and standings of Vestrock."""

import random
import sqlite3
from pathlib import Path

import pytest
from helpers import full_disk, opened_databases, raises
from hypothesis import given
from hypothesis import strategies as st
from vestrock_help import (
    Result,
    Standing,
    Standings,
    StandingsError,
    Tournament,
    awards,
    format_standings,
    pairs,
    ranks,
    standings,
)

from vestrock import generate_deck

#: The example in the rules: scores of six matches and the points that they give.
EXAMPLE = [
    Result(1, ("A", "B"), (36, -6)),
    Result(2, ("B", "A"), (18, 12)),
    Result(3, ("A", "C"), (40, -10)),
    Result(4, ("C", "A"), (15, 15)),
    Result(5, ("B", "C"), (36, -6)),
    Result(6, ("C", "B"), (31, -1)),
]
EXAMPLE_RANKS = {-10: 0, -6: 1, -1: 3, 12: 4, 15: 5, 18: 7, 31: 8, 36: 9, 40: 11}
EXAMPLE_AWARDS = {"A": "82.6632", "B": "51.7164", "C": "34.8078"}


def test_the_example_of_the_rules() -> None:
    scores = [score for result in EXAMPLE for score in result.scores]
    assert ranks(scores) == EXAMPLE_RANKS
    assert {player: f"{award:.4f}" for player, award in awards(EXAMPLE).items()} == EXAMPLE_AWARDS


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=40))
def test_a_rank_is_the_number_of_smaller_scores(scores: list[int]) -> None:
    assert ranks(scores) == {s: sum(other < s for other in scores) for s in scores}


def test_equal_scores_are_worth_nothing() -> None:
    results = [Result(1, ("A", "B"), (15, 15)), Result(2, ("B", "A"), (15, 15))]
    assert awards(results) == {"A": 0.0, "B": 0.0}


def test_every_two_players_meet_twice_in_the_order_of_names() -> None:
    assert pairs(["c", "a", "b"]) == [
        ("a", "b"),
        ("b", "a"),
        ("a", "c"),
        ("c", "a"),
        ("b", "c"),
        ("c", "b"),
    ]
    assert len(pairs(str(i) for i in range(30))) == 870


def test_equal_sums_share_a_place() -> None:
    table = standings([{"a": 1.0, "b": 2.0, "c": 0.1}, {"a": 1.0, "c": 0.2, "d": 0.25}, {"c": 0.3}])
    assert [(row.place, row.player, row.tournaments) for row in table] == [
        (1, "a", 2),
        (1, "b", 1),
        (3, "c", 3),
        (4, "d", 1),
    ]
    assert table[2].total == 0.6  # exactly: 0.1 + 0.2 + 0.3 added naively is 0.6000000000000001


def test_a_tournament_to_its_end() -> None:
    tournament = Tournament(
        7, generate_deck(1), ["b", "c", "a"], {"turns": 4, "init_hp": 10}, first_id=100
    )
    assert tournament.players == ["a", "b", "c"]
    assert list(tournament.matches) == [100, 101, 102, 103, 104, 105]
    assert tournament.running("b") == [100, 101, 104, 105]
    assert tournament.running("x") == []
    assert {id(match.state.table) for match in tournament.matches.values()} == {
        id(tournament.table)
    }
    raises(ValueError, "not over", tournament.awards)
    for turn in range(1, 4):
        assert tournament.turn == turn
        assert tournament.end_turn() == []
    results = tournament.end_turn()
    assert [result.scores for result in results] == [(15, 15)] * 6
    assert tournament.over
    assert tournament.running("b") == []
    assert tournament.end_turn() == []
    assert tournament.awards() == {"a": 0.0, "b": 0.0, "c": 0.0}


@pytest.mark.parametrize(
    ("players", "parameters", "message"),
    [
        (["a"], {}, "at least two"),
        (["a", "b", "a"], {}, "twice"),
        (["a", "b"], {"turns": 3}, "turns"),
        (["a", "b"], {"speed": 3}, "speed"),
    ],
)
def test_what_is_no_tournament(
    players: list[str], parameters: dict[str, int], message: str
) -> None:
    raises((TypeError, ValueError), message, Tournament, 1, generate_deck(1), players, parameters)


# ----------------------------------------------------------------------------------- the file


def test_standings_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "standings.db"
    with Standings(path) as file:
        assert file.last == 0
        assert file.table() == []
        assert file.add(1, EXAMPLE, awards(EXAMPLE))
    with Standings(path) as file:
        assert file.last == 1
        assert file.results(1) == EXAMPLE
        assert file.results(2) == []
        assert file.add(2, EXAMPLE, awards(EXAMPLE))
    with Standings(path, write=False) as file:
        table = file.table()
    assert [(row.place, row.player, row.tournaments) for row in table] == [
        (1, "A", 2),
        (2, "B", 2),
        (3, "C", 2),
    ]
    assert format_standings(table).splitlines()[1] == "    1  A             165.3264            2"


def test_awards_are_kept_to_the_last_bit(tmp_path: Path) -> None:
    rng = random.Random(1)
    given_awards = [{f"p{i}": rng.random() * 1e5 for i in range(30)} for _ in range(20)]
    with Standings(tmp_path / "standings.db") as file:
        for number, received in enumerate(given_awards, 1):
            assert file.add(number, [], received)
        assert file.table() == standings(given_awards)


def test_what_cannot_be_written_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "standings.db"
    with Standings(path) as file, Standings(path, write=False) as other:
        blocking = sqlite3.connect(path, isolation_level=None)
        blocking.execute("BEGIN IMMEDIATE")  # another process writes for long
        assert not file.add(1, EXAMPLE, awards(EXAMPLE))
        assert "cannot write tournament 1" in caplog.text
        assert file.last == 1
        assert file.table()[0].player == "A"
        blocking.execute("ROLLBACK")
        blocking.close()
        assert file.add(2, EXAMPLE, awards(EXAMPLE))
        assert other.last == 2
        assert other.results(1) == EXAMPLE


LARGE = {f"player{i}": float(i) for i in range(500)}


def test_a_full_disk_is_told_from_a_busy_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    databases = opened_databases(monkeypatch)
    path = tmp_path / "standings.db"
    with Standings(path) as file:
        assert file.add(1, EXAMPLE, awards(EXAMPLE))
        with full_disk(*databases):
            assert not file.add(2, [], LARGE)
            assert file.failed
            assert file.last == 2
        blocking = sqlite3.connect(path, isolation_level=None)
        blocking.execute("BEGIN IMMEDIATE")
        assert not file.add(3, [], LARGE)
        assert not file.failed
        blocking.execute("ROLLBACK")
        blocking.close()
    with Standings(path, write=False) as file:
        assert file.last == 3
        assert file.results(1) == EXAMPLE


def test_closing_names_the_tournaments_that_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "standings.db"
    databases = opened_databases(monkeypatch)
    file = Standings(path)
    assert file.add(1, EXAMPLE, awards(EXAMPLE))
    message = "standings.db: tournaments 2, 3 are not written: database or disk is full"
    with full_disk(*databases):
        assert not file.add(2, [], LARGE)
        assert not file.add(3, [], {"ann": 1.0})
        raises(StandingsError, message, file.close)
    with Standings(path) as file:  # the lock is free, and the first tournament is there
        assert file.last == 1
        assert file.results(1) == EXAMPLE


def test_a_tournament_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "standings.db"
    with Standings(path) as file:
        file.add(1, EXAMPLE, awards(EXAMPLE))
    with Standings(path) as file:
        assert file.add(1, [], {"Z": 1.0})  # under a number that is free
        assert file.last == 2
        assert file.results(1) == EXAMPLE
        assert {row.player: row.tournaments for row in file.table()}["Z"] == 1
        raises(StandingsError, "another server writes to it", Standings, path)
        with Standings(path, write=False) as other:
            assert other.last == 2
    with Standings(path) as file:
        assert file.last == 2


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database, but long enough to be looked at as one" * 20)
    raises(StandingsError, "text", Standings, text)
    assert text.read_text().startswith("no database")
    raises(StandingsError, "missing", Standings, tmp_path / "missing", write=False)
    assert not (tmp_path / "missing").exists()
    raises(StandingsError, "folder", Standings, tmp_path / "folder" / "file")


def test_standings_as_text() -> None:
    rows = [Standing(1, "a-long-name", 12.34567, 3), Standing(2, "b", 0.0, 3)]
    assert format_standings(rows) == (
        "place  player                award  tournaments\n"
        "    1  a-long-name         12.3457            3\n"
        "    2  b                    0.0000            3\n"
    )

"""Results that are read while they grow are equal to those of a fresh reader."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import growing_results, raises, tournament

from locmsim.arena import Arena, Outcome, Record, Sprt, StoreError, Tally
from locmsim.arena.follow import ResultsReader, llr_curve, score_curve
from locmsim.arena.report import as_json
from locmsim.arena.store import Store
from locmsim.arena.tally import PairResult
from locmsim.stats import PairCounts, score_interval


def records(db: Path, players: list[str], games: int, **settings: object) -> list[Record]:
    """Return the games of a tournament, played."""
    with tournament(db, players, games=games, seed=3, **settings) as arena:
        return [arena.record(outcome.number) for outcome in arena.games()]


def fresh(db: Path) -> dict[str, object]:
    """Return the results, counted game by game."""
    with Store(db) as store:
        tally = Tally(store.settings)
        for outcome in store.outcomes():
            tally.add(outcome)
    return as_json(tally)


@pytest.mark.slow
def test_games_that_come_in_any_order(tmp_path: Path) -> None:
    played = records(tmp_path / "played.db", ["greedy", "random", "rule"], 6)
    db = tmp_path / "growing.db"
    reader = ResultsReader(db)
    raises(StoreError, "no such file", reader.update)
    with growing_results(db, ["greedy", "random", "rule"], games=6, seed=3) as store:
        reader.update()
        assert reader.to_json() == fresh(db)
        assert not reader.finished
        versions = [reader.version]
        # Several workers can end games in such an order, the first one last.
        for record in [*played[4:9], *played[1:4], *played[9:], played[0]]:
            store.add_all([record])
            tally = reader.update()
            assert reader.to_json() == fresh(db)
            assert tally.games == reader.games_read
            reader.update()
            versions.append(reader.version)
        assert versions == sorted(set(versions))
        assert reader.finished
    reader.update()
    assert reader.version == versions[-1]
    for player in range(3):
        curve = reader.score_curve(player)
        counts = reader.update().player_pairs(player)
        assert curve["games"] == [2 * i for i in range(1, counts.total + 1)]
        assert curve["score"][-1] == counts.score
        assert (curve["low"][-1], curve["high"][-1]) == score_interval(counts)


def test_another_goal_test_and_tournament(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    records(db, ["greedy", "random"], 4)
    reader = ResultsReader(db)
    reader.update()
    assert reader.finished
    assert reader.llr_curve() is None
    before = reader.version
    with Arena(db, games=20) as arena:
        arena.set_test(Sprt(0, 20))
        reader.update()
        assert not reader.finished
        assert reader.version > before
        arena.run(jobs=1, on_games=lambda games: reader.update() and None)  # it blocks no writer
        tally = reader.update()
        assert reader.to_json() == fresh(db)
        assert tally.sprt_state == arena.tally.sprt_state
        curve = reader.llr_curve()
        assert curve is not None
        assert curve["llr"][-1] == tally.sprt_state.llr
        assert curve["pairs"] == list(range(1, tally.sprt_state.pairs + 1))
    reader.update()
    assert list(tmp_path.iterdir()) == [db]  # and leaves no files beside the database
    db.unlink()
    records(db, ["random", "random"], 2)
    reader.update()
    assert reader.to_json() == fresh(db)
    assert reader.games_read == 2
    db.write_bytes(b"")
    raises(StoreError, "an empty file", reader.update)


def test_only_new_games_are_read(tmp_path: Path, spied: Callable[..., list[int]]) -> None:
    db = tmp_path / "results.db"
    records(db, ["greedy", "random"], 8)
    reader = ResultsReader(db)
    reader.update()
    first = spied(Store, "outcomes", lambda _, start: start)
    reader.update()
    assert first == [9]


def repeated(store: Store, records: list[Record], number: int, **more: object) -> Record:
    """Return the game of that number, played as one of a few is."""
    record = records[(number - 1) % len(records)]
    outcome = record.outcome._replace(number=number, **more)
    return record._replace(fixture=store.settings.fixture(number), outcome=outcome)


def many(db: Path, games: int, **goal: Any) -> list[Record]:
    """Write a file of games between three players, which repeat, some with a fault; return them."""
    players = ["one=greedy", "two=random", f"three={sys.executable} -c 'raise SystemExit(1)'"]
    first = records(db.with_name("first.db"), players, 6, timeout_scale=0)
    settings = {"games": games // 3, "seed": 3, "timeout_scale": 0, **goal}
    with growing_results(db, players, **settings) as store:
        added = [repeated(store, first, number) for number in range(1, games + 1)]
        for start in range(0, games, 100):
            # Several workers do not end games in their order.
            store.add_all(added[start : start + 100][::-1])
    return added


def test_an_arena_is_opened_from_the_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line and an arena that goes on read the last games only, and lost ones."""
    db = tmp_path / "many.db"
    added = many(db, 156)
    read: list[int] = []
    outcomes = Store.outcomes

    def counted(self: Store, *args: Any, **options: Any) -> Iterator[Outcome]:
        for outcome in outcomes(self, *args, **options):
            read.append(outcome.number)
            yield outcome

    monkeypatch.setattr(Store, "outcomes", counted)
    with Arena.load(db) as arena, Arena(tmp_path / "first.db") as other:
        assert arena.tally.games == 156
        assert other.tally.games == 18
        assert read == [*range(145, 157), *range(1, 19)]
        results = arena.to_json()
        del results["faults"]
        lost = [outcome.number for outcome in arena.games(lost_by="two")]
        read.clear()
        assert len(arena.lost_table("two").splitlines()) == 1 + len(lost)
        assert read == lost
        assert [outcome.number for outcome in other.games("two")] == [n for n in lost if n <= 18]
    monkeypatch.undo()
    assert results == fresh(db)
    assert lost == [
        one.outcome.number
        for one in added
        if one.outcome.winner is not None
        and 1 in one.outcome.players
        and one.outcome.players[one.outcome.winner] != 1
    ]
    assert lost


@pytest.mark.slow
def test_the_first_look_at_many_games_reads_few(tmp_path: Path) -> None:
    """The file stores sums over the first games, in whatever order games were added."""
    db = tmp_path / "many.db"
    added = many(db, 996)
    reader = ResultsReader(db)
    tally = reader.update()
    assert reader.to_json() == fresh(db)
    assert tally.games == 996
    # Sums are stored for blocks of 16 games of each of the three pairings.
    assert reader.games_read == 996 % 48
    assert any(sums.faults for sums in tally.players)
    for player in range(3):
        curve = reader.score_curve(player)
        counts = tally.player_pairs(player)
        assert curve["games"][-1] == 2 * counts.total
        assert curve["games"] == sorted(set(curve["games"]))
        assert (curve["low"][-1], curve["high"][-1]) == score_interval(counts)
        exact = score_curve(
            [
                pair
                for summed in [Tally(tally.settings)]
                for record in added
                if (pair := summed.add(record.outcome)) is not None
            ],
            player,
            2,
            10**6,
        )
        points = dict(zip(exact["games"], exact["score"], strict=True))
        for games, score in zip(curve["games"], curve["score"], strict=True):
            assert points[games] == score


def test_a_test_that_was_decided_stays_so(tmp_path: Path) -> None:
    db = tmp_path / "two.db"
    first = records(tmp_path / "first.db", ["one=greedy", "two=random"], 2)
    players, settings = ["one=greedy", "two=random"], {"games": 1000, "seed": 3}
    with growing_results(db, players, sprt=Sprt(0, 30), **settings) as store:
        winners = ((number, (number - 1) % 2) for number in range(1, 601))
        store.add_all([repeated(store, first, number, winner=who) for number, who in winners])
    reader = ResultsReader(db)
    tally = reader.update()
    assert reader.games_read == 600 % 16
    assert tally.decided
    assert reader.to_json() == fresh(db)
    curve = reader.llr_curve()
    assert curve is not None
    assert curve["pairs"] == sorted(set(curve["pairs"]))
    assert curve["llr"][-2] < tally.sprt_state.upper <= curve["llr"][-1]
    # Stored sums belong to one sequential test, so another one needs new sums.
    with Arena(db) as arena:
        arena.set_test(Sprt(0, 20))
    with Store(db, write=True) as store:
        assert store.sums() is None
        assert ResultsReader(db).update().games == 600
        store.add_all([])
        reader.update()
        assert reader.games_read == 600 % 16
        assert reader.to_json() == fresh(db)


def test_curves_have_few_points() -> None:
    pairs = [PairResult(i, (0, 1), (i % 3) / 2) for i in range(1000)]
    curve = score_curve(pairs[::-1], 1, 2, 10)
    assert curve["games"] == [200 * i for i in range(1, 11)]
    counts = PairCounts()
    for pair in pairs:
        counts.add(1 - pair.score)
    assert curve["score"][-1] == counts.score
    assert score_curve(pairs, 2, 2, 10) == {"games": [], "score": [], "low": [], "high": []}
    # The curve ends before the first missing pair.
    test = Sprt(-5, 5)
    assert llr_curve(pairs[:5] + pairs[6:], test, 10)["pairs"] == [1, 2, 3, 4, 5]
    assert llr_curve(pairs[1:], test, 10) == {"pairs": [], "llr": []}
    # The curve ends with the test's decision.
    won = [PairResult(i, (0, 1), 1.0) for i in range(1000)]
    curve = llr_curve(won, test, 100)
    assert curve["llr"][-2] < test.state(PairCounts()).upper <= curve["llr"][-1]
    assert curve["pairs"][-1] < 1000

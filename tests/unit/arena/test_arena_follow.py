"""Results that are read while they grow are those that a fresh look finds."""

from pathlib import Path

import pytest

from locmsim.arena import Arena, Record, Sprt, StoreError
from locmsim.arena.follow import ResultsReader, llr_curve, score_curve
from locmsim.arena.store import Store
from locmsim.arena.tally import PairResult
from locmsim.stats import PairCounts, score_interval


def records(db: Path, players: list[str], games: int, **settings: object) -> list[Record]:
    """The games of a tournament, played."""
    with Arena(players, db=db, games=games, seed=3, **settings) as arena:
        arena.run(jobs=1)
        return [arena.record(outcome.number) for outcome in arena.outcomes()]


def fresh(db: Path) -> dict[str, object]:
    with Arena.load(db) as arena:
        results = arena.to_json()
    del results["faults"]
    return results


def test_games_that_come_in_any_order(tmp_path: Path) -> None:
    played = records(tmp_path / "played.db", ["greedy", "random", "rule"], 6)
    db = tmp_path / "growing.db"
    reader = ResultsReader(db)
    with pytest.raises(StoreError, match="no such file"):
        reader.update()
    with Arena(["greedy", "random", "rule"], db=db, games=6, seed=3) as arena:
        reader.update()
        assert reader.to_json() == fresh(db)
        assert not reader.done
        versions = [reader.version]
        # As several workers end them: the first one last.
        for record in [*played[4:9], *played[1:4], *played[9:], played[0]]:
            arena._store.add(record)
            tally = reader.update()
            assert reader.to_json() == fresh(db)
            assert tally.games == len(reader.endings)
            reader.update()
            versions.append(reader.version)
        assert versions == sorted(set(versions))
        assert reader.done
    reader.update()
    assert reader.version == versions[-1]
    for record in played:
        ending = reader.endings[record.fixture.number]
        assert ending[1:4] == record.outcome[1:3] + record.outcome[4:5]
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
    assert reader.done
    assert reader.llr_curve() is None
    before = reader.version
    with Arena(db=db, games=20, sprt=Sprt(0, 20)) as arena:
        reader.update()
        assert not reader.done
        assert reader.version > before
        arena.run(jobs=1)
        tally = reader.update()
        assert reader.to_json() == fresh(db)
        assert tally.sprt_state == arena.tally.sprt_state
        curve = reader.llr_curve()
        assert curve is not None
        assert curve["llr"][-1] == tally.sprt_state.llr
        assert curve["pairs"] == list(range(1, tally.sprt_state.pairs + 1))
    db.unlink()
    records(db, ["random", "random"], 2)
    reader.update()
    assert reader.to_json() == fresh(db)
    assert set(reader.endings) == {1, 2}
    db.write_bytes(b"")
    with pytest.raises(StoreError, match="an empty file"):
        reader.update()


def test_the_file_is_left_as_it_was(tmp_path: Path) -> None:
    """No reader is in the way of the one who writes, and nothing stays beside the file."""
    db = tmp_path / "results.db"
    reader = ResultsReader(db)
    with Arena(["greedy", "random"], db=db, games=4, seed=1) as arena:
        arena.run(jobs=1, on_games=lambda games: reader.update() and None)
        assert reader.done
    reader.update()
    assert list(tmp_path.iterdir()) == [db]


def test_only_new_games_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "results.db"
    records(db, ["greedy", "random"], 8)
    reader = ResultsReader(db)
    reader.update()
    first: list[int] = []
    outcomes = Store.outcomes
    monkeypatch.setattr(
        Store, "outcomes", lambda self, start: first.append(start) or outcomes(self, start)
    )
    reader.update()
    assert first == [9]


def test_curves_have_few_points() -> None:
    pairs = [PairResult(i, (0, 1), (i % 3) / 2) for i in range(1000)]
    curve = score_curve(pairs[::-1], 1, 2, 10)
    assert curve["games"] == [200 * i for i in range(1, 11)]
    counts = PairCounts()
    for pair in pairs:
        counts.add(1 - pair.score)
    assert curve["score"][-1] == counts.score
    assert score_curve(pairs, 2, 2, 10) == {"games": [], "score": [], "low": [], "high": []}
    # Up to the first pair that is missing.
    test = Sprt(-5, 5)
    assert llr_curve(pairs[:5] + pairs[6:], test, 10)["pairs"] == [1, 2, 3, 4, 5]
    assert llr_curve(pairs[1:], test, 10) == {"pairs": [], "llr": []}
    # Up to the decision.
    won = [PairResult(i, (0, 1), 1.0) for i in range(1000)]
    curve = llr_curve(won, test, 100)
    assert curve["llr"][-2] < test.state(PairCounts()).upper <= curve["llr"][-1]
    assert curve["pairs"][-1] < 1000

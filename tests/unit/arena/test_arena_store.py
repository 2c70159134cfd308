"""The file of results: it returns what was stored, whatever happens to the file."""

import contextlib
import os
import signal
import sqlite3
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import change, full_disk, opened_databases, python, raises

from locmsim.arena import Arena, LocmGame, Player, Record, Settings, Sprt, StoreError
from locmsim.arena.game_worker import play_games
from locmsim.arena.store import NoResultsError, Store
from locmsim.referee import Fault, FaultKind

SETTINGS = Settings(
    (Player("a", "random", False), Player("b", "greedy", False)),
    LocmGame(),
    seed=5,
    timeout_scale=0,
)


def writing(path: Path, settings: Settings = SETTINGS) -> Store:
    store = Store(path, write=True)
    try:
        store.save(settings)
    except BaseException:
        store.close()
        raise
    return store


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return play_games(SETTINGS.task(range(1, 7)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


def test_what_goes_in_comes_out(path: Path, records: list[Record]) -> None:
    with writing(path) as store:
        assert store.settings == SETTINGS
        store.add_all([records[3]])
        store.add_all([records[0], records[1]])
        assert store.numbers() == {1, 2, 4}
        other = replace(SETTINGS, games=10, sprt=Sprt(0, 5))
        store.save(other)
    with Store(path) as store:
        assert store.settings == other
        assert len(store) == 3
        assert list(store.outcomes()) == [records[i].outcome for i in (0, 1, 3)]
        for i in (0, 1, 3):
            assert store.game(i + 1) == records[i]
        raises(StoreError, "has no game 3", store.game, 3)
    with writing(path) as store:
        raises(StoreError, "UNIQUE", store.add_all, [records[2], records[0]])
        assert store.numbers() == {1, 2, 4}


@pytest.mark.process
def test_faults(path: Path) -> None:
    """A failed bot's last words are stored with its game."""
    shell = "/bin/sh -c 'echo no idea >&2; echo HELP; sleep 9'"
    settings = Settings((Player("sh", shell, True), SETTINGS.players[0]), LocmGame(), seed=5)
    (record,) = play_games(settings.task([1]))
    assert record.outcome.fault is not None
    assert record.stderr == ("no idea\n", "")
    assert [answer.stderr for answer in record.answers] == ["no idea\n", ""]
    with writing(path, settings) as store:
        store.add_all([record])
        assert store.game(1) == record
        assert next(store.outcomes()) == record.outcome


def test_view_for_people(path: Path, records: list[Record]) -> None:
    with writing(path) as store:
        store.add_all(records)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT game, first, second, seed, winner, turns FROM results")
        assert [tuple(row) for row in rows] == [
            (
                record.fixture.number,
                *("ab"[index] for index in record.fixture.players),
                record.fixture.seed,
                "ab"[record.fixture.players[record.outcome.winner]],
                record.outcome.turns,
            )
            for record in records
        ]


# ------------------------------------------------------------------------------ other files


def test_no_file(path: Path, records: list[Record]) -> None:
    raises(NoResultsError, "no such file", Store, path)
    raises(StoreError, "cannot open", writing, path / "deeper")
    path.touch()
    raises(NoResultsError, "an empty file", Store, path)
    with writing(path) as store:
        store.add_all([records[0]])
    with Store(path) as store:
        assert len(store) == 1


def test_what_is_no_file(path: Path) -> None:
    """A device or a pipe is not used as a file of results, and stays."""
    os.mkfifo(path)
    for place in (path, Path("/dev/null")):
        for write in (False, True):
            with pytest.raises(StoreError, match=f"{place}: a device or a pipe, not a file of"):
                Store(place, write=write)
        assert place.exists()


def test_file_that_is_removed(path: Path, records: list[Record]) -> None:
    """No game is stored where nobody would find it; a file put in its place is not touched."""
    with writing(path) as store:
        store.add_all([records[0]])
        path.unlink()
        with pytest.raises(StoreError, match="was removed or replaced while it was written to"):
            store.add_all([records[1]])
        path.write_text("something else")
        raises(StoreError, "was removed or replaced", store.add_all, [records[1]])
    assert path.read_text() == "something else"
    path.unlink()
    with Arena(path, ["random", "greedy"], games=4, seed=3, timeout_scale=0) as arena:
        raises(StoreError, "was removed", arena.run, jobs=1, on_games=lambda _: path.unlink(True))


def test_no_file_for_no_games(path: Path) -> None:
    """A new file in which no game was stored is removed; one that was there before is kept."""
    with writing(path):
        assert path.exists()
    assert not path.exists()
    path.touch()
    with writing(path):
        pass
    assert path.exists()
    path.write_bytes(b"")
    raises(ValueError, "players: expected at least two", Arena, path, ["random"])
    raises(ValueError, "unknown option", Arena, path, ["random", "rule:x=1"])
    assert path.exists()


@pytest.mark.process
def test_nothing_beside_a_closed_file(path: Path, records: list[Record]) -> None:
    """Writing, reading and recovering what a killed writer left all clean up SQLite's own files."""
    with writing(path) as store:
        store.add_all([records[0]])
    assert os.listdir(path.parent) == [path.name]
    with Store(path) as store:
        assert len(store) == 1
    assert os.listdir(path.parent) == [path.name]
    script = f"""
        import os, signal, sqlite3
        from locmsim.arena import Arena
        arena = Arena({str(path)!r})
        arena.set_games(4)
        arena._store._connection.execute("UPDATE games SET turns = 77")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    python("-c", textwrap.dedent(script), code=-signal.SIGKILL)
    assert len(os.listdir(path.parent)) == 3
    with Store(path) as store:
        assert next(store.outcomes()).turns == 77
    assert os.listdir(path.parent) == [path.name]


def test_files_that_are_something_else(path: Path) -> None:
    path.write_text("all my notes, for years\n" * 100)
    for write in (False, True):
        raises(StoreError, "not a database", Store, path, write=write)
    assert path.read_text().startswith("all my notes")
    other = path.with_name("other.db")
    with contextlib.closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE addresses (name TEXT)")
    for write in (False, True):
        raises(StoreError, "does not contain results of an arena", Store, other, write=write)


def test_damaged_settings_and_another_version(path: Path, records: list[Record]) -> None:
    with writing(path) as store:
        store.add_all([records[0]])
    for statement, message in (
        ("UPDATE tournament SET settings = '{}'", "not the settings of a tournament"),
        ("PRAGMA user_version = 99", "version 99, this program knows 7"),
    ):
        change(path, statement)
        raises(StoreError, message, Store, path)


def test_two_writers(path: Path, records: list[Record]) -> None:
    """A second writer is refused, since both would play the same games; readers are not."""
    with writing(path) as store:
        raises(StoreError, "another process writes to it", writing, path)
        with Store(path) as reader:
            store.add_all([records[0]])
            assert reader.numbers() == {1}
            store.add_all([records[1]])
            assert reader.numbers() == {1, 2}
            raises(StoreError, "readonly", reader.add_all, [records[2]])
    with writing(path) as store:
        assert len(store) == 2


def test_the_path_is_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: list[Record]
) -> None:
    """SQLite has names of its own: a file whose name begins with "file:" was another one."""
    monkeypatch.chdir(tmp_path)
    name = Path("file:results.db?mode=memory")
    with writing(name) as store:
        store.add_all([records[0]])
        raises(StoreError, "another process writes to it", writing, name)
    with Store(name) as store:
        assert store.numbers() == {1}
    assert [path.name for path in tmp_path.iterdir()] == [str(name)]


# ------------------------------------------------------------------------------ no more room


def bulky(record: Record) -> Record:
    """Return the record with a long message of its fault."""
    fault = Fault(0, FaultKind.TIMEOUT, "x" * 3000)
    return record._replace(outcome=record.outcome._replace(fault=fault), stderr=("y" * 3000, ""))


def test_full_disk(path: Path, records: list[Record], monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that does not fit is not stored at all; earlier games stay, others can follow."""
    databases = opened_databases(monkeypatch)
    with writing(path) as store:
        (database,) = databases
        store.add_all([records[0]])
        with full_disk(database), pytest.raises(StoreError, match="full") as caught:
            store.add_all([bulky(record) for record in records[1:]])
        assert str(caught.value).startswith(f"cannot write to {path}: ")
        assert store.numbers() == {1}
        store.add_all(records[1:])
        assert store.numbers() == {1, 2, 3, 4, 5, 6}
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
@pytest.mark.process
def test_file_size_limit(path: Path) -> None:
    """The store reports writes that the operating system refuses, as it does over a quota."""
    script = f"""
        import resource, sys
        from locmsim.arena import Arena, StoreError
        with Arena(
            {str(path)!r}, ["random", "greedy"], games=1000, seed=3, timeout_scale=25.0
        ) as arena:
            resource.setrlimit(resource.RLIMIT_FSIZE, (240_000, 240_000))
            try:
                arena.run(jobs=1)
            except StoreError as error:
                print(arena.tally.games, error)
    """
    done = python("-c", textwrap.dedent(script))
    games, _, error = done.stdout.strip().partition(" ")
    assert error.startswith(f"cannot write to {path}: ")
    with Arena(path, games=int(games) + 2 + int(games) % 2) as arena:
        assert arena.tally.games == int(games) > 0
        arena.run(jobs=1)
        assert arena.tally.games == arena.settings.count


@pytest.mark.slow
@pytest.mark.process
def test_killed_while_writing(path: Path) -> None:
    """Every game that was added before a SIGKILL is in the file."""
    script = f"""
        import os, signal
        from locmsim.arena import Arena
        count = 0
        def on_games(games):
            global count
            count += games
            if count >= 10:
                os.write(1, str(count).encode())
                os.kill(os.getpid(), signal.SIGKILL)
        with Arena(
            {str(path)!r}, ["random", "greedy"], games=1000, seed=3, timeout_scale=25.0
        ) as arena:
            arena.run(jobs=1, on_games=on_games)
    """
    done = python("-c", textwrap.dedent(script), code=-signal.SIGKILL)
    with Store(path) as store:
        assert store.numbers() == set(range(1, int(done.stdout) + 1))
    assert os.path.exists(path)

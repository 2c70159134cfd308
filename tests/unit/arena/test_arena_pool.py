"""Pools: players are added and retire, and nothing that was played is lost or counted twice."""

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from helpers import output_of, played, raises, tournament

from locmsim.arena import Arena, StoreError
from locmsim.arena.follow import ResultsReader


def meetings(arena: Arena) -> Counter[tuple[str, ...]]:
    """Return how often players met, by their names."""
    names = [player.name for player in arena.settings.players]
    return Counter(
        tuple(sorted(names[index] for index in outcome.players)) for outcome in arena.games()
    )


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Results of three players with four games for each pairing."""
    path = tmp_path / "pool.db"
    players = ["a=random", "b=greedy", "c=random"]
    with Arena(path, players, games=4, seed=3, timeout_scale=0) as arena:
        arena.run(jobs=1)
    return path


OLD = Counter({("a", "b"): 4, ("a", "c"): 4, ("b", "c"): 4})


@pytest.mark.slow
def test_only_new_pairings_are_played(db: Path) -> None:
    with Arena.load(db) as arena:
        before = played(arena)
    with Arena(db) as arena:
        arena.add(["d=max-attack", "e=osl"])
        assert arena.settings.count == 12 + 4 * 7
        assert len([*arena.games()]) == 12
        arena.run(jobs=1)
        new = [("a", "d"), ("b", "d"), ("c", "d"), ("a", "e"), ("b", "e"), ("c", "e"), ("d", "e")]
        assert meetings(arena) == OLD + Counter(dict.fromkeys(new, 4))
        after = played(arena)
        assert {number: after[number] for number in before} == before
        # Equal seeds in each pairing: results differ by the players, not by the cards.
        seeds = {number: arena.settings.fixture(number).seed for number in (1, 13, 15, 40)}
        assert seeds[13] == seeds[1]
        assert not arena.left
        table = arena.table()
    with Arena.load(db) as arena:
        assert arena.table() == table
        assert [player["games"] for player in arena.to_json()["players"]] == [16] * 5
    reader = ResultsReader(db)
    assert reader.update().games == 40
    assert reader.finished


def test_growing_again_and_resuming(db: Path) -> None:
    """Each addition goes on where the last one ended, and games that are missing are not lost."""
    with Arena(db) as arena:
        arena.add(["d=osl"])
    with Arena(db) as arena:
        arena.add(["e=osl"], against=["b", "d"])
        assert arena.settings.count == 12 + 12 + 8
        arena.run(jobs=1)
        new = {("a", "d"): 4, ("b", "d"): 4, ("c", "d"): 4, ("b", "e"): 4, ("d", "e"): 4}
        assert meetings(arena) == OLD + Counter(new)
        seats = Counter(outcome.players for outcome in arena.games())
        assert set(seats.values()) == {2}
        settings = arena.settings
    with Arena(db) as arena:
        assert arena.settings == settings
        assert not arena.left
        raises(ValueError, "games: a pool has no number of games per pairing", arena.set_games, 8)
    raises(ValueError, r"games: a pool has .*: --more N .* plays further games", Arena, db, games=8)


@pytest.mark.slow
def test_retired_players(db: Path) -> None:
    with Arena(db) as arena:
        arena.retire(["c"])
        arena.add(["d=osl"])
        arena.run(jobs=1)
        assert meetings(arena) == OLD + Counter({("a", "d"): 4, ("b", "d"): 4})
        assert "c (retired)" in arena.table()
        assert [player["retired"] for player in arena.to_json()["players"]] == [0, 0, 1, 0]
    # Games that were scheduled for a player who retires meanwhile are not played.
    with Arena(db) as arena:
        arena.add(["e=osl"])
    with Arena(db) as arena:
        arena.retire(["a"])
        arena.run(jobs=1)
        assert ("a", "e") not in meetings(arena)
        assert meetings(arena)["b", "e"] == meetings(arena)["d", "e"] == 4
        assert not arena.left
    reader = ResultsReader(db)
    assert reader.update().games < reader.settings.count
    assert reader.finished
    with Arena(db) as arena:
        before = arena.settings
        raises(ValueError, "against: 'c' is retired", arena.add, ["f=osl"], against=["c"])
        with pytest.raises(ValueError, match="retire: no player is called 'x': expected one of a,"):
            arena.retire(["x"])
        assert arena.settings == before


@pytest.mark.slow
def test_games_in_all_are_drawn(db: Path) -> None:
    """A new player plays a number of games in all, mostly against those of about their strength."""
    with Arena(db) as arena:
        arena.add(["d=greedy"], more=60)
        assert arena.settings.count == 12 + 60
        assert arena.settings.scheduled == 12
        arena.run(jobs=1)
        new = meetings(arena) - OLD
        assert sum(new.values()) == 60
        assert all("d" in pairing for pairing in new)
        assert new["b", "d"] > 2 * max(new["a", "d"], new["c", "d"])
        assert set(new) == {("a", "d"), ("b", "d"), ("c", "d")}
        seats = Counter(outcome.players for outcome in arena.games())
        assert all(seats[a, b] == seats[b, a] for a, b in seats)  # in mirrored pairs
        assert not arena.left
        assert arena.settings.draws == ()
        # Nobody plays a seed twice in the same seat.
        fixtures = [arena.settings.fixture(number) for number in range(1, 73)]
        assert len({(one.players, one.seed) for one in fixtures}) == 72
        table, settings = arena.table(), arena.settings
    with Arena(db) as arena:
        assert arena.settings == settings
        assert arena.table() == table
        assert arena.verify([13, 72], jobs=1) == []
    reader = ResultsReader(db)
    assert reader.update().games == 72
    assert reader.finished


@pytest.mark.slow
def test_drawn_games_do_not_depend_on_workers_or_interruptions(db: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(db.read_bytes())

    def stop(games: int) -> None:
        nonlocal left
        left -= games
        if left < 0:
            raise KeyboardInterrupt

    left = 30
    with Arena(db) as arena:
        arena.add(["d=osl"], more=64)
        with pytest.raises(KeyboardInterrupt):
            arena.run(jobs=1, on_games=stop)
    with Arena(db) as arena:
        assert arena.settings.count == 12 + 64
        assert 12 < arena.tally.games < 12 + 64
        assert arena.left == 12 + 64 - arena.tally.games
        arena.run(jobs=1)
        resumed = arena.settings, played(arena)
    with Arena(copy) as arena:
        arena.add(["d=osl"], more=64)
        arena.run(jobs=2)
        assert (arena.settings, played(arena)) == resumed


@pytest.mark.slow
def test_further_games_of_a_pool(db: Path) -> None:
    """Draws wait for each other; those of retired players, and of seeds that are used, end."""
    with Arena(db) as arena:
        arena.add(["d=osl"], more=16, against=["b", "c"])
    with Arena(db) as arena:
        arena.more(24, against=["a"])
        assert arena.settings.count == 12 + 16 + 24
        arena.run(jobs=1)
        found = meetings(arena) - OLD
        assert found["b", "d"] + found["c", "d"] >= 16
        assert sum(n for pairing, n in found.items() if "a" in pairing) == 24
    with Arena(db) as arena:
        arena.more(40)
    with Arena(db) as arena:
        arena.retire(["a", "b", "c"])
        before = arena.tally.games
        arena.run(jobs=1)
        assert arena.tally.games == before == arena.settings.count
        assert arena.settings.draws == ()
        raises(ValueError, "more: no pairing of the pool is left to play", arena.more, 40)


def test_seeds_that_are_used_up(tmp_path: Path) -> None:
    db = tmp_path / "pool.db"
    with Arena(db, ["random", "osl"], seeds=range(1, 5), games=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
    with Arena(db) as arena:
        arena.add(["max-attack"], more=40)
        arena.run(jobs=1)
        # Two opponents, four seeds, two seats.
        assert meetings(arena)["max-attack", "osl"] == meetings(arena)["max-attack", "random"] == 8
        assert arena.settings.count == arena.tally.games == 4 + 16
    with Arena(db) as arena:
        arena.more(40)
        arena.run(jobs=1)
        assert meetings(arena) == {
            ("osl", "random"): 8,
            ("max-attack", "osl"): 8,
            ("max-attack", "random"): 8,
        }


@pytest.mark.slow
def test_a_changed_bot_is_a_new_player(tmp_path: Path) -> None:
    """No name stands for two versions of a bot, unless it is forced, which the table then says."""
    agent, db = tmp_path / "mine.py", tmp_path / "pool.db"

    def write(kind: str) -> None:
        agent.write_text(f"from locmsim.agents import {kind}\n\n\nclass Mine({kind}): ...\n")

    write("RandomAgent")
    spec = f"{agent}:Mine"
    with Arena(db, [f"v1={spec}", "greedy"], games=2, seed=1, timeout_scale=0) as arena:
        arena.run()
    write("GreedyAgent")
    with Arena(db) as arena:
        changed = r"mine.py has changed since game 1 \(of v1\)"
        raises(StoreError, f"{changed}.*--retire", arena.add, [f"v2={spec}"])
        raises(StoreError, changed, arena.run)
        with pytest.raises(ValueError, match="add: 'v1' is in the pool; a changed bot is a new pl"):
            arena.add([f"v1={spec}"])
    with Arena(db) as arena:
        arena.retire(["v1"])
        arena.add([f"v2={spec}"])
        arena.run()
        assert meetings(arena) == {("greedy", "v1"): 2, ("greedy", "v2"): 2}
    with Arena(db) as arena:
        assert arena.verify([3, 4]) == []
    write("RandomAgent")
    with Arena(db) as arena, pytest.raises(StoreError, match=r"mine.py has changed .*\(of v2\)"):
        arena.run()
    with Arena(db, force=True) as arena:
        arena.run()
        assert "note: " in arena.table()


@pytest.mark.slow
def test_ratings_do_not_depend_on_the_order_of_players() -> None:
    found = []
    players = ["a=random", "b=greedy", "c=osl"]
    for order in permutations(players):
        with tournament(None, order, games=8, seeds=range(1, 5), timeout_scale=0) as arena:
            rated = {player["name"]: player["elo"] for player in arena.to_json()["players"]}
        found.append([rated[name] for name in "abc"])
    assert all(ratings == found[0] for ratings in found)


def rated_by(arena: Arena) -> dict[str, tuple[float, float]]:
    """Return the ratings of the table and their errors."""
    rows = {player["name"]: player["elo"] for player in arena.to_json()["players"]}
    return {
        name: (row["value"], pytest.approx(row["interval"][1] - row["value"]))
        for name, row in rows.items()
    }


def test_anchor(db: Path) -> None:
    """The ratings are shifted, and errors are those of the differences from the anchor."""
    with Arena.load(db) as arena:
        free = {player["name"]: player["elo"] for player in arena.to_json()["players"]}
    with Arena(db) as arena:
        assert arena.ratings() == rated_by(arena)
        asked = arena.ratings(("a", 1000))
        arena.set_anchor("a", 1000)
        assert arena.ratings() == asked == rated_by(arena)
        rated = {player["name"]: player["elo"] for player in arena.to_json()["players"]}
    assert rated["a"] == {"value": 1000, "interval": [1000, 1000]}
    shift = 1000 - free["a"]["value"]
    for name in "bc":
        assert rated[name]["value"] == pytest.approx(free[name]["value"] + shift)
        low, high = rated[name]["interval"]
        assert low < rated[name]["value"] < high
    with Arena.load(db) as arena:
        assert arena.settings.anchor == ("a", 1000)
        assert " 1000 \u00b1 0 " in arena.table().replace("+", " ")
    # Of two players, too.
    with Arena(None, ["random", "greedy"], games=2, seed=1) as arena:
        arena.set_anchor("random", 0)
        arena.run(jobs=1)
        assert arena.to_json()["players"][0]["elo"] == {"value": 0, "interval": [0, 0]}


@pytest.mark.slow
def test_commands(tmp_path: Path) -> None:
    db = str(tmp_path / "pool.db")
    words = ["--jobs", "1", "--timeout-scale", "0", "--db", db]
    output_of("arena", "--add", "a=random", "b=greedy", "--games", "4", *words)
    output_of("arena", *words, "--add", "c=osl", "--anchor", "b=1000")
    out, err = output_of("arena", "--db", db, "--retire", "a")
    assert out.startswith("12 games of rules 1.5")
    assert "a (retired)" in out
    assert err.endswith(
        "who are not retired are played; --add NAME=PLAYER adds a player, --more N draws games\n"
    )
    for wrong, message in (
        (["--add", "c=random"], "--add: 'c' is in the pool"),
        (["--add", "d=random", "--against", "x"], "--against: no player is called 'x'"),
        (["--retire", "x"], "--retire: no player is called 'x'"),
        (["--anchor", "b"], "--anchor: expected a name and a rating such as greedy=1000, got 'b'"),
        (["--anchor", "x=1"], "--anchor: no player is called 'x'"),
        (["--anchor", "b=nan"], "--anchor: expected at most 100000 Elo, got nan"),
        (["--games", "8"], "--games: a pool has no number of games per pairing: --more N"),
        (["--more", "7"], "--more: mirrored pairs need an even number, got 7"),
        (["--more", "8", "--against", "a"], "--against: 'a' is retired"),
    ):
        assert message in output_of("arena", "--db", db, *wrong, code=2).err.splitlines()[-1]
    shown = output_of("arena", *words, "--add", "d=max-attack", "--more", "8", "--against", "c").out
    assert shown.startswith("20 games of rules 1.5")
    out, err = output_of("arena", *words, "--more", "6")
    assert out.startswith("26 games of rules 1.5")
    assert err == "locmsim arena: 6 games to play\n"
    more = "--add NAME=PLAYER adds a player, --more N draws games"
    assert more in output_of("arena", *words).err
    with Arena.load(db) as arena:
        assert [player.name for player in arena.settings.players] == ["a", "b", "c", "d"]
        assert arena.tally.games == 26

"""The figures of the page Arena are those of `locmsim arena show`."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from helpers import HOSTILE, LOCMSIM, default_signals, output_of, running, wait_for
from web_client import Client

from locmsim.arena import Arena, Player, Settings, Sprt
from locmsim.options.declarations import declared

Asker = Callable[..., Any]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Asker:
    """Return a function that asks the site of `three.db`, `two.db` and a missing file."""
    tmp_path = tmp_path_factory.mktemp("arena")
    players = [Player(HOSTILE, "greedy", False), Player("b", "random", False), "c=rule"]
    with Arena(tmp_path / "three.db", players, games=6, seed=2) as arena:
        arena.run(jobs=1)
    test = Sprt(-10, 10)
    with Arena(tmp_path / "two.db", ["greedy", "random"], games=8, seed=2) as arena:
        arena.set_test(test)
        arena.run(jobs=1)
    return asker(*[str(tmp_path / f"{name}.db") for name in ("three", "two", "none")])


def asker(*paths: str) -> Asker:
    """Return a function that asks the site of these files."""
    client = Client((), paths)

    def ask(path: str, status: int = 200, **query: Any) -> Any:
        answer = client.get(path, status, **query)
        return answer if status == 200 else answer["error"]

    return ask


def test_figures(ask: Asker) -> None:
    """They are those that `locmsim arena show --json` prints."""
    files = ask("/api/arena")["files"]
    assert [Path(file["path"]).name for file in files] == ["three.db", "two.db", "none.db"]
    assert [(file.get("games"), file.get("goal")) for file in files] == [
        (18, 18),
        (8, 8),
        (None, None),
    ]
    assert "no such file" in files[2]["error"]
    versions = []
    for db in (0, 1):
        expected = json.loads(output_of("arena", "show", files[db]["path"], "--json").out)
        del expected["faults"]
        for player, one in enumerate(expected["players"]):
            found = ask("/api/arena/results", db=db, player=player)
            assert found["results"] == expected
            assert found["finished"]
            versions.append(found["version"])
            assert (found["player"], found["title"]) == (player, "rules 1.5")
            assert found["score"]["games"][-1] == one["games"]
            assert found["score"]["score"][-1] == one["score"]
            assert [found["score"]["low"][-1], found["score"]["high"][-1]] == one["interval"]
        assert found["same"] is False
        again = ask("/api/arena/results", db=db, player=player, known=found["version"])
        assert (again["version"], again["same"]) == (found["version"], True)
        assert "results" not in again
        assert ask("/api/arena/results", db=db, player=0, known=found["version"])["same"] is False
    assert len(set(versions)) == 3 + 2
    assert expected["sprt"]["llr"] == found["llr"]["llr"][-1]
    assert expected["sprt"]["pairs"] == found["llr"]["pairs"][-1]


def test_games(ask: Asker) -> None:
    with Arena.load(ask("/api/arena")["files"][0]["path"]) as arena:
        outcomes = list(arena.games())
    shown = ask("/api/arena/results")["results"]
    names = [player["name"] for player in shown["players"]]
    everything = ask("/api/matches", source="d0")
    assert everything["next"] is None
    assert [game["number"] for game in everything["matches"]] == list(range(18, 0, -1))
    for game, outcome in zip(everything["matches"], reversed(outcomes), strict=True):
        assert game["key"] == f"d0:{outcome.number}"
        assert game["names"] == [names[player] for player in outcome.players]
        assert (game["winner"], game["turns"]) == (outcome.winner, outcome.turns)
    expected = [o.number for o in outcomes if set(o.players) == {1, 2}][::-1]
    both = {"source": "d0", "player": names[1], "other": names[2]}
    pair = ask("/api/matches", **both, count=2)
    assert [game["number"] for game in pair["matches"]] == expected[:2]
    more = ask("/api/matches", **both, after=pair["next"], count=9)
    assert [game["number"] for game in more["matches"]] == expected[2:]
    assert more["next"] is None
    alone = [ask("/api/matches", source="d0", **{one: names[2]}) for one in ("other", "player")]
    assert alone[0] == alone[1]
    # Each game in the list has the key of its page.
    match = ask("/api/match", match=everything["matches"][3]["key"])
    assert match["winner"] == outcomes[14].winner
    with Arena.load(ask("/api/arena")["files"][0]["path"]) as arena:
        specs = [arena.settings.players[i].spec for i in outcomes[14].players]
    assert match["agents"] == specs
    assert HOSTILE in match["names"] or 0 not in outcomes[14].players


@pytest.fixture
def cards(tmp_path: Path) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield a file of results, and a function that counts the cards in it as a page does."""
    db = str(tmp_path / "results.db")
    with Arena(db, ["one=greedy", "two=random"], rules="1.2", games=6, seed=2) as arena:
        arena.run(jobs=1)
    with Client((), [db]) as page:

        def count(status: int = 200, **data: Any) -> Any:
            return page.ended(page.post("/api/arena/cards", status, **data))

        yield db, count


@pytest.mark.parametrize("player", [-1, 1])
def test_cards(player: int, cards: tuple[str, Callable[..., Any]]) -> None:
    db, count = cards
    found = count(db=0, player=player)
    assert (found["state"], found["error"], found["done"], found["of"]) == ("done", None, 6, 6)
    with Arena.load(db) as arena:
        rows = arena.cards(None if player < 0 else "two")
        assert arena.record(1)  # the file is not in use
    assert found["result"] == {"games": 6, "rows": [row.to_json() for row in rows]}
    case, (row, *_) = rows[0].cases["offered"], found["result"]["rows"]
    assert row["cases"]["offered"]["share"] == case.share
    assert row["cases"]["offered"]["interval"] == [*case.interval]
    unplayed = [one for one in found["result"]["rows"] if not one["cases"]["played"]["games"]]
    assert unplayed[0]["cases"]["played"]["interval"] is None


def test_cards_that_cannot_be_counted(
    cards: tuple[str, Callable[..., Any]], tmp_path: Path
) -> None:
    db, count = cards
    assert count(400, db=0, player=2)["error"] == "player: expected -1 to 1, got 2"
    assert "name it with --db" in count(404, db=1)["error"]
    assert count(400, db="0")["error"] == "db: expected an integer"
    with contextlib.closing(sqlite3.connect(db)) as file, file:
        file.execute(
            "UPDATE games SET answers = ?", [zlib.compress(b'[[0, "PASS", 1], [0, "PASS", 1]]')]
        )
    failed = count(db=0)
    assert failed["state"] == "failed"
    assert failed["error"]


def test_refusals(ask: Asker) -> None:
    assert "none.db: no such file" in ask("/api/arena/results", db=2)["error"]
    assert "none.db: no such file" in ask("/api/matches", source="d2")["errors"][0]
    assert "name it with --db" in ask("/api/arena/results", 404, db=3)
    assert ask("/api/arena/results", 400, db="x") == "db: expected an integer"
    assert ask("/api/arena/results", player=99)["player"] == 0


def test_another_game(tmp_path: Path) -> None:
    """The table of another game has scores, and no links to pages that only the first game has."""
    db = str(tmp_path / "vestrock.db")
    with Arena(db, ["rule", "random"], game="vestrock:turns=20", games=2, seed=1) as arena:
        arena.run(jobs=1)
        points = [player.points for player in arena.tally.players]
    ask = asker(db)
    found = ask("/api/arena/results")
    assert (found["title"], found["turn"]) == ("Vestrock", "turn")
    assert (found["scored"], found["watched"], found["cards"]) == (True, False, False)
    assert [player["points"] for player in found["results"]["players"]] == points
    assert ask("/api/matches")["errors"] == []


def test_the_form_of_a_new_arena_follows_from_the_options(tmp_path: Path) -> None:
    """Its fields have the bounds and defaults of the options, and what is given is played."""
    with Client(timeout_scale=0, folder=str(tmp_path)) as page:
        fields = page.get("/api/arena/form")["fields"]
        by_name = {field.pop("name"): field for field in fields}
        assert [*by_name] == ["rules", "mode", "games", "seed"]
        mode = declared(Settings)["mode"]
        assert by_name["mode"]["text"].lower() == mode.option.text
        assert by_name["mode"]["choices"] == [*mode.option.choices]
        assert by_name["mode"]["default"] == mode.default
        assert (by_name["games"]["low"], by_name["games"]["high"]) == (1, 100_000)
        # JavaScript's numbers have no room for 64 bits: the server checks them.
        assert [by_name["seed"][name] for name in ("default", "low", "high")] == [None] * 3
        players = ["agent-random", "agent-greedy", "agent-osl"]
        for wrong, why in (
            ({"mode": "swiss"}, "mode: expected one of round-robin, gauntlet, got 'swiss'"),
            ({"seed": "x"}, "seed: expected an integer, got 'x'"),
            ({"seed": str(1 << 63)}, "seed: expected -2^63 to 2^63 - 1, got 9223372036854775808"),
            ({"rules": "2"}, "rules: expected one of 1.5, 1.2, 1.0, got '2'"),
            ({"games": "100001"}, "games: expected 1 to 100000, got 100001"),
        ):
            data = {"players": players, **wrong}
            assert page.post("/api/arena/start", 400, **data)["error"] == why
        seed = str((1 << 63) - 25)
        data = {"players": players, "mode": "gauntlet", "seed": seed, "games": "2", "rules": "1.2"}
        page.post("/api/arena/start", **data)
        wait_for(lambda: page.get("/api/arena")["files"][-1].get("games") == 4)
    (path,) = tmp_path.glob("arena-*.db")
    with Arena.load(path) as arena:
        settings = arena.settings
    assert (settings.mode, settings.seed, settings.game.rules) == ("gauntlet", int(seed), "1.2")


def test_an_arena_is_begun_and_stopped(tmp_path: Path) -> None:
    """Opponents of the list play, the page shows progress, and games before the stop are kept."""
    with Client(bots=["mine=random"], timeout_scale=0, folder=str(tmp_path)) as page:

        def tell(what: str, code: int = 200, **data: Any) -> Any:
            return page.post(f"/api/arena/{what}", code, **data)

        def row() -> Any:
            return page.get("/api/arena")["files"][-1]

        for data, why in (
            ({}, "choose 2 to 16 players"),
            ({"players": ["level1"]}, "choose 2 to 16 players"),
            ({"players": ["level1", "x"]}, "no such opponent"),
            ({"players": ["level1", "agent-learned"], "rules": "1.2"}, "plays rules 1.5 only"),
            ({"players": ["level1", "level2"], "games": 0}, "games: expected 1 to"),
        ):
            assert why in tell("start", 400, **data)["error"]
        assert "not begun here" in tell("stop", 404, db=0)["error"]
        db = tell("start", players=["bot0", "agent-random"], rules="1.2", games=50_000)["db"]
        assert db == 0
        wait_for(lambda: row().get("games"))
        assert row()["running"] is True
        assert row()["goal"] == 50_000
        tell("stop", db=db)
        wait_for(lambda: not row()["running"])
        assert 0 < row()["games"] < 50_000
        games = page.get("/api/matches")["matches"]
        assert {*games[0]["names"]} == {"mine", "random"}
        (path,) = tmp_path.glob("arena-*.db")
        assert row()["path"] == str(path)
        # Two at a time, and no more.
        for _ in range(2):
            tell("start", players=["bot0", "agent-random"], rules="1.2", games=50_000)
        error = tell("start", 429, players=["bot0", "agent-random"], rules="1.2")["error"]
        assert error == "2 arenas are running: stop one, or wait for it"
        assert commands_with(str(tmp_path))
    # The server has ended the processes that it started.
    assert commands_with(str(tmp_path)) == []


def commands_with(text: str) -> list[int]:
    """Return the processes whose command has a text in it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if text.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return running(found)


@pytest.mark.slow
def test_an_arena_ends_with_a_killed_site(tmp_path: Path) -> None:
    command = [*LOCMSIM, "web", "--save", str(tmp_path), "--timeout-scale", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as site:
        assert site.stdout is not None
        address = urlsplit(site.stdout.readline().strip())
        asked = address._replace(path="/api/arena/start").geturl()
        players = {"players": ["agent-random", "agent-greedy"], "games": 50_000}
        kind = {"Content-Type": "application/json"}
        with urlopen(Request(asked, json.dumps(players).encode(), kind)) as answer:
            assert json.load(answer) == {"db": 0}
        (path,) = wait_for(lambda: [*tmp_path.glob("arena-*.db")])
        site.kill()
        site.wait()
        wait_for(lambda: not commands_with(str(path)))


@pytest.mark.slow
def test_a_second_signal_ends_a_site_that_hangs(tmp_path: Path) -> None:
    program = (
        "import time\n"
        "from locmsim.options.commands import ended_by_signals\n"
        "from locmsim.web.library import Library\n"
        "from locmsim.web.server import serve\n"
        "from locmsim.web.site import Site\n"
        "site = Site(Library())\n"
        "site.closing.append(lambda: (print('closing', flush=True), time.sleep(1000)))\n"
        "with ended_by_signals():\n"
        "    serve(site, ready=lambda url: print(url, flush=True))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, preexec_fn=default_signals
    ) as site:
        assert site.stdout is not None
        with urlopen(site.stdout.readline().strip().decode()) as answer:  # it is running
            assert answer.status == 200
        site.send_signal(signal.SIGINT)
        assert site.stdout.readline() == b"closing\n"
        site.send_signal(signal.SIGINT)
        assert site.wait(timeout=60) == 128 + signal.SIGINT


def test_why_an_arena_has_broken_off(tmp_path: Path) -> None:
    """What the command said is told, also where it reads like its first line; its end is news."""
    folder = str(tmp_path / "left to play\nremoved")
    with Client(timeout_scale=0, folder=folder) as page:
        data = {"players": ["level1", "agent-random"]}
        page.post("/api/arena/start", **data)
        failure = wait_for(lambda: page.get("/api/arena")["files"][-1]["failure"])
    assert failure.startswith("locmsim arena: ")
    assert folder in failure

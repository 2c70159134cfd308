"""Matches that are being played: files that grow, and pages that follow them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import each_rules, main, play_games, raises, view_steps, wait_for, write_log
from web_client import Client, Library

from locmsim import Match
from locmsim.agents import RandomAgent, make_agent
from locmsim.arena import Arena
from locmsim.arena.registry import game_to_json, make_game
from locmsim.contract import LIVE_SUFFIX
from locmsim.referee import play
from locmsim.referee.live import LiveLog
from locmsim.referee.live_reader import LiveReader
from locmsim.web import replay_data
from locmsim.web.sources import begun_match

NAMES = ("ann", "bob")


def agents() -> list[Any]:
    return [make_agent("greedy"), make_agent("random")]


@each_rules
def test_a_reader_follows(rules: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{LIVE_SUFFIX}"
    match = Match(rules, seed=4)
    with LiveLog(path, match, NAMES) as log:
        reader = LiveReader(path)

        def told(call: Any) -> None:
            log.add(call)
            assert reader.update()
            assert not reader.update()
            assert (reader.calls[-1].answer, reader.calls[-1].turn) == (call.answer, call.turn)
            assert reader.over == (not match.to_ask)

        result = play(agents(), match, timeout_scale=0, on_call=told)
        late = LiveReader(path)
    # The file is gone, but its readers still see the end.
    assert not path.exists()
    assert late.update()
    assert late.over
    shown = late.result()
    assert (shown.winner, shown.scores, late.names) == (result.winner, result.scores, NAMES)
    steps = replay_data(shown, NAMES)["steps"]
    expected = replay_data(result, NAMES)["steps"]
    assert [step["board"] for step in steps] == [step["board"] for step in expected]


def test_a_match_that_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"a{LIVE_SUFFIX}"
    opened: list[int] = []
    real = os.open

    def noted(*arguments: Any) -> int:
        opened.append(real(*arguments))
        return opened[-1]

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", noted)
        LiveLog(path, Match(seed=1), NAMES)
    reader = LiveReader(path)
    reader.update()
    assert not reader.over
    os.close(*opened)  # as when the process is killed
    assert reader.update()
    assert reader.over
    assert path.exists()
    # Another file gets the same name.
    with LiveLog(path, Match(seed=2), NAMES):
        other = LiveReader(path)
        other.update()
        assert not other.over
        assert other.match is not None
        assert other.match.params["seed"] == 2
        other.close()


@pytest.mark.parametrize("text", ["", "{}\n", "[]\n", "x\n", '{"match":{},"names":[]}\n'])
def test_files_of_something_else(text: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{LIVE_SUFFIX}"
    path.write_text(text)
    reader = LiveReader(path)
    reader.update()
    assert reader.over
    raises(ValueError, "nothing was played", reader.result)


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    with LiveLog(tmp_path / "none" / f"a{LIVE_SUFFIX}", Match(seed=1), NAMES) as log:
        result = play(agents(), Match(seed=1), timeout_scale=0, on_call=log.add)
    assert result.winner in (0, 1)


# ------------------------------------------------------------------------------------- pages


class Pages(Client):
    def news(self, topic: str, known: str | None = None) -> Any:
        """Return the version of a topic once it is another one."""
        wait_for(lambda: self.get("/api/news", topics=topic)[topic] != known)
        return self.get("/api/news", topics=topic)[topic]


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Pages]:
    with Pages([tmp_path]) as pages:
        yield pages


def test_a_page_sees_a_match_grow(pages: Pages, tmp_path: Path) -> None:
    log, specs = tmp_path / "a.json", ["greedy", "random"]
    result = play(agents(), Match(seed=4), timeout_scale=0)
    live = LiveLog(f"{log}{LIVE_SUFFIX}", result.match.root(), NAMES, agents=specs)
    for call in result.calls[:7]:  # the choice of cards and five turns
        live.add(call)
    (row,) = pages.get("/api/matches")["matches"]
    assert (row["key"], row["live"], row["names"], row["winner"]) == ("l0", "live", [*NAMES], None)
    data = pages.get("/api/match", match="l0")
    assert data["live"]
    assert data["steps"][-1]["turn"] == 4
    # Agents and parameters are shown as for a match that is over.
    assert data["agents"] == specs
    assert data["params"] == {key: str(value) for key, value in result.match.params.items()}
    have = len(data["steps"])
    known = pages.news("live:l0")
    assert pages.get("/api/news", topics="live:l0") == {"live:l0": known}
    live.add(result.calls[7])
    known = pages.news("live:l0", known)
    news = pages.get("/api/match", match="l0", have=have)
    assert (news["start"], news["live"], news["next_key"]) == (have, True, None)
    assert {step["turn"] for step in news["steps"]} == {5}
    for call in result.calls[8:]:
        live.add(call)
    write_log(log, result, NAMES)
    live.close()
    seen = data["steps"] + news["steps"]
    while news["live"]:
        known = pages.news("live:l0", known)
        news = pages.get("/api/match", match="l0", have=len(seen))
        seen = seen[: news["start"]] + news["steps"]
    expected = replay_data(result, NAMES)["steps"]
    assert [step["board"] for step in seen] == json.loads(
        json.dumps([step["board"] for step in expected])
    )
    # The match is over and now in the list of games.
    (row,) = pages.get("/api/matches")["matches"]
    assert (row["key"], row["live"]) == (news["next_key"], "")
    assert pages.site.library.load(row["key"])[0].winner == result.winner


def test_an_arena_shows_its_matches(tmp_path: Path) -> None:
    """The arena writes its matches while the library that watches it keeps the folder for them."""
    db = tmp_path / "results.db"
    library = Library(dbs=[str(db)])
    seen: list[Any] = []
    specs: set[tuple[str, str]] = set()

    class Watched(RandomAgent):
        """An agent that reads the list while it plays."""

        def act(self, observation: Any) -> str:
            rows = library.matches()["matches"]
            seen.append([row for row in rows if row["live"]])
            for row in seen[-1]:
                specs.add(library.live.get(row["key"]).agents)
            return super().act(observation)

    players = [Watched(), "named=greedy"]
    with Arena(db, players, games=2, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
        watched = arena.settings.players[0].spec
    assert specs == {("greedy", watched)}
    assert (tmp_path / "results.db.live").is_dir()
    (row,) = seen[-1]
    assert (row["names"], row["rules"], row["turns"] > 0) == (["named", "Watched"], "1.5", True)
    assert library.live.after(row["key"]) == "d0:2"
    assert library.matches()["matches"][0]["key"] == "d0:2"
    library.close()
    assert [*tmp_path.iterdir()] == [db]
    # Without a library that watches, nothing is written.
    with Arena(tmp_path / "b.db", ["random", "greedy"], games=2, seed=4) as arena:
        arena.run(jobs=1)
    assert not (tmp_path / "b.db.live").exists()


@pytest.mark.parametrize("words", ["greedy random", "--game vestrock:turns=4 rule random"])
def test_play_writes_beside_its_log(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of the folder show the match while it is played; at the end only the log is left."""
    library = Library([str(tmp_path)])
    rows: list[dict[str, Any]] = []
    seen: list[int] = []
    add = LiveLog.add

    def added(self: LiveLog, call: Any) -> None:
        add(self, call)
        rows.extend(library.matches()["matches"])
        seen.append(len(library.any_match("l0")["steps"]))

    monkeypatch.setattr(LiveLog, "add", added)
    log, names = tmp_path / "a.json", words.split()[-2:]
    more = ["--seed", "1", "-l", str(log), "--timeout-scale", "0"]
    assert main(["play", *words.split(), *more]) == 0
    assert seen == sorted(seen)
    assert len({*seen}) > 3
    assert (rows[0]["key"], rows[0]["live"], rows[0]["names"]) == ("l0", "live", names)
    assert [*tmp_path.iterdir()] == [log]
    (row,) = library.matches()["matches"]
    assert row["game"] == rows[0]["game"]
    assert library.any_match(row["key"])["steps"] == library.any_match("l0")["steps"]


def test_matches_of_other_games_are_watched(tmp_path: Path) -> None:
    """An arena of another game writes its matches, and their view grows."""
    game = make_game("vestrock:turns=6")
    settings_of = {"game": game_to_json(game), "seed": 5, "card_seed": None}
    folder = tmp_path / "live"
    folder.mkdir()
    page = Client([folder])
    library = page.library
    players = [game.make_agent("rule"), game.make_agent("random")]
    result = play(players, game.new_match(5), timeout_scale=0)
    views: list[dict[str, Any]] = []
    with LiveLog(folder / f"1{LIVE_SUFFIX}", None, NAMES, settings_of) as log:
        (row,) = library.matches()["matches"]
        assert (row["game"], row["rules"], row["live"]) == ("Vestrock", None, "live")
        assert row["names"] == [*NAMES]
        for call in result.calls:
            log.add(call)
            views.append(library.any_match(row["key"]))
    assert [len(view["steps"]) for view in views] == list(range(2, 2 + len(result.calls)))
    assert [view["running"] for view in views] == [True] * (len(views) - 1) + [False]
    assert views[-1]["steps"] == [*view_steps(result, game)]
    assert views[-1]["scores"] == list(result.scores)
    with page:
        shown = page.get("/api/match", match=row["key"], have=3)
    assert (shown["start"], len(shown["steps"])) == (3, len(views[-1]["steps"]) - 3)


def test_arenas_of_other_games_write_their_matches(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    live = tmp_path / f"a.db{LIVE_SUFFIX}"
    live.mkdir()
    heads: list[Any] = []
    with Arena(db, ["rule", "random"], game="vestrock:turns=4", games=2, seed=1) as arena:
        numbers = [1, 2]
        begin = LiveLog.__init__

        def begun(self: LiveLog, *arguments: Any) -> None:
            begin(self, *arguments)
            (file,) = live.iterdir()
            heads.append(json.loads(file.read_text()))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LiveLog, "__init__", begun)
            play_games(arena.settings.task(numbers), str(live))
        fixtures = [arena.settings.fixture(number) for number in numbers]
    assert [head["seed"] for head in heads] == [fixture.seed for fixture in fixtures]
    for head in heads:
        again, match = begun_match(head)
        assert (again.title, match.params["turns"]) == ("Vestrock", 4)
    assert [*live.iterdir()] == []

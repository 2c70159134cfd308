"""Reports and trees of variations as pages ask for them: progress, stops, limits."""

import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers import match_of, raises, write_log
from starlette.exceptions import HTTPException
from web_client import Client

from locmsim import Match, State
from locmsim.arena import Arena
from locmsim.game.positions import start_position
from locmsim.referee import Result
from locmsim.referee.turn_report import LEAST_LOSS, report_game
from locmsim.rules.generator import generate_cards
from locmsim.search import BeamSearch
from locmsim.web.jobs import Job, Jobs
from locmsim.web.news import News


@pytest.fixture
def page() -> Iterator[Client]:
    with Client() as page:
        yield page


def add(page: Client, rules: str = "1.5") -> tuple[str, Any]:
    result = match_of(rules)
    return page.site.library.add(result, ("ann", "bob")), result


def path_to(page: Client, key: str, turn: int) -> list[str]:
    """Return the actions of a match up to a turn, with PASS at the end of each turn."""
    steps = page.get("/api/match", match=key)["steps"][1:]
    return [step["action"] or "PASS" for step in steps if step["turn"] < turn] + ["PASS"]


@pytest.mark.slow
def test_a_report_is_that_of_the_library(page: Client) -> None:
    key, result = add(page)
    view = page.post("/api/report/start", match=key, nodes=200, seed=3)
    assert len((view["result"] or {"turns": []})["turns"]) == view["done"] <= view["of"]
    view = page.ended(view)
    assert (view["state"], view["error"], view["done"]) == ("done", None, view["of"])
    shown = view["result"]
    expected = report_game(result, nodes=200, seed=3).to_json()
    # The page shows the cards of the choice by their keys.
    cards = page.get("/api/match", match=key)["cards"]
    assert [deck["player"] for deck in shown["decks"]] == [0, 1]
    for one in [one for deck in shown["decks"] for one in deck["worst"]]:
        for which in ("picked", "better"):
            assert cards[one.pop(f"{which}_key")]["row"][0] == one[which]
    assert "calibrated on" in shown["decks_note"]
    assert {name: shown[name] for name in expected} == expected
    assert shown["least_loss"] == LEAST_LOSS
    # A second request gets the finished job at once.
    again = page.post("/api/report/start", match=key, nodes=200, seed=3)
    assert (again["job"], again["version"]) == (view["job"], view["version"])
    other = page.post("/api/report/start", match=key, nodes=100, seed=3)
    assert other["job"] != view["job"]
    page.ended(other)


def test_cards_of_one_name_get_their_numbers_everywhere(page: Client) -> None:
    """Different cards with the same name are numbered by their set to tell them apart."""
    same_names = [
        replace(card, name="Grey Bat" if card.base_id % 2 else "Old Golem")
        for card in generate_cards(4)
    ]
    key = page.site.library.add(match_of(cards=same_names), ("ann", "bob"))
    numbered = re.compile(r"(Grey Bat|Old Golem)(?! \d)")

    def check(words: list[str]) -> None:
        assert words
        assert not [text for text in words if numbered.search(text)]

    shown = page.get("/api/match", match=key)
    check([step["words"] for step in shown["steps"] if step["action"]])
    at, step = next((i, step) for i, step in enumerate(shown["steps"]) if step["action"])
    place = {"match": key, "path": [one["action"] or "PASS" for one in shown["steps"][1:at]]}
    after = page.post("/api/machine/walk", **place, actions=[step["action"]])
    check([words for words in after["words"] if words])
    check([card["title"] for card in after["cards"].values()])
    found = page.post("/api/machine/analyse", **place, seconds=0.1)
    check([text for line in found["lines"] for text in line["words"]])
    check([title for _, _, title in found["held"]])
    asked = {**place, "nodes": 20}
    tree = page.ended(page.post("/api/tree/start", **asked))["result"]
    check([step["words"] for line in tree["lines"] for step in line["steps"] if step["action"]])
    check([card["title"] for card in tree["cards"].values()])
    possible = page.post("/api/tree/holdable", **place)
    check([card["title"] for card in possible["cards"].values()])


def test_a_report_that_cannot_be(page: Client) -> None:
    key, _ = add(page)
    assert "no match" in page.post("/api/report/start", 400, match="p9")["error"]
    told = page.post("/api/report/start", 400, match=key, nodes=0)
    assert told["error"] == "nodes: expected 1 to 1000000, got 0"
    broken = Match(seed=1)
    broken.submit(0, None), broken.submit(1, "PASS")
    empty = page.site.library.add(
        Result(broken, (-1, 1), 1, broken.error, (), ("", ""), 0), ("", "")
    )
    assert "before the battle" in page.post("/api/report/start", 400, match=empty)["error"]


def test_a_tree_grows_and_is_stopped(page: Client) -> None:
    key, _ = add(page)
    path = path_to(page, key, 6)
    asked = {"match": key, "path": path, "worlds": 2, "lines": 2, "seed": 5, "nodes": 3000}
    shown = page.ended(page.post("/api/tree/start", **asked))["result"]
    assert "at most 3,000 positions" in shown["budget"]
    assert len(shown["lines"]) == 2
    for line in shown["lines"]:
        # The chance of winning with a turn is the one that the panel Engine tells.
        actions = ";".join(step["action"] for step in line["steps"][1:])
        told = page.post("/api/machine/chance", match=key, path=path, line=actions)
        assert line["chance"] == told["chance"]
        assert {step["turn"] for step in line["steps"]} == {6}
        assert [world["seed"] for world in line["worlds"]] == [5, 6]
        for world in line["worlds"]:
            assert all(card in shown["cards"] for card in world["hand"])
            assert 1 <= len(world["replies"]) <= 2
            for reply in world["replies"]:
                assert {step["turn"] for step in reply["steps"]} == {7}
                assert {step["turn"] for step in reply["next"]["steps"]} == {8}
                assert -1 <= reply["value"] <= 1
    # A search that would take long.
    view = page.post("/api/tree/start", **{**asked, "nodes": 1_000_000})
    while not view["result"]:
        view = page.get("/api/jobs", job=view["job"], known=view["version"])
    page.post("/api/jobs/stop", job=view["job"])
    view = page.ended(view)
    assert view["state"] == "stopped"
    assert view["result"]["lines"]


def test_a_search_of_the_engine_is_stopped(page: Client) -> None:
    """A round of 30 seconds ends without its lines; requests to stop other searches do nothing."""
    key, _ = add(page)
    asked = {"match": key, "path": [], "search": "mine"}
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(page.post, "/api/machine/analyse", **asked, seconds=30)
        while not answer.done():
            page.post("/api/machine/stop", search="other")
            page.post("/api/machine/stop", search="mine")
        assert answer.result() == {"stopped": True}
    found = page.post("/api/machine/analyse", **asked, seconds=0.1)
    assert (found["stopped"], bool(found["lines"])) == (False, True)


def test_a_search_that_was_left_makes_room_at_once(
    page: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches that were told to stop take a moment to end: others need not wait for that."""
    key, _ = add(page)
    asked = {"match": key, "path": [], "seconds": 0.01}
    inside = threading.Semaphore(0)
    ends = threading.Event()

    def endless(*arguments: Any, check: Any, **options: Any) -> None:
        inside.release()
        assert ends.wait(60)
        check()

    with ThreadPoolExecutor(2) as pool, monkeypatch.context() as patch:
        patch.setattr("locmsim.web.machine.analyse", endless)
        answers = [
            pool.submit(page.post, "/api/machine/analyse", **asked, search=name)
            for name in ("mine", "theirs")
        ]
        for _ in answers:
            assert inside.acquire(timeout=60)
        patch.undo()
        error = page.post("/api/machine/analyse", 429, **asked)["error"]
        assert "other searches are running" in error
        page.post("/api/machine/stop", search="mine")
        assert not page.post("/api/machine/analyse", **asked)["stopped"]
        assert not any(answer.done() for answer in answers)
        page.post("/api/machine/stop", search="theirs")
        ends.set()
        assert [answer.result() for answer in answers] == 2 * [{"stopped": True}]


def test_a_stopped_job_does_no_more_work(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop ends the long searches of a report, and no further turn is searched."""
    key, _ = add(page)
    search = BeamSearch.search
    begun: list[int] = []
    ended: list[int] = []

    def long_search(self: BeamSearch, *arguments: Any, nodes: int, **options: Any) -> Any:
        begun.append(nodes)
        check = options["check"]
        while len(begun) > 2:  # the third search never ends by itself
            check()
        found = search(self, *arguments, nodes=nodes, **options)
        ended.append(nodes)
        return found

    monkeypatch.setattr(BeamSearch, "search", long_search)
    view = page.post("/api/report/start", match=key, nodes=100)
    while len(begun) < 3:
        view = page.get("/api/jobs", job=view["job"], known=view["version"])
    page.post("/api/jobs/stop", job=view["job"])
    view = page.ended(view)
    assert (view["state"], view["done"], len(begun), len(ended)) == ("stopped", 2, 3, 2)
    assert len(view["result"]["turns"]) == 2


def test_a_tree_of_a_position_and_of_a_begun_turn(page: Client) -> None:
    state = start_position(3)
    action = state.legal_actions()[1]
    text = state.to_text()
    done = [state.action_to_string(action)]
    key = page.post("/api/match/setup", text=text)["match"]
    asked = {"match": key, "done": done, "worlds": 1, "lines": 1, "replies": 1, "nodes": 2000}
    shown = page.ended(page.post("/api/tree/start", **asked))["result"]
    begun = State.from_text(text)
    begun.apply_action(action)
    first, *steps = shown["lines"][0]["steps"]
    assert first["board"]["sides"][0]["mana"] == begun.players[0].mana
    legal = [begun.action_to_string(action) for action in begun.legal_actions()[1:]]
    assert {step["action"] for step in steps[:1]} <= {*legal}
    assert "done" in page.post("/api/tree/start", 400, **{**asked, "done": "PASS"})["error"]
    page.post("/api/tree/start", 400, **{**asked, "done": ["SUMMON 200 0"]})


@pytest.mark.parametrize("kind", ["log", "results"])
def test_another_match_in_the_same_file(tmp_path: Path, kind: str) -> None:
    """What was found of the match that it had before is not shown as that of the new one."""
    for seed in (4, 7):
        if kind == "log":
            write_log(tmp_path / f"{seed}.json", match_of(seed=seed), ("ann", "bob"))
            continue
        with Arena(
            tmp_path / f"{seed}.db", ["greedy", "random"], seeds=[seed], timeout_scale=0
        ) as arena:
            arena.run(jobs=1)
    file = tmp_path / ("a.json" if kind == "log" else "a.db")
    shutil.copy(tmp_path / f"4{file.suffix}", file)
    found = []
    with Client([file]) if kind == "log" else Client((), [file]) as page:
        asked = {"worlds": 1, "lines": 1, "replies": 1, "nodes": 2000}
        for seed in (4, 7, 4):
            shutil.copy(tmp_path / f"{seed}{file.suffix}", file)
            key = page.get("/api/matches")["matches"][-1]["key"]
            place = {"match": key, "path": path_to(page, key, 6)}
            tree = page.ended(page.post("/api/tree/start", **place, **asked))["result"]
            mistakes = page.ended(page.post("/api/practice/mistakes", match=key, seat=1))["result"]
            found.append((tree["lines"], mistakes["mistakes"]))
    assert found[0] == found[2]
    assert found[0][0] != found[1][0]
    assert found[0][1] != found[1][1]


@pytest.mark.parametrize("rules", ["1.5", "1.2"])
def test_what_they_may_hold(page: Client, rules: str) -> None:
    key, _ = add(page, rules)
    place = {"match": key, "path": path_to(page, key, 4)}
    asked = {**place, "nodes": 300, "worlds": 2}
    told = page.post("/api/tree/holdable", **place)
    assert [row["chance"] for row in told["possible"]] == sorted(
        (row["chance"] for row in told["possible"]), reverse=True
    )
    rare = told["possible"][-1]
    assert rare["key"] in told["cards"]
    view = page.ended(page.post("/api/tree/start", **asked, hand=[rare["base_id"]]))
    shown = view["result"]
    for world in shown["lines"][0]["worlds"]:
        rows = [shown["cards"][key]["row"][0] for key in world["hand"]]
        assert rare["base_id"] in rows
        assert len(rows) == told["size"]
    error = page.post("/api/tree/start", 400, **asked, hand=[999])["error"]
    assert error == "hand: no card 999 can occur in this game"
    if rules == "1.5":
        error = page.post("/api/tree/start", 400, **asked, hand=[rare["base_id"]] * 3)["error"]
        assert f"3 of card {rare['base_id']}" in error
    error = page.post("/api/tree/start", 400, **asked, hand=[rare["base_id"]] * 9)["error"]
    assert error == f"hand: the opponent holds {told['size']} cards, got 9"
    page.post("/api/tree/start", 400, **asked, hand="12")


# ------------------------------------------------------------------------------------------- jobs


class Steps:
    """A job whose steps a test allows one by one."""

    def __init__(self) -> None:
        self.allowed = threading.Semaphore(0)

    def __call__(self, job: Job) -> None:
        for i in range(100):
            self.allowed.acquire()
            job.update(i + 1, 100, {"steps": i + 1})


def test_two_at_a_time() -> None:
    """A job that was stopped takes a moment to end: it makes room at once all the same."""
    news = News()
    jobs = Jobs(news)
    works = [Steps() for _ in range(3)]
    first, second = (jobs.start(i, works[i]) for i in range(2))
    raises(HTTPException, "other searches are running", jobs.start, 2, works[2])
    assert jobs.start(0, works[2]) is first  # the same job
    before = news.version("job:j1")
    assert before is not None
    assert news.version("job:j7") is None
    first.stop()
    third = jobs.start(0, works[2])  # a stopped job starts again
    assert third is not first
    assert first.running
    works[0].allowed.release()
    first.join(30)
    assert first.to_json()["state"] == "stopped"
    assert news.version("job:j1") != before
    for work in works:
        work.allowed.release()
    jobs.close()
    assert [job.to_json()["state"] for job in (second, third)] == ["stopped", "stopped"]
    raises(HTTPException, "closing", jobs.start, 3, works[0])


def test_nobody_looks() -> None:
    work = Steps()
    job = Job("j1", work, unseen=0.0)
    job.start()
    work.allowed.release()
    job.join(30)
    assert job.to_json()["state"] == "stopped"
    assert job.to_json()["result"] == {"steps": 1}


def test_what_goes_wrong_is_told() -> None:
    for error, told in ((ValueError("no"), "no"), (KeyError("a"), "KeyError: 'a'")):

        def work(job: Job, error: Exception = error) -> None:
            raise error

        job = Job("j1", work)
        job.start()
        job.join(30)
        assert (job.to_json()["state"], job.to_json()["error"]) == ("failed", told)


def test_jobs_that_are_gone(page: Client) -> None:
    assert "start it again" in page.get("/api/jobs", 404, job="j9")["error"]
    page.post("/api/jobs/stop", 404, job="j9")

"""Matches of any game as pages show them: text, words, scores, and drawings that are images."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import pytest
from helpers import RULE_SETS

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.arena import Arena, LocmGame, make_game
from locmsim.cli.main import main
from locmsim.contract import BaseGame, View
from locmsim.referee import play
from locmsim.referee.plain import view_steps
from locmsim.vestrock.game import VestrockGame

pytest.importorskip("starlette", reason="starlette is not installed")
testclient = pytest.importorskip("starlette.testclient", reason="httpx2 is not installed")

from locmsim.web.app import create_app  # noqa: E402
from locmsim.web.library import Library  # noqa: E402
from locmsim.web.site import Site  # noqa: E402


def vestrock_db(path: Path) -> Path:
    with Arena(["one=rule", "two=random"], game="vestrock:turns=20", db=path, games=2, seed=1) as a:
        a.run(jobs=1)
    return path


def asker(library: Library) -> Any:
    site = Site(library)
    client = testclient.TestClient(create_app(site), base_url="http://127.0.0.1:8000")

    def ask(path: str, status: int = 200, **query: Any) -> Any:
        answer = client.get(path, params={"token": site.token, **query})
        assert answer.status_code == status, answer.text
        return answer.json()

    return ask


def test_a_game_of_vestrock(tmp_path: Path) -> None:
    db = vestrock_db(tmp_path / "a.db")
    ask = asker(Library(dbs=[str(db)]))
    rows = ask("/api/games")["games"]
    assert [(row["key"], row["game"], row["rules"]) for row in rows] == [
        ("d0:2", "Vestrock", None),
        ("d0:1", "Vestrock", None),
    ]
    shown = ask("/api/view", game="d0:1")
    with Arena.load(db) as arena:
        result = arena.replay(1)
    assert (shown["title"], shown["turn"], shown["scores"]) == (
        "Vestrock", "turn", list(result.scores)
    )  # fmt: skip
    assert len(shown["steps"]) == 1 + len(result.calls)
    assert shown["steps"][0]["words"] == ""
    match = result.match.root()
    for step, call in zip(shown["steps"][1:], result.calls, strict=True):
        done = match.submit(call.player, call.answer).applied
        assert step["scores"] == [int(health) for health in match.state.health]
        assert f"player 0: {match.state.health[0]} health" in step["text"]
        assert (step["turn"], step["player"]) == (call.turn, call.player)
        if "DRAW_CARD" in done:
            assert "draws a card" in step["words"]
        head, _, data = step["image"].partition(",")
        assert head == "data:image/svg+xml;base64"
        root = ElementTree.fromstring(base64.b64decode(data))
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert len(texts) == 2 + 2 * sum(
            len(match.state.hand(player)) + len(match.state.board(player)) for player in (0, 1)
        )
    assert "no match" in ask("/api/view", 400, game="d0:x")["error"]
    assert "has no game 9" in ask("/api/view", 400, game="d0:9")["error"]


def test_a_log_of_another_game(tmp_path: Path) -> None:
    log = tmp_path / "a.json"
    words = ["--game", "vestrock:turns=6", "rule", "random", "--seed", "1", "-l", str(log)]
    assert main(["play", *words]) == 0
    ask = asker(Library([str(log)]))
    shown = ask("/api/view", game="f0")
    assert shown["names"] == ["rule", "random"]
    data = json.loads(log.read_text())
    assert shown["scores"] == data["scores"]
    assert [step["answer"] for step in shown["steps"][1:]] == [line for _, line in data["answers"]]
    data["scores"] = [1, 2]
    log.write_text(json.dumps(data))
    assert "when replayed" in ask("/api/view", 400, game="f0")["error"]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_match_of_locm(rules: str) -> None:
    agents = [make_agent("greedy"), make_agent("random")]
    result = play(agents, Match(rules, seed=4), timeout_scale=0)
    steps = [*view_steps(result, LocmGame(rules))]
    assert len(steps) == 1 + len(result.calls)
    assert result.match.state is not None
    assert steps[-1]["text"] == str(result.match.state)
    assert steps[-1]["scores"] == tuple(p.health for p in result.match.state.players)
    library = Library()
    shown = library.view(library.add(result, ("a", "")))
    assert (shown["names"], shown["title"]) == (["a", "Player 1"], f"rules {rules}")
    assert shown["steps"] == steps


HOSTILE = (
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">'
    '<script>alert(2)</script></svg>"><b>\udc80'
)


@dataclass(frozen=True)
class Hostile(VestrockGame):
    """A game that would like to be on the page with more than a picture."""

    title: ClassVar[str] = "<b>Hostile"

    def view(self, match: Any) -> View:
        return View("<i>text", "<u>words", (1, 2), HOSTILE)


def test_no_markup_of_a_game_enters_a_page(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with Arena(["rule", "random"], game=Hostile(turns=2), db=db, games=2, seed=1) as arena:
        arena.run(jobs=1)
    shown = asker(Library(dbs=[str(db)]))("/api/view", game="d0:1")
    for step in shown["steps"]:
        assert set(step) == {
            "turn", "player", "answer", "ignored", "text", "words", "scores", "image"
        }  # fmt: skip
        assert (
            step["image"]
            .partition(",")[2]
            .replace("=", "")
            .replace("/", "")
            .replace("+", "")
            .isalnum()
        )
        assert step["text"] == "<i>text"  # data: pages put it in as text


def test_a_game_that_says_nothing_about_it() -> None:
    game = make_game("vestrock:turns=4")
    assert isinstance(game, BaseGame)
    match = game.new_match(1)
    plain = BaseGame.view(game, match)
    assert (plain.text, plain.scores, plain.drawing) == (match.input_text(0), None, "")
    while match.to_ask:
        match.submit(match.to_ask[0], "")
    assert BaseGame.view(game, match) == View("", scores=tuple(match.scores or ()))

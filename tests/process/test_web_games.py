"""Tests of games against bots that are processes, through the server of the pages."""

import json
import os
import random
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from amounts import slow_after
from helpers import HOSTILE, children_of
from onnx_files import write_onnx

from locmsim import Match
from locmsim.game.positions import start_position
from locmsim.policy import Policy, PolicyChooser
from locmsim.web import load_replay, replay_html

pytest.importorskip("starlette", reason="starlette is not installed")
testclient = pytest.importorskip("starlette.testclient", reason="httpx2 is not installed")

from locmsim.web.app import create_app  # noqa: E402
from locmsim.web.library import Library  # noqa: E402
from locmsim.web.page_match import match_from  # noqa: E402
from locmsim.web.site import Site  # noqa: E402

SILENT = shlex.join([sys.executable, "-c", "import time; time.sleep(1000)"])
LOUD = shlex.join(
    [sys.executable, "-c", f"import sys; input(); sys.stderr.write({HOSTILE!r}); sys.exit(3)"]
)


class Table:
    """A client of the pages' server that plays a game as a page does."""

    def __init__(self, client: Any, site: Site) -> None:
        self.client, self.site, self.query = client, site, {"token": site.token}
        self.view: dict[str, Any] = {}

    def ask(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params={**self.query, **query})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def tell(self, what: str, code: int = 200, **data: Any) -> Any:
        answer = self.client.post(f"/api/play/{what}", params=self.query, json=data)
        assert answer.status_code == code, answer.text
        return answer.json()

    def new(self, opponent: str, rules: str = "1.5", seat: int = 0, **more: Any) -> None:
        players = [opponent, opponent]
        players[seat] = None
        self.begin(players=players, rules=rules, **more)

    def begin(self, **data: Any) -> None:
        self.view = self.page(self.tell("new", **data)["game"])["play"]

    def page(self, key: str) -> Any:
        return self.ask("/api/game", game=key)

    def change(self, what: str, code: int = 200, **data: Any) -> Any:
        place = {"game": self.view["game"], "version": self.view["version"], "client": "me"}
        answer = self.tell(what, code, **place, **data)
        self.view = answer if code == 200 else answer.get("view", self.view)
        return answer

    @property
    def board(self) -> Any:
        return self.view["steps"][-1]["board"]

    def wait(self) -> None:
        """Wait until the person must answer or the game is over."""
        deadline = time.monotonic() + 60
        while not self.view["asked"] and not self.view["over"]:
            assert time.monotonic() < deadline
            self.wait_for_news()

    def wait_for_news(self) -> None:
        """Wait until the game has a later version."""
        version = self.view["version"]
        while self.view["version"] == version:
            self.view = self.ask("/api/play/state", game=self.view["game"])
            time.sleep(0.01)

    def choose(self) -> None:
        """Make all choices of the choice phase by hints."""
        self.wait()
        while self.view["choice"] and not self.view["over"]:
            self.change("cards", cards=self.tell("hint", game=self.view["game"])["cards"])
            self.wait()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Callable[..., Table]]:
    """Yield a function that creates servers; at the end, none of their processes may be left."""
    opened: list[Any] = []
    before = set(children_of(os.getpid()))

    def make(*bots: str, **more: Any) -> Table:
        site = Site(Library(), bots, folder=str(tmp_path), hint_ms=0, hint_nodes=300, **more)
        client = testclient.TestClient(create_app(site), base_url="http://127.0.0.1")
        opened.append(client)
        client.__enter__()
        return Table(client, site)

    yield make
    for client in opened:
        client.__exit__(None, None, None)
    assert set(children_of(os.getpid())) <= before


@pytest.mark.parametrize("rules", slow_after(1, ["1.5", "1.2", "1.0"]))
def test_a_whole_game(rules: str, table: Callable[..., Table], tmp_path: Path) -> None:
    page = table()
    rng = random.Random(1)
    page.new("agent-random", rules, seat=1, seed=5)
    deck = page.page(page.view["game"])["cards"]
    page.choose()
    turns = 0
    while not page.view["over"]:
        view, board = page.view, page.board
        me, them = board["sides"][1], board["sides"][0]
        if not view["done"]:
            turns += 1
            starts = [step for step in view["steps"] if step["action"] is None]
            assert [step["player"] for step in starts[-2:]] == [0, 1]
            assert view["settled"] == len(view["steps"]) - 1
            for step in view["steps"]:
                assert step["words"] == "" if step["action"] is None else step["words"]
                assert set(step["board"]["sides"][0]["hand"]) <= {None}
            # The page gets only the steps and cards that it does not have.
            part = page.ask("/api/play/state", game=view["game"], have=view["settled"], known=10**6)
            assert (part["start"], part["steps"]) == (view["settled"], view["steps"][-1:])
            assert part["cards"] == {}
        assert board["player"] == 1
        assert set(them["hand"]) <= {None}
        assert all(key in deck for _, key in me["hand"])
        if turns == 2 and not view["done"]:
            advice = page.tell("hint", game=view["game"])
            assert 0 < advice["chance"] < 1
            for action in advice["actions"]:
                page.change("do", action=action)
            done = [step["words"] for step in page.view["steps"][view["settled"] + 1 :]]
            assert done == advice["words"]
            for _ in advice["actions"]:
                page.change("undo")
            assert page.board == board
            assert page.view["actions"] == view["actions"]
            assert "nothing to take back" in page.change("undo", 400)["error"]
        if view["actions"] and rng.random() < 0.9:
            page.change("do", action=rng.choice(view["actions"]))
        else:
            page.change("end")
        page.wait()
    over = page.view["over"]
    assert over["fault"] is None
    assert over["error"] == ""
    (path,) = tmp_path.glob("locmsim-*.json")
    assert over["path"] == str(path)
    result, names = load_replay(over["path"])
    assert names == ("random", "You")
    assert (result.winner, result.match.rules) == (over["winner"], rules)
    assert result.match.params["seed"] == 5
    assert sum(call.player == 1 and call.turn is not None for call in result.calls) == turns
    (game,) = page.ask("/api/games")["games"]
    assert (game["key"], game["names"]) == (over["replay"], ["random", "You"])
    # The replay has the same steps, now with both hands, and the person still sits below.
    replay = page.page(game["key"])
    assert replay["seat"] == 1
    assert [step["action"] for step in replay["steps"]] == [
        step["action"] for step in page.view["steps"][: len(replay["steps"])]
    ]
    assert [step["words"] for step in replay["steps"] if step["action"]] == [
        step["words"] for step in page.view["steps"] if step["action"]
    ]
    assert "game is over" in page.change("end", 409)["error"]


def test_two_pages_and_one_game(table: Callable[..., Table]) -> None:
    first = table()
    first.new("agent-random", "1.2", seed=1)
    first.wait()
    view = dict(first.view)
    first.change("cards", cards=view["choice"]["offer"][:1])
    place = {"game": view["game"], "version": view["version"], "client": "other"}
    late = first.tell("cards", 409, **place, cards=view["choice"]["offer"][:1])
    assert "went on in another page" in late["error"]
    assert late["view"]["version"] > view["version"]
    assert late["view"]["game"] == view["game"]
    first.wait()
    assert len(first.view["choice"]["chosen"]) == 1
    seen = first.ask("/api/play/state", game=view["game"])
    assert seen["version"] >= late["view"]["version"]
    # The bot has moved since, but the other page still learns who changed the game.
    assert (seen["by"], seen["by_version"]) == ("me", view["version"] + 1)
    assert seen["version"] > seen["by_version"]


def test_what_cannot_be_done(table: Callable[..., Table]) -> None:
    page = table()
    for data, why in (
        ({"players": ["x", None]}, "no such opponent"),
        ({"players": [SILENT, None]}, "no such opponent"),
        ({"players": [None, None]}, "two persons"),
        ({"players": ["agent-random"]}, "players: expected two"),
        ({"players": [None, "agent-random"], "rules": "2.0"}, "rules: expected one of"),
        ({"players": [None, "agent-random"], "seed": "1.5"}, "seed: expected an integer"),
        ({"players": [None, "agent-random"], "seed": 1 << 70}, "seed: expected"),
        ({"players": [None, "agent-random"], "from": "f7"}, "no match"),
    ):
        assert why in page.tell("new", 400, **data)["error"]
    assert "begin a new one" in page.tell("hint", 404, game="7")["error"]
    page.new("agent-random", seed=1)
    page.wait()
    offer = page.view["choice"]["offer"]
    for cards, why in (
        (offer[:29], "a deck has 30 cards, got 29"),
        ([offer[0]] * 30, "at most 2 of a card"),
        ([*offer[:29], "x"], "card 'x' is not offered"),
        ("x", "cards: expected a list"),
    ):
        assert why in page.change("cards", 400, cards=cards)["error"]
    assert "battle has not begun" in page.change("end", 400)["error"]
    page.change("cards", cards=offer[:30])
    page.wait()
    assert "chosen already" in page.change("cards", 400, cards=offer[:30])["error"]
    version = page.view["version"]
    for action in ("ATTACK 1 1", "JUMP", "PASS;PASS", ""):
        page.change("do", 400, action=action)
    assert page.view["version"] == version
    assert page.view["done"] == []


@pytest.mark.slow
def test_a_hanging_bot(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table(f"silent={SILENT}", timeout_scale=0.25)
    page.new("bot0")
    page.wait()
    page.change("cards", cards=page.view["choice"]["offer"][:30])
    assert page.view["asked"] is False
    # While the bot thinks, other requests are answered.
    (row,) = page.ask("/api/games")["games"]
    assert (row["key"], row["live"]) == (page.view["game"], "live")
    assert row["names"] == ["You", "silent"]
    assert "not your turn" in page.tell("hint", 400, game=page.view["game"])["error"]
    page.wait()
    fault = page.view["over"]["fault"]
    assert (fault["player"], fault["kind"]) == (1, "timeout")
    assert page.view["over"]["winner"] == 0
    assert load_replay(page.view["over"]["path"])[0].fault is not None


def test_a_game_that_is_left_ends_its_bot(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table(f"silent={SILENT}", timeout_scale=0)
    others = set(children_of(os.getpid()))  # processes of earlier tests
    page.new("bot0", seat=1)  # the bot is asked first and has no time limit
    deadline = time.monotonic() + 60
    while not (bots := set(children_of(os.getpid())) - others):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    page.tell("leave", game=page.view["game"])
    while set(children_of(os.getpid())) & bots:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert page.ask("/api/play/state", game=page.view["game"])["over"]["error"]
    assert list(tmp_path.iterdir()) == []
    page.new("bot0", seat=1)  # this bot ends with the server, which the fixture checks


def test_words_of_a_bot_that_crashes(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table(LOUD)
    page.new("bot0")
    page.choose()
    over = page.view["over"]
    assert over["fault"]["kind"] == "crashed"
    assert over["stderr"] == ["", HOSTILE]
    log = json.loads(Path(over["path"]).read_text())
    assert [agent["name"] for agent in log["agents"]] == ["You", LOUD]
    html = replay_html(*load_replay(over["path"]))
    assert html.count("<script") == 2


def test_a_folder_that_is_gone(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table(LOUD)
    page.new("bot0")
    page.wait()
    tmp_path.rmdir()
    page.choose()
    assert "No such file" in page.view["over"]["error"]
    assert page.ask("/api/games")["games"][0]["source"] == "played here"


def test_a_game_that_breaks_off(
    table: Callable[..., Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("no more")

    monkeypatch.setattr("locmsim.web.games.play", broken)
    page = table()
    page.new("agent-random")
    page.wait()
    assert page.view["over"] == {"error": "the game broke off: no more"}


@pytest.mark.slow
def test_only_so_many_games(table: Callable[..., Table]) -> None:
    page = table(f"silent={SILENT}", timeout_scale=0)
    for _ in range(12):
        page.new("bot0", seat=1)
    first = page.view["game"]
    data = {"players": ["bot0", None]}
    assert "12 games are being played here" in page.tell("new", 429, **data)["error"]
    assert page.ask("/api/play/state", game=first)["over"] is None


def test_two_bots_are_watched_as_they_play(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table()
    page.begin(players=["agent-random", "agent-greedy"], rules="1.2", seed=3)
    assert page.view["seat"] is None
    running = page.page(page.view["game"])
    assert [*running["agents"]] == ["random", "greedy"]
    assert running["params"]["seed"] == "3"
    seen = 0
    while not page.view["over"]:
        steps = page.view["steps"]
        assert len(steps) >= seen
        seen = len(steps)
        assert all(None not in side["hand"] for s in steps for side in s["board"]["sides"])
        page.wait_for_news()
    replay = page.page(page.view["over"]["replay"])
    assert replay["names"] == ["random", "greedy"]
    assert [s["board"] for s in replay["steps"]] == [
        s["board"] for s in page.view["steps"][: len(replay["steps"])]
    ]
    assert "game is over" in page.change("end", 409)["error"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["npz", "onnx"])
def test_a_trained_chooser_is_an_opponent_of_the_pages(
    kind: str, table: Callable[..., Table], tmp_path: Path
) -> None:
    """Against a person and in a game that is watched, with the cards that its file chooses."""
    network, path = Policy.random("mlp", layout="choice", seed=2), tmp_path / f"choice.{kind}"
    if kind == "npz":
        network.save(path)
    else:
        write_onnx(path, network, {"locmsim.rules": "1.5", "locmsim.layout": "choice"})
    agent = f"greedy:deck=policy:path={path}"
    page = table(agent, f"trained={agent}", timeout_scale=0)
    names = {one["key"]: one["name"] for one in page.ask("/api/play/choices")["opponents"]}
    assert names["bot1"] == "trained"
    page.begin(players=["bot0", "bot1"], rules="1.5", seed=3)
    while not page.view["over"]:
        page.wait_for_news()
    result, played = load_replay(page.view["over"]["path"])
    assert played[1] == "trained"
    assert result.match.chosen == [PolicyChooser(network).build(result.match.cards)] * 2
    page.new("bot1", seat=0, seed=4)
    page.wait()
    page.tell("leave", game=page.view["game"])


@pytest.mark.parametrize("rules", ["1.5", "1.0"])
def test_a_position_is_played_out(rules: str, table: Callable[..., Table]) -> None:
    """A position can be played out from either side against a bot that sees only its own view."""
    page = table(timeout_scale=0)
    state = start_position(7, rules)
    for _ in range(9):
        state.apply_action(state.legal_actions()[-1])
    answer = page.client.post("/api/game/setup", params=page.query, json={"text": state.to_text()})
    key = answer.json()["game"]
    mover = state.current_player()
    for seat in (mover, 1 - mover):
        players: list[Any] = ["agent-osl", "agent-osl"]
        players[seat] = None
        page.begin(**{"from": key, "step": 0, "players": players})
        page.wait()
        if seat == mover:
            assert page.view["steps"][0]["board"]["turn"] == state.turn
            assert page.board["sides"][seat]["health"] == state.players[seat].health
        for _ in range(60):
            if page.view["over"]:
                break
            assert page.board["player"] == seat
            assert set(page.board["sides"][1 - seat]["hand"]) <= {None}
            page.change("end")
            page.wait()
        assert page.view["over"]["winner"] in (0, 1)
        assert page.view["over"]["fault"] is None
        assert page.view["over"]["path"] == ""


def test_a_bot_that_begins_in_a_position_has_time_to_start() -> None:
    """In a game from a position, first answers have a longer limit, so that programs can start."""
    state = start_position(7, "1.0")
    state.apply_action(0)
    match = match_from(state)
    match.watch = lambda player, before, applied, line: None
    player = state.current_player()
    assert match.time_limit_ms(player) == 1000
    match.submit(player, "PASS")
    assert match.time_limit_ms(1 - player) == 1000
    match.submit(1 - player, "PASS")
    assert match.time_limit_ms(player) == Match.time_limit_ms(match, player) < 1000

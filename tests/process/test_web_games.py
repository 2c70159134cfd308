"""Tests of games against bots that are processes, through the server of the pages."""

import contextlib
import json
import os
import random
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from amounts import slow_after
from helpers import HOSTILE, children_of, wait_for
from onnx_files import write_onnx
from web_client import Client

from locmsim import Match
from locmsim.game.positions import start_position
from locmsim.policy import Policy, PolicyChooser
from locmsim.web import load_replay

SILENT = shlex.join([sys.executable, "-c", "import time; time.sleep(1000)"])
LOUD = shlex.join(
    [sys.executable, "-c", f"import sys; input(); sys.stderr.write({HOSTILE!r}); sys.exit(3)"]
)


class Table(Client):
    """A client of the pages' server that plays a game as a page does."""

    def __init__(self, *bots: str, **options: Any) -> None:
        super().__init__(bots=bots, **options)
        self.view: dict[str, Any] = {}
        self.seat = 0

    def tell(self, what: str, code: int = 200, **data: Any) -> Any:
        return self.post(f"/api/{what}", code, **data)

    def new(self, opponent: str, rules: str = "1.5", seat: int = 0, **more: Any) -> None:
        players = [opponent, opponent]
        players[seat] = None
        self.begin(players=players, rules=rules, **more)

    def begin(self, **data: Any) -> None:
        page = self.page(self.tell("play/new", **data)["match"])
        self.view, self.seat = page["play"], page["seat"]

    def page(self, key: str) -> Any:
        return self.get("/api/match", match=key)

    def machine(self, what: str, code: int = 200, **asked: Any) -> Any:
        answer = self.tell(f"machine/{what}", code, match=self.view["match"], **asked)
        if code == 200 and "version" in answer:
            self.view = answer
        return answer

    def take(self, cards: Any, code: int = 200) -> Any:
        """Choose cards."""
        place = {"match": self.view["match"], "version": self.view["version"], "cards": cards}
        answer = self.tell("play/choose", code, **place)
        self.view = answer if code == 200 else answer.get("standing", self.view)
        return answer

    def play(self, *actions: str, code: int = 200, back: int = 0) -> Any:
        """Carry out actions of the person, or take some back."""
        path = self.view["path"][: len(self.view["path"]) - back]
        place = {"version": self.view["version"], "path": path, "actions": actions}
        return self.machine("walk", code, **place)

    def look(self) -> Any:
        """Return the position, with what is legal in it."""
        return self.machine("walk", path=self.view["path"], actions=[])

    def offers(self) -> Any:
        return self.machine("offers")["offers"]

    def wait(self) -> None:
        """Let the bot play, if it is its turn, until the person must answer or the game is over."""
        while not self.view["over"] and not self.view["choosing"]:
            if self.look()["board"]["player"] == self.seat:
                return
            self.machine("turn", path=self.view["path"])

    def choose(self) -> None:
        """Make all choices of the choice phase by advice."""
        while self.view["choosing"]:
            (line,) = self.machine("answers")
            offer = self.offers()[-1]
            if line.startswith("PICK"):
                self.take([offer[int(line.split()[1])]])
                continue
            ids = {key.split("-")[0]: key for key in offer}
            self.take([ids[part.split()[1]] for part in line.split(";")])
        self.wait()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Callable[..., Table]]:
    """Yield a function that creates servers; at the end, none of their processes may be left."""
    before = set(children_of(os.getpid()))

    def make(*bots: str, **more: Any) -> Table:
        return pages.enter_context(Table(*bots, folder=str(tmp_path), **more))

    with contextlib.ExitStack() as pages:
        yield make
    assert set(children_of(os.getpid())) <= before


@pytest.mark.parametrize("rules", slow_after(1, ["1.5", "1.2", "1.0"]))
def test_a_whole_game(rules: str, table: Callable[..., Table], tmp_path: Path) -> None:
    page = table()
    rng = random.Random(4)
    page.new("agent-random", rules, seat=1, seed=5)
    assert page.page(page.view["match"])["params"] == {}
    page.choose()
    turns = 0
    while not page.view["over"]:
        turns += 1
        begun = page.view["path"]
        start = page.look()
        assert start["board"]["player"] == 1
        assert set(start["board"]["sides"][0]["hand"]) <= {None}
        found = start
        while found["actions"] and rng.random() < 0.3:
            action = rng.choice(found["actions"])
            after = page.play(action)
            assert page.view["path"][-1] == action
            if after["boards"][-1]["winner"] is not None:
                break
            assert page.play(back=1)["board"] == found["board"]
            found = {**page.play(action), "board": after["boards"][-1]}
        if not page.view["over"]:
            page.play("PASS")
        # A turn that was ended stays as it was, and nothing of the other hand is told.
        late = page.tell(
            "machine/walk", 409, match=page.view["match"], version=0, path=begun, actions=["PASS"]
        )
        assert page.view["match"] == late["standing"]["match"]
        whole = page.machine("walk", path=[], actions=page.view["path"])
        if not page.view["over"]:
            for board in whole["boards"]:
                assert set(board["sides"][0]["hand"]) <= {None}
            assert whole["actions"] == []
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
    (game,) = page.get("/api/matches")["matches"]
    assert (game["key"], game["names"]) == (over["replay"], ["random", "You"])
    # The replay has the same steps, now with both hands, and the person still sits below.
    replay = page.page(game["key"])
    assert replay["seat"] == 1
    played = [step["action"] or "PASS" for step in replay["steps"][1:]]
    assert played[: len(page.view["path"])] == page.view["path"]
    told = page.machine("walk", path=[], actions=page.view["path"])
    for step, words in zip(replay["steps"][1:], told["words"], strict=False):
        assert step["words"] == words
    assert "match is over" in page.play("PASS", code=409)["error"]


def test_what_is_hidden_stays_on_the_server(table: Callable[..., Table]) -> None:
    """Nothing beyond the person's own turn is told, and no advice for the other side."""
    page = table()
    page.new("agent-greedy", seed=3)
    assert len(page.offers()) == 1
    page.choose()
    path = page.view["path"]
    for what, asked in (
        ("walk", {"path": path, "actions": ["PASS"]}),
        ("walk", {"path": [*path, "PASS"], "actions": []}),
        ("walk", {"path": [*path, "PASS"], "actions": ["PASS"]}),
        ("chance", {"path": [*path, "PASS"], "line": ""}),
        ("analyse", {"path": [*path, "PASS"], "done": []}),
    ):
        assert "in your own turns" in page.machine(what, 400, **asked)["error"]
    assert 0 < page.machine("chance", path=path, line="")["chance"] < 1
    found = page.machine("analyse", path=path, done=[], seconds=0.03, seed=1)
    assert found["lines"]
    page.play("PASS")
    page.wait()
    first = len(path) + 1
    theirs = page.view["path"][:first]
    assert "own turns" in page.machine("chance", 400, path=theirs, line="")["error"]
    # In a draft the next offers are not told before the pick.
    page.new("agent-greedy", "1.0", seed=3)
    for pick in range(3):
        assert len(page.offers()) == pick + 1
        page.take(page.offers()[-1][:1])


def test_a_bot_is_asked_once_for_a_turn(table: Callable[..., Table]) -> None:
    page = table()
    page.new("agent-random", "1.0", seat=1, seed=2)
    page.choose()
    first = page.machine("turn", path=[])
    assert first["actions"] == page.view["path"][:-1]
    assert page.machine("turn", path=[])["actions"] == first["actions"]
    assert "another page" in page.machine("turn", 409, path=["PASS", "PASS", "PASS"])["error"]


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
        assert why in page.tell("play/new", 400, **data)["error"]
    assert "begin a new one" in page.tell("machine/answers", 404, match="g7")["error"]
    page.new("agent-random", seed=1)
    offer = page.offers()[0]
    for cards, why in (
        (offer[:29], "a deck has 30 cards, got 29"),
        ([offer[0]] * 30, "at most 2 of a card"),
        ([*offer[:29], "x"], "card 'x' is not offered"),
        ("x", "cards: expected a list"),
    ):
        assert why in page.take(cards, 400)["error"]
    assert "battle has not begun" in page.play("PASS", code=400)["error"]
    place = {"match": page.view["match"], "version": page.view["version"]}
    page.take(offer[:30])
    late = page.tell("play/choose", 409, **place, cards=offer[:30])
    assert "went on in another page" in late["error"]
    assert late["standing"]["version"] > place["version"]
    page.wait()
    assert "chosen already" in page.take(offer[:30], 400)["error"]
    version = page.view["version"]
    for action in ("ATTACK 1 1", "JUMP", "PASS;PASS", ""):
        page.play(action, code=400)
    page.play("PASS", "PASS", code=400)
    assert page.get("/api/play/state", match=page.view["match"])["version"] == version


@pytest.mark.slow
def test_a_hanging_bot(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table(f"silent={SILENT}", timeout_scale=0.25)
    page.new("bot0", seat=1)
    (row,) = page.get("/api/matches")["matches"]
    assert (row["key"], row["live"]) == (page.view["match"], "live")
    assert row["names"] == ["silent", "You"]
    page.take(page.offers()[0][:30])
    fault = page.view["over"]["fault"]
    assert (fault["player"], fault["kind"]) == (0, "timeout")
    assert page.view["over"]["winner"] == 1
    assert load_replay(page.view["over"]["path"])[0].fault is not None


def test_a_game_that_is_left_ends_its_bot(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table(f"silent={SILENT}", timeout_scale=0)
    others = set(children_of(os.getpid()))  # processes of earlier tests

    def wait(page: Table) -> threading.Thread:
        """Choose cards in another thread, which waits for the bot: it has no time limit."""
        offer = page.offers()[0]
        waiting = threading.Thread(target=page.take, args=(offer[:30],))
        waiting.start()
        return waiting

    page.new("bot0", seat=1)
    waiting = wait(page)
    bots = wait_for(lambda: set(children_of(os.getpid())) - others)
    # While the bot thinks, other requests are answered.
    assert page.get("/api/matches")["matches"]
    page.tell("play/leave", match=page.view["match"])
    wait_for(lambda: not set(children_of(os.getpid())) & bots)
    waiting.join()
    assert page.get("/api/play/state", match=page.view["match"])["over"]["error"]
    assert list(tmp_path.iterdir()) == []


def test_words_of_a_bot_that_crashes(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table(LOUD)
    page.new("bot0")
    page.choose()
    over = page.view["over"]
    assert over["fault"]["kind"] == "crashed"
    assert over["stderr"] == ["", HOSTILE]
    log = json.loads(Path(over["path"]).read_text())
    assert [agent["name"] for agent in log["agents"]] == ["You", LOUD]
    page.new("bot0")
    shutil.rmtree(tmp_path)  # where logs are saved
    page.choose()
    assert "No such file" in page.view["over"]["error"]
    assert page.get("/api/matches")["matches"][0]["source"] == "played here"


def test_a_game_that_breaks_off(
    table: Callable[..., Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("no more")

    monkeypatch.setattr("locmsim.web.hosted_matches.Sitting", broken)
    page = table()
    page.new("agent-random")
    page.take(page.offers()[0][:30])
    assert page.view["over"] == {"error": "the match broke off: no more"}


def test_two_bots_are_watched_as_they_play(table: Callable[..., Table], tmp_path: Path) -> None:
    page = table()
    page.begin(players=["agent-random", "agent-greedy"], rules="1.2", seed=3)
    assert page.seat is None
    running = page.page(page.view["match"])
    assert [*running["agents"]] == ["random", "greedy"]
    assert running["params"] == {}
    boards: list[Any] = []
    while not page.view["over"]:
        found = page.machine("turn", path=page.view["path"])
        assert found["actions"] == [one for one in found["actions"] if one != "PASS"]
        boards = page.machine("walk", path=[], actions=page.view["path"])["boards"]
        assert all(None not in side["hand"] for board in boards for side in board["sides"])
    replay = page.page(page.view["over"]["replay"])
    assert replay["names"] == ["random", "greedy"]
    assert [s["board"] for s in replay["steps"][1:]][: len(boards)] == boards
    assert "match is over" in page.play("PASS", code=409)["error"]


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
    names = {one["key"]: one["name"] for one in page.get("/api/play/choices")["opponents"]}
    assert names["bot1"] == "trained"
    page.begin(players=["bot0", "bot1"], rules="1.5", seed=3)
    while not page.view["over"]:
        page.machine("turn", path=page.view["path"])
    result, played = load_replay(page.view["over"]["path"])
    assert played[1] == "trained"
    assert result.match.chosen == [PolicyChooser(network).build(result.match.cards)] * 2
    page.new("bot1", seat=0, seed=4)
    page.tell("play/leave", match=page.view["match"])


@pytest.mark.parametrize("rules", ["1.5", "1.0"])
def test_a_position_is_played_out(rules: str, table: Callable[..., Table]) -> None:
    """A position can be played out from either side against a bot that sees only its own view."""
    page = table(timeout_scale=0)
    state = start_position(7, rules)
    for _ in range(30):
        state.apply_action(state.legal_actions()[-1])
    key = page.post("/api/match/setup", text=state.to_text())["match"]
    mover = state.current_player()
    for seat in (mover, 1 - mover):
        players: list[Any] = ["agent-osl", "agent-osl"]
        players[seat] = None
        page.begin(**{"from": key, "step": 0, "players": players})
        page.wait()
        if seat == mover:
            board = page.look()["board"]
            assert board["turn"] == state.turn
            assert board["sides"][seat]["health"] == state.players[seat].health
        for _ in range(60):
            if page.view["over"]:
                break
            board = page.look()["board"]
            assert board["player"] == seat
            assert set(board["sides"][1 - seat]["hand"]) <= {None}
            page.play("PASS")
            page.wait()
        assert page.view["over"]["winner"] in (0, 1)
        assert page.view["over"]["fault"] is None
        # It has a log, a replay that begins in the position, and a report.
        over = page.view["over"]
        result, names = load_replay(over["path"])
        assert names[seat] == "You"
        assert result.winner == over["winner"]
        replay = page.page(over["replay"])
        first = replay["steps"][0]["board"]
        assert (first["turn"], first["player"]) == (state.turn, mover)
        assert [step["action"] or "PASS" for step in replay["steps"][1:]] == page.view["path"]
        found = page.ended(page.tell("report/start", match=over["replay"], nodes=50))
        assert found["error"] is None
        assert next(turn["turn"] for turn in found["result"]["turns"]) == state.turn
        # Its turns can be tried again: what they gave away is told as in the report.
        lost = [turn for turn in found["result"]["turns"] if turn["player"] == seat]
        place = {"match": over["replay"], "turn": lost[0]["turn"]}
        opened = page.tell("practice/open", **place)
        assert opened["steps"][0]["board"]["turn"] == lost[0]["turn"]
        assert set(opened["steps"][0]["board"]["sides"][1 - seat]["hand"]) <= {None}
        best = page.tell("practice/solution", **place)
        assert page.tell("practice/check", **place, actions=best["actions"])["solved"]
        job = page.ended(page.tell("practice/mistakes", match=over["replay"], seat=seat))
        assert job["error"] is None
        mistakes = job["result"]["mistakes"]
        assert mistakes
        assert {one["turn"] for one in mistakes} <= {turn["turn"] for turn in lost}
        # What the engine and the tree say of a turn of it, too.
        place = {"match": over["replay"], "path": []}
        page.tell("tree/holdable", **place)
        tree = page.ended(page.tell("tree/start", **place, nodes=50, lines=1, worlds=1))
        assert tree["error"] is None
    again = page.tell("play/new", again=page.view["match"], players=[*reversed(players)])
    assert page.page(again["match"])["steps"][0]["board"]["turn"] == state.turn
    page.tell("play/leave", match=again["match"])


def test_a_bot_that_begins_in_a_position_has_time_to_start() -> None:
    """In a game from a position, first answers have a longer limit, so that programs can start."""
    state = start_position(7, "1.0")
    state.apply_action(0)
    match = Match(start=state)
    player = state.current_player()
    assert match.time_limit_ms(player) == 1000
    match.submit(player, "PASS")
    assert match.time_limit_ms(1 - player) == 1000
    match.submit(1 - player, "PASS")
    assert match.time_limit_ms(player) == Match.time_limit_ms(match, player) < 1000

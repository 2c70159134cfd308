"""The server of the pages: who may ask it, and what it tells of matches and positions."""

import itertools
import json
import re
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest
from browser_engine import state_at_step
from helpers import (
    HOSTILE,
    GameQuery,
    golden_games,
    golden_result,
    knowledge_at,
    log_line,
    main,
    match_of,
    output_of,
    raises,
    wait_for,
    write_log,
)
from web_client import ADDRESS, Client, Library, Site

from locmsim import Match, State
from locmsim.arena import Arena
from locmsim.game.positions import start_position
from locmsim.referee.turn_report import WORLDS
from locmsim.search.analysis import line_value
from locmsim.web import load_replay
from locmsim.web.news import News
from locmsim.web.opening import redirect_file
from locmsim.web.opponents import opponents


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Client]:
    with Client(folder=str(tmp_path)) as page:
        yield page


# ------------------------------------------------------------------------------------ guard


def paths(page: Client) -> list[tuple[str, str]]:
    return [
        (method, route.path) for route in page.app.routes for method in {*route.methods} - {"HEAD"}
    ]


@pytest.mark.slow
def test_everything_but_empty_pages_needs_the_token(page: Client) -> None:
    inside = [(m, p) for m, p in paths(page) if p.startswith("/api/")]
    assert len(inside) > 12
    for method, path in inside:
        for query in ({}, {"token": ""}, {"token": "x"}, {"token": [page.token, "x"]}):
            answer = page.client.request(method, path, params=query)
            assert answer.status_code == 403, path
            assert "token" in answer.json()["error"]
    outside = [p for _, p in paths(page) if not p.startswith("/api/")]
    pages = ["/", "/arena", "/match/{key}", "/matches", "/practice", "/setup", "/static/{name}"]
    assert sorted(outside) == pages
    for path in outside:
        address = path.replace("{name}", "site.js").replace("{key}", "f0")
        assert page.client.get(address).status_code == 200
        assert page.token not in page.client.get(path).text


LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


#: Headers of a request, and how a GET and a POST with the token are answered.
ASKERS: list[tuple[dict[str, str], int, int]] = [
    *(
        ({"host": f"{name}evil.example{port}"}, 421, 421)
        for name, port in (("", ""), ("", ":8000"), ("127.0.0.1.", ""))
    ),
    *(
        ({"host": host}, 200, 400)
        for host in ("127.0.0.1:8000", "localhost:9999", "LOCALHOST", "[::1]:80")
    ),
    ({"origin": "http://evil.example"}, 403, 403),
    ({"origin": "null"}, 403, 403),
    ({"origin": "https://127.0.0.1:8000"}, 403, 403),
    ({"origin": "http://127.0.0.1:8001"}, 403, 403),
    ({"sec-fetch-site": "cross-site"}, 403, 403),
    ({"sec-fetch-site": "same-site"}, 403, 403),
    ({**LINK, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"}, 403, 403),
    ({**LINK, "sec-fetch-dest": "iframe"}, 403, 403),
    (LINK, 200, 403),  # on another page, to one of these
    ({"origin": ADDRESS, "sec-fetch-site": "same-origin"}, 200, 400),
]


@pytest.mark.parametrize(("headers", "get", "post"), ASKERS, ids=str)
def test_who_may_ask(page: Client, headers: dict[str, str], get: int, post: int) -> None:
    query = {"token": page.token}
    for path in ("/matches", "/static/site.js", "/api/matches"):
        assert page.client.get(path, params=query, headers=headers).status_code == get, path
    answer = page.client.post("/api/play/new", params=query, headers=headers, json={})
    assert answer.status_code == post  # what the body lacks is looked for last


def test_headers_of_every_answer(page: Client) -> None:
    key = page.library.add(match_of(), ("a", "b"))
    query = {"token": page.token}
    answers = {
        path: page.client.get(path, params={**query, "match": key})
        for path in ("/match/p0", "/static/playedmatch.js", "/api/matches", "/api/none", "/none")
    }
    answers["refused"] = page.client.get("/matches", headers={"host": "evil.example"})
    for answer in answers.values():
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    for what in ("log", "page", "position"):
        answer = page.client.get(f"/api/match/{what}", params={**query, "match": key})
        assert answer.headers["content-disposition"].startswith("attachment; ")
        assert "script-src 'self';" in answer.headers["content-security-policy"]
        assert page.token not in answer.text


def test_pages_bring_no_inline_script_and_ask_nobody_else(page: Client) -> None:
    for path in ("/", "/matches", "/practice", "/arena", "/setup", "/match/f0"):
        text = page.client.get(path).text
        assert all(re.findall(r'<script type="module" src="(/static/\w+\.js)"></script>', text))
        assert text.count("<script") == 2
        assert not re.search(r"\son\w+=|<style|style=|javascript:|https?://", text)
    static = Path(__file__).parents[3] / "src" / "locmsim" / "web" / "static"
    for file in static.glob("*"):
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|innerHTML|outerHTML|insertAdjacentHTML|\beval\(", text)


def test_bodies(page: Client) -> None:
    send = page.client.post
    query = {"token": page.token}
    for content, code, why in (
        (b"{", 400, "expected a JSON object"),
        (b"[]", 400, "expected a JSON object"),
        (b"[" * 100_000, 400, "expected a JSON object"),
        (b"x" * ((1 << 20) + 1), 413, "more than"),
    ):
        headers = {"content-type": "application/json"}
        answer = send("/api/play/new", params=query, content=content, headers=headers)
        assert (answer.status_code, why in answer.json()["error"]) == (code, True)
    answer = send("/api/play/new", params=query, content=b"{}")
    assert answer.status_code == 415
    assert page.client.put("/api/play/new", params=query).status_code == 405
    assert page.client.get("/static/../app.py").status_code == 404
    assert page.client.get("/static/app.py").status_code == 404


# ---------------------------------------------------------------------------------- replays


def test_games_and_filters(tmp_path: Path) -> None:
    db, log, bad = tmp_path / "results.db", tmp_path / "log.json", tmp_path / "bad.json"
    players = ["one=greedy", "two=random", "Broken=false"]
    with Arena(db, players, games=2, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
        outcomes = list(arena.games())
        names = [player.name for player in arena.settings.players]
    write_log(log, match_of("1.2"))
    bad.write_text("{")
    library = Library([str(log), str(bad)], [str(db), str(tmp_path / "none.db")])
    library.add(match_of("1.0"), ("me", ""))
    found = library.matches()
    assert len(found["matches"]) == 8
    assert [game["rules"] for game in found["matches"][:3]] == ["1.0", "1.2", "1.5"]
    assert found["matches"][0]["names"] == ["me", "Player 1"]
    assert [str(bad) in found["errors"][0], "none.db" in found["errors"][1]] == [True, True]
    choices = library.choices()
    assert {"one", "two", "Broken", "me"} <= set(choices["players"])
    assert choices["rules"] == ["1.5", "1.2", "1.0"]
    assert [source["key"] for source in choices["sources"]] == ["p", "f", "d0", "d1"]
    for source, rows in zip(
        choices["sources"],
        (found["matches"][:1], found["matches"][1:2], found["matches"][2:], []),
        strict=True,
    ):
        assert library.matches(source=source["key"])["matches"] == rows
        assert library.matches(source=source["key"], after="m:1")["matches"] in (rows, [])

    faults = {f"d0:{o.number}": str(o.fault.kind) for o in outcomes if o.fault}
    assert faults == {row["key"]: row["fault"]["kind"] for row in found["matches"] if row["fault"]}
    assert choices["kinds"] == sorted(set(faults.values()))
    lost = library.matches(GameQuery(lost_by="Broken"))["matches"]
    assert {row["key"] for row in lost} == {
        f"d0:{o.number}"
        for o in outcomes
        if o.winner is not None and names[o.players[1 - o.winner]] == "Broken"
    }
    for rules in choices["rules"]:
        assert library.matches(GameQuery(rules=rules))["matches"] == [
            row for row in found["matches"] if row["rules"] == rules
        ]
    part, after = [], ""
    while after is not None:
        some = library.matches(after=after, count=3)
        part += some["matches"]
        after = some["next"]
    assert part == found["matches"]
    for game in found["matches"]:
        result, _ = library.load(game["key"])
        assert (result.winner, result.turns) == (game["winner"], game["turns"])


def test_only_what_was_named_can_be_loaded(tmp_path: Path) -> None:
    """And once: without a cache, each click on a match would replay it again."""
    db = tmp_path / "results.db"
    with Arena(db, ["greedy", "random"], games=2, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
    (tmp_path / "results.db:1").write_text("nobody named this file")
    library = Library([], [str(db)])
    library.add(match_of(), ("", ""))
    wrong = ["", "x", "f0", "m", "d0", "d0:", "d1", "d1:", "d0:99", "d9:1", "d1:x", "start"]
    wrong += ["g", "g1", "g01", "g-1", "g1:1", "g1\n", "g\u0661", "l0", "s0", "x1"]
    wrong += ["m1", f"m{0:016x}", f"m{0:015x}", f"m{0:017x}", f"m{0:016x}:1", f"m{0:015x}\u0663"]
    for key in [*wrong, f"M{1:016x}", f"m{1:016x}\n"]:
        raises(ValueError, r"no match|has no game|no such", library.load, key)
    first, players = library.load("d0:1")
    assert players in (("greedy", "random"), ("random", "greedy"))
    for _ in range(5):
        assert library.load("d0:1")[0] is first
    assert library.load("d0:2")[0] is not first


def test_hostile_names_are_data(page: Client) -> None:
    name = f"{HOSTILE}\udc80"
    page.library.add(match_of(), (name, "b"), name)
    answer = page.ask("/api/matches")
    assert answer.headers["content-type"] == "application/json"
    (game,) = json.loads(answer.content)["matches"]
    assert game["names"] == [name, "b"]
    assert game["source"] == name


# ---------------------------------------------------------------------------------- analyse


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_a_turn_of_a_game(rules: str, page: Client) -> None:
    """Each step, even in the middle of a turn, leads to a search of its position."""
    game = next(g for g in golden_games(rules) if len(g["turns"]) > 9 and not g["error"])
    turn = next(i for i in range(7, 99) if len(game["turns"][i]["applied"]) > 1)
    result = golden_result(game)
    key = page.library.add(result, ("", "one"))
    steps = page.get("/api/match", match=key)["steps"]
    start = next(i for i, step in enumerate(steps) if step["turn"] == turn)
    shown = page.ask("/api/match/position", match=key, step=start + 1).text
    assert shown == f"{state_at_step(result, start + 1).to_text()}\n"
    played = game["turns"][turn]["applied"]
    for done in (0, 1):
        place = {"match": key, "path": path_to(steps, start)}
        found = page.post(
            "/api/machine/analyse", **place, done=played[:done], seconds=0.1, seed=done
        )
        assert found["searches"] == 6
        assert sum(line["searches"] for line in found["lines"]) == 6
        assert 0 <= found["lines"][0]["chance"] <= 1
        best = found["lines"][0]
        here = path_to(steps, start + done)
        after = page.post("/api/machine/walk", match=key, path=here, actions=best["actions"])
        assert after["words"] == best["words"]
        chances = [line["chance"] for line in found["lines"]]
        assert chances == sorted(chances, reverse=True)
        # One chance for one turn: of the line, of ending the turn after it, and of the report.
        line = ";".join([*played[:done], *best["actions"]])
        shown = page.post("/api/machine/chance", **place, line=line)
        assert shown == {"chance": best["chance"], "player": game["turns"][turn]["player"]}
        _, belief = knowledge_at(result, turn)
        value = line_value(belief, line or "PASS", worlds=WORLDS, seed=1)
        assert best["chance"] == (1 + value) / 2
    # The same actions lead to the same positions.
    again = page.post("/api/machine/walk", **place, actions=played)
    rest = steps[start + 1 : start + 1 + len(played)]
    assert again["boards"] == [one["board"] for one in rest]
    assert again["words"] == [one["words"] for one in rest]


def path_to(steps: list[dict[str, Any]], index: int) -> list[str]:
    """Return the actions that lead to a step, as pages name them."""
    return [step["action"] or "PASS" for step in steps[1 : index + 1]]


def test_knowledge_is_that_of_the_texts_that_were_sent() -> None:
    game = next(g for g in golden_games("1.2") if len(g["turns"]) > 9)
    result = golden_result(game)
    calls = {call.turn: call for call in result.calls if call.turn is not None}
    for turn in (0, 1, 8, 9):
        observation, belief = knowledge_at(result, turn)
        assert observation.format() == calls[turn].text
        assert belief.observation == observation
        assert belief.seat == calls[turn].player
    raises(ValueError, "has turns 0 to", knowledge_at, result, 999)


@pytest.mark.slow
def test_texts_of_positions(page: Client) -> None:
    state = start_position(1, "1.2")
    for _ in range(6):
        state.apply_action(0)
    for text in (state.to_text(), state.observation(0).format(), f"\n {state.to_text()} \n"):
        for path in ("setup", "open"):
            key = page.post(f"/api/match/{path}", text=text)["match"]
            data = page.get("/api/match", match=key)
            assert (data["rules"], data["seat"], len(data["steps"])) == ("1.2", 0, 1)
            assert data["actions"] == [
                state.action_to_string(action) for action in state.legal_actions()[1:]
            ]
            assert set(data["cards"]) >= {
                k for _, k in data["steps"][0]["board"]["sides"][0]["hand"]
            }
            assert page.post("/api/machine/analyse", match=key, seconds=0.05)["lines"]
    state.apply_action(state.legal_actions()[1])
    key = page.post("/api/match/setup", text=state.to_text())["match"]
    assert page.get("/api/match", match=key)["steps"][0]["board"]["player"] == 0
    found = page.post("/api/machine/analyse", match=key, seconds=0.05)
    for line in found["lines"]:  # lines are the rest of the turn, without the actions already done
        end = state.clone()
        for action in line["actions"]:
            end.apply_action(end.string_to_action(action))


@pytest.mark.parametrize("rules", ["1.5", "1.0"])
def test_nothing_that_is_hidden_is_invented(rules: str, page: Client) -> None:
    """Of a bot's input the opponent's hand is not known: no page and no text shows one."""
    state = start_position(1, rules)
    for _ in range(6):
        state.apply_action(0)
    key = page.post("/api/match/setup", text=state.observation(0).format())["match"]
    found = page.post("/api/machine/walk", match=key, path=[], actions=[])
    action = found["actions"][0]
    after = page.post("/api/machine/walk", match=key, path=[], actions=[action])
    size = state.players[1].hand_size
    for board in (found["board"], *after["boards"]):
        assert board["sides"][1]["hand"] == [None] * size
    text = page.ask("/api/match/position", match=key).text
    told = State.from_text(text.strip())
    assert len({(held.id, held.card.base_id) for held in told.players[1].hand}) == 1
    # It can be played on from, in a world that is possible.
    players = [None, "agent-random"]
    game = page.post("/api/play/new", **{"from": key, "step": 0, "players": players})["match"]
    hand = page.get("/api/match", match=game)["steps"][0]["board"]["sides"][1]["hand"]
    assert hand == [None] * size
    page.post("/api/play/leave", match=game)


def test_what_is_dropped_onto_a_page(page: Client, tmp_path: Path) -> None:
    """The page accepts a log, all that a bot was sent, or what it was sent in one turn."""
    result = match_of("1.2")
    key = page.post("/api/match/open", text=log_line(result), name="x.json")["match"]
    assert page.get("/api/match", match=key)["winner"] == result.winner
    game = next(g for g in golden_games("1.0") if len(g["turns"]) > 5)
    inputs = [turn["input"] for turn in game["turns"] if turn["player"] == 1]
    text = "".join([*game["choice_inputs"][1], *inputs])
    assert "locmsim replay" in page.post("/api/match/open", 400, text=text)["error"]
    for text in ("{", "{}", "nothing", "1 2 3"):
        assert page.post("/api/match/open", 400, text=text)["error"]
    key = page.post("/api/match/open", text=f"{log_line(result)}\n1\n0\n")["match"]
    assert page.get("/api/match", match=key)["winner"] == result.winner
    other = {"game": {"game": "vestrock"}, "answers": [], "scores": [1, 0]}
    for log, word in ((other, "Vestrock"), ({"frames": [], "scores": []}, "CodinGame")):
        assert word in page.post("/api/match/open", 400, text=json.dumps(log))["error"]
    path = tmp_path / "log.json"
    path.write_text(page.ask("/api/match/log", match=key).text)
    assert load_replay(str(path))[0].match.log == result.match.log


def test_cards_to_set_up_with(page: Client) -> None:
    for rules, count in (("1.5", 120), ("1.2", 160), ("1.0", 160)):
        found = page.get("/api/setup/cards", rules=rules, seed=3)
        assert len(found["keys"]) == len(set(found["keys"])) == count
        assert {found["cards"][key]["row"][0] for key in found["keys"]} == set(
            range(count) if rules == "1.5" else range(1, count + 1)
        )
        assert all(found["cards"][key]["svg"] for key in found["keys"])
    assert "rules" in page.get("/api/setup/cards", 400, rules="9")["error"]
    assert set(page.get("/api/setup/badges")["badges"]) == set("BCDGLW12")


def test_the_first_page_has_a_position_to_play(page: Client) -> None:
    key = page.get("/api/home")["position"]
    data = page.get("/api/match", match=key)
    assert data["names"][data["seat"]] == "You"
    assert len(data["actions"]) > 4
    assert page.get("/api/home")["position"] == key


def test_bad_questions_about_positions(page: Client) -> None:
    text = start_position(3).to_text()
    result = match_of()
    assert result.match.state is not None
    key = page.library.add(result, ("", ""))
    for wrong, why in (
        ({}, "text: expected a text"),
        ({"text": " "}, "there is no text"),
        ({"text": "1.5 0"}, "one line is the text of a position"),
        ({"text": "30 1 25 1\nx"}, "line 2"),
        ({"text": Match(seed=1).input_text(0)}, "choice phase"),
        ({"text": result.match.state.to_text()}, "decided"),
    ):
        assert why in page.post("/api/match/setup", 400, **wrong)["error"]
    place = page.post("/api/match/setup", text=text)
    assert "has no step" in page.get("/api/match/position", 400, match=key, step=999)["error"]
    assert "no longer known" in page.get("/api/match", 404, match="s7")["error"]
    for what in ("", "/log", "/page", "/position"):
        assert "no match" in page.get(f"/api/match{what}", 400, match="f7")["error"]
    for path, data, why in (
        ("analyse", {"match": "p9"}, "no match"),
        ("walk", {"match": key, "path": ["PASS"] * 999}, "over"),
        ("walk", {**place, "path": "x"}, "path: expected a list"),
        ("walk", {**place, "actions": "x"}, "actions: expected a list"),
        ("walk", {**place, "actions": [1]}, "actions: expected a list"),
        ("walk", {**place, "actions": ["JUMP"]}, "Invalid action name"),
        ("walk", {**place, "actions": ["ATTACK 1 -1"]}, "ATTACK 1 -1"),
        ("chance", {**place, "line": "ATTACK 1 -1"}, "ATTACK 1 -1"),
        ("analyse", {**place, "seconds": 0}, "seconds: expected"),
        ("analyse", {**place, "seconds": 1e9}, "seconds: expected"),
        ("analyse", {**place, "seconds": "x"}, "seconds: expected"),
    ):
        assert why in page.post(f"/api/machine/{path}", 400, **data)["error"]


# ------------------------------------------------------------------------------- command line


def test_opponents() -> None:
    found = {o.key: o for o in opponents(["mine=./bot --fast", "greedy", "g2=beam:nodes=5"])}
    assert [o.name for o in list(found.values())[:4]] == ["mine", "greedy", "g2", "Level 1"]
    assert found["bot0"].player(7) == "./bot --fast"
    words = found["bot2"].player(7)
    assert words[2:] == ["-m", "locmsim.bot", "--agent", "beam:nodes=5", "--seed", "7"]
    assert found["level10"].agent == "level:k=10"
    assert "agent-policy" not in found  # it needs a file
    assert {"agent-beam", "agent-random"} <= set(found)


def test_without_the_packages(missing: Callable[..., None]) -> None:
    starlette = [name for name in sys.modules if name.partition(".")[0] == "starlette"]
    names = ("server", "app", "hosted_matches", "machine", "site", "endpoints", "security")
    names += ("page_home", "page_matches", "page_setup", "page_match", "search_jobs", "jobs")
    missing(*starlette, "starlette", forgotten=tuple(f"locmsim.web.{name}" for name in names))
    err = output_of("web", code=1).err
    assert "pip install 'locmsim[web]'" in err
    assert "starlette" in err


def test_plug_ins_are_offered_for_the_rules_they_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents are classes of the command line and importable ones of installed packages."""
    (tmp_path / "plug_in_bots.py").write_text(
        "from locmsim.agents import GreedyAgent\n"
        "class Mine(GreedyAgent): pass\n"
        "class Old(GreedyAgent): only_rules = '1.2'\n"
        "class Some(GreedyAgent): only_rules = property(lambda self: '1.0')\n"
    )
    info = tmp_path / "plug_in_bots-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in-bots\nVersion: 1.0\n")
    names = ("patient = Mine", "old = Old", "some = Some", "gone = Gone")
    points = [name.replace("= ", "= plug_in_bots:") for name in names]
    (info / "entry_points.txt").write_text("\n".join(["[locmsim.agents]", *points]))
    monkeypatch.syspath_prepend(str(tmp_path))
    named = ["plug_in_bots:Mine", "then=plug_in_bots:Old", "plug_in_bots:Some", "learned", "./bot"]
    found = {opponent.key: opponent for opponent in opponents(named)}
    assert found["bot3"].rules == found["agent-learned"].rules == ("1.5",)
    assert found["bot4"].rules == found["agent-osl"].rules == ()
    assert found["bot0"].rules == found["agent-patient"].rules == ()
    assert found["bot1"].name == "then"
    assert found["bot1"].rules == found["agent-old"].rules == ("1.2",)
    # A property needs an agent, and the list does not create agents of packages.
    assert (found["bot2"].rules, found["agent-some"].rules) == (("1.0",), ())
    assert "agent-gone" not in found


def test_games_that_cannot_begin(tmp_path: Path) -> None:
    """Of other rules than an agent's, and while the site closes: nothing would end the bot."""
    with Client(folder=str(tmp_path)) as page:
        data = {"players": [None, "agent-learned"], "rules": "1.2"}
        refused = page.post("/api/play/new", 400, **data)
        assert refused == {"error": "learned plays rules 1.5 only"}
        page.site.close()
        data = {"players": [None, "agent-random"], "rules": "1.5"}
        assert page.post("/api/play/new", 503, **data) == {"error": "the site is closing"}


def test_two_arenas_have_one_temporary_folder() -> None:
    """Also if they ask at the same time."""
    together = threading.Barrier(16)

    def ask(site: Site) -> str:
        together.wait(60)
        return site.results_folder()

    with ThreadPoolExecutor(16) as threads:
        for _ in range(50):
            site = Site(Library())
            assert len({*threads.map(ask, [site] * 16)}) == 1
            site.close()


def test_of_a_database_only_the_beginning_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with path.open("wb") as file:
        file.write(b"SQLite format 3\0")
        file.truncate(1 << 40)  # more than there is memory for
    raises(ValueError, "the results of many games: give one by its number", load_replay, str(path))


def test_the_token_is_on_no_command_line() -> None:
    url = "http://127.0.0.1:1/?a=1&token=secret"
    with redirect_file(url) as address:
        assert "secret" not in address
        path = Path(unquote(urlparse(address).path))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "a=1&amp;token=secret" in path.read_text()
    assert not path.exists()


def test_the_command_makes_a_folder_and_opens_a_file(
    tmp_path: Path,
    opened_pages: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def serve(site: Site, *, port: int, ready: Callable[[str], None]) -> None:
        assert site.folder == folder
        ready("http://x/?token=secret")

    folder = str(tmp_path / "new" / "saved")
    monkeypatch.setattr("locmsim.web.server.serve", serve)
    assert main(["web", "--save", folder, "--open"]) == 0
    assert Path(folder).is_dir()
    assert capsys.readouterr().out == "http://x/?token=secret\n"
    assert [url.startswith("file:///") for url in opened_pages] == [True]


# ------------------------------------------------------------------------------- games in play


def test_a_thirteenth_game_ends_none(page: Client, set_clock: Callable[..., None]) -> None:
    """It is refused while twelve are played; games that are over make room, and forgotten ones."""
    passed = 0.0
    set_clock("locmsim.web.hosted_matches", monotonic=lambda: time.monotonic() + passed)
    data = {"players": [None, "agent-random"], "rules": "1.2"}
    keys = [page.post("/api/play/new", **data)["match"] for _ in range(12)]
    error = page.post("/api/play/new", 429, **data)["error"]
    assert error == "12 matches are being played here: finish one, or leave it by New match"
    assert all(page.get("/api/play/state", match=key)["over"] is None for key in keys)
    page.post("/api/play/leave", match=keys[3])
    page.post("/api/play/new", **data)
    rows = page.get("/api/matches")["matches"]
    assert {row["live"] for row in rows} == {"live"}
    # Pages that were closed: the games are paused, and the one that was left first makes room.
    passed = 61.0
    assert {row["live"] for row in page.get("/api/matches")["matches"]} == {"paused"}
    page.get("/api/play/state", match=keys[0])
    passed += 601.0
    page.post("/api/play/new", **data)
    assert page.get("/api/play/state", match=keys[1])["over"]["error"] == "this match was left"
    assert page.get("/api/play/state", match=keys[0])["over"] is None


def test_nothing_says_saved_that_is_lost(temporary: Path) -> None:
    """Without a folder no path is named, and the log can be downloaded."""
    with Client() as page:
        key = page.post("/api/play/new", players=["agent-random", "agent-random"])["match"]
        over = wait_for(lambda: page.get("/api/play/state", match=key)["over"])
        assert (over["path"], over["error"]) == ("", "")
        assert page.get("/api/match/log", match=over["replay"])["scores"]
        assert not [*temporary.iterdir()]


@pytest.mark.parametrize("value", ["99999999999999999999", "-99999999999999999999", "9" * 90])
def test_whole_numbers_have_bounds(value: str, tmp_path: Path) -> None:
    """SQLite knows no number of more than 64 bits, and no list has so many places."""
    db = str(tmp_path / "results.db")
    with Arena(db, ["one=random", "two=random"], games=2) as arena:
        arena.run(jobs=1)
    with Client((), [db]) as page:
        for path, names in (
            ("matches", ("least", "most", "count")),
            ("match", ("have",)),
            ("match/position", ("step",)),
            ("arena/results", ("player", "db")),
        ):
            for name in names:
                query = {"match": "d0:1", name: value}
                assert f"{name}: expected" in page.get(f"/api/{path}", 400, **query)["error"]
        for name, place in (
            ("play/new", "step"),
            ("practice/check", "turn"),
        ):
            page.post(f"/api/{name}", 400, **{"match": "d0:1", "from": "d0:1", place: int(value)})


# -------------------------------------------------------------------------------------- news


def test_one_question_is_about_everything(page: Client) -> None:
    """What has changed has another version, and what there is not has none."""
    key = page.post("/api/play/new", players=[None, "agent-random"], rules="1.2")["match"]
    topics = ["matches", f"match:{key}", "match:g9", "arena:0", "live:l0", "nothing:1", ""]
    told = page.get("/api/news", topics=",".join(topics))
    assert [*told] == topics
    assert [topic for topic in topics if told[topic] is None] == topics[2:]
    page.post("/api/play/leave", match=key)
    again = page.get("/api/news", topics=f"match:{key}")
    assert again[f"match:{key}"] not in (None, told[f"match:{key}"])
    page.get("/api/news", 400, topics="," * 600)
    # Another server may have counted as far.
    with Client() as other:
        assert other.get("/api/news", topics="matches")["matches"] != told["matches"]


def test_files_are_looked_at_once_for_many_pages(set_clock: Callable[..., None]) -> None:
    clock = [10.0]
    set_clock("locmsim.web.news", monotonic=lambda: clock[0])
    news, looks = News(), itertools.count()
    news.add("file", lambda key: next(looks), 1.0)
    first = news.version("file")
    assert news.version("file") == first
    clock[0] += 1.0
    assert news.version("file") != first
    assert next(looks) == 2

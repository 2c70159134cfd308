"""The pages of `locmsim replay`: their data, and the sources of matches."""

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from amounts import amount
from helpers import (
    HOSTILE,
    each_rules,
    golden_games,
    golden_lines,
    golden_path,
    golden_result,
    log_line,
    match_of,
    output_of,
    subset_path,
    write_log,
)

from locmsim import Match
from locmsim.arena import Arena
from locmsim.art import card_title, card_titles
from locmsim.referee import replay_calls
from locmsim.web import load_replay, replay_data, replay_html
from locmsim.web.file_capture import capture_data

#: Numbers of a side in snapshots -> in the data of a page.
FIELDS = {"hp": "health", "mana": "mana", "maxMana": "max_mana", "draw": "draws", "deck": "deck"}


def embedded(page: str) -> Any:
    """Return the data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def base_of(data: dict[str, Any], key: str) -> int:
    return int(data["cards"][key]["row"][0])


def shown_of(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Return what a page shows of a snapshot."""
    sides = [
        {
            **{name: side[name] for name in (*FIELDS, "hand")},
            "runes": side.get("runes"),
            "board": [row[:6] for row in side["board"]],
        }
        for side in snapshot["p"]
    ]
    return {"turn": snapshot["turn"], "winner": snapshot["winner"], "p": sides}


def snapshot_of(data: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """Return what `shown_of` does, from a step of a page's data."""
    board = step["board"]
    sides = [
        {
            **{name: side[field] for name, field in FIELDS.items()},
            "hand": [held[0] for held in side["hand"]],
            "runes": side["runes"],
            "board": [[row[0], base_of(data, row[1]), *row[2:6]] for row in side["board"]],
        }
        for side in board["sides"]
    ]
    winner = -1 if board["winner"] is None else board["winner"]
    return {"turn": board["turn"], "winner": winner, "p": sides}


@each_rules
def test_every_step_of_golden_games(rules: str) -> None:
    for game in golden_games(rules, slice(None, None, amount(18, 6))):
        data = replay_data(golden_result(game))
        states = [state for turn in game["turns"] for state in turn["states"]]
        assert [snapshot_of(data, step) for step in data["steps"]] == [*map(shown_of, states)]
        assert [step["action"] for step in data["steps"]] == [
            text for turn in game["turns"] for text in (None, *turn["applied"])
        ]
        assert [[base_of(data, key) for key in keys] for keys in data["choice"]] == game["chosen"]
        offered = [[row[0] for row in game["cards"]]]
        if rules != "1.5":
            offered = [[row[0] for row in triplet] for triplet in game["cards"]]
        assert [[base_of(data, key) for key in keys] for keys in data["offers"]] == offered
        assert data["winner"] == game["winner"]
        # Seeds have 64 bits, but numbers in the browser 53, so they are text.
        assert data["params"]["seed"] == str(game["seed"])
        for key in {key for chosen in data["choice"] for key in chosen}:
            assert data["cards"][key]["svg"].startswith("<svg")


@each_rules
def test_the_longest_golden_game_is_small(rules: str) -> None:
    longest = max(golden_lines(subset_path(rules)), key=len)
    page = replay_html(golden_result(json.loads(longest)))
    assert len(page.encode()) < 400_000
    # The program in it has no comments but those within a line.
    script = page.rpartition("<script>")[2]
    assert "class Viewer" in script
    assert not re.search(r"(?m)^ *(//|/\*(?!.*\*/ ?\S))", script)


def test_the_search_value_is_that_of_the_end_of_a_turn() -> None:
    steps = replay_data(match_of(seed=3))["steps"]
    ends = [i for i in range(len(steps) - 1) if steps[i + 1]["action"] is None]
    assert all("value" not in step for step in steps[: ends[0]])
    for i in range(ends[0] + 1, len(steps) - 1):
        changed = steps[i]["value"] != steps[i - 1]["value"]
        assert i in ends or not changed
    assert len({steps[i]["value"] for i in ends}) > len(ends) / 2
    assert any(0 < abs(steps[i]["value"]) < 1 for i in ends)
    assert all(-1 <= steps[i]["value"] <= 1 for i in ends)
    assert steps[-1]["value"] in (-1, 1)


def test_what_bots_say() -> None:
    class Talker:
        def __init__(self, *lines: str) -> None:
            self.lines = list(lines)

        def choose(self, observation: Any, deadline: Any = None) -> str:
            return "PASS"

        def act(self, observation: Any, deadline: Any = None) -> str:
            return self.lines.pop(0) if self.lines else "PASS"

    talkers = [Talker("PASS hello;PASS you there"), Talker("SUMMON 1 0 xyz;USE 1 -1 a  b")]
    data = replay_data(match_of("1.5", 1, *talkers))
    turns = [step for step in data["steps"] if step["action"] is None]
    assert [step["chat"] for step in turns[:3]] == ["hello you there", "xyz a b", ""]
    assert turns[1]["illegal"] == ["SUMMON 1 0 (not in hand)", "USE 1 -1 (not in hand)"]
    assert turns[0]["illegal"] == []  # PASS is not illegal


def test_what_bots_write_stands_beside_their_turns() -> None:
    result = match_of("1.2", seed=4)
    words = {3: "pick\n", 5: "another\n", 61: "first\n", 62: "a\n" + 4000 * "x" + "\nz\n"}
    answers = [(c.player, c.answer, 0, words.get(i, "")) for i, c in enumerate(result.calls)]
    data = replay_data(replay_calls(Match("1.2", seed=4), answers))
    assert data["choice_stderr"] == ["", "pick\nanother"]
    turns = [step for step in data["steps"] if step["action"] is None]
    assert [turn["stderr"] for turn in turns[:2]] == ["", "first\n"]
    cut = turns[2]["stderr"]
    assert len(cut) < 2100
    assert cut.startswith("a\nxx")
    assert "\n[...]\n" in cut
    assert cut.endswith("xx\nz\n")
    assert not any(turn["stderr"] for turn in turns[3:])


def test_data_cannot_end_its_element() -> None:
    game = next(golden_games("1.5"))
    texts = [HOSTILE, f"{HOSTILE}\u2028%DATA%%SCRIPT%"]
    page = replay_html(golden_result(game, stderr=texts), texts)
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<svg onload" not in page
    assert "\u2028" not in page
    data = embedded(page)
    assert data["names"] == texts
    assert data["stderr"] == texts


def test_policy_allows_nothing_but_the_page_itself() -> None:
    page = replay_html(golden_result(next(golden_games("1.0"))))
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert found
    policy = dict(part.split(" ", 1) for part in found[1].split("; "))
    assert policy["default-src"] == "'none'"
    for name, tag in (("script-src", "script"), ("style-src", "style")):
        text = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(text) == 1
        digest = base64.b64encode(hashlib.sha256(text[0].encode()).digest()).decode()
        assert policy[name] == f"'sha256-{digest}'"
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_a_fault_before_the_battle() -> None:
    class Broken:
        def choose(self, observation: Any, deadline: Any = None) -> Any:
            raise RuntimeError("no")

    result = match_of(seed=1, second=Broken())
    data = replay_data(result)
    assert data["steps"] == []
    assert data["fault"]["player"] == 1
    assert data["fault"]["kind"] == "crashed"
    assert "RuntimeError" in data["stderr"][1]
    replay_html(result)


# ------------------------------------------------------------------------------ where from


def run(*words: str, code: int = 0) -> str:
    """Return the tool's output, or its error message."""
    out, err = output_of("replay", *words, code=code)
    assert (err == "") == (code == 0)
    return err if code else out


@each_rules
@pytest.mark.parametrize("steps", [0, 1, 16])
def test_the_rules_of_a_match_that_ends_early(rules: str, steps: int, tmp_path: Path) -> None:
    """Several rule sets allow such answers; our log names its rules, and Java's may have texts.

    Bots that repeat what they read write them there.
    """
    match = Match(rules, seed=5)
    answers: list[tuple[int, str | None, int]] = []
    for _ in range(2 * steps):
        answers.append((match.to_ask[0], "PASS", 0))
        match.submit(match.to_ask[0], "PASS")
    answers += [(player, "dance", 0) for player in match.to_ask]
    result = replay_calls(Match(rules, seed=5), answers)
    assert result.match.error is not None
    log = tmp_path / "log.json"
    ours = json.loads(log_line(result))
    calls = [replace(call, stderr=call.text) for call in result.calls]
    repeated = json.loads(log_line(replace(result, calls=calls)))
    without_rules = {key: value for key, value in repeated.items() if key != "locmsim"}
    for data in (without_rules, ours):
        log.write_text(json.dumps(data))
        loaded, _ = load_replay(str(log))
        assert loaded.match.log == result.match.log


@each_rules
def test_our_own_logs(rules: str, tmp_path: Path) -> None:
    result = match_of(rules, seed=5)
    log = tmp_path / "log.json"
    write_log(log, result)
    loaded, names = load_replay(str(log))
    assert loaded.match.rules == rules
    assert names == ("Player 0", "Player 1")
    assert [c.answer for c in loaded.calls] == [c.answer for c in result.calls]
    page = tmp_path / "game.html"
    assert run(str(log), "-o", str(page), "--names", "a", "b", "--view", "1") == ""
    data = embedded(page.read_text())
    assert (data["names"], data["view"]) == (["a", "b"], 1)
    assert data["steps"] == json.loads(json.dumps(replay_data(loaded, ("a", "b"))["steps"]))
    assert run(str(log)) == replay_html(loaded, names)


@each_rules
def test_logs_of_golden_games(rules: str, tmp_path: Path) -> None:
    """Logs in the Java referee's format have their rules detected and show the same steps."""
    log = tmp_path / "log.json"
    lines = [line for line in golden_lines(subset_path(rules)) if b'"cardset"' not in line]
    for game in map(json.loads, lines[:: max(1, len(lines) // amount(3, 8))]):
        write_log(log, golden_result(game))
        result, _ = load_replay(str(log))
        if game["turns"]:
            assert result.match.rules == rules
        states = [state for turn in game["turns"] for state in turn["states"]]
        data = replay_data(result)
        assert [snapshot_of(data, step) for step in data["steps"]] == [*map(shown_of, states)]
        assert list(result.scores) == game["scores"]


def test_games_of_the_contest(tmp_path: Path) -> None:
    """The recorded logs have instance ids of 2022; the page shows those of today."""
    lines = gzip.decompress(golden_path("recorded-1.5.jsonl.gz").read_bytes()).splitlines()
    log = tmp_path / "log.json"
    for line in lines:
        log.write_bytes(line)
        result, names = load_replay(str(log))
        game = json.loads(line)
        assert names == ("Player 0", "Player 1")
        assert result.match.log["ids"] == "old"
        assert result.scores == (game["scores"]["0"], game["scores"]["1"])
        data = replay_data(result)
        ids = {2 * i for i in range(60)}
        for step in data["steps"]:
            for side in step["board"]["sides"]:
                assert {held[0] for held in side["hand"]} <= ids
        performed = sum("performed action" in (text or "") for text in game["summaries"])
        assert sum(step["action"] is not None for step in data["steps"]) == performed
        assert len(replay_html(result).encode()) < 400_000


def test_games_of_an_arena(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    with Arena(db, ["one=greedy", "two=random"], games=2, seed=4) as arena:
        arena.run(jobs=1)
    page = tmp_path / "page.html"
    names = []
    for number in (1, 2):
        run(f"{db}:{number}", "-o", str(page))
        names.append(embedded(page.read_text())["names"])
    assert sorted(names) == [["one", "two"], ["two", "one"]]
    before = page.read_bytes()
    for none in (7, 10**19):
        assert f"{db}: has no game {none}" in run(f"{db}:{none}", "-o", str(page), code=1)
    assert "Is a directory" in run(str(tmp_path), code=1)
    assert page.read_bytes() == before


def captured(game: dict[str, Any], player: int) -> str:
    """Return all that a player was sent in a golden game."""
    turns = (turn["input"] for turn in game["turns"] if turn["player"] == player)
    return "".join([*game["choice_inputs"][player], *turns])


@each_rules
def test_what_a_bot_was_sent(rules: str) -> None:
    """Each turn of the bot shows what the bot could see of the snapshot."""
    games = [game for game in golden_games(rules) if len(game["turns"]) > 3]
    for i, game in enumerate(games[:: amount(27, 9)]):
        me = i % 2
        data = json.loads(json.dumps(capture_data(captured(game, me))))
        turns = [turn for turn in game["turns"] if turn["player"] == me]
        assert data["rules"] == rules
        assert data["captured"] == me
        assert len(data["steps"]) == len(turns)
        for step, turn in zip(data["steps"], turns, strict=True):
            snapshot, shown = turn["states"][0], step["board"]
            assert (step["turn"], shown["player"]) == (snapshot["turn"], me)
            for player in (0, 1):
                side, found = snapshot["p"][player], shown["sides"][player]
                for name in ("hp", "deck", "maxMana"):
                    assert found[FIELDS[name]] == side[name]
                board = [[row[0], base_of(data, row[1]), *row[2:6]] for row in found["board"]]
                assert board == [row[:6] for row in side["board"]]
                assert len(found["hand"]) == len(side["hand"])
            assert [held[0] for held in shown["sides"][me]["hand"]] == snapshot["p"][me]["hand"]
            assert set(shown["sides"][1 - me]["hand"]) <= {None}
        # The opponent's actions have the same words as on the page of the whole match.
        result = golden_result(game)
        called = ("the bot", "they") if me == 0 else ("they", "the bot")
        whole = replay_data(result, called)["steps"]
        theirs: list[list[str]] = []
        for step in whole:
            if step["player"] == me:
                continue
            if step["action"] is None:
                theirs.append([])
            else:
                theirs[-1].append(step["words"])
        # Of two cards of one title in the set the bot may have seen one, which needs no base id.
        titles = card_titles(result.match.cards)
        with_id = {titles[c]: card_title(c) for c in titles if titles[c] != card_title(c)}
        told = [step["theirs"] for step in data["steps"]][1 - me :]
        for shown, real in zip(told, theirs, strict=False):
            assert len(shown) == len(real)
            for one, other in zip(shown, real, strict=True):
                for title in with_id:
                    if title not in one:
                        other = other.replace(title, with_id[title])
                assert one == other or "a card" in one


def test_page_of_what_a_bot_was_sent(tmp_path: Path) -> None:
    game = next(game for game in golden_games("1.2") if len(game["turns"]) > 9)
    text = captured(game, 1)
    path, page = tmp_path / "input.txt", tmp_path / "page.html"
    path.write_text(text)
    assert run(str(path), "-o", str(page), "--names", "<b>", "mine") == ""
    whole = embedded(page.read_text())
    assert whole["names"] == ["<b>", "mine"]
    # If the end is cut off, the earlier turns are shown.
    path.write_text(text[:-20])
    cut = embedded(run(str(path), "--names", "<b>", "mine"))
    assert cut["steps"] == whole["steps"][:-1]
    before = page.read_bytes()
    for wrong, complaint in (
        (text.replace("\n", "\nx", 1), "in the input that begins in line 1: line 2"),
        (text + text, f"line {text.count(chr(10)) + 1}: the choice phase of another match begins"),
        ("".join(game["choice_inputs"][1]), "there is no turn of a battle in it"),
        (text[:30], "in the input that begins in line 1"),
    ):
        path.write_text(wrong)
        told = run(str(path), "-o", str(page), code=1)
        assert told.startswith(f"locmsim replay: {path}: {complaint}")
        assert page.read_bytes() == before
    path.write_text(captured(next(golden_games("1.0")), 0))
    assert "in the input" in run(str(path), "--rules", "1.5", code=1)


def test_complaints(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    assert "No such file" in run(str(path), code=1)
    assert str(tmp_path) in run(f"{path}:3", code=1)
    for text, complaint in (
        (b"{", f"{path}: not a log: expected JSON, got the end in line 1"),
        (b"no JSON\nand more", "not a log: expected JSON, got 'no JSON' in line 1"),
        (b"\xff\xfe\xfd", "not a log: expected JSON, got bytes"),
        (b"SQLite format 3\0" + bytes(range(256)), f"give one by its number, as in {path}:1"),
        (b"[]", "not a referee's log"),
        (b"{}", "not a referee's log"),
        (b"3", "not a referee's log"),
    ):
        path.write_bytes(text)
        assert complaint in run(str(path), code=1)
    write_log(path, match_of("1.2", seed=5))
    assert run(str(path), "--rules", "1.5", code=1).startswith(f"locmsim replay: {path}: ")
    log = json.loads(path.read_text())
    log["scores"] = {"0": -1, "1": 1}
    path.write_text(json.dumps(log))
    assert "the log ends (-1, 1), the match" in run(str(path), code=1)
    del log["locmsim"]
    path.write_text(json.dumps(log))
    complaint = run(str(path), code=1)
    assert "the log fits no rules" in complaint
    assert "1.2 with new instance ids: the log ends (-1, 1)" in complaint
    err = output_of("replay", str(path), "-o", str(tmp_path / "none" / "page.html"), code=2).err
    assert "there is no folder" in err


def test_open(
    temporary: Path,
    opened_pages: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = temporary / "log.json"
    result = match_of(seed=5)
    write_log(path, result)
    assert run(str(path), "--open") == ""
    (page,) = temporary.glob("locmsim-*.html")
    assert opened_pages == [page.as_uri()]
    assert page.read_text() == replay_html(*load_replay(str(path)))
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    assert "no browser found to show file:///" in run(str(path), "--open", code=1)

"""What `locmsim replay` puts into a page, and where it takes matches from."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers import RULE_SETS, golden_games, golden_path, golden_result

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.arena import Arena
from locmsim.cli.main import main
from locmsim.referee import play
from locmsim.referee.transcript import log_line
from locmsim.web import load_replay, replay_data, replay_html

HOSTILE = "</script><script>alert(1)</script><svg onload=alert(2)>\u202e\u2028%DATA%"


def embedded(page: str) -> Any:
    """The data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.mark.parametrize("rules", RULE_SETS)
def test_every_step_of_golden_games(rules: str) -> None:
    for game in list(golden_games(rules))[::6]:
        data = replay_data(golden_result(game))
        states = [state for turn in game["turns"] for state in turn["states"]]
        assert [step["state"] for step in data["steps"]] == states
        assert [step["action"] for step in data["steps"]] == [
            text for turn in game["turns"] for text in (None, *turn["applied"])
        ]
        assert data["choice"] == game["chosen"]
        offered = [[row[0] for row in game["cards"]]]
        if rules != "1.5":
            offered = [[row[0] for row in triplet] for triplet in game["cards"]]
        assert data["offers"] == offered
        assert data["winner"] == game["winner"]
        for base in {base for chosen in game["chosen"] for base in chosen}:
            assert data["cards"][base]["art"].startswith("<rect")


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_longest_golden_game_is_small(rules: str) -> None:
    longest = max(golden_games(rules), key=lambda game: sum(map(len, _states(game))))
    assert len(replay_html(golden_result(longest)).encode()) < 400_000


def _states(game: dict[str, Any]) -> list[list[Any]]:
    return [turn["states"] for turn in game["turns"]]


def test_the_chance_of_winning_is_that_of_the_end_of_a_turn() -> None:
    agents = [make_agent("greedy"), make_agent("random")]
    steps = replay_data(play(agents, Match(seed=3), timeout_scale=0))["steps"]
    ends = [i for i in range(len(steps) - 1) if steps[i + 1]["action"] is None]
    assert all("odds" not in step for step in steps[: ends[0]])
    for i in range(ends[0] + 1, len(steps) - 1):
        changed = steps[i]["odds"] != steps[i - 1]["odds"]
        assert i in ends or not changed
    assert len({steps[i]["odds"] for i in ends}) > len(ends) / 2
    assert any(0 < steps[i]["odds"] < 1 for i in ends)
    assert all(0 <= steps[i]["odds"] <= 1 for i in ends)
    assert steps[-1]["odds"] in (0, 1)


def test_what_bots_say() -> None:
    class Talker:
        def __init__(self, *lines: str) -> None:
            self.lines = list(lines)

        def choose(self, observation: Any, deadline: Any = None) -> str:
            return "PASS"

        def act(self, observation: Any, deadline: Any = None) -> str:
            return self.lines.pop(0) if self.lines else "PASS"

    talkers = [Talker("PASS hello;PASS you there"), Talker("SUMMON 1 0 xyz;USE 1 -1 a  b")]
    data = replay_data(play(talkers, Match(seed=1), timeout_scale=0))
    turns = [step for step in data["steps"] if step["action"] is None]
    assert [step["chat"] for step in turns[:3]] == ["hello you there", "xyz a b", ""]
    assert turns[1]["ignored"] == ["SUMMON 1 0", "USE 1 -1"]


def test_data_cannot_end_its_element() -> None:
    game = next(golden_games("1.5"))
    result = golden_result(game, stderr=(HOSTILE, HOSTILE))
    page = replay_html(result, (HOSTILE, HOSTILE))
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<svg onload" not in page
    assert "\u2028" not in page
    data = embedded(page)
    assert data["names"] == [HOSTILE, HOSTILE]
    assert data["stderr"] == [HOSTILE, HOSTILE]


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

    result = play([make_agent("greedy"), Broken()], Match(seed=1), timeout_scale=0)
    data = replay_data(result)
    assert data["steps"] == []
    assert data["fault"]["player"] == 1
    assert data["fault"]["kind"] == "crashed"
    assert "RuntimeError" in data["stderr"][1]
    replay_html(result)


# ------------------------------------------------------------------------------ where from


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """The tool's output, or its complaint."""
    assert main(["replay", *words]) == code
    out, err = capsys.readouterr()
    assert (err == "") == (code == 0)
    return err if code else out


@pytest.mark.parametrize("rules", RULE_SETS)
def test_our_own_logs(rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = play([make_agent("greedy"), make_agent("random")], Match(rules, seed=5))
    log = tmp_path / "log.json"
    log.write_text(log_line(result))
    loaded, names = load_replay(str(log))
    assert loaded.match.rules == rules
    assert names == ("Player 0", "Player 1")
    assert [c.answer for c in loaded.calls] == [c.answer for c in result.calls]
    page = tmp_path / "game.html"
    assert run(capsys, str(log), "-o", str(page), "--names", "a", "b", "--view", "1") == ""
    data = embedded(page.read_text())
    assert (data["names"], data["view"]) == (["a", "b"], 1)
    assert data["steps"] == json.loads(json.dumps(replay_data(loaded)["steps"]))
    assert run(capsys, str(log)) == replay_html(loaded, names)


def test_games_of_the_contest(tmp_path: Path) -> None:
    """The recorded logs have instance ids of 2022; the page shows those of today."""
    lines = gzip.decompress(golden_path("recorded-1.5.jsonl.gz").read_bytes()).splitlines()
    log = tmp_path / "log.json"
    for line in lines[::5]:
        log.write_bytes(line)
        result, names = load_replay(str(log))
        game = json.loads(line)
        assert names == ("Player 0", "Player 1")
        assert result.match.log["ids"] == "old"
        assert result.scores == (game["scores"]["0"], game["scores"]["1"])
        data = replay_data(result)
        ids = set(data["ids"])
        assert ids == {2 * i for i in range(60)}
        for step in data["steps"]:
            for side in step["state"]["p"]:
                assert set(side["hand"]) <= ids
        performed = sum("performed action" in (text or "") for text in game["summaries"])
        assert sum(step["action"] is not None for step in data["steps"]) == performed


def test_games_of_an_arena(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "results.db"
    with Arena(["one=greedy", "two=random"], games=2, db=db, seed=4) as arena:
        arena.run(jobs=1)
    page = tmp_path / "page.html"
    names = []
    for number in (1, 2):
        run(capsys, f"{db}:{number}", "-o", str(page))
        names.append(embedded(page.read_text())["names"])
    assert sorted(names) == [["one", "two"], ["two", "one"]]
    before = page.read_bytes()
    assert f"{db}: has no game 7" in run(capsys, f"{db}:7", "-o", str(page), code=1)
    assert page.read_bytes() == before


def test_complaints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.json"
    assert "No such file" in run(capsys, str(path), code=1)
    assert str(tmp_path) in run(capsys, f"{path}:3", code=1)
    path.write_text("{")
    assert f"{path}: not a log, which is JSON" in run(capsys, str(path), code=1)
    path.write_bytes(b"\xff\xfe")
    assert str(path) in run(capsys, str(path), code=1)
    for text in ("[]", "{}", "3"):
        path.write_text(text)
        assert "not a referee's log" in run(capsys, str(path), code=1)
    result = play([make_agent("greedy"), make_agent("random")], Match("1.2", seed=5))
    path.write_text(log_line(result))
    assert run(capsys, str(path), "--rules", "1.5", code=1).startswith(f"locmsim replay: {path}: ")
    log = json.loads(path.read_text())
    log["scores"] = {"0": -1, "1": 1}
    path.write_text(json.dumps(log))
    complaint = run(capsys, str(path), code=1)
    assert "the log fits no rules" in complaint
    assert "1.2 with new instance ids: the log ends (-1, 1)" in complaint
    with pytest.raises(SystemExit):
        main(["replay", str(path), "-o", str(tmp_path / "none" / "page.html")])
    assert "there is no folder" in capsys.readouterr().err


def test_open(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    path = tmp_path / "log.json"
    result = play([make_agent("greedy"), make_agent("random")], Match(seed=5))
    path.write_text(log_line(result))
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(shown.append(url) or True))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(capsys, str(path), "--open") == ""
    (page,) = tmp_path.glob("locmsim-*.html")
    assert shown == [page.as_uri()]
    assert page.read_text() == replay_html(*load_replay(str(path)))
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    assert "no browser to show file:///" in run(capsys, str(path), "--open", code=1)

"""Logs of other referees and tools, and what may stand around the JSON."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers import each_rules, golden_games, golden_result, log_line, main, output_of, raises
from web_client import Library

from locmsim.arena.log_rows import log_row
from locmsim.referee import Result
from locmsim.referee.log_reader import read_log
from locmsim.web import load_replay


@cache
def results(rules: str) -> list[Result[Any]]:
    """Return finished matches with both phases, whose cards follow from their seeds."""
    found = [golden_result(game) for game in golden_games(rules, slice(0, 40, 5))]
    return [
        result
        for result in found
        if result.turns and not result.fault and result.match.log["cards"] is None
    ]


def as_1_2_wrote_it(result: Result[Any]) -> dict[str, Any]:
    """Return a log as the referee of 1.2 wrote it."""
    log = json.loads(log_line(result))
    del log["locmsim"], log["failCause"]
    return {**log, "uinput": log.pop("gameParameters"), "ids": {"0": 17, "1": 18}}


def as_codingame(result: Result[Any]) -> dict[str, Any]:
    """Return a replay in the form of CodinGame's."""
    frames: list[dict[str, Any]] = [{"agentId": -1, "view": "{}", "keyframe": True}]
    for call in result.calls:
        texts = {} if call.answer is None else {"stdout": f"{call.answer}\n"}
        texts |= {"stderr": call.stderr} if call.stderr else {}
        frames.append({"agentId": call.player, "gameInformation": "a turn\n", "view": "", **texts})
    params = "".join(f"{key}={value}\n" for key, value in result.match.params.items())
    return {
        "gameId": 1,
        "frames": frames,
        "refereeInput": params,
        "scores": [float(score) for score in result.scores],
        "ranks": [0, 1],
        "agents": [
            {"index": 0, "codingamer": {"pseudo": "ann"}},
            {"index": 1, "arenaboss": {"nickname": "boss"}},
        ],
    }


def loaded(tmp_path: Path, text: str) -> tuple[Result[Any], tuple[str, str]]:
    path = tmp_path / "log.json"
    path.write_text(text)
    return load_replay(str(path))


@each_rules
def test_logs_of_the_referee_of_1_2(rules: str, tmp_path: Path) -> None:
    for result in results(rules):
        log = as_1_2_wrote_it(result)
        for parameters in (log["uinput"], log["uinput"][0], log["uinput"][0].splitlines()):
            again, _ = loaded(tmp_path, json.dumps({**log, "uinput": parameters}))
            assert again.match.log == result.match.log
        row = log_row(log)
        assert (row.winner, row.turns) == (result.winner, result.turns)


@pytest.mark.slow
@each_rules
def test_keys_of_others_are_not_taken_for_ours(rules: str, tmp_path: Path) -> None:
    (result, *_) = results(rules)
    log = json.loads(log_line(result))
    del log["locmsim"]
    strange = {"rules": ["fair"], "ids": 7, "cards": "many", "stderr": "none", "game": "LOCM"}
    for name, value in strange.items():
        again, _ = loaded(tmp_path, json.dumps({**log, name: value}))
        assert again.match.log == result.match.log
        assert log_row({**log, name: value}).game == ""


@pytest.mark.slow
@pytest.mark.parametrize("behind", ["", "\n1\n0\nseed=3\n", "0 1", "\n\n[1, 2]"])
@pytest.mark.parametrize("before", ["", "\n ", "\ufeff"])
def test_the_first_value_is_the_log(before: str, behind: str, tmp_path: Path) -> None:
    (result, *_) = results("1.2")
    for text in (log_line(result), json.dumps(json.loads(log_line(result)), indent=1)):
        again, _ = loaded(tmp_path, before + text + behind)
        assert again.match.log == result.match.log
    if "\ufeff" not in before:
        library = Library([str(tmp_path / "log.json")])
        (row,) = library.matches()["matches"]
        assert (row["winner"], library.matches()["errors"]) == (result.winner, [])
        assert library.load(row["key"])[0].match.log == result.match.log


def test_what_play_prints_is_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["greedy", "random", "-d", "seed=3", "--timeout-scale", "0", "-l", "/dev/stdout"]
    assert main(["play", *words]) == 0
    path = tmp_path / "m.txt"
    path.write_text(capsys.readouterr().out)
    scores = output_of("play", "-r", str(path)).out.splitlines()[:2]
    assert f"\n{scores[0]}\n{scores[1]}\n" in path.read_text()


@each_rules
@pytest.mark.parametrize("wrapper", [None, "success", "gameResult"])
def test_replays_of_codingame(rules: str, wrapper: str | None, tmp_path: Path) -> None:
    for result in results(rules):
        calls = [replace(call, stderr=f"answer {i}\n") for i, call in enumerate(result.calls)]
        replay = as_codingame(replace(result, calls=tuple(calls)))
        text = json.dumps({wrapper: replay} if wrapper else replay)
        again, names = loaded(tmp_path, text)
        assert [call.stderr for call in again.calls] == [call.stderr for call in calls]
        assert again.match.log["answers"] == result.match.log["answers"]
        assert again.match.rules == rules
        assert names == ("ann", "boss")
        assert log_row(json.loads(text)).names == ["ann", "boss"]


def test_other_replays_of_codingame_are_refused_by_name(tmp_path: Path) -> None:
    (result, *_) = results("1.5")
    replay = as_codingame(result)
    for changed, message in (
        ({"refereeInput": "width=7\n"}, "a replay of CodinGame: .*unknown parameter 'width'"),
        ({"frames": [3]}, "a replay of CodinGame in an unknown form"),
        ({"scores": None}, "a replay of CodinGame in an unknown form"),
        ({"frames": []}, "a replay of CodinGame: "),
    ):
        raises(ValueError, message, loaded, tmp_path, json.dumps({**replay, **changed}))
    with pytest.raises(ValueError, match="in an unknown form: scores is missing"):
        read_log(json.dumps({key: replay[key] for key in replay if key != "scores"}).encode())
    del replay["refereeInput"]
    with pytest.raises(ValueError, match="a replay of CodinGame without its refereeInput"):
        read_log(json.dumps(replay).encode())


@pytest.mark.parametrize("apart", [" ", "\n"])
def test_each_line_that_begins_with_a_brace_is_a_log(apart: str, tmp_path: Path) -> None:
    """The contests' scripts write the scores and parameters of a game behind its log."""
    path = tmp_path / "log.json"
    found = results("1.5")[:3]
    path.write_text("".join(f"{log_line(one)}{apart}1{apart}0{apart}seed=3\n" for one in found))
    library = Library([str(path)])
    rows = library.matches()
    assert rows["errors"] == []
    assert len(rows["matches"]) == len(found) == 3
    found_again = [library.load(row["key"])[0].match.log for row in rows["matches"]]
    assert all(one.match.log in found_again for one in found)
    raises(ValueError, "there are several logs in it, expected one", load_replay, str(path))

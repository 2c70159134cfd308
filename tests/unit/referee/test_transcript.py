"""The Java referee's log and the texts for people."""

import dataclasses
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from helpers import begun_match, golden_path, raises

from locmsim import Match
from locmsim.contract import TurnResult
from locmsim.referee import Call, Fault, FaultKind, Result, play
from locmsim.referee.transcript import (
    log_line,
    params_text,
    replay_log,
    result_log,
    tool_result,
)
from locmsim.rules.cards import save_cards
from locmsim.rules.generator import generate_cards

Log = dict[str, Any]


def result_of(match: Match, calls: list[Call], fault: Fault | None = None) -> Result[Match]:
    assert match.scores is not None
    assert match.winner is not None
    return Result(
        match=match,
        scores=(match.scores[0], match.scores[1]),
        winner=match.winner,
        fault=fault,
        calls=tuple(calls),
        stderr=("", "Traceback\nKeyError: 7\n"),
        elapsed_ns=1_500_000_000,
    )


def play_lines(match: Match, *lines: str | None) -> list[Call]:
    """Submit the answers, then PASS until the match is over."""
    given = iter(lines)
    calls = []
    while match.phase != "over":
        for player in match.to_ask:
            turn = None if match.state is None else match.state.turn
            text, limit = match.input_text(player), match.time_limit_ms(player)
            line = next(given, "PASS")
            result = match.submit(player, line)
            calls.append(Call(player, turn, text, line, limit, 1000 + len(calls), result))
    return calls


# ---------------------------------------------------------------------------------- recorded games


def recorded_games() -> list[bytes]:
    return gzip.decompress(golden_path("recorded-1.5.jsonl.gz").read_bytes()).splitlines()


def test_recorded_games() -> None:
    """Each frame of the log equals that of the contest's referee for the same game.

    Their bots repeat what they read on their standard errors.
    """
    for line in recorded_games():
        theirs = json.loads(line)
        result = replay_log(theirs, ids="old")
        for call in result.calls:
            assert call.text
            assert call.stderr == call.text.rstrip() + "\n"
        ours = json.loads(log_line(result))
        assert set(theirs) == set(ours) - {"failCause", "locmsim"}
        for key in ("errors", "scores", "summaries", "outputs", "metadata", "tooltips"):
            assert ours[key] == theirs[key]
        frames = [view.split("\n")[0] for view in theirs["views"]]
        assert [view.split("\n")[0] for view in ours["views"]] == frames
        assert set(ours["gameParameters"][0].split()) <= set(theirs["gameParameters"][0].split())
        for agent, recorded in zip(ours["agents"], theirs["agents"], strict=True):
            assert agent == {key: recorded[key] for key in ("index", "name")}


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
@pytest.mark.parametrize("lines", [(), ("PASS", "PASS", "", "ATTACK"), ("CHOOSE",), (None,)])
def test_log_replayed(rules: str, lines: tuple[str | None, ...]) -> None:
    match = Match(rules, seed=4)
    calls = play_lines(match, *lines)
    fault = None
    if lines == (None,):
        fault = Fault(0, FaultKind.CRASHED, "its process exited: with a\nline break")
    elif match.error is not None:
        reason = match.error.message.partition(":")[2].strip()
        fault = Fault(match.error.player, FaultKind.MALFORMED, reason)
    result = result_of(match, calls, fault)
    log = json.loads(log_line(result))
    assert_complete(log, calls)
    assert log["scores"] == {"0": result.scores[0], "1": result.scores[1]}
    assert log["gameParameters"] == [params_text(match)]
    assert f"seed=4\n{match_seeds(match)}" == params_text(match)
    if fault is None:
        assert log["failCause"] is None
        assert log["summaries"][-1].endswith(f"¤GREEN¤${match.winner} won!§GREEN§\n")
    again = replay_log(log)
    assert again.fault == fault
    assert again.calls == result.calls
    assert again.scores == result.scores
    assert json.loads(log_line(again)) == log


@pytest.mark.parametrize("log", [None, 7, [], {}, {"gameParameters": ["seed"]}])
def test_no_log(log: object) -> None:
    raises(ValueError, "not a referee's log", replay_log, log)
    raises(ValueError, r"^not a referee's log: gameParameters is missing$", replay_log, {})


@pytest.mark.parametrize("key", ["outputs", "errors"])
@pytest.mark.parametrize("texts", [{"0": 7}, {"0": ["", 7]}, {"0": [["PASS"]]}, [], ["PASS"]])
def test_logs_with_something_else_for_texts(key: str, texts: object) -> None:
    match = Match(seed=4)
    log = result_log(result_of(match, play_lines(match)))
    whole = {**log[key], **texts} if isinstance(texts, dict) else texts
    if (key, texts) != ("errors", []):  # as if it were missing
        raises(ValueError, "not a referee's log", replay_log, {**log, key: whole})


def test_log_of_another_match() -> None:
    match = Match(seed=4)
    log = result_log(result_of(match, play_lines(match)))
    raises(ValueError, r"unknown parameter 'cardGenSeed'", replay_log, log, "1.2")
    with pytest.raises(ValueError, match=r"unknown rules '1\.1'"):
        replay_log({**log, "locmsim": {**log["locmsim"], "rules": "1.1"}})
    raises(ValueError, r"the log ends \(1, 1\)", replay_log, {**log, "scores": {"0": 1, "1": 1}})
    late = {**log["outputs"], "0": [*log["outputs"]["0"], "PASS\n"]}
    raises(ValueError, "with 1 answers left", replay_log, {**log, "outputs": late})
    early = {**log["outputs"], "0": log["outputs"]["0"][:-9]}
    raises(ValueError, "match replayed", replay_log, {**log, "outputs": early})


# ------------------------------------------------------------------------------ tournament tools


def test_tool_result() -> None:
    match = Match(seed=4)
    result = dataclasses.replace(
        result_of(match, play_lines(match)),
        data=(
            ("[TDATA] cards = cheap ones", "[PDATA] depth = 7", "[PDATA] depth = 8.5"),
            ("[PDATA+] nodes = 10", "[PDATA+] nodes=20", "[pdata][3] turn = 1e3", "[PDATA] odd"),
        ),
    )
    data = tool_result(result)
    assert data["ranks"] == [int(score == 0) for score in result.scores]
    assert data["errors"] == [0, 0]
    assert data["scores"] == list(result.scores)
    assert data["test_data"] == {"seed": 4, "turns": result.turns, "cards": "cheap ones"}
    times = [[c.elapsed_ns / 1e6 for c in result.calls if c.player == p] for p in (0, 1)]
    first, second = (
        {"mean_ms": round(sum(spent) / len(spent), 3), "worst_ms": round(max(spent), 3)}
        for spent in times
    )
    assert data["player_data"] == [{**first, "depth": 8.5}, {**second, "nodes": 30, "turn": 1000}]
    assert [tuple(entry.values()) for entry in data["attributes"]] == [
        ("cards", None, None, "cheap ones"),
        ("depth", 0, None, "7"),
        ("depth", 0, None, "8.5"),
        ("nodes", 1, None, "10"),
        ("nodes", 1, None, "20"),
        ("turn", 1, 3, "1e3"),
    ]
    assert list(data["attributes"][0]) == ["name", "player", "turn", "value"]


def test_numbers_that_json_lacks_are_texts() -> None:
    match = Match(seed=4)
    lines = ("[TDATA] a = nan", "[PDATA] b = -Infinity", "[PDATA] c = 1e999")
    result = dataclasses.replace(
        result_of(match, play_lines(match)),
        data=(lines, ("[PDATA+] sum = 1e308", "[PDATA+] sum = 1e308")),
    )
    data = tool_result(result)
    assert data["test_data"]["a"] == "nan"
    assert data["player_data"][0].items() >= {"b": "-Infinity", "c": "1e999"}.items()
    assert data["player_data"][1]["sum"] == "inf"
    json.dumps(data, allow_nan=False)


def test_tool_result_of_a_fault() -> None:
    match = Match(seed=4)
    data = tool_result(result_of(match, play_lines(match, "PASS", "nothing")))
    assert (data["ranks"], data["errors"], data["scores"]) == ([0, 1], [0, 1], [0, -1])


# ---------------------------------------------------------------------------------- other matches


def assert_complete(log: Log, calls: list[Call]) -> None:
    """Check that every list has an entry for each frame, and that no text or answer is missing."""
    frames = len(log["summaries"])
    for entries in (log["views"], *log["errors"].values(), *log["outputs"].values()):
        assert len(entries) == frames
    for player in (0, 1):
        mine = [call for call in calls if call.player == player]
        assert log["locmsim"]["sent"][str(player)] == [call.text for call in mine]
        said = "".join(call.stderr for call in mine)
        assert "".join(filter(None, log["errors"][str(player)])) == said
        answers = [call.answer for call in calls if call.player == player]
        answered = "".join(filter(None, log["outputs"][str(player)]))
        assert answered == "".join(f"{line}\n" for line in answers if line is not None)


@pytest.mark.parametrize("rules", ["1.5", "1.2"])
def test_states_and_actions_as_gym_locm_extracts_them(rules: str) -> None:
    """The log of bots that repeat what they read suits gym-locm's consistency checker.

    In logs with more than one entry it joins the first two texts of 1.5, and then takes a player's
    n-th answer as that to their n-th text.
    """
    match = Match(rules, seed=5)
    calls = [dataclasses.replace(call, stderr=call.text) for call in play_lines(match)]
    log = json.loads(log_line(result_of(match, calls)))
    for player in ("0", "1"):
        states = [text for text in log["errors"][player] if text]
        actions = [text.rstrip() for text in log["outputs"][player] if text]
        if rules == "1.5":
            states[0] += states.pop(1)
        own = [call for call in calls if str(call.player) == player]
        assert states == [call.text for call in own]
        assert actions == [call.answer for call in own]


def match_seeds(match: Match) -> str:
    return "".join(f"{key}={match.params[key]}\n" for key in list(match.params)[1:])


def test_log_is_one_line_of_ascii() -> None:
    match = Match(seed=5)
    result = result_of(match, play_lines(match, "PASS", "PASS", "PASS \u2028 \ufffd"))
    line = log_line(result)
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line) == result_log(result)


def test_draft() -> None:
    match = Match("1.2", seed=5)
    log = result_log(result_of(match, play_lines(match, "PICK 2", "PICK 1")))
    first, second, third = match.offers[0]
    assert log["summaries"][:3] == [
        "",
        "",
        f"Player $0 chose card {third.base_id}.\n$0 1000ns at turn 0\n"
        f"Player $1 chose card {second.base_id}.\n$1 1001ns at turn 0\n",
    ]
    assert f"Player $0 chose card {match.offers[1][0].base_id}.\n" in log["summaries"][4]
    assert match.chosen[0][0] == third.base_id != first.base_id


def test_dropped_actions() -> None:
    """Each warning stands with the action that was executed before it; at most three are shown."""
    first = begun_match(seed=5)
    assert first.state is not None
    legal = first.state.action_to_string(first.state.legal_actions()[-1])
    assert legal != "PASS"
    illegal = ";".join(f"ATTACK {i} -1" for i in range(900, 905))
    line = f"ATTACK 1 2;PASS;{legal} with a comment;{legal};PASS;{illegal}"
    match = Match(seed=5)
    calls = play_lines(match, "PASS", "PASS", line)
    assert calls[2].result.applied == [legal]
    log = result_log(result_of(match, calls))
    at = log["outputs"]["0"].index(line + "\n")
    assert log["summaries"][at : at + 2] == [
        "$0 1002ns at turn 0\n[Warning] $0 Action is not legal: ATTACK 1 2\n",
        f"Player $0 performed action: {legal}\n"
        f"[Warning] $0 Action is not legal: {legal}\n"
        "[Warning] $0 Action is not legal: ATTACK 900 -1\n"
        "[Warning] $0 Action is not legal: ATTACK 901 -1\n"
        "[Warning] $0 Performed another 3 illegalActions\n",
    ]


def test_actions_after_a_victory_are_not_dropped() -> None:
    """The log has no warning of them, since the referee never looked at them."""
    match = Match(seed=5)
    calls = play_lines(match)
    line, result = "ATTACK 2 -1;ATTACK 4 -1;ATTACK 900 -1", TurnResult(["ATTACK 2 -1"], [])
    calls[-1] = dataclasses.replace(calls[-1], answer=line, result=result)
    log = result_log(result_of(match, calls))
    assert "Warning" not in "".join(log["summaries"])
    assert log["summaries"][-1].startswith(
        f"Player ${calls[-1].player} performed action: ATTACK 2 -1\n¤GREEN¤"
    )


@pytest.mark.parametrize("player", [0, 1])
def test_fatal_choice(player: int) -> None:
    match = Match(seed=5)
    lines: list[str | None] = ["PASS", "PASS"]
    lines[player] = None
    calls = play_lines(match, *lines)
    fault = Fault(player, FaultKind.CRASHED, "its process exited with code 3")
    log = result_log(result_of(match, calls, fault))
    assert_complete(log, calls)
    assert log["failCause"] == f"${player}: crashed: its process exited with code 3"
    summary = "".join(log["summaries"][1:])
    assert summary.endswith(f"¤RED¤${player} timeout!§RED§\n")
    assert ("Player $0 chose" in summary) == (player == 1)
    assert "Player $1 chose" not in summary


def test_fatal_answers() -> None:
    match = Match("1.2", seed=5)
    calls = play_lines(match, "PASS", "PASS", "PASS", "PICK")
    summaries = result_log(result_of(match, calls))["summaries"]
    assert "Player $0 chose" in summaries[4]
    assert "Player $1 chose" in summaries[2]
    assert "Player $1 chose" not in summaries[4]
    assert "¤RED¤$1: Invalid action." in summaries[4]
    match = Match(seed=5)
    calls = play_lines(match, "PASS", "PASS", "PASS", "ATTACK 1")
    fault = Fault(1, FaultKind.MALFORMED, "Invalid ATTACK arguments.")
    summaries = result_log(result_of(match, calls, fault))["summaries"]
    assert "¤RED¤$1: Invalid ATTACK arguments." in summaries[-1]
    assert "GREEN" not in summaries[-1]


def test_standard_error_by_answer() -> None:
    """Each entry has at most 4,096 bytes of it; the rest comes with the player's next frames."""
    match = Match(seed=5)
    texts = ["[PDATA] depth = 7\n", "", "\u00e4" * 5000, "x" * 4096, "\ud800", "end\n"]
    calls = [
        dataclasses.replace(call, stderr=texts[i % 6]) for i, call in enumerate(play_lines(match))
    ]
    log = json.loads(log_line(result_of(match, calls)))
    for player in ("0", "1"):
        entries = log["errors"][player]
        assert all(entry is None or 0 < len(entry.encode()) <= 4096 for entry in entries)
        said = "".join(call.stderr for call in calls if str(call.player) == player)
        assert "".join(filter(None, entries)) == said.replace("\ud800", "?")
    assert log["errors"]["0"][1] == "[PDATA] depth = 7\n"
    assert [call.stderr for call in replay_log(log).calls] == [call.stderr for call in calls]
    # Of a log of the Java referee, the frames tell.
    short = [dataclasses.replace(call, stderr=f"answer {i}\n") for i, call in enumerate(calls)]
    log = json.loads(log_line(result_of(match, short)))
    del log["locmsim"]
    log["errors"]["1"][0] = "started\n"
    again = replay_log(log)
    said = [call.stderr for call in short]
    said[1] = f"started\n{said[1]}"
    assert [call.stderr for call in again.calls] == said


def test_unsent_text_is_null() -> None:
    match = Match(seed=5)
    calls = play_lines(match, "PASS", "PASS", None)
    calls[-1] = dataclasses.replace(calls[-1], text=None)
    log = result_log(result_of(match, calls, Fault(0, FaultKind.EARLY, "answered early")))
    assert_complete(log, calls)
    assert log["locmsim"]["sent"]["0"][-1] is None


def test_cards_of_a_list_are_in_the_log_and_no_file_is_read(tmp_path: Path) -> None:
    """A log from somebody else may name any file of this machine, even a terminal or a pipe."""
    path = tmp_path / "cards.txt"
    save_cards(path, generate_cards(7))
    match = Match(seed=1, params={"predefinedCardListFile": str(path)})
    log = json.loads(log_line(play(["random", "random"], match)))
    path.unlink()
    result = replay_log(log)
    assert result.match.cards == match.cards
    assert log_line(result) != ""
    for name in (str(path), "/dev/tty", str(tmp_path)):
        stranger = {**log, "locmsim": {**log["locmsim"], "cards": None}}
        stranger["gameParameters"] = [
            log["gameParameters"][0].replace(str(path), name)
            if str(path) in log["gameParameters"][0]
            else f"{log['gameParameters'][0]}predefinedCardListFile={name}\n"
        ]
        raises(ValueError, r"which the log does not hold$", replay_log, stranger)

"""``locmsim check``: the matches reach what they are about, and every kind of bot is judged."""

import json
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from amounts import amount, slow_after
from helpers import BOT, RULE_SETS, output_of, replayed

from locmsim.arena import LocmGame
from locmsim.referee import play, replay_calls
from locmsim.referee.checks import Check, CheckResult, percentile, run_check

GOOD = shlex.join(BOT)


def reached(game: LocmGame, check: Check) -> dict[str, int]:
    """Return the extremes of what a seat is asked in a recorded match."""
    if check.answers:
        answers = [(seat, line, 0) for seat, line in check.answers]
        result = replay_calls(game.new_match(check.seed), answers)
    else:
        agents = [game.check_agent(spec) for spec in check.players]
        for seat, agent in enumerate(agents):
            agent.reset(seat)
        result = play(agents, game.new_match(check.seed), timeout_scale=0)
        assert result.fault is None
    found: dict[str, int] = {}
    for call, match in replayed(result):
        if match.state is not None and call.player == check.seat:
            me, opponent = (match.state.players[i] for i in (call.player, 1 - call.player))
            for name, value in {
                "turn": match.state.turn,
                "hand": me.hand_size,
                "board": len(me.board),
                "enemies": len(opponent.board),
                "empty deck": int(me.deck_size == 0),
                "opponent's empty deck": int(opponent.deck_size == 0),
                "copies": sum(creature.id % 2 for creature in me.board),
            }.items():
                found[name] = max(found.get(name, 0), value)
    return found


@pytest.mark.parametrize("rules", RULE_SETS)
def test_checks_reach_what_they_are_about(rules: str) -> None:
    game = LocmGame(rules)
    checks = {check.name: check for check in game.checks()}
    assert len(checks) == len(game.checks()) >= 16
    seats = [check.seat for check in checks.values() if check.seat is not None]
    assert {0, 1} <= {*seats}
    assert {check.players.index("") for check in checks.values() if check.seat is None} == {0, 1}
    full = reached(game, checks["full boards"])
    assert (full["board"], full["enemies"], full["hand"]) == (6, 6, 8)
    bare = reached(game, checks["empty boards and full hands"])
    assert (bare["board"], bare["enemies"], bare["hand"]) == (0, 0, 8)
    assert bare["turn"] > 100
    long = reached(game, checks["a long match and an empty deck"])
    assert long["empty deck"]
    assert long["turn"] > 30
    assert reached(game, checks["an opponent with an empty deck"])["opponent's empty deck"]
    assert reached(game, checks["attacks on a full board"])["board"] >= 5
    recorded = [check for check in checks.values() if check.answers]
    assert len(recorded) >= 4
    most: dict[str, int] = {}
    for check in recorded:
        assert check.name.startswith("recorded match ")
        for name, value in reached(game, check).items():
            most[name] = max(most.get(name, 0), value)
    assert most["hand"] == 8
    assert max(most["board"], most["enemies"]) == 6
    if rules == "1.5":
        assert full["copies"]
        assert "copies of cards with an area" in checks


@pytest.mark.slow
@pytest.mark.parametrize("rules", amount(["1.2"], RULE_SETS))
def test_a_good_bot_passes(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["check", "greedy", "--rules", rules, "--timeout-scale", "0"]
    lines = output_of(*words).out.splitlines()
    names = [check.name for check in LocmGame(rules).checks()]
    for name, line in zip(names, lines, strict=False):
        assert line.startswith(f"ok      {name}: ")
        assert "illegal" not in line
    assert lines[-2:] == [
        "answers alike in equal matches: yes",
        f"{len(names)} checks: all passed",
    ]
    assert any(line.startswith("first turn: mean ") for line in lines)
    few = LocmGame(rules).checks()[:3]
    monkeypatch.setattr(LocmGame, "checks", lambda game: few)
    data = json.loads(output_of(*words, "--json").out)
    assert data["repeats"] is True
    assert [one["name"] for one in data["checks"]] == names[:3]
    assert all(one["fault"] == "" and one["answers"] for one in data["checks"])


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    slow_after(
        2,
        [
            ('b"PASS\\n"', 0, "answers alike in equal matches: yes"),
            ('b"PASS\\r\\n"', 0, "checks: all passed"),
            ('b"SUMMON 999 0\\n" if n else b"PASS\\n"', 0, "checks: all passed, with "),
            ('b"PASS\\n" if n != 3 else b"SING\\n"', 1, "FAILED  a match, going first: 4 answers"),
            ('b"PASS\\n" if n < 30 else b"x"[:9 // 0]', 1, "FAILED  an opponent who only passes: "),
            ('b"PASS;MOVE " + str(os.getpid()).encode() + b"\\n"', 1, "checks: "),
        ],
    ),
)
def test_bots_are_judged(
    answer: str,
    status: int,
    said: str,
    script: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = LocmGame().checks()[:3]
    monkeypatch.setattr(LocmGame, "checks", lambda game: few)
    out = output_of(
        "check", script(f"    bot.write({answer})\n"), "--timeout-scale", "0", code=status
    ).out
    assert said in out
    assert ("FAILED" in out) == bool(status)
    if "// 0" in answer:
        assert "        | ZeroDivisionError: integer division or modulo by zero\n" in out
    if "SUMMON" in answer:
        assert "first in turn 0: SUMMON 999 0 (not in hand)" in out
    if "SING" in answer:
        assert "failed in turn 4 (malformed answer): " in out


def test_a_bot_that_always_fails_alike_is_not_checked_to_the_end(
    script: Callable[[str], str],
) -> None:
    """After a few equal faults the rest is left out; equal tracebacks are shown once."""
    count = len(LocmGame().checks())
    words = ["check", script('    bot.write(b"x"[: 9 // 0])\n'), "--timeout-scale", "0"]
    out = output_of(*words, code=1).out
    assert out.count("FAILED") == 3
    assert out.count("ZeroDivisionError") == 1
    assert "answers alike" not in out
    end = f"3 checks: 3 failed\nthe last 3 failed alike: {count - 3} further checks were left out\n"
    assert out.endswith(end)
    data = json.loads(output_of(*words, "--json", code=1).out)
    assert (len(data["checks"]), data["left_out"], data["repeats"]) == (3, count - 3, None)
    assert all("ZeroDivisionError: " in one["stderr"] for one in data["checks"])


def test_faults_are_alike_whatever_the_place_and_numbers_in_them() -> None:
    check = LocmGame().checks()[0]
    late = [
        CheckResult(check, f"player 0 failed in {at} (timeout): no answer within {ms} ms")
        for at, ms in (("the choice phase", 4000), ("turn 7", 200))
    ]
    assert late[0].cause == late[1].cause
    crashes = [CheckResult(check, "failed in turn 3 (crashed): x", stderr=s) for s in "ab"]
    assert crashes[0].cause != crashes[1].cause


def test_late_answers_and_other_answers(script: Callable[[str], str]) -> None:
    """Limits are those of the rules, and are in the result with the times."""
    game = LocmGame()
    check = game.checks()[5]
    found = run_check(check, GOOD, game.new_match, game.check_agent)
    assert found.fault == ""
    assert [limit for _, _, limit in found.times[:3]] == [4000, 1000, 200]
    assert [turn for turn, _, _ in found.times[:3]] == [None, 1, 3]
    late = '__import__("time").sleep(0.5 * (n == 2))'
    slow = script(f'    {late}\n    bot.write(b"PASS\\n")\n')
    found = run_check(check, slow, game.new_match, game.check_agent)
    assert found.fault.startswith("failed in turn 3 (timeout): no answer within 200 ms")
    moody = script(
        '    bot.write(b"PASS\\n" if n else b";".join(b"CHOOSE %d" % (os.getpid() % 90 + i)'
        ' for i in range(30)) + b"\\n")\n'
    )
    one, other = (run_check(check, moody, game.new_match, game.check_agent) for _ in range(2))
    assert one.answers != other.answers


def test_a_bot_that_cannot_be_started() -> None:
    err = output_of("check", "/nowhere/bot", code=1).err
    assert "cannot run '/nowhere/bot': No such file" in err


def test_percentiles() -> None:
    values: list[Any] = [*range(1, 201)]
    assert percentile(values, 0.99) == 198
    assert percentile([5], 0.99) == 5
    assert percentile([], 0.5) != percentile([], 0.5)  # NaN

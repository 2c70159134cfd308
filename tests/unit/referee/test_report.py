"""Reports on whole games: how much each turn lost compared with the best one found."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import each_rules, match_of, output_of, raises, write_log

from locmsim import Match
from locmsim.referee import replay_calls
from locmsim.referee.knowledge import knowledge_at
from locmsim.referee.turn_report import report_game, report_turns


@each_rules
def test_every_turn_is_compared_with_the_best_one(rules: str) -> None:
    result = match_of(rules)
    report = report_game(result, nodes=50, seed=1)
    calls = [call for call in result.calls if call.turn is not None]
    assert [turn.turn for turn in report.turns] == [call.turn for call in calls]
    for turn, call in zip(report.turns, calls, strict=True):
        assert (turn.player, turn.played) == (call.player, call.answer)
        assert -1 <= turn.value_played <= turn.value_best <= 1
        _, belief = knowledge_at(result, turn.turn)
        root = belief.root()
        root.apply_line(turn.best)  # raises if it is malformed
        assert turn.loss == (turn.value_best - turn.value_played) / 2
        # The chances say the same: what lies between them was given away, and nothing else.
        given = turn.before - turn.after if turn.player == 0 else turn.after - turn.before
        assert given == pytest.approx(turn.loss)
    assert report.turns[-1].after == 1 - (result.winner or 0)
    assert sum(turn.loss for turn in report.turns if turn.player == 1) > 0.05  # player 1 is random
    assert report_game(result, nodes=50, seed=1) == report


def test_nothing_hidden_is_looked_at() -> None:
    """Two games that look the same to a player have the same report on their turn."""

    deck = ";".join(f"CHOOSE {i}" for i in range(90, 120))

    def turn_0(second: str) -> Any:
        answers = [(0, "PASS", 0), (1, second, 0), (0, "PASS", 0), (1, None, 0)]
        return next(iter(report_turns(replay_calls(Match(seed=8), answers), nodes=500)))

    assert turn_0("PASS") == turn_0(deck)


def test_answers_that_end_the_match_lose_all() -> None:
    for last in (None, "ATTACK"):
        answers = [(0, "PASS", 0), (1, "PASS", 0), (0, "PASS", 0), (1, last, 0)]
        _, second = report_game(replay_calls(Match(seed=3), answers), nodes=100).turns
        assert (second.played, second.value_played, second.after) == (last, -1, 1)
        assert second.value_best > -1
        assert second.loss > 0
    raises(ValueError, "nodes: expected 1 or more", report_game, match_of(), nodes=0)


def test_the_best_turn_played_loses_nothing() -> None:
    result = match_of(first="beam:nodes=100")
    report = report_game(result, nodes=100)
    won = report.turns[-1]
    assert (won.player, won.loss, won.value_best) == (0, 0, 1)
    assert won not in report.worst(0)
    losses = [turn.loss for turn in report.turns if turn.player == 1 and turn.loss]
    assert [turn.loss for turn in report.worst(1, 2)] == sorted(losses, reverse=True)[:2]


def test_the_command_prints_it(tmp_path: Path) -> None:
    result = match_of()
    report = report_game(result, nodes=20, seed=4)
    log = tmp_path / "a.log"
    write_log(log, result, ("ann", "bob"))
    words = ["analyse", str(log), "--report", "--nodes", "20", "--seed", "4"]
    shown = json.loads(output_of(*words, "--json").out)
    assert shown["names"] == ["ann", "bob"]
    assert {name: shown[name] for name in report.to_json()} == report.to_json()
    out = output_of(*words).out
    decks, _, turns = out.partition("turn player  before")
    assert turns.count("given away") == len(report.worst(0)) + len(report.worst(1))
    assert report.decks is not None
    for deck, name in zip(report.decks, ("ann", "bob"), strict=True):
        assert f"the deck of player {deck.player}, {name}:" in decks
        assert (
            f"  wins {100 * deck.probability:.0f} %;"
            f" with the package's own deck {100 * deck.with_package:.0f} %" in out
        )
    assert decks.count("given away") == sum(len(deck.worst) for deck in report.decks) > 0
    assert "calibrated on 4,000 games that beam:nodes=1000 played" in " ".join(decks.split())
    assert f"turn {report.worst(1)[0].turn}: " in out.partition("player 1, bob:")[2]
    assert report.budget in out


def test_the_command_reads_arenas(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    words = ["greedy", "random", "--games", "2", "--jobs", "1", "--db", str(db)]
    output_of("arena", *words, "--timeout-scale", "0")
    out = output_of("analyse", f"{db}:2", "--report", "--nodes", "100").out
    assert "the worst turns of player 1, greedy:" in out

"""Reports on a player's games: sums of what the reports on single games say."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from helpers import output_of, stopped

from locmsim.arena import Arena
from locmsim.arena.player_report import report_players
from locmsim.referee.turn_report import report_game

NODES = 20


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / "some results.db"
    with Arena(path, ["greedy", "random", "osl"], games=2, seed=9, timeout_scale=0) as arena:
        arena.run(jobs=1)
    return path


def report(db: Path, *words: str) -> Any:
    out = output_of("analyse", str(db), "--report", "--nodes", str(NODES), "--json", *words).out
    return json.loads(out)


def test_the_report_sums_up_those_on_games(db: Path) -> None:
    (shown,) = report(db, "--player", "random", "--lost", "--jobs", "1")["players"]
    with Arena.load(db) as arena:
        outcomes = [*arena.games(lost_by="random")]
        seats = [1 - (outcome.winner or 0) for outcome in outcomes]
        reports = [report_game(arena.replay(one.number), nodes=NODES) for one in outcomes]
    assert [game["number"] for game in shown["games"]] == [one.number for one in outcomes]
    assert [game["seat"] for game in shown["games"]] == seats
    turns = [
        [turn for turn in one.turns if turn.player == seat]
        for one, seat in zip(reports, seats, strict=True)
    ]
    summary = shown["summary"]
    assert summary["score"] == 0
    assert summary["lost_by_turns"] == pytest.approx(mean(sum(t.loss for t in g) for g in turns))
    decks = [one.decks[seat] for one, seat in zip(reports, seats, strict=True) if one.decks]
    assert summary["deck"] == pytest.approx(mean(deck.probability for deck in decks))
    assert summary["lost_by_deck"] == pytest.approx(summary["package"] - summary["deck"])
    assert 0 < summary["deck_share"] < 1
    assert summary["unspent"] > 0  # player random passes while it could still act
    first = shown["by_turn"][0]
    assert (first["turn"], first["games"]) == (1, len(turns))
    assert first["loss"] == pytest.approx(mean(game[0].loss for game in turns))
    losses = sorted((turn.loss for game in turns for turn in game), reverse=True)
    assert [turn["loss"] for turn in shown["worst"]] == [one for one in losses[:10] if one >= 0.02]
    worst = shown["worst"][0]
    assert worst["command"] == f"locmsim analyse '{db}:{worst['game']}' --turn {worst['turn']}"


def test_wins_that_were_missed_are_counted(tmp_path: Path) -> None:
    """Agent random does not see a win; those that it found are none that it missed."""
    db = tmp_path / "a.db"
    with Arena(db, ["a=random", "b=random"], games=4, seed=5, timeout_scale=0) as arena:
        arena.run(jobs=1)
    *_, (found,) = report_players(db, nodes=NODES)
    turns = [turn for game in found.games for turn in game.turns]
    missed = [turn.report for turn in turns if turn.missed_win]
    assert found.summary()["missed_wins"] == len(missed) > 0
    for turn in missed:
        state = turn.start.clone()
        state.apply_line(turn.best)
        assert state.winner == turn.player
        assert turn.loss > 0
    assert not any(game.turns[-1].missed_win for game in found.games if game.score == 1)


def test_versions_are_compared_on_the_same_seeds(db: Path) -> None:
    words = ["--player", "osl", "--player", "greedy", "--games", "3"]
    shown = report(db, *words, "--jobs", "2")["players"]
    assert [one["name"] for one in shown] == ["osl", "greedy"]
    with Arena.load(db) as arena:
        seeds = [
            [(arena.settings.fixture(g["number"]).seed, g["seat"]) for g in one["games"]]
            for one in shown
        ]
    assert sorted(seeds[0]) == sorted(seeds[1])
    assert len(seeds[0]) == 3
    words += ["--jobs", "1"]
    assert report(db, *words)["players"] == shown
    text = output_of("analyse", str(db), "--report", "--nodes", str(NODES), *words).out
    assert text.split()[:5] == ["osl", "greedy", "games", "3", "3"]
    assert shown[1]["worst"][0]["command"] in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("{db} --player nobody", "--player: "),
        ("{db} --player osl --player osl", "--player: the same one is named twice"),
        ("{db} --rules 1.5", "--rules: does not apply to {db}, an arena's results"),
        ("{db}:1 --player osl", "--player: does not apply to one game"),
        ("{db}:1 --lost", "--lost: does not apply to one game"),
    ],
)
def test_what_does_not_apply_is_refused(words: str, message: str, db: Path) -> None:
    given = [word.format(db=db) for word in words.split()]
    err = output_of("analyse", *given, "--report", code=2).err
    assert message.format(db=db) in err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_report_that_is_stopped_shows_the_games_so_far(db: Path, jobs: str) -> None:
    words = ["analyse", str(db), "--report", "--nodes", "200000", "--json", "--jobs", jobs]
    out, error = stopped(*words)
    (shown,) = json.loads(out)["players"]
    assert 0 < len(shown["games"]) < shown["chosen"] == 4
    assert f"stopped after {len(shown['games'])} of 4 games" in error

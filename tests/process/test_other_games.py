"""Tests of the commands for games other than Legends of Code and Magic, here Vestrock."""

import json
import sys
from pathlib import Path

import pytest
from helpers import main, output_of

from locmsim.arena import Arena
from locmsim.support.files import counted

GAME = "--game=vestrock:turns=20,init_hp=10"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("games") / "vestrock.db")
    words = ["arena", GAME, "search:nodes=20", "rule", "--seed=4", "--sprt", "0", "300"]
    assert main([*words, "--games=6", "--jobs=2", f"--db={path}"]) == 0
    return path


def test_arena(db: str, tmp_path: Path) -> None:
    shown = output_of("arena", "show", db).out
    assert "games of Vestrock, mirrored pairs, seed 4" in shown
    assert "SPRT of Elo +0 against +300" in shown
    csv = tmp_path / "games.csv"
    assert main(["arena", "show", db, "--csv", str(csv)]) == 0
    with Arena.load(db) as arena:
        assert len(csv.read_text().splitlines()) == 1 + arena.tally.games
    assert main(["arena", "--db", db, "--games=8", "--jobs=1"]) == 0
    assert "unknown game 'chess'" in output_of("arena", "--game=chess", "a", "b", code=2).err
    err = output_of("arena", "--game=locm", f"--db={db}", "random", "greedy", code=1).err
    assert "game: vestrock, now locm" in err


def test_play(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    words = ["play", GAME, "search:nodes=20", "rule", "-seed", "4", "-l", str(log)]
    first, second, *rest = output_of(*words, "--text").out.splitlines()
    assert int(first) + int(second) == 30
    assert rest[:3] == ["seed=4", "init_hp=10", "turns=20"]
    assert any(line.startswith("turn 1, player 1 (rule): ") for line in rest)
    winner = int(int(second) > int(first))
    assert rest[-1] == f"player {winner} ({('search:nodes=20', 'rule')[winner]}) wins"
    data = json.loads(log.read_text())
    assert data["game"]["game"] == "vestrock"
    assert data["scores"] == [int(first), int(second)]
    assert len(data["answers"]) == 1 + max(
        int(line.split(",")[0].split()[1]) for line in rest if line.startswith("turn ")
    )
    assert json.loads(output_of(*words, "--json").out)["errors"] == [0, 0]
    for wrong, message in (
        (
            ["-d", "shufflePlayer0Seed=1"],
            "does not apply to Vestrock; its options belong to --game",
        ),
        (["-d", "seed=x"], "expected an integer"),
        (["-league", "2"], "league: does not apply to Vestrock"),
        (["--rules", "1.2"], "--rules: does not apply with --game vestrock"),
    ):
        assert message in output_of(*words, *wrong, code=2).err
    assert "did you mean 'search'?" in output_of("play", GAME, "serch", "rule", code=2).err


def test_play_from_a_log(tmp_path: Path) -> None:
    """The replay of a log shows the match as it was played, and can write the same log again."""
    log, again = tmp_path / "log.json", tmp_path / "again.json"
    played = output_of("play", GAME, "rule", "random", "-seed", "4", "-l", str(log), "--text").out
    assert output_of("play", "-r", str(log), "-l", str(again), "--text").out == played
    assert again.read_text() == log.read_text()
    data = json.loads(log.read_text())
    for wrong, message in (
        ({"scores": [0, 0]}, "it ended [0, 0], and ["),
        ({"game": {"game": "chess"}}, "unknown game 'chess'"),
        ({"answers": 3}, "no log of a match: TypeError"),
    ):
        log.write_text(json.dumps({**data, **wrong}))
        err = output_of("play", "-r", str(log), code=1).err
        assert err.startswith(f"locmsim play: --replay: {log}: ")
        assert message in err


def test_a_game_of_results(db: str) -> None:
    out = output_of("play", "-r", f"{db}:1", "--text").out
    with Arena.load(db) as arena:
        result = arena.replay(1)
        players = [arena.settings.players[p].name for p in arena.record(1).outcome.players]
    assert out.startswith(f"{result.scores[0]}\n{result.scores[1]}\nseed=")
    for call in result.calls:
        who = f"player {call.player} ({players[call.player]})"
        assert f"turn {call.turn}, {who}: {call.answer}\n" in out


def test_ask(db: str, tmp_path: Path) -> None:
    with Arena.load(db) as arena:
        record = arena.record(1)
        lost = [outcome.number for outcome in arena.games(lost_by="rule")]
    seat = record.outcome.players.index(1)  # player 1 is "rule", which does not use random numbers
    turn = 6 + seat
    answer = json.loads(output_of("ask", "rule", f"{db}:1", "--turn", str(turn), "--json").out)
    assert (answer["player"], answer["turn"], answer["same"]) == (seat, turn, True)
    assert answer["new"] == answer["old"]
    program = tmp_path / "program.py"
    program.write_text(
        "while True:\n"
        "    for _ in range(3): input()\n"
        "    for _ in range(4):\n"
        "        for _ in range(sum(map(int, input().split()))): input()\n"
        "    print('FINISH_BLOCK', flush=True)\n"
    )
    idle = f"{sys.executable} {program}"
    out = output_of("ask", idle, f"{db}:1", "--turn", str(turn)).out
    assert f"turn {turn}, the turn of player {seat} (rule)" in out
    out = output_of("ask", "rule", db, "--lost", "--player=rule", "--last=2", "--jobs=1").out
    games = counted(len(lost), "game")
    summary = f"{games} lost by rule: 0 of {2 * len(lost)} answers changed\n"
    assert out == summary


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["replay", "DB:1"], "replay"),
        (["analyse", "DB:1", "--turn", "2"], "replay"),
        (["perft", "DB:1", "--turn", "2", "--depth", "1"], "replay"),
        (["dataset", "DB", "-o", "/dev/null", "--force"], "analysis"),
    ],
)
def test_what_only_some_games_have(
    words: list[str], part: str, db: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that the game does not support fails with a one-line message."""
    try:
        code = main([word.replace("DB", db) for word in words])
    except SystemExit as end:
        code = int(str(end.code))
    assert code in (1, 2)
    err = capsys.readouterr().err
    assert err.splitlines()[-1].endswith(f"Vestrock has no {part}")
    assert "Traceback" not in err

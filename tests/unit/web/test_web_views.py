"""Matches of any game on pages: text, words, scores, and drawings that are images."""

import base64
import json
import re
from pathlib import Path
from xml.etree import ElementTree

from helpers import HOSTILE, each_rules, main, match_of, raises, view_steps
from hostile_game import Hostile
from vestrock_help import Tournament, described, encode
from web_client import Client, Library

from locmsim.arena import Arena, LocmGame, make_game
from locmsim.contract import BaseGame, View
from locmsim.referee import replay_calls
from locmsim.web import load_replay
from vestrock import generate_deck
from vestrock.bots import make_bot
from vestrock.match import split_line


def test_a_game_of_vestrock(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with Arena(db, ["one=rule", "two=random"], game="vestrock:turns=20", games=2, seed=1) as arena:
        arena.run(jobs=1)
        result = arena.replay(1)
    ask = Client((), [db]).get
    rows = ask("/api/matches")["matches"]
    assert [(row["key"], row["game"], row["rules"]) for row in rows] == [
        ("d0:2", "Vestrock", None),
        ("d0:1", "Vestrock", None),
    ]
    shown = ask("/api/match", match="d0:1")
    assert (shown["title"], shown["turn"], shown["scores"]) == (
        "Vestrock", "turn", list(result.scores)
    )  # fmt: skip
    assert len(shown["steps"]) == 1 + len(result.calls)
    assert shown["steps"][0]["words"] == ""
    match = result.match.root()
    for step, call in zip(shown["steps"][1:], result.calls, strict=True):
        done = match.submit(call.player, call.answer).applied
        assert step["scores"] == [*map(int, match.scores or match.state.health)]
        assert f"player 0: {match.state.health[0]} health" in step["text"]
        assert (step["turn"], step["player"]) == (call.turn, call.player)
        # The words describe this turn only.
        assert step["words"].count("draws a card") == done.count("DRAW_CARD")
        assert (step["words"] == "does nothing") == (not done)
        head, _, data = step["image"].partition(",")
        assert head == "data:image/svg+xml;base64"
        root = ElementTree.fromstring(base64.b64decode(data))
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert len(texts) == 2 + 2 * sum(
            len(match.state.hand(player)) + len(match.state.board(player)) for player in (0, 1)
        )
    assert "no match" in ask("/api/match", 400, match="d0:x")["error"]
    assert "has no game 9" in ask("/api/match", 400, match="d0:9")["error"]


def test_what_bots_of_another_game_write(tmp_path: Path) -> None:
    """What a bot wrote and the parts of its answer that had no effect stand beside its turn."""
    db = tmp_path / "a.db"
    with Arena(db, ["rule", "random"], game="vestrock:turns=4", games=2, seed=1) as arena:
        arena.run(jobs=1)
        result = arena.replay(1)
    answers = [
        (call.player, "ATTACK 998 999" if i == 1 else call.answer, 0, f"turn {i}: {HOSTILE}")
        for i, call in enumerate(result.calls)
    ]
    steps = [*view_steps(replay_calls(result.match.root(), answers), make_game("vestrock:turns=4"))]
    assert [step["stderr"] for step in steps] == ["", *(words for *_, words in answers)]
    assert steps[0]["ignored"] == []
    assert len(steps[2]["ignored"]) == 1
    assert "ATTACK 998 999" in steps[2]["ignored"][0]


def test_a_log_of_another_game(tmp_path: Path) -> None:
    log = tmp_path / "a.json"
    words = ["--game", "vestrock:turns=6", "rule", "random", "--seed", "1", "-l", str(log)]
    assert main(["play", *words]) == 0
    replaying = "a match of Vestrock, of which `locmsim web FILE` shows"
    raises(ValueError, replaying, load_replay, str(log))
    ask = Client([log]).get
    (row,) = ask("/api/matches")["matches"]
    assert (row["game"], row["rules"], row["names"]) == ("Vestrock", None, ["rule", "random"])
    shown = ask("/api/match", match=row["key"])
    assert shown["names"] == ["rule", "random"]
    data = json.loads(log.read_text())
    assert shown["scores"] == data["scores"]
    assert [step["answer"] for step in shown["steps"][1:]] == [line for _, line in data["answers"]]
    data["scores"] = [1, 2]
    log.write_text(json.dumps(data))
    key = ask("/api/matches")["matches"][0]["key"]
    assert "when replayed" in ask("/api/match", 400, match=key)["error"]


@each_rules
def test_a_match_of_locm(rules: str) -> None:
    result = match_of(rules)
    steps = [*view_steps(result, LocmGame(rules))]
    assert len(steps) == 1 + len(result.calls)
    assert result.match.state is not None
    assert steps[-1]["text"] == str(result.match.state)
    assert steps[-1]["scores"] == tuple(p.health for p in result.match.state.players)
    library = Library()
    shown = library.any_match(library.add(result, ("a", "")))
    assert (shown["names"], shown["title"]) == (["a", "Player 1"], f"rules {rules}")
    assert shown["steps"] == steps


def test_no_markup_of_a_game_enters_a_page(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with Arena(db, ["rule", "random"], game=Hostile(turns=2), games=2, seed=1) as arena:
        arena.run(jobs=1)
    shown = Client((), [db]).get("/api/match", match="d0:1")
    for step in shown["steps"]:
        assert set(step) == {
            "turn", "player", "answer", "ignored", "stderr", "text", "words", "scores", "image"
        }  # fmt: skip
        assert re.fullmatch("[A-Za-z0-9+/=]+", step["image"].partition(",")[2])
        assert step["text"] == "<i>text"  # pages insert it as text, not as HTML


def test_a_game_that_says_nothing_about_it() -> None:
    game = make_game("vestrock:turns=4")
    assert isinstance(game, BaseGame)
    match = game.new_match(1)
    plain = BaseGame.view(game, match)
    assert (plain.text, plain.scores, plain.drawing) == (match.input_text(0), None, "")
    while match.to_ask:
        match.submit(match.to_ask[0], "")
    assert BaseGame.view(game, match) == View("", scores=tuple(match.scores or ()))


def server_log(tournaments: int = 2) -> list[bytes]:
    """Return the log of a server, made from its parts without clock and connections."""
    lines: list[bytes] = []
    deck = generate_deck(5, 100)
    for number in range(1, tournaments + 1):
        tournament = Tournament(number, deck, ["ann", "bob"], {"turns": 6}, first_id=2 * number - 1)
        lines.append(encode(described(tournament)))
        bots = {name: make_bot(kind, 1) for name, kind in (("ann", "rule"), ("bob", "random"))}
        for turn in range(1, 7):
            for id_, match in tournament.matches.items():
                if match.is_over:
                    continue
                player = match.players[match.state.mover]
                for command in split_line(bots[player].turn(match.state.clone())):
                    word, *rest = command.split(" ")
                    words = " ".join([word, str(id_), *rest])
                    if match.command(player, words)[0] == "OK":
                        event = {"event": "action", "turn": turn, "match": id_, "player": player}
                        lines.append(encode({**event, "command": command}))
            lines.append(encode({"event": "end_turn", "tournament": number, "turn": turn}))
            tournament.end_turn()
        for result in tournament.results.values():
            event = {"event": "result", "match": result.match, "players": [*result.players]}
            lines.append(encode({**event, "scores": [*result.scores], "state": ""}))
        lines.append(
            encode({"event": "awards", "tournament": number, "awards": tournament.awards()})
        )
    return lines


def test_a_server_is_watched_a_turn_late(tmp_path: Path) -> None:
    lines = server_log()
    log = tmp_path / "server.log"
    ends = [i for i, line in enumerate(lines) if b'"end_turn"' in line]
    actions = lines[ends[2] + 1 : ends[3]]  # the actions of the fourth turn
    assert actions
    # The log ends in the fourth turn.
    log.write_bytes(b'{"event":"server","format":1}\n' + b"".join(lines[: ends[3]]))
    library = Library([str(log)])
    rows = library.matches()["matches"]
    assert [(row["number"], row["names"], row["game"]) for row in rows] == [
        ("2:2", ["bob", "ann"], "Vestrock"),
        ("2:1", ["ann", "bob"], "Vestrock"),
    ]
    keys = [row["key"] for row in rows]
    shown = library.any_match(keys[1])
    assert [step["turn"] for step in shown["steps"]] == [None, 0, 1, 2]
    assert shown["running"]
    done = [json.loads(line) for line in lines[: ends[2]] if b'"action"' in line]
    answers = [step["answer"] for step in shown["steps"][1:]]
    assert [text for text in ";".join(answers).split(";") if text] == [
        event["command"] for event in done if event["match"] == 1
    ]
    # When the log grows, only its running tournament is read again. The keys of its matches find
    # them after their end, too.
    read = library.logs.bytes_read
    with log.open("ab") as file:
        file.writelines(lines[ends[3] :])
    rows = library.matches()["matches"]
    assert [library.any_match(row["key"]) for row in rows[2:]] == [*map(library.any_match, keys)]
    assert library.logs.bytes_read == read + sum(map(len, lines))
    assert rows[0]["number"].endswith(":4")
    for row in rows:
        shown = library.any_match(row["key"])
        assert len(shown["steps"]) == 7
        assert shown["names"] == row["names"]
        assert shown["steps"][-1]["answer"] is not None
        assert shown["steps"][-1]["text"].startswith("the match is over\n")
        assert not shown["running"]
        first, second = shown["scores"]
        assert row["winner"] == (None if first == second else int(second > first))
    # The first tournament is not read again when a third one begins.
    read = library.logs.bytes_read
    more = server_log(3)[len(lines) :]
    with log.open("ab") as file:
        file.writelines(more)
    assert len(library.matches()["matches"]) == 6
    assert library.logs.bytes_read == read + sum(map(len, more))


def test_a_damaged_log_of_a_server(tmp_path: Path) -> None:
    lines = server_log(1)
    log = tmp_path / "server.log"
    lines[1] = lines[1].replace(b'"command"', b'"commond"')
    log.write_bytes(b"".join(lines))
    library = Library([str(log)])
    rows = library.matches()["matches"]
    raises(ValueError, r"line \d+: a damaged event", library.any_match, rows[-1]["key"])


def test_a_log_of_a_server_as_it_is_written(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    start = b'{"event":"server","game":"vestrock","format":1}\n'
    library = Library([str(log)])
    log.write_bytes(start)  # no tournament yet
    assert (library.matches()["matches"], library.matches()["errors"]) == ([], [])
    lines = server_log(1)
    log.write_bytes(start + b"".join(lines)[:-20])
    assert [row["turns"] for row in library.matches()["matches"]] == [6, 6]
    # The server was killed within a line; the next one ends it.
    log.write_bytes(start + b"".join(lines)[:-20] + b"\n" + start + b"".join(lines))
    rows = library.matches()["matches"]
    # Two tournaments in one file: their matches of one number are told apart by their lines.
    second = len(lines) + 3
    assert [row["number"] for row in rows] == [f"{second}:2", f"{second}:1", "2:2", "2:1"]
    assert library.matches()["errors"] == []
    assert len({len(library.any_match(row["key"])["steps"]) for row in rows}) == 1
    log.write_bytes(b'{"event":"server","game":"chess"}\n')
    assert library.matches()["errors"] == [f"{log}: no log of a match"]

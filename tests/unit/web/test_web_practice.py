"""The page *Practice* through the server: mistakes, puzzles, and what an answer is worth."""

import itertools
from typing import Any

import pytest
from helpers import match_of

from locmsim.referee.turn_report import LEAST_LOSS, compare_turn, report_turns
from locmsim.search.puzzles import built_in_puzzles

pytest.importorskip("starlette", reason="starlette is not installed")

from browser_engine import position_of_match
from test_web_searches import Client, page

__all__ = ["page"]

PUZZLES = built_in_puzzles()
GONE = "m0000000000000007"


@pytest.fixture
def game(page: Client) -> tuple[str, Any]:
    result = match_of(first="random")
    return page.site.library.add(result, ("You", "bob")), result


def mistakes(page: Client, **asked: Any) -> list[dict[str, Any]]:
    view = page.ended(page.post("/api/practice/mistakes", **asked))
    assert (view["state"], view["error"], view["done"]) == ("done", None, view["of"])
    found: list[dict[str, Any]] = view["result"]["mistakes"]
    return found


@pytest.mark.slow
def test_mistakes_are_what_the_report_says_was_given_away(
    page: Client, game: tuple[str, Any]
) -> None:
    key, result = game
    turns = [turn for turn in report_turns(result) if turn.loss >= LEAST_LOSS]
    for seat in (0, 1):
        found = mistakes(page, match=key, seat=seat)
        own = [turn for turn in turns if turn.player == seat]
        assert [(one["turn"], one["loss"]) for one in found] == [(t.turn, t.loss) for t in own]
        assert all(one["player"] == seat and one["names"] == ["You", "bob"] for one in found)
    assert len({turn.player for turn in turns}) >= 1


@pytest.mark.slow
def test_mistakes_of_a_players_games(page: Client, game: tuple[str, Any]) -> None:
    """The latest games of a name, whichever seat it had; other players' turns are not searched."""
    key, _ = game
    second = page.site.library.add(match_of(seed=5, first="random"), ("ann", "You"))
    page.site.library.add(match_of(seed=6), ("ann", "bob"))
    one = mistakes(page, player="You", matches=1)
    assert {(row["match"], row["player"]) for row in one} == {(second, 1)}
    both = mistakes(page, player="You", matches=9)
    assert {(row["match"], row["player"]) for row in both} == {(second, 1), (key, 0)}
    assert both[: len(one)] == one
    assert mistakes(page, player="You", matches=9, source="p") == both
    error = page.post("/api/practice/mistakes", 400, player="nobody", matches=3)["error"]
    assert error == "there is no finished match of 'nobody'"


@pytest.mark.slow
def test_an_answer_is_compared_as_in_the_report(page: Client, game: tuple[str, Any]) -> None:
    key, result = game
    turns = {turn.turn: turn for turn in report_turns(result, players=[0])}
    for row in mistakes(page, match=key, seat=0)[:4]:
        place, then = {"match": key, "turn": row["turn"]}, turns[row["turn"]]
        opened = page.post("/api/practice/open", **place)
        assert opened["id"] == row["id"]
        assert opened["seat"] == 0
        assert set(opened["steps"][0]["board"]["sides"][1]["hand"]) <= {None}
        solution = page.post("/api/practice/solution", **place)
        assert ";".join(solution["actions"]) == then.best.replace("PASS", "")
        assert len(solution["boards"]) == len(solution["words"]) == len(solution["actions"])
        best = page.post("/api/practice/check", **place, actions=solution["actions"])
        assert best["solved"]
        assert best["chance"] == best["best"] == (1 + then.value_best) / 2
        assert best["words"][1].startswith("As good as the best turn that the engine found (")
        points = round(50 * (then.value_best - then.value_played))
        assert best["words"][2].startswith(f"Better by {points} points than the turn that was ")
        assert "than the turn that was played in the match" in best["words"][2]
        report = page.ended(page.post("/api/report/start", match=key))["result"]["turns"]
        played = next(turn for turn in report if turn["turn"] == row["turn"])["played"].split(";")
        same = page.post("/api/practice/check", **place, actions=played)
        assert same["chance"] == (1 + then.value_played) / 2
        assert not same["solved"]
        assert same["words"][1].startswith(f"Worse by {points} points than the best turn that ")
        assert same["words"][2].startswith("As good as the turn that was played in the match (")
        # Any other turn is compared in the same worlds.
        nothing = page.post("/api/practice/check", **place)
        position = position_of_match(result, ("You", "bob"), row["turn"])
        value = compare_turn(position.seen, position.belief, "PASS", turn=row["turn"]).value_played
        assert nothing["chance"] == (1 + value) / 2


def test_steps_of_a_turn(page: Client, game: tuple[str, Any]) -> None:
    """Actions follow each other as in a game, and hide what the player does not see."""
    key, _ = game
    place = {"match": key, "turn": 6}
    legal, actions = page.post("/api/practice/open", **place)["actions"], []
    for _ in itertools.count():
        if not legal:
            break
        actions.append(legal[-1])
        found = page.post("/api/practice/step", **place, actions=actions)
        assert len(found["boards"]) == len(found["words"]) == len(actions)
        assert set(found["boards"][-1]["sides"][1]["hand"]) <= {None}
        legal = found["actions"]
    assert actions
    page.post("/api/practice/step", 400, **place, actions=["ATTACK 1 1"])
    page.post("/api/practice/check", 400, **place, actions=["JUMP"])
    page.post("/api/practice/check", 400, **place, actions=["PASS"] * 99)


@pytest.mark.parametrize("number", [0, len(PUZZLES) // 2, len(PUZZLES) - 1])
def test_puzzles(page: Client, number: int) -> None:
    puzzle, place = PUZZLES[number], {"puzzle": number}
    listed = page.get("/api/practice/puzzles")["puzzles"][number]
    assert listed == {
        "puzzle": number,
        "id": puzzle.key,
        "difficulty": puzzle.difficulty,
        "rules": puzzle.state.rules,
    }
    opened = page.post("/api/practice/open", **place)
    mover = puzzle.state.current_player()
    assert (opened["id"], opened["seat"]) == (puzzle.key, mover)
    assert opened["names"][mover] == "You"
    actions = puzzle.line.split(";")
    found = page.post("/api/practice/step", **place, actions=actions)
    assert found["boards"][-1]["winner"] == mover
    answer = page.post("/api/practice/check", **place, actions=actions)
    assert answer == {"solved": True, "words": ["Solved: this wins."]}
    answer = page.post("/api/practice/check", **place, actions=[])
    health = puzzle.state.players[1 - mover].health
    words = f"Not yet: the opponent has {health} health left."
    assert answer == {"solved": False, "words": [words]}
    assert page.post("/api/practice/solution", **place)["actions"] == actions


@pytest.mark.parametrize(
    ("path", "asked", "message"),
    [
        ("open", {}, "match: expected a text"),
        ("open", {"puzzle": -1}, "puzzle: expected 0 to "),
        ("open", {"puzzle": 999}, "puzzle: expected 0 to "),
        ("open", {"puzzle": "1"}, "puzzle: expected an integer"),
        ("open", {"match": "KEY", "turn": 999}, "the match has turns 0 to "),
        ("open", {"match": GONE, "turn": 1}, f"there is no match '{GONE}'"),
        ("check", {"match": "KEY"}, "turn: expected an integer"),
        ("mistakes", {"match": "KEY", "seat": 2}, "seat: expected 0 or 1, got 2"),
        ("mistakes", {"match": GONE, "seat": 1}, f"there is no match '{GONE}'"),
        ("mistakes", {"player": "You", "matches": 101}, "matches: expected 1 to 100, got 101"),
    ],
)
def test_wrong_requests(
    page: Client, game: tuple[str, Any], path: str, asked: dict[str, Any], message: str
) -> None:
    if asked.get("match") == "KEY":
        asked = {**asked, "match": game[0]}
    error = page.post(f"/api/practice/{path}", 400, **asked)["error"]
    assert error.startswith(message)

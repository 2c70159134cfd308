"""The page *Practice*: turns that gave something away, to be played again, and puzzles."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from locmsim._core import State
from locmsim.arena.game_store import GameQuery
from locmsim.game.action_text import answer_actions
from locmsim.referee.knowledge import replayed
from locmsim.referee.turn_report import (
    LEAST_LOSS,
    TurnReport,
    answer_value,
    compare_turn,
    report_turns,
)
from locmsim.search.puzzles import DIFFICULTIES, Puzzle, built_in_puzzles
from locmsim.web.endpoints import Query, Refusal, get, post, text_of, texts_of, whole_of
from locmsim.web.jobs import Job
from locmsim.web.machine import machine_of_position
from locmsim.web.match_data import PERSON, seat_names, told_apart
from locmsim.web.page_match import position_data
from locmsim.web.positions import Position, position_of_match, position_of_state
from locmsim.web.site import Page, Site

#: The most matches of a player that are gone through.
_MATCHES = 100


class _Exercise(NamedTuple):
    """A position in which a turn is to be played."""

    position: Position
    #: The puzzle; None for a turn of a match.
    puzzle: Puzzle | None
    #: What was answered in the match; None for no answer.
    answer: str | None = None

    @property
    def key(self) -> str:
        """By what browsers remember what was solved: the same whatever the match is called."""
        return _key(self.position.root)

    def compared(self) -> TurnReport:
        """Return the turn of the match beside the best one, as the report does."""
        position = self.position
        assert position.belief is not None
        assert position.turn is not None
        seen: Any = position.seen
        return compare_turn(seen, position.belief, self.answer, turn=position.turn)

    def best(self) -> str:
        """Return the turn that wins, or the best one that is known."""
        return self.puzzle.line if self.puzzle else self.compared().best


def _key(state: State) -> str:
    """Return the id of an exercise, which for a puzzle is `Puzzle.key`."""
    return f"{state.hash64():016x}"


def page(site: Site) -> Page:
    """Return the page and its endpoints: the puzzles, mistakes in matches, and one exercise."""

    def puzzles(query: Query) -> object:
        rows = [
            {
                "puzzle": number,
                "id": puzzle.key,
                "difficulty": puzzle.difficulty,
                "rules": puzzle.state.rules,
            }
            for number, puzzle in enumerate(_puzzles())
        ]
        return {"difficulties": DIFFICULTIES, "puzzles": rows, "person": PERSON}

    def opened(data: dict[str, Any]) -> object:
        exercise = _exercise(site, data)
        return {"id": exercise.key, **position_data(exercise.position)}

    def step(data: dict[str, Any]) -> object:
        position = _exercise(site, data).position
        return machine_of_position(position).walk([], texts_of(data, "actions"), position.hidden)

    def check(data: dict[str, Any]) -> object:
        exercise, actions = _exercise(site, data), texts_of(data, "actions")
        if exercise.puzzle is not None:
            return _checked_puzzle(exercise.position, actions)
        return _evaluated_turn(exercise, actions)

    def solution(data: dict[str, Any]) -> object:
        exercise = _exercise(site, data)
        position = exercise.position
        actions = answer_actions(position.root, exercise.best())
        found = machine_of_position(position).walk([], actions, position.hidden)
        return {**found, "actions": actions}

    def mistakes(data: dict[str, Any]) -> object:
        keys, whom = _matches(site, data)

        def work(job: Job) -> None:
            _find(job, site, keys, whom)

        same = ("mistakes", repr(sorted(data.items())), *keys, *_identities(site, keys))
        return site.jobs.start(same, work)

    return Page(
        "practice",
        "Practice",
        [
            get("/api/practice/puzzles", puzzles),
            post("/api/practice/open", opened),
            post("/api/practice/step", step),
            post("/api/practice/check", check),
            post("/api/practice/solution", solution),
            post("/api/practice/mistakes", mistakes),
        ],
        address="/practice",
    )


@cache
def _puzzles() -> list[Puzzle]:
    return built_in_puzzles()


def _exercise(site: Site, data: dict[str, Any]) -> _Exercise:
    """Return a request's exercise: a ``puzzle`` by its number, or a ``turn`` of a ``match``."""
    if "puzzle" in data:
        number, puzzles = whole_of(data, "puzzle"), _puzzles()
        if not 0 <= number < len(puzzles):
            raise Refusal(f"puzzle: expected 0 to {len(puzzles) - 1}, got {number}")
        puzzle = puzzles[number]
        return _Exercise(position_of_state(puzzle.state, PERSON), puzzle)
    key, turn = text_of(data, "match"), whole_of(data, "turn")
    result, names = site.library.load(key)
    answer = next((call.answer for call, _ in replayed(result) if call.turn == turn), None)
    return _Exercise(position_of_match(result, names, turn), None, answer)


# ------------------------------------------------------------------------------------- answers


def _checked_puzzle(position: Position, actions: list[str]) -> dict[str, Any]:
    end = position.after(actions)
    if end.winner == position.mover:
        return {"solved": True, "words": ["Solved: this wins."]}
    health = end.players[1 - position.mover].health
    return {"solved": False, "words": [f"Not yet: the opponent has {health} health left."]}


def _evaluated_turn(exercise: _Exercise, actions: list[str]) -> dict[str, Any]:
    """Evaluate a turn beside the best one that the engine finds, and the one of the match."""
    position = exercise.position
    position.after(actions)  # they must be legal
    assert position.belief is not None
    then = exercise.compared()
    value = answer_value(position.belief, ";".join(actions) or "PASS")
    mine, best, played = ((1 + one) / 2 for one in (value, then.value_best, then.value_played))
    words = [
        f"Your chance of winning with this turn: {_percent(mine)}.",
        f"{_beside(mine, best)} the best turn that the engine found ({_percent(best)}).",
        f"{_beside(mine, played)} the turn that was played in the match ({_percent(played)}).",
    ]
    return {"solved": best - mine < LEAST_LOSS, "words": words, "chance": mine, "best": best}


def _beside(mine: float, other: float) -> str:
    """Return how a chance compares with another one, in words."""
    if abs(mine - other) < LEAST_LOSS:
        return "As good as"
    points = round(100 * abs(mine - other))
    return f"{'Better' if mine > other else 'Worse'} by {points} points than"


def _percent(probability: float) -> str:
    return f"{round(100 * probability)} %"


# ------------------------------------------------------------------------------------- mistakes


def _matches(site: Site, data: dict[str, Any]) -> tuple[list[str], int | str]:
    """Return the keys of the matches of a request, and whose mistakes are looked for.

    It is about one ``match`` and a seat, or the latest matches of a ``player``.
    """
    if "match" in data:
        key, seat = text_of(data, "match"), whole_of(data, "seat")
        if seat not in (0, 1):
            raise Refusal(f"seat: expected 0 or 1, got {seat}")
        site.library.load(key)  # what is wrong with it is said now
        return [key], seat
    player, source = text_of(data, "player"), text_of(data, "source", "")
    count = whole_of(data, "matches", 1, least=1, most=_MATCHES)
    found = site.library.matches(GameQuery(players=[player]), count=count, source=source)["matches"]
    keys = [row["key"] for row in found if not (row["live"] or row["game"])]
    if not keys:
        raise Refusal(f"there is no finished match of {player!r}")
    return keys, player


def _identities(site: Site, keys: list[str]) -> Iterator[str]:
    for key in keys:
        with suppress(ValueError):  # a match that cannot be read any more
            yield site.identity(key)


def _find(job: Job, site: Site, keys: list[str], whom: int | str) -> None:
    """Look for turns that gave something away, and tell the job each one that is found."""
    found: list[dict[str, Any]] = []
    for number, key in enumerate(keys):
        job.update(number, len(keys), {"mistakes": [*found]})
        with suppress(ValueError):  # a match that cannot be read any more
            result, names = site.library.load(key)
            players = [seat for seat in (0, 1) if whom in (seat, seat_names(names)[seat])]
            for turn in report_turns(result, players=players, check=job.check):
                if turn.loss >= LEAST_LOSS:
                    found.append(_mistake(key, turn, told_apart(names)))
                    job.update(number, len(keys), {"mistakes": [*found]})
    job.update(len(keys), len(keys), {"mistakes": found})


def _mistake(key: str, turn: TurnReport, names: list[str]) -> dict[str, Any]:
    return {
        "match": key,
        "turn": turn.turn,
        "player": turn.player,
        "names": names,
        "loss": turn.loss,
        "id": _key(turn.start),
    }

"""The two machines, the compiled engine and the server, answer the same messages alike.

They differ in two things. The weights of the compiled engine are rounded, as in exported bots: what
it samples and evaluates differs a little, and so do chances, which `test_browser_engine` finds
equal for bots with rounded weights. The server's analysis alternates two kinds of searches.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pytest
from amounts import amount
from browser_engine import Machine, battle_data, packed_engine, played_turns
from helpers import RULE_SETS, each_rules, golden_games, golden_result, write_log
from web_client import Client

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.referee import play

#: How far chances of the two machines are apart at most: of a card in a hand, and of winning, which
#: are means of other worlds.
HELD, NEAR = 0.15, 0.2
#: How many matches of a rule set are compared at most.
MOST = 8


class Asked(Protocol):
    def ask(self, what: str, **asked: Any) -> Any: ...


class Server:
    """The server as a machine: answers about the match of a log."""

    def __init__(self, page: Client) -> None:
        self.page = page
        (game,) = page.get("/api/matches")["matches"]
        self.game = game["key"]

    def ask(self, what: str, **asked: Any) -> Any:
        return self.page.post(f"/api/machine/{what}", match=self.game, **asked)


#: Returns a match by its number, and the machines that have it.
Machines = Callable[[int], tuple[Any, tuple[Asked, Asked]]]


@pytest.fixture(scope="module", params=RULE_SETS)
def machines(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Machines]:
    """Yield a function that returns a match of some rules with the compiled engine and the server.

    A match has the same two in all tests.
    """
    games = [game for game in golden_games(request.param) if len(game["turns"]) > 5]
    games = [game for game in games if not game["error"]]
    games = games[:: max(1, len(games) // MOST)]
    with contextlib.ExitStack() as started:

        @cache
        def make(number: int) -> tuple[Any, tuple[Asked, Asked]]:
            result, folder = golden_result(games[number]), tmp_path_factory.mktemp("match")
            log = folder / "log.json"
            write_log(log, result, ("ann", "bob"))
            engine = started.enter_context(Machine(result, folder))
            return result, (engine, Server(started.enter_context(Client([log], timeout_scale=0))))

        yield make


def plain(board: dict[str, Any]) -> dict[str, Any]:
    """Return a board with base ids, and its creatures in the order of lanes."""
    for side in board["sides"]:
        side["hand"] = [[held[0], int(str(held[1]).split("-")[0])] for held in side["hand"]]
        side["board"] = [
            [one[0], int(str(one[1]).split("-")[0]), *one[2:]] for one in side["board"]
        ]
        side["board"].sort(key=lambda row: row[5])
    return board


def turns_of(result: Any) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the path to each turn of a match, and its actions."""
    path: list[str] = []
    for _, state, applied in played_turns(result):
        if state.is_terminal():  # dead from drawing, but asked
            return
        yield path[:], applied
        path += [*applied, "PASS"]


def test_every_turn_is_walked_alike(machines: Machines) -> None:
    for number in range(amount(1, MOST)):
        result, both = machines(number)
        for path, applied in turns_of(result):
            found = [one.ask("walk", path=path, actions=applied) for one in both]
            for one in found:
                one["boards"] = [plain(board) for board in [one["board"], *one["boards"]]]
            assert found[0]["boards"] == found[1]["boards"]
            assert found[0]["actions"] == found[1]["actions"]


def test_chances_and_hands_are_alike(machines: Machines) -> None:
    result, (engine, server) = machines(0)
    limits = {"ms": 0, "nodes": 300, "plans": 4, "worlds": 32, "samples": 400, "chanceSeed": 1}
    apart: list[float] = []

    def compare(path: list[str], actions: list[str], chance: float | None = None) -> None:
        asked = {"path": path, "line": ";".join(actions), "worlds": 32, "seed": 1}
        found = [one.ask("chance", **asked) for one in (engine, server)]
        assert found[0]["player"] == found[1]["player"]
        apart.append(abs(found[0]["chance"] - found[1]["chance"]))
        if chance is not None:  # the one that an analysis tells, which is of whole turns
            assert chance == pytest.approx(found[1]["chance"], abs=1e-6)

    for path, applied in [*turns_of(result)][:: amount(4, 1)]:
        compare(path, applied)
        # The game may be over after one action, and then nothing can be asked.
        for done in ([], applied[:1])[: 1 + (len(applied) > 1)]:
            theirs = server.ask("analyse", path=path, done=done, seed=1, seconds=0.03)
            for line in theirs["lines"]:
                compare(path, [*done, *line["actions"]], line["chance"])
            mine = engine.ask("analyse", path=path, done=done, seed=1, **limits)
            for line in mine["lines"]:
                compare(path, [*done, *line["actions"]])
            held = dict(mine["held"])
            for base_id, chance, _ in theirs["held"]:
                assert held.get(base_id, 0) == pytest.approx(chance, abs=HELD)
    assert max(apart) < NEAR
    assert sum(apart) / len(apart) < amount(0.08, 0.04)  # of few or of many


@pytest.mark.slow
@each_rules
def test_a_level_plays_the_same_games(rules: str, tmp_path: Path) -> None:
    """Level 3 against itself: the lines of the server's processes are those of the engine."""
    for seed in range(amount(4, most=20)):
        agents = [make_agent("level:k=3") for _ in range(2)]
        for agent in agents:
            agent.reset(seed)
        result = play(agents, Match(rules, seed=seed), timeout_scale=0)
        level = packed_engine(rules)["levels"][2]
        with Machine(result, tmp_path) as engine:
            known = battle_data(result)
            choices = [call for call in result.calls if call.turn is None]
            for path, _ in turns_of(result):
                turn = sum(action == "PASS" for action in path)
                call = next(call for call in result.calls if call.turn == turn)
                found = engine.ask("turn", path=path, begun=0, seed=seed, level=level)
                assert (";".join(found["actions"]) or "PASS") == call.answer, (seed, turn)
            for player in (0, 1):
                found = engine.ask("answers", player=player, texts=known["choices"][player])
                theirs = [call.answer for call in choices if call.player == player]
                chosen = [Counter(";".join(lines).split(";")) for lines in (found, theirs)]
                # At 1.5 the rounded weights may prefer another card of nearly the same value.
                same = 24 if rules == "1.5" else chosen[1].total()
                assert (chosen[0] & chosen[1]).total() >= same, seed

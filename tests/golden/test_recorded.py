"""Games that the contest's own referee recorded: docs/rules.md, sections 1 and 2.

They are older than the instance ids of today.
"""

import gzip
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from helpers import golden_path, raises

from locmsim import Match
from locmsim.game.observation import HAND, Observation

GAMES = [
    json.loads(line)
    for line in gzip.decompress(golden_path("recorded-1.5.jsonl.gz").read_bytes()).splitlines()
]


def recorded_params(game: dict[str, Any]) -> dict[str, str]:
    (text,) = game["gameParameters"]
    return dict(line.split("=") for line in text.split())


def name_of(game: dict[str, Any]) -> str:
    params = recorded_params(game)
    return f"{params['cardGenSeed']}-{params['seed']}"


def recorded_answers(game: dict[str, Any], player: int) -> Iterator[str]:
    return (text.removesuffix("\n") for text in game["outputs"][str(player)] if text)


@pytest.mark.parametrize("game", GAMES, ids=name_of)
def test_card_set(game: dict[str, Any]) -> None:
    (listed,) = (text for text in game["summaries"] if text.startswith("Generated cards: "))
    rows = [row.split() for row in listed.splitlines()[0].split(": ", 1)[1].split(" , ")]
    match = Match(params=recorded_params(game))
    assert [["-1", *map(str, card.to_row())] for card in match.cards] == rows


def recorded_actions(game: dict[str, Any], what: str) -> list[str]:
    """Return texts such as ``"$0 ATTACK 3 -1"`` from the summaries' lines about `what`."""
    pattern = re.compile(rf"(\$[01]) {re.escape(what)}: (.*?) *$", re.MULTILINE)
    summaries = "\n".join(filter(None, game["summaries"]))
    return [f"{player} {action}" for player, action in pattern.findall(summaries)]


@pytest.mark.parametrize("game", GAMES, ids=name_of)
def test_replay(game: dict[str, Any]) -> None:
    match = Match(params=recorded_params(game), ids="old")
    answers = [recorded_answers(game, player) for player in (0, 1)]
    sent = ["", ""]
    applied, dropped = [], []
    while match.phase != "over":
        for player in match.to_ask:
            # The record lacks the last blank of each text.
            sent[player] += re.sub(" \n$", "\n", match.input_text(player))
            result = match.submit(player, next(answers[player]))
            applied += [f"${player} {match.encode(text)}" for text in result.applied]
            illegal = [match.encode(text) for text in result.ignored if text != "PASS"]
            dropped += [f"${player} {text}" for text in illegal]
    for player in (0, 1):
        assert sent[player] == "".join(text or "" for text in game["errors"][str(player)])
        assert list(answers[player]) == []
    assert applied == recorded_actions(game, "performed action")
    assert dropped == recorded_actions(game, "Action is not legal")
    assert match.scores == [game["scores"]["0"], game["scores"]["1"]]
    assert match.error is None
    assert Match.replay(match.log).log == match.log


def test_old_ids_of_decks_and_what_nobody_has() -> None:
    """Actions with ids that no card has yet are dropped, and reported with ids of nobody."""
    match = Match(seed=1, ids="old")
    for player in (0, 1):
        match.submit(player, "PASS")
    assert sorted(instance for instance, _ in match.decks[0]) == list(range(0, 60, 2))
    hand = [row.instance_id for row in Observation.parse(match.input_text(0)).at(HAND)]
    assert hand == [instance // 2 + 1 for instance, _ in match.decks[0][:5]]
    line = "ATTACK 61 -1;ATTACK 0 62;PASS;USE -7 -1;SUMMON 2147483647 1 comment"
    result = match.submit(0, line)
    assert result.applied == []
    assert [match.encode(text) for text in result.ignored] == [
        "ATTACK 61 -1", "ATTACK 0 62", "PASS", "USE -7 -1", "SUMMON 2147483647 1"
    ]  # fmt: skip
    fatal = match.submit(1, "ATTACK 61")
    assert fatal.error is not None
    assert "ATTACK" in fatal.error.message


@pytest.mark.parametrize(("rules", "ids"), [("1.2", "old"), ("1.5", "older")])
def test_ids_that_are_not_there(rules: str, ids: str) -> None:
    raises(ValueError, "ids: ", Match, rules, ids=ids)

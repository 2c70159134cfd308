"""Values that positions, batches and matches refuse, in their own words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import each_rules

from locmsim import Card, IllegalActionError, Match, State, StateBatch, generate_cards
from locmsim._core import instance_id, original_of
from locmsim.game.observation import Observation
from locmsim.game.positions import divide, start_position
from locmsim.rules.actions import Action
from locmsim.rules.cards import CardType

REFUSED: dict[str, tuple[Callable[[State, StateBatch], Any], str]] = {
    "perft": (lambda s, b: s.perft(10**9), "depth: expected 0 to 100, got 1000000000"),
    "perft-bool": (lambda s, b: s.perft(True), "depth: expected an integer, got True"),
    "divide": (lambda s, b: [*divide(s, 0)], "depth: expected 1 to 100, got 0"),
    "legal": (lambda s, b: s.legal_actions(7), "player: expected 0 or 1, got 7"),
    "legal-bool": (lambda s, b: s.legal_actions(True), "player: expected 0 or 1, got True"),
    "mask": (lambda s, b: s.legal_actions_mask(7), "player: expected 0 or 1, got 7"),
    "mask-over": (
        lambda s, b: finished().legal_actions_mask(7),
        "player: expected 0 or 1, got 7",
    ),
    "opponent": (
        lambda s, b: s.observation(0, ["PASS"]),
        r"opponent_actions\[0\]: expected a base id and an action, got 'PASS'",
    ),
    "seed": (lambda s, b: s.rollouts(3, 1.5), "seed: expected an integer, got 1.5"),
    "seed-batch": (lambda s, b: b.rollouts(3, 1.5), "seed: expected an integer, got 1.5"),
    "seed-match": (lambda s, b: Match(seed=1.5), "seed: expected an integer, got 1.5"),  # type: ignore[arg-type]
    "seed-match-bool": (lambda s, b: Match(seed=True), "seed: expected an integer, got True"),
    "seed-hidden": (lambda s, b: s.resample_hidden(0, None), "seed: expected an integer"),
    "seed-hidden-batch": (lambda s, b: b.resample_hidden(0, None), "seed: expected an integer"),
    "n-batch": (lambda s, b: b.rollouts(2.5, 1), "n: expected an integer, got 2.5"),
    "threads": (lambda s, b: b.rollouts(2, 1, threads=0), "threads: expected 1 to 65536, got 0"),
}


def finished() -> State:
    match = Match(seed=1)
    while match.to_ask:
        match.submit(match.to_ask[0], "PASS")
    assert match.state is not None
    assert not match.state.legal_actions_mask(-4).any()
    return match.state


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    state = start_position(1)
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        call(state, StateBatch.repeat(state, 3))


def test_a_deep_perft_of_a_long_game() -> None:
    """Players who cannot die soon, without cards: one action in each position."""
    text = start_position(1).to_text()
    state = State.from_text(text)
    assert state.perft(0) == 1
    with pytest.raises(ValueError, match="depth: expected 0 to 100"):
        state.perft(2**31)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: instance_id("1.1", 0, 0), "unknown rules '1.1'"),
        (lambda: instance_id("1.5", 2, 0), "player: expected 0 or 1, got 2"),
        (lambda: instance_id("1.5", 0, 30), "i: expected 0 to 29, got 30"),
        (lambda: instance_id("1.2", 0, 0, copy=True), r"copy: rules 1\.2 have no area copies"),
        (lambda: original_of("1.5", -1), "id: expected 0 to 254, got -1"),
        (lambda: original_of("1.5", 1.0), "id: expected an integer, got 1.0"),
    ],
)
def test_ids_of_no_instance(call: Callable[[], int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@each_rules
def test_observations_show_no_more_than_their_texts(rules: str) -> None:
    """Areas mean nothing in 1.x and are not shown there."""
    cards = [Card(i + 1, CardType.CREATURE, 0, 1, 2, area=1) for i in range(30)]
    state = State.new(cards, cards, rules=rules)
    state.apply_action(state.legal_actions()[1])
    for player in (0, 1):
        seen = state.observation(player)
        assert Observation.parse(seen.format(), rules) == seen
        assert {row.area for row in seen.cards} == {rules == "1.5"}


@pytest.mark.parametrize("rows", [[3], [-4], [2**63], [2**64 - 1]])
def test_rows_that_do_not_exist(rows: list[int]) -> None:
    batch = StateBatch.repeat(start_position(1), 3)
    with pytest.raises(IndexError, match=f"row {rows[0]} of 3"):
        batch.take(np.array(rows, np.uint64 if rows[0] >= 2**63 else np.int64))
    assert len(batch.take(np.array([2, 0], np.uint64))) == 2


def test_players_of_finished_games() -> None:
    state = start_position(1)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[-1])
    assert state.legal_actions(state.current_player()) == []
    assert state.legal_actions(0) == state.legal_actions(1) == []
    with pytest.raises(ValueError, match="player: expected 0 or 1, got -3"):
        state.legal_actions(-3)


def test_actions_with_a_kind_that_is_a_number() -> None:
    state = start_position(1)
    with pytest.raises(IllegalActionError, match="SUMMON 99 0 is not legal here"):
        state.action_number(Action(1, None, 99, None, 0))  # type: ignore[arg-type]
    with pytest.raises(IllegalActionError, match="77 is not a kind of action"):
        state.action_number(Action(77))  # type: ignore[arg-type]


def test_rules_that_are_a_number() -> None:
    cards = generate_cards(1)
    with pytest.raises(ValueError, match=r"unknown rules 1\.5: expected one of '1\.5', "):
        State.new(cards[:30], cards[30:60], rules=1.5)  # type: ignore[arg-type]


@each_rules
def test_offers_of_a_match_are_copies(rules: str) -> None:
    match = Match(rules, seed=1)
    before = match.input_text(0)
    offer = match.offers[0]
    if isinstance(offer, list):
        offer.clear()
    match.offers.clear()
    assert match.input_text(0) == before
    assert match.clone().input_text(0) == before


def test_cards_of_one_place_are_a_tuple() -> None:
    observation = start_position(1).observation(0)
    assert isinstance(observation.at(0), tuple)
    assert isinstance(Match(seed=1).observation(0).at(0), tuple)

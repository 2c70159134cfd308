"""The compiled battle replays the golden games, action by action."""

import numpy as np
import pytest
from helpers import Game, Snapshot, game_cards, game_name, golden_chunks

from locmsim import State
from locmsim.errors import InvalidActionError


@pytest.mark.parametrize("games", golden_chunks(), ids=str)
def test_replays_golden_games(games):
    for game in games:
        if not game["turns"]:
            continue
        try:
            replay(game)
        except AssertionError as error:
            error.add_note(game_name(game))
            raise


def replay(game: Game) -> None:
    cards = game_cards(game)
    live = start(game, cards)
    turns = game["turns"]
    for turn, following in zip(turns, [*turns[1:], None], strict=True):
        assert live.snapshot() == turn["states"][0]
        check_line(live, turn, following)
        for action, legal, expected in zip(
            [*turn["applied"], None], turn["legal"], turn["states"], strict=True
        ):
            check_position(game, cards, live, legal, expected)
            if action is not None:
                live.apply_action(live.string_to_action(action))
        if following is not None:
            live.apply_action(0)
    won = turns[-1]["states"][-1]["winner"]
    assert live.winner == (None if won == -1 else won)
    assert live.is_terminal() == (won != -1)


def start(game: Game, cards: dict) -> State:
    """Return the start of the first turn, after checking it in two ways."""
    rules, decks = game["rules"], game["decks"]
    before = State.from_snapshot(game["start"], cards, decks, rules)
    assert before.snapshot() == game["start"]
    before.apply_action(0)
    state = State.new(
        *([cards[base_id] for _, base_id in deck] for deck in decks),
        rules=rules,
        ids=[[card_id for card_id, _ in deck] for deck in decks],
    )
    assert before.snapshot() == state.snapshot()
    return state


def check_position(
    game: Game, cards: dict, live: State, legal: list[str], expected: Snapshot
) -> None:
    assert live.snapshot() == expected
    live.validate()
    again = State.from_snapshot(expected, cards, game["decks"], game["rules"])
    again.validate()
    assert again.snapshot() == expected
    mask = live.legal_actions_mask(out=np.full(live.num_distinct_actions(), 7, np.int8))
    assert np.flatnonzero(mask).tolist() == live.legal_actions()
    assert mask.max(initial=0) <= 1
    assert live.turn == expected["turn"]
    if expected["winner"] == -1:
        numbers = live.legal_actions()
        assert sorted(live.action_to_string(number) for number in numbers) == legal
        assert [live.string_to_action(action) for action in legal] == [
            again.string_to_action(action) for action in legal
        ]
        assert again.legal_actions() == numbers == sorted(numbers)
        assert live.current_player() == expected["cur"]
        assert live.legal_actions(1 - expected["cur"]) == []
        assert live.returns() == [0.0, 0.0]
    else:
        assert live.legal_actions() == again.legal_actions() == []
        assert live.current_player() == -4
        assert live.returns()[expected["winner"]] == 1.0
        assert sum(live.returns()) == 0.0


def check_line(live: State, turn: dict, following: dict | None) -> None:
    """Apply the whole answer at once to a copy."""
    if turn["output"] is None:
        return
    state = live.clone()
    if following is None and turn["states"][-1]["winner"] == -1:
        with pytest.raises(InvalidActionError):
            state.apply_line(turn["output"])
        assert state == live
        return
    last = turn["states"][-1] if following is None else following["states"][0]
    try:
        applied, ignored = state.apply_line(turn["output"])
    except InvalidActionError:
        # Only a player who has died from their draw can be wrong here and the game have a winner.
        assert turn["states"][0]["winner"] != -1
        assert state == live
        return
    assert applied == turn["applied"]
    assert ignored == turn["ignored"]
    assert state.snapshot() == last

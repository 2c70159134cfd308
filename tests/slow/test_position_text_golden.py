"""Tests of the position text of positions of the golden games (docs/rules.md, section 13)."""

import pytest
from helpers import GoldenChunk, game_cards, game_name, some_golden_chunks

from locmsim import State


@pytest.mark.parametrize("games", some_golden_chunks(), ids=str)
def test_golden_positions(games: GoldenChunk) -> None:
    for game in games:
        if game["start"] is None:
            continue
        state = State.from_snapshot(game["start"], game_cards(game), game["decks"], game["rules"])
        state.apply_action(0)
        for turn in game["turns"]:
            for text in turn["applied"]:
                assert State.from_text(state.to_text()) == state, game_name(game)
                state.apply_action(state.string_to_action(text))
            again = State.from_text(state.to_text())
            assert again == state, game_name(game)
            assert again.snapshot() == turn["states"][-1], game_name(game)
            if state.winner is None:
                state.apply_action(0)

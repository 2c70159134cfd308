"""Actions in words."""

import random

import pytest
from helpers import each_rules

from locmsim import IllegalActionError
from locmsim.art import card_title
from locmsim.game.action_text import action_words, line_words
from locmsim.game.positions import start_position


@each_rules
def test_every_action_names_its_cards(rules: str) -> None:
    """An action is described by names of cards, never by numbers, and says what it is aimed at."""
    rng = random.Random(4)
    kinds = set()
    for seed in range(6):
        state = start_position(seed, rules)
        while not state.is_terminal():
            mover = state.current_player()
            for number in state.legal_actions():
                action = state.action(number)
                words = action_words(state, number, ("Ann", "Bob"))
                assert words == action_words(state, str(action), ("Ann", "Bob"))
                if action.card is None:
                    assert words == "The turn ends"
                    continue
                name = card_title(action.card)
                assert words.startswith(f"{name} ")
                if action.kind.name == "SUMMON":
                    side = (
                        "" if rules == "1.0" else f" to the {('left', 'right')[action.lane]} lane"
                    )
                    assert words == f"{name} is summoned{side}"
                else:
                    verb = "attacks" if action.kind.name == "ATTACK" else "is used on"
                    boards = [c for side in state.players for c in side.board]
                    targets = {c.id: card_title(c.card) for c in boards}
                    target = targets.get(action.target, ("Bob", "Ann")[mover])
                    assert words == f"{name} {verb} {target}"
                    if action.target == -1:
                        assert action_words(state, number) == f"{name} {verb} the opponent"
                kinds.add(action.kind.name)
            state.apply_action(rng.choice(state.legal_actions()))
    assert kinds == {"SUMMON", "USE", "ATTACK"}


def test_a_line() -> None:
    state = start_position(1, "1.2")
    while len(state.legal_actions()) < 2:
        state.apply_action(0)
    before = state.to_text()
    number = state.legal_actions()[1]
    text = state.action_to_string(number)
    words = line_words(state, [text, "PASS"])
    assert words == [action_words(state, number), "The turn ends"]
    assert state.to_text() == before
    assert line_words(state, [], ("a", "b")) == []
    with pytest.raises(IllegalActionError):
        line_words(state, ["ATTACK 1 -1"])


def test_titles_of_a_set_are_taken() -> None:
    state = start_position(1)
    while len(state.legal_actions()) < 2:
        state.apply_action(0)
    number = next(n for n in state.legal_actions() if state.action(n).kind.name == "SUMMON")
    card = state.action(number).card
    assert card is not None
    assert action_words(state, number, titles={card: "Bat 7"}).startswith("Bat 7 is summoned")

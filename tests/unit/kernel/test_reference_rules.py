"""The reference of the rules replays the golden games and agrees with them in everything."""

import pytest
import reference_rules
from helpers import Game, game_cards, game_name, some_golden_chunks

from locmsim.rules.cards import Card


@pytest.mark.parametrize("games", some_golden_chunks(), ids=str)
def test_replays_golden_games(games):
    for game in games:
        try:
            replay(game)
        except AssertionError as error:
            error.add_note(game_name(game))
            raise


def replay(game: Game) -> None:
    error = check_choices(game)
    assert (error is not None) == (game["start"] is None)
    if error is not None:
        assert game["turns"] == []
        check_result(game, error, winner=1 - error[0], won_before=False)
        return
    cards = game_cards(game)
    decks = [[(card_id, cards[base_id]) for card_id, base_id in deck] for deck in game["decks"]]
    battle = reference_rules.Battle.begin(game["rules"], decks)
    assert battle.snapshot() == game["start"]
    for number, turn in enumerate(game["turns"]):
        assert error is None
        battle.change_turn()
        assert battle.active == turn["player"]
        assert battle.input_text() == turn["input"]
        assert reference_rules.battle_limit(game["rules"], number) == turn["limit"]
        dead = battle.winner != -1
        error = check_answer(battle, turn, cards, game["decks"])
        assert dead or battle.winner == -1 or error is None
    winner = battle.winner if battle.winner != -1 else 1 - error[0]
    check_result(game, error, winner, won_before=battle.winner != -1)


def check_choices(game: Game) -> tuple[int, str] | None:
    """Compare the choice phase; return who made which fatal error."""
    rules, offers = game["rules"], offers_of(game)
    for player in (0, 1):
        assert len(game["choice_inputs"][player]) == len(game["choice_limits"][player])
        for step, text in enumerate(game["choice_inputs"][player]):
            if rules == "1.5":
                assert text == reference_rules.construct_text(offers)
            else:
                assert text == reference_rules.draft_text(rules, step, player, offers[step])
            assert game["choice_limits"][player][step] == reference_rules.choice_limit(rules, step)
    chosen, error = reference_rules.check_choices(rules, offers, game["choices"])
    assert chosen == game["chosen"]
    return error


def offers_of(game: Game) -> list:
    if game["rules"] == "1.5":
        return [Card.from_row(row) for row in game["cards"]]
    return [[Card.from_row(row) for row in triplet] for triplet in game["cards"]]


def check_answer(
    battle: reference_rules.Battle, turn: dict, cards: dict, decks: list
) -> tuple[int, str] | None:
    """Compare one answer and its effect; return the fatal error."""
    states, legal = [], []

    def look() -> None:
        states.append(battle.snapshot())
        legal.append(sorted(battle.legal_actions()))
        check_numbers(battle)
        again = reference_rules.Battle.from_snapshot(battle.rules, states[-1], cards, decks)
        assert again.snapshot() == states[-1]

    look()
    error = None
    executed, dropped = [], []
    if turn["output"] is None:
        error = f"${battle.active} timeout!"
    else:
        try:
            executed, dropped = battle.run_line(turn["output"], look)
        except reference_rules.InvalidAction as invalid:
            error = f"${battle.active}: {invalid}"
    assert executed == turn["applied"]
    assert dropped == turn["ignored"]
    assert states == turn["states"]
    assert legal == turn["legal"]
    return None if error is None else (battle.active, error)


def check_numbers(battle: reference_rules.Battle) -> None:
    """Check that every legal action has its own number in the range, which leads back to it."""
    numbers = {battle.number_of(action): action for action in battle.legal_actions()}
    assert len(numbers) == len(battle.legal_actions())
    for number, action in numbers.items():
        assert 0 <= number < battle.num_actions
        assert battle.text_of(number) == action


def check_result(game: Game, error: tuple[int, str] | None, winner: int, won_before: bool) -> None:
    assert game["winner"] == winner
    if error is None:
        assert game["error"] is None
        assert game["scores"] == [int(winner == player) for player in (0, 1)]
    else:
        player, message = error
        assert game["error"] == {"player": player, "message": message}
        assert game["scores"][player] == -1
        assert game["scores"][1 - player] == int(won_before)

"""Rows of environments play the golden games, whose deals and battles are those of `Match`."""

import pytest
from helpers import Game, game_cards, game_name, golden_chunks, golden_match

pytest.importorskip("gymnasium")
from locmsim.envs import Games, Options

#: Parameters that do not seed anything: cards and offers are given to a row otherwise.
LISTS = {"predefinedCardListFile", "predefinedDraftIds"}


@pytest.mark.parametrize("games", golden_chunks(), ids=str)
def test_rows_play_golden_games(games):
    for game in games:
        if not game["turns"]:
            continue
        cards = {}
        if "predefinedCardListFile" in game["params"]:
            cards["cards"] = list(game_cards(game).values())
        for episode in ("battle", "match"):
            if episode == "match" and "predefinedDraftIds" in game["params"]:
                continue  # a row draws what is offered
            options = {"rules": game["rules"], "episode": episode, "opponent": "caller", **cards}
            try:
                play(Games(1, Options(max_actions=10**6, **options)), game)
            except AssertionError as error:
                error.add_note(f"{game_name(game)}, {episode}")
                raise


def play(games: Games, game: Game) -> None:
    """Play the choices and the turns of a game, up to a fault, and compare every state."""
    seeds = {name: value for name, value in game["params"].items() if name not in LISTS}
    given = {"match": {"seed": game["seed"], **seeds}}
    if games.options.episode == "battle":
        given["decks"] = game["chosen"]
    games.begin(0, 1, given)
    views = games.rows.views
    if games.options.episode == "match":
        pick(games, game)
    assert views.decks(0) == [
        [places(games)[base_id] for base_id in deck] for deck in game["chosen"]
    ]
    for turn in game["turns"]:
        if views.over(0):  # the last one has died from the cards that they drew
            assert not turn["applied"]
            break
        assert views.mover(0) == turn["player"]
        state = views.state(0)
        for action, snapshot in zip([*turn["applied"], None], turn["states"], strict=True):
            assert views.state(0).snapshot() == snapshot
            if action is not None:
                state = views.state(0)
                games.rows.step_row(0, state.string_to_action(action))
        if turn is not game["turns"][-1] and not views.over(0):
            games.rows.step_row(0, 0)
    if game["error"] is None:
        assert views.over(0)
        result, scores = views.result(0), game["scores"]
        assert (result.winner, scores[result.winner], result.illegal) == (game["winner"], 1, False)
        assert result.match[1] == list(seeds.values())


def places(games: Games) -> dict[int, int]:
    return {card.base_id: i for i, card in enumerate(games.cards(0))}


def pick(games: Games, game: Game) -> None:
    """Pick the cards that were chosen, each player one in turn."""
    first = games.rows.battle_actions
    offers = golden_match(game).offers
    for step, pair in enumerate(zip(*game["chosen"], strict=True)):
        for base_id in pair:
            if game["rules"] == "1.5":
                number = places(games)[base_id]
            else:
                number = [card.base_id for card in offers[step]].index(base_id)
            games.rows.step_row(0, first + number)

"""A client's view of its matches agrees with the server's state."""

import random

from vestrock_help import Views

from vestrock import Card, Match, extreme_deck, generate_deck
from vestrock.bots import make_bot
from vestrock.protocol import Reply


def replies(match: Match, player: str) -> list[Reply]:
    """Return a player's replies to the questions."""
    result = []
    for question in Views.questions(match.match_id):
        status, *lines = match.command(player, question)
        error = 0 if status == "OK" else int(status.split()[1])
        result.append(Reply(question, error, lines))
    return result


def follow(deck: list[Card], seed: int, skip: int = 0, **parameters: int) -> int:
    """Play a match, compare each turn from the `skip`-th on, and return how many were compared."""
    views = {"A": Views(), "B": Views()}
    match = Match(deck, **parameters)
    if not skip:
        views["B"].learn(replies(match, "A"))
    bots = [make_bot("random", seed), make_bot("rule")]
    random.Random(seed).shuffle(bots)
    compared = 0
    while not match.is_over:
        state = match.state
        if state.turn > skip:
            mover, other = match.players[state.mover], match.players[1 - state.mover]
            view = views[mover].state(replies(match, mover))
            assert view is not None
            view.validate()
            if not skip:
                assert view == state
            else:  # the client knows all but the cards that are gone
                assert [view.hand(p) for p in (0, 1)] == [state.hand(p) for p in (0, 1)]
                assert view.deck == state.deck
                assert view.health == state.health
                assert view.turns_left == state.turns_left
                assert len(view.legal_actions()) == len(state.legal_actions())
            assert views[other].state(replies(match, other)) is None
            compared += 1
        match.submit(state.mover, bots[state.mover].turn(state))
    assert views["A"].state(replies(match, "A")) is None
    return compared


def test_the_position_is_the_servers() -> None:
    assert sum(follow(generate_deck(seed), seed) for seed in range(6)) > 100
    assert sum(follow(extreme_deck(seed), seed, init_hp=100) for seed in range(4)) > 10
    assert follow(generate_deck(1), 1, turns=4, draws=1, burns=0, hand_limit=3) == 4


def test_who_comes_late_sees_what_can_be_seen() -> None:
    assert sum(follow(generate_deck(seed), seed, skip=7) for seed in range(6)) > 50


def test_another_deck_than_the_one_that_was_learnt() -> None:
    views = Views()
    views.learn(replies(Match(generate_deck(1)), "A"))
    match = Match([card._replace(id=card.id + 500) for card in generate_deck(2)])
    match.command("A", "DRAW_CARD 1")
    view = views.state(replies(match, "A"))
    assert view is not None
    assert view.hand(0) == match.state.hand(0)

"""States made from an observation: the player's turn has the same effects as in the match."""

import random
from typing import Any

import pytest
from helpers import answer_of, raises

from locmsim import Match, Observation, State
from locmsim.agents import make_agent
from locmsim.game.observation import (
    ENEMY_BOARD,
    HAND,
    MY_BOARD,
    CardInPlay,
    OpponentAction,
    PlayerLine,
)


def seen(state: State, player: int) -> Observation:
    """Return what the player sees, without what a state made from that cannot know."""
    full = Observation.of(state, player)
    return full.replace(
        me=full.me._replace(deck_size=0),
        opponent=full.opponent._replace(deck_size=0),
        opponent_hand=0,
    )


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
@pytest.mark.parametrize("seed", range(4))
def test_turns_go_as_in_the_match(rules: str, seed: int) -> None:
    rng = random.Random(seed)
    match = Match(rules, seed=seed)
    agents = [make_agent("random"), make_agent("random")]
    for agent in agents:
        agent.reset(seed)
    turns = 0
    while match.to_ask:
        player = match.to_ask[0]
        observation = match.observation(player)
        if match.state is not None:
            state, real = State.from_observation(observation), match.state.clone()
            state.validate()
            assert observation.legal_actions() == state.legal_actions()
            while True:
                assert seen(state, 0) == seen(real, player)
                actions = [state.action_to_string(action) for action in state.legal_actions()]
                assert actions == [real.action_to_string(action) for action in real.legal_actions()]
                assert state.is_terminal() == real.is_terminal()
                action = rng.choice(state.legal_actions() or [0])
                if action == 0:
                    break
                state.apply_action(action)
                real.apply_action(action)
                state.validate()
            if real.winner is not None:
                assert state.winner == (real.winner == 1 - player)
            turns += 1
        match.submit(*answer_of(match, agents))
    assert turns > 6


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_the_dead_are_shown_too(rules: str) -> None:
    line = PlayerLine(1, 12, 0, 1, 0 if rules == "1.5" else 5)
    for mine, theirs, winner in ((-3, 4, 1), (0, 0, 1), (7, 0, 0), (7, 7, None)):
        me, opponent = line._replace(health=mine), line._replace(health=theirs)
        state = State.from_observation(Observation(rules, me, opponent, 3, (), ()))
        assert state.winner == winner
        assert [view.health for view in state.players] == [mine, theirs]
        assert [view.deck_size for view in state.players] == [0, 0]


def test_creatures_beyond_any_card() -> None:
    row = CardInPlay(7, 254, MY_BOARD, 0, 3, 30_000, 20_000, "BCDGLW", 0, 0, 0, 1, 0)
    line = PlayerLine(30, 5, 9, 1)
    state = State.from_observation(Observation("1.5", line, line, 0, (), (row,)))
    state.validate()
    assert state.players[0].board[0][:1] == (254,)
    state.apply_action(state.string_to_action("ATTACK 254 -1"))
    assert state.winner == 0
    assert state.players[0].health == 30_030


HELD = CardInPlay(7, 3, HAND, 0, 3, 2, 2, "------", 0, 0, 0, 0, -1)
ON_BOARD = HELD._replace(location=MY_BOARD, lane=1)
LINE = PlayerLine(30, 5, 9, 1)
SEEN = Observation("1.5", LINE, LINE, 0, (), ())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            ({"cards": (row,)}, r"cards\[\d\]: CardInPlay\(")
            for row in (
                ON_BOARD._replace(lane=2),
                ON_BOARD._replace(lane=-1),
                HELD._replace(location=2),
                HELD._replace(location=-2),
                HELD._replace(instance_id=255),
                HELD._replace(base_id=70_000),
                HELD._replace(base_id=-1),
                HELD._replace(cost=128),
                HELD._replace(cost=-1),
                HELD._replace(area=3),
                HELD._replace(card_draw=101),
                HELD._replace(my_health_change=501),
                HELD._replace(opponent_health_change=-501),
                HELD._replace(attack=501),
                HELD._replace(attack=-(2**31)),
                ON_BOARD._replace(attack=-(2**31)),
                ON_BOARD._replace(defense=30_501),
                HELD._replace(abilities=""),
            )
        ),
        *(
            ({who: LINE._replace(**{name: number})}, rf"{who}\.{name}: expected")
            for who in ("me", "opponent")
            for name, number in (("max_mana", 14), ("draw", -1))
        ),
        (
            {"cards": tuple(HELD._replace(instance_id=i) for i in range(121))},
            "cards: 121 rows, expected at most 120",
        ),
        (
            {"opponent_actions": (OpponentAction(7, "ATTACK 3 -1"),) * 65},
            "opponent_actions: 65, expected at most 64",
        ),
        (
            {"cards": (HELD, ON_BOARD._replace(location=ENEMY_BOARD))},
            "instance id 3 occurs twice",
        ),
    ],
)
def test_what_cannot_be(change: dict[str, Any], message: str) -> None:
    fields = {name: getattr(SEEN, name) for name in Observation.__match_args__}
    with pytest.raises(ValueError, match=message):
        State.from_observation(Observation(**{**fields, **change}))


def test_what_shows_no_battle() -> None:
    choice = Match(seed=1).observation(0)
    raises(ValueError, "the choice phase shows no battle", State.from_observation, choice)
    raises(TypeError, "observation", State.from_observation, "30 1 26 1")

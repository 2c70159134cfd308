"""States made from an observation: the player's turn has the same effects as in the match."""

import random
from typing import Any

import pytest

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
        ask = agents[player].choose if match.state is None else agents[player].act
        match.submit(player, ask(observation))
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


def test_choice_phase() -> None:
    with pytest.raises(ValueError, match="the choice phase shows no battle"):
        State.from_observation(Match(seed=1).observation(0))


GOOD = CardInPlay(7, 3, HAND, 0, 3, 2, 2, "------", 0, 0, 0, 0, -1)
ON_BOARD = GOOD._replace(location=MY_BOARD, lane=1)


@pytest.mark.parametrize(
    "rows",
    [
        [ON_BOARD._replace(lane=2)],
        [ON_BOARD._replace(lane=-1)],
        [GOOD._replace(location=2)],
        [GOOD._replace(location=-2)],
        [GOOD._replace(instance_id=255)],
        [GOOD._replace(base_id=70_000)],
        [GOOD._replace(base_id=-1)],
        [GOOD._replace(cost=128)],
        [GOOD._replace(cost=-1)],
        [GOOD._replace(area=3)],
        [GOOD._replace(card_draw=101)],
        [GOOD._replace(my_health_change=501)],
        [GOOD._replace(opponent_health_change=-501)],
        [GOOD._replace(attack=501)],
        [GOOD._replace(attack=-(2**31))],
        [ON_BOARD._replace(attack=-(2**31))],
        [ON_BOARD._replace(defense=30_501)],
        [GOOD._replace(abilities="")],
    ],
)
def test_rows_that_cannot_be(rows: list[CardInPlay]) -> None:
    line = PlayerLine(30, 5, 9, 1)
    with pytest.raises(ValueError, match=r"cards\[\d\]: CardInPlay\("):
        State.from_observation(Observation("1.5", line, line, 0, (), tuple(rows)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_mana": 14}, "max_mana: expected"),
        ({"draw": -1}, "draw: expected"),
    ],
)
def test_player_lines_that_cannot_be(change: dict[str, Any], message: str) -> None:
    line = PlayerLine(30, 5, 9, 1)
    for who in ("me", "opponent"):
        lines = {"me": line, "opponent": line, who: line._replace(**change)}
        with pytest.raises(ValueError, match=rf"{who}\.{message}"):
            State.from_observation(Observation("1.5", lines["me"], lines["opponent"], 0, (), ()))


def test_as_much_as_a_referee_shows() -> None:
    line = PlayerLine(30, 5, 9, 1)
    rows = tuple(GOOD._replace(instance_id=i) for i in range(121))
    with pytest.raises(ValueError, match="cards: 121 rows, expected at most 120"):
        State.from_observation(Observation("1.5", line, line, 0, (), rows))
    actions = (OpponentAction(7, "ATTACK 3 -1"),) * 65
    with pytest.raises(ValueError, match="opponent_actions: 65, expected at most 64"):
        State.from_observation(Observation("1.5", line, line, 0, actions, ()))


def test_instances_occur_once() -> None:
    line = PlayerLine(30, 5, 9, 1)
    rows = (GOOD, ON_BOARD._replace(location=ENEMY_BOARD))
    with pytest.raises(ValueError, match="instance id 3 occurs twice"):
        State.from_observation(Observation("1.5", line, line, 0, (), rows))

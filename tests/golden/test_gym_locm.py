"""The layout, the masks and the rewards of gym-locm, in lock-step with what it recorded."""

import gzip
import json

import numpy as np
import pytest
from helpers import golden_path
from rows_access import potentials_of

from locmsim import State, cards_1x, generate_cards
from locmsim.envs import Games, Options
from locmsim.envs._potentials import POTENTIALS


def gym_games():
    with gzip.open(golden_path("gymlocm.jsonl.gz"), "rt") as file:
        return [json.loads(line) for line in file]


def gym_start(game):
    cards = generate_cards(game["seed"]) if game["rules"] == "1.5" else cards_1x()
    by_id = {card.base_id: card for card in cards}
    decks = [[by_id[base] for base in deck] for deck in game["decks"]]
    return State.new(*decks, rules=game["rules"], pool=cards)


@pytest.mark.slow
def test_gym_locm_saw_and_rewarded_the_same():
    """Environments agree in lock-step with recordings of gym-locm 2.0.0b1."""
    for game in gym_games():
        games = Games(1, Options(rules=game["rules"], layout="gym-locm", opponent="caller"))
        games.begin(0, 1, options={"state": gym_start(game)})
        rows = games.rows
        before = [None, None]
        for step in game["steps"]:
            state = rows.views.state(0)
            mover = state.turn & 1
            seen = np.empty(len(step["observation"]), np.float32)
            rows.views.observe(0, mover, seen)
            np.testing.assert_allclose(seen, step["observation"], atol=1e-6)
            assert state.legal_actions() == step["legal"]
            before[mover] = gym_values(state, mover)
            rows.step_row(0, step["action"])
            after_state = rows.views.state(0)
            after = gym_values(after_state, mover)
            next_mover = after_state.turn & 1
            base = before[next_mover] or gym_values(state, mover)
            expected = [now - then for now, then in zip(after, base, strict=True)]
            if before[next_mover] is None:  # gym-locm has nothing to compare with
                expected = [0.0] * len(expected)
            np.testing.assert_allclose(step["raw_rewards"], expected, atol=2e-6)
        winner = rows.views.state(0).winner
        assert game["winner"] == winner


def gym_values(state, mover):
    """Return gym-locm's six values from player 0's side, as in its two-player environment."""
    win = 0 if state.winner is None else 1 if state.winner == 0 else -1
    own = potentials_of(state, 0)
    coac = potentials_of(state, state.turn & 1)["coac"]
    values = [own[name] for name in POTENTIALS[:-1]]
    return [win, *values, coac if state.turn & 1 == 0 else -coac]

"""Threads that work at the same time compute what a single one does, with and without the GIL.

The tests need pytest, numpy and, for environments, gymnasium only, so that they also run with a
free-threaded Python or under ThreadSanitizer (docs/development.md).
"""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import each_rules, python

import locmsim
from locmsim import Match, Observation, State, StateBatch
from locmsim.game.positions import random_game, start_position
from locmsim.search import MCTS, BeamSearch, Evaluation

RULE_SETS = ("1.5", "1.2", "1.0")
THREADS = 4
PACKAGE = Path(locmsim.__file__).parent
OLD = sys.version_info < (3, 13)


def together(work: Callable[[int], Any]) -> list[Any]:
    """Return the results of work(0), work(1) ...; all threads start at the same moment."""
    start = threading.Barrier(THREADS)

    def run(i: int) -> Any:
        start.wait(60)
        return work(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return [*pool.map(run, range(THREADS))]


def middle(rules: str, seed: int = 1) -> State:
    """Return a position in the middle of a game."""
    last = start_position(seed, rules)
    for state, _ in random_game(start_position(seed, rules), seed):
        if state.turn == 8:
            return state
        last = state
    return last


def play(state: State, seed: int) -> list[tuple[int, int]]:
    """Play one game by hand: legal actions, masks, clones and what a player sees."""
    state = state.clone()
    rng = np.random.default_rng(seed)
    log = []
    while not state.is_terminal():
        actions = state.legal_actions()
        assert state.legal_actions_mask().sum() == len(actions)
        worlds = state.resample_hidden(state.current_player(), seed)
        assert worlds.legal_actions() == actions
        seen = Observation.parse(state.observation(state.current_player()).format())
        log.append((len(actions), seen.me.health))
        state = state.child(actions[rng.integers(len(actions))])
    return log


@pytest.mark.slow
@pytest.mark.process
def test_imports_leave_the_lock_as_it_is():
    """A module that does not declare itself free of the GIL enables it, with a warning."""
    names = [
        ".".join(path.relative_to(PACKAGE.parent).with_name(path.name.split(".")[0]).parts)
        for package in ("locmsim", "vestrock")
        for pattern in ("*.so", "*.pyd")
        for path in (PACKAGE.parent / package).rglob(pattern)
    ]
    assert {"locmsim._core", "vestrock._core"} <= {*names}
    code = f"import sys, {', '.join(names)}; print(getattr(sys, '_is_gil_enabled', int)())"
    done = python("-W", "error", "-c", code)
    expected = "0" if OLD else str("t" not in getattr(sys, "abiflags", ""))
    assert done.stdout.strip() == expected


@each_rules
def test_playouts_of_one_state(rules):
    state = middle(rules)
    alone = [state.rollouts(200, seed=i) for i in range(THREADS)]
    for found, expected in zip(
        together(lambda i: state.rollouts(200, seed=i, threads=2)), alone, strict=True
    ):
        assert (found == expected).all()


@each_rules
def test_games(rules):
    """All threads share the cards of one state, and clone it at the same time."""
    start = start_position(3, rules)
    assert together(lambda i: play(start, i)) == [play(start, i) for i in range(THREADS)]


@each_rules
def test_batches(rules):
    states = [middle(rules, seed) for seed in range(1, 5)]

    def work(i: int) -> list[Any]:
        batch = StateBatch(states)
        rng = np.random.default_rng(i)
        found = []
        for _ in range(20):
            masks = batch.legal_actions_mask()
            going = masks.any(axis=1)
            actions = np.where(going, (masks * rng.random(masks.shape)).argmax(axis=1), -1)
            if not going.all():
                break
            batch.step(actions)
            found.append(masks.sum())
        return [*found, *batch.rollouts(50, i).ravel().tolist()]

    assert together(work) == [work(i) for i in range(THREADS)]


@each_rules
@pytest.mark.parametrize("shared", [False, True], ids=["own", "shared"])
@pytest.mark.parametrize(
    ("kind", "budget"), [(BeamSearch, {"nodes": 400}), (MCTS, {"iterations": 30})]
)
def test_searches(rules, kind, budget, shared):
    """Threads can have a search each, or take turns with a shared one."""
    observation = middle(rules).observation(middle(rules).current_player())
    alone = [kind().search(observation, seed=i, **budget) for i in range(THREADS)]
    one = kind()
    found = together(lambda i: (one if shared else kind()).search(observation, seed=i, **budget))
    assert [(r.line, r.value, r.nodes) for r in found] == [
        (r.line, r.value, r.nodes) for r in alone
    ]


@each_rules
def test_matches(rules):
    def work(i: int) -> tuple[Any, ...]:
        match = Match(rules, seed=i)
        while match.phase != "over":
            for player in match.to_ask:
                assert Observation.parse(match.input_text(player)).me.health <= 60
                line = "PASS"
                actions = match.state.legal_actions() if match.phase == "battle" else []
                if actions:  # there are none for a player who died from drawing
                    line = match.state.action_to_string(actions[-1])
                match.submit(player, line)
        return match.winner, match.scores, match.state.turn

    assert together(work) == [work(i) for i in range(THREADS)]


@each_rules
@pytest.mark.parametrize("threads", [1, 2])
def test_environments(rules, threads):
    envs = pytest.importorskip("locmsim.envs")

    def work(i: int) -> list[Any]:
        env = envs.LocmVectorEnv(6, rules=rules, opponent="random", card_sets=2, threads=threads)
        observation, info = env.reset(seed=i)
        rng = np.random.default_rng(i)
        total = []
        for _ in range(40):
            masks = info["action_mask"] if "action_mask" in info else observation["action_mask"]
            actions = (masks * (rng.random(masks.shape) + 0.1)).argmax(axis=1)
            observation, rewards, ended, _, info = env.step(actions)
            total.append((rewards.sum(), ended.sum(), masks.sum()))
        env.close()
        return total

    assert together(work) == [work(i) for i in range(THREADS)]


def test_one_evaluation_for_the_cards_of_several_games() -> None:
    """An evaluation has a table of the cards in hand of one game, which threads must not share."""
    evaluation = Evaluation({"hand.cost": 1.0, "hand.draw": 3.0}, network=None)
    states = [middle("1.5", seed) for seed in range(THREADS)]
    expected = [evaluation(state, 0) for state in states]
    assert len(set(expected)) > 1

    def work(i: int) -> bool:
        return all(evaluation(states[i], 0) == expected[i] for _ in range(20_000))

    assert together(work) == [True] * THREADS

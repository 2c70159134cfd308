"""What searches, evaluations and policies refuse, and what a caller cannot change in them."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import raises

from locmsim import StateBatch
from locmsim.agents import BeamAgent, LevelAgent, MCTSAgent, PolicySearchAgent
from locmsim.game.positions import start_position
from locmsim.networks import default_weights
from locmsim.options.declarations import declared
from locmsim.policy import Policy
from locmsim.search import (
    MCTS,
    BeamOptions,
    BeamSearch,
    Belief,
    Evaluation,
    MCTSOptions,
    OnObservations,
    PolicySearch,
    analyse,
)
from locmsim.search.analysis import line_value
from locmsim.search.options import PolicyOptions
from locmsim.tuning import TuningSettings
from vestrock.bots import make_bot

SEEN = start_position(1).observation(0)

BUDGETS: list[tuple[dict[str, Any], str]] = [
    ({"time_ms": 9.2e12}, r"time_ms: expected 0 to 1e\+09"),
    ({"time_ms": 1e14}, r"time_ms: expected 0 to 1e\+09"),
    ({"time_ms": float("nan")}, "time_ms: expected 0 to"),
    ({"time_ms": -5}, "time_ms: expected 0 to"),
    ({"work": 10**30}, "expected [01] to 2\\^60, got 10000"),
    ({"work": 1.5}, "expected an integer, got 1.5"),
    ({"work": True}, "expected an integer, got True"),
    ({"work": -1}, "expected [01] to 2\\^60, got -1"),
]


@pytest.mark.parametrize(("wrong", "message"), BUDGETS)
@pytest.mark.parametrize("kind", [BeamSearch, MCTS, PolicySearch])
def test_budgets(kind: type, wrong: dict[str, Any], message: str) -> None:
    search = PolicySearch(Evaluation()) if kind is PolicySearch else kind()
    name = "simulations" if kind is PolicySearch else search.bound
    given = {name if key == "work" else key: value for key, value in wrong.items()}
    raises(ValueError, message, search.search, SEEN, **given)
    if kind is PolicySearch:
        raises(ValueError, "simulations: expected 1 to", search.search, SEEN, simulations=0)


@pytest.mark.parametrize(
    "options",
    [
        BeamOptions,
        MCTSOptions,
        PolicyOptions,
        TuningSettings,
        BeamAgent,
        MCTSAgent,
        LevelAgent,
        PolicySearchAgent,
    ],
)
def test_bounds_of_options(options: type) -> None:
    for name, one in declared(options).items():
        low, high = one.option.low, one.option.high
        for wrong in [] if low is None else [low - 1, float("nan"), 2 * (high or 0) + 1]:
            if wrong != 1:  # of an option without an upper bound
                raises(ValueError, f"^{name}: expected ", options, **{name: wrong})


@pytest.mark.parametrize("threads", [0, 1.5, True])
def test_threads(threads: Any) -> None:
    raises(ValueError, "threads: expected", BeamSearch().search, SEEN, nodes=5, threads=threads)


def test_bots_of_vestrock() -> None:
    for spec in ("search:nodes=-4", "search:time_ms=nan"):
        raises(ValueError, r"(nodes|time_ms): expected 0 to", make_bot, spec)


@pytest.mark.parametrize("kind", [BeamSearch, MCTS])
def test_a_search_within_itself(kind: type) -> None:
    """Nothing that has its one memory can use it while it is running; it then answers as before."""
    within: list[Callable[[], object]] = []

    def evaluate(batch: StateBatch) -> Any:
        for enter in within:
            enter()
        return np.zeros(len(batch))

    search = kind(evaluation=evaluate)
    engine = search.prepare("1.5")
    belief = Belief()
    belief.see(SEEN)
    worlds = belief.determinizer()
    root = worlds.sample(1)
    bound = {search.bound: 300}
    bounds = {"time_ns": None, "nodes": None, "iterations": 50, "seed": 1}
    for entered in (
        lambda: engine.find_win(root, 10),
        lambda: engine.turn_value(worlds, root, [], 1, 1),
        lambda: engine.search(worlds, root, **bounds),
        lambda: engine.evaluate_by(Evaluation().compiled),
        lambda: search.search(SEEN, time_ms=1),
    ):
        within[:] = [entered]
        raises(RuntimeError, "this search is already running", search.search, SEEN, **bound)
    within.clear()
    assert engine.find_win(root, 10) is None
    line = search.search(SEEN, **bound).line
    assert line == kind(evaluation=evaluate).search(SEEN, **bound).line
    assert line == copy.copy(search).search(SEEN, **bound).line


def test_values_are_immutable() -> None:
    """Searches copy what they are made of when they need it; it cannot change in between."""
    evaluation = Evaluation()
    on_observations = OnObservations(lambda seen, masks: seen[:, 0])
    policy_search = PolicySearch(evaluation)
    for value, names in (
        (evaluation, ("rules", "network", "compiled")),
        (on_observations, ("function", "layout")),
        (policy_search, ("options", "evaluator", "evaluation", "layout")),
        (BeamSearch(), ("options", "evaluation")),
        (BeamSearch().options, ("turns",)),
    ):
        for name in names:
            with pytest.raises(AttributeError):
                setattr(value, name, None)


def test_options_are_those_of_the_search() -> None:
    for wrong in (MCTSOptions(), "x"):
        raises(TypeError, "options: expected BeamOptions, got", BeamSearch, wrong)


def test_nothing_to_search_with() -> None:
    with pytest.raises(ValueError, match="search: expected at least one search"):
        analyse(SEEN, nodes=100, time_ms=None, search={})
    raises(ValueError, "scores: expected card scores for at least one", Belief, scores={})
    belief = Belief(scores={"1.2": len})  # type: ignore[dict-item]
    belief.see(SEEN)
    raises(ValueError, r"scores: none for rules 1\.5", belief.sample, 1)
    known = Belief()
    known.see(SEEN)
    raises(ValueError, "worlds: expected 1 to", line_value, known, "PASS", worlds=0)


def test_equal_evaluations() -> None:
    assert Evaluation() == Evaluation()
    assert Evaluation() != Evaluation(network=None)
    assert Evaluation(network=None) == Evaluation(network=None)
    assert Evaluation(network=None) != Evaluation(rules="1.2", network=None)
    assert Evaluation() == dict(Evaluation())  # as a mapping


def test_weights_of_the_package_are_nobodys() -> None:
    mine = default_weights("1.5")
    value = mine.evaluation["own.health"]
    mine.evaluation["own.health"] = 99.0  # type: ignore[index]
    assert default_weights("1.5").evaluation["own.health"] == value
    assert mine.network is not None
    for arrays in (mine.network, Evaluation().network.arrays):  # type: ignore[union-attr]
        array = next(iter(arrays.values()))
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(TypeError):
        Evaluation().network.arrays["more"] = 1  # type: ignore[union-attr, index]


def test_copies_of_a_policy() -> None:
    policy = Policy.random(seed=1)
    other = copy.deepcopy(policy)
    other.temperature = 1.0
    assert policy.temperature == 0.0


@pytest.mark.parametrize("temperature", [float("inf"), 1e-310, -1.0, float("nan")])
def test_temperatures(temperature: float) -> None:
    policy = Policy.random(seed=1)
    observation = start_position(1).observation_tensor(layout=policy.layout)
    mask = start_position(1).legal_actions_mask()
    with pytest.raises(ValueError, match="temperature: expected 1e-06 to"):
        policy.act_batch(observation[None], mask[None], temperature=temperature)
    for right in (0, 1e-6, 1e6):
        (action,) = policy.act_batch(observation[None], mask[None], temperature=right)
        assert mask[action]
    assert np.asarray(observation).ndim == 1

"""Policies that other libraries run: files of ONNX, and objects."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import raises
from onnx_files import write_onnx

from locmsim import Card, Match
from locmsim.agents import make_agent
from locmsim.arena import Arena
from locmsim.contract import play_match
from locmsim.envs import LocmVectorEnv
from locmsim.policy import OnnxPolicy, Policy, PolicyChooser, get_layout, load_policy
from locmsim.tuning.evaluate import evaluate

OURS = """
import numpy as np
from locmsim.policy import Policy

class Mine:
    rules, layout = "1.5", "entities"

    def act_batch(self, observations, masks, seeds=0, *, temperature=0.0):
        return np.asarray(masks).argmax(axis=1)

class Silent:
    rules, layout = "1.5", "entities"

class Broken(Mine):
    def __init__(self):
        raise RuntimeError("no weights")

class Elsewhere(Mine):
    layout = "entitys"

def ready():
    return Policy.random(seed=3)

class Plain:
    rules, layout = "1.5", "gym-locm"

    def act_batch(self, observations, masks, seeds):
        assert observations.dtype == np.float32 and seeds.dtype == np.uint64
        assert len(observations) == len(masks) == len(seeds)
        return (np.asarray(masks) * np.arange(masks.shape[1])).argmax(axis=1)

class Recurrent(Plain):
    state_shape = (2,)
    turns = 0

    def act_batch(self, observations, masks, seeds, *, state):
        state += 1
        type(self).turns = max(self.turns, int(state.max()))
        return Plain.act_batch(self, observations, masks, seeds)

class Short(Plain):
    def act_batch(self, observations, masks):
        return masks.argmax(axis=1)

class Wrong(Plain):
    def act_batch(self, observations, masks, seeds):
        return np.zeros(len(masks))
"""


@pytest.fixture
def module(tmp_path: Path) -> str:
    path = tmp_path / "rated.py"
    path.write_text(OURS)
    return str(path)


def test_objects(module: str) -> None:
    assert isinstance(load_policy(f"{module}:ready"), Policy)
    agent = make_agent(f"policy:path={module}:Mine")
    match = play_match(Match(seed=1), [agent, make_agent("random")])
    assert match.winner in (0, 1)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Silent", "it lacks act_batch"),
        ("Broken", "RuntimeError: no weights"),
        ("Elsewhere", "entitys"),
        ("Nobody", "Nobody"),
    ],
)
def test_objects_that_are_none(module: str, name: str, error: str) -> None:
    raises(ValueError, error, load_policy, f"{module}:{name}")


def test_one_object_plays_everywhere(module: str) -> None:
    """As an opponent of environments, in `evaluate` and as an agent: the same three arguments."""
    for name in ("Plain", "Recurrent"):
        policy = load_policy(f"{module}:{name}")
        env = LocmVectorEnv(4, opponent=policy, card_sets=2)
        env.reset(seed=1)
        for number in range(60):
            env.step(env.sample(number))
        rate = evaluate(policy, "random", games=8, card_sets=2)
        assert rate.games == 8
        agents = [make_agent(f"policy:path={module}:{name}") for _ in range(2)]
        match = play_match(Match(seed=1), agents)
        assert match.error is None
        assert match.winner in (0, 1)
        env = LocmVectorEnv(2, opponent=f"policy:path={module}:{name}", card_sets=2)
        env.reset(seed=1)
        env.step(env.sample(1))
        with pytest.raises(ValueError, match="its act_batch has no argument temperature"):
            evaluate(policy, "random", games=2, temperature=1.0)
        with pytest.raises(ValueError, match="its act_batch has no argument temperature"):
            make_agent(f"policy:path={module}:{name},temperature=1")
        with pytest.raises(ValueError, match="returns no logits and values: a search needs"):
            make_agent(f"search:policy={module}:{name}")
    assert type(policy).turns > 5


def test_the_contract_is_checked_when_a_policy_is_given(module: str) -> None:
    raises(ValueError, "too many positional arguments", make_agent, f"policy:path={module}:Short")
    wrong = load_policy(f"{module}:Wrong")
    with pytest.raises(ValueError, match=r"act_batch: expected integers of shape \(4,\)"):
        evaluate(wrong, "random", games=8, card_sets=2)
    without = SimpleNamespace(act_batch=lambda observations, masks, seeds: masks.argmax(axis=1))
    raises(ValueError, "it lacks rules, layout", evaluate, without, "random", games=2)
    given = evaluate(without, "random", games=2, rules="1.2", layout="gym-locm")  # type: ignore[arg-type]
    assert given.games == 2
    with pytest.raises(ValueError, match=r"policy <object>: it lacks act_batch, rules, layout"):
        PolicyChooser(object())
    with pytest.raises(ValueError, match=r"opponent: .*act_batch"):
        LocmVectorEnv(2, opponent=SimpleNamespace(act_batch=lambda observations: None))


def test_what_a_file_says_has_to_agree(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    Policy.random(rules="1.2").save(path)
    assert load_policy(path, rules="1.2").rules == "1.2"
    raises(ValueError, r"a\.npz: rules: expected 1\.5, got 1\.2", load_policy, path, rules="1.5")


# ------------------------------------------------------------------------------------------- ONNX


def policy(rules: str = "1.5", layout: str = "entities") -> Policy:
    return Policy.random("mlp", rules=rules, layout=layout, seed=2)


SAYS = {"locmsim.rules": "1.5", "locmsim.layout": "entities"}


@pytest.mark.parametrize("type_", [1, 3])  # float, int8
def test_onnx_file_rates_as_the_network_it_was_made_of(tmp_path: Path, type_: int) -> None:
    path = tmp_path / "a.onnx"
    write_onnx(path, policy(), SAYS, type_=type_)
    loaded = load_policy(path)
    assert (loaded.rules, loaded.layout) == ("1.5", "entities")
    seen = np.random.default_rng(1).integers(-9, 30, (7, *get_layout("entities").shape), np.int8)
    for ours, theirs in zip(policy().evaluate(seen), loaded.evaluate(seen), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    raises(ValueError, "observations: expected shape", loaded.evaluate, seen[:, :5])
    for again in (copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        assert (again.evaluate(seen)[0] == loaded.evaluate(seen)[0]).all()
    path.write_bytes(path.read_bytes() + b"\0")
    assert (copy.deepcopy(loaded).evaluate(seen)[0] == loaded.evaluate(seen)[0]).all()
    with pytest.raises(ValueError, match=r"a\.onnx has changed since the policy was loaded"):
        pickle.loads(pickle.dumps(loaded))


def test_an_onnx_file_plays_in_environments_as_the_network(tmp_path: Path) -> None:
    """A file is an opponent by its path or as an object, and is asked for all waiting rows."""
    write_onnx(tmp_path / "a.onnx", policy(), SAYS)
    opponents = [policy(), load_policy(tmp_path / "a.onnx"), f"policy:path={tmp_path / 'a.onnx'}"]
    ours, *theirs = [LocmVectorEnv(8, opponent=one, card_sets=4) for one in opponents]
    first = ours.reset(seed=1)[0]
    for env in theirs:
        np.testing.assert_equal(env.reset(seed=1)[0], first)
    ended = 0
    for number in range(60):
        actions = ours.sample(number)
        wanted = ours.step(actions)
        for env in theirs:
            found = env.step(actions)
            np.testing.assert_equal(found[:4], wanted[:4])
        ended += int((wanted[2] | wanted[3]).sum())
    assert ended > 3


@pytest.mark.parametrize(("rules", "option"), [("1.5", "deck"), ("1.2", "draft"), ("1.0", "draft")])
def test_an_onnx_file_chooses_cards_as_the_network(tmp_path: Path, rules: str, option: str) -> None:
    """As the deck or draft of agents, and as the decks of environments and of the arena."""
    network, path = policy(rules, "choice"), tmp_path / "choice.onnx"
    network.save(tmp_path / "choice.npz")
    write_onnx(path, network, {"locmsim.rules": rules, "locmsim.layout": "choice"})

    def lines(text: str) -> list[str]:
        agent = make_agent(f"greedy:{option}={text}")
        found: list[str] = []
        for seed in range(3):
            agent.reset(seed)
            match = Match(rules, seed=seed)
            while match.phase == "choice":
                found.append(agent.choose(match.observation(0)))
                match.submit(0, found[-1])
                match.submit(1, "PASS")
        return found

    wanted = lines(f"policy:path={tmp_path / 'choice.npz'}")
    assert len(set(wanted)) > 1
    assert lines(f"policy:path={path}") == wanted
    seen = []
    for file in ("choice.npz", "choice.onnx"):
        decks = f"policy:path={tmp_path / file}"
        env = LocmVectorEnv(2, rules=rules, decks=decks, opponent="pass", card_sets=2)
        seen.append(env.reset(seed=1)[0]["observation"])
    assert (seen[0] == seen[1]).all()
    with Arena(None, ["greedy", "osl"], games=2, decks=f"policy:path={path}", rules=rules) as arena:
        arena.run(jobs=1)
        match = arena.replay(1).match
    ours = PolicyChooser(network)
    if rules == "1.5":
        assert match.chosen == [ours.build(match.cards)] * 2
    else:
        assert match.chosen[0] == match.chosen[1] == picks(ours, match)
    # A file that does not say what it was trained on is told.
    write_onnx(path, network)
    assert lines(f'"policy:path={path},rules={rules},layout=choice"') == wanted
    if rules == "1.5":
        assert lines(f"policy:path={path}") == wanted  # nothing else has its sizes
    else:
        with pytest.raises(ValueError, match=f"{option}: .*its rule set and layout are ambiguous"):
            make_agent(f"greedy:{option}=policy:path={path}")
    with pytest.raises(ValueError, match="it chooses cards and plays no battles"):
        make_agent(f"policy:path={path},rules={rules},layout=choice")


def picks(chooser: PolicyChooser, match: Match) -> list[int]:
    """Return the base ids of a draft."""
    picked: list[Card] = []
    for offer in match.offers:
        assert isinstance(offer, list)
        picked.append(offer[chooser.pick(offer, picked, match.rules)])
    return [card.base_id for card in picked]


def test_what_an_onnx_file_was_trained_on(tmp_path: Path) -> None:
    """Rule set and layout are those in the file or those given, unless only one of each fits."""
    path = tmp_path / "a.onnx"
    write_onnx(path, policy())
    raises(
        ValueError, "its rule set and layout are ambiguous, give one of rules=1", load_policy, path
    )
    assert load_policy(path, rules="1.2", layout="entities-f32").layout == "entities-f32"
    raises(ValueError, r"a\.onnx: its sizes fit no layout", load_policy, path, rules="1.0")
    agent = make_agent(f"policy:path={path},rules=1.2,layout=entities")
    assert agent.only_rules == "1.2"
    write_onnx(path, policy("1.2", "gym-locm"))
    assert load_policy(path).rules == "1.2"
    write_onnx(path, policy(), SAYS)
    with pytest.raises(ValueError, match=r"locmsim\.rules in the file is '1\.5', not '1\.2'"):
        load_policy(path, rules="1.2")
    write_onnx(path, policy(), {**SAYS, "locmsim.layout": "gym-locm"})
    raises(
        ValueError, r"a\.onnx: layout 'gym-locm' has 244 numbers, the input 440", load_policy, path
    )
    write_onnx(path, policy(), {**SAYS, "locmsim.layout": "entitys"})
    raises(ValueError, r"a\.onnx: unknown layout 'entitys'", load_policy, path)


def test_onnx_file_without_values(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    write_onnx(path, policy(), SAYS, outputs=1)
    assert np.isnan(load_policy(path).evaluate(np.zeros((3, 440)))[1]).all()


def test_onnx_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    write_onnx(path, policy(), SAYS, rows=1)
    raises(ValueError, "it accepts only batches of 1: export", load_policy, path)
    write_onnx(path, policy(), SAYS, type_=7)
    raises(ValueError, r"observations cannot be tensor\(int64\)", load_policy, path)
    write_onnx(path, policy(), SAYS)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    raises(ValueError, r"a\.onnx: onnxruntime cannot run it", load_policy, path)
    raises(FileNotFoundError, r"nobody\.onnx", load_policy, tmp_path / "nobody.onnx")


def other_network(inputs: int, actions: int, values: int = 1) -> SimpleNamespace:
    """Return the arrays of a plain network that fits none of our layouts."""
    random = np.random.default_rng(1)
    sizes = {"policy": (inputs, actions), "value": (inputs, values)}
    arrays = {f"{head}.0.w": random.normal(size=size) for head, size in sizes.items()}
    arrays |= {f"{head}.0.b": np.zeros(size[1]) for head, size in sizes.items()}
    return SimpleNamespace(arrays={name: a.astype(np.float32) for name, a in arrays.items()})


@pytest.mark.parametrize(
    ("sizes", "says", "message"),
    [
        ((440, 155), SAYS, "ratings: expected shape (rows, 145), got (2, 155) of 2"),
        ((440, 145, 3), SAYS, "values: expected one for each row, got (2, 3) of 2"),
        ((320, 145), SAYS, "layout 'entities' has 440 numbers, the input 320"),
        (
            (100, 145), None,
            "its sizes fit no layout and rule set: 100 numbers in, 145 ratings out",
        ),
        (
            (440, 12), None,
            "its sizes fit no layout and rule set: 440 numbers in, 12 ratings out",
        ),
    ],
)  # fmt: skip
def test_onnx_files_of_other_shapes(
    tmp_path: Path, sizes: tuple[int, ...], says: dict[str, str] | None, message: str
) -> None:
    path = tmp_path / "a.onnx"
    write_onnx(path, other_network(*sizes), says)
    with pytest.raises(ValueError, match=r"a\.onnx: ") as error:
        load_policy(path)
    assert str(error.value) == f"{path}: {message}"


@pytest.mark.parametrize("shapes", [[["rows", 4, 110]], [["rows", 440], ["rows", 145]], [[440]]])
def test_onnx_files_with_other_inputs(tmp_path: Path, shapes: list[list[int | str]]) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import helper

    path, names = tmp_path / "a.onnx", ["x", "y"][: len(shapes)]
    inputs = [
        helper.make_tensor_value_info(name, 1, shape)
        for name, shape in zip(names, shapes, strict=True)
    ]
    output = helper.make_tensor_value_info("logits", 1, None)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["logits"])], "g", inputs, [output]
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path
    )
    shown = ", ".join(f"{name} {shape}" for name, shape in zip(names, shapes, strict=True))
    with pytest.raises(ValueError, match="expected one input") as error:
        load_policy(path)
    assert str(error.value) == f"{path}: expected one input, (rows, numbers), got {shown}"


def test_onnx_without_onnxruntime(missing: Callable[..., None]) -> None:
    missing("onnxruntime")
    raises(ValueError, r"it needs onnxruntime.*pip install 'locmsim\[onnx\]'", OnnxPolicy, "a.onnx")

"""Policies: the compiled networks against numpy, files, and the agent that plays them."""

import json
from functools import cache

import numpy as np
import pytest
import reference_policies
from amounts import FEW
from helpers import each_rules, raises
from rows_access import wide_dense, wide_dots

from locmsim import Match, play_match
from locmsim.agents import make_agent
from locmsim.arena import Arena
from locmsim.envs import LocmEnv, LocmVectorEnv
from locmsim.policy import Policy, get_layout
from locmsim.policy._policy import entity_shapes, set_vector_bits
from locmsim.support.identity import library
from locmsim.tuning.evaluate import evaluate


@cache
def observations(rules, layout="entities", n=24):
    """Return observations and masks from the middle of random games."""
    env = LocmVectorEnv(n, opponent="caller", rules=rules, layout=layout, **FEW)
    env.reset(seed=1)
    for number in range(25):
        seen = env.step(env.sample(number))[0]
    return seen["observation"], seen["action_mask"]


@each_rules
@pytest.mark.parametrize("layout", ["entities", "entities-f32"])
@pytest.mark.parametrize("sizes", [(48, 160, 32), (20, 37, 9), (1, 1, 1)])
def test_the_entity_network_is_the_one_described(rules, layout, sizes):
    """The sizes of the network follow from its arrays and can be other than the usual ones."""
    rng = np.random.default_rng(3)
    arrays = {
        name: rng.normal(size=shape) / np.sqrt(shape[0] if shape else 1)
        for name, shape in entity_shapes(*sizes).items()
    }
    policy = Policy(arrays, Policy.random(rules=rules, layout=layout).meta)
    seen, masks = observations(rules, layout)
    logits, values = policy.evaluate(seen)
    scaled = seen / get_layout("entities", rules).scale if layout == "entities" else seen
    for row, x in enumerate(scaled.astype(np.float64)):
        expected, value = reference_policies.entities(policy.arrays, x, rules == "1.0")
        np.testing.assert_allclose(logits[row], expected, atol=2e-5)
        assert values[row] == pytest.approx(value, abs=2e-5)
    best = np.where(masks != 0, logits, -np.inf).argmax(axis=1)
    assert policy.act_batch(seen, masks).tolist() == best.tolist()


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("hidden", [(), (7,), (64, 33, 16)])
@pytest.mark.parametrize("layout", ["gym-locm", "entities"])
def test_plain_networks(activation, hidden, layout):
    policy = Policy.random("mlp", layout=layout, hidden=hidden, seed=1)
    policy = Policy(policy.arrays, {**policy.meta, "activation": activation})
    seen, _ = observations("1.5", layout)
    logits, values = policy.evaluate(seen)
    x = seen.astype(np.float64)
    expected = reference_policies.mlp(policy.arrays, x, "policy", activation)
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-3)
    expected = reference_policies.mlp(policy.arrays, x, "value", activation)[:, 0]
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-3)
    without = {name: a for name, a in policy.arrays.items() if not name.startswith("value")}
    assert np.isnan(Policy(without, policy.meta).evaluate(seen)[1]).all()


@pytest.mark.parametrize("most", [128, 256, 512])
@pytest.mark.parametrize("outputs", [1, 15, 16, 33, 48, 80, 145, 160, 177])
def test_vectors_of_all_widths_give_the_same_bits(most, outputs):
    """Each result is the float32 sum in the order of the inputs, whatever the CPU can do."""
    rng = np.random.default_rng(outputs)
    for inputs, rows in [(1, 1), (7, 3), (16, 1), (250, 1), (300, 1), (300, 5)]:
        x = rng.normal(size=(rows, inputs)).astype(np.float32)
        x[rng.random(x.shape) < 0.5] = 0
        w = rng.normal(size=(inputs, outputs)).astype(np.float32)
        got = rng.normal(size=(rows, outputs)).astype(np.float32)
        expected = got.copy()
        for k, row in enumerate(w):
            expected += x[:, k : k + 1] * row
        wide_dense(most, x, w, got)
        assert got.tobytes() == expected.tobytes()


def test_a_policy_answers_the_same_with_vectors_of_all_widths():
    policy = Policy.random(seed=2)
    seen, _ = observations("1.5", n=40)
    try:
        found = []
        for most in (0, 256, 512):
            set_vector_bits(most)
            logits, values = policy.evaluate(seen)
            found.append(logits.tobytes() + values.tobytes())
    finally:
        set_vector_bits(512)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("most", [128, 256, 512])
@pytest.mark.parametrize("size", [1, 8, 13, 32, 160])
def test_products_of_a_query_with_the_keys_that_are_wanted(most, size):
    rng = np.random.default_rng(size)
    keys = rng.normal(size=(13, size)).astype(np.float32)
    query = rng.normal(size=size).astype(np.float32)
    got = np.full(13, 7, np.float32)
    wide_dots(most, query, keys, 0b1_0000_0010_0101, 0.5, got)
    for k in range(13):
        if k in (0, 2, 5, 12):
            assert got[k] == pytest.approx(0.5 * (query.astype(float) @ keys[k]), abs=1e-5)
        else:
            assert got[k] == 7
    other = np.zeros(13, np.float32)
    wide_dots(0, query, keys, 0b1_1111_1111_1111, 0.5, other)
    wide_dots(most, query, keys, 0b1_1111_1111_1111, 0.5, got)
    assert got.tobytes() == other.tobytes()


def test_temperatures():
    policy = Policy.random(seed=2)
    seen, masks = observations("1.5")
    assert (
        policy.act_batch(seen, masks, seeds=1, temperature=1e-6) == policy.act_batch(seen, masks)
    ).all()
    drawn = [policy.act_batch(seen, masks, seeds=seed, temperature=1.0) for seed in range(300)]
    assert all(masks[row, action] for actions in drawn for row, action in enumerate(actions))
    assert (drawn[0] == policy.act_batch(seen, masks, seeds=0, temperature=1.0)).all()
    row = int(masks.sum(axis=1).argmax())
    logits = policy.evaluate(seen)[0][row]
    weights = np.exp(logits) * (masks[row] != 0)
    likely = int(weights.argmax())
    share = np.mean([actions[row] == likely for actions in drawn])
    assert abs(share - weights[likely] / weights.sum()) < 0.12


def test_policies_are_kept_in_files(tmp_path):
    path = tmp_path / "a.npz"
    for policy in (Policy.random(seed=1), Policy.random("mlp", layout="gym-locm", rules="1.2")):
        policy.meta["training"] = "none"
        policy.save(path)
        again = Policy.load(path)
        assert again.meta == {**policy.meta, "library": library("locmsim")}
        assert again.arrays.keys() == policy.arrays.keys()
        assert all((again.arrays[name] == array).all() for name, array in policy.arrays.items())
        assert repr(again) == repr(policy)
    with np.load(path, allow_pickle=False) as file:
        assert json.loads(str(file["meta"]))["layout"] == "gym-locm"


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    raises(OSError, r"a\.npz", Policy.load, path)
    for content in (b"", b"nonsense", b"PK\x03\x04"):
        path.write_bytes(content)
        raises(ValueError, r"a\.npz: ", Policy.load, path)
    np.savez(path, x=np.zeros(3))
    raises(ValueError, r"a\.npz: not a policy: meta is missing", Policy.load, path)
    np.savez(path, meta=np.array(["a"], object), allow_pickle=True)
    raises(ValueError, r"a\.npz: ", Policy.load, path)


@pytest.mark.parametrize(
    ("arrays", "meta", "message"),
    [
        ({}, {"kind": None}, "kind: missing"),
        ({}, {"format": 9}, "format 9, expected 1"),
        ({}, {"layout_version": 7}, "trained with version 7 of layout 'entities', which is now 1"),
        ({}, {"rules": "3"}, "unknown rules '3'"),
        ({}, {"layout": "no"}, "unknown layout 'no'"),
        ({}, {"layout": "gym-locm"}, "cannot have layout 'gym-locm'"),
        ({}, {"kind": "cnn"}, "kind: expected one of entities, mlp, cards, got 'cnn'"),
        ({"hand.w": None}, {}, "policy: hand.w is missing"),
        ({"hand.w": np.zeros((3, 3))}, {}, r"hand.w: expected shape \(24, 48\), got \(3, 3\)"),
        ({"more": np.zeros(3)}, {}, "policy: unknown array 'more'"),
        ({"hand.b": np.full(48, np.nan)}, {}, "hand.b: not all numbers are finite"),
        ({"hand.b": np.array(["x"])}, {}, "hand.b: expected an array of numbers"),
        ({"summon.w": np.zeros(32)}, {}, r"summon.w: expected 2 dimensions, got shape \(32,\)"),
        ({"trunk1.b": np.zeros(0)}, {}, r"trunk1.b: expected 1 dimensions, got shape \(0,\)"),
        ({"trunk1.b": None}, {}, "policy: trunk1.b is missing"),
        ({}, {"kind": "mlp"}, "activation: expected relu or tanh, got None"),
        ({}, {"kind": "mlp", "activation": "tanh"}, "policy: policy.0.w is missing"),
    ],
)
def test_wrong_policies_are_refused(arrays, meta, message):
    good = Policy.random()
    given = {**good.arrays, **arrays}
    given = {name: array for name, array in given.items() if array is not None}
    described = {**good.meta, **meta}
    described = {name: value for name, value in described.items() if value is not None}
    raises(ValueError, message, Policy, given, described)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("policy.0.w", np.zeros((3, 3)), r"policy.0.w: expected shape \(440, 3\), got \(3, 3\)"),
        ("policy.1.b", np.zeros(3), r"policy.1.b: expected shape \(64,\), got \(3,\)"),
        ("policy.1.b", None, "policy: policy.1.b is missing"),
        ("policy.2.w", np.zeros((64, 7)), "policy: expected 145 outputs, got 7"),
        ("policy.3.w", np.zeros((145, 9)), "policy: expected 145 outputs, got 9"),
    ],
)
def test_wrong_plain_networks_are_refused(name, array, message):
    good = Policy.random("mlp")
    arrays = {
        key: value for key, value in {**good.arrays, name: array}.items() if value is not None
    }
    raises(ValueError, message, Policy, arrays, good.meta)


def test_wrong_observations_are_refused():
    policy = Policy.random()
    seen, masks = observations("1.5", n=2)
    raises(ValueError, r"expected shape \(rows, 440\), got \(440,\)", policy.evaluate, seen[0])
    with pytest.raises(ValueError, match=r"masks: expected shape \(2, 145\), got \(1, 145\)"):
        policy.act_batch(seen, masks[:1])
    raises(ValueError, "a row without a legal action", policy.act_batch, seen, masks * 0)
    raises(ValueError, "temperature: expected", policy.act_batch, seen, masks, temperature=-1)


# --------------------------------------------------------------------------------- the agent


@pytest.mark.parametrize(("kind", "layout"), [("entities", "entities"), ("mlp", "gym-locm")])
def test_the_agent_acts_as_the_policy_does_in_the_environment(kind, layout, tmp_path):
    """The agent's answers in whole matches against osl are the actions of the policy."""
    policy = Policy.random(kind, layout=layout, seed=5)
    if kind == "entities":  # PASS only if nothing else is legal, for longer turns
        policy = Policy({**policy.arrays, "pass.b": np.float32(-50)}, policy.meta)
    path = tmp_path / "a.npz"
    policy.save(path)
    for seed in range(2):
        agent, osl = make_agent(f"policy:path={path},deck=classic"), make_agent("osl")
        agent.reset(seed)
        match = Match(seed=seed)
        match.submit(0, agent.choose(match.observation(0)))
        match.submit(1, "PASS")
        env = LocmEnv(layout=layout, opponent="osl")
        begin = {"match": match.params, "decks": match.chosen, "seat": 0}
        seen, _ = env.reset(seed=1, options=begin)
        acted = 0
        while match.to_ask:
            player = match.to_ask[0]
            if player == 1:
                assert not env.games.rows.views.over(0)
                match.submit(1, osl.act(match.observation(1)))
                continue
            line = agent.act(match.observation(0))
            texts = [] if line == "PASS" else line.split(";")
            for text in [*texts, "PASS"]:
                expected = int(
                    policy.act_batch(seen["observation"][None], seen["action_mask"][None])[0]
                )
                state = env.state
                assert state.action_to_string(expected) == text
                seen, _, terminated, _, _ = env.step(expected)
                acted += 1
                if terminated:
                    break
            match.submit(0, line)
            if terminated:
                break
        assert acted > 10


def test_the_agent_says_what_is_wrong(tmp_path):
    path = tmp_path / "a.npz"
    Policy.random(rules="1.2").save(path)
    for options, message in (
        ("", "path: expected the file of a policy"),
        (f"path={path},temperature=-1", "temperature: expected"),
        (f"path={tmp_path}/none.npz", r"none\.npz"),
    ):
        raises(ValueError, message, make_agent, f"policy:{options}")


def test_the_network_of_the_library():
    """It plays well with all three kinds of decks that it was trained on."""
    policy = make_agent("learned").policy
    assert (policy.kind, policy.rules) == ("entities", "1.5")
    for decks in ("random", "classic", "default"):
        assert evaluate(policy, "max-attack", games=100, decks=decks, **FEW).rate > 0.75
    match = play_match(Match(seed=3), [make_agent("learned"), make_agent("random")])
    assert match.winner == 0


def test_the_network_of_the_library_for_drafts():
    policy = make_agent("learned:rules=1.2").policy
    assert (policy.kind, policy.rules) == ("entities", "1.2")
    assert make_agent("search:rules=1.2,simulations=2").policy is policy
    for decks in ("random", "curve"):
        assert evaluate(policy, "max-attack", games=100, decks=decks).rate > 0.75
    with pytest.raises(ValueError, match=r"rules: expected one of 1\.5, 1\.2, got '1\.0'"):
        make_agent("learned:rules=1.0")


def test_other_rules_are_refused_before_a_game():
    with pytest.raises(ValueError, match=r"LearnedAgent plays rules 1\.5 only, not 1\.2"):
        Arena(None, ["learned", "random"], rules="1.2", games=2)
    with pytest.raises(ValueError, match=r"trained on rules 1\.5, this is a game of 1\.0"):
        make_agent("learned").choose(Match("1.0", seed=1).observation(0))
    raises(ValueError, "unknown option 'path'", make_agent, "learned:path=a.npz")


def test_evaluation_is_mirrored():
    policy = Policy.random(seed=4)
    rate = evaluate(policy, "pass", games=19, **FEW)
    assert rate.games == 20
    assert rate.low <= rate.rate <= rate.high
    assert str(rate).startswith(f"{100 * rate.rate:.1f} % of 20 games (")
    assert evaluate(policy, "pass", games=20, threads=2, **FEW) == rate


def test_sums_are_added_up_in_one_order_on_all_cpus():
    """Eight partial sums are kept and then added in order, so all CPUs give the same bits."""
    policy = Policy.random(seed=3)
    arrays = {name: np.zeros_like(array) for name, array in policy.arrays.items()}
    rng = np.random.default_rng(1)
    trunk = arrays["trunk2.b"][:] = rng.uniform(0, 3, 160)
    weights = arrays["pass.w"][:] = rng.normal(0, 1000, 160)
    layout = get_layout(policy.layout, "1.5")
    logits, _ = Policy(arrays, policy.meta).evaluate(np.zeros((1, *layout.shape), layout.dtype))
    sums = np.zeros(8, np.float32)
    for row, column in zip(
        trunk.astype(np.float32).reshape(-1, 8),
        weights.astype(np.float32).reshape(-1, 8),
        strict=True,
    ):
        sums += row * column
    total = np.float32(0)
    for part in sums:
        total += part
    assert logits[0, 0] == total


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("magic", {}, "kind: expected one of entities, mlp, cards, got 'magic'"),
        ("cards", {"layout": "entities"}, "network of cards cannot have layout 'entities'"),
        ("entities", {"layout": "choice"}, "entity network cannot have layout 'choice'"),
        ("entities", {"hidden": (4,)}, "hidden: does not apply to kind 'entities', only to 'mlp'"),
        ("cards", {"hidden": (4,)}, "hidden: does not apply to kind 'cards'"),
    ],
)
def test_random_policies_have_what_was_asked_for(kind, options, message):
    raises(ValueError, message, Policy.random, kind, **options)

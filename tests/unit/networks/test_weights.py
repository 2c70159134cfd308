"""Weights files: contents, reading, refused files, and that all of the weights are used in play."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import RULE_SETS, each_rules, raises

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.decks import CARD_TERMS, build_deck, card_score, static_order
from locmsim.decks.value import DECK_SHAPES
from locmsim.game.positions import start_position
from locmsim.networks import LARGE_SHAPES, SHAPES, Network, Weights, WeightsFile, default_weights
from locmsim.rules.generator import generate_cards
from locmsim.search import TERMS, BeamSearch, Evaluation
from locmsim.support.files import data_file

OURS = default_weights("1.5")


def written(path: Path, **weights: Weights) -> Path:
    WeightsFile({name[1:].replace("_", "."): w for name, w in weights.items()}).save(path)
    return path


def backwards(weights: Weights) -> Weights:
    """Return weights that want the opposite of these when choosing cards."""
    draft = {base_id: -value for base_id, value in (weights.draft or {}).items()}
    score = {name: -weight for name, weight in (weights.deck_score or {}).items()}
    deck_value, draft_value = (
        [{**arrays, "output": -arrays["output"], "direct": -arrays["direct"]} for arrays in part]
        for part in (weights.deck_value or (), weights.draft_value or ())
    )
    return replace(
        weights,
        draft=draft or None,
        deck_score=score or None,
        deck_value=deck_value or None,
        draft_value=draft_value or None,
    )


@each_rules
def test_the_weights_of_the_package(rules):
    weights = default_weights(rules)
    assert set(weights.evaluation) == set(TERMS)
    WeightsFile({rules: weights})
    if rules == "1.5":
        assert set(weights.deck_score) == set(CARD_TERMS)
        assert set(weights.network) == set(SHAPES)
        assert len(weights.deck_value) > 1
        assert all(set(arrays) == set(DECK_SHAPES) for arrays in weights.deck_value)
        assert weights.draft is None
    else:
        assert sorted(weights.draft) == list(range(1, 161))
        numbers = [weights.draft[base_id] for base_id in static_order(rules)]
        assert numbers == sorted(numbers, reverse=True)
        assert abs(np.mean(numbers)) < 0.01
        assert 1 < np.std(numbers) < 4
        assert weights.deck_score is weights.deck_value is None
        # Exported bots are limited in size, so weights have to be few.
        parts = weights.network or {}, *(weights.draft_value or ())
        sizes = [array.size for arrays in parts for array in arrays.values()]
        assert len(weights.draft) + sum(sizes) <= 21_000


@pytest.mark.parametrize(
    ("rules", "what"),
    [(rules, w) for rules in ("1.2", "1.0") for w in ("draft", "eval,draft,network")],
)
def test_the_record_tells_how_the_weights_of_the_package_came_about(rules, what):
    record = WeightsFile.load(data_file("weights.npz")).record
    entry = [e for e in record if e.get("rules") == rules and e["what"] == what.split(",")][-1]
    assert all(f"--rules {rules}" in c and f"--what {what} " in c for c in entry["commands"])
    assert entry["version"]
    assert entry["games_in_all"] > entry["iterations"] * entry["games"]
    assert len(entry["accepted"]) == entry["iterations"]
    assert all(match["interval"][0] > 0.5 for match in entry["accepted"])


@pytest.mark.parametrize("shapes", [SHAPES, LARGE_SHAPES], ids=["small", "large"])
def test_what_is_saved_is_read(shapes, tmp_path):
    """Arrays are read bit for bit; rule sets that the file lacks have the package's weights."""
    rng = np.random.default_rng(1)
    network = {name: rng.random(shape, np.float32) for name, shape in shapes.items()}
    value = [{name: rng.random(shape, np.float32) for name, shape in DECK_SHAPES.items()}]
    weights = Weights(
        {**OURS.evaluation, "own.health": 1 / 3}, network, {**OURS.deck_score, "draw": 0.1}, value
    )
    draft = replace(default_weights("1.0"), draft={i: 0.1 * i for i in range(1, 161)})
    record = [{"command": "x", "games": 3}]
    path = tmp_path / "weights.npz"
    WeightsFile({"1.5": weights, "1.0": draft}, record).save(path)
    read = WeightsFile.load(path)
    assert read["1.5"] == weights != OURS
    assert read["1.0"] == draft
    assert read["1.2"] == default_weights("1.2")
    assert set(read.weights) == {"1.5", "1.0"}
    assert read.record == record
    assert list(read) == list(RULE_SETS)
    assert all(array.dtype == np.float32 for array in read["1.5"].network.values())
    first = path.read_bytes()
    read.save(path)
    assert path.read_bytes() == first
    with np.load(path, allow_pickle=False) as file:
        assert json.loads(str(file["meta"]))["record"] == record


def test_parts_that_are_missing(tmp_path):
    """Linear weights are used without the networks that were trained with other weights."""
    path = written(tmp_path / "a.npz", r1_5=Weights(OURS.evaluation, None, OURS.deck_score))
    assert WeightsFile.load(path)["1.5"].network is None
    assert WeightsFile.load(path)["1.5"].deck_value is None
    path = tmp_path / "b.json"
    path.write_text('{"1.5": {"own.health": 0.75}}')
    read = WeightsFile.load(path)["1.5"]
    assert read.evaluation == {**OURS.evaluation, "own.health": 0.75}
    assert read.network is None
    assert read.deck_value == OURS.deck_value
    path.write_text('{"deck": {"draw": 2.5}}')
    read = WeightsFile.load(path)["1.5"]
    assert read.deck_score == {**OURS.deck_score, "draw": 2.5}
    assert read.deck_value is None
    assert read.network is not None
    path.write_text('{"1.2": {"own.health": 0.75}}')
    read = WeightsFile.load(path)
    assert read["1.2"].draft == default_weights("1.2").draft
    assert read["1.5"] == OURS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not a weights file: not JSON"),
        ("[" * 100_000, "not a weights file: not JSON: .*recursion"),
        ("[]", "linear weights: expected an object"),
        ('{"1.4": {}}', "unknown rule set '1.4'"),
        ('{"network": {}}', "unknown rule set 'network'"),
        ('{"1.0": []}', r"1\.0: expected an object"),
        ('{"1.0": {"own.ward": []}}', r"1\.0: evaluation: own\.ward: expected a number"),
        ('{"1.0": {"own.ward": NaN}}', r"1\.0: evaluation: own\.ward: expected a finite number"),
        ('{"1.5": {"luck": 1}}', r"1\.5: evaluation: unknown term 'luck'"),
        ('{"deck": {"luck": 1}}', r"1\.5: deck_score: unknown term 'luck'"),
        ("PK\x03\x04", "not a weights file: "),
    ],
)
def test_files_that_are_wrong(tmp_path, content, message):
    path = tmp_path / "bad.npz"
    path.write_text(content, encoding="utf-8")
    for use in (WeightsFile.load, lambda path: make_agent("beam", weights=str(path))):
        raises(ValueError, rf"bad\.npz: {message}", use, path)


def changed(meta: object = None, **arrays: object) -> bytes:
    """Return the package's weights of 1.5 with other arrays, or without those that are None."""
    content = {
        **{f"1.5/network/{name}": array for name, array in OURS.network.items()},
        "meta": np.array(json.dumps(meta or {"format": 1, "1.5": {}})),
    }
    content |= {name.replace("__", "/").replace("_5", ".5"): a for name, a in arrays.items()}
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in content.items() if array is not None})
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(meta={"format": 2}), "meta: not a weights file of format 1"),
        (changed(meta={"format": 1, "1.5": {"luck": {}}}), r"1\.5: unknown part 'luck'"),
        (changed(meta={"format": 1, "1.5": {}, "record": 3}), "meta: record: expected a list"),
        (changed(meta={"format": 1, "1.2": {"draft": {"x": 1}}}), r"1\.2: draft: expected base"),
        (changed(meta={"format": 1, "1.5": {"evaluation": 1}}), r"1\.5: evaluation: expected an"),
        (changed(**{"1_5__network__luck": np.zeros(3)}), r"1\.5: network: unknown array 'luck'"),
        (changed(**{"1_5__network__output": np.zeros(3)}),
         r"1\.5: network: output: expected shape \(16,\), got \(3,\)"),
        (changed(**{"1_5__network__output": np.full(16, np.inf)}),
         r"1\.5: network: output: not all numbers are finite"),
        (changed(**{"1_5__network__output": np.array(["a"] * 16)}),
         r"1\.5/network/output: expected an array of numbers"),
        (changed(**{"1_5__network__output": None}), r"1\.5: network: output is missing"),
        (changed(**{"1_5__deck_value__card": np.zeros((2, 3))}),
         r"1\.5: deck_value: card: expected shape"),
        (changed(**{"1_5__deck_value__card": np.zeros(())}), r"1\.5/deck_value: expected arrays"),
        (changed(**{"1_5__luck__card": np.zeros(2)}), r"unknown array '1\.5/luck/card'"),
        (changed(**{"1_2__network__card": np.zeros(2)}), "unknown array '1_2/network/card'"),
    ],
)  # fmt: skip
def test_arrays_that_are_wrong(tmp_path, content, message):
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    raises(ValueError, rf"bad\.npz: {message}", WeightsFile.load, path)


def test_archives_that_are_no_weights(tmp_path):
    path = tmp_path / "bad.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "y")
    raises(ValueError, r"bad\.npz: not a weights file: meta is missing", WeightsFile.load, path)
    np.savez(path, meta=np.zeros(3))
    raises(ValueError, r"bad\.npz: meta: expected one string", WeightsFile.load, path)
    np.savez(path, meta=np.array("x" * 50), a=np.array({}, object))
    raises(ValueError, r"bad\.npz: not a weights file: not JSON", WeightsFile.load, path)
    # For a header that ends within a line, numpy's error is not a ValueError.
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (16,\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("meta.npy", npy(np.array('{"format": 1, "1.5": {}}')))
        size = len(header).to_bytes(2, "little")
        archive.writestr("1.5/network/output.npy", b"\x93NUMPY\x01\x00" + size + header)
    raises(ValueError, r"bad\.npz: ", WeightsFile.load, path)
    path.write_bytes(changed()[:3000])
    raises(ValueError, r"bad\.npz: not a weights file", WeightsFile.load, path)
    with pytest.raises(FileNotFoundError):
        WeightsFile.load(tmp_path / "nowhere.npz")


def test_weights_that_make_no_sense():
    raises(ValueError, r"unknown rules '2'", WeightsFile, {"2": OURS})
    raises(ValueError, r"1\.2: deck_score: expected no weights", WeightsFile, {"1.2": OURS})
    with pytest.raises(ValueError, match=r"1\.5: evaluation: own\.health is missing"):
        WeightsFile({"1.5": replace(OURS, evaluation={})})
    with pytest.raises(ValueError, match=r"1\.5: deck_score: expected some weights"):
        WeightsFile({"1.5": replace(OURS, deck_score=None)})


# ---- what plays them -----------------------------------------------------------------------------


def test_an_evaluation_of_weights():
    state = start_position(3)
    evaluation = Evaluation.of(OURS)
    assert evaluation(state, 0) == Evaluation()(state, 0)
    assert evaluation.network(state, 0) == Evaluation().network(state, 0)
    assert Evaluation.of(replace(OURS, network=None)).network is None
    search = BeamSearch(evaluation=WeightsFile())
    ours = BeamSearch().search(state, nodes=500, seed=1)
    assert replace(search.search(state, nodes=500, seed=1), elapsed=0) == replace(ours, elapsed=0)


def test_an_agent_plays_the_deck_of_its_weights(tmp_path):
    """The agent builds the deck of its weights and expects the opponent to build it too."""
    path = written(tmp_path / "tuned.npz", r1_5=backwards(OURS))
    match = Match(seed=5)
    ours, theirs = make_agent("beam"), make_agent(f"beam:weights={path}")
    first = ours.choose(match.observation(0))
    tuned = theirs.choose(match.observation(1))
    worst = sorted(generate_cards(match.params["cardGenSeed"]), key=card_score("1.5"))[:40]
    chosen = {int(command.split()[1]) for command in tuned.split(";")}
    assert not chosen & {int(command.split()[1]) for command in first.split(";")}
    assert len(chosen & {card.base_id for card in worst}) > len(chosen) / 2
    # The option "deck" replaces that deck, unless it is "default".
    named = make_agent(f"beam:weights={path},deck=score").choose(match.observation(1))
    offer = match.observation(1).offer
    assert [int(c.split()[1]) for c in named.split(";")] == build_deck(offer, "score")
    for player, line in enumerate((first, tuned)):
        match.submit(player, line)
    observation = match.observation(0)
    guesses = []
    for agent in (ours, make_agent(f"beam:weights={path}")):
        agent.belief.see(Match(seed=5).observation(0))
        agent.belief.see(observation)
        hidden = [
            item.card.base_id
            for seed in range(20)
            for item in agent.belief.sample(seed).players[1].deck
        ]
        guesses.append(np.isin(hidden, list(chosen)).mean())
    assert guesses[1] > guesses[0] + 0.3


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_an_agent_drafts_by_its_weights(rules, tmp_path):
    weights = backwards(default_weights(rules))
    path = tmp_path / "tuned.npz"
    WeightsFile({rules: weights}).save(path)
    agents = make_agent("beam"), make_agent(f"beam:weights={path}")
    match = Match(rules, seed=5)
    while match.phase == "choice":
        for player, agent in enumerate(agents):
            match.submit(player, agent.choose(match.observation(player)))
    worth = [np.mean([weights.draft[i] for i in chosen]) for chosen in match.chosen]
    assert worth[1] > worth[0] + 1


def test_an_agent_evaluates_by_its_weights(tmp_path):
    path = tmp_path / "tuned.npz"
    evaluation = {**default_weights("1.2").evaluation, "own.health": 0.75}
    WeightsFile({"1.2": replace(default_weights("1.2"), evaluation=evaluation)}).save(path)
    agent = make_agent(f"beam:weights={path},time_ms=0,nodes=100")
    assert agent.search.evaluation["1.2"].evaluation["own.health"] == 0.75
    network = Network(OURS.network)
    assert Evaluation.of(WeightsFile.load(path)["1.5"]).network(start_position(1), 0) == network(
        start_position(1), 0
    )


def test_a_file_of_a_machine_with_the_other_byte_order(tmp_path):
    with np.load(data_file("weights.npz")) as content:
        arrays = {name: content[name] for name in content}
    swapped = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in arrays.items()}
    path = tmp_path / "weights.npz"
    np.savez(path, **swapped)
    found, expected = WeightsFile.load(path), WeightsFile.load(data_file("weights.npz"))
    for rules in RULE_SETS:
        assert found[rules].evaluation == expected[rules].evaluation
        for name, array in found[rules].network.items():
            assert array.dtype == np.float32
            np.testing.assert_array_equal(array, expected[rules].network[name])

"""Examples to learn from: those of agents, and those of an arena's games."""

import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
from helpers import each_rules, main, output_of, raises

from locmsim import Match, cards_1x, generate_cards
from locmsim.agents import make_agent
from locmsim.agents import random as random_agent
from locmsim.arena import Arena
from locmsim.contract import play_match
from locmsim.decks.builders import RESTARTS
from locmsim.decks.value import DeckValue
from locmsim.policy import get_layout
from locmsim.support.identity import library
from locmsim.tuning import dataset
from locmsim.tuning.dataset import Examples, add_log, examples_of_agent


def last(found):
    return list(found)[-1]  # each item is the same growing object


@each_rules
def test_examples_of_an_opponent_of_the_kernel(rules):
    examples = last(examples_of_agent("osl", 4, rules=rules, card_sets=4))
    data = examples.arrays()
    n = len(examples)
    assert {name: array.shape[0] for name, array in data.items()} == dict.fromkeys(data, n)
    assert set(data["game"]) == {0, 1, 2, 3}
    assert (data["mask"][np.arange(n), data["action"]] == 1).all()
    seats = get_layout("entities", rules).split(data["obs"])["game"][:, 1]
    for game in range(4):
        rows = data["game"] == game
        results = {int(s): set(data["result"][rows & (seats == s)]) for s in (0, 1)}
        assert results in ({0: {1}, 1: {-1}}, {0: {-1}, 1: {1}})
    # osl passes only where nothing else is legal.
    assert ((data["action"] == 0) == (data["mask"].sum(axis=1) == 1)).all()
    again = last(examples_of_agent("osl", 4, rules=rules, card_sets=4))
    assert all((again.arrays()[name] == array).all() for name, array in data.items())


@each_rules
def test_examples_name_their_cards(rules):
    """`cards` has base id and instance id of each place that the observation shows."""
    match = Match(rules, seed=6)
    play_match(match, [make_agent("greedy"), make_agent("random")])
    examples = Examples(rules)
    assert add_log(examples, match.log)
    data = examples.arrays()
    views, cards = get_layout("entities", rules).split(data["obs"]), data["cards"]
    assert cards.shape == (len(examples), 20, 2)
    (seed,) = set(data["card_seed"].tolist())
    assert seed == match.params.get("cardGenSeed", 0)
    made = generate_cards(seed) if rules == "1.5" else cards_1x()
    listed = {card.base_id: card for card in made}
    assert listed == {card.base_id: card for card in match.cards}
    dealt = {instance: base for deck in match.decks for instance, base in deck}
    cost = {"hand": 5, "own_board": 14, "enemy_board": 14}
    for name, part in (
        ("hand", slice(0, 8)), ("own_board", slice(8, 14)), ("enemy_board", slice(14, 20)),
    ):  # fmt: skip
        block, ids = views[name], cards[:, part]
        there = block[..., 0] == 1
        assert (ids[~there] == -1).all()
        assert there.any()
        for row, (base, instance) in zip(block[there], ids[there].tolist(), strict=True):
            assert row[cost[name]] == listed[base].cost
            original = instance if instance in dealt else instance - 1  # a copy by an area
            assert dealt[original] == base


@pytest.mark.parametrize(
    "agent",
    ["greedy:deck=classic", "beam:draft=default,nodes=9,time_ms=0", "osl:deck=mine.py:build"],
)
def test_the_agent_chooses_no_cards(agent, tmp_path):
    """Its own way to choose them would have no effect."""
    name = re.search("deck|draft", agent)[0]
    message = f"{name}: does not apply with {{}}decks, which chooses the cards: {agent}"
    raises(ValueError, message.format(""), next, examples_of_agent(agent, 1))
    err = output_of("dataset", agent, "-o", str(tmp_path / "a.npz"), code=1).err
    assert message.format("--") in err


def test_logs_are_followed():
    match = Match(seed=4)
    play_match(match, [make_agent("rule"), make_agent("random")])
    examples = Examples()
    assert add_log(examples, match.log, (1,))
    data = examples.arrays()
    assert set(data["result"]) == {1 if match.winner == 1 else -1}
    assert set(data["turn"] % 2) == {1}
    assert not add_log(Examples("1.2"), match.log)
    unfinished = Match(seed=5)
    assert not add_log(examples, unfinished.log)
    raises(ValueError, "there are no examples", Examples().arrays)
    raises(ValueError, "jobs: expected 1 to", next, examples_of_agent("random", 1, jobs=0))


def test_help_and_the_page_explain_every_array(tmp_path):
    """The module's help and docs/training.md name all that a file has, and nothing else."""
    path = tmp_path / "a.npz"
    last(examples_of_agent("random", 1, card_sets=2)).save(path, "random")
    with np.load(path) as file:
        names = set(file.files)
    explained = re.findall(r"^``.*?``(?=  )", inspect.getdoc(dataset), re.M)
    assert set(re.findall(r"``(\w+)``", " ".join(explained))) == names
    page = Path(__file__).parents[3] / "docs" / "training.md"
    table = page.read_text().partition("| array | shape |")[2].partition("\n\n")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines()[2:]]
    assert set(re.findall(r"`(\w+)`", " ".join(cells))) == names


def test_the_command(tmp_path):
    path = tmp_path / "a.npz"
    out = output_of("dataset", "osl", "--games", "3", "--rules", "1.2", "-o", str(path)).out
    assert "examples of 3 games" in out
    with np.load(path, allow_pickle=False) as file:
        assert (str(file["layout"]), str(file["rules"]), str(file["source"])) == (
            "entities", "1.2", "osl",
        )  # fmt: skip
        made = json.loads(str(file["made"]))
        assert (made["games"], made["decks"], made["seed"]) == (3, "random", 0)
        assert made["library"] == library("locmsim")
        assert int(file["layout_version"]) == get_layout("entities").version
        assert file["obs"].shape == (len(file["action"]), 440)


def test_the_command_with_results_of_an_arena(tmp_path):
    db, path, new = (tmp_path / name for name in ("a.db", "a.npz", "b.npz"))
    with Arena(db, ["greedy", "random"], seed=1, games=4, timeout_scale=25.0) as arena:
        arena.run(jobs=1)
    assert "examples of 4 games" in output_of("dataset", str(db), "-o", str(path)).out
    with np.load(path) as file:
        both = len(file["action"])
    assert main(["dataset", str(db), "--player", "greedy", "-o", str(path), "--force"]) == 0
    with np.load(path) as file:
        assert 0 < len(file["action"]) < both
        assert file["result"].mean() > 0
    err = output_of("dataset", str(db), "--player", "nobody", "-o", str(new), code=1).err
    assert "expected one of greedy, random" in err
    err = output_of("dataset", str(db), "--rules", "1.0", "-o", str(new), code=1).err
    assert "no examples of rules 1.0" in err
    assert "unknown agent 'nobody'" in output_of("dataset", "nobody", "-o", str(new), code=1).err
    err = output_of("dataset", "osl", "-o", str(tmp_path / "a.csv"), code=2).err
    assert "a.csv: the file is of NumPy; name it .npz" in err
    assert [*tmp_path.glob("*.csv")] == []


def test_no_two_turns_of_a_data_set_are_drawn_alike(spied):
    """The random numbers of game g + 1 are not those of game g shifted by one turn."""
    seeds = spied(random_agent, "turn_line", lambda name, observation, seed: seed)
    for _ in examples_of_agent("random", games=6, seed=1):
        pass
    assert len(seeds) > 80
    assert len(set(seeds)) == len(seeds)


@pytest.mark.slow
@each_rules
def test_games_follow_from_their_seeds(rules):
    """Games do not depend on the order or the number of processes in which they are played."""
    data = last(examples_of_agent("random", 40, rules=rules, card_sets=8, seed=5)).arrays()
    assert (np.diff(data["game"]) >= 0).all()
    assert set(data["game"]) == set(range(40))
    shared = last(examples_of_agent("random", 40, rules=rules, card_sets=8, seed=5, jobs=2))
    assert all((shared.arrays()[name] == array).all() for name, array in data.items())
    fewer = last(examples_of_agent("random", 24, rules=rules, card_sets=8, seed=5)).arrays()
    rows = data["game"] < 24
    for name in ("obs", "mask", "action", "result", "turn"):
        assert (fewer[name] == data[name][rows]).all()


@pytest.mark.slow
@each_rules
def test_neighbouring_seeds_have_no_game_in_common(rules):
    firsts = [set(), set()]
    for seed, found in enumerate(firsts, 1):
        data = last(examples_of_agent("random", 20, rules=rules, seed=seed)).arrays()
        starts = np.unique(data["game"], return_index=True)[1]
        found |= {data["obs"][i].tobytes() for i in starts}
        assert len(found) == 20
    assert not firsts[0] & firsts[1]


@pytest.mark.slow
def test_the_best_deck_of_a_card_set_is_looked_for_once(monkeypatch):
    """Opponents are expected to have that deck, which takes longer to find than a game to play."""
    looked = []

    def improved(self, deck, cards):
        looked.append(tuple(cards))
        return [*deck]

    monkeypatch.setattr(DeckValue, "improved", improved)
    list(examples_of_agent("beam:nodes=1,time_ms=0", 100, card_sets=(5000, 5070)))
    assert len(set(looked)) <= 70
    assert len(looked) <= (1 + RESTARTS) * 70


def test_each_call_plays_with_what_files_hold_now(tmp_path):
    """In one process, too: train, play with the new weights, train."""
    weights = tmp_path / "w.json"
    agent = f"beam:weights={weights},nodes=20,time_ms=0"
    found = []
    for value in (0.0, 5.0, 0.0):
        weights.write_text(f'{{"1.5": {{"own.attack": {value}, "own.health": {1 - value}}}}}')
        found.append(last(examples_of_agent(agent, 1, card_sets=1)).arrays()["obs"])
    assert found[0].shape != found[1].shape or (found[0] != found[1]).any()
    assert (found[0] == found[2]).all()


def test_games_on_a_cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        there = last(examples_of_agent("random", 12, card_sets=4, dask=cluster.scheduler_address))
    here = last(examples_of_agent("random", 12, card_sets=4))
    assert all((there.arrays()[name] == array).all() for name, array in here.arrays().items())

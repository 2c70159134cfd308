"""Tuning: what is played and fitted, stopping and resuming, files, and that it improves weights."""

import errno
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import main, raises

from locmsim import Match
from locmsim.decks import CARD_TERMS, build_deck, pick
from locmsim.decks.value import term_rows
from locmsim.networks import BLOCKS, LARGE_SHAPES, SHAPES, WeightsFile, default_weights, inputs
from locmsim.rules.cards import Card
from locmsim.rules.generator import generate_cards
from locmsim.search import Evaluation
from locmsim.tuning import (
    PROOF_SEEDS,
    RECORDED_SEEDS,
    TUNING_SEEDS,
    Tuner,
    TuningSettings,
    play_weights,
    self_play,
    settings,
)
from locmsim.tuning.parts import fit_part
from locmsim.tuning.proposals import propose_deck
from locmsim.tuning.tuner import play_chunks

SMALL = TuningSettings("1.2", games=12, match_games=4, nodes=20, pools=3)
#: Weights without the network, which would replace the evaluation.
OURS = replace(default_weights("1.2"), network=None)
BAD_ATTACK = replace(
    OURS,
    evaluation={
        **OURS.evaluation, "own.attack": -1.0, "their.attack": -1.0, "own.health": -0.5
    },
)  # fmt: skip


def lines(tuner: Tuner, iterations: int, **options: object) -> list[str]:
    """Return what a tuning says, without how long it took."""
    found = tuner.run(iterations, **options)  # type: ignore[arg-type]
    return [re.sub(r" \(\d+/min\)|; \d+ s$", "", line) for line in found]


# ----------------------------------------------------------------------------------- games


def test_terms_of_positions_add_up_to_the_evaluation(spied: Callable[..., list[Any]]) -> None:
    """Half of the ends of turns are kept, in their order, with the terms and the inputs of each."""
    evaluation = Evaluation(rules="1.2", network=None)
    states = spied(self_play, "play_game", lambda *arguments: arguments[-1])
    settings = TuningSettings("1.2", parts=("network",), nodes=20)
    found = self_play.SelfPlay(settings, 1, 0, 6, range(1, 10), [OURS])()
    ends = [(state, turn % 2) for game in states for turn, state in enumerate(game)]
    assert 100 < len(ends) < 3 * len(found.positions) < 2 * len(ends)
    weights = [evaluation[name] for name in self_play.EVALUATION_TERMS]
    left = iter(ends)
    for terms, row in zip(found.positions, found.position_inputs.tolist(), strict=True):
        state, player = next(end for end in left if inputs(*end).tolist() == row)
        assert np.dot(terms, weights) == pytest.approx(evaluation(state, player), rel=1e-4)


def test_players_who_differ_in_their_drafts_alone_play_as_well_as_they_can(
    spied: Callable[..., list[dict[str, float]]],
) -> None:
    """Weights are perturbed, and positions kept, only if an evaluation is tuned."""
    made = spied(self_play, "CompiledEvaluation", lambda weights: weights)
    ours = OURS.evaluation
    for what, players in ((("draft",), 0), (("draft", "network"), 8)):
        made.clear()
        settings = TuningSettings("1.2", parts=what, nodes=20)
        played = self_play.SelfPlay(settings, 1, 0, 4, range(1, 10), [OURS])()
        assert len(played.deck_won) == 4
        # Those of single terms have another scale.
        perturbed = [w for w in made if w["scale"] == ours["scale"] and w != ours]
        assert len({*map(str, perturbed)}) == players
        assert bool(len(played.positions)) == bool(players)
        played.check()


def test_a_match_is_seen_from_both_sides() -> None:
    equal, forth, back = (
        play_weights(*players, range(1, 7), rules="1.2", nodes=50)
        for players in ((OURS, OURS), (OURS, BAD_ATTACK), (BAD_ATTACK, OURS))
    )
    assert (equal.lost, equal.split, equal.won) == (0, 6, 0)
    assert (forth.lost, forth.split, forth.won) == (back.won, back.split, back.lost)
    assert forth.score > 0.6


def test_players_choose_as_agents_do(spied: Callable[..., list[Any]]) -> None:
    def chosen(_: object, __: object, decks: list[list[Card]], *more: object) -> list[list[int]]:
        return [sorted(card.base_id for card in deck) for deck in decks]

    decks = spied(self_play, "_play", chosen)
    weights = default_weights("1.5")
    play_weights(weights, weights, [3], nodes=10)
    assert decks == [[sorted(build_deck(generate_cards(3)))] * 2] * 2
    decks.clear()
    play_weights(OURS, OURS, [3], rules="1.2", nodes=10)
    offers, picked = Match("1.2", seed=3).offers, list[Card]()
    for turn, triplet in enumerate(offers):
        picked.append(triplet[pick(triplet, picked, "1.2", earlier=offers[:turn])])
    assert decks == [[sorted(card.base_id for card in picked)] * 2] * 2


def test_decks_to_learn_from_are_legal() -> None:
    rng = random.Random(3)
    different = set()
    for seed in range(5):
        cards = generate_cards(seed)
        for given in ((), default_weights("1.5").deck_value):
            deck = propose_deck(cards, given, rng)
            ids = sorted(card.base_id for card in deck)
            assert len(ids) == 30
            assert max(map(ids.count, ids)) <= 2
            different.add(tuple(ids))
    assert len(different) == 10


def test_rows_of_decks_are_their_terms() -> None:
    rng = random.Random(1)
    pools = np.array([5, 6, 5])
    decks = [[rng.sample(generate_cards(pool), 30) for _ in range(2)] for pool in pools]
    ids = np.array([[[card.base_id for card in deck] for deck in pair] for pair in decks])
    rows = self_play.deck_rows(pools, ids)
    assert rows.shape == (3, 2, 30, len(CARD_TERMS))
    for got, pair in zip(rows, decks, strict=True):
        for terms, deck in zip(got, pair, strict=True):
            assert np.array_equal(terms, term_rows(deck))


def test_what_is_learnt_from() -> None:
    pytest.importorskip("torch")
    settings = TuningSettings(parts=("eval", "deck"), games=4, match_games=2, nodes=20, pools=1)
    found = self_play.SelfPlay(settings, 1, 0, 4, [7], [default_weights("1.5")])()
    found.check()
    assert set(found.pools.tolist()) == {7}
    assert len(found.position_won) > 5 * len(found.deck_won) > 0
    assert len(found.position_inputs) == 0
    start = default_weights("1.5")
    new, loss = fit_part("deck", start, found)
    assert 0 < loss < 2
    assert new.deck_score != start.deck_score
    for arrays, old in zip(new.deck_value, start.deck_value, strict=True):
        assert 0 < np.abs(arrays["output"] - old["output"]).max() < 0.002  # short steps
    assert start == replace(new, deck_score=start.deck_score, deck_value=start.deck_value)


def test_a_network_continues_unless_one_from_scratch_is_better() -> None:
    """A few games cannot replace those of the package's network, but one that is wrong they can."""
    pytest.importorskip("torch")
    settings = TuningSettings("1.2", parts=("network",), games=30, nodes=100, pools=20)
    weights = default_weights("1.2")
    found = self_play.SelfPlay(settings, 1, 0, 30, range(1, 20), [weights])()
    new, loss = fit_part("network", weights, found)
    assert 0 < loss < 0.69
    assert 0 < np.abs(new.network["output"] - weights.network["output"]).max() < 0.01
    wrong = {name: -20 * array if name in ("output", "direct") else array
             for name, array in weights.network.items()}  # fmt: skip
    again, _ = fit_part("network", replace(weights, network=wrong), found)
    assert np.abs(again.network["output"] - wrong["output"]).max() > 0.1
    large, _ = fit_part("network", weights, found, network_size="large")
    assert {name: array.shape for name, array in large.network.items()} == LARGE_SHAPES
    same, _ = fit_part("network", large, found)
    assert {name: array.shape for name, array in same.network.items()} == LARGE_SHAPES
    small, _ = fit_part("network", large, found, network_size="small")
    assert {name: array.shape for name, array in small.network.items()} == SHAPES


def test_games_of_a_draft_share_their_offers() -> None:
    """Ten games in a row have the same cards; players still draft different decks."""
    settings = TuningSettings("1.2", games=20, nodes=20, pools=1000)
    found = self_play.SelfPlay(settings, 1, 0, 20, range(1, 1000), [default_weights("1.2")])()
    assert len(set(found.pools.tolist())) <= 3
    decks = {tuple(sorted(deck)) for pair in found.decks.tolist() for deck in pair}
    assert 6 < len(decks) <= 12


def test_a_draw_is_half_a_win_in_either_seat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    winners = iter([-1, -1, 0, -1, -1, 0])
    monkeypatch.setattr(self_play, "play_game", lambda *_: (next(winners),))
    weights = default_weights("1.2")
    counts = self_play.play_weights(weights, weights, [1, 2, 3], rules="1.2", nodes=10)
    assert (counts.split, counts.mostly_won, counts.mostly_lost) == (1, 1, 1)


@pytest.mark.slow
def test_seeds_of_tuning_are_not_those_of_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not set(TUNING_SEEDS) & set(PROOF_SEEDS)
    used: set[int] = set()

    def noted(tasks: Sequence[self_play.SelfPlay | self_play.PlayPairs]) -> Any:
        chunks = play_chunks(tasks)
        for task, (played, _) in zip(tasks, chunks, strict=True):
            pairs = isinstance(task, self_play.PlayPairs)
            used.update(task.seeds if pairs else played.pools.tolist())
        return chunks

    monkeypatch.setattr("locmsim.tuning.tuner.play_chunks", noted)
    lines(Tuner(SMALL), 1)
    assert len(used) > SMALL.pools + SMALL.match_games // 2 - 3
    assert used <= set(TUNING_SEEDS)


def test_nothing_is_learnt_from_recorded_card_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(TUNING_SEEDS) >= RECORDED_SEEDS
    monkeypatch.setattr(settings, "TUNING_SEEDS", range(4000, 9000))
    found = TuningSettings(pools=5000).card_sets()
    assert set(found) == set(range(4000, 9000)) - RECORDED_SEEDS
    assert len(found) == 5000


# ------------------------------------------------------------------------------------ runs


@pytest.mark.parametrize(
    "settings",
    [
        SMALL,
        TuningSettings("1.0", parts=("draft",), games=10, match_games=4, nodes=20, pools=3),
        TuningSettings("1.2", parts=("network",), games=10, match_games=4, nodes=20, pools=3),
        pytest.param(
            TuningSettings(
                parts=("eval", "deck", "network"), games=20, match_games=4, nodes=20, pools=1
            ),
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda settings: f"{settings.rules}-{','.join(settings.parts)}",
)
def test_an_iteration(settings: TuningSettings, tmp_path: Path) -> None:
    """An iteration reports its progress, leaves other weights alone, and can be repeated."""
    if settings.parts != ("eval",):
        pytest.importorskip("torch")
    tuner = Tuner(settings)
    seen = []
    (line,) = lines(tuner, 1, on_games=lambda *progress: seen.append(progress))
    assert line.startswith("1: ")
    assert "accepted" in line
    assert all(0 <= done <= count for _, done, count in seen)
    assert {what for what, done, count in seen if done == count} == {what for what, *_ in seen}
    assert tuner.iteration == 1
    assert ("; test of" in line and ": accepted" in line) == bool(tuner.accepted)
    if "deck" not in settings.parts:
        assert tuner.best.deck_score is tuner.start.deck_score
        assert tuner.best.deck_value is tuner.start.deck_value
    if "draft" not in settings.parts:
        assert tuner.best.draft == tuner.start.draft
    if "eval" not in settings.parts:
        assert tuner.best.evaluation == tuner.start.evaluation
    if "network" not in settings.parts:
        assert tuner.best.network is tuner.start.network
    if settings.rules != "1.5":  # building decks is slow in 1.5
        again = Tuner(settings)
        assert lines(again, 1) == [line]
        assert again.best == tuner.best
        assert again.record() == tuner.record()


@pytest.mark.parametrize(("what", "package"), [("eval", "torch"), ("network", "scipy.optimize")])
def test_a_package_that_is_not_needed(
    what: str, package: str, tmp_path: Path, missing: Callable[..., None]
) -> None:
    """Networks are tuned without scipy, and the fitted evaluation without PyTorch."""
    if what == "network":
        pytest.importorskip("torch")
    missing(package)
    words = ["--rules", "1.2", "--parts", what, "--games", "10", "--match-games", "4"]
    words += ["--nodes", "20", "--pools", "1", "--iterations", "1", "--jobs", "1"]
    words += ["--proof-games", "2"]
    words += ["--network-size", "large"] if what == "network" else []
    state, output = str(tmp_path / "state"), str(tmp_path / "tuned.npz")
    assert main(["tune", *words, "--state", state, "--output", output]) == 0
    size = "large" if what == "network" else "same"
    assert Tuner({}, folder=state).settings.network_size == size


@pytest.mark.slow
def test_a_network_is_trained_and_stored(tmp_path: Path) -> None:
    """Training starts from a network that values defeats as victories."""
    pytest.importorskip("torch")
    state = tmp_path / "state"
    backwards = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    health = len(backwards["direct"]) - BLOCKS["other"][0]
    backwards["direct"][health], backwards["direct"][health + 12] = -0.3, 0.3
    start = replace(OURS, network=backwards)
    settings = TuningSettings(
        "1.2", parts=("network",), games=200, match_games=60, nodes=100, pools=20
    )  # fmt: skip
    tuner = Tuner(settings, start=start, folder=state)
    (line,) = lines(tuner, 1)
    assert line.endswith(": accepted") or ": accepted;" in line
    assert tuner.best != start
    assert tuner.best == replace(start, network=tuner.best.network)
    assert Tuner(folder=state).best == tuner.best
    assert Tuner(folder=state).start == start
    tuner.write(tmp_path / "tuned.npz")
    assert WeightsFile.load(tmp_path / "tuned.npz")["1.2"] == tuner.best


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing() -> None:
    alone, together = Tuner(SMALL, start=BAD_ATTACK), Tuner(SMALL, start=BAD_ATTACK)
    assert lines(alone, 1) == lines(together, 1, jobs=2)
    assert alone.best == together.best


@pytest.mark.slow
def test_a_tuning_that_is_killed_at_any_step_ends_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    """As after SIGKILL: nothing but the files is left, and a last line may not be whole.

    No game is played twice.
    """
    settings = TuningSettings("1.2", games=40, match_games=24, nodes=20, pools=2)
    whole = Tuner(settings, start=BAD_ATTACK, folder=tmp_path / "whole")
    steps: list[Path] = []

    def copy(*progress: object) -> None:
        steps.append(tmp_path / f"step{len(steps)}")
        shutil.copytree(tmp_path / "whole", steps[-1])

    said = []
    for line in whole.run(2, on_games=copy):
        said.append(re.sub(r" \(\d+/min\)|; \d+ s$", "", line))
        copy()
    assert whole.accepted
    assert len(steps) >= 14
    for number, step in enumerate(steps):
        for log in step.glob("iteration-*.jsonl"):
            with log.open("a") as file:
                file.write('["self-play", 1, "UEs'[: number * 2])
        # Weights that were written before the state that says so.
        shutil.copy(next((tmp_path / "whole").glob("adopted-*.npz")), step)
        resumed = Tuner(folder=step)
        left = 2 - resumed.iteration
        assert resumed.settings == settings
        assert lines(resumed, 2) == said[2 - left :]
        assert resumed.best == whole.best
        assert resumed.record() == whole.record()
        assert lines(Tuner(folder=step), 2) == []
        for log in step.glob("iteration-*.jsonl"):
            assert log.read_text().startswith((tmp_path / "whole" / log.name).read_text())


@pytest.mark.slow
def test_fit_repairs_broken_weights() -> None:
    """A short tuning corrects weights that dislike attack, as games with unseen cards show."""
    tuner = Tuner(
        TuningSettings("1.2", games=200, match_games=60, nodes=100, pools=20), start=BAD_ATTACK
    )
    lines(tuner, 1)
    assert tuner.accepted
    counts = play_weights(tuner.best, BAD_ATTACK, PROOF_SEEDS[:30], rules="1.2", nodes=100)
    assert counts.score > 0.6


# ----------------------------------------------------------------------------------- files


def test_the_file_that_is_written(tmp_path: Path) -> None:
    before, after = tmp_path / "before.npz", tmp_path / "after.npz"
    other = replace(OURS, evaluation={**OURS.evaluation, "own.card": 3.5})
    WeightsFile({"1.2": other}, [{"command": "an older one"}]).save(before)
    tuner = Tuner({**asdict(SMALL), "rules": "1.0"}, start=before, command="x")
    lines(tuner, 1)
    tuner.write(after)
    file = WeightsFile.load(after)
    assert set(file.weights) == {"1.2", "1.0"}
    assert file["1.2"] == other
    assert file["1.0"] == tuner.best
    assert file.record == [{"command": "an older one"}, json.loads(json.dumps(tuner.record()))]
    record = file.record[1]
    assert record["commands"] == ["x"]
    assert re.fullmatch(r"\d+\.\d+.*", record["version"])
    assert record["tuning_seeds"] == [TUNING_SEEDS[0], TUNING_SEEDS[-1]]
    assert record["iterations"] == 1
    assert record["games_in_all"] >= SMALL.games + SMALL.match_games
    assert record["accepted"] == tuner.accepted
    # A new tuning can start from the weights of the previous one.
    again = Tuner({"rules": "1.0"}, start=after)
    assert again.start == tuner.best
    again.write(tmp_path / "again.npz")
    assert len(WeightsFile.load(tmp_path / "again.npz").record) == 3


def test_files_of_others_stay(tmp_path: Path) -> None:
    tuner = Tuner(SMALL)
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    raises(ValueError, r"notes\.txt: exists, and is not a weights file", tuner.write, notes)
    assert notes.read_text() == "mine"
    path = tmp_path / "tuned.npz"
    for file in (WeightsFile({"1.2": OURS}), WeightsFile({"1.2": OURS}, [{"games": 1}])):
        file.save(path)
        before = path.read_bytes()
        raises(ValueError, r"tuned\.npz: exists, and was not written by this", tuner.write, path)
        assert path.read_bytes() == before
    path.unlink()
    tuner.write(path)
    lines(tuner, 1)
    tuner.write(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="has 1 iterations where this tuning has 0; resume that"):
        Tuner(SMALL).write(path)
    raises(ValueError, "was not written by this tuning", Tuner(replace(SMALL, seed=2)).write, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rules": "2"}, "unknown rules '2'"),
        ({"rules": "1.2", "parts": ("deck",)}, r"parts: rules 1\.2 have a draft"),
        (
            {"parts": ("deck", "luck")},
            "parts: expected some of eval,deck,draft,network, got 'luck'",
        ),
        ({"parts": ("draft",)}, r"parts: rules 1\.5 have a deck to choose, not a draft"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    raises(ValueError, message, Tuner, settings)
    assert TuningSettings(parts=("deck", "eval")).parts == ("eval", "deck")  # in any order


def test_two_tunings_in_one_folder(tmp_path: Path) -> None:
    """A second tuning is refused, since each would overwrite the other's games."""
    pytest.importorskip("fcntl")
    first, second = Tuner(SMALL, folder=tmp_path), Tuner(SMALL, folder=tmp_path)
    running = first.run(2)
    next(running)
    saved = {path: path.read_bytes() for path in tmp_path.iterdir()}
    raises(ValueError, f"^{re.escape(str(tmp_path))}: another process uses it", lines, second, 1)
    assert saved == {path: path.read_bytes() for path in tmp_path.iterdir()}
    running.close()
    raises(ValueError, "another process has used it meanwhile", lines, second, 1)
    assert lines(Tuner(folder=tmp_path), 1) == []


def test_a_folder_that_cannot_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tuning works without a lock on network file systems that have none."""

    def unsupported(descriptor: int) -> bool:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr("locmsim.tuning.run.try_lock", unsupported)
    assert len(lines(Tuner(SMALL, folder=tmp_path), 1)) == 1


def test_bad_states_are_refused_by_name(tmp_path: Path) -> None:
    lines(Tuner(SMALL, folder=tmp_path), 1)
    with pytest.raises(ValueError, match=r"nodes: .* was begun with 20, not 200"):
        Tuner({"nodes": 200}, folder=tmp_path)
    raises(ValueError, "it started from other weights", Tuner, start=BAD_ATTACK, folder=tmp_path)
    file = tmp_path / "iteration-0001.jsonl"
    good = file.read_bytes()
    for bad in (b"x" * 100 + b"\n", b"[]\n", good[: len(good) // 2] + b"\n", good[:60] + good[70:]):
        file.write_bytes(bad)
        with pytest.raises(ValueError, match=r"iteration-0001\.jsonl: line \d+: not a result of a"):
            lines(Tuner(folder=tmp_path), 2)
    for bad in (b"", good[: len(good) // 4]):
        file.write_bytes(bad)
        with pytest.raises(ValueError, match=r"0001\.jsonl: games of iteration 1 are gone"):
            lines(Tuner(folder=tmp_path), 2)
    file.unlink()
    with pytest.raises(ValueError, match=r"0001\.jsonl: games of iteration 1 are gone"):
        lines(Tuner(folder=tmp_path), 2)
    state = tmp_path / "run.json"
    content = json.loads(state.read_text())
    for bad in (
        "",
        "{}",
        json.dumps({**content, "luck": 1}),
        json.dumps({**content, "settings": {**content["settings"], "games": "many"}}),
        json.dumps({**content, "accepted": [{}]}),
    ):
        state.write_text(bad)
        raises(ValueError, r"run\.json: ", Tuner, folder=tmp_path)
    state.write_text(json.dumps(content))
    (tmp_path / "start.npz").write_bytes(b"")
    raises(ValueError, r"run\.json: .*start\.npz: not a weights file", Tuner, folder=tmp_path)

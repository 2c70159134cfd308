"""Tuning: what is played and fitted, stopping and going on, files, and that it improves weights."""

import contextlib
import json
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from locmsim import State
from locmsim.cli.main import main
from locmsim.decks.building import (
    CARD_TERMS,
    GreedyBuilder,
    WeightedScore,
    build_deck,
    load_card_weights,
)
from locmsim.game.positions import start_position
from locmsim.networks.network import BLOCKS, SHAPES, Network
from locmsim.rules.generator import generate_cards
from locmsim.search import TERMS, Evaluation, load_weights
from locmsim.tuning import tune
from locmsim.tuning.tune import (
    PROOF_SEEDS,
    TUNING_SEEDS,
    Settings,
    Tuner,
    Weights,
    fit_logistic,
    play_match,
)

PAGE = Path(__file__).parents[2] / "docs" / "tuning.md"
SMALL = Settings(games=40, match_games=12, nodes=30, pools=3)
OURS = Weights.load()
BAD_ATTACK = Weights(
    {**OURS.evaluation, "own.attack": -1.0, "their.attack": -1.0, "own.health": -0.5}, OURS.deck
)


class Stop(Exception):
    pass


def lines(tuner: Tuner, iterations: int, **options: object) -> list[str]:
    """What a tuning says, without how long it took."""
    found = tuner.run(iterations, **options)  # type: ignore[arg-type]
    return [re.sub(r" \(\d+/min\)|; \d+ s$", "", line) for line in found]


def states(rules: str = "1.5") -> Iterator[State]:
    """Positions of random games."""
    chance = random.Random(5)
    cards = generate_cards(5)
    for _ in range(8):
        state = State.new(chance.sample(cards, 30), chance.sample(cards, 30))
        for _ in range(chance.randrange(5, 40)):
            if not state.is_terminal():
                state.apply_action(chance.choice(state.legal_actions()))
        if not state.is_terminal():
            yield state


# ------------------------------------------------------------------------------ regression


def synthetic(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms, results and the coefficients that they follow; the last term never varies."""
    chance = np.random.default_rng(3)
    true = np.array([0.8, -0.05, 0.0, 2.0, 7.0])
    x = chance.normal(size=(rows, 5)) * [1, 20, 1, 0.3, 0] + [0, 5, 0, 0, 1]
    odds = x[:, :4] @ true[:4] - 0.3
    return x.astype(np.float32), chance.random(rows) < 1 / (1 + np.exp(-odds)), true


def test_fit_finds_known_coefficients() -> None:
    x, won, true = synthetic(40_000)
    found, loss = fit_logistic(x, won, np.array([0, 0, 0, 0, 7.0]))
    assert found == pytest.approx(true, abs=0.06)
    assert found[1] == pytest.approx(-0.05, abs=0.003)
    assert found[4] == 7.0
    assert loss < np.log(2) - 0.05


def test_fit_stays_near_what_is_known() -> None:
    """With as many rows as the prior counts for it goes half the way."""
    x, won, true = synthetic(4000)
    x, true = x[:, :1], true[:1]
    free, _ = fit_logistic(x, won, np.zeros(1))
    half, _ = fit_logistic(x, won, np.zeros(1), 4000)
    bound, _ = fit_logistic(x, won, np.zeros(1), 4e6)
    assert half[0] == pytest.approx(free[0] / 2, rel=0.15)
    assert abs(bound[0]) < 0.01
    assert fit_logistic(x, won, free, 4e6)[0] == pytest.approx(free)


def test_nothing_to_fit() -> None:
    with pytest.raises(ValueError, match="nothing to fit"):
        fit_logistic(np.zeros((0, 3)), np.zeros(0), np.zeros(3))


def test_terms_of_positions_add_up_to_the_evaluation() -> None:
    evaluation = Evaluation()
    weights = OURS.vector("eval")
    for state in states():
        for player in (0, 1):
            terms = [unit(state, player) for unit in tune._units()]
            assert np.dot(terms, weights) == pytest.approx(evaluation(state, player), rel=1e-4)


# ----------------------------------------------------------------------------------- games


def test_equal_players_split_all_pairs() -> None:
    counts = play_match(OURS, OURS, range(1, 13), nodes=100)
    assert (counts.lost, counts.split, counts.won) == (0, 12, 0)


def test_a_match_is_seen_from_both_sides() -> None:
    forth = play_match(OURS, BAD_ATTACK, range(1, 13), nodes=100)
    back = play_match(BAD_ATTACK, OURS, range(1, 13), nodes=100)
    assert (forth.lost, forth.split, forth.won) == (back.won, back.split, back.lost)
    assert forth.score > 0.6


def test_players_build_the_decks_of_the_library() -> None:
    chance = random.Random(1)
    weights = {name: chance.gauss(0, 1) for name in CARD_TERMS}
    for seed in (1, 2, 3):
        deck, terms = tune._deck("1.5", tune._offer("1.5", seed), Weights(OURS.evaluation, weights))
        builder = GreedyBuilder(WeightedScore(weights))
        assert [card.base_id for card in deck] == build_deck(generate_cards(seed), builder)
        assert terms[list(CARD_TERMS).index("draw")] == sum(card.card_draw for card in deck)


def test_seeds_of_tuning_are_not_those_of_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not set(TUNING_SEEDS) & set(PROOF_SEEDS)
    used = set()

    def generate(seed: int) -> object:
        used.add(seed)
        return generate_cards(seed)

    tune._offer.cache_clear()
    monkeypatch.setattr(tune, "generate_cards", generate)
    lines(Tuner(SMALL), 1)
    assert len(used) > SMALL.pools + SMALL.match_games // 2 - 3
    assert used <= set(TUNING_SEEDS)


# ------------------------------------------------------------------------------------ runs


@pytest.mark.parametrize(
    "settings",
    [
        SMALL,
        Settings("1.2", games=40, match_games=10, nodes=30, pools=3),
        Settings("1.0", "cmaes", games=40, match_games=10, nodes=50),
        Settings(method="cmaes", what=("deck",), games=40, match_games=10, nodes=50),
        Settings("1.2", what=("network",), games=40, match_games=10, nodes=30, pools=3),
        Settings(what=("eval", "deck", "network"), games=40, match_games=10, nodes=30, pools=3),
    ],
    ids=lambda settings: f"{settings.rules}-{settings.method}-{','.join(settings.what)}",
)
def test_an_iteration(settings: Settings, tmp_path: Path) -> None:
    """It says what it did, leaves other weights alone, and does the same again."""
    tuner = Tuner(settings)
    games = []
    (line,) = lines(tuner, 1, on_games=lambda *progress: games.append(progress))
    assert line.startswith("1: ")
    assert "accepted" in line
    assert all(0 <= done <= count for _, done, count in games)
    assert {what for what, done, count in games if done == count} == {what for what, *_ in games}
    assert tuner.iteration == 1
    assert ("; test of" in line and ": accepted" in line) == bool(tuner.accepted)
    if "deck" not in settings.what:
        assert tuner.best.deck == tuner.start.deck
    if "eval" not in settings.what:
        assert tuner.best.evaluation == tuner.start.evaluation
    if "network" not in settings.what:
        assert tuner.best.network == tuner.start.network
    again = Tuner(settings)
    assert lines(again, 1) == [line]
    assert again.best == tuner.best
    assert again.record() == tuner.record()


def test_a_network_is_learnt_stored_and_used(tmp_path: Path) -> None:
    """From a network that takes defeats for victories; the file brings the new one to searches."""
    state = tmp_path / "state"
    backwards = {name: np.zeros(shape).tolist() for name, shape in SHAPES.items()}
    health = len(backwards["direct"]) - BLOCKS["other"][0]
    backwards["direct"][health], backwards["direct"][health + 12] = -0.3, 0.3
    start = Weights(OURS.evaluation, OURS.deck, backwards)
    settings = Settings(what=("network",), games=300, match_games=60, nodes=200, pools=20)
    tuner = Tuner(settings, start=start, folder=state)
    (line,) = lines(tuner, 1)
    assert line.endswith(": accepted") or ": accepted;" in line
    assert tuner.best.network != start.network
    assert tuner.best.evaluation == start.evaluation
    assert Tuner(folder=state).best == tuner.best
    tuner.write(tmp_path / "tuned.json")
    read = Weights.load(tmp_path / "tuned.json")
    assert read.network == tuner.best.network
    found = load_weights(tmp_path / "tuned.json")["1.5"].network
    assert found is not None
    position = start_position(1)
    assert found(position, 0) == Network(tuner.best.network)(position, 0)


def test_the_number_of_workers_changes_nothing() -> None:
    alone, together = Tuner(SMALL, start=BAD_ATTACK), Tuner(SMALL, start=BAD_ATTACK)
    assert lines(alone, 1) == lines(together, 1, workers=2)
    assert alone.best == together.best


@pytest.mark.parametrize(("method", "after"), [("fit", 2), ("fit", 4), ("cmaes", 7)])
def test_going_on_after_a_stop(
    method: str, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped somewhere in the second iteration: nothing is played twice, nothing is lost."""
    settings = Settings(method=method, games=40, match_games=10, nodes=20, pools=2)
    whole = Tuner(settings, start=BAD_ATTACK)
    expected = lines(whole, 2)

    tasks = []
    for kind in (tune._SelfPlay, tune._Pairs):
        play = kind.__call__

        def counted(task: object, play=play) -> object:
            tasks.append(task)
            return play(task)

        monkeypatch.setattr(kind, "__call__", counted)
    stopped = Tuner(settings, start=BAD_ATTACK, folder=tmp_path / "state")
    calls = 0

    def stop(what: str, done: int, count: int) -> None:
        nonlocal calls
        calls += stopped.iteration == 1
        if calls == after:
            raise Stop

    found = []
    with pytest.raises(Stop):
        found.extend(lines(stopped, 2, on_games=stop))
    gone_on = Tuner(folder=tmp_path / "state")
    assert gone_on.settings == settings
    assert gone_on.iteration == 1
    assert lines(gone_on, 2) == expected[1:]
    assert gone_on.best == whole.best
    assert gone_on.record() == whole.record()
    # One task may have been done but not counted.
    assert len(tasks) - len(set(map(repr, tasks))) <= 1
    assert lines(Tuner(folder=tmp_path / "state"), 2) == []


def test_fit_repairs_broken_weights() -> None:
    """Attack that counts as a fault: a short tuning finds out, on cards that it has not seen."""
    tuner = Tuner(
        Settings(what=("eval",), games=300, match_games=60, nodes=200, pools=20), start=BAD_ATTACK
    )
    lines(tuner, 1)
    assert tuner.accepted
    counts = play_match(tuner.best, BAD_ATTACK, PROOF_SEEDS[:40], nodes=200)
    assert counts.score > 0.6
    assert tuner.best.deck == BAD_ATTACK.deck


def test_evolution_climbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """With games that those win whose deck weights are nearer to a point."""
    aim = {
        name: weight * (1 + 0.3 * (-1) ** i) for i, (name, weight) in enumerate(OURS.deck.items())
    }

    def distance(weights: Weights) -> float:
        return float(np.linalg.norm(weights.vector("deck") - goal.vector("deck")))

    def wins(task: tune._Pairs) -> list[int]:
        better = distance(task.second) - distance(task.first)
        return [2 * (random.Random(seed).gauss(0, 0.05) < better) for seed in task.seeds]

    goal = Weights(OURS.evaluation, aim)
    monkeypatch.setattr(tune._Pairs, "__call__", wins)
    tuner = Tuner(Settings(method="cmaes", what=("deck",), games=720, match_games=400))
    lines(tuner, 30)
    assert tuner.accepted
    assert distance(tuner.best) < 0.8 * distance(OURS)


# ----------------------------------------------------------------------------------- files


def test_the_file_that_is_written(tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    about = {"commands": ["an older one"]}
    before.write_text(
        json.dumps({"1.2": {"own.card": 3.5}, "deck": {"draw": 0.5}, "about": [about]})
    )
    tuner = Tuner({**asdict(SMALL), "rules": "1.0", "what": ("eval",)}, start=before, command="x")
    lines(tuner, 1)
    tuner.write(after)
    content = json.loads(after.read_text())
    assert content["1.2"] == {"own.card": 3.5}
    assert content["deck"] == {"draw": 0.5}
    assert load_weights(after)["1.0"] == tuner.best.evaluation
    assert load_card_weights(after) == WeightedScore({"draw": 0.5})
    assert content["about"] == [about, json.loads(json.dumps(tuner.record()))]
    record = content["about"][1]
    assert record["commands"] == ["x"]
    assert record["tuning_seeds"] == [TUNING_SEEDS[0], TUNING_SEEDS[-1]]
    assert record["iterations"] == 1
    assert record["games_in_all"] >= SMALL.games + SMALL.match_games
    assert record["accepted"] == tuner.accepted
    # It starts where that ended.
    again = Weights.load(after, "1.5")
    assert again.deck == {"draw": 0.5}
    assert again.evaluation == OURS.evaluation


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "expected an object"),
        ('{"3": {}}', "unknown rule set '3'"),
        ('{"1.5": {"luck": 1}}', "unknown term 'luck'"),
        ('{"deck": {"luck": 1}}', "unknown term 'luck'"),
        ('{"deck": [1]}', "expected an object of weights"),
    ],
)
def test_bad_weights_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"bad\.json: .*{message}"):
        Tuner(SMALL, start=path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rules": "2"}, "unknown rules '2'"),
        ({"method": "cmaes", "what": ("network",)}, "method cmaes changes weights, not a network"),
        ({"rules": "1.2", "what": ("deck",)}, r"what: rules 1\.2 have a draft"),
        ({"what": ("deck", "luck")}, "what: expected some of"),
        ({"method": "guess"}, "method: expected one of fit, cmaes, got 'guess'"),
        ({"games": 1}, "games: expected 2 or more, got 1"),
        ({"nodes": 1.5}, "nodes: expected 1 or more, got 1.5"),
        ({"pools": 10**7}, "pools: expected at most 999999"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tuner(settings)


def test_bad_states_are_refused_by_name(tmp_path: Path) -> None:
    lines(Tuner(SMALL, folder=tmp_path), 1)
    with pytest.raises(ValueError, match="nodes is 30 there, not 200"):
        Tuner({"nodes": 200}, folder=tmp_path)
    with pytest.raises(ValueError, match="it started from other weights"):
        Tuner(start=BAD_ATTACK, folder=tmp_path)
    games = tmp_path / "games-0001.npz"
    good = games.read_bytes()
    for bad in (b"", b"x" * 100, good[: len(good) // 2]):
        games.write_bytes(bad)
        with pytest.raises(ValueError, match=r"games-0001\.npz: not the games of a tuning"):
            lines(Tuner(folder=tmp_path), 2)
    games.unlink()
    with pytest.raises(ValueError, match=r"games-0001\.npz: the games of iteration 1 are gone"):
        lines(Tuner(folder=tmp_path), 2)
    state = tmp_path / "state.json"
    content = json.loads(state.read_text())
    for bad in (
        "",
        "{}",
        json.dumps({**content, "luck": 1}),
        json.dumps({**content, "settings": {**content["settings"], "games": "many"}}),
        json.dumps({**content, "best": {"evaluation": {}, "deck": None}}),
    ):
        state.write_text(bad)
        with pytest.raises(ValueError, match=r"state\.json: "):
            Tuner(folder=tmp_path)


def test_all_terms_are_tuned() -> None:
    assert (*tune._TERMS, "scale") == tuple(TERMS)
    vector = np.linspace(-1, 1, len(tune._TERMS))
    assert OURS.with_vector("eval", vector).vector("eval") == pytest.approx(vector, rel=1e-3)
    assert OURS.with_vector("eval", vector).evaluation["scale"] == OURS.evaluation["scale"]


# ------------------------------------------------------------------------------ the command


def locmsim(*words: str, cwd: Path, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "locmsim", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


QUICK = ["--games", "40", "--match-games", "10", "--nodes", "20", "--pools", "2"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_command_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    words = ["tune", *QUICK, "--workers", "1"]
    expected = locmsim(*words, "--iterations", "2", "--out", "whole.json", cwd=tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "locmsim", *words, "--iterations", "50", "--state", "state"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with contextlib.closing(process.stdout):
        assert process.stdout.readline().startswith("1: ")
        time.sleep(0.1)
        process.send_signal(number)
        process.wait(60)
    done = json.loads((tmp_path / "state" / "state.json").read_text())["iteration"]
    out = locmsim(
        "tune", "--state", "state", "--iterations", str(max(done, 2)), "--out", "b.json",
        "--workers", "1", cwd=tmp_path,
    )  # fmt: skip
    assert "2: " in out or done >= 2
    if done <= 2:
        contents = [json.loads((tmp_path / name).read_text()) for name in ("whole.json", "b.json")]
        assert contents[0]["about"][0].pop("commands") != contents[1]["about"][0].pop("commands")
        assert contents[0] == contents[1]
        assert (
            expected.splitlines()[2:]
            == out.splitlines()[len(out.splitlines()) - len(expected.splitlines()[2:]) :]
        )


def test_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    for words, message in (
        (["--weights", "bad.json"], "bad.json: no JSON"),
        (["--weights", "nowhere.json"], "nowhere.json: No such file"),
        (["--what", "luck"], "what: expected some of"),
        (["--workers", "0", "--iterations", "1"], "workers: expected at least 1, got 0"),
        (["--out", "nowhere/x.json"], "cannot write nowhere/x.json"),
    ):
        code = 1 if "No such" in message else 2
        assert message in locmsim("tune", *words, cwd=tmp_path, code=code)


@pytest.mark.parametrize(("method", "module"), [("fit", "scipy.optimize"), ("cmaes", "cmaes")])
def test_a_package_that_is_missing(
    method: str,
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is said before any game is played."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(tune, "_play", None)
    out = str(tmp_path / "tuned.json")
    assert main(["tune", "--method", method, "--workers", "1", "--out", out]) == 1
    assert "install locmsim[tune]" in capsys.readouterr().err


def test_commands_of_the_page(tmp_path: Path) -> None:
    """With fewer games than there."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    commands = [command for block in blocks for command in block.replace("\\\n", "").splitlines()]
    *commands, arena = commands
    assert len(commands) >= 3
    assert "--games 400" in arena
    first, last = arena.split()[-1].split("..")
    assert int(first) in PROOF_SEEDS
    assert int(last) in PROOF_SEEDS
    table = locmsim(*shlex.split(arena.replace("400", "2"))[1:], cwd=tmp_path)
    assert table.startswith("2 games of rules 1.5")
    for command in commands:
        words = shlex.split(command)[1:]
        for option in ("--iterations", "--games"):
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
        if "tuning" not in {path.name for path in tmp_path.iterdir()} or "--state" not in words:
            words += QUICK
        locmsim(*words, "--iterations", "1", "--workers", "1", cwd=tmp_path)
    content = json.loads((tmp_path / "tuned.json").read_text())
    assert content["about"]

"""Tests of examples/train/ppo.py: reproducible, resumable, with several processes and a league."""

import csv
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from locmsim.envs import LocmVectorEnv
from locmsim.policy import Policy, get_layout

torch = pytest.importorskip("torch")

EXAMPLES = Path(__file__).parents[2] / "examples" / "train"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="not the source tree")

SMALL = [
    "--rows", "64", "--steps", "8", "--batch", "256", "--sets", "4", "--total-timesteps", "3072",
    "--checkpoint-every", "2", "--snapshot-every", "2", "--evaluate-every", "3", "--games", "4",
    "--opponents", "greedy", "beam:nodes=10", "--fixed", "0.5", "--past", "0.4",
    "--decks", "random", "classic/random", "--yardsticks", "random", "--device", "cpu",
    "--no-tensorboard",
]  # fmt: skip
SAME = ("seconds", "steps_per_second", "environment_share")


@pytest.fixture
def ppo(monkeypatch):
    """Yield the example as a module, with one thread of PyTorch."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import ppo

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield ppo
    torch.set_num_threads(threads)


def trained(ppo, folder, *more):
    ppo.train(ppo.arguments().parse_args(["--folder", str(folder), *SMALL, *map(str, more)]))
    return torch.load(folder / "checkpoint.pt", weights_only=True)


def lines(folder):
    with (folder / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{k: v for k, v in row.items() if k not in SAME} for row in rows]


def equal(a, b):
    return all(torch.equal(a["net"][name], b["net"][name]) for name in a["net"])


def test_the_same_command_and_a_pause_give_the_same_weights(ppo, tmp_path):
    whole = trained(ppo, tmp_path / "whole")
    again = trained(ppo, tmp_path / "again")
    assert equal(whole, again)
    for _ in range(3):  # each run continues to the next checkpoint
        paused = trained(ppo, tmp_path / "paused", "--resume", "--pause-after", 1e-6)
    assert paused["update"] == whole["update"] == 6
    assert equal(whole, paused)
    assert lines(tmp_path / "paused") == lines(tmp_path / "again") == lines(tmp_path / "whole")
    assert whole["league"]["recent"] == paused["league"]["recent"]
    tables = {(tmp_path / run / "opponents.csv").read_bytes() for run in ("whole", "paused")}
    assert len(tables) == 1
    other = trained(ppo, tmp_path / "other", "--seed", 2)
    assert not equal(whole, other)

    rows = lines(tmp_path / "whole")
    assert [int(row["step"]) for row in rows] == [512 * n for n in range(1, 7)]
    assert {row["illegal"] for row in rows} == {"0.0"}
    assert [row["win_random"] != "" for row in rows] == [False, False, True] * 2
    policy = Policy.load(tmp_path / "whole" / "policy.npz")
    assert policy.meta["training"].endswith("(3072 steps), PPO")


def test_two_processes_learn_what_one_does(ppo, tmp_path):
    """Two processes with as many rows and batches in all learn the same weights up to rounding."""
    one = trained(ppo, tmp_path / "one", "--total-timesteps", 1536)
    folder = tmp_path / "two"
    subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
            str(EXAMPLES / "ppo.py"), "--folder", str(folder), *SMALL, "--total-timesteps", "1536",
            "--seeds", "2",
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True, capture_output=True,
    )  # fmt: skip
    assert (folder / "curves.csv").read_text().startswith("step,name,mean,lowest,highest\n1536,")
    assert (folder / "seed-2" / "policy.npz").exists()
    folder /= "seed-1"
    two = torch.load(folder / "checkpoint.pt", weights_only=True)
    for name, weights in one["net"].items():
        torch.testing.assert_close(two["net"][name], weights, rtol=0, atol=1e-5)
    for ours, theirs in zip(one["league"]["recent"], two["league"]["recent"], strict=True):
        assert ours.keys() == theirs.keys()
        assert all(theirs[name] == pytest.approx(pair) for name, pair in ours.items())
    assert one["games"] == two["games"] > 0
    for a, b in zip(lines(tmp_path / "one"), lines(folder), strict=True):
        assert (a["games"], a["length"], a["return"]) == (b["games"], b["length"], b["return"])


def test_a_player_that_is_always_beaten_is_drawn_less(ppo):
    league = ppo.League(size=3)
    for name in ("weak", "equal", "strong"):
        league.add(name, Policy.random(seed=1))
    first = league.weights()
    assert first["weak"] == first["equal"] == first["strong"]
    for _ in range(20):
        league.count({"weak": (30, 30), "equal": (15, 30), "strong": (3, 30), "greedy": (1, 2)})
    weights = league.weights()
    assert "greedy" not in weights
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["weak"] < 0.02 < weights["equal"] < weights["strong"]
    again = ppo.League(size=3)
    again.load_state_dict(league.state_dict())
    assert again.weights() == weights
    league.add("new", Policy.random(seed=2))
    assert list(league.past) == ["equal", "strong", "new"]


def test_a_network_of_other_sizes_is_refused(ppo, monkeypatch):
    monkeypatch.setattr(ppo, "UNITS", 32)
    with pytest.raises(ValueError, match="got 1152: a network with other UNITS or TRUNK"):
        ppo.Net("1.5").load(Policy.random(seed=1))


def test_results_are_those_of_the_last_updates(ppo, tmp_path, capsys):
    """Older results do not count, and neither do those of past selves that were dropped."""
    league = ppo.League(size=1, window=2)
    league.add("first", Policy.random(seed=1))
    for wins in (1, 5, 6):
        league.count({"greedy": (wins, 10), "first": (10, 10)})
    assert league.results == {"greedy": (11, 20), "first": (20, 20)}
    assert league.summary() == "greedy 55.0 % of 20  past selves 100.0 % of 20"
    league.add("second", Policy.random(seed=2))
    league.count({"greedy": (6, 10), "second": (0, 0)})
    assert league.results == {"greedy": (12, 20)}

    more = ["--window", 1, "--past", 0, "--evaluate-every", 1, "--total-timesteps", 4096]
    trained(ppo, tmp_path, *more)
    with (tmp_path / "opponents.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows} == {"greedy", "beam:nodes=10"}
    assert all(0 < int(row["games"]) < 200 and 0 <= float(row["won"]) <= 1 for row in rows)
    for line in lines(tmp_path)[1:]:  # the return is that of the games of the update
        games, won = np.transpose([
            (int(row["games"]), float(row["won"]) * int(row["games"]))
            for row in rows if row["update"] == line["update"]
        ])  # fmt: skip
        assert float(line["return"]) == pytest.approx(2 * won.sum() / games.sum() - 1)
    assert b"\r" not in (tmp_path / "opponents.csv").read_bytes()
    shown = capsys.readouterr().out
    assert f"won in the last 1 updates: {rows[-2]['name']} " in shown
    assert re.search(r"^  won against random: [0-9.]+ % of \d+ games \([0-9.]+ to", shown, re.M)
    assert not re.search(r"\bwin_", shown)


def test_the_league_plays(ppo):
    """Results are counted by opponent, and a past self that only passes is soon drawn rarely."""
    options = ppo.arguments().parse_args([*SMALL, "--past", "0.5", "--decks", "random"])
    rollout = ppo.Rollout(options, ppo.Processes(), torch.device("cpu"))
    torch.manual_seed(1)
    net, league = ppo.Net(), ppo.League()
    passes = net.policy()
    passes.arrays["pass.b"] = np.float32(1e6)
    league.add("same", net.policy())
    league.add("passes", Policy(passes.arrays, passes.meta))
    rollout.begin(0, league)
    games, shares = 0, []
    for update in range(24):
        sums, results = rollout.collect(net, update), rollout.played()
        games += sums["games"]
        assert sums["illegal"] == 0
        league.count(results)
        rollout.meet(league)
        shares.append([results[name][1] for name in ("same", "passes")])
    # Opponents are fixed or past selves, with equal shares, and never the network itself.
    assert sum(result.games for result in rollout.env.players.results.values()) == games
    assert rollout.env.players.results["caller"].games == 0
    assert set(league.results) == {"greedy", "beam:nodes=10", "same", "passes"}
    assert min(played for _, played in league.results.values()) > 0
    assert league.rate("passes") > 0.9
    assert league.rate("greedy") < 0.2
    assert league.weights()["passes"] < 0.1
    same, beaten = np.sum(shares[-8:], axis=0)
    assert beaten < 0.2 * same


def test_bad_input_is_one_clear_line(ppo, tmp_path):
    def error(*more):
        with pytest.raises(SystemExit) as raised:
            trained(ppo, tmp_path / "run", *more)
        assert "\n" not in str(raised.value)
        return str(raised.value)

    trained(ppo, tmp_path / "run", "--total-timesteps", 1024)
    path = tmp_path / "run" / "checkpoint.pt"
    short = ("--total-timesteps", 1024)
    assert "exists: continue with --resume" in error(*short)
    assert error("--resume", "--rows", 32) == f"{path}: written with rows 64, expected 32"
    good = path.read_bytes()
    content = torch.load(path, weights_only=True)
    content["identity"]["layout"] = "entities 0 320"
    torch.save(content, path)
    assert (
        error("--resume", *short)
        == f"{path}: written with layout entities 0 320, expected entities 1 440"
    )
    path.write_bytes(good[: len(good) // 2])
    assert error("--resume", *short).startswith(f"{path}: not a checkpoint, or cut short: ")
    assert path.read_bytes() == good[: len(good) // 2]
    if not torch.cuda.is_available():
        assert error("--device", "cuda") == "--device: cuda is not available here, only cpu"
    Policy.random("mlp").save(tmp_path / "mlp.npz")
    path.unlink()
    assert "expected an entity network" in error("--from", tmp_path / "mlp.npz")
    assert str(tmp_path / "none.npz") in error("--from", tmp_path / "none.npz")
    for more in (["--yardsticks", "nobody"], ["--opponents", "nobody"], ["--decks", "none"]):
        assert "expected one of " in error(*more)  # before anything is trained
    assert error("--games", 5) == "--games: mirrored pairs need an even number, got 5"
    assert error("--yardsticks", "nobody").startswith("--yardsticks nobody: unknown agent")
    assert not (tmp_path / "run" / "checkpoint.pt").exists()


@pytest.mark.parametrize("option", ["--batch", "--rows", "--epochs", "--seeds"])
def test_numbers_are_positive(ppo, option, capsys):
    for text in ("0", "-3", "many"):
        with pytest.raises(SystemExit):
            ppo.arguments().parse_args([option, text])
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.endswith(f"argument {option}: expected a number of at least 1, got '{text}'")
    assert ppo.arguments().parse_args(["--rows", "1_024"]).rows == 1024


def test_logs_go_to_weights_and_biases_too(ppo, tmp_path, monkeypatch, missing):
    """With --wandb, log rows also go to Weights & Biases, here replaced by a stub."""
    started, logged = {}, []
    double = SimpleNamespace(
        init=lambda **options: started.update(options) or SimpleNamespace(log=logged.append)
    )
    monkeypatch.setitem(sys.modules, "wandb", double)
    trained(ppo, tmp_path / "run", "--total-timesteps", 1536, "--wandb", "cards")
    assert started["project"] == "cards"
    assert started["config"]["rows"] == 64
    assert [values["step"] for values in logged] == [512, 1024, 1536]
    assert 0 <= logged[-1]["win_random"] <= 1
    assert "win_random" not in logged[0]
    assert 0 < logged[-1]["league/greedy"] < 1
    for row, values in zip(lines(tmp_path / "run"), logged, strict=True):
        assert float(row["return"]) == values["return"]

    missing("wandb")
    with pytest.raises(SystemExit, match=r"^wandb is missing: pip install wandb$"):
        trained(ppo, tmp_path / "other", "--wandb", "cards")


@pytest.mark.parametrize(
    ("phase", "rules", "more"),
    [
        (
            "draft",
            "1.2",
            ["--value", "1", "--decks", "curve", "--battlers", "random", "--battles", "2"],
        ),
        ("construct", "1.5", ["--value", "0.5", "--battlers", "random"]),
        ("match", "1.5", ["--opponents", "random", "max-attack"]),
    ],
)
def test_choices_are_trained_by_the_same_trainer(
    ppo, tmp_path, monkeypatch, called, phase, rules, more
):
    import choose

    command = [
        "choose.py", phase, "--rules", rules, "--rows", "8", "--steps", "30", "--sets", "4",
        "--total-timesteps", "480", "--games", "4", "--evaluate-every", "2",
        "--yardsticks", "random", "--checkpoint-every", "1", "--no-tensorboard", "--device", "cpu",
    ]  # fmt: skip
    paid, step = [], choose.Choices.step

    def watched(rollout, t):
        step(rollout, t)
        paid.extend(rollout.rewards[t].tolist())

    monkeypatch.setattr(choose.Choices, "step", watched)
    for folder, times in (("whole", 1), ("paused", 2)):
        for _ in range(times):
            pause = ["--resume", "--pause-after", "1e-6"] if times > 1 else []
            chosen = [*command, "--folder", str(tmp_path / folder), *more, *pause]
            called(choose.main, *chosen)
    whole, paused = (
        torch.load(tmp_path / folder / "checkpoint.pt", weights_only=True)
        for folder in ("whole", "paused")
    )
    assert whole["update"] == paused["update"] == 2
    assert equal(whole, paused)
    rows = lines(tmp_path / "whole")
    assert {row["illegal"] for row in rows} == {"0.0"}
    if phase != "match":  # the episode is thirty picks
        assert [row["length"] for row in rows] == ["30.0", "30.0"]
        assert rows[-1]["games"] == "16"
        # The values of decks are part of the rewards; results of battles are -1, 0 or 1.
        assert any(abs(reward) % 1 for reward in paid)
    net = (choose.MatchNet if phase == "match" else choose.ChoiceNet)(rules)
    net.load_state_dict(whole["net"])
    # The file rates as the network does, without PyTorch.
    policy = Policy.load(tmp_path / "whole" / "choice.npz")
    env = LocmVectorEnv(4, rules=rules, episode="choice", battlers=("random", "random"))
    env.reset(seed=1)
    for number in range(20):
        seen = env.step(env.sample(number))[0]["observation"]
    logits, values = policy.evaluate(seen)
    with torch.no_grad():
        expected = choose.ChoiceNet.forward(net, torch.from_numpy(seen))
    torch.testing.assert_close(torch.from_numpy(logits), expected[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(torch.from_numpy(values), expected[1], rtol=1e-4, atol=1e-5)
    assert (tmp_path / "whole" / "policy.npz").exists() == (phase == "match")
    again = choose.ChoiceNet(rules)
    again.load(policy)
    assert all(
        (array == policy.arrays[name]).all() for name, array in again.chooser().arrays.items()
    )


def test_a_choice_starts_from_a_policy_of_its_phase(ppo, tmp_path, called):
    """Only the training of whole matches can start from a policy that plays battles."""
    import choose

    begin = ppo.Net("1.5").policy()
    begin.save(tmp_path / "begin.npz")
    net = choose.MatchNet("1.5")
    net.load(begin)
    taken = net.battle.policy()
    assert all((taken.arrays[name] == begin.arrays[name]).all() for name in begin.arrays)
    command = ["choose.py", "construct", "--from", tmp_path / "begin.npz"]
    with pytest.raises(SystemExit, match=r"--from: expected a network of cards"):
        called(choose.main, *command, "--folder", tmp_path / "run")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("construct --opponents osl", "--opponents has no effect on the phase construct"),
        ("draft --past 0.2", "--past has no effect on the phase draft"),
        ("draft --snapshot-every 3", "--snapshot-every has no effect on the phase draft"),
        ("match --value 1", "--value has no effect on the phase match"),
        ("match --battlers osl", "--battlers has no effect on the phase match"),
        ("match --opponents", "--opponents: expected at least one agent"),
        ("match --opponents nobody", "unknown agent 'nobody'"),
        ("construct --decks none", "decks: expected one of default, "),
        ("construct --yardsticks none", "--yardsticks none: decks: expected one of default, "),
    ],
)
def test_a_choice_refuses_what_would_have_no_effect(ppo, tmp_path, called, command, message):
    import choose

    small = ["--rows", "4", "--sets", "2", "--folder", str(tmp_path / "run"), "--no-tensorboard"]
    with pytest.raises(SystemExit) as raised:
        called(choose.main, "choose.py", *command.split(), *small)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("rules", ["1.5", "1.2"])
def test_a_match_is_rated_by_the_network_of_its_phase(ppo, rules):
    """In a batch with rows of both phases, each row is evaluated by the network of its phase."""
    import choose

    from locmsim.envs import LocmVectorEnv

    env = LocmVectorEnv(16, episode="match", rules=rules, opponent="random", decks="random")
    env.reset(seed=1)
    for number in range(60):  # some battles are over, and their rows choose again
        seen = env.step(env.sample(number))[0]
    observations = torch.from_numpy(seen["observation"])
    net = choose.MatchNet(rules)
    size = get_layout("entities", rules).shape[0]
    choosing = (observations[:, :size] == 0).all(1)
    assert 0 < choosing.sum() < 16
    with torch.no_grad():
        logits, values = net(observations)
        offered, value = choose.ChoiceNet.forward(net, observations[:, size:])
        battle, battle_value = net.battle(observations[:, :size])
    alone = torch.cat([battle, offered], 1).masked_fill(
        torch.from_numpy(seen["action_mask"]) == 0, 0
    )
    legal = logits.masked_fill(torch.from_numpy(seen["action_mask"]) == 0, 0)
    torch.testing.assert_close(legal, alone)
    torch.testing.assert_close(values, torch.where(choosing, value, battle_value))


def test_a_run_goes_on_with_more_steps(ppo, tmp_path, capsys):
    """A finished run is left alone; with more steps it continues, and says what changes."""
    folder = tmp_path / "run"
    trained(ppo, folder, "--total-timesteps", 1024)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    trained(ppo, folder, "--total-timesteps", 1024, "--resume")
    assert "finished after 1,024 steps, nothing was changed." in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    content = trained(ppo, folder, "--total-timesteps", 2048, "--resume")
    assert "now fall until 2,048 steps, not until 1,024." in capsys.readouterr().out
    assert (content["update"], content["updates"]) == (4, 4)
    log = (folder / "log.csv").read_bytes()
    assert b"\r" not in log
    assert log.startswith(before["log.csv"])
    rows = lines(folder)
    assert [row["step"] for row in rows] == ["512", "1024", "1536", "2048"]
    assert float(rows[2]["rate"]) == pytest.approx(1.5e-3 * (1 - 0.9 * 2 / 4))
    asked = [row for row in rows if row["win_random"]]
    for row in asked:
        low, rate, high = (float(row[f"win_random{part}"]) for part in ("_low", "", "_high"))
        assert 0 <= low <= rate <= high <= 1


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(ppo, tmp_path):
    """Ctrl-C ends it with one line, between two checkpoints, from which updates are repeated."""
    whole = trained(ppo, tmp_path / "whole")
    folder = tmp_path / "run"
    options = ppo.arguments().parse_args(["--folder", str(folder), *SMALL, "--games", "2"])
    collect = ppo.Rollout.collect

    class Interrupted(ppo.Rollout):
        def collect(self, net, update):
            if update == 3:
                signal.raise_signal(signal.SIGINT)
            return collect(self, net, update)

    message = r"^stopped: --resume continues from the last checkpoint"
    with pytest.raises(SystemExit, match=message), ppo.one_line():
        ppo.train(options, make_rollout=Interrupted)
    assert torch.load(folder / "checkpoint.pt", weights_only=True)["update"] == 2
    assert len(lines(folder)) == 3  # one row more than at the last checkpoint
    resumed = trained(ppo, folder, "--resume")
    assert equal(whole, resumed)
    assert lines(folder) == lines(tmp_path / "whole")


def test_decks_of_a_policy_whose_path_has_slashes(ppo, tmp_path):
    """Such a path is not a pair of deck builders, in training and in tests."""
    import choose

    choose.ChoiceNet("1.5").chooser().save(tmp_path / "choice.npz")
    decks = f"policy:path={tmp_path / 'choice.npz'}"
    trained(ppo, tmp_path / "run", "--decks", decks, "--total-timesteps", 512)
    assert 0 <= float(lines(tmp_path / "run")[-1]["win_random"]) <= 1


def test_several_seeds(ppo, tmp_path, capsys):
    """Each seed has its folder; the mean and the range of their curves are written."""
    more = ["--folder", str(tmp_path), *SMALL, "--total-timesteps", "1024", "--seeds", "2"]
    ppo.train_seeds(ppo.arguments().parse_args([*more, "--evaluate-every", "1"]))
    with (tmp_path / "curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows] == ["512", "1024"]
    last = [float(lines(tmp_path / f"seed-{seed}")[-1]["win_random"]) for seed in (1, 2)]
    assert float(rows[-1]["mean"]) == pytest.approx(np.mean(last))
    assert (float(rows[-1]["lowest"]), float(rows[-1]["highest"])) == (min(last), max(last))
    assert "win_random after 1,024 steps: " in capsys.readouterr().out


def test_numbers_are_shown_without_powers_of_ten(ppo):
    shown = [ppo.plain(value) for value in (655360, 23500.4, 0.00135, 1.5e-5, 0.0, 0.61742)]
    assert shown == ["655,360", "23,500", "0.00135", "0.000015", "0", "0.617"]

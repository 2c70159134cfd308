"""Tests of tools/learned.py, which trains a network from nothing and can be paused."""

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from locmsim.policy import Policy

torch = pytest.importorskip("torch")

TOOL = Path(__file__).parents[2] / "tools" / "learned.py"

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="not the source tree")

SMALL = ["--games", "20", "--epochs", "1", "--total-timesteps", "4096", "--test-games", "4"]
PPO = [
    "--", "--rows", "64", "--steps", "16", "--sets", "2", "--games", "4", "--no-tensorboard",
    "--checkpoint-every", "2", "--opponents", "random",
]  # fmt: skip


@pytest.fixture
def run(called):
    """Yield a function that runs the command and returns its exit status."""
    spec = importlib.util.spec_from_file_location("learned_tool", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.TEACHER, tool.GAMES = "greedy", 8
    threads = torch.get_num_threads()

    def run(folder, *more, ppo=PPO):
        return called(tool.main, "learned.py", "--folder", folder, *SMALL, *more, *ppo)

    before = [*sys.path]
    yield run
    torch.set_num_threads(threads)
    sys.path[:] = before


def test_a_network_from_nothing_in_one_piece_and_in_many(run, tmp_path, capsys):
    seeds = ["--seeds", "1", "2"]
    assert run(tmp_path / "whole", *seeds) == 0
    pieces = 1
    while status := run(tmp_path / "pieces", *seeds, "--pause-after", "1e-9"):
        assert status == 3
        assert "paused" in capsys.readouterr().out
        pieces += 1
    # Four files of examples; per seed the clone, the middle checkpoint and the last checkpoint.
    assert pieces == 4 + 2 * 3 + 1
    whole, other = (Policy.load(tmp_path / name / "learned.npz") for name in ("whole", "pieces"))
    assert all(np.array_equal(whole.arrays[name], other.arrays[name]) for name in whole.arrays)
    assert whole.meta["training"].startswith("cloned ")
    assert whole.meta["training"].endswith("(4096 steps), PPO")
    with (tmp_path / "whole" / "curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["seed"], row["step"]) for row in rows] == [("1", "4096"), ("2", "4096")]
    strength = (tmp_path / "whole" / "strength.txt").read_text().splitlines()
    assert len(strength) == 12
    assert strength[0].startswith("random decks, against random: ")
    assert strength == (tmp_path / "pieces" / "strength.txt").read_text().splitlines()


def test_another_training_in_the_same_folder_is_refused(run, tmp_path):
    assert run(tmp_path, "--pause-after", "1e-9") == 3
    with pytest.raises(
        SystemExit, match=r"options\.json: the training in this folder has"
    ) as error:
        run(tmp_path, "--games", "30")
    assert "\n" not in str(error.value)


def test_the_same_command_makes_one_for_the_draft_rules(run, tmp_path):
    assert run(tmp_path, "--rules", "1.2") == 0
    assert Policy.load(tmp_path / "learned.npz").rules == "1.2"
    assert len((tmp_path / "strength.txt").read_text().splitlines()) == 4

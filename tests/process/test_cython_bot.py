"""examples/cython-bot: built against the installed locmsim, run, and worth its playouts."""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "cython-bot"

pytest.importorskip("Cython")
pytest.importorskip("setuptools")
compiler = (sysconfig.get_config_var("CC") or "cl").split()[0]
if shutil.which(compiler) is None:
    pytest.skip(f"no C compiler ({compiler})", allow_module_level=True)

CHECK = """
import random
from flatbot import choose, count_wins
from locmsim.game.positions import random_game, start_position

for rules in ("1.5", "1.2", "1.0"):
    for state, _ in random_game(start_position(1, rules), 1):
        me = state.current_player()
        assert count_wins(state, 20, 7) == {
            action: int((state.child(action).rollouts(20, 7) == me).sum())
            for action in state.legal_actions()
        }
    state = start_position(1, rules)
    while not state.is_terminal():
        state.apply_action(0)
    assert count_wins(state, 20, 7) == {}

wins = 0
for seed in range(10):
    state, rng = start_position(seed), random.Random(seed)
    while not state.is_terminal():
        mine = state.current_player() == seed % 2
        state.apply_action(choose(state) if mine else rng.choice(state.legal_actions()))
    wins += state.winner == seed % 2
print(wins)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A copy of the example with its compiled module beside the source."""
    folder = tmp_path_factory.mktemp("example") / "cython-bot"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.c", "*.so", "build"))
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run(folder, code):
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_it_counts_as_the_package_does_and_beats_random_play(built):
    done = run(built, CHECK)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 8


def test_the_readme_plays_a_game(built):
    code = (built / "README.md").read_text().split("```python\n")[1].split("```")[0]
    done = run(built, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout in ("player 0 has won\n", "player 1 has won\n")


def test_another_layout_is_refused(built):
    done = run(built, "import locmsim; locmsim.ABI_VERSION += 1; import flatbot")
    assert "ImportError: built for version" in done.stderr


def test_the_example_is_not_importable_unbuilt():
    """Nothing that was built by hand is in the way."""
    assert importlib.util.find_spec("flatbot") is None

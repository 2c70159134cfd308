"""The package's public names, the cost of importing it, and the files for compiled code."""

from importlib import import_module, metadata
from pathlib import Path
from pkgutil import iter_modules

import pytest
from helpers import python

import locmsim
from locmsim.export import kernel_header


def run_python(code):
    return python("-W", "error", "-c", code).stdout.split()


def test_every_public_name_is_there():
    assert locmsim.__all__ == sorted(locmsim.__all__)
    for name in locmsim.__all__:
        assert getattr(locmsim, name) is not None
        assert name in dir(locmsim)


def test_every_public_module_is_an_attribute():
    """Also one that nothing has imported yet, so that ``help(locmsim.envs)`` works by itself."""
    modules = [one.name for one in iter_modules(locmsim.__path__) if not one.name.startswith("_")]
    assert {"agents", "decks", "envs", "networks", "tuning", "web"} <= set(modules)
    for name in modules:
        assert locmsim.__getattr__(name) is import_module(f"locmsim.{name}")
    assert locmsim.agents.__getattr__("greedy") is import_module("locmsim.agents.greedy")
    for name in ("_locks", "data", "include", "no module"):  # private, folders of data, nothing
        with pytest.raises(AttributeError, match=f"module 'locmsim' has no attribute '{name}'"):
            locmsim.__getattr__(name)


@pytest.mark.slow
@pytest.mark.process
def test_names_are_those_of_their_modules():
    names = run_python("from locmsim import *; print(*sorted(globals()))")
    assert set(locmsim.__all__) <= set(names)
    printed = run_python(
        "import locmsim; print(locmsim.Match.__module__, locmsim.StateBatch.__module__,"
        " locmsim.Observation.__module__, locmsim.generate_cards.__module__,"
        " locmsim.openspiel.__name__, locmsim.networks.__name__, locmsim.envs.__name__)"
    )
    modules = ("game.match", "batch", "game.observation", "rules.generator")
    modules += ("openspiel", "networks", "envs")
    assert printed == [f"locmsim.{name}" for name in modules]


@pytest.mark.process
def test_importing_it_is_cheap():
    """Modules that take long to import, above all numpy, are imported when they are first used."""
    code = (
        "import locmsim, sys; print(*sys.modules)\n"
        "import locmsim.arena.game_worker, locmsim.arena.locm\n"
        "slow = {'hashlib', 'importlib.metadata', 'multiprocessing', 'zipfile'} & {*sys.modules}\n"
        "import locmsim.web.file_replay\n"
        "print(*sys.modules)\n"
        "import locmsim.arena.tournament\n"
        "assert not slow and 'numpy' not in sys.modules, slow\n"
        "s = locmsim.State.new([], []); s.rollouts(1, 1); sys.modules['numpy']"
    )
    loaded, light = map(str.split, python("-W", "error", "-c", code).stdout.splitlines())
    assert not {"numpy", "concurrent.futures", "pyspiel", "locmsim.game.match"} & set(loaded)
    assert not {"numpy", "sqlite3", "locmsim.arena.tournament"} & set(light)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    "code",
    [
        "from locmsim.envs import LocmVectorEnv",
        "from locmsim.cli.main import main; sys.exit(main(['dataset', 'greedy', '-o', 'a.npz']))",
    ],
)
def test_a_missing_package_is_named_with_its_extra(code, tmp_path):
    code = f"import sys; sys.modules['gymnasium'] = None; {code}"
    told = python("-c", code, code=1, cwd=tmp_path).stderr
    assert "the package gymnasium is not installed: pip install 'locmsim[envs]'" in told


@pytest.mark.slow
@pytest.mark.process
def test_what_windows_lacks_is_not_needed_for_kernel_search_and_environments():
    """The code runs after modules and functions that only POSIX has were removed."""
    pytest.importorskip("gymnasium")
    printed = run_python(
        "import numpy, gymnasium, multiprocessing, subprocess, os, signal, sys\n"
        "for name in 'fcntl grp pty pwd resource termios tty'.split(): sys.modules[name] = None\n"
        "for name in 'fork killpg sched_getaffinity sched_setaffinity'.split(): delattr(os, name)\n"
        "del signal.SIGKILL\n"
        "import locmsim, locmsim.agents, locmsim.arena, locmsim.bench, locmsim.bot, locmsim.envs\n"
        "import locmsim.export, locmsim.policy, locmsim.search, locmsim.tuning\n"
        "from locmsim.game.positions import start_position\n"
        "state = start_position(1)\n"
        "print(len(state.rollouts(5, 1, threads=2)))\n"
        "print(locmsim.search.BeamSearch().search(state, nodes=50).line != '')\n"
        "env = locmsim.envs.LocmVectorEnv(2, opponent='random', card_sets=2)\n"
        "print(len(env.reset(seed=1)))"
    )
    assert printed == ["5", "True", "2"]


def test_version_is_that_of_the_distribution():
    assert locmsim.__version__ == metadata.version("locmsim")


def test_what_compiled_code_needs():
    package = Path(locmsim.__file__).parent
    declarations = (package / "_core.pxd").read_text()
    assert f"ABI_VERSION = {locmsim.ABI_VERSION}\n" in declarations
    assert (package / "__init__.py").exists()
    assert (package / "py.typed").exists()
    include = Path(locmsim.get_include())
    assert include.is_relative_to(package)
    assert (include / "locm.h").read_text(encoding="utf-8") == kernel_header()

"""Agents by name: descriptions, classes of modules and files, plug-ins of installed packages."""

import importlib
import inspect
import multiprocessing
import os
import pickle
import re
import sys

import pytest
from helpers import raises

from locmsim.agents import (
    AGENTS,
    BeamAgent,
    GreedyAgent,
    RandomAgent,
    agent_spec,
    describe_agents,
    did_you_mean,
    is_agent,
    known_agents,
    make_agent,
    parse_spec,
)
from locmsim.errors import EndedBySignal

MINE = '''
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from locmsim.game.observation import Observation
    from nowhere import Thing

class Mine:
    """Plays nothing, patiently. Really.

    More of it.
    """

    def __init__(self, depth: int = 3, share: float = 1, loud: bool = False,
                 style=None, thing: Thing | None = None, limit: int | None = None):
        if depth < 0:
            raise ValueError(f"depth: expected 0 or more, got {depth}")
        self.options = depth, share, loud, style, limit

    def reset(self, seed: int = 0) -> None:
        pass

    def choose(self, observation: Observation) -> str:
        return "PASS"

    def act(self, observation: Observation) -> str:
        return "PASS"

class Half:
    def reset(self, seed=0): ...
    def choose(self, observation): ...

class Fussy(Mine):
    def __init__(self, path: str):
        open(path)

class Free(Mine):
    def __init__(self, **options):
        self.options = options

class Leaves(Mine):
    def __init__(self):
        exit(3)

class Hostile(Mine):
    def __init__(self):
        class Silent(ValueError):
            def __str__(self):
                raise KeyError
        raise Silent

def factory(depth: int = 1):
    return Mine(depth)

def half(depth: int = 1):
    return Half()

answer = 42
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mine(folder):
    (folder / "mine.py").write_text(MINE)
    return folder


# -------------------------------------------------------------------------------- descriptions


def test_descriptions_are_taken_apart():
    assert parse_spec("greedy") == ("greedy", {})
    assert parse_spec("greedy:") == ("greedy", {})
    assert parse_spec("beam:time_ms=50,deck=a=b") == ("beam", {"time_ms": "50", "deck": "a=b"})
    assert parse_spec("mybots.deep:Mine") == ("mybots.deep:Mine", {})
    assert parse_spec("mybots:Mine:depth=3") == ("mybots:Mine", {"depth": "3"})
    assert parse_spec("my bots/mine.py:Mine:file=a:b") == (
        "my bots/mine.py:Mine",
        {"file": "a:b"},
    )
    assert parse_spec(r"C:\bots\mine.py:Mine").name == r"C:\bots\mine.py:Mine"


def test_what_is_an_agent_and_what_a_command(mine):
    (mine / "a b.py").write_text(MINE)
    for text in ("greedy", "beam:plans=8", "mine.py:Mine", "no/such.py:Mine", "a b.py:Mine", "m:C"):
        assert is_agent(text), text
    for text in ("gredy", "./mybot", "python3 mine.py", "python3 x.py:Mine", "./mybot --a=b:c", ""):
        assert not is_agent(text), text


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", "unknown agent 'gredy': expected one of random, .* did you mean 'greedy'?"),
        ("gredy:deck", "agent gredy:deck: no module 'gredy'; did you mean 'greedy'?"),
        ("mine.py", "unknown agent 'mine.py': expected .*, module:Class or file.py:Class"),
        ("beam:plan=8", "agent beam: unknown option 'plan', expected .*; did you mean 'plans'?"),
        ("nowhere:Mine", "agent nowhere:Mine: no module 'nowhere'$"),
        ("locmsim.nowhere:Mine", "no module 'locmsim.nowhere'"),
        (
            "locmsim.agents:Greedy",
            "no class or function 'Greedy' in .*; did you mean 'GreedyAgent'?",
        ),
        ("no/such.py:Mine", "agent no/such.py:Mine: no file 'no/such.py' .No such file"),
        ("mine.py:Mien", "no class or function 'Mien' in .*mine.py; did you mean 'Mine'?"),
        ("mine.py:answer", "agent mine.py:answer: answer is neither a class nor a function but 42"),
        ("mine.py:Half", "agent mine.py:Half: it lacks the method act; an agent has reset, choose"),
        ("mine.py:half", "agent mine.py:half: it lacks the method act"),
        ("mine.py:Mine:deep=3", "agent mine.py:Mine: unknown option 'deep', expected depth, share"),
        ("mine.py:Mine:depth", "agent mine.py:Mine: expected option=value, got 'depth'"),
        ("mine.py:Mine:depth=x", "agent mine.py:Mine: depth: expected an integer, got 'x'"),
        ("mine.py:Mine:depth=-1", "agent mine.py:Mine: depth: expected 0 or more, got -1"),
        ("mine.py:Mine:loud=x", "agent mine.py:Mine: loud: expected true or false, got 'x'"),
        ("mine.py:Mine:thing=x", "agent mine.py:Mine: unknown option 'thing'"),
        ("mine.py:Fussy", "agent mine.py:Fussy: the option 'path' is missing"),
        (
            "mine.py:Fussy:path=gone",
            r"mine.py:Fussy: creating it with \(path='gone'\) raised FileNotFoundError: .*gone'"
            r" \(.*mine.py, line 35\)",
        ),
        (
            "mine.py:Leaves",
            r"mine.py:Leaves: creating it with \(\) raised SystemExit: 3 \(.*mine.py, line 43\)",
        ),
        ("mine.py:Hostile", r"mine.py:Hostile: \(its text cannot be had: KeyError\)"),
    ],
)
def test_errors_name_what_and_where(mine, spec, message):
    raises(ValueError, message, make_agent, spec)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import nowhere", r"importing {}: ModuleNotFoundError: No module named 'nowhere' "),
        ("x = 1\nx = y", r"importing {}: NameError: name 'y' is not defined \(.*, line 2\)"),
        ("class Mine:", r"importing {}: IndentationError: "),
        ("import sys; sys.exit('no')", r"importing {}: SystemExit: no"),
    ],
)
def test_what_cannot_be_imported(folder, code, message):
    (folder / "broken.py").write_text(code)
    for spec, place in (("broken.py:Mine", "broken.py"), ("broken:Mine", "broken")):
        raises(ValueError, f"agent {spec}: {message.format(place)}", make_agent, spec)


@pytest.mark.parametrize("ending", [KeyboardInterrupt, EndedBySignal(15)])
def test_what_ends_this_process_is_no_fault_of_an_agent(ending):
    def interrupted():
        raise ending

    with pytest.raises(KeyboardInterrupt if ending is KeyboardInterrupt else EndedBySignal):
        make_agent(interrupted)


# ---------------------------------------------------------------------- user-defined classes


@pytest.mark.parametrize("place", ["mine", "mine.py", "./mine.py", "{}/mine.py"])
def test_agents_of_modules_and_files(mine, place):
    place = place.format(mine)
    assert make_agent(f"{place}:Mine").options == (3, 1, False, None, None)
    spec = f"{place}:Mine:depth=4,share=2,loud=yes,style=1.5,limit=7"
    assert make_agent(spec).options == (4, 2.0, True, 1.5, 7)
    assert make_agent(spec, depth=9, thing=[]).options[0] == 9
    assert make_agent(f"{place}:factory:depth=2").options[0] == 2
    assert make_agent(f"{place}:Free:a=1,b=x").options == {"a": 1, "b": "x"}


def test_files_are_imported_once_and_again_when_they_change(folder):
    file = folder / "mine.py"
    file.write_text(MINE + "from beside import WORD\n")
    (folder / "beside.py").write_text("WORD = 1\n")
    first = make_agent("mine.py:Mine")
    assert type(make_agent(f"{folder}/mine.py:Mine")) is type(first)
    file.write_text(MINE.replace("depth: int = 3", "depth: int = 5"))
    os.utime(file, (1, 1))
    assert make_agent("mine.py:Mine").options[0] == 5
    # What it imports is imported again, too.
    file.write_text(MINE + "from beside import WORD\n")
    make_agent("mine.py:Mine")
    (folder / "beside.py").write_text("WORD = 20\n")
    assert sys.modules[type(make_agent("mine.py:Mine")).__module__].WORD == 20


#: An agent whose answers tell which helpers it has: imported at once, late, and from a package.
WITH_HELPERS = """
import utils
import lib.deep as deep
from lib import near
from utils import WORD
from space import far

class Mine:
    def reset(self, seed): pass
    def choose(self, observation): return "PASS"
    def act(self, observation):
        import late, lib.deep
        from late import WORD as third
        return " ".join([WORD, utils.WORD, deep.WORD, near.WORD, far.WORD, lib.deep.WORD, third])
"""


def write_bot(folder, word):
    """Write a file with an agent that has helpers beside it, which all know that word."""
    (folder / "lib").mkdir(parents=True)
    (folder / "space").mkdir()
    (folder / "bot.py").write_text(WITH_HELPERS)
    (folder / "utils.py").write_text(f"from words import WORD\nassert WORD == {word!r}\n")
    (folder / "words.py").write_text(f"WORD = {word!r}\n")
    (folder / "late.py").write_text("import words\nWORD = words.WORD\n")
    (folder / "lib" / "__init__.py").write_text("import utils\n")
    (folder / "lib" / "deep.py").write_text("from .near import WORD\n")
    (folder / "lib" / "near.py").write_text("from words import WORD\n")
    (folder / "space" / "far.py").write_text("from utils import WORD\n")
    return " ".join([word] * 7)


def test_helpers_come_from_the_folder_of_the_file(folder):
    """Whatever the current folder has, and whichever start method child processes have."""
    (folder / "utils.py").write_text("WORD = 'wrong'\n")
    sys.path.insert(0, str(folder))
    expected = write_bot(folder / "v1", "v1")
    assert make_agent("v1/bot.py:Mine").act(None) == expected
    assert importlib.import_module("utils").WORD == "v1"
    kind = type(make_agent("v1/bot.py:Mine"))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(kind().act, (None,)) == expected


def test_a_process_has_one_module_of_a_name(folder):
    """A second folder with modules of the same names is refused, and nothing of it is imported."""
    for name in ("v1", "v2", "v3"):
        write_bot(folder / name, name)
    (folder / "v3" / "bot.py").rename(folder / "v3" / "other.py")
    first = make_agent("v1/bot.py:Mine")
    for second, module in (("v2/bot.py:Mine", "bot"), ("v3/other.py:Mine", "lib")):
        place = re.escape(str(folder / "v1" / module))
        raises(ValueError, rf"process has another module '{module}' \({place}", make_agent, second)
    assert first.act(None) == make_agent("v1/bot.py:Mine").act(None) == " ".join(7 * ["v1"])


def test_a_class_of_a_helper_has_a_place(folder):
    (folder / "base.py").write_text(MINE)
    (folder / "bot.py").write_text("from base import Mine\n")
    kind = type(make_agent("bot.py:Mine"))
    assert agent_spec(kind) == f"{folder}/base.py:Mine"
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_helpers_hide_no_installed_module(folder):
    for name in ("random", "numpy", "locmsim"):
        (folder / f"{name}.py").write_text("raise AssertionError('hidden')\n")
    code = "import locmsim, numpy, random\nfrom locmsim.agents import RandomAgent as Mine\n"
    (folder / "bot.py").write_text(code)
    assert isinstance(make_agent("bot.py:Mine"), RandomAgent)
    raises(ValueError, r"another module 'random': rename random\.py", make_agent, "random.py:Mine")


def test_packages_of_another_environment_are_installed(folder):
    place = folder / "other" / "site-packages"  # as a .pth file adds it
    place.mkdir(parents=True)
    (place / "theirs.py").write_text("from locmsim.agents import RandomAgent as Mine\n")
    (folder / "theirs.py").write_text("raise AssertionError('hidden')\n")
    (folder / "bot.py").write_text("from theirs import Mine\n")
    sys.path.append(str(place))
    assert isinstance(make_agent("bot.py:Mine"), RandomAgent)


def test_a_helper_that_is_missing(folder):
    (folder / "utils.py").write_text("import no_such_helper\n")
    (folder / "bot.py").write_text("import utils\n")
    raises(ValueError, r"bot\.py: .*No module named 'no_such_helper'", make_agent, "bot.py:Mine")
    (folder / "utils.py").unlink()
    (folder / "utils").mkdir()
    (folder / "bot.py").write_text("import utils.deeper\n")
    raises(ValueError, r"bot\.py: .*No module named 'utils\.deeper'", make_agent, "bot.py:Mine")


def test_classes_and_ready_agents():
    agent = make_agent(GreedyAgent, deck="bodies")
    assert (type(agent), agent.deck) == (GreedyAgent, "bodies")
    assert make_agent(agent) is agent
    assert isinstance(make_agent(lambda: RandomAgent()), RandomAgent)
    message = "options need a class or description, not an agent: deck"
    raises(ValueError, message, make_agent, agent, deck="area")
    message = "agent GreedyAgent: unknown option 'depth', expected"
    raises(ValueError, message, make_agent, GreedyAgent, depth=2)
    half = type("Half", (), {"reset": print})
    for one in (half, half()):
        raises(ValueError, "agent Half: it lacks the methods choose, act;", make_agent, one)
    raises(TypeError, "expected a description, a class or an agent, got 3", make_agent, 3)


def test_options_are_keyword_arguments(registered):
    class Mine(RandomAgent):
        def __init__(self, name: str = "", *, depth: int = 3, gain: float = 1) -> None:
            self.options = depth, gain

    registered(AGENTS, "mine", Mine)
    assert make_agent("mine:gain=2,depth=4").options == (4, 2.0)
    raises(
        ValueError, "unknown option 'gan', expected name, depth, gain;", make_agent, "mine:gan=2"
    )
    assert known_agents()[-1].options == {"name": "", "depth": 3, "gain": 1}


def test_a_class_is_described_for_other_processes(mine):
    assert agent_spec("beam:plans=8") == "beam:plans=8"
    assert agent_spec(BeamAgent) == "beam"
    from_file = type(make_agent("mine.py:Mine"))
    assert agent_spec(from_file) == f"{mine}/mine.py:Mine"
    assert type(make_agent("mine:Mine")) is type(make_agent(agent_spec(from_file))) is from_file

    class Local(GreedyAgent):
        pass

    raises(ValueError, "Local is not at the top level of a module", agent_spec, Local)


def test_a_class_of_the_prompt_is_not(monkeypatch):
    main = type(sys)("__main__")
    exec("from locmsim.agents import GreedyAgent\nclass Mine(GreedyAgent): pass", main.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", main)
    raises(ValueError, "Mine was defined at a prompt or in a notebook", agent_spec, main.Mine)
    main.__file__ = "/home/me/play.py"
    assert agent_spec(main.Mine) == "/home/me/play.py:Mine"


@pytest.mark.parametrize("line", ["make_agent(agent_spec(Mine))", "make_agent('mine.py:Mine')"])
def test_a_script_without_main_guard(folder, line):
    """A worker that imports the script would run it again, so an error asks for the main guard."""
    code = f"{MINE}\nfrom locmsim.agents import *\n{line}\n"
    (folder / "mine.py").write_text(code)
    with pytest.raises(ValueError, match=r'put what it runs under `if __name__ == "__main__":`'):
        make_agent("mine.py:Mine")
    (folder / "mine.py").write_text(code.replace(line, f"if __name__ == '__main__': {line}"))
    make_agent("mine.py:Mine")


# ----------------------------------------------------------------------------------- packages


def install(folder, package: str, *lines: str) -> None:
    """Install a package as far as names of agents go: a module and its entry points."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(["[locmsim.agents]", *lines]))
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def test_names_of_installed_packages(mine):
    install(mine, "my-bots", "patient = mine:Mine", "greedy = mine:Mine", "gone = mine:Gone")
    assert is_agent("patient:depth=1")
    assert make_agent("patient:depth=5").options[0] == 5
    assert isinstance(make_agent("greedy"), GreedyAgent)  # ours comes first
    raises(ValueError, r"unknown agent 'patent': .* did you mean 'patient'?", make_agent, "patent")
    raises(ValueError, "agent gone: mine:Gone of the package my-bots: Attrib", make_agent, "gone")
    infos = {info.name: info for info in known_agents()}
    assert infos["patient"].package == "my-bots"
    assert infos["patient"].summary == "Plays nothing, patiently. Really."
    assert infos["patient"].options == {
        "depth": 3,
        "share": 1,
        "loud": False,
        "style": None,
        "limit": None,
    }
    assert infos["gone"].summary.startswith("agent gone: mine:Gone of the package my-bots")
    assert infos["greedy"].package == "locmsim"

    install(mine, "your-bots", "patient = yours:Mine")
    with pytest.raises(ValueError, match=r"agent patient: several packages .* my-bots .mine:Mine"):
        make_agent("patient")


# --------------------------------------------------------------------------------------- help


def test_all_agents_and_options_are_described():
    text = describe_agents(80)
    assert max(map(len, text.splitlines())) <= 80
    for info in known_agents():
        assert f"  {info.name} " in text
        assert info.summary.endswith(".")
        for option, default in info.options.items():
            assert default is not inspect.Parameter.empty
            assert f"{option}={default}" in text
    beam = next(info for info in known_agents() if info.name == "beam")
    assert {"deck", "time_ms", "plans", "worlds"} <= set(beam.options)


def test_suggestions():
    assert did_you_mean("mtcs") == "; did you mean 'mcts'?"
    assert did_you_mean("zzz") == ""
    assert did_you_mean("gren", ["red", "green"]) == "; did you mean 'green'?"

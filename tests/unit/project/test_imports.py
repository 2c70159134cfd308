"""The layers of the package: its imports follow the list that the import linter has too.

The linter reads .py files. This reads the lines of .pyx, .pxd and .pxi files as well, whose
``cimport`` binds as an import does.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import locmsim

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "src" / "locmsim"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
LAYERS = CONTRACTS["contracts"][0]["layers"][::-1]
#: Name -> number of its layer; names without a file or folder are reserved.
LAYER = {
    name.strip(" ()"): number for number, names in enumerate(LAYERS) for name in names.split(":")
}
#: Imports inside functions, which may go upwards: (file, imported module).
LATE = {
    ("batch.py", "game.layouts"),  # StateBatch.observation_tensor
}
#: Names of source files; .pxi are parts of a module that includes them.
SOURCES = ("*.py", "*.pyx", "*.pxd", "*.pxi")
#: What games of other packages may use, and the second game uses (docs/games.md).
FOR_GAMES = {
    "contract",
    "errors",
    "gamekit",
    "javarandom",
    "options.commands",
    "processes.threads",
}

LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?:from[ ]+(?P<module>[.\w]+)[ ]+c?import[ ]+(?P<names>[^#\n]+)"
    r"|c?import[ ]+(?P<modules>[^#\n]+))",
    re.MULTILINE,
)

pytestmark = pytest.mark.skipif(not PACKAGE.exists(), reason="there is no source tree")


def named(module: str, names: list[str]) -> Iterator[str]:
    """Yield our modules that ``from module import names`` loads, without ``locmsim.``."""
    if module == "locmsim":
        for name in names:
            if name in LAYER:
                yield name
            else:  # a class or a function
                place = getattr(getattr(locmsim, name), "__module__", "")
                yield from named(place, [])
    elif module.startswith("locmsim."):
        yield module.removeprefix("locmsim.")


def imports_of_cython(text: str) -> Iterator[tuple[bool, str]]:
    """Yield for each import of ours whether it is indented, and what is imported."""
    joined = re.sub(r"\(\s*([^()]*?)\s*\)", lambda m: " ".join(m[1].split()), text)
    for match in LINE.finditer(joined):
        late = bool(match["indent"])
        if match["modules"]:
            for part in match["modules"].split(","):
                yield from ((late, n) for n in named(part.split(" as ")[0].strip(), []))
            continue
        assert not match["module"].startswith("."), match[0]
        names = [name.split(" as ")[0].strip() for name in match["names"].split(",")]
        yield from ((late, name) for name in named(match["module"], names))


def imports_of_python(text: str) -> Iterator[tuple[bool, str]]:
    """Do the same as `imports_of_cython`, without imports for type checkers only."""
    found: list[ast.AST] = [ast.parse(text)]
    for node in found:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            found += node.orelse
        else:  # imports stand in no expressions
            inner = ast.iter_child_nodes(node)
            found += (one for one in inner if not isinstance(one, ast.expr))
        late = getattr(node, "col_offset", 0) > 0
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from ((late, name) for name in named(alias.name, []))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, ast.unparse(node)
            names = [alias.name for alias in node.names]
            yield from ((late, name) for name in named(str(node.module), names))


def faults(path: str, text: str) -> list[str]:
    """Return the imports of a file, named by its path in the package, that the layers forbid.

    The path of a file of Vestrock begins with ``vestrock/``.
    """
    own = module_of(path)
    imports = imports_of_python if path.endswith(".py") else imports_of_cython
    found = []
    for late, name in imports(text):
        other = name.split(".")[0]
        if other == own or (late and (path, name) in LATE):
            continue
        if other not in LAYER:
            found.append(f"{path}: {name} is on no layer")
        elif own == "vestrock":
            if other not in FOR_GAMES and name not in FOR_GAMES:
                found.append(f"{path}: {name} is not for games")
        elif LAYER[other] > LAYER[own]:
            found.append(f"{path}: {name} is above")
    return found


def sources(package: Path = PACKAGE) -> list[str]:
    """Return all files of a package but those that stand above the layers."""
    paths = sorted(
        path.relative_to(package).as_posix()
        for pattern in SOURCES
        for path in package.rglob(pattern)
    )
    return [path for path in paths if path not in ("__init__.py", "__main__.py")]


def module_of(path: str) -> str:
    """Return the module or package at the top that a file belongs to; the kernel has parts."""
    name = path.split("/")[0]
    return "_core" if re.fullmatch(r"_core_\w+\.pxi", name) else name.split(".")[0]


def test_every_file_is_in_a_layer() -> None:
    assert {module_of(path) for path in sources()} <= LAYER.keys()
    assert len(LAYER) == sum(names.count(":") + 1 for names in LAYERS)


@pytest.mark.slow
def test_layers_import_only_what_is_below() -> None:
    found = [fault for path in sources() for fault in faults(path, (PACKAGE / path).read_text())]
    assert found == []


def test_what_games_may_use_is_on_their_page() -> None:
    page = (ROOT / "docs" / "games.md").read_text()
    section = page.partition("### What a game may use\n")[2].partition("\n## ")[0]
    assert {*re.findall(r"`locmsim\.([\w.]+)`", section)} == FOR_GAMES
    kit = import_module("locmsim.gamekit")
    for name in kit.__all__:
        assert f"`{name}`" in section, name
        assert getattr(kit, name) is not None
    assert kit.__all__ == sorted(kit.__all__)


def test_games_use_only_what_is_for_them() -> None:
    package = PACKAGE.parent / "vestrock"
    example = ROOT / "examples" / "nim-game" / "nimgame.py"
    assert faults("vestrock/nimgame.py", example.read_text()) == []
    paths = sources(package)
    assert len(paths) > 20
    found = [
        fault
        for path in paths
        for fault in faults(f"vestrock/{path}", (package / path).read_text())
    ]
    assert found == []


def test_the_faces_of_a_state_are_these() -> None:
    """The kernel imports these functions by a table when they are first used."""
    source = (PACKAGE / "_core.pyx").read_text()
    (table,) = re.findall(r"^_LATER = (\{.*?^\})", source, re.MULTILINE | re.DOTALL)
    places = ast.literal_eval(table)
    assert set(places.values()) == {
        "envs.openspiel",  # State.get_game
        "game.boards",  # str(state), pictures, State.observation_string
        "game.notation",  # position text, snapshots
        "game.observation",  # State.observation
        "game.layouts",  # State.observation_tensor
    }
    for name, module in places.items():
        assert callable(getattr(import_module(f"locmsim.{module}"), name))


def test_late_imports_are_in_use() -> None:
    for path, name in LATE:
        assert (True, name) in list(imports_of_cython((PACKAGE / path).read_text()))


def test_sources_are_files_of_readable_length() -> None:
    packages = PACKAGE, PACKAGE.parent / "vestrock"
    paths = [path for one in packages for kind in SOURCES for path in one.rglob(kind)]
    assert {"_core.pyx", "_core_rules.pxi", "_core_hidden.pxi"} <= {path.name for path in paths}
    for path in paths:
        assert path.read_text().count("\n") <= 1500, path.name


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("rules/cards.py", "from locmsim.game.match import Match", "game.match is above"),
        ("_core.pyx", "from locmsim.game.observation import A", "game.observation is above"),
        ("_core.pyx", "    from locmsim.game.match import A", "game.match is above"),
        ("_core.pyx", "from locmsim import (\n    Match,\n    State)", "game.match is above"),
        ("_core.pxd", "from locmsim.search._engine cimport (\n    a,\n    b,\n)", "is above"),
        ("_batch.pyx", "cimport cython, locmsim.search._engine as w", "search._engine is above"),
        ("game/match.py", "def f():\n    import locmsim.bot", "bot is above"),
        ("game/match.py", "from locmsim import arena", "arena is above"),
        ("errors.py", "from locmsim.nothing import x", "nothing is on no layer"),
        ("vestrock/match.py", "from locmsim.rules import cards", "rules is not for games"),
        ("vestrock/game.py", "from locmsim.arena import x", "is not for games"),
        ("vestrock/deck.py", "from locmsim.support.files import write_whole", "is not for games"),
        ("vestrock/_core.pyx", "from locmsim._core cimport State", "is not for games"),
        ("game/match.py", "from locmsim._core import State\nfrom locmsim.game import choice", ""),
        ("game/match.py", "if TYPE_CHECKING:\n    from locmsim import arena", ""),
        ("batch.py", "def f():\n    from locmsim.game.layouts import write_state", ""),
        ("search/_engine_beam.pxi", "from locmsim._core cimport (\n    state_t, table_t\n)", ""),
        ("cli/main.py", "from locmsim import __version__, bench", ""),
        ("vestrock/game.py", "from locmsim.contract import BaseGame", ""),
    ],
)
def test_faults_are_found(path: str, text: str, fault: str) -> None:
    """A fault of "" stands for sound imports."""
    found = faults(path, text)
    assert len(found) == bool(fault)
    assert all(one.startswith(path) and one.endswith(fault) for one in found)

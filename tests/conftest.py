"""Settings of the whole suite; the folder of a test determines its marker.

A single test in another folder may also be marked as slow, or as one that starts processes.
"""

import contextlib
import gc
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import amounts
import pytest
from hypothesis import settings

TESTS = Path(__file__).parent

# Set before numpy is imported: if other processes use the cores too, BLAS threads that wait for
# each other take several times as long as one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Programs that a shell runs in the background ignore Ctrl-C. Programs that tests start and
# interrupt would inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: a shared machine may stall any example, and no test is about time. All runs use the
# same examples, so that users who install the project see what its authors saw.
settings.register_profile(
    "locmsim", max_examples=6, deadline=None, print_blob=True, derandomize=True
)
settings.register_profile("more", settings.get_profile("locmsim"), max_examples=80)
# A long search by hand uses other examples each time: pytest --hypothesis-profile=thorough
settings.register_profile(
    "thorough", settings.get_profile("locmsim"), max_examples=5000, derandomize=False
)
settings.load_profile("locmsim")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--more", action="store_true", help="more examples, games and positions, as CI takes them"
    )
    parser.addoption("--most", action="store_true", help="the longest comparisons whole, too")


def pytest_configure(config: pytest.Config) -> None:
    amounts.MOST = config.getoption("--most")
    amounts.MORE = amounts.MOST or config.getoption("--more")
    if amounts.MORE and not config.getoption("--hypothesis-profile", None):
        settings.load_profile("more")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the import of a folder or file if none of its tests will run."""
    parts = config.option.markexpr.split(" and ")
    left_out = [part.removeprefix("not ") for part in parts if part.startswith("not ")]
    if collection_path.is_dir():
        return True if _kind(collection_path) in left_out else None
    text = collection_path.read_text() if collection_path.suffix == ".py" and left_out else ""
    marks = (f"\npytestmark = pytest.mark.{name}\n" for name in left_out)
    return True if any(mark in text for mark in marks) else None


def _kind(path: Path) -> str:
    """Return the kind of a folder or test, the name of its folder in tests/ or tests/vestrock/."""
    parts = path.relative_to(TESTS).parts if TESTS in path.parents else ()
    return ([part for part in parts if part != "vestrock"] or [""])[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Run one process for each core that this one may use; xdist would count other ones."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:  # which is read by xdist
        return None
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each file to one process, files whose tests wait before those that compute.

    What a file builds or starts once, a browser or a compiled example, is so made once.
    """
    if config.getvalue("dist") != "load":  # another order was asked for
        return None
    from xdist.scheduler import LoadFileScheduling  # it is not needed without -n

    config.option.loadscopereorder = False  # the order of the folders, not the number of tests
    return LoadFileScheduling(config, log)


def pytest_collection(session: pytest.Session) -> None:
    """Let each of several processes rewrite the assertions of its share of the files first.

    Rewriting takes most of the time of the collection; what others have written is in the cache.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    places = [Path(argument) for argument in session.config.args]
    files = sorted(file for place in places for file in place.rglob("test_*.py"))
    number = int(worker["workerid"].removeprefix("gw"))
    for file in files[number :: worker["workercount"]]:
        if not any(pytest_ignore_collect(path, session.config) for path in (file.parent, file)):
            sys.path.insert(0, str(file.parent))
            with contextlib.suppress(Exception, pytest.skip.Exception):  # the collection tells it
                importlib.import_module(file.stem)


def pytest_collectstart() -> None:
    """Look for no garbage while tests are collected, as most of what is made stays alive."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exempt imported objects, which stay alive, from garbage collection."""
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if TESTS in item.path.parents:
            folder = _kind(item.path)
            if folder != "unit":
                item.add_marker(folder)
    items.sort(key=lambda item: _kind(item.path) != "process")  # they wait for the longest time


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Return the test's folder; modules in such folders, and where they were, are forgotten.

    Other tests use the same names.
    """
    temporary = os.path.join(tmp_path.parent, "")
    before, path = {*sys.modules}, [*sys.path]
    yield tmp_path
    sys.path[:] = [place for place in sys.path if place in path or not place.startswith(temporary)]
    for name in {*sys.modules} - before:
        # Modules of PyTorch answer to any name; what others put there has none.
        known = getattr(sys.modules[name], "__dict__", {})
        folders = known.get("__path__")
        places = [known.get("__file__"), *(folders if isinstance(folders, Iterable) else ())]
        if any(isinstance(place, str) and place.startswith(temporary) for place in places):
            del sys.modules[name]


# ----------------------------------------------------------- what tests put in place of the world


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that calls the main function of a program with words of a command line."""

    def call(main: Callable[[], Any], *words: object) -> Any:
        monkeypatch.setattr(sys, "argv", [*map(str, words)])
        return main()

    return call


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that hides packages; modules that have imported them may be forgotten."""

    def hide(*packages: str, forgotten: tuple[str, ...] = ()) -> None:
        for name in packages:
            monkeypatch.setitem(sys.modules, name, None)
        for name in forgotten:
            monkeypatch.delitem(sys.modules, name, raising=False)

    return hide


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that registers something by a name, for one test."""
    return monkeypatch.setitem


@pytest.fixture
def spied(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Return a function that lists the later calls of a function or method, as `note` says."""

    def spy(owner: Any, name: str, note: Callable[..., Any] = lambda *words: words) -> list[Any]:
        calls: list[Any] = []
        original = getattr(owner, name)

        def noted(*arguments: Any, **options: Any) -> Any:
            calls.append(note(*arguments, **options))
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, noted)
        return calls

    return spy


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that gives a module other functions of `time`, by name."""

    def put(module: str, **functions: Callable[..., Any]) -> None:
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(**{**vars(time), **functions}))

    return put


@pytest.fixture
def opened_pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses that the browser is asked to open, none of which it does."""
    pages: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(pages.append(url) or True))
    return pages


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which the test makes its temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path

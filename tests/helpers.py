"""Shared helpers of the tests: the golden data and iteration over it.

Golden games are games of the official referee, one JSON object each (docs/rules.md, section 13, has
the form of their position snapshots). `tests/data` carries a selection of them. Where the
environment variable LOCMSIM_REFERENCE names a folder with the full files, those are used instead.
"""

# ruff: noqa: F401 (tests import from here what stands deep in the package)

import contextlib
import gzip
import io
import itertools
import json
import os
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import amounts
import pytest

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.arena import Arena, Record, Sprt, Times
from locmsim.arena.game_store import GameQuery
from locmsim.arena.game_worker import DIED, forget_agents, play_games
from locmsim.arena.store import NoResultsError, Store
from locmsim.cli.main import main  # the command line, in this process
from locmsim.processes.supervisor import Child, Supervisor
from locmsim.processes.workers import Workers, local_workers, seat_cores
from locmsim.referee import Result, play, replay_calls
from locmsim.referee.any_game import view_steps
from locmsim.referee.knowledge import knowledge_at, replayed, state_at
from locmsim.referee.transcript import log_line
from locmsim.rules.cards import Card

DATA = Path(__file__).parent / "data"
REFERENCE = Path(os.environ["LOCMSIM_REFERENCE"]) if os.environ.get("LOCMSIM_REFERENCE") else None
RULE_SETS = ("1.5", "1.2", "1.0")
each_rules = pytest.mark.parametrize("rules", RULE_SETS)
#: The same, for a test of which the quick suite takes the first rule set only.
each_rules_slowly = pytest.mark.parametrize("rules", amounts.slow_after(1, RULE_SETS))
#: Text that pages and pictures must show as it is: it ends elements, attributes and data, has what
#: a browser would run, and turns around what follows it.
HOSTILE = (
    "</script><script>document.title='hacked'</script>"
    "\"><svg onload=\"document.title='hacked'\">\u202e'&]]>"
)
LOCMSIM = [sys.executable, "-m", "locmsim"]
#: The command of a bot that starts quickly and plays PASS; further words make it misbehave.
BOT = [sys.executable, "-S", "-E", str(Path(__file__).parent / "bots" / "bot.py")]


def raises(
    error: type[Exception], message: str, call: Callable[..., object], /, *words: Any, **more: Any
) -> None:
    """Check that a call raises an error in whose message a pattern is found."""
    with pytest.raises(error, match=message):
        call(*words, **more)


Game = dict[str, Any]
Snapshot = dict[str, Any]


def golden_path(name: str) -> Path:
    """Return the golden file `name`: the full one if there is one, else the one in `tests/data`."""
    folders = [DATA] if REFERENCE is None else [REFERENCE, DATA]
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"no golden file {name} in {', '.join(map(str, folders))}")


def subset_path(rules: str) -> Path:
    """Return the games of one rule set in `tests/data`."""
    return DATA / f"games-{rules}.jsonl.gz"


def full_path(rules: str) -> Path | None:
    """Return all golden games of one rule set, or None without LOCMSIM_REFERENCE."""
    return None if REFERENCE is None else REFERENCE / f"traces-{rules}.jsonl.gz"


@cache
def golden_lines(path: Path) -> tuple[bytes, ...]:
    """Return the games of a file as lines of text: parsed, all of them would fill a gigabyte."""
    return tuple(gzip.decompress(path.read_bytes()).splitlines())


@dataclass(frozen=True)
class GoldenChunk:
    """Yield every `parts`-th golden game of a rule set, starting with game number `part`."""

    rules: str
    part: int
    parts: int

    def __str__(self) -> str:
        return f"{self.rules}-{self.part + 1}of{self.parts}"

    def __iter__(self) -> Iterator[Game]:
        path = full_path(self.rules) or subset_path(self.rules)
        for line in golden_lines(path)[self.part :: self.parts]:
            yield json.loads(line)


def golden_games(rules: str, some: slice = slice(None)) -> Iterator[Game]:
    """Yield the golden games of a rule set in `tests/data`, or some, each freshly parsed.

    Tests that look for the game of a kind take one of these; `golden_chunks` are all there are.
    """
    return map(json.loads, golden_lines(subset_path(rules))[some])


def golden_chunks(*rules: str) -> list[GoldenChunk]:
    """Return shares of the golden games for ``pytest.mark.parametrize("games", ..., ids=str)``.

    Few enough that test ids stay readable, small enough that parallel runs spread them.
    """
    parts = 2 if REFERENCE is None else 20
    return [GoldenChunk(r, part, parts) for r in rules or RULE_SETS for part in range(parts)]


def some_golden_chunks(*rules: str) -> list[GoldenChunk]:
    """Return fewer shares, for tests beyond the kernel.

    A third of the games of tests/data or with ``--more`` all of them; a fifth of the full set.
    """
    if REFERENCE is not None:
        return [chunk for chunk in golden_chunks(*rules) if chunk.part % 5 == 0]
    return (
        golden_chunks(*rules)
        if amounts.MORE
        else [GoldenChunk(r, 1, 3) for r in rules or RULE_SETS]
    )


def game_name(game: Game) -> str:
    """Name a golden game in failure messages; seeds are unique within a rule set."""
    return f"{game['rules']} {game['tag']} seed={game['seed']}"


def card_rows(game: Game) -> dict[int, list[Any]]:
    """Return the rows of all cards that may occur in a game, by base id."""
    if game["rules"] == "1.5":
        return {row[0]: row for row in game["cards"]}
    return {row[0]: row for triplet in game["cards"] for row in triplet}


def game_cards(game: Game) -> dict[int, Card]:
    """Return all cards that may occur in a game, by base id."""
    return {base_id: Card.from_row(row) for base_id, row in card_rows(game).items()}


def general_message(message: str) -> str:
    """Return a referee's error message without the parts that depend on player or offer."""
    message = re.sub(r"^\$[01]:? ?", "", message)
    return re.sub(r"\[\d+, \d+, \d+\]", "[...]", message)


def golden_match(game: Game) -> Match:
    """Return the match of a golden game before its first answer; seeds follow from ``seed``."""
    cards = game.get("cardset")
    return Match(
        game["rules"],
        seed=game["seed"],
        params={key: v for key, v in game["params"].items() if not key.endswith("Seed")},
        cards=None if cards is None else [Card.from_row(row) for row in cards],
    )


def begun_match(rules: str = "1.5", **options: Any) -> Match:
    """Return a match at the start of its battle; both players took the first cards offered."""
    match = Match(rules, **options)
    while match.phase == "choice":
        match.submit(match.to_ask[0], "PASS")
    return match


def match_of(
    rules: str = "1.5", seed: int = 4, first: Any = "greedy", second: Any = "random", **more: Any
) -> Result[Match]:
    """Return a match of agents, the random one unless another is named, without time limits."""
    agents = [make_agent(one) if isinstance(one, str) else one for one in (first, second)]
    return play(agents, Match(rules, seed=seed, **more), timeout_scale=0)


def answer_of(match: Match, agents: Sequence[Any]) -> tuple[int, str]:
    """Return which player is asked first, and what their agent answers."""
    player = match.to_ask[0]
    ask = agents[player].choose if match.state is None else agents[player].act
    return player, ask(match.observation(player))


def contest(match: Match, specs: Sequence[str], seeds: Sequence[int] = (0, 1)) -> list[str]:
    """Play a match of agents, whose actions have to be legal; return their answers."""
    agents = [make_agent(spec) for spec in specs]
    for agent, seed in zip(agents, seeds, strict=True):
        agent.reset(seed)
    lines = []
    while match.to_ask:
        player, line = answer_of(match, agents)
        result = match.submit(player, line)
        assert result.error is None
        assert result.ignored in ([], ["PASS"])
        lines.append(line)
    return lines


def golden_result(game: Game, **more: Any) -> Result[Match]:
    """Return a golden game as the referee's result."""
    steps = range(max(map(len, game["choices"])))
    answers = [(p, game["choices"][p][i], 0) for i in steps for p in (0, 1)]
    answers += [(turn["player"], turn["output"], 0) for turn in game["turns"]]
    return replay_calls(golden_match(game), answers, **more)


def write_log(path: Path, result: Result[Match], names: Sequence[str] = ("", "")) -> None:
    """Write the log of a match, as `locmsim play -l` does."""
    path.write_text(log_line(result, names))


#: Replaces the times of a game, which differ each time it is played.
NO_TIMES = (Times(0, 0, 0), Times(0, 0, 0))


def without_times(record: Record) -> list[Any]:
    """Return a value with times replaced."""
    answers = [(answer.seat, answer.line) for answer in record.answers]
    return [
        record.fixture,
        record.outcome._replace(times=NO_TIMES, late=(0, 0)),
        answers,
    ]


def run_on(monkeypatch: pytest.MonkeyPatch, executor: Executor, slots: int) -> None:
    """Let arenas play on an executor in place of processes."""
    workers = Workers(executor, lambda: slots)
    monkeypatch.setattr(
        "locmsim.arena.tournament.local_workers",
        lambda *words, **options: contextlib.nullcontext(workers),
    )


def needs(package: str) -> pytest.MarkDecorator:
    """Return a mark that skips tests without a package, and imports nothing as tests are collected.

    Each process of a run collects all tests, so that `pytest.importorskip` takes its time in each.
    """
    return pytest.mark.skipif(find_spec(package) is None, reason=f"{package} is not installed")


@contextlib.contextmanager
def tournament(*where_and_who: Any, **settings: Any) -> Iterator[Arena]:
    """Yield an arena after its games, played in this process."""
    with Arena(*where_and_who, **settings) as arena:
        arena.run(jobs=1)
        yield arena


def played(arena: Arena) -> dict[int, list[Any]]:
    """Return all games of an arena by number, with times replaced."""
    numbers = sorted(outcome.number for outcome in arena.games())
    return {number: without_times(arena.record(number)) for number in numbers}


@contextlib.contextmanager
def growing_results(
    db: Path, players: list[Any], sprt: Sprt | None = None, **settings: Any
) -> Iterator[Store]:
    """Yield the new file of a tournament, to which the caller adds games in the arena's place."""
    with Arena(None, players, **settings) as arena:  # in memory
        begun = arena.settings
    with Store(db, write=True) as store:
        store.save(replace(begun, sprt=sprt))
        yield store


def change(db: str | Path, statement: str, values: Sequence[object] = ()) -> None:
    """Change a file of results that is closed, as no part of the library does."""
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        connection.execute(statement, values)


def opened_databases(patch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """Return a list of the connections that are opened to SQLite files from now on."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def noted(*arguments: Any, **more: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **more))
        return opened[-1]

    patch.setattr(sqlite3, "connect", noted)
    return opened


@contextlib.contextmanager
def full_disk(database: sqlite3.Connection) -> Iterator[None]:
    """Limit the file of a connection to the pages that it has, as a full disk does."""
    ((pages,),) = database.execute("PRAGMA page_count")
    database.execute(f"PRAGMA max_page_count = {pages}")
    yield
    with contextlib.suppress(sqlite3.ProgrammingError):  # it may be closed
        database.execute("PRAGMA max_page_count = 1000000")


def children_of(pid: int) -> list[int]:
    """Return the child processes of a process, and those that supervisors have for it (Linux)."""
    children: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may have ended
            parent = int(file.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(file.parent.name))
    found, parents = [], [pid]
    for parent in parents:  # grows
        for child in children.get(parent, []):
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{child}/cmdline").read_bytes()  # empty if it has ended
                if command:
                    (parents if b"import reaper" in command else found).append(child)
    return sorted(found)


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process and its child processes have used (Linux)."""
    total = 0.0
    for one in [pid, *children_of(pid)]:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def running(pids: Iterable[int]) -> list[int]:
    """Return the processes that are alive, without zombies (Linux)."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):  # it may have ended
            stat = Path(f"/proc/{pid}/stat").read_text()
            if stat.rpartition(")")[2].split()[0] not in "ZX":
                found.append(pid)
    return found


def wait_for(what: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Return a value as soon as it is true."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)
    return found


def assert_gone(processes: Iterable[int]) -> None:
    """Wait until processes have ended, at most 20 seconds (Linux)."""
    left = [*processes]
    wait_for(lambda: not running(left), 20)


@contextlib.contextmanager
def few_descriptors(count: int) -> Iterator[None]:
    """Let this process open only `count` more files at a time."""
    import resource  # only POSIX has this module

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = set(map(int, os.listdir("/proc/self/fd")))
    free = (number for number in itertools.count() if number not in used)
    limit = next(itertools.islice(free, count, None))
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def python(*words: object, code: int = 0, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the interpreter in a process of its own, which ends with this code."""
    options = {"capture_output": True, "timeout": 300, **options}
    done = subprocess.run([sys.executable, *map(str, words)], text=True, **options)
    assert done.returncode == code, done.stderr
    return done


locmsim = partial(python, "-m", "locmsim")


class Output(NamedTuple):
    """What a command has written to its standard output and its standard error."""

    out: str
    err: str


def output_of(*words: str, code: int = 0, program: Callable[[list[str]], int] = main) -> Output:
    """Run the command line in this process, which ends with this code."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            ended: object = program([*words])
        except SystemExit as end:
            ended = end.code
            if isinstance(ended, str):  # as the interpreter does
                print(ended, file=sys.stderr)
                ended = 1
    for stream in streams:
        stream.seek(0)
    output = Output(*(stream.read() for stream in streams))
    assert ended == code, "\n".join(output)
    return output


def default_signals() -> None:
    """Set a child's signals as on a terminal, even where the tests run in the background."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def started(*words: str, **options: Any) -> "subprocess.Popen[str]":
    """Start the command line in a process of its own, whose signals are as on a terminal."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*LOCMSIM, *words], text=True, preexec_fn=default_signals, **options)


def stopped(*words: str) -> tuple[str, str]:
    """Run a command until its progress bar shows a step, then press Ctrl-C.

    Return its standard output and the end of what its terminal shows.
    """
    import fcntl
    import pty
    import termios

    terminal, error = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 40, 150, 0, 0))
    with started(*words, stderr=error) as process:
        os.close(error)
        seen, end = b"", time.monotonic() + 60
        while not re.search(rb" [1-9]\d*/", seen) and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                seen += os.read(terminal, 4096)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT
    shown = os.read(terminal, 4096).decode()
    os.close(terminal)
    return out, shown


# --------------------------------------------------------------------------------- environments

#: Name of an id of environments -> the options that it stands for.
ID_OPTIONS = {
    "Battle": {"episode": "battle"},
    "Construct": {"episode": "choice"},
    "Draft": {"episode": "choice", "rules": "1.2"},
    "Match": {"episode": "match"},
}


def env_of(name, **options):
    """Return the environment of one row that an id makes."""
    from locmsim.envs import LocmEnv

    return LocmEnv(**{**ID_OPTIONS[name], **options})


def rows_of(name, num_envs=1, **options):
    """Return the vector environment that an id makes."""
    from locmsim.envs import LocmVectorEnv

    return LocmVectorEnv(num_envs, **{**ID_OPTIONS[name], **options})


construct_env, draft_env, match_env = (partial(env_of, n) for n in ("Construct", "Draft", "Match"))
construct_rows, draft_rows, match_rows = (
    partial(rows_of, name) for name in ("Construct", "Draft", "Match")
)

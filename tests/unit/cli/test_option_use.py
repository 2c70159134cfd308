"""Every option of a command does something in each of its modes, or is refused there by name.

A mode is a command line. Its table says which further options apply; they are given together, and
each has to be read while the command runs. All others have to be refused. Words that begin with
"vestrock" are for the tool of that name.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import wraps
from importlib.resources import files as files_of
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers import output_of, write_log
from parsers import options_of, subcommands
from vestrock_help import FileAccounts, Standings

import vestrock.cli
from locmsim import Match
from locmsim.arena import Arena
from locmsim.cli import main as tool
from locmsim.game.positions import start_position
from locmsim.referee import play
from locmsim.tuning import Tuner
from vestrock import Server, format_deck, generate_deck


class Mode(NamedTuple):
    """A command line, in which names in braces stand for files."""

    words: str
    #: Options that apply, with their values, as words of a command line.
    more: str = ""
    #: Options that apply as well, but not with those: another mode has them, or a test of its own.
    elsewhere: str = ""


#: A bot with a placeholder, whose braces `filled` doubles.
TUNED = "beam:time_ms=0,nodes={{nodes=3:1..9:int}}"
#: The parameters of a match of Vestrock.
MATCH = "--init-hp 4 --turns 4 --draws 1 --burns 1 --hand-limit 3"
#: How programs are asked.
ASKED = "--clock --memory-limit"
#: What another mode of the arena has.
ARENA = (
    "--games --rules --ids --game --mode --no-mirror --seed --seeds --pairs-per-set --add --more"
    " --against --retire --sprt --timeout-scale --match-limit --lenient --json --cores --isolate"
    f" --dask --decks --pilot --verify --anchor --force -v {ASKED}"
)
PLAY = f"-seed --match-limit --lenient {ASKED}"
MODES = [
    Mode(
        "play greedy random --timeout-scale 0",
        "--rules 1.5 -seed 3 -d shufflePlayer0Seed=1 --ids old --decks random --match-limit 9"
        " --lenient --isolate --logs {new} --force --text --stderr --server --clock cpu"
        " --memory-limit 900M",
        "--json --game",
    ),
    Mode(
        "play greedy random --timeout-scale 0 --rules 1.0 --json",
        "-league 2 --server",
        f"{PLAY} --isolate --logs -d --decks",
    ),
    Mode(
        "play greedy random --timeout-scale 0 --game locm:rules=1.2",
        "-seed 3 --ids new",
        f"{PLAY} --isolate --logs --force --text --stderr --server --json -d --decks -league",
    ),
    Mode(
        "play random rule --game vestrock",
        "-seed 3 --match-limit 9 --json",
        f"{PLAY} --timeout-scale --isolate --logs --text --stderr --server -d",
    ),
    Mode(
        "play --replay {log}",
        "--rules 1.5 --ids new --text --stderr --server --logs {new} --force",
        "--json",
    ),
    Mode("play --replay {db}:1", "--text", "--stderr --server --logs --json"),
    Mode("play --replay {other}", "--text", "--stderr --server --logs --json"),
    Mode(
        "ask greedy {log} --turn 2",
        "--input {new} --force --seed 1 --rules 1.5 --ids new --timeout-scale 0 --json",
    ),
    Mode(
        "ask beam:nodes=20,time_ms=0 {db}:1 --turn 2",
        "--done PASS --seed 1 --json --timeout-scale 1",
        "--input --force",
    ),
    Mode(
        "ask random {other} --turn 2", "--seed 1 --json --timeout-scale 1 --input {new}", "--force"
    ),
    Mode(
        "ask greedy {db} --lost",
        "--player random --last 1 --jobs 1 --seed 1 --timeout-scale 0 --json",
    ),
    Mode(
        "analyse {log} --turn 2 --nodes 20",
        "--rules 1.5 --ids new --done PASS --seed 1 --json",
        "--tree",
    ),
    Mode("analyse {db}:1 --turn 2 --nodes 20", "--seed 1 --json", "--tree --done"),
    Mode("analyse {log} --turn 2 --seconds 0.01", "--seed 1", "--rules --ids --done --json"),
    Mode(
        "analyse {log} --turn 2 --tree --nodes 20",
        "--worlds 1 --rules 1.5 --ids new --seed 1 --json",
        "--hand --done",
    ),
    Mode("analyse {log} --report --nodes 20", "--rules 1.5 --ids new --seed 1 --json"),
    Mode(
        "analyse {db} --report --nodes 20",
        "--player random --lost --games 1 --jobs 1 --json",
        "--seed",
    ),
    Mode(
        "analyse --file {position} --nodes 20",
        "--rules 1.5 --done PASS --seed 1 --json",
        "--tree",
    ),
    Mode(
        "analyse --file {input} --nodes 20", "--ids new --rules 1.5 --json", "--tree --done --seed"
    ),
    Mode("analyse --puzzles built-in random", "--rules 1.0 --seed 1 --json --jobs 1"),
    Mode("perft", "--seed 3 --depth 1 --rules 1.2 --divide"),
    Mode("perft {position}", "--depth 1 --rules 1.5 --divide", "--turn"),
    Mode("perft {log} --turn 2", "--depth 1 --rules 1.5 --divide"),
    Mode("perft {db}:1 --turn 2", "--depth 1 --divide"),
    Mode(
        "replay {log}",
        "--output {new} --names a b --view 0 --rules 1.5 --ids new --force",
        "--open --engine",
    ),
    Mode("replay {db}:1", "--names a b --view 0", "--output --open --engine"),
    Mode("replay {input}", "--names a b --view 0 --rules 1.5", "--output --open"),
    Mode("replay {log} --output -", "--view 0", "--names --rules --ids --engine"),
    Mode("replay --play", "--output {new} --rules 1.2 --open --force"),
    Mode(
        "export --rules 1.0 --output {new}",
        "--search mcts --time-ms 50 --force --readable --ascii --write-weights {new2}",
        "--weights --kernel --engine --paste",
    ),
    Mode(
        "export --engine --rules 1.0 --output {new}",
        "--search mcts --weights {weights} --write-weights {new2} --force",
    ),
    Mode("export --paste {c_bot} --output {new}", "--rules 1.0 --force"),
    Mode("export --kernel --output {new}", "--rules 1.0 --force", "--with --minify"),
    Mode("export --kernel --with belief --rules 1.0 --output -", "--minify", "--weights"),
    Mode(
        "export --kernel --with search --rules 1.0 --output -",
        "--search mcts --ascii",
        "--weights --minify",
    ),
    Mode(
        "dataset random --output {new} --jobs 1",
        "--games 2 --rules 1.5 --layout gym-locm --decks random --seed 3 --force",
    ),
    Mode(
        "dataset {db} --output {new}",
        "--games 2 --rules 1.5 --layout entities --player greedy --force",
    ),
    Mode("arena --verify {db}", "--jobs 1 --cores 1 --force --json -v", "--isolate"),
    Mode("arena show {db}", "--player greedy", "--json --stderr --csv --cards"),
    Mode("arena show {db} --json", "--cards --player greedy"),
    Mode("arena show {db} --csv {new}", "--cards --force --player greedy"),
    Mode("arena show {db} --csv -", "--cards --player greedy"),
    Mode("arena show {db} --stderr 1"),
    Mode("cards generate 3", "--output {new} --force", "--weights"),
    Mode("cards draw 3 --output {new}", "--force", "--weights --png"),
    Mode("bench --signatures"),
    Mode("check greedy", "--rules 1.5 --timeout-scale 0 --json", "--game"),
    Mode("check greedy --game locm:rules=1.2", "--timeout-scale 0", "--json"),
    Mode("new bot {new}"),
    Mode(
        "web {log} {other}",
        "--db {db} --bot greedy --save {new} --port 0 --timeout-scale 3 --open",
    ),
    Mode(
        "tune --output {new}",
        "--rules 1.5 --parts eval --weights {weights} --state {new2} --iterations 0 --games 2"
        " --match-games 2 --nodes 9 --pools 1 --seed 3 --proof-games 2 --jobs 1 -v",
        "--dask",
    ),
    Mode(
        "tune --output {new} --dask tcp://a:1 --iterations 0",
        "--games 2",
        "--rules --parts --weights --state --match-games --nodes --pools --seed --proof-games -v",
    ),
    Mode(
        f"optimize {TUNED} --timeout-scale 0",
        "--against greedy --games 20 --method spsa --rules 1.5 --seed 3 --proof-games 2"
        " --state {new} --plot {new2} --force --match-limit 9 --lenient --jobs 1 -v",
        "--template --game --dask",
    ),
    Mode(
        f"optimize {TUNED} --timeout-scale 0 --game locm:rules=1.2 --games 20 --proof-games 0",
        "--seed 3 --jobs 1",
        "--against --method --state --plot --match-limit --lenient -v --template --dask",
    ),
    Mode(
        "optimize x{{file}} --template {template} --proof-games 0 --dask tcp://a:1",
        "--games 20 --timeout-scale 2",
        "--against --method --rules --game --seed --state --plot --match-limit --lenient -v",
    ),
    Mode(
        "arena greedy random --timeout-scale 0 --games 2",
        "--rules 1.5 --ids old --mode round-robin --seed 3 --pairs-per-set 1 --match-limit 9"
        " --lenient --json --jobs 1 --cores 1 --anchor greedy=1000 -v --clock cpu"
        " --memory-limit 900M",
        "--game --no-mirror --seeds --db --sprt --isolate --dask --decks --pilot --verify",
    ),
    Mode(
        "arena greedy random --timeout-scale 0 --jobs 1 --db {new} --sprt 0 5 --seeds 5,7",
        "--games 2 --alpha 0.1 --beta 0.1 --sprt-of random --no-mirror --force --decks random",
        "--rules --ids --game --mode --pairs-per-set --add --more --against --retire"
        f" --match-limit --lenient --json --cores --isolate --pilot --verify --anchor -v {ASKED}",
    ),
    Mode(
        "arena greedy random --timeout-scale 0 --jobs 1 --games 2 --game locm:rules=1.2",
        "--pilot greedy",
        "--mode --no-mirror --seed --seeds --pairs-per-set --db --sprt --match-limit --lenient"
        f" --json --cores --isolate --decks --verify --anchor -v {ASKED}",
    ),
    Mode(
        "arena greedy random --dask tcp://a:1",
        "--isolate --games 2",
        "--rules --ids --game --mode --no-mirror --seed --seeds --pairs-per-set --db --sprt"
        f" --timeout-scale --match-limit --lenient --json --decks --pilot --verify --anchor -v"
        f" {ASKED}",
    ),
    Mode(
        "arena --db {pool} --jobs 1 --add osl",
        "--games 2 --more 2 --against greedy --retire random --anchor greedy=1000 --force --json",
        "--rules --ids --game --mode --no-mirror --seed --seeds --pairs-per-set --sprt --no-sprt"
        " --timeout-scale --match-limit --lenient --cores --isolate --dask --decks --pilot --verify"
        f" -v {ASKED}",
    ),
    Mode("arena --db {pool} --no-sprt", "--jobs 1", ARENA),
    Mode(
        "arena random rule --game vestrock --games 2",
        "--seed 3 --jobs 1 --json",
        "--mode --no-mirror --seeds --db --sprt --timeout-scale --match-limit --lenient --cores"
        f" --isolate --dask --verify --anchor -v {ASKED}",
    ),
    Mode(
        "vestrock serve --spectator-port 4712 --log {new}",
        "--host 127.0.0.1 --port 4711 --accounts {accounts} --turn-seconds 2 --early --players 3"
        " --break-turns 1 --tournaments 1 --seed 3 --standings {new2} --log-refused"
        f" --spectators open -v {MATCH}",
        "--deck",
    ),
    Mode(
        "vestrock serve --deck {deck}",
        "--port 4711",
        "--host --spectator-port --accounts --turn-seconds --early --players --break-turns"
        f" --tournaments --standings --log -v {MATCH}",
    ),
    Mode(
        "vestrock bot random",
        "--host a --port 5 --user u --password p --seed 3 --turn-seconds 2 --reserve 0.1"
        " --reconnect 1",
    ),
    Mode("vestrock deck 3", "-n 5 --extreme"),
    Mode(
        "vestrock tournament random rule",
        f"--tournaments 1 --seed 3 --time-ms 5 --standings {{new}} {MATCH}",
    ),
    Mode("vestrock standings {standings}"),
    Mode("vestrock bench --signature"),
    Mode("vestrock bench", "--seconds 0.01 --json", "--signature"),
]
#: Values for options that are to be refused.
VALUES = {
    "--anchor": "greedy=1", "--beta": "0.1", "--csv": "x", "--dask": "tcp://a:1", "--depth": "1",
    "--decks": "random", "--done": "PASS", "--file": "x", "--game": "vestrock", "--hand": "1",
    "--ids": "old", "--jobs": "1", "--layout": "entities", "--output": "x", "--pilot": "random",
    "--player": "greedy", "--replay": "x.json", "--rules": "1.5", "--search": "beam",
    "--seconds": "1", "--seed": "1", "--seeds": "1", "--view": "0", "--weights": "x",
    "--with": "deck", "-d": "seed=1", "-p1": "greedy", "-p2": "greedy", "--league": "1",
    "--group": "start", "--names": "a b", "--sprt": "0 5", "--alpha": "0.1", "--spectators": "open",
}  # fmt: skip


def checked(check: Any, *_: Any) -> Any:
    """Stand in for a match that checks a program."""
    from locmsim.referee.checks import CheckResult

    return CheckResult(check, answers=["PASS"], times=[(1, 2.0, 200.0)])


async def nothing(*_: Any) -> None:
    """Stand in for a server that starts, and ends at once."""


def ends_at_once(*_: Any, **__: Any) -> Iterator[Any]:
    """Stand in for games."""
    return iter(())


class Connection:
    """Stands in for a client of Vestrock and for what plays by it."""

    figures = argparse.Namespace(replies={}, turns=1, moves=1, commands=1, late=0, longest=0.1)

    def __init__(self, *_: Any, **__: Any) -> None:
        self.client = self

    def close(self) -> None:
        """Do nothing."""

    def run(self, connect: Callable[[], object]) -> None:
        """Do nothing."""


#: Words that a command line begins with or has -> what is too slow, or needs another machine, and
#: what takes its place.
STUBS: dict[str, dict[str, Any]] = {
    "check": {"locmsim.referee.checks.run_check": checked},
    "web": {
        "locmsim.web.server.serve": lambda site, port, ready: ready(f"http://127.0.0.1:{port}"),
        "webbrowser.open": lambda url: True,
    },
    "tune": {"locmsim.tuning.Tuner.run": wraps(Tuner.run)(ends_at_once)},
    "--template": {"locmsim.tuning.optimization.Optimization.run": ends_at_once},
    "--play": {
        "locmsim.web.file_play.play_html": lambda rules: f"<!doctype html>{rules}",
        "webbrowser.open": lambda url: True,
    },
    "tcp://a:1": {"locmsim.arena.Arena.run": lambda *_, **__: None},
    "serve": {"vestrock.server.Server.start": nothing, "vestrock.server.Server.run": Server.close},
    "bot": {"vestrock.client.Client": Connection, "vestrock.player.Player": Connection},
    "bench": {"vestrock.bench.functions": ends_at_once, "vestrock.bench.signature": lambda: 7},
}


class Recording(argparse.Namespace):
    """Options that know which of them were asked for."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            super().__getattribute__("_read").add(name)
        return super().__getattribute__(name)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return files by the names of the modes."""
    from locmsim.agents import make_agent

    folder = tmp_path_factory.mktemp("files")
    match = Match("1.5", seed=1)
    result = play([make_agent("greedy"), make_agent("random")], match, timeout_scale=0)
    write_log(folder / "log.json", result, ("greedy", "random"))
    (folder / "position.txt").write_text(start_position(1).to_text())
    (folder / "input.txt").write_text(start_position(1).observation(0).format())
    with Arena(folder / "db.db", ["random", "greedy"], games=2, seed=1) as arena:
        arena.run(jobs=1)
    log = ["play", "random", "rule", "--game", "vestrock", "--logs", str(folder / "other.json")]
    output_of(*log, "--seed", "1")
    with Arena(folder / "pool.db", ["random", "greedy"], games=2, seed=1) as arena:
        arena.run(jobs=1)
    (folder / "template.txt").write_text("{attack=2:0..5}")
    (folder / "deck.txt").write_text(format_deck(generate_deck(3, 100)))
    FileAccounts.set_password(folder / "accounts.txt", "a", "b")
    with Standings(folder / "standings.db"):
        pass
    found = {path.stem: str(path) for path in folder.iterdir()}
    found["weights"] = str(files_of("locmsim").joinpath("data", "weights.npz"))
    found["c_bot"] = str(Path(__file__).parents[3] / "examples" / "c-bot" / "bot.c")
    return found


def filled(words: str, files: dict[str, str], folder: Path) -> list[str]:
    new = {"new": str(folder / "new"), "new2": str(folder / "new2")}
    return [word.format(**files, **new) for word in words.split()]


def tool_of(words: list[str]) -> tuple[Any, list[str]]:
    """Return the tool and its words."""
    return (vestrock.cli, words[1:]) if words[0] == "vestrock" else (tool, words)


def parser_of(words: list[str]) -> argparse.ArgumentParser:
    """Return the parser that the words of a command line reach."""
    module, words = tool_of(words)
    if words[0] == "arena" and words[1] != "show":
        words = ["arena", "run"]
    parser: argparse.ArgumentParser = module.command_parser(words[0])
    for word in words:
        if not (inner := subcommands(parser)):
            break
        parser = inner[word]
    return parser


def given(words: str, known: dict[str, argparse.Action]) -> set[str]:
    """Return the attributes of the options in a text."""
    return {known[word].dest for word in words.split() if word in known}


@pytest.fixture
def ready(mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to an empty folder, and put stubs where something is slow."""
    monkeypatch.chdir(tmp_path)
    words = mode.words.split()
    if words[0] == "web":
        pytest.importorskip("starlette")
    for key in STUBS.keys() & {*words}:
        for place, stub in STUBS[key].items():
            monkeypatch.setattr(place, stub)


@pytest.mark.slow
@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.words)
def test_options_that_apply_are_read(
    mode: Mode,
    files: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    read: set[str] = set()
    words = filled(f"{mode.words} {mode.more}", files, tmp_path)
    module, arguments = tool_of(words)
    parsed = module.parsed

    def recording(*arguments: Any) -> Any:
        return Recording(_read=read, **vars(parsed(*arguments)))

    monkeypatch.setattr(module, "parsed", recording)
    assert module.main(arguments) in (0, 1), capsys.readouterr().err
    known = options_of(parser_of(words))
    wanted = given(f"{mode.words} {mode.more}", known)
    assert wanted <= read, f"no effect: {', '.join(sorted(wanted - read))}"


@pytest.mark.slow
@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.words)
def test_options_that_do_not_apply_are_refused(
    mode: Mode, files: dict[str, str], tmp_path: Path
) -> None:
    module, words = tool_of(filled(mode.words, files, tmp_path))
    known = options_of(parser_of(mode.words.split()))
    applying = given(f"{mode.words} {mode.more} {mode.elsewhere}", known)
    for action in {*known.values()}:
        if action.dest in applying:
            continue
        name = max(action.option_strings, key=len)
        value = [] if action.nargs == 0 else VALUES.get(name, "3").split()
        err = output_of(*words, name, *value, code=2, program=module.main).err
        error = err.splitlines()[-1].partition(" error: ")[2]
        assert name in error or action.option_strings[0] in error, (name, error)

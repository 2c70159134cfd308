"""Wrong usage of the tools: the exit code is 2 and the last line says which option, and why."""

import argparse
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers import main, output_of
from parsers import COMMANDS, all_commands, arguments, command_parser, rules_of

import vestrock.cli
from locmsim import bot

TOOLS: dict[str, Callable[[list[str]], int | None]] = {
    "locmsim": main,
    "bot": bot.main,
    "vestrock": vestrock.cli.main,
}
NIM = "locmsim play greedy random --game nim"
PLAY = "locmsim play -p1 true -p2 true"
ARENA = "locmsim arena greedy random"
BELIEF = "locmsim export --kernel --with belief --rules 1.0 -o a.h"
TUNE = "locmsim optimize --jobs 1"
#: The rules and ids of a game of results cannot be given: they would be ignored.
PLAYED = "does not apply to a.db:7, a game of an arena's results"
#: A command line, a part of the last line, and the exit code if it is 1.
REFUSED: list[tuple[str, str] | tuple[str, str, int]] = [
    ("locmsim play", "required: -p1, -p2"),
    ("locmsim -p1 true", "required: -p2"),
    (f"{PLAY} -d sead=1", "unknown parameter 'sead'"),
    (f"{PLAY} -d 1", "-d: expected key=value, got '1'"),
    (f"{PLAY} -seed abc", "-seed/--seed: expected an integer"),
    (f"{PLAY} -seed {1 << 63}", "-seed/--seed: expected -2^63 to"),
    ("locmsim play gredy true", "no agent is called 'gredy'; did you mean 'greedy'"),
    ("locmsim -p1 true -p2 greedy:x=1", "-p2: agent greedy: unknown option 'x'"),
    (f"{PLAY} --rules 1.4", "--rules: expected one of 1.5, 1.2, 1.0, got '1.4'"),
    (f"{PLAY} --timeout-scale -1", "expected 0 or more"),
    (f"{PLAY} --match-limit 0", "expected more than 0"),
    (f"{PLAY} -l /nowhere/game.json", "no folder /nowhere"),
    (f"{PLAY} -l /", "it is a folder"),
    (f"{PLAY} extra", "expected two bots"),
    (f"{PLAY} -seed 1 -league 2", "-league: only rules 1.0 have leagues"),
    (f"{PLAY} --ids old --rules 1.2", "error: --ids: does not apply"),
    ("locmsim -r game.json -p2 true", "does not apply with --replay"),
    ("locmsim play true", "expected two bots"),
    ("locmsim play true true true", "expected two bots"),
    ("locmsim play greedy random --force --logs -", "--force: does not apply with --logs -"),
    (f"{NIM} --rules 1.0", "--rules: does not apply with --game nim"),
    ("locmsim play greedy random --game locm:rules=1.2 --rules 1.0", "with --game locm:rules=1.2"),
    ("locmsim ask greedy x.db:1", "one of --turn and --lost"),
    ("locmsim analyse", "one of GAME and --file"),
    ("locmsim analyse x.db:1", "x.db:1: a game of results needs --turn N, or --report"),
    ("locmsim replay m.json --open --output -", "--open: does not apply with --output -"),
    ("locmsim replay m.json --force --output -", "--force: does not apply with --output -"),
    ("locmsim plays", "unknown command 'plays'; did you mean 'play'?"),
    ("locmsim aren random", "unknown command 'aren'; did you mean 'arena'?"),
    ("locmsim greddy random", "unknown command 'greddy'; did you mean 'greedy'?"),
    ("locmsim cards", "ACTION"),
    ("locmsim cards generate x", "SEED"),
    ("locmsim new robot folder", "KIND: expected one of trainer, "),
    ("locmsim check greedy --game vestrock --rules 1.0", "apply with --game vestrock"),
    ("locmsim check greedy:x=1", "BOT: agent greedy: unknown option 'x'"),
    ("locmsim check greedy --game vestrock", "--game: Vestrock has no checks"),
    ("locmsim check greedy --game chess", "--game: unknown game 'chess'"),
    ("locmsim tune", "the following arguments are required: -o/--output"),
    ("locmsim tune -o t.npz --weights nowhere.npz", "nowhere.npz: No such file", 1),
    ("locmsim tune -o t.npz --network-size large", "--network-size: needs the part network"),
    ("locmsim tune -o t.npz --network-size vast", "expected one of same, small, large"),
    ("locmsim tune -o t.npz --jobs 0", "--jobs: expected 1 to 65536, got 0"),
    ("locmsim tune -o nowhere/t.npz", "there is no folder"),
    (
        "locmsim export -o a.c",
        "--rules is needed for a bot or an engine, --kernel for",
    ),
    ("locmsim export -o a.c --rules 1.0 --weights none.npz", "none.npz: No such file", 1),
    ("locmsim export -o a.h --kernel --ascii", "not apply with --kernel without --with"),
    ("locmsim export -o a.h --kernel --with deck", "deck needs the rules, whose numbers it has", 1),
    ("locmsim export -o a.h --kernel --with dek", "unknown part 'dek': expected some of", 1),
    (
        "locmsim export -o a.h --kernel --with dek --rules 1.0",
        "unknown part 'dek': expected some",
        1,
    ),
    ("locmsim export -o a.h --kernel --with deck --rules 1.0", "have no deck: ask for draft", 1),
    ("locmsim export -o a.h --kernel --search mcts", "--search: does not apply with --kernel with"),
    (f"{BELIEF} --search mcts", "--search: does not apply with --with belief"),
    (f"{BELIEF} --ascii", "--ascii: does not apply with --with belief"),
    ("locmsim arena greedy", "players: expected at least two, got 1"),
    ("locmsim arena --games 4", "expected players, or --db with results to resume"),
    (f"{ARENA} --games 5", "--games: mirrored pairs need an even"),
    (f"{ARENA} --games x", "--games: expected an integer, got 'x'"),
    (f"{ARENA} --seed 1 --seeds 1", "not allowed with"),
    (f"{ARENA} --seeds 1-5", "--seeds: expected some like"),
    (f"{ARENA} --games {'9' * 30}", "--games: expected 1 to 1000000000000"),
    (f"{ARENA} --sprt 0 5 --sprt-of greed", "--sprt-of: no player is called 'greed'"),
    ("locmsim arena --verify nowhere.db", "nowhere.db: no such file", 1),
    ("locmsim arena --verify nowhere.db 7,x", "--verify: expected some like"),
    (f"{ARENA} --sprt 5 0", "--sprt: expected elo0 < elo1"),
    (f"{ARENA} random --sprt 0 5", "--sprt: expected two players"),
    (f"{ARENA} --decks random --pilot greedy", "--pilot: does not apply with --decks"),
    (f"{ARENA} --jobs 1000", "--jobs: 1000 games with time limits"),
    ("locmsim arena greedy randon", "no program and no agent is called 'randon'; did you"),
    (f"{ARENA} --pairs-per-set 0", "--pairs-per-set: expected 1 to 1000000000"),
    (f"{ARENA} --ids old --rules 1.0", "--ids: does not apply to rules 1.0"),
    (f"{ARENA} --game vestrock --ids old", "--ids: does not apply with --game vestrock"),
    (
        f"{ARENA} --game locm:rules=1.2 --rules 1.0",
        "--rules: does not apply with --game locm:rules=1.2",
    ),
    ("locmsim arena greedy rule:x=1", "unknown option 'x'"),
    ("locmsim arena show nowhere.db", "nowhere.db: no such file", 1),
    ("locmsim arena show nowhere.db --csv /nowhere/x.csv", "there is no folder /nowhere"),
    ("locmsim arena show a.db --json --player greedy", "not apply with --json without --cards"),
    ("locmsim arena show a.db --csv a.csv --player greedy", "with --csv without --cards"),
    ("locmsim arena run greedy random --db /nowhere/x.db", "cannot open /nowhere/x.db", 1),
    (f"{TUNE} ./bot", "there is no placeholder, such as {width=40:1..200:int}"),
    (f"{TUNE} './no-such-bot {{a=1}}'", "no program and no agent is called './no-such-bot'"),
    (f"{TUNE} 'greedy:deck={{a=1}}'", "deck"),
    (f"{TUNE} './bot {{a=1}}' --games 2", "games: expected 20 to"),
    (f"{TUNE} './bot {{a=1}}' --proof-games 3", "--proof-games: mirrored pairs need an even"),
    (f"{TUNE} './bot {{a=1}}' --template none.in", "--template: none.in: No such file"),
    (f"{TUNE} './bot {{a=1}}' --against bram", "no program and no agent is called 'bram'"),
    (f"{TUNE} './bot {{a=1}}' --plot no/tuned.svg", "cannot write no/tuned.svg"),
    (f"{TUNE} './bot {{a=1}}' --plot tuned.PNG", "tuned.PNG: the picture is an SVG; name it .svg"),
    (f"{TUNE} ./bot --game vestrock --rules 1.0", "--rules: does not apply with --game vestrock"),
    ("bot --agent nobody", "unknown agent 'nobody': expected one of random, greedy"),
    ("bot --agent bem", "module:Class or file.py:Class; did you mean 'beam'?"),
    ("bot --agent no/such.py:Mine", "agent no/such.py:Mine: no file 'no/such.py'"),
    ("bot --deck worst", "agent mcts: deck: expected one of default"),
    ("bot --deck clasic", "got 'clasic'; did you mean 'classic'?"),
    ("bot --search worst", "--search: expected one of beam, mcts, got 'worst'"),
    ("bot --agent random --time-ms 5", "--time-ms: does not apply with --agent random"),
    ("bot --agent beam:time_ms=5 --time-ms 5", "--time-ms: does not apply with --agent, which"),
    ("bot --time-ms soon", "--time-ms: expected 0 to 1e+09, got 'soon'"),
    ("bot --speed 5", "unrecognized arguments: --speed 5"),
    ("vestrock serve --init-hp 1", "--init-hp: expected 2 to 10000, got 1"),
    ("vestrock serve --players 1", "--players: expected 2 to 1000, got 1"),
    ("vestrock serve --turns=3", "turns: expected an even number, got 3"),
    ("vestrock serve --host=0.0.0.0", "accounts: expected a file"),
    ("vestrock serve --log=/missing/log", "/missing/log: No such file", 1),
    ("vestrock serve --deck=/missing/deck", "/missing/deck: No such file", 1),
    ("vestrock serve --accounts=/missing/file", "/missing/file: No such file", 1),
    ("vestrock serve --standings=/missing/db", "cannot open /missing/db", 1),
    ("vestrock bot genius", "no bot 'genius'"),
    ("vestrock bot rule --port=1", "127.0.0.1 port 1: ", 1),
    (
        "vestrock bot rule --turn-seconds=1 --reserve=2",
        "--reserve: expected less than --turn-seconds, 1",
    ),
    ("vestrock standings /missing/db", "/missing/db: no such file", 1),
    ("vestrock replay /missing/log", "/missing/log: No such file", 1),
    ("vestrock deck 1 -n 1001", "-n: expected 1 to 1000, got 1001"),
    ("vestrock deck 1 --extrme", "unrecognized arguments: --extrme; did you mean '--extreme'?"),
    ("vestrock tournament rule chess", "no bot 'chess'"),
    ("vestrock serv", "did you mean 'serve'?"),
    ("vestrock bench --signature --seconds 3", "--seconds: does not apply with --signature"),
    ("vestrock bench --seconds 0", "--seconds: expected more than 0, got 0.0"),
    ("locmsim replay -o a.html", "GAME is needed, or --play"),
    ("locmsim web none.json", "none.json: no such file"),
    ("locmsim web --bot beam:nodez=3", "--bot: player 'beam:nodez=3': agent beam: unknown option"),
    ("locmsim web --bot gredy", "--bot: player 'gredy': no program and no agent is called 'gredy'"),
    ("locmsim web --bot ''", "--bot: player '': the command is empty"),
    ("locmsim web --save bot/saved", "bot/saved: Not a directory"),
    ("locmsim web --port 70000", "expected 0 to 65535"),
    *(
        (f"locmsim {words} a.db:7 {option}", f"error: {option.split()[0]}: {PLAYED}")
        for option in ("--rules 1.5", "--ids new")
        for words in ("play --text --replay", "ask greedy --turn 1", "analyse --report", "replay")
    ),
    ("locmsim perft --turn 1 a.db:7 --rules 1.5", f"error: --rules: {PLAYED}"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a program, in which the tools run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot").write_text("#!/bin/sh\n")
    (tmp_path / "bot").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0][:60])
def test_wrong_usage(case: tuple[str, str] | tuple[str, str, int], folder: Path) -> None:
    words, message, *codes = case
    tool, *arguments = shlex.split(words)
    if arguments[:1] == ["web"]:
        pytest.importorskip("starlette")
    (code,) = codes or [2]
    out, err = output_of(*arguments, code=code, program=TOOLS[tool])
    assert out == ""
    *_, usage, error = ["", *err.splitlines()]
    assert usage.startswith("usage: ") if code == 2 else error.startswith(tool)
    assert "Traceback" not in err
    assert message in error
    assert [path.name for path in folder.iterdir()] == ["bot"]  # nothing was played


def parsers() -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands."""
    yield bot.command_parser()
    for name in COMMANDS:
        yield from all_commands(command_parser(name))
    yield from all_commands(vestrock.cli.command_parser("serve"))


def given(parser: argparse.ArgumentParser, *names: str) -> list[str]:
    """Return words that give these arguments, and those without which there is no command."""
    words = []
    for action in arguments(parser):
        named = action.option_strings or [str(action.metavar)]
        if not {*named, action.dest} & {*names} and (
            not action.required or action.nargs in ("*", "+")
        ):
            continue
        count = action.nargs if isinstance(action.nargs, int) else 1
        words += [*action.option_strings[:1], *value(action) * count]
    return words


def value(action: argparse.Action) -> list[str]:
    """Return a word that an argument takes, or none for a flag."""
    if action.nargs == 0:
        return []
    if action.choices:
        return [str(next(iter(action.choices)))]
    for word in ("1", "0.1", "x=1", "x"):
        try:
            (action.type or str)(word)  # type: ignore[operator]
        except (ValueError, argparse.ArgumentTypeError):
            continue
        return [word]
    raise AssertionError(action)


@pytest.mark.parametrize(
    "parser", [one for one in parsers() if rules_of(one)], ids=lambda parser: str(parser.prog)
)
def test_options_that_do_not_apply(parser: argparse.ArgumentParser) -> None:
    """Each that a parser declares to need another one, or to exclude it."""
    for other, name, needed, _ in rules_of(parser):
        words = given(parser, name, *([] if needed else [other]))
        err = output_of(*words, code=2, program=parser.parse_args).err  # type: ignore[arg-type]
        # An option may need another one that it would exclude.
        ends = [
            f"error: {one}: {'needs' if need else 'does not apply with'} {which}{more}"
            for which, one, need, more in rules_of(parser)
            if one == name
        ]
        assert err.splitlines()[-1].endswith(tuple(ends)), words

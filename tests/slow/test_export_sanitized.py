"""Tests of exported bots with sanitizers, on whole games and on damaged input."""

import itertools
import random
import subprocess

import pytest
from amounts import amount
from exported_c import build
from helpers import RULE_SETS, answer_of, main

from locmsim import Match
from locmsim.agents import make_agent

#: Options without forced inlining, with which compiling takes half a minute.
SANITIZERS = (
    *("-g", "-Og", "-DINLINE=static inline __attribute__((unused))"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)
GAMES = amount(4, most=50)
DAMAGED = amount(40, most=200)
FEW = [*zip(RULE_SETS, ("beam", "mcts", "beam"), strict=True)]
BOTS = amount(FEW, most=[*itertools.product(RULE_SETS, ("beam", "mcts"))])


@pytest.fixture(scope="module", params=BOTS)
def bot(request, tmp_path_factory):
    """Return a rule set and a readable bot for it, built with sanitizers."""
    rules, search = request.param
    source = tmp_path_factory.mktemp("sanitized") / "bot.c"
    options = ["--rules", rules, "--search", search, "--readable", "-o", str(source)]
    assert main(["export", *options]) == 0
    return rules, build(source, source.parent / "bot", *SANITIZERS)


def texts(rules, games):
    """Yield all that each player is sent in some games."""
    for seed in range(games):
        match = Match(rules, seed=seed)
        agents = [make_agent("greedy") for _ in range(2)]
        sent = ["", ""]
        for number, agent in enumerate(agents):
            agent.reset(number)
        while match.to_ask:
            sent[match.to_ask[0]] += match.input_text(match.to_ask[0])
            match.submit(*answer_of(match, agents))
        yield from sent


def run(program, text):
    """Run a bot on an input and check that no sanitizer reports an error; return the process."""
    data = text.encode("latin-1")
    done = subprocess.run([program, "150"], input=data, capture_output=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr.decode(errors="replace")[-3000:]
    assert b"Sanitizer" not in done.stderr
    assert b"runtime error" not in done.stderr
    return done


def test_whole_games(bot):
    rules, program = bot
    for text in texts(rules, GAMES):
        done = run(program, text)
        assert done.returncode == 0
        assert done.stdout.count(b"\n") > 2


def damaged(text, rng):
    """Return a text with a random defect."""
    kind = rng.randrange(6)
    at = rng.randrange(len(text))
    lines = text.split("\n")
    line = rng.randrange(len(lines))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + "".join(chr(rng.randrange(256)) for _ in range(9)) + text[at:]
    if kind == 2:
        del lines[line]
    elif kind == 3:
        lines.insert(line, lines[rng.randrange(len(lines))])
    else:
        words = lines[line].split(" ")
        numbers = (-1, 0, 7, 13, 99, 255, 256, 65536, 999999999, -999999999, "x")
        words[rng.randrange(len(words))] = str(rng.choice(numbers))
        lines[line] = " ".join(words)
    return "\n".join(lines)


def test_damaged_input(bot):
    rules, program = bot
    rng = random.Random(1)
    whole = [*texts(rules, 8)]
    for _ in range(DAMAGED):
        text = rng.choice(whole)
        for _ in range(rng.choice((1, 1, 2, 4))):
            text = damaged(text, rng) or "\n"
        run(program, text)

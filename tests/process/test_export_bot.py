"""Tests of `locmsim export --rules`: the file compiles and answers like the Python bot."""

import itertools
import os
import subprocess
import sys
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from amounts import amount, slow_after
from exported_c import STANDARDS, build, check
from helpers import each_rules, each_rules_slowly, main, output_of

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.decks import build_deck, deck_builder, deck_line, draft_picker, pick
from locmsim.export import LIMIT, export_bot
from locmsim.networks import LARGE_SHAPES, WeightsFile, default_weights

#: Maximum size of the file, below the site's limit so that the weights can grow.
MOST = 99_000
BOUND = {"beam": "nodes", "mcts": "iterations"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return a function that exports a bot and returns its C file and its weights, cached."""
    made = {}

    def export(rules, search="beam", *options):
        key = rules, search, options
        if key not in made:
            folder = tmp_path_factory.mktemp("export")
            made[key] = folder / "bot.c", folder / "bot.npz"
            paths = ["-o", str(made[key][0]), "--write-weights", str(made[key][1])]
            assert main(["export", "--rules", rules, "--search", search, *paths, *options]) == 0
        return made[key]

    return export


@pytest.fixture(scope="module")
def program(exported):
    """Return a function that builds a bot and returns the program and its weights, cached."""
    made = {}

    def make(rules, search="beam", *options):
        key = rules, search, options
        if key not in made:
            source, weights = exported(rules, search)
            made[key] = (
                build(source, source.parent / f"bot{len(made)}", *(options or ["-Og"])),
                weights,
            )
        return made[key]

    return make


def answers(program, text, bound=1):
    done = subprocess.run([program, str(bound)], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def python_bot(weights, search, bound):
    """Return the Python bot with the search seeds 1, 2, 3 ... that the C bot uses."""
    spec = f"{search}:time_ms=0,{BOUND[search]}={bound},weights={weights}"
    agent = make_agent(spec)
    agent.reset(0)
    seeds = itertools.count(1)
    find = agent.find
    agent.find = lambda observation, time_ms, seed: find(observation, time_ms, next(seeds))
    return agent


def compare(program, weights, rules, search, bound, seeds):
    """Check that both bots give the same answers to both players of each game."""
    for seed in seeds:
        match = Match(rules, seed=seed)
        agents = [python_bot(weights, search, bound) for _ in range(2)]
        texts, lines = ["", ""], ([], [])
        while match.to_ask:
            player = match.to_ask[0]
            texts[player] += match.input_text(player)
            ask = agents[player].choose if match.state is None else agents[player].act
            lines[player].append(ask(match.observation(player)))
            assert match.submit(player, lines[player][-1]).error is None
        for player in range(2):
            assert answers(program, texts[player], bound) == lines[player], (seed, player)


@pytest.mark.slow
@each_rules_slowly
@pytest.mark.parametrize("search", BOUND)
def test_it_fits_the_site(exported, rules, search):
    text = exported(rules, search)[0].read_text(encoding="utf-8")
    assert len(text) <= MOST < LIMIT
    assert len(text.encode("utf-16-le")) == 2 * len(text)  # as editors on the web count characters
    assert unicodedata.is_normalized("NFD", text)
    assert unicodedata.is_normalized("NFKC", text)
    assert all(x == "\n" or x.isprintable() for x in text)


@pytest.mark.slow
@each_rules
def test_it_fits_the_site_in_ascii(exported, rules):
    text = exported(rules, "mcts", "--ascii")[0].read_text(encoding="ascii")
    assert len(text) <= MOST


@pytest.mark.parametrize(("rules", "seed"), slow_after(1, [("1.5", 236), ("1.0", 0)]))
def test_it_answers_as_the_python_bot(program, rules, seed):
    """In the first game are expected results next to -1, of which the last bit decides."""
    compare(*program(rules), rules, "beam", 5000, [seed])


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["1.5", "1.2"])
def test_it_answers_as_the_python_bot_in_ascii(exported, tmp_path, rules):
    source, weights = exported(rules, "beam", "--ascii")
    compare(build(source, tmp_path / "bot", "-Og"), weights, rules, "beam", 1000, [5])


@pytest.mark.slow
def test_no_locale_changes_what_a_compiler_reads(program, exported, tmp_path, monkeypatch):
    bot, _ = program("1.5")
    for name in ("LANG", "LC_ALL"):
        monkeypatch.setenv(name, "C")
    again = build(exported("1.5")[0], tmp_path / "bot", "-Og", "-fsigned-char")
    other = build(exported("1.5")[0], tmp_path / "other", "-Og", "-funsigned-char")
    text = Match(seed=3).input_text(0)
    assert answers(bot, text, 1) == answers(again, text, 1) == answers(other, text, 1)


@pytest.mark.slow
def test_it_goes_to_the_standard_output_as_utf8(exported):
    command = [sys.executable, "-m", "locmsim", "export", "--rules", "1.0", "-o", "-"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace(b"\r\n", b"\n") == exported("1.0")[0].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("compiler", STANDARDS)
def test_it_is_c_and_cpp_without_warnings(exported, compiler):
    check(exported("1.5")[0], compiler)


def test_it_is_readable_if_asked(exported, tmp_path):
    target = tmp_path / "bot.c"
    assert main(["export", "--rules", "1.0", "--readable", "-o", str(target)]) == 0
    text = target.read_text()
    assert "state_apply" in text
    assert "// Draw from 0..n-1" in text
    check(target, "gcc")


def compare_decks(program, weights, seeds):
    build = deck_builder(WeightsFile.load(weights)["1.5"])
    for seed in seeds:
        match = Match(seed=seed)
        deck = build_deck(match.observation(0).offer, build)
        assert answers(program, match.input_text(0), 1) == [deck_line(deck)], seed


def compare_drafts(program, weights, rules, seeds):
    picker = draft_picker(WeightsFile.load(weights))
    for seed in seeds:
        match = Match(rules, seed=seed)
        text, lines, picked, offers = "", [], [], []
        while match.phase == "choice":
            offer = match.observation(0).offer
            text += match.input_text(0)
            choice = pick(offer, picked, rules, picker, offers)
            offers.append(offer)
            picked.append(offer[choice])
            lines.append(f"PICK {choice}")
            match.submit(0, lines[-1])
            match.submit(1, "PASS")
        assert answers(program, text, 1) == lines, seed


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["", "30 0 30 25", "x\n", "30 1 26 25 1\n30 1 26 25 1\n5 0\n0\n", "\0\n"]
)
def test_other_input_ends_it(program, text):
    done = subprocess.run([program("1.0")[0]], input=text, capture_output=True, text=True)
    assert done.returncode in (0, 1)
    assert (done.returncode == 1) == ("rules 1.0" in done.stderr)


def plays_as_exported(folder, rules, weights):
    """Check that the bot with some weights answers as in Python; write them to `b.npz`."""
    WeightsFile(weights).save(folder / "mine.npz")
    options = ["--weights", str(folder / "mine.npz"), "--write-weights", str(folder / "b.npz")]
    assert main(["export", "--rules", rules, *options, "-o", str(folder / "bot.c")]) == 0
    mine = build(folder / "bot.c", folder / "bot", "-Og")
    compare(mine, folder / "b.npz", rules, "beam", 500, [3])


@pytest.mark.slow
def test_weights_of_ones_own(tmp_path):
    weights = WeightsFile()["1.0"]
    weights = type(weights)(
        {**weights.evaluation, "own.attack": 2.5}, None, None, None, weights.draft
    )
    plays_as_exported(tmp_path, "1.0", {"1.0": weights})
    rounded = WeightsFile.load(tmp_path / "b.npz")["1.0"]
    assert rounded.evaluation["own.attack"] == 2.5


def with_large_network(rules):
    rng = np.random.default_rng(3)
    network = {name: 0.05 * rng.standard_normal(shape) for name, shape in LARGE_SHAPES.items()}
    return {rules: replace(default_weights(rules), network=network)}


@pytest.mark.slow
def test_a_large_network(tmp_path):
    plays_as_exported(tmp_path, "1.2", with_large_network("1.2"))


@pytest.mark.slow
@each_rules
@pytest.mark.parametrize("ascii", [False, True], ids=["ideographs", "ascii"])
def test_a_large_network_fits_the_site(rules, ascii):
    text = export_bot(rules, with_large_network(rules), search="mcts", ascii=ascii).text
    assert len(text) <= LIMIT


@pytest.mark.slow
@each_rules_slowly
@pytest.mark.parametrize("search", BOUND)
def test_weights_without_networks(rules, search, tmp_path):
    given = WeightsFile()[rules]
    weights = type(given)(given.evaluation, None, given.deck_score, None, given.draft)
    text = export_bot(rules, {rules: weights}, search=search).text
    assert text.isascii()
    (tmp_path / "bot.c").write_text(text)
    for compiler in ("gcc", "clang"):
        check(tmp_path / "bot.c", compiler)


def test_what_does_not_fit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("locmsim.export.LIMIT", 1000)
    monkeypatch.setattr("locmsim.export.bot.LIMIT", 1000)
    target = tmp_path / "bot.c"
    before = "// A bot for Legends of Code and Magic, rules 1.0, that was exported before\n"
    target.write_text(before)
    err = output_of("export", "--rules", "1.0", "-o", str(target), code=1).err
    assert "nothing was written" in err
    assert target.read_text() == before


def test_an_ensemble_in_ascii_needs_pytorch(tmp_path, missing):
    """An ensemble of deck networks must be distilled for ASCII; the bundled one already is."""
    ours = default_weights("1.5")
    weights = tmp_path / "mine.npz"
    WeightsFile({"1.5": replace(ours, deck_value=ours.deck_value[:2])}).save(weights)
    names = ("training", "decks", "distilling")
    missing("torch", forgotten=tuple(f"locmsim.tuning.{name}" for name in names))
    target = tmp_path / "bot.c"
    words = ["export", "--rules", "1.5", "--ascii", "-o", str(target)]
    err = output_of(*words, "--weights", str(weights), code=1).err
    assert "pip install 'locmsim[train]'" in err
    assert not target.exists()
    assert main(words) == 0


# ---- long comparisons


@pytest.mark.slow
@each_rules
def test_it_answers_as_the_python_bot_in_many_games(program, rules):
    compare(*program(rules), rules, "beam", 5000, range(100, 100 + amount(4, most=300)))


@pytest.mark.slow
@each_rules
def test_tree_search_answers_as_the_python_bot_in_many_games(program, rules):
    compare(*program(rules, "mcts"), rules, "mcts", 300, range(amount(6, most=40)))


@pytest.mark.slow
def test_many_decks_are_those_of_the_python_builder(program):
    compare_decks(*program("1.5"), range(amount(30, most=1000)))


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["1.2", "1.0"])
def test_many_drafts_are_those_of_the_python_picker(program, rules):
    compare_drafts(*program(rules), rules, range(amount(150, most=1000)))

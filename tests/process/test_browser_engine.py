"""The engine for pages plays, searches and shows what the package does."""

import ctypes
import gzip
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import ready_engines
from amounts import amount
from browser_engine import (
    Machine,
    battle_data,
    legal_texts,
    need_compiler,
    packed_engine,
    played_turns,
)
from exported_c import build, check
from helpers import RULE_SETS, each_rules, golden_games, golden_result, log_line, main, replayed
from test_export_bot import python_bot

import locmsim.export.wasm as wasm
from locmsim import Match
from locmsim.agents import LevelAgent, make_agent
from locmsim.agents.greedy import HAND_SET_WEIGHTS, greedy_turn
from locmsim.export import compile_engine, engine_module, export_engine
from locmsim.export.engine import engine_functions
from locmsim.referee import play
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import RULES
from locmsim.search import Evaluation
from locmsim.search.analysis import held_cards
from locmsim.web import load_replay, replay_data

#: The most bytes of the modules of all rule sets, compressed.
MOST = 290_000


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Return a function that writes the rounded weights of an engine, cached."""

    @cache
    def write(rules):
        path = tmp_path_factory.mktemp("weights") / "engine.npz"
        export_engine(rules).weights.save(path)
        return path

    return write


def played(weights, rules, search, bound, seed):
    """Play a match of two Python bots whose search seeds are 1, 2, 3 ..."""
    agents = [python_bot(weights, search, bound) for _ in range(2)]
    return play(agents, Match(rules, seed=seed), timeout_scale=0)


def compare(result, machine, bound):
    """Check that the engine answers each turn of a match as the bots of `played`."""
    path, turns = [], [0, 0]
    for call, state, applied in played_turns(result):
        if state.is_terminal():  # dead from drawing, but asked
            break
        turns[call.player] += 1
        found = machine.ask("find", path=path, seed=turns[call.player], most=bound, plans=3)
        assert found["line"] == ("" if call.answer == "PASS" else call.answer), path
        path += [*applied, "PASS"]


@pytest.mark.parametrize("rules", amount(["1.5"], RULE_SETS))
def test_it_answers_as_the_python_bot_under_node(rules, weights, tmp_path):
    for seed in range(amount(1, 10, 200)):
        result = played(weights(rules), rules, "beam", 1000, seed)
        with Machine(result, tmp_path) as machine:
            compare(result, machine, 1000)


@pytest.mark.slow
@each_rules
def test_the_tree_search_answers_as_in_python_under_node(rules, weights, tmp_path):
    for seed in range(3):
        result = played(weights(rules), rules, "mcts", 40, seed)
        with Machine(result, tmp_path, "mcts") as machine:
            compare(result, machine, 40)


@pytest.mark.slow
@pytest.mark.parametrize("rules", amount(["1.5"], RULE_SETS))
def test_every_step_of_golden_games(rules, tmp_path):
    """Positions, words, legal actions and what players are shown are those of the package."""
    games = [game for game in golden_games(rules) if len(game["turns"]) > 5 and not game["error"]]
    for game in games[:: max(1, len(games) // amount(1, 8))]:
        result = golden_result(game)
        path = []
        with Machine(result, tmp_path) as machine:
            for turn, (_, state, applied) in zip(game["turns"], played_turns(result), strict=True):
                if state.is_terminal():  # dead from drawing, but asked
                    break
                for text in [*applied, "PASS"]:
                    seen = machine.ask("look", path=path)
                    assert seen["shown"] == turn["input"]
                    assert seen["legal"] == ([] if state.is_terminal() else legal_texts(state))
                    if text == "PASS" and state.is_terminal():
                        break
                    state.apply_action(state.string_to_action(text))
                    path.append(text)
            data = replay_data(result, ("one", "two"))
            steps = machine.ask("steps", actions=path, data=data)
            for step, wanted in zip(steps, data["steps"][1:], strict=True):
                for name in ("turn", "player", "action", "words"):
                    assert step[name] == wanted[name]
                assert lane_by_lane(step["board"]) == lane_by_lane(wanted["board"])


def lane_by_lane(board):
    """Return a board with its creatures in the order of lanes."""
    for side in board["sides"]:
        side["board"].sort(key=lambda row: row[5])
        side["hand"] = [[*held] for held in side["hand"]]
    return board


@pytest.mark.slow
@pytest.mark.parametrize("rules", amount(["1.5"], RULE_SETS))
def test_chances_hands_and_slips(rules, weights, tmp_path):
    """A level that slips without an error plays greedily; the rest is what analyses tell."""
    result = played(weights(rules), rules, "beam", 300, 3)
    agents = [python_bot(weights(rules), "beam", 1) for _ in range(2)]
    look = Evaluation(HAND_SET_WEIGHTS, network=None).compiled
    level = {"slips": 1, "blur": 0, "nodes": 0, "first_ms": 0, "time_ms": 0}
    limits = {"ms": 0, "nodes": 200, "plans": 4, "worlds": 8, "samples": 20, "chanceSeed": 1}
    path = []
    with Machine(result, tmp_path) as machine:
        for call, match in replayed(result):
            agent, seen = agents[call.player], match.observation(call.player)
            if match.state is None:
                agent.choose(seen)
                continue
            if match.state.is_terminal():
                break
            agent.act(seen)
            root, worlds = agent.belief.root(), agent.belief.determinizer()
            asked = {"path": path, "begun": 0, "seed": 7, "level": level}
            slipped = machine.ask("turn", **asked)["actions"]
            assert slipped == texts(root, greedy_turn(root, look))
            applied = call.result.applied
            asked = machine.ask("chance", path=path, line=";".join(applied), worlds=32, seed=1)
            sampled = worlds.sample(1)
            actions = sampled.actions_of(call.answer)
            value = agent.search.prepare(rules).turn_value(worlds, sampled, actions, 32, 1)
            assert asked == {
                "player": call.player,
                "chance": pytest.approx((1 + value) / 2, abs=1e-6),
            }
            done = applied[:1] if len(applied) > 1 else []
            found = machine.ask("analyse", path=path, done=done, seed=1, **limits)
            assert found["lines"]
            for line in found["lines"]:
                whole = sampled.actions_of(";".join([*done, *line["actions"]]))
                if len(whole) == len(done) + len(line["actions"]):  # no card drawn in the turn
                    value = agent.search.prepare(rules).turn_value(worlds, sampled, whole, 8, 1)
                    assert line["chance"] == pytest.approx((1 + value) / 2, abs=1e-6)
            likely = {h.card.base_id: h.chance for h in held_cards(agent.belief, 20)}
            assert dict(found["held"]) == pytest.approx(likely)
            path += [*applied, "PASS"]


@pytest.mark.slow
@pytest.mark.parametrize("rules", amount(["1.5"], RULE_SETS))
def test_a_match_that_a_page_deals_is_that_of_the_seed(rules, weights, tmp_path):
    """Offers, their texts, the bot's answers, the deal and the log are those of the package."""
    result = played(weights(rules), rules, "beam", 100, 12)
    match, calls = result.match, [call for call in result.calls if call.turn is None]
    data = replay_data(result, ("one", "two"))
    known = battle_data(result)
    battle = {"seed": 12, "choices": known["choices"], "taken": known["taken"]}
    offers = [match.cards] if rules == "1.5" else match.offers
    offers = [[card.to_row() for card in offer] for offer in offers]
    if rules == "1.5":
        offers[0].sort(key=lambda row: (row[2], row[0]))
    with Machine(result, tmp_path, battle=battle) as machine:
        first = machine.ask("look", path=[])["board"]
        if rules != "1.5":
            triplets = machine.ask("offers", seed=12)
            assert triplets == [[row[0] for row in offer] for offer in offers]
        answers = []
        for player in (0, 1):
            texts = machine.ask("texts", rules=rules, offers=offers, player=player)
            assert texts == known["choices"][player]
            answers.append(machine.ask("answers", player=player, texts=texts))
            assert answers[player] == [call.answer for call in calls if call.player == player]
        text = machine.ask("log", seed="12", rules=rules, answers=answers, match=data)
    with Machine(result, tmp_path) as machine:
        assert machine.ask("look", path=[])["board"] == first
    loaded, names = loaded_log(text, tmp_path)
    assert names == ("one", "two")
    assert loaded.match.log == match.log


def loaded_log(text, folder):
    """Return the match of a log that a page wrote, and the names in it."""
    log = folder / "log.json"
    log.write_text(text)
    return load_replay(str(log))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["seed", "ids of 2022", "own cards", "decks", "drawn card"])
def test_the_log_of_a_match_that_is_played_on(kind, tmp_path):
    """It begins as the log of the match did, and has the steps that a page shows."""
    ids = "old" if kind == "ids of 2022" else "new"
    cards = generate_cards(seed=5) if kind == "own cards" else None
    match = Match("1.5", seed=None if cards else 3, cards=cards, ids=ids)
    agents = [make_agent("greedy") for _ in range(2)]
    if kind == "drawn card":
        for agent in agents:
            agent.act = lambda observation: "PASS"
    result = play(agents, match, timeout_scale=0)
    if kind == "decks":
        result = replace(result, decks="greedy")
    if kind == "drawn card":  # who dies from it is asked
        assert [*played_turns(result)][-1][1].is_terminal()
    data = replay_data(result, ("one", "two"))
    with Machine(result, tmp_path) as machine:
        log = json.loads(log_line(result, ("ann", "bob")))
        text = machine.ask("playedOn", log=log, choices=1, match=data)
    loaded, names = loaded_log(text, tmp_path)
    assert names == ("one", "two")
    assert (loaded.winner, loaded.turns, loaded.fault) == (result.winner, result.turns, None)
    assert loaded.match.ids == "new"
    assert loaded.match.cards == result.match.cards
    assert loaded.match.decks == result.match.decks
    assert loaded.decks == result.decks
    applied = [actions for _, _, actions in played_turns(result)]
    assert [actions for _, _, actions in played_turns(loaded)] == applied


@each_rules
def test_levels_have_the_times_of_the_agent(rules):
    """The last one searches as long as `level:10`, in the first turn and in later ones."""
    need_compiler(rules)
    levels = packed_engine(rules)["levels"]
    first, later = RULES[rules].battle_limits_ms
    assert [(level["first_ms"], level["time_ms"]) for level in levels[:-1]] == [(0, 0)] * 9
    agent = LevelAgent()
    assert levels[-1]["time_ms"] == min(agent.time_ms, agent.share * later)
    longest = agent.FIRST_TURN * levels[-1]["time_ms"]
    assert levels[-1]["first_ms"] == min(longest, agent.share * first)
    assert levels[-1]["first_ms"] > levels[-1]["time_ms"]


def texts(state, actions):
    """Return the texts of actions that follow each other."""
    state, found = state.clone(), []
    for action in actions:
        found.append(state.action_to_string(action))
        state.apply_action(action)
    return found


def test_it_is_compiled_for_pages():
    """The other tests may have modules from the cache."""
    need_compiler("1.0")
    text = "".join(f"int {name}(void) {{ return 1; }}\n" for name in engine_functions())
    assert compile_engine(text).startswith(b"\0asm")
    with pytest.raises(ValueError, match="does not compile the engine: engine"):
        compile_engine("oops")


def test_the_modules_are_small():
    sizes = [len(gzip.compress(need_compiler(rules), 9)) for rules in RULE_SETS]
    assert sum(sizes) <= MOST, sizes


def test_it_compiles_without_a_warning(tmp_path):
    for rules in amount(["1.0"], RULE_SETS):
        source = tmp_path / "engine.c"
        source.write_text(export_engine(rules).text, encoding="utf-8")
        for compiler in ("gcc", "clang"):
            check(source, compiler)


@pytest.mark.slow
def test_it_is_a_library_for_other_languages(tmp_path, weights):
    """The same C, compiled for this machine, answers as under node."""
    source, weights_file = tmp_path / "engine.c", tmp_path / "engine.npz"
    words = ["--rules", "1.0", "-o", str(source), "--write-weights", str(weights_file)]
    assert main(["export", "--engine", *words]) == 0
    library = build(source, tmp_path / "engine.so", "-Og", "-shared", "-fPIC")
    engine = ctypes.CDLL(str(library))
    engine.locm_engine_text.restype = ctypes.c_void_p
    engine.locm_engine_search.argtypes = [
        *(ctypes.c_int, ctypes.c_uint32, ctypes.c_uint32),
        *(ctypes.c_double, ctypes.c_double, ctypes.c_int),
    ]
    engine.locm_engine_start()
    text = engine.locm_engine_text()

    def write(content):
        content = content if isinstance(content, bytes) else content.encode()
        ctypes.memmove(text, content, len(content))
        return len(content)

    agents = [python_bot(weights_file, "beam", 300) for _ in range(2)]
    match, turns = Match("1.0", seed=2), [0, 0]
    for name in engine_functions():
        assert hasattr(engine, name)
    while match.to_ask:
        player = match.to_ask[0]
        kind = engine.locm_engine_read(player, write(match.input_text(player)))
        if match.state is None:
            assert kind == 1
            line = agents[player].choose(match.observation(player))
            size = engine.locm_engine_choose(player)
            assert ctypes.string_at(text, size).decode() == line
        else:
            line = agents[player].act(match.observation(player))
            if kind == 2:
                turns[player] += 1
                size = engine.locm_engine_search(player, turns[player], 0, 0.0, 300.0, 0)
                found = json.loads(ctypes.string_at(text, size))
                assert (found["line"] or "PASS") == line
        assert match.submit(player, line).error is None
    for broken in ("", "PASS", "1 2 3\n", "30 0 30\n" * 5):
        assert engine.locm_engine_read(0, write(broken)) <= 0
        assert engine.locm_engine_place(write(broken)) == 0
    position = bytearray(match.state.to_bytes())
    assert engine.locm_engine_place(write(bytes(position))) == 1
    position[-256 + 60 : -256 + 64] = b"\xff\xff\xff\x7f"  # the turn
    size = engine.locm_engine_place(write(bytes(position)))
    assert ctypes.string_at(text, -size).decode() == "turn out of range"


@pytest.mark.slow
def test_the_cache_keeps_what_was_compiled(tmp_path, monkeypatch):
    need_compiler("1.0")
    monkeypatch.setattr(wasm, "DATA", tmp_path)
    monkeypatch.setattr(wasm, "cache_folder", lambda: tmp_path / "kept")
    module = engine_module("1.0")
    (kept,) = (tmp_path / "kept").iterdir()
    assert kept.read_bytes() == module
    monkeypatch.setattr(wasm, "compile_engine", lambda text: pytest.fail("compiled again"))
    assert engine_module("1.0") == module
    kept.write_bytes(b"damaged")
    monkeypatch.setattr(wasm, "compile_engine", lambda text: module)
    assert engine_module("1.0") == module
    assert kept.read_bytes() == module


@pytest.mark.slow
def test_ready_modules_are_used_first(tmp_path, monkeypatch):
    """What a wheel has is what the tool for releases writes: the same bytes each time."""
    need_compiler("1.0")
    module = compile_engine(export_engine("1.0").text)
    monkeypatch.setattr(ready_engines, "RULES", ["1.0"])
    tmp_path.joinpath("engine-of-before.wasm").write_bytes(module)
    (file,) = ready_engines.write(tmp_path)
    assert file.read_bytes() == module  # which was compiled in another folder
    assert [*tmp_path.iterdir()] == [file]
    monkeypatch.setattr(wasm, "DATA", tmp_path)
    monkeypatch.setattr(wasm, "cache_folder", lambda: pytest.fail("looked elsewhere"))
    monkeypatch.setattr(wasm, "compile_engine", lambda text: pytest.fail("compiled again"))
    assert engine_module("1.0") == module


def test_without_a_compiler_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(wasm.importlib.util, "find_spec", lambda name: None)
    target = tmp_path / "engine.wasm"
    assert main(["export", "--engine", "--rules", "1.0", "-o", str(target)]) == 1
    assert "pip install 'locmsim[browser]'" in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.slow
def test_the_command_writes_a_module(tmp_path, capsys):
    need_compiler("1.0")
    target = tmp_path / "engine.wasm"
    for _ in range(2):  # its own file is overwritten
        assert main(["export", "--engine", "--rules", "1.0", "-o", str(target)]) == 0
    assert target.read_bytes().startswith(b"\0asm")
    assert "compressed" in capsys.readouterr().out


def test_the_reference_lists_the_functions():
    page = Path(__file__).parents[2] / "docs" / "reference" / "export.md"
    if not page.exists():
        pytest.skip("not the source tree")
    rows = re.findall(r"(?m)^\| `(locm_engine_\w+)` \| (.+) \|$", page.read_text(encoding="utf-8"))
    assert dict(rows) == engine_functions()
    text = export_engine("1.0").text
    for name, line in engine_functions().items():
        assert re.search(rf"\n//   {name} +{re.escape(line)}\n", text)
        assert re.search(rf"\nLOCM_API \w+ \*?{name}\(", text)

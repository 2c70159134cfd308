"""Tests of ``locmsim ask`` and ``locmsim analyse``, which look at positions of earlier matches."""

import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from helpers import BOT, Output, assert_gone, main, output_of, state_at, stopped

from locmsim import Match
from locmsim.arena import Arena
from locmsim.art import card_titles
from locmsim.game.action_text import answer_actions, cards_of, line_words
from locmsim.referee import BotProcess, Result
from locmsim.referee.locm_text import IDS_NOTE

#: The players of the first game in the database.
NAMES = ["random", "greedy"]
#: Matches actions in the form of the answer protocol, with instance ids of cards.
PROTOCOL = re.compile("(SUMMON|USE|ATTACK) [0-9]")


def unwrapped(text: str) -> str:
    """Return a text with its wrapped lines joined."""
    return re.sub(r"\n {6,}", " ", text)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ask") / "games.db"
    with Arena(path, ["random", "greedy"], games=4, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
    return str(path)


@pytest.fixture(scope="module")
def first(db: str) -> Result[Any]:
    """Return the first game of the database, played again."""
    with Arena.load(db) as arena:
        return arena.replay(1)


def ask(*arguments: str, code: int = 0) -> Output:
    return output_of("ask", *arguments, code=code)


def seat_of(db: str, game: int, index: int) -> int:
    with Arena.load(db) as arena:
        return arena.record(game).outcome.players.index(index)


def test_same_bot_answers_the_same(db: str, first: Result[Any]) -> None:
    """A deterministic bot gives its old answer again, as an agent and as a program."""
    turn = 4 + seat_of(db, 1, 1)
    for bot in ("greedy", f"{sys.executable} -m locmsim.bot --agent greedy"):
        answer = json.loads(ask(bot, f"{db}:1", "--turn", str(turn), "--json").out)
        old = next(call.answer for call in first.calls if call.turn == turn)
        assert (answer["old"], answer["new"], answer["same"]) == (old, old, True)


def test_new_answer_beside_the_old_one(db: str, first: Result[Any]) -> None:
    """The new answer of a program is shown below the old one."""
    bot = shlex.join([*BOT, "say_error", "2", r"hmm\n"])
    out = ask(bot, f"{db}:1", "--turn", "5").out
    assert out.startswith("turn 5, the turn of player 1 (greedy)\n    was: ")
    assert "    now: PASS\n    changed\n" in out
    was = re.search("    was: (.*)\n         (.*)\n", out)
    assert was is not None
    assert was[2] == next(call.answer for call in first.calls if call.turn == 5)
    state = state_at(first, 5)
    words = line_words(state, answer_actions(state, was[2]), NAMES)
    assert was[1] == "; ".join(words)
    assert [card.name for card in cards_of(state)] == [""] * len(cards_of(state))


def test_comments_change_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    good = shlex.join(BOT)
    output_of("play", good, good, "--timeout-scale", "0", "-l", str(log), "-seed", "1")
    bot = shlex.join([*BOT, "say", "2", r"PASS thinking\n"])
    answer = json.loads(ask(bot, str(log), "--turn", "2", "--json").out)
    assert (answer["old"], answer["same"]) == ("PASS", True)


def test_lost_games(db: str) -> None:
    words = ["greedy", db, "--lost", "--last", "2", "--jobs", "1"]
    out = ask(*words).out
    with Arena.load(db) as arena:
        lost = [outcome.number for outcome in arena.games(arena.settings.players[0].name)]
    last = out.splitlines()[-1]
    assert last.startswith(f"{len(lost)} games lost by random: ")
    assert lost
    assert out.count("    was: ") == out.count("    now: ") == int(last.split(": ")[1].split()[0])
    entries = json.loads(ask(*words, "--json").out)
    assert {entry["game"] for entry in entries} == set(lost)
    assert len(entries) <= 2 * len(lost)


def test_what_the_bot_is_sent_is_written(db: str, tmp_path: Path) -> None:
    """A program that reads the file as its standard input gives the same answers."""
    file = tmp_path / "input.txt"
    bot = f"{sys.executable} -m locmsim.bot --agent greedy"
    new = json.loads(ask(bot, f"{db}:1", "--turn", "8", "--json", "--input", str(file)).out)["new"]
    with file.open() as text:
        answers = subprocess.run(shlex.split(bot), stdin=text, capture_output=True, text=True)
    assert answers.stdout.splitlines()[-1] == new
    before = file.read_bytes()
    err = ask(bot, f"{db}:1", "--turn", "6", "--input", str(file), code=2).err
    assert "use --force to overwrite it" in err
    assert file.read_bytes() == before
    ask("greedy", f"{db}:1", "--turn", "6", "--input", str(file), "--force")
    assert len(file.read_bytes()) < len(before)
    ask("greedy", f"{db}:1", "--turn", "999", "--input", str(tmp_path / "none"), code=2)
    assert not (tmp_path / "none").exists()


#: An agent that takes a while, and says in which process it is.
SLOW = """
import os, time
from locmsim.agents import GreedyAgent

class Slow(GreedyAgent):
    def __init__(self):
        super().__init__()
        with open(__file__ + ".made", "a") as file:
            print(os.getpid(), file=file)

    def act(self, observation):
        time.sleep(0.01)
        return super().act(observation)
"""


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    path = tmp_path / "slow.py"
    path.write_text(SLOW)
    return path


@pytest.mark.parametrize(
    "words", ["ask {agent} {db} --lost", "analyse --puzzles built-in {agent} --rules 1.0"]
)
def test_an_agent_of_others_stays_in_one_process(words: str, db: str, slow: Path) -> None:
    """One looks at it, and one for each worker answers about all games and puzzles."""
    made = Path(f"{slow}.made")

    def answers(jobs: int, agent: str = f"{slow}:Slow") -> str:
        filled = words.format(agent=agent, db=db).split()
        return output_of(*filled, "--json", "--jobs", str(jobs)).out.replace(agent, "")

    alone = answers(1)
    assert len(made.read_text().split()) == 2
    assert answers(2) == alone == answers(1, "greedy")
    assert len(made.read_text().split()) in (2 + 2, 2 + 3)


def test_answers_until_the_command_is_stopped(db: str, slow: Path) -> None:
    out, error = stopped("ask", f"{slow}:Slow", db, "--lost", "--jobs", "1")
    done = int(re.findall(r"stopped after (\d) of (?:3|4) games", error)[0])
    assert 0 < done < 4
    assert re.search(r"answers changed\n$", out)
    words = ["--puzzles", "built-in", f"{slow}:Slow", "--jobs", "1", "--json"]
    out, error = stopped("analyse", *words)
    solved = json.loads(out)["agents"][0]["solved"][0]
    assert f"stopped after {solved['of']} of 82 puzzles" in error


def test_bot_that_fails(db: str) -> None:
    crash = shlex.join([*BOT, "crash", "2"])
    out = ask(crash, f"{db}:1", "--turn", "2").out
    assert "now: crashed: its process exited with code 1" in out
    assert "RuntimeError: no idea what to play" in out
    err = ask(crash, f"{db}:1", "--turn", "6", code=1).err
    assert err.startswith("locmsim ask: BOT failed earlier, in turn 2: crashed")
    error = ask("greedy", f"{db}:1", "--turn", "999", code=2).err
    assert "--turn: the match has turns 0 to " in error
    assert "has no game 99" in ask("greedy", f"{db}:99", "--turn", "1", code=1).err


#: Agents of a user; they know nothing of other turns.
MINE = """
import os
from locmsim.agents import GreedyAgent

class Ends(GreedyAgent):
    def act(self, observation):
        print("last words", flush=True)
        os._exit(3)

class Prints(GreedyAgent):
    def act(self, observation):
        print("a word")
        return super().act(observation)

    def continue_turn(self, done):
        return f"PASS after {done}"

class Plain(GreedyAgent):
    pass

class AnswersNumber(GreedyAgent):
    def act(self, observation):
        return 5

class ExitsAsItIsMade(GreedyAgent):
    def __init__(self):
        exit(3)
"""


@pytest.mark.slow
def test_an_agent_of_a_user(db: str, tmp_path: Path) -> None:
    """It plays in a process of its own, whose end is not the end of the command."""
    mine = tmp_path / "mine.py"
    mine.write_text(MINE)
    turn = 4 + seat_of(db, 1, 1)
    game = f"{db}:1", "--turn", str(turn)
    answer = json.loads(ask(f"{mine}:Prints", *game, "--json").out)
    assert (answer["old"], answer["stderr"]) == (answer["new"], "a word\n")
    answer = json.loads(ask(f"{mine}:Prints", *game, "--done", "PASS", "--json").out)
    assert answer["new"] == "PASS;PASS after PASS"
    first = seat_of(db, 1, 1)
    shown = ask(f"{mine}:AnswersNumber", f"{db}:1", "--turn", str(first)).out
    assert "now: malformed answer: answered 5, not one line" in shown
    error = ask(f"{mine}:Plain", *game, "--done", "PASS", code=2).err
    assert "--done: BOT cannot continue a turn; beam and mcts can" in error
    out = ask(f"{mine}:Ends", f"{db}:1", "--turn", str(first)).out
    assert "now: crashed: its process exited with code 3" in out
    assert "last words" in out
    err = ask(f"{mine}:Ends", *game, code=1).err
    assert err.startswith(f"locmsim ask: BOT failed earlier, in turn {first}: crashed: its process")
    error = ask(f"{mine}:ExitsAsItIsMade", *game, code=2).err
    assert "creating it with () raised SystemExit: 3" in error


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="found by /proc")
def test_bot_whose_start_is_interrupted(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    start = BotProcess.__init__

    def interrupted(self: BotProcess, *arguments: Any, **options: Any) -> None:
        start(self, *arguments, **options)
        while not pids.exists() or not pids.read_text().endswith("\n"):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(BotProcess, "__init__", interrupted)
    ask(f"sh -c 'echo $$ >> {pids}; exec sleep 600'", f"{db}:1", "--turn", "2", code=130)
    begun = [*map(int, pids.read_text().split())]
    assert_gone(begun)


# ---------------------------------------------------------------------------------- analyse


def analyse(*arguments: str, code: int = 0) -> Output:
    return output_of("analyse", *arguments, "--nodes", "2000", code=code)


def test_turn_of_a_match(db: str, first: Result[Any]) -> None:
    data = json.loads(analyse(f"{db}:1", "--turn", "4", "--json").out)
    assert data["played"] == next(call.answer for call in first.calls if call.turn == 4)
    assert sum(line["searches"] for line in data["lines"]) == data["searches"]
    kinds = [evaluation for line in data["lines"] for evaluation in line["by"].items()]
    assert {name for name, _ in kinds} == {"beam", "mcts"}
    assert all(
        -1 <= evaluation["value"] <= 1 and evaluation["visits"] >= 0 for _, evaluation in kinds
    )
    assert all(0 < held["chance"] <= 1 for held in data["opponent_hand"])
    offered = [card.to_row() for card in first.match.cards]
    assert all(held["card"] in offered for held in data["opponent_hand"])
    out = analyse(f"{db}:1", "--turn", "4").out
    assert f"the first one as an answer: {data['lines'][0]['line']}\n" in out
    state = state_at(first, 4)
    words = line_words(state, answer_actions(state, data["lines"][0]["line"]), NAMES)
    assert "; ".join(words) in unwrapped(out)
    headings, columns, row, *_ = out.splitlines()
    assert headings.split() == ["beam", "search", "MCTS"]
    assert columns.split() == [*("value", "visits", "found") * 2, "line"]
    evaluation = data["lines"][0]["by"].get("beam", {"value": "-", "visits": "-"})
    assert row.split()[1] == str(evaluation["visits"])
    assert "the opponent may hold:" in out


def test_a_tree_names_its_cards(db: str, first: Result[Any]) -> None:
    words = ["--turn", "6", "--tree", "--worlds", "1"]
    (best, *_) = json.loads(analyse(f"{db}:1", *words, "--json").out)["lines"]
    out = analyse(f"{db}:1", *words).out
    assert not PROTOCOL.search(out)
    titles = card_titles(first.match.cards)
    known = {card.base_id: titles[card] for card in first.match.cards}
    state = state_at(first, 6)
    told = line_words(state, answer_actions(state, best["line"]), NAMES, titles)
    assert f"  {'; '.join(told) or 'The turn ends'}\n" in unwrapped(out)
    (world,) = best["worlds"]
    held = ", ".join(known[base_id] for base_id in world["hand"])
    assert f"they hold {held}\n" in unwrapped(out)
    # Cards of the opponent's hand can be named by their printed names or by base id.
    seen = world["hand"][0]
    hands = [
        json.loads(analyse(f"{db}:1", *words, "--json", "--hand", name).out)
        for name in (known[seen].upper(), str(seen))
    ]
    assert hands[0] == hands[1]
    assert hands[0]["lines"][0]["worlds"][0]["hand"][0] == seen
    err = analyse(f"{db}:1", *words, "--hand", "Nobody", code=2).err
    assert "--hand: no card 'Nobody' can occur in this game" in err


def test_a_report_names_its_cards(db: str, first: Result[Any]) -> None:
    report = json.loads(analyse(f"{db}:1", "--report", "--json").out)
    out = analyse(f"{db}:1", "--report").out
    assert not PROTOCOL.search(out)
    titles = card_titles(first.match.cards)
    rows = {turn["turn"]: turn for turn in report["turns"]}
    assert any(report["worst"])
    for turn in (turn for worst in report["worst"] for turn in worst):
        state = state_at(first, turn)
        for name, key in (("played", "played"), ("better", "best")):
            told = line_words(state, answer_actions(state, rows[turn][key]), NAMES, titles)
            assert re.search(
                f"    {name} [+-][0-9.]+  {re.escape('; '.join(told) or 'The turn ends')}\n",
                unwrapped(out),
            )


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_texts_of_positions(rules: str, tmp_path: Path) -> None:
    match = Match(rules, seed=3)
    path = tmp_path / "observation.txt"
    path.write_text(match.input_text(0))
    err = analyse("--file", str(path), "--rules", rules, code=1).err
    assert "an analysis needs a battle turn" in err
    while match.state is None:
        match.submit(match.to_ask[0], "PASS")
    path.write_text(match.input_text(0))
    out = analyse("--file", str(path), "--rules", rules, "--json").out
    line = json.loads(out)["lines"][0]["line"]
    assert match.submit(0, line).ignored in ([], ["PASS"])
    line = json.loads(analyse(match.state.to_text(), "--json").out)["lines"][0]["line"]
    assert match.submit(1, line).ignored in ([], ["PASS"])
    assert "neither a file nor the text of a position" in analyse("nonsense", code=2).err
    path.write_text("30 1\n")
    assert analyse("--file", str(path), code=1).err.startswith(f"locmsim analyse: --file: {path}: ")
    assert "No such file" in analyse("--file", str(tmp_path / "none"), code=1).err


def test_the_rest_of_a_turn(db: str, first: Result[Any]) -> None:
    turn = 6 + seat_of(db, 1, 1)
    played = next(call.answer for call in first.calls if call.turn == turn)
    assert played is not None
    done, _, _ = played.partition(";")
    whole = json.loads(analyse(f"{db}:1", "--turn", str(turn), "--json").out)
    data = json.loads(analyse(f"{db}:1", "--turn", str(turn), "--done", done, "--json").out)
    assert sum(line["searches"] for line in data["lines"]) == data["searches"]
    assert all(done not in line["line"] for line in data["lines"])
    assert (whole["played_value"] is None, data["played_value"]) == (False, None)
    err = analyse(f"{db}:1", "--turn", str(turn), "--done", "USE 999 -1;PICK", code=1).err
    assert err.startswith("locmsim analyse: --done: ")

    out = ask(
        "beam:time_ms=0,nodes=500", f"{db}:1", "--turn", str(turn), "--done", done, "--json"
    ).out
    assert json.loads(out)["new"].startswith(done)
    err = ask("greedy", f"{db}:1", "--turn", str(turn), "--done", done, code=2).err
    assert "--done: greedy cannot continue a turn" in err
    err = ask("beam", db, "--lost", "--done", done, code=2).err
    assert "--done: does not apply with --lost" in err


# ------------------------------------------------------------------------------ instance ids


@pytest.fixture(scope="module")
def old_log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the log of a match whose bots know the instance ids of 2022."""
    log = tmp_path_factory.mktemp("ids") / "old.json"
    bot = f"{sys.executable} -m locmsim.bot --agent greedy"
    words = ["play", bot, "greedy", "--ids", "old", "--timeout-scale", "0", "-seed", "3"]
    assert main([*words, "-l", str(log)]) == 0
    return str(log)


@pytest.mark.slow
def test_ids_are_todays_and_said_to_be(old_log: str) -> None:
    for bot in ("greedy", f"{sys.executable} -m locmsim.bot --agent greedy"):
        assert f"({IDS_NOTE})" in ask(bot, old_log, "--turn", "4").out
        answer = json.loads(ask(bot, old_log, "--turn", "4", "--json").out)
        assert (answer["ids"], answer["same"]) == ("new", True)
        assert answer["old"] == answer["new"]
    for words in (["--turn", "4"], ["--turn", "4", "--tree", "--worlds", "1"], ["--report"]):
        assert analyse(old_log, *words).out.startswith(f"{IDS_NOTE}\n\n")
        assert json.loads(analyse(old_log, *words, "--json").out)["ids"] == "new"


def test_input_with_ids_of_2022(tmp_path: Path) -> None:
    """It is read as the same position in today's ids, and the result says so."""
    found = []
    for ids in ("new", "old"):
        match = Match(seed=3, ids=ids)
        while match.state is None or match.turn < 5:
            match.submit(match.to_ask[0], "PASS")
        path = tmp_path / f"{ids}.txt"
        path.write_text(match.input_text(match.to_ask[0]))
        data = analyse("--file", str(path), "--json")
        assert ("instance ids of 2022" in data.err) == (ids == "old")
        found.append(json.loads(data.out)["lines"])
        out = analyse("--file", str(path), "--ids", ids, "--json").out
        assert json.loads(out)["lines"] == found[-1]
    assert found[0] == found[1]

"""Tests of ``locmsim analyse --puzzles``, and of agents that solve puzzles."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import Output, output_of

from locmsim.contract import FaultKind
from locmsim.game.observation import Observation
from locmsim.referee.puzzle_scores import attempt, count_solved
from locmsim.search.puzzles import DIFFICULTIES, Puzzle, built_in_puzzles, save_puzzles

PUZZLES = built_in_puzzles()
AGENTS = """
import os

class Ends:
    def reset(self, seed=0):
        pass

    def choose(self, observation):
        return "PASS"

    def act(self, observation):
        if observation.me.deck_size == 0 and observation.rules == "1.5":
            os._exit(3)
        return "PASS"


class Drafts(Ends):
    only_rules = "1.2"


class Unready(Ends):
    def __init__(self):
        raise ValueError("no weights")
"""


class Knows:
    """An agent that has answers by position."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers

    def reset(self, seed: int = 0) -> None:
        self.seed = seed

    def act(self, observation: Observation) -> Any:
        answer = self.answers[observation.format()]
        if isinstance(answer, Exception):
            raise answer
        return answer


def key(puzzle: Puzzle) -> str:
    return puzzle.state.observation(puzzle.state.current_player()).format()


@pytest.fixture
def few(tmp_path: Path) -> str:
    """Write a file of three puzzles of different rules and difficulties."""
    path = tmp_path / "few.txt"
    chosen = [
        next(p for p in PUZZLES if (p.state.rules, p.difficulty) == kind)
        for kind in (("1.5", "easy"), ("1.2", "medium"), ("1.0", "hard"))
    ]
    save_puzzles(path, chosen)
    return str(path)


def analyse(*words: str, code: int = 0) -> Output:
    return output_of("analyse", "--puzzles", *words, "--jobs", "1", code=code)


def test_an_agent_is_asked_in_each_position() -> None:
    easy, wrong, raising, malformed = PUZZLES[:4]
    agent = Knows(
        {
            key(easy): easy.line,
            key(wrong): "PASS",
            key(raising): RuntimeError("lost"),
            key(malformed): "CONCEDE",
        }
    )
    found = [attempt(agent, puzzle, seed=7) for puzzle in PUZZLES[:4]]
    assert agent.seed == 7
    assert [one.solved for one in found] == [True, False, False, False]
    assert [one.answer for one in found] == [easy.line, "PASS", None, "CONCEDE"]
    faults = [one.fault and one.fault.kind for one in found]
    assert faults == [None, None, FaultKind.CRASHED, FaultKind.MALFORMED]
    whole, part = count_solved(found)
    assert (whole.difficulty, whole.solved, whole.of) == ("", 1, 4)
    assert (part.difficulty, part.solved, part.of) == ("easy", 1, 4)
    low, high = whole.interval
    assert 0 < low < 0.25 < high < 1


def test_agents_are_scored(few: str) -> None:
    out = analyse(few, "random", "beam:nodes=3000,time_ms=0").out
    first, *rows = out.splitlines()
    assert first == f"3 puzzles: {few}"
    assert rows[0].startswith("random: ")
    assert "beam:nodes=3000,time_ms=0: 3 of 3 solved (95 % interval " in out
    assert [row.split()[0] for row in rows if row.startswith(" ")][-3:] == [*DIFFICULTIES[:3]]
    shown = json.loads(analyse(few, "beam:nodes=3000,time_ms=0", "--rules", "1.2", "--json").out)
    (agent,) = shown["agents"]
    assert [row["difficulty"] for row in agent["solved"]] == ["", "medium"]
    (puzzle,) = agent["puzzles"]
    assert (puzzle["solved"], puzzle["fault"]) == (True, None)
    assert puzzle["answer"].split(";")


@pytest.mark.slow
def test_agents_of_others_cannot_end_it(few: str, tmp_path: Path) -> None:
    path = tmp_path / "theirs.py"
    path.write_text(AGENTS)
    ends, greedy = json.loads(analyse(few, f"{path}:Ends", "greedy", "--json").out)["agents"]
    assert [one["solved"] for one in ends["puzzles"]] == [False, False, False]
    faults = [one["fault"] for one in ends["puzzles"]]
    assert faults[0].startswith("crashed: ")
    assert faults[1:] == [None, None]
    assert len(greedy["puzzles"]) == 3


def test_agents_are_asked_for_the_rules_that_they_play(few: str, tmp_path: Path) -> None:
    """Those of others too, who play in processes of their own."""
    path = tmp_path / "theirs.py"
    path.write_text(AGENTS)
    out = analyse(few, f"{path}:Drafts", "learned:rules=1.2", "--json").out
    for agent in json.loads(out)["agents"]:
        (puzzle,) = agent["puzzles"]
        assert puzzle["difficulty"] == "medium"  # the one of rules 1.2
    err = analyse(few, f"{path}:Drafts", "--rules", "1.5", code=2).err
    end = "theirs.py:Drafts plays rules 1.2 only; there is no puzzle of them"
    assert err.splitlines()[-1].endswith(end)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["built-in"], 2, "--puzzles: expected at least one AGENT"),
        (["built-in", "./mybot --fast"], 2, "AGENT: "),
        (
            ["built-in", "python3 bot.py"],
            2,
            "'python3 bot.py' is no agent: programs need a whole match",
        ),
        (["built-in", "greedie"], 2, "greedie"),
        (["{folder}/none.txt", "greedy"], 1, "--puzzles: {folder}/none.txt: No such file"),
        (["{folder}/bad.txt", "greedy"], 1, "--puzzles: {folder}/bad.txt: line 1: "),
        (["{folder}/binary", "greedy"], 1, "--puzzles: {folder}/binary: "),
        (["{few}", "greedy", "--turn", "3"], 2, "--turn: does not apply with --puzzles"),
        (["{few}", "{folder}/theirs.py:Unready"], 2, "no weights"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, list) else None,
)
def test_what_is_wrong_is_one_line(
    words: list[str],
    code: int,
    message: str,
    few: str,
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.txt").write_text("what is this\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "theirs.py").write_text(AGENTS)
    filled = [word.format(folder=tmp_path, few=few) for word in words]
    out, err = analyse(*filled, code=code)
    last = err.splitlines()[-1]
    assert message.format(folder=tmp_path) in last
    assert len(err.splitlines()) == (2 if code == 2 else 1)
    assert "Traceback" not in out + err

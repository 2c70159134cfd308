"""``locmsim analyse --puzzles``: how many puzzles agents solve."""

import argparse
import contextlib
import json
import sys
from collections import Counter
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import Failure, WrongUsage, ended_by_signals, value_errors
from locmsim.cli._players import kept_agents, seat_from
from locmsim.cli._runs import failures, finish
from locmsim.cli._shared import default_jobs
from locmsim.support.files import counted, printable

if TYPE_CHECKING:
    from locmsim.referee.puzzle_scores import Attempt, Solved
    from locmsim.search.puzzles import Puzzle

#: What names the puzzles of the package.
BUILT_IN = "built-in"


def score_agents(options: argparse.Namespace) -> None:
    """Let the agents solve the puzzles, and print how many each has solved."""
    from locmsim.processes.workers import TaskRunner, local_workers

    if not options.source:
        raise WrongUsage("--puzzles: expected at least one AGENT")
    puzzles = _puzzles(options.puzzles, options.rules)
    with ended_by_signals():
        tasks = [
            (agent, puzzle)
            for agent, text in enumerate(options.source)
            for puzzle in _of_rules(text, _only_rules(text), puzzles)
        ]
    #: What was answered, by the task's place.
    found: dict[int, Attempt] = {}

    def steps() -> Generator[tuple[int, int]]:
        with local_workers(min(default_jobs(options) or 1, len(tasks)), ()) as workers:
            runner = TaskRunner(
                workers,
                range(len(tasks)),
                lambda executor, task: executor.submit(
                    _attempted, options.source[tasks[task][0]], tasks[task][1], options.seed
                ),
                name=lambda task: f"puzzle {task + 1}",
            )
            for task, future in runner:
                found[task] = future.result()
                yield len(found), len(tasks)

    def show() -> None:
        rows = [
            (text, [found[i] for i, (by, _) in enumerate(tasks) if by == agent and i in found])
            for agent, text in enumerate(options.source)
        ]
        if options.json:
            agents = [_as_json(text, attempts) for text, attempts in rows]
            print(json.dumps({"puzzles": options.puzzles, "agents": agents}, indent=1))
            return
        print(f"{counted(len(puzzles), 'puzzle')}: {options.puzzles}")
        for text, attempts in rows:
            if attempts:
                _print_row(text, attempts)

    try:
        with failures():
            finish(steps(), "puzzle", show)
    finally:
        kept_agents().end()


def _puzzles(name: str, rules: str | None) -> "list[Puzzle]":
    from locmsim.search.puzzles import built_in_puzzles, load_puzzles

    try:
        with value_errors("--puzzles", Failure):
            found = built_in_puzzles() if name == BUILT_IN else load_puzzles(name)
    except OSError as error:
        raise Failure(f"--puzzles: {name}: {error.strerror}") from None
    chosen = [puzzle for puzzle in found if rules in (None, puzzle.state.rules)]
    if not chosen:
        raise WrongUsage(f"--rules: {name} has no puzzle of rules {rules}")
    return chosen


def _only_rules(text: str) -> str | None:
    """Return the only rules that an agent plays; `Failure` if it is none."""
    from locmsim.referee.locm_agents import LocmAgents

    seat = seat_from(text, "AGENT", LocmAgents())
    with value_errors():
        facts = seat.known()
    if facts is None:
        raise WrongUsage(
            f"AGENT: {text!r} is no agent: programs need a whole match, puzzles are for agents"
        )
    return facts.only_rules


def _of_rules(text: str, only: str | None, puzzles: "list[Puzzle]") -> "list[Puzzle]":
    """Return the puzzles of the rules that an agent plays."""
    played = [puzzle for puzzle in puzzles if only in (None, puzzle.state.rules)]
    if not played:
        raise WrongUsage(f"AGENT: {text} plays rules {only} only; there is no puzzle of them")
    return played


def _attempted(text: str, puzzle: "Puzzle", seed: int) -> "Attempt":
    """Return what an agent answers to a puzzle; runs in a worker, where it goes on to the next."""
    from locmsim.referee.locm_agents import LocmAgents
    from locmsim.referee.puzzle_scores import attempt

    # An agent's prints are not the result.
    with value_errors(f"AGENT: {text}", Failure), contextlib.redirect_stdout(sys.stderr):
        return attempt(
            seat_from(text, "AGENT", LocmAgents()), puzzle, seed=seed, kept=kept_agents()
        )


def _print_row(text: str, attempts: "list[Attempt]") -> None:
    from locmsim.referee.puzzle_scores import count_solved

    whole, *parts = count_solved(attempts)
    print(f"{text}: {_share(whole)}")
    for part in parts:
        print(f"    {part.difficulty:8}{_share(part)}")
    faults = Counter(str(one.fault) for one in attempts if one.fault)
    for fault, times in faults.most_common(3):
        print(f"    {counted(times, 'fault')}: {printable(fault)}")


def _share(found: "Solved") -> str:
    low, high = (100 * end for end in found.interval)
    return f"{found.solved} of {found.of} solved (95 % interval {low:.0f} to {high:.0f} %)"


def _as_json(text: str, attempts: "list[Attempt]") -> dict[str, Any]:
    from locmsim.referee.puzzle_scores import count_solved

    return {
        "agent": text,
        "solved": [one._asdict() for one in count_solved(attempts)],
        "puzzles": [
            {
                "position": one.puzzle.state.to_text(),
                "difficulty": one.puzzle.difficulty,
                "line": one.puzzle.line,
                "answer": one.answer,
                "solved": one.solved,
                "fault": one.fault and str(one.fault),
            }
            for one in attempts
        ],
    }

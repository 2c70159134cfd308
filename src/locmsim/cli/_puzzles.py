"""``locmsim analyse --puzzles``: how many puzzles agents solve."""

import argparse
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import Failure, ended_by_signals
from locmsim.cli._players import seat_from, usage_errors
from locmsim.support.files import counted, printable

if TYPE_CHECKING:
    from locmsim.referee.puzzle_scores import Attempt, Solved
    from locmsim.search.puzzles import Puzzle

#: What names the puzzles of the package.
BUILT_IN = "built-in"


def score_agents(options: argparse.Namespace) -> None:
    """Let the agents solve the puzzles, and print how many each has solved."""
    if not options.source:
        raise Failure("--puzzles: expected at least one AGENT", code=2)
    puzzles = _puzzles(options.puzzles, options.rules)
    with ended_by_signals():
        players = [(text, _player(text, options.seed)) for text in options.source]
        if not options.json:
            print(f"{counted(len(puzzles), 'puzzle')}: {options.puzzles}")
        found = []
        for text, (player, only) in players:
            attempts = _attempts(text, player, _of_rules(text, only, puzzles), options.seed)
            found.append(_as_json(text, attempts))
            if not options.json:
                _print_row(text, attempts)
    if options.json:
        print(json.dumps({"puzzles": options.puzzles, "agents": found}, indent=1))


def _puzzles(name: str, rules: str | None) -> "list[Puzzle]":
    from locmsim.search.puzzles import built_in_puzzles, load_puzzles

    try:
        found = built_in_puzzles() if name == BUILT_IN else load_puzzles(name)
    except OSError as error:
        raise Failure(f"--puzzles: {name}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"--puzzles: {error}") from None
    chosen = [puzzle for puzzle in found if rules in (None, puzzle.state.rules)]
    if not chosen:
        raise Failure(f"--rules: {name} has no puzzle of rules {rules}", code=2)
    return chosen


def _player(text: str, seed: int) -> tuple[Any, str | None]:
    """Return an agent, one of others in a process of its own, and the only rules that it plays."""
    from locmsim.referee.locm_agents import LocmAgents

    seat = seat_from(text, "AGENT", LocmAgents())
    with usage_errors():
        facts = seat.known()
    if facts is None:
        raise Failure(
            f"AGENT: {text!r} is no agent: programs need a whole match, puzzles are for agents",
            code=2,
        )
    return seat.outside(seed) or seat.make(), facts.only_rules


def _of_rules(text: str, only: str | None, puzzles: "list[Puzzle]") -> "list[Puzzle]":
    """Return the puzzles of the rules that an agent plays."""
    played = [puzzle for puzzle in puzzles if only in (None, puzzle.state.rules)]
    if not played:
        raise Failure(f"AGENT: {text} plays rules {only} only; there is no puzzle of them", code=2)
    return played


def _attempts(text: str, player: Any, puzzles: "list[Puzzle]", seed: int) -> "list[Attempt]":
    """Return what an agent answers to the puzzles."""
    from locmsim.referee.puzzle_scores import attempt

    try:
        return [attempt(player, puzzle, seed=seed) for puzzle in puzzles]
    except ValueError as error:
        raise Failure(f"AGENT: {text}: {error}") from None


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

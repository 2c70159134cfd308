"""``locmsim analyse``: the best lines of a position."""

import argparse
import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import IDS, Failure, number, width
from locmsim.rules.rulesets import RULES

if TYPE_CHECKING:
    from locmsim._core import State
    from locmsim.game.observation import Observation
    from locmsim.search.analysis import Analysis
    from locmsim.search.belief import Belief

__all__ = ["add_options", "run"]

#: Cards of the opponent's hand that are listed.
_CARDS = 12


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Search a position several times, by beam search and by MCTS, and print the turns that"
        " were found, with what the opponent may hold. The position is a turn of a match of before"
        " (a log FILE or DB:NUMBER, with --turn), the text of a position (State.to_text), or what a"
        " bot is sent (--file)."
    )
    add = parser.add_argument
    add(
        "game",
        nargs="?",
        metavar="GAME",
        help="a log (FILE), a game of results (DB:NUMBER) or the text of a position",
    )
    add("--turn", type=int, metavar="N", help="turn, counted over both players from 0")
    add("--file", metavar="FILE", help="protocol text of a battle turn; - for standard input")
    add("--rules", choices=tuple(RULES), help="rule set (default: the text's; of Java's logs 1.5)")
    add("--ids", choices=IDS, help="instance ids of a log (default: what it says, or new)")
    add(
        "--seconds",
        type=number(0, allow_low=False),
        default=2.0,
        metavar="S",
        help="time for it (default: %(default)g)",
    )
    add("--nodes", type=int, metavar="N", help="positions of each search in the place of a time")
    add("--seed", type=int, default=0, metavar="N", help="seed of the searches (%(default)s)")
    add("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> None:
    """Analyse the position, and print what was found."""
    from locmsim.search.analysis import analyse

    played = None
    if (options.game is None) == (options.file is None):
        raise Failure("expected one of GAME and --file", code=2)
    observation: Observation | State
    if options.file is not None:
        observation, belief = _from_file(options.file, options.rules), None
    elif options.turn is None and not os.path.exists(options.game):
        observation, belief = _from_text(options.game), None
    else:
        observation, belief, played = _from_game(options)
    try:
        analysis = analyse(
            observation,
            time_ms=None if options.nodes is not None else 1000 * options.seconds,
            nodes=options.nodes,
            seed=options.seed,
            belief=belief,
        )
    except ValueError as error:
        raise Failure(error) from None
    if options.json:
        print(json.dumps(_as_json(analysis, played), indent=1))
    else:
        _print(analysis, played)


def _from_file(path: str, rules: str | None) -> "Observation":
    from locmsim.game.observation import Observation

    try:
        if path == "-":
            text = sys.stdin.read()
        else:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        return Observation.parse(text, rules)
    except OSError as error:
        raise Failure(f"--file: {error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"--file: {path}: {error}") from None


def _from_text(text: str) -> "State":
    from locmsim._core import State

    try:
        return State.from_text(text)
    except ValueError as error:
        raise Failure(
            f"GAME: neither a file nor the text of a position ({error}); a game of results, such as"
            " results.db:7, needs --turn",
            code=2,
        ) from None


def _from_game(options: argparse.Namespace) -> "tuple[Observation, Belief, str | None]":
    """The observation of a turn, what its player knew by then, and the answer of then."""
    from locmsim.cli._replay import load_result
    from locmsim.referee.knowledge import knowledge_at

    if options.turn is None:
        raise Failure("GAME needs --turn", code=2)
    result, _ = load_result(options.game, "GAME", options.rules, options.ids)
    try:
        observation, belief = knowledge_at(result, options.turn)
    except ValueError as error:
        raise Failure(f"--turn: {error}", code=2) from None
    played = next(call.answer for call in result.calls if call.turn == options.turn)
    return observation, belief, played


def _as_json(analysis: "Analysis", played: str | None) -> dict[str, Any]:
    return {
        "lines": [asdict(line) for line in analysis.lines],
        "played": played,
        "opponent_hand": [
            {
                "card": held.card.to_row(),
                "name": held.card.name,
                "chance": held.chance,
                "expected": held.expected,
            }
            for held in analysis.opponent_hand
        ],
        "searches": analysis.searches,
        "nodes": analysis.nodes,
        "seconds": analysis.elapsed,
    }


def _print(analysis: "Analysis", played: str | None) -> None:
    from locmsim.referee.text import card_text

    names = {"beam": "beam search", "mcts": "MCTS"}
    print("".join(f"{name:^21}" for name in names.values()).rstrip())
    print(f"{'value':>6} {'visits':>7} {'found':>5} " * len(names) + " line")
    for line in analysis.lines:
        for name in names:
            if judged := line.by.get(name):
                print(f"{judged.value:+6.2f} {judged.visits:7} {judged.found:5} ", end="")
            else:
                print(f"{'-':>6} {'-':>7} {'-':>5} ", end="")
        print(f" {line.line}")
    if played is not None:
        print(f"\nplayed then: {played}")
    print(
        f"\n{analysis.searches} searches, {analysis.nodes} positions in {analysis.elapsed:.1f} s;"
        " value: the expected result, from -1 to 1"
    )
    if analysis.opponent_hand:
        print("\nthe opponent may hold:")
        columns = width()
        for held in analysis.opponent_hand[:_CARDS]:
            print(f"  {held.chance:5.0%}  {card_text(held.card)}"[:columns])

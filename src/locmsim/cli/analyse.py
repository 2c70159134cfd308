"""``locmsim analyse``: the best lines of a position, or where a game was lost."""

import argparse
import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import IDS, Failure, interruptible, number, width
from locmsim.cli._positions import POSITION_HELP, read_position
from locmsim.rules.rulesets import RULES

if TYPE_CHECKING:
    from locmsim._core import State
    from locmsim.game.observation import Observation
    from locmsim.referee.turn_report import GameReport
    from locmsim.search.analysis import Analysis
    from locmsim.search.belief import Belief
    from locmsim.search.variations import Tree, Turn

__all__ = ["add_options", "run"]

#: Cards of the opponent's hand that are listed.
_CARDS = 12
#: Positions of the search in each turn of a whole match, if nothing is said.
_REPORT_NODES = 5000
#: The same of each turn of a tree of variations.
_TREE_NODES = 5000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Search a position several times, by beam search and by MCTS, and print the turns that"
        " were found, with what the opponent may hold. The position is a turn of an earlier match"
        " (a log FILE or DB:NUMBER, with --turn), the text of a position (State.to_text), or what a"
        " bot is sent (--file). With --game all turns of a match are compared with the best ones."
    )
    add = parser.add_argument
    add(
        "game",
        nargs="?",
        metavar="GAME",
        help="a position, as for --file; or with --turn or --game a log (FILE) or a game of results"
        " (DB:NUMBER)",
    )
    add(
        "--game",
        action="store_true",
        dest="whole",
        help="report on the whole match: what each turn gave away, and the worst ones",
    )
    add("--turn", type=int, metavar="N", help="turn, counted over both players from 0")
    add("--file", metavar="FILE", help=POSITION_HELP)
    add("--rules", choices=tuple(RULES), help="rule set (default: the text's; of a log found out)")
    add("--ids", choices=IDS, help="instance ids of a log (default: what it says, or new)")
    add(
        "--seconds",
        type=number(0, allow_low=False),
        default=2.0,
        metavar="S",
        help="time for it (default: %(default)g)",
    )
    add("--nodes", type=int, metavar="N", help="positions of each search in the place of a time")
    add("--done", default="", metavar="LINE", help="what was done in the turn: find the rest of it")
    add(
        "--tree",
        action="store_true",
        help="go on beyond the turn: the opponent's best replies and the next turn, in sampled"
        " worlds that are named by their seeds",
    )
    add("--worlds", type=int, default=3, metavar="N", help="worlds of --tree (%(default)s)")
    add(
        "--hand",
        type=_base_ids,
        default=[],
        metavar="ID,ID",
        help="cards that the opponent holds in the worlds of --tree, by base id",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of the searches (%(default)s)")
    add("--json", action="store_true", help="print JSON")


def _base_ids(text: str) -> list[int]:
    if not all(word.isdecimal() for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"expected base ids with commas between, got {text!r}")
    return [int(word) for word in text.split(",")]


def run(options: argparse.Namespace) -> None:
    """Analyse the position, and print what was found."""
    from locmsim._core import State
    from locmsim.search.analysis import analyse, line_value

    played = None
    if (options.game is None) == (options.file is None):
        raise Failure("expected one of GAME and --file", code=2)
    if options.whole:
        _report(options)
        return
    observation: Observation | State
    if options.file is not None:
        observation, belief = read_position(options.file, "--file", options.rules), None
    elif options.turn is None:
        observation, belief = read_position(options.game, "GAME", options.rules), None
    else:
        observation, belief, played = _from_game(options)
    position, known = observation, belief
    seen = observation
    if isinstance(seen, State):
        if seen.is_terminal():
            raise Failure("the game is over")
        seen = seen.observation(seen.current_player())

    if options.tree:
        _grow(options, position, known)
        return

    def work() -> "tuple[Analysis, tuple[float, float] | None]":
        analysis = analyse(
            position,
            time_ms=None if options.nodes is not None else 1000 * options.seconds,
            nodes=options.nodes,
            seed=options.seed,
            belief=known,
            done=options.done,
        )
        if known is None or played is None or options.done or not analysis.lines:
            return analysis, None
        try:
            then, best = (
                line_value(known, line, seed=options.seed)
                for line in (played, analysis.lines[0].line)
            )
        except ValueError:  # it was malformed
            return analysis, None
        return analysis, (then, best)

    try:
        analysis, values = interruptible(work)
    except ValueError as error:
        raise Failure(error) from None
    if options.json:
        print(json.dumps(_as_json(analysis, played, values), indent=1))
    else:
        _print(analysis, played, values, seen)


def _grow(
    options: argparse.Namespace, position: "Observation | State", belief: "Belief | None"
) -> None:
    """The tree of variations."""
    from locmsim.search.variations import variations

    nodes = _TREE_NODES if options.nodes is None else options.nodes

    def work() -> "Tree":
        return variations(
            position,
            belief=belief,
            done=options.done,
            worlds=options.worlds,
            hand=options.hand,
            nodes=nodes,
            seed=options.seed,
        )

    try:
        tree = interruptible(work)
    except ValueError as error:
        raise Failure(error) from None
    if options.json:
        print(json.dumps({"nodes": nodes, **_tree_json(tree)}, indent=1))
        return
    columns = width()
    for branch in tree.branches:
        print(f"{branch.turn.value:+.2f} {branch.turn.visits:6}  {branch.turn.line}"[:columns])
        for world in branch.worlds:
            held = " ".join(str(card.base_id) for card in world.hand)
            print(f"    world {world.seed}: they hold {held or 'nothing'}"[:columns])
            for reply in world.replies:
                print(f"    {reply.value:+.2f} {reply.visits:6}  {reply.line}"[:columns])
                if (then := reply.next) is not None:
                    print(f"        {then.value:+.2f} {then.visits:6}  {then.line}"[:columns])
    print(
        f"\nbeam search of at most {nodes:,} positions for each turn; value: the expected result of"
        " the player to move, from -1 to 1, and the sampled results that it comes from"
    )


def _tree_json(tree: "Tree") -> dict[str, Any]:
    def turn(shown: "Turn") -> dict[str, Any]:
        then = None if shown.next is None else turn(shown.next)
        return {"line": shown.line, "value": shown.value, "visits": shown.visits, "next": then}

    return {
        "player": tree.player,
        "lines": [
            {
                **turn(branch.turn),
                "worlds": [
                    {
                        "seed": world.seed,
                        "hand": [card.base_id for card in world.hand],
                        "replies": [turn(reply) for reply in world.replies],
                    }
                    for world in branch.worlds
                ],
            }
            for branch in tree.branches
        ],
    }


def _report(options: argparse.Namespace) -> None:
    """The whole match."""
    from locmsim.cli._matches import load_result
    from locmsim.referee.turn_report import report_game

    for name in ("file", "turn", "done", "tree"):
        if getattr(options, name) not in (None, "", False):
            raise Failure(f"--game is of a whole match: there is no --{name}", code=2)
    result, names = load_result(options.game, "GAME", options.rules, options.ids)
    nodes = _REPORT_NODES if options.nodes is None else options.nodes
    try:
        report = interruptible(lambda: report_game(result, nodes=nodes, seed=options.seed))
    except ValueError as error:
        raise Failure(error) from None
    if options.json:
        shown = [name or f"Player {player}" for player, name in enumerate(names)]
        print(json.dumps({"names": shown, "winner": result.winner, **report.to_json()}, indent=1))
    else:
        _print_report(report, names)


def _print_report(report: "GameReport", names: tuple[str, str]) -> None:
    columns = width()
    print("turn player  before  after   loss  played")
    for turn in report.turns:
        print(
            f"{turn.turn:4} {turn.player:6} {turn.before:7.0%} {turn.after:6.0%}"
            f" {turn.loss:6.0%}  {turn.played}"[:columns]
        )
    for player, name in enumerate(names):
        print(f"\nthe worst turns of player {player}{f', {name}' if name else ''}:")
        for turn in (worst := report.worst(player)):
            print(f"  turn {turn.turn}: {turn.loss:.0%} given away")
            print(f"    played {turn.value_played:+.2f}  {turn.played}"[:columns])
            print(f"    better {turn.value_best:+.2f}  {turn.best}"[:columns])
        if not worst:
            print("  none gave anything away")
    print(f"\n{report.budget}")
    print(
        "before, after: player 0's chance of winning; loss: of the player's own share of wins;"
        " played, better: the expected result, from -1 to 1"
    )


def _from_game(options: argparse.Namespace) -> "tuple[Observation, Belief, str | None]":
    """The observation of a turn, what its player knew by then, and the answer of then."""
    from locmsim.cli._matches import load_result
    from locmsim.referee.knowledge import knowledge_at

    result, _ = load_result(options.game, "GAME", options.rules, options.ids)
    try:
        observation, belief = knowledge_at(result, options.turn)
    except ValueError as error:
        raise Failure(f"--turn: {error}", code=2) from None
    played = next(call.answer for call in result.calls if call.turn == options.turn)
    return observation, belief, played


def _as_json(
    analysis: "Analysis", played: str | None, values: tuple[float, float] | None
) -> dict[str, Any]:
    return {
        "lines": [asdict(line) for line in analysis.lines],
        "played": played,
        "played_value": None if values is None else values[0],
        "best_value": None if values is None else values[1],
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


def _print(
    analysis: "Analysis",
    played: str | None,
    values: tuple[float, float] | None,
    seen: "Observation",
) -> None:
    from locmsim.referee.locm_text import card_text

    names = {"beam": "beam search", "mcts": "MCTS"}
    print("".join(f"{name:^21}" for name in names.values()).rstrip())
    print(f"{'value':>6} {'visits':>7} {'found':>5} " * len(names) + " line")
    for line in analysis.lines:
        for name in names:
            if entry := line.by.get(name):
                print(f"{entry.value:+6.2f} {entry.visits:7} {entry.found:5} ", end="")
            else:
                print(f"{'-':>6} {'-':>7} {'-':>5} ", end="")
        print(f" {line.line}")
    if played is not None:
        print(f"\nplayed then: {played}")
        if values is not None:
            then, best = values
            print(f"played on in worlds it is worth {then:+.2f}, the first line {best:+.2f}")
    numbers = {
        int(word)
        for line in [*(line.line for line in analysis.lines), played or ""]
        for words in re.findall(r"SUMMON (\d+)|(?:USE|ATTACK) (\d+) (\d*)", line)
        for word in filter(None, words)
    }
    if named := [card for card in seen.cards if card.instance_id in numbers]:
        print("\ncards in these lines:")
        for row in named:
            print(f"  {row.instance_id:3}  {card_text(row.card())}"[: width()])
    print(
        f"\n{analysis.searches} searches, {analysis.nodes} positions in {analysis.elapsed:.1f} s;"
        " value: the expected result, from -1 to 1"
    )
    if analysis.opponent_hand:
        print("\nthe opponent may hold:")
        columns = width()
        for held in analysis.opponent_hand[:_CARDS]:
            print(f"  {held.chance:5.0%}  {card_text(held.card)}"[:columns])

"""Measure how often `mcts` plays a turn differently from `beam`, and what that is worth.

    python tools/tree_turns.py --rules 1.5 --seeds 10520000..10520099

`beam` plays games against itself, and `mcts` is asked in every turn too. Where its turn leads to
another position, the game is played to its end from both positions, by `beam` with a fixed number
of nodes on both sides.
"""

import argparse
import sys

from locmsim.agents import Agent, make_agent
from locmsim.arena import parse_seeds
from locmsim.contract import play_match
from locmsim.game.match import Match
from locmsim.rules.rulesets import RULES
from locmsim.stats import PairCounts, score_interval


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--rules", choices=tuple(RULES), default="1.5", help="rule set (default: 1.5)")
    add("--seeds", metavar="LIST", required=True, help="seeds of the games, such as 5,7,100..199")
    add("--time-ms", type=float, default=35.0, help="time per turn in ms (default: %(default)s)")
    add(
        "--nodes",
        type=int,
        default=20_000,
        help="nodes per turn when a game is played to its end (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    turns = 0
    counts = PairCounts()
    for seed in parse_seeds(options.seeds):
        for wins in turn_results(options.rules, seed, options.time_ms, options.nodes):
            turns += 1
            if wins is not None:
                counts.add((1 + wins[1] - wins[0]) / 2)
        low, high = score_interval(counts) if counts.total else (0.0, 1.0)
        print(
            f"seed {seed}: {turns} turns, another one in {counts.total}"
            f" ({100 * counts.total / turns:.0f} %), where mcts has {100 * counts.score:.1f} %"
            f" [{100 * low:.1f}, {100 * high:.1f}]",
            flush=True,
        )


def turn_results(
    rules: str, seed: int, time_ms: float, nodes: int
) -> "list[tuple[bool, bool] | None]":
    """Return for each turn whether the player wins with the turn of `beam` and with that of `mcts`.

    It is None if both play the same.
    """
    match = Match(rules, seed=seed)
    pairs = [
        [make_agent(f"{name}:time_ms={time_ms},share=9") for name in ("beam", "mcts")]
        for _ in range(2)
    ]
    for player, pair in enumerate(pairs):
        for agent in pair:
            agent.reset(2 * seed + player)
    found: list[tuple[bool, bool] | None] = []

    def compare(match: Match, player: int, line: str) -> None:
        other = match.ask(pairs[player][1], player)()
        if match.phase == "battle":
            found.append(_compared(match, player, [line, other], nodes, seed))

    play_match(match, [pair[0] for pair in pairs], compare)
    return found


def _compared(
    match: Match, player: int, lines: list[str], nodes: int, seed: int
) -> tuple[bool, bool] | None:
    branches = [match.clone(), match.clone()]
    for branch, line in zip(branches, lines, strict=True):
        branch.submit(player, line)
    states = [branch.state for branch in branches]
    if states[0].key() == states[1].key():
        return None
    results = []
    for branch in branches:
        agents: list[Agent] = [make_agent(f"beam:time_ms=0,nodes={nodes}") for _ in range(2)]
        for agent in agents:
            agent.reset(seed)
        play_match(branch, agents)
        results.append(branch.winner == player)
    return results[0], results[1]


if __name__ == "__main__":
    sys.exit(main())

"""Compare the win probabilities of `locmsim.search.win_chance` with the games actually won.

    python tools/calibration.py --games 300

Two equal agents play each other. At the end of each turn, before PASS, the probability that the
package gives to the player is recorded, and after the game whether that player won.
"""

import argparse

import numpy as np

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.rules.rulesets import RULES
from locmsim.search import win_chance

BINS = 10


def observed(rules: str, agent: str, games: int, seed: int) -> np.ndarray:
    """Return the probability and whether the player won, for each turn that did not win."""
    agents = [make_agent(agent), make_agent(agent)]
    rows: list[tuple[float, bool]] = []
    for game in range(games):
        match = Match(rules, seed=seed + game)
        for player, mine in enumerate(agents):
            mine.reset(2 * (seed + game) + player)
        chances: list[tuple[int, float]] = []
        while match.to_ask:
            player = match.to_ask[0]
            state = match.state
            if state is None:
                line = agents[player].choose(match.observation(player))
            else:
                line = agents[player].act(match.observation(player))
                end = state.clone()
                for action in end.actions_of(line):
                    end.apply_action(action)
                if not end.is_terminal():
                    chances.append((player, win_chance(end)))
            match.submit(player, line)
        rows += [(probability, match.winner == player) for player, probability in chances]
    return np.array(rows, dtype=float)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--agent", default="beam:nodes=3000", help="agent of both players (default: %(default)s)"
    )
    parser.add_argument(
        "--games",
        type=int,
        default=300,
        metavar="N",
        help="number of games per rule set (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=770000, metavar="N")
    options = parser.parse_args(arguments)
    print("| chance, % | " + " | ".join(f"{rules}: won, % (turns)" for rules in RULES) + " |")
    print("|---|" + "---|" * len(RULES))
    tables = [observed(rules, options.agent, options.games, options.seed) for rules in RULES]
    for low in range(BINS):
        cells = []
        for table in tables:
            inside = table[np.minimum((table[:, 0] * BINS).astype(int), BINS - 1) == low]
            won = f"{100 * inside[:, 1].mean():.0f}" if len(inside) else "-"
            cells.append(f"{won} ({len(inside):,})")
        bounds = f"{100 * low // BINS} to {100 * (low + 1) // BINS}"
        print(f"| {bounds} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()

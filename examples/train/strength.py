"""Measure a policy's win rates in mirrored games, on card sets that no training has seen.

python strength.py learned.npz
python strength.py agent:learned --opponents osl,greedy --games 4000
"""

import argparse

from locmsim.agents import make_agent
from locmsim.policy import Policy
from locmsim.tuning import PROOF_SEEDS
from locmsim.tuning.evaluate import evaluate

OPPONENTS = ("random", "max-attack", "osl", "greedy")
#: Number of card sets, large enough that single sets do not matter.
SETS = (PROOF_SEEDS[0], PROOF_SEEDS[500])


def table(policy, *, games, opponents=OPPONENTS, decks=("random", "classic"), log=print):
    """Print the win rates of a policy, by opponent and deck builder."""
    for deck in decks if policy.rules == "1.5" else ("random",):
        for opponent in opponents:
            sets = {"card_sets": SETS} if policy.rules == "1.5" else {}
            rate = evaluate(policy, opponent, games=games, decks=deck, seed=PROOF_SEEDS[0], **sets)
            log(f"{deck} decks, against {opponent}: {rate}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("policy", help="a file, or agent:NAME for the policy of an agent")
    parser.add_argument(
        "--games", type=int, default=1000, help="games per opponent and deck builder"
    )
    parser.add_argument("--opponents", default=",".join(OPPONENTS), help="comma-separated agents")
    parser.add_argument(
        "--decks",
        default="random,classic",
        help="comma-separated deck builders, used by both players",
    )
    options = parser.parse_args()
    name, _, agent = options.policy.partition(":")
    table(
        make_agent(agent).policy if name == "agent" else Policy.load(options.policy),
        games=options.games,
        opponents=options.opponents.split(","),
        decks=options.decks.split(","),
    )
